//! The `share` methods in C, Go and Java, driven by hand and by the laboratory. No test asserts a time.

use crate::support::skips::skip;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support::sides::{Launch, Worker, pagewise};
use crate::support::suite::conforms;
use crate::support::waiting::wait_until_at_work;
use pagewise::worker::carried;
use record::method::{Method, Role};
use record::transcript::SideEnding;

fn parameters<'a>(bytes: &'a str, index: &'a str, load: &'a str) -> Vec<(&'a str, &'a str)> {
    let options = [
        ("ops", "20000"),
        ("clear_bytes", "1"),
        ("writeback", "none"),
        ("place", "disk"),
        ("pin", "none"),
    ];
    [("bytes", bytes), ("index", index), ("load", load)]
        .into_iter()
        .chain(options)
        .collect()
}

/// The Java worker, by the Java in PATH; none where there is no JDK. Compiled once for all tests of this file.
fn java() -> Option<&'static (tempfile::TempDir, PathBuf, Vec<Method>)> {
    static JAVA: OnceLock<Option<(tempfile::TempDir, PathBuf, Vec<Method>)>> = OnceLock::new();
    JAVA.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        let mut sources = Vec::new();
        for (path, text) in carried::SOURCES
            .iter()
            .filter(|(p, _)| p.starts_with("workers/java/src/"))
        {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            sources.push(path);
        }
        let classes = place.path().join("classes");
        let compiled = Command::new("javac")
            .arg("-nowarn")
            .arg("-d")
            .arg(&classes)
            .args(&sources)
            .output();
        if !compiled.is_ok_and(|output| output.status.success()) {
            skip("there is no JDK in PATH");
            return None;
        }
        let list = carried::source("workers/java/methods.tsv").unwrap();
        std::fs::write(classes.join("methods.tsv"), list).unwrap();
        let program = place.path().join("worker-java");
        std::fs::write(
            &program,
            format!(
                "#!/bin/sh\nexec java -cp {} pagewise.Worker \"$@\"\n",
                classes.display()
            ),
        )
        .unwrap();
        assert!(
            Command::new("chmod")
                .arg("755")
                .arg(&program)
                .status()
                .unwrap()
                .success()
        );
        let methods = list
            .lines()
            .map(|line| Method::parse(line).unwrap())
            .collect();
        Some((place, program, methods))
    })
    .as_ref()
}

/// Cells of one request.
type Cells<'a> = [(&'a Method, &'a [(&'a str, &'a str)])];

/// A launch of each kind: the cells with two sides by a pair of processes, the others by one. Facts of both sides together.
fn both_kinds(
    launch: &Launch,
    worker: &Worker,
    cells: &Cells<'_>,
) -> Vec<BTreeMap<String, String>> {
    let (two, one): (Vec<_>, Vec<_>) = cells
        .iter()
        .copied()
        .partition(|(method, _)| method.two_sided);
    let (a, b) = launch.pair(worker, worker, &two, 2);
    let alone = launch.alone(worker, &one, 2);
    assert!(alone.transcript.done, "{}", alone.messages);
    let owned = |ended: &crate::support::sides::Ended, slot: u32| -> BTreeMap<String, String> {
        ended
            .facts(slot)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    let paired = a
        .transcript
        .facts
        .keys()
        .map(|&slot| owned(&a, slot).into_iter().chain(owned(&b, slot)).collect());
    paired
        .chain(
            alone
                .transcript
                .facts
                .keys()
                .map(|&slot| owned(&alone, slot)),
        )
        .collect()
}

/// Whether a System V segment is left that this process created (its number stands in the fifth column).
fn left_a_segment(process: u32) -> bool {
    let text = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    text.lines()
        .any(|line| line.split_whitespace().nth(4) == Some(process.to_string().as_str()))
}

#[test]
fn every_native_method_conforms() {
    let workers: Vec<Worker> = ["c-O0", "c-O3"].map(Worker::native).into();
    for worker in &workers {
        let all: Vec<&Method> = worker.of("share").collect();
        assert!(all.len() >= 11, "{} methods", all.len());
    }
    conforms("share/file-disk@c-O3+c-O3", &["share/file-disk@c-O3+c-O3"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_method_and_build() {
    let (mut seen, mut published) = (BTreeSet::new(), BTreeSet::new());
    for worker in [Worker::native("c-O0"), Worker::native("c-O3")] {
        let launch = Launch::new();
        let parameters = parameters("69632", "xorshift", "0");
        // The jobs as published draw their indices by rand() and leave other bytes.
        let methods = worker.of("share").filter(|m| m.name != "null");
        let all: Vec<(&Method, &[(&str, &str)])> = methods.map(|m| (m, &parameters[..])).collect();
        let (as_published, cells): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(m, _)| m.role == Role::Published);
        for facts in both_kinds(&launch, &worker, &cells) {
            seen.extend(facts.get("digest").cloned());
            assert!(
                facts.get("wrong_bytes").is_none_or(|v| v == "0"),
                "{facts:?}"
            );
        }
        let ended = launch.alone(&worker, &as_published, 1);
        for slot in ended.transcript.facts.keys() {
            published.extend(ended.facts(*slot).get("digest").map(|d| (*d).to_owned()));
        }
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new());
    }
    assert_eq!(
        (seen.len(), published.len()),
        (1, 1),
        "{seen:?} {published:?}"
    );
}

#[test]
fn java_writes_the_same_bytes_as_c() {
    let Some((_place, program, methods)) = java() else {
        return;
    };
    let native = Worker::native("c-O3");
    for index in ["xorshift", "rand"] {
        let parameters = parameters("65536", index, "0");
        let launch = Launch::new();
        let (c, _) = launch.pair(
            &native,
            &native,
            &[(native.method("share", "sysv-shm"), &parameters)],
            1,
        );
        let own = methods
            .iter()
            .filter(|m| m.experiment == "share" && m.name != "null" && !m.two_sided);
        let cells: Vec<(&Method, &[(&str, &str)])> = own.map(|m| (m, &parameters[..])).collect();
        let request = launch.request(&cells, None, 1);
        let mut child = Command::new(program);
        child.env("PAGEWISE_HELPER", native.helper());
        child
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.as_bytes()).unwrap();
        let j = crate::support::sides::Side { child }.end();
        assert!(j.transcript.done, "{}", j.messages);
        for (slot, facts) in &j.transcript.facts {
            let digest = facts
                .iter()
                .find(|(name, _)| name == "digest")
                .unwrap_or_else(|| panic!("slot {slot}"))
                .1
                .as_str();
            assert_eq!(digest, c.facts(0)["digest"], "index={index}, slot {slot}");
            let own = j.facts(*slot);
            assert_eq!(
                own["b.number_seen"], own["number"],
                "another process reads what Java wrote"
            );
            assert_eq!(
                own["number_seen"], own["b.number"],
                "Java reads what another process wrote"
            );
        }
        assert!(j.transcript.facts.len() >= 2 && launch.leftovers().is_empty());
    }
}

#[test]
fn a_memory_segment_on_an_old_jdk_is_skipped_with_that_reason() {
    let Some((_place, program, _)) = java() else {
        return;
    };
    let about = Command::new(program).arg("--list").output().unwrap();
    let text = String::from_utf8(about.stdout).unwrap();
    let version: u32 = text
        .lines()
        .next()
        .unwrap()
        .strip_prefix("pagewise\t1\tjava-")
        .unwrap()
        .parse()
        .unwrap();
    let carried = carried::source("workers/java/methods.tsv").unwrap();
    assert!(
        carried.lines().all(|line| text.contains(line)),
        "--list is not methods.tsv"
    );
    if version < 22 {
        let place = tempfile::tempdir().unwrap();
        let name = format!("share/memory-segment@java-{version}");
        let output = pagewise(&place, &["check", &name]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains("skipped") && text.contains("it needs JDK 22"),
            "{text}"
        );
    }
}

#[test]
fn the_load_is_another_process_that_takes_its_share_and_ends_with_the_slot() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("65536", "xorshift", "25%");
    let (ended, _) = launch.pair(
        &worker,
        &worker,
        &[(worker.method("share", "memfd"), &parameters)],
        2,
    );
    let facts = ended.facts(1);
    assert_eq!(facts["load_percent"], "25");
    assert!(
        facts["load_wall_ns"].parse::<u64>().unwrap() > 0
            && facts["load_cpu_ns"].parse::<u64>().is_ok()
    );
    let own = worker.path.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let still = processes.filter(|p| {
        std::fs::read_link(p.path().join("exe")).is_ok_and(|exe| exe == Path::new(&own))
    });
    assert_eq!(still.count(), 0, "a load process outlived its worker");
}

#[test]
fn write_back_is_proved_by_its_faults() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let mut parameters = parameters("262144", "xorshift", "0");
    parameters
        .iter_mut()
        .find(|(key, _)| *key == "writeback")
        .unwrap()
        .1 = "periodic";
    let (ended, _) = launch.pair(
        &worker,
        &worker,
        &[(worker.method("share", "file-disk"), &parameters)],
        1,
    );
    if let Some(SideEnding::Skip { reason, .. }) = ended.transcript.endings.first() {
        assert!(reason.contains("lies in memory"), "{reason}");
        return;
    }
    let phase = ended
        .transcript
        .phases
        .iter()
        .position(|p| p == "random-write")
        .unwrap();
    let sample = ended
        .transcript
        .samples
        .iter()
        .find(|s| usize::from(s.phase) == phase)
        .unwrap();
    assert!(sample.counts.minor_faults >= 1, "{sample:?}");
    assert_eq!(ended.facts(0)["wrong_bytes"], "0");
    assert!(
        ended.facts(0)["redirtied_bytes"].parse::<u64>().unwrap() >= 4096,
        "{:?}",
        ended.facts(0)
    );
}

#[test]
fn a_directory_that_cannot_be_written_fails_the_cell_with_its_cause() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("65536", "xorshift", "0");
    let cells: [(_, &[_]); 1] = [(worker.method("share", "file-disk"), &parameters)];
    let request = |role| {
        launch
            .request(&cells, Some(role), 2)
            .replacen("directory=", "directory=/proc/nowhere", 1)
    };
    let (a, b) = (
        launch.start(&worker, &request('a')),
        launch.start(&worker, &request('b')),
    );
    let (a, b) = (a.end(), b.end());
    let [
        SideEnding::Fail {
            cell: 0,
            error: reason,
            ..
        },
    ] = &a.transcript.endings[..]
    else {
        panic!("{:?}", a.transcript.endings)
    };
    assert!(
        reason.contains("No such file") || reason.contains("Permission"),
        "{reason}"
    );
    assert!(
        b.messages.contains("the other side ended"),
        "{}",
        b.messages
    );
}

#[test]
fn a_region_larger_than_the_file_system_fails_before_it_is_touched() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    // More than any /dev/shm holds, and less than the index sequence reaches.
    let free = rustix::fs::statvfs("/dev/shm").unwrap();
    let room = free.f_bavail * free.f_frsize;
    if room >= 4 << 30 {
        skip("/dev/shm has room for the largest region");
        return;
    }
    let bytes = ((room / 4096 + 16) * 4096).to_string();
    let parameters = parameters(&bytes, "xorshift", "0");
    let cells: [(_, &[_]); 1] = [(worker.method("share", "posix-shm"), &parameters)];
    let first = launch.start(&worker, &launch.request(&cells, Some('a'), 1));
    let second = launch.start(&worker, &launch.request(&cells, Some('b'), 1));
    let (ended, _) = (first.end(), second.end());
    let [SideEnding::Fail { error: reason, .. }] = &ended.transcript.endings[..] else {
        panic!("{:?}", ended.transcript.endings)
    };
    assert!(reason.contains("are needed"), "{reason}");
    assert!(
        !launch.leftovers().iter().any(|p| p.starts_with("/dev/shm")),
        "the object is left"
    );
}

#[test]
fn a_killed_worker_leaves_no_segment_and_no_file() {
    let worker = Worker::native("c-O3");
    for method in ["sysv-shm", "posix-shm", "file-tmpfs", "file-disk"] {
        let launch = Launch::new();
        let mut parameters = parameters("16777216", "xorshift", "25%");
        parameters
            .iter_mut()
            .find(|(key, _)| *key == "ops")
            .unwrap()
            .1 = "100000000";
        let cells: [(_, &[_]); 1] = [(worker.method("share", method), &parameters)];
        let mut side = launch.start(&worker, &launch.request(&cells, Some('a'), 100));
        let other = launch.start(&worker, &launch.request(&cells, Some('b'), 100));
        wait_until_at_work(side.child.id());
        side.child.kill().unwrap();
        side.child.wait().unwrap();
        // Whatever a had no time for, b does when it notices.
        assert!(other.end().messages.contains("rendezvous"), "{method}");
        assert!(
            !launch.leftovers().iter().any(|p| !p.ends_with("meet")),
            "{method}: {:?}",
            launch.leftovers()
        );
        assert!(!left_a_segment(side.child.id()), "{method}");
    }
}

#[test]
fn a_second_process_faults_as_its_kind_of_memory_says() {
    let worker = Worker::native("c-O3");
    let parameters = parameters("1048576", "xorshift", "0");
    for method in ["sysv-shm", "memfd", "posix-shm", "file-tmpfs"] {
        let launch = Launch::new();
        let (a, b) = launch.pair(
            &worker,
            &worker,
            &[(worker.method("share", method), &parameters)],
            1,
        );
        let faults = |name: &str| {
            let phase = b
                .transcript
                .phases
                .iter()
                .position(|p| p == name)
                .unwrap_or_else(|| panic!("no {name}"));
            let sample = b
                .transcript
                .samples
                .iter()
                .find(|s| usize::from(s.phase) == phase)
                .unwrap();
            sample.counts.minor_faults + sample.counts.major_faults
        };
        assert_eq!(faults("write-after-read"), 0, "{method}");
        assert!((1..=256).contains(&faults("first-read")), "{method}");
        assert!(
            method != "sysv-shm" || faults("first-read") == 256,
            "a System V segment has no fault-around"
        );
        let (mine, theirs) = (a.facts(0), b.facts(0));
        assert_eq!(
            (mine["number"], mine["number_seen"]),
            (theirs["b.number_seen"], theirs["b.number"]),
            "{method}"
        );
        assert_eq!(
            (mine["b_stores_seen"], theirs["b.marks_seen"]),
            ("512", "256"),
            "{method}"
        );
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new(), "{method}");
    }
}

#[test]
fn c_and_java_share_a_file_both_ways() {
    let Some((_place, program, methods)) = java() else {
        return;
    };
    let native = Worker::native("c-O3");
    let parameters = parameters("65536", "xorshift", "0");
    for (name, java_first) in [
        ("file-tmpfs", true),
        ("file-tmpfs", false),
        ("file-disk", true),
        ("file-disk", false),
    ] {
        let launch = Launch::new();
        let own = methods
            .iter()
            .find(|m| m.experiment == "share" && m.name == name)
            .unwrap();
        let c = native.method("share", name);
        let start = |role, java: bool| {
            let cells: [(_, &[_]); 1] = [(if java { own } else { c }, &parameters)];
            let mut command = Command::new(if java {
                program.as_path()
            } else {
                native.path.as_path()
            });
            command.env("PAGEWISE_HELPER", native.helper());
            let pipe = std::process::Stdio::piped;
            let mut child = command
                .stdin(pipe())
                .stdout(pipe())
                .stderr(pipe())
                .spawn()
                .unwrap();
            let request = launch.request(&cells, Some(role), 2);
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.as_bytes())
                .unwrap();
            crate::support::sides::Side { child }
        };
        let (a, b) = (start('a', java_first), start('b', !java_first));
        let (a, b) = (a.end(), b.end());
        assert!(
            a.transcript.done && b.transcript.done,
            "{name} {java_first}: {} {}",
            a.messages,
            b.messages
        );
        if let Some(SideEnding::Skip { reason, .. }) = a.transcript.endings.first() {
            assert!(reason.contains("lies in memory"), "{reason}");
            continue;
        }
        let (mine, theirs) = (a.facts(1), b.facts(1));
        assert_eq!(
            (mine["number"], mine["number_seen"]),
            (theirs["b.number_seen"], theirs["b.number"]),
            "{name}"
        );
        assert_eq!(
            (
                mine["b_stores_seen"],
                theirs["b.marks_seen"],
                mine["wrong_bytes"]
            ),
            ("32", "16", "0"),
            "{name}"
        );
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new(), "{name}");
    }
}

/// The sequence by the definition of the protocol, written from its words.
fn indices(seed: u64, size: u64, count: u64) -> Vec<u64> {
    let mut x = seed | 1;
    let next = |_| {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        ((u128::from(x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) * u128::from(size)) >> 32) as u64
    };
    (0..count).map(next).collect()
}

#[test]
fn stores_and_loads_go_where_the_protocol_says() {
    let (worker, launch) = (Worker::native("c-O3"), Launch::new());
    for bytes in [65536_u64, 69632] {
        let words = bytes.to_string();
        let parameters = parameters(&words, "xorshift", "0");
        let ended = launch.alone(
            &worker,
            &[(worker.method("share", "anon-private"), &parameters)],
            1,
        );
        let mut memory: Vec<u8> = (0..bytes)
            .map(|at| if at % 4096 == 0 { 9 } else { 0 })
            .collect();
        let all = indices(9, bytes, 20000);
        all.iter().for_each(|&at| memory[at as usize] = 0x55);
        let words = memory
            .chunks(8)
            .map(|w| u64::from_le_bytes(w.try_into().unwrap()));
        let sum = words.zip(0_u64..).fold(0_u64, |sum, (w, i)| {
            sum.wrapping_add(w.wrapping_mul(2 * i + 1))
        });
        let digest = sum.wrapping_add(bytes.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let facts = ended.facts(0);
        assert_eq!(facts["digest"], format!("{digest:016x}"), "{bytes}");
        assert_eq!(
            facts["index_sum"],
            all.iter().sum::<u64>().to_string(),
            "{bytes}"
        );
    }
}

#[test]
fn both_sides_count_to_the_end_whether_or_not_they_share_a_line() {
    let worker = Worker::native("c-O3");
    let parameters = [("ops", "100000"), ("pin", "none")];
    let names = ["one-line", "adjacent-lines", "two-lines"];
    let cells = names.map(|name| (worker.method("false-sharing", name), &parameters[..]));
    let (a, b) = Launch::new().pair(&worker, &worker, &cells, 2);
    for slot in 0..6 {
        let (mine, theirs) = (a.facts(slot), b.facts(slot));
        assert_eq!(
            [
                mine["count"],
                mine["other_count"],
                theirs["b.count"],
                theirs["b.other_count"]
            ],
            ["100000"; 4]
        );
    }
}
