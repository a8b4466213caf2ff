//! The `share` methods in C, Go and Java, driven by hand and by the laboratory. No test asserts a time.

mod sides;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pagewise::worker::carried;
use record::method::Method;
use record::transcript::Ending;
use sides::{Launch, Worker, conforms, pagewise};

fn parameters<'a>(bytes: &'a str, index: &'a str, load: &'a str) -> Vec<(&'a str, &'a str)> {
    let options = [("ops", "20000"), ("clear_bytes", "1"), ("writeback", "none"), ("place", "disk")];
    [("bytes", bytes), ("index", index), ("load", load)].into_iter().chain(options).collect()
}

/// The Java worker, by the Java in PATH; none where there is no JDK. Compiled once for all tests of this file.
fn java() -> Option<&'static (tempfile::TempDir, PathBuf, Vec<Method>)> {
    static JAVA: OnceLock<Option<(tempfile::TempDir, PathBuf, Vec<Method>)>> = OnceLock::new();
    JAVA.get_or_init(|| {
        let place = tempfile::tempdir().unwrap();
        let mut sources = Vec::new();
        for (path, text) in carried::SOURCES.iter().filter(|(p, _)| p.starts_with("workers/java/src/")) {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            sources.push(path);
        }
        let classes = place.path().join("classes");
        let compiled = Command::new("javac").arg("-nowarn").arg("-d").arg(&classes).args(&sources).output();
        if !compiled.is_ok_and(|output| output.status.success()) {
            eprintln!("there is no JDK in PATH; nothing to test");
            return None;
        }
        let list = carried::source("workers/java/methods.tsv").unwrap();
        std::fs::write(classes.join("methods.tsv"), list).unwrap();
        let program = place.path().join("worker-java");
        std::fs::write(&program, format!("#!/bin/sh\nexec java -cp {} pagewise.Worker \"$@\"\n", classes.display()))
            .unwrap();
        assert!(Command::new("chmod").arg("755").arg(&program).status().unwrap().success());
        let methods = list.lines().map(|line| Method::parse(line).unwrap()).collect();
        Some((place, program, methods))
    })
    .as_ref()
}

fn segments() -> usize {
    std::fs::read_to_string("/proc/sysvipc/shm").map_or(0, |text| text.lines().count())
}

#[test]
fn every_native_method_conforms() {
    let workers: Vec<Worker> = ["c-O0", "c-O3"].map(Worker::native).into();
    for worker in &workers {
        let all: Vec<&Method> = worker.of("share").collect();
        assert!(all.len() >= 11, "{} methods", all.len());
    }
    conforms("share/file-disk@c-O3", &["share/file-disk@c-O3"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_method_and_build() {
    let mut seen = std::collections::BTreeSet::new();
    for worker in [Worker::native("c-O0"), Worker::native("c-O3")] {
        let launch = Launch::new();
        let parameters = parameters("69632", "xorshift", "0");
        let methods = worker.of("share").filter(|m| m.name != "null");
        let cells: Vec<(&Method, &[(&str, &str)])> = methods.map(|m| (m, &parameters[..])).collect();
        let ended = launch.alone(&worker, &cells, 2);
        assert!(ended.transcript.done, "{}", ended.messages);
        for facts in ended.transcript.facts.values() {
            seen.extend(facts.iter().filter(|(name, _)| name == "digest").map(|(_, value)| value.clone()));
            let zero = |name: &str| facts.iter().find(|(n, _)| n == name).is_none_or(|(_, v)| v == "0");
            assert!(zero("lost_writes"), "{facts:?}");
        }
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new());
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
}

#[test]
fn java_writes_the_same_bytes_as_c() {
    let Some((_place, program, methods)) = java() else { return };
    let native = Worker::native("c-O3");
    for index in ["xorshift", "rand"] {
        let parameters = parameters("65536", index, "0");
        let launch = Launch::new();
        let c = launch.alone(&native, &[(native.method("share", "sysv-shm"), &parameters)], 1);
        let own = methods.iter().filter(|m| m.experiment == "share" && m.name != "null");
        let cells: Vec<(&Method, &[(&str, &str)])> = own.map(|m| (m, &parameters[..])).collect();
        let request = launch.request(&cells, None, 1);
        let mut child = Command::new(program);
        child
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.as_bytes()).unwrap();
        let j = sides::Side { child }.end();
        assert!(j.transcript.done, "{}", j.messages);
        for (slot, facts) in &j.transcript.facts {
            let digest =
                facts.iter().find(|(name, _)| name == "digest").unwrap_or_else(|| panic!("slot {slot}")).1.as_str();
            assert_eq!(digest, c.facts(0)["digest"], "index={index}, slot {slot}");
        }
        assert!(j.transcript.facts.len() >= 2 && launch.leftovers().is_empty());
    }
}

#[test]
fn a_memory_segment_on_an_old_jdk_is_skipped_with_that_reason() {
    let Some((_place, program, _)) = java() else { return };
    let about = Command::new(program).arg("--list").output().unwrap();
    let text = String::from_utf8(about.stdout).unwrap();
    let version: u32 = text.lines().next().unwrap().strip_prefix("pagewise\t1\tjava-").unwrap().parse().unwrap();
    let carried = carried::source("workers/java/methods.tsv").unwrap();
    assert!(carried.lines().all(|line| text.contains(line)), "--list is not methods.tsv");
    if version < 22 {
        let place = tempfile::tempdir().unwrap();
        let name = format!("share/memory-segment@java-{version}");
        let output = pagewise(&place, &["check", &name]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("skipped") && text.contains("it needs JDK 22"), "{text}");
    }
}

#[test]
fn the_load_is_another_process_that_takes_its_share_and_ends_with_the_slot() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("65536", "xorshift", "25%");
    let ended = launch.alone(&worker, &[(worker.method("share", "memfd"), &parameters)], 2);
    let facts = ended.facts(1);
    assert_eq!(facts["load_percent"], "25");
    assert!(facts["load_wall_ns"].parse::<u64>().unwrap() > 0 && facts["load_cpu_ns"].parse::<u64>().is_ok());
    let own = worker.path.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let still = processes.filter(|p| std::fs::read_link(p.path().join("exe")).is_ok_and(|exe| exe == Path::new(&own)));
    assert_eq!(still.count(), 0, "a load process outlived its worker");
}

#[test]
fn write_back_is_proved_by_its_faults() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let mut parameters = parameters("262144", "xorshift", "0");
    parameters.iter_mut().find(|(key, _)| *key == "writeback").unwrap().1 = "periodic";
    let ended = launch.alone(&worker, &[(worker.method("share", "file-disk"), &parameters)], 1);
    if let Some(Ending::Skip { reason, .. }) = ended.transcript.endings.first() {
        assert!(reason.contains("lies in memory"), "{reason}");
        return;
    }
    let phase = ended.transcript.phases.iter().position(|p| p == "random-write").unwrap();
    let sample = ended.transcript.samples.iter().find(|s| usize::from(s.phase) == phase).unwrap();
    assert!(sample.counts.minor_faults >= 1, "{sample:?}");
    assert_eq!(ended.facts(0)["lost_writes"], "0");
}

#[test]
fn a_directory_that_cannot_be_written_fails_the_cell_with_its_cause() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    let parameters = parameters("65536", "xorshift", "0");
    let cells: [(_, &[_]); 2] =
        [(worker.method("share", "file-disk"), &parameters), (worker.method("share", "memfd"), &parameters)];
    let request = launch.request(&cells, None, 2).replace("directory=", "directory=/proc/nowhere");
    let ended = launch.start(&worker, &request).end();
    let [Ending::Fail { cell: 0, reason }] = &ended.transcript.endings[..] else {
        panic!("{:?}", ended.transcript.endings)
    };
    assert!(reason.contains("No such file") || reason.contains("Permission"), "{reason}");
    assert!(ended.transcript.done && ended.facts(3)["lost_writes"] == "0", "the other cell goes on");
}

#[test]
fn a_region_larger_than_the_file_system_fails_before_it_is_touched() {
    let worker = Worker::native("c-O3");
    let launch = Launch::new();
    // More than any /dev/shm holds, and less than the index sequence reaches.
    let free = rustix::fs::statvfs("/dev/shm").unwrap();
    let room = free.f_bavail * free.f_frsize;
    if room >= 4 << 30 {
        eprintln!("/dev/shm has room for the largest region; nothing to test");
        return;
    }
    let bytes = ((room / 4096 + 16) * 4096).to_string();
    let parameters = parameters(&bytes, "xorshift", "0");
    let ended = launch.alone(&worker, &[(worker.method("share", "posix-shm"), &parameters)], 1);
    let [Ending::Fail { reason, .. }] = &ended.transcript.endings[..] else { panic!("{:?}", ended.transcript.endings) };
    assert!(reason.contains("are needed"), "{reason}");
}

#[test]
fn a_killed_worker_leaves_no_segment_and_no_file() {
    let worker = Worker::native("c-O3");
    let before = segments();
    for method in ["sysv-shm", "posix-shm", "file-tmpfs", "file-disk"] {
        let launch = Launch::new();
        let mut parameters = parameters("16777216", "xorshift", "25%");
        parameters.iter_mut().find(|(key, _)| *key == "ops").unwrap().1 = "100000000";
        let cells: [(_, &[_]); 1] = [(worker.method("share", method), &parameters)];
        let mut side = launch.start(&worker, &launch.request(&cells, None, 100));
        std::thread::sleep(std::time::Duration::from_millis(150));
        side.child.kill().unwrap();
        side.child.wait().unwrap();
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new(), "{method}");
    }
    assert!(segments() <= before, "a segment is left");
}
