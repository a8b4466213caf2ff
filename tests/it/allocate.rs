//! The `allocate` methods, and the published job of `fault`, driven by hand and by the laboratory. No test asserts a time.

use crate::support::place::Place;
use crate::support::sides::{Launch, Worker};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use pagewise::worker::carried;
use record::method::Method;
use record::transcript::{SideEnding, Transcript};

/// The native workers.
fn workers() -> &'static [PathBuf] {
    static WORKERS: OnceLock<(tempfile::TempDir, Vec<PathBuf>)> = OnceLock::new();
    let unpack = || {
        let place = tempfile::tempdir().unwrap();
        let one = |(name, _): &(&str, carried::PackedFile)| {
            crate::support::native::worker(name, place.path())
        };
        let paths = carried::NATIVE_WORKERS.iter().map(one).collect();
        (place, paths)
    };
    &WORKERS.get_or_init(unpack).1
}

fn helper() -> PathBuf {
    crate::support::native::helper(workers()[0].parent().unwrap())
}

fn request(method: &str, bytes: u64, rounds: u32) -> String {
    let align = if method.starts_with("mmap-") {
        "align=kernel\n"
    } else {
        ""
    };
    let keys = match method {
        "null" | "limit" | "malloc-published" | "mmap-published" => String::new(),
        _ => format!("{align}backing=recycled\nidle_ms=1\nreuse=first\nthreads=1\nrunning=1\n"),
    };
    let rounds: String = (0..rounds).map(|n| format!("round={n} 0\n")).collect();
    format!(
        "protocol=1\nexperiment=allocate\nseed=6\ncell=0\nmethod={method}\nbytes={bytes}\n{keys}{rounds}"
    )
}

fn run(mut command: Command, request: &str) -> Transcript {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(request.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}: {:?}", output.status);
    let transcript = Transcript::read(output.stdout.as_slice()).unwrap();
    assert!(transcript.done);
    transcript
}

fn facts(transcript: &Transcript, slot: u32) -> BTreeMap<&str, &str> {
    transcript.facts[&slot]
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[test]
fn every_method_conforms() {
    conforms(
        "allocate",
        &["allocate/malloc-zero@c-O0", "allocate/aligned-thp@c-O3"],
    );
}

#[test]
fn odd_sizes_end_in_the_same_bytes_whatever_the_method() {
    for bytes in [1, 4095, 4097, 131_072, 1_000_001, 2_097_151] {
        let mut digests = BTreeMap::new();
        for worker in workers() {
            for method in [
                "malloc-zero",
                "calloc",
                "malloc-brk",
                "mmap-touch",
                "mmap-zero",
                "mmap-populate",
                "aligned-thp",
                "malloc-published",
                "mmap-published",
                "limit",
            ] {
                let transcript = run(Command::new(worker), &request(method, bytes, 1));
                if transcript.endings.is_empty() {
                    digests.insert(
                        format!("{method}@{}", transcript.worker),
                        facts(&transcript, 0)["digest"].to_owned(),
                    );
                }
            }
        }
        let first = digests.values().next().unwrap();
        assert!(
            digests.values().all(|digest| digest == first),
            "{bytes}: {digests:?}"
        );
    }
}

#[test]
fn large_blocks_are_mapped_small_ones_come_from_the_heap_and_brk_serves_both() {
    let worker = &workers()[0];
    for (method, bytes, mapped) in [
        ("malloc-zero", 4096, "0"),
        ("malloc-zero", 1 << 20, "1"),
        ("malloc-brk", 4096, "0"),
        ("malloc-brk", 40 << 20, "0"),
    ] {
        let transcript = run(Command::new(worker), &request(method, bytes, 1));
        let facts = facts(&transcript, 0);
        assert_eq!(facts["mmapped_blocks"], mapped, "{method} {bytes}");
        assert_eq!(facts["malloc_is_glibc"], "1", "{facts:?}");
        if method == "malloc-brk" {
            assert_eq!(facts["below_break"], "1", "{bytes}");
        }
    }
}

#[test]
fn p4_as_published_writes_zeros_frees_and_then_maps_and_writes_ones() {
    for worker in workers() {
        for (method, own) in [
            ("malloc-published", "malloc_raw_ns"),
            ("mmap-published", "mmap_raw_ns"),
        ] {
            let transcript = run(Command::new(worker), &request(method, 100 << 20, 1));
            let facts = facts(&transcript, 0);
            for law in [
                "zeros_right",
                "ones_right",
                "mmapped_blocks",
                "heap_untouched",
            ] {
                assert_eq!(facts[law], "1", "{method}: {facts:?}");
            }
            let number = |name: &str| facts[name].parse::<u64>().unwrap();
            assert!(
                number("between.anonymous_bytes") < number("before.anonymous_bytes") + (1 << 20),
                "{facts:?}"
            );
            assert!(
                number(own) >= transcript.samples[0].counts.wall_ns * 99 / 100,
                "{facts:?}"
            );
            assert_eq!(transcript.samples.len(), 1, "{method}");
        }
    }
}

#[test]
fn a_mapping_lies_where_it_is_asked_for() {
    let at = |align: &str| {
        let asked =
            request("mmap-zero", 5 << 20, 1).replace("align=kernel", &format!("align={align}"));
        let transcript = run(Command::new(&workers()[0]), &asked);
        facts(&transcript, 0)["block_alignment"]
            .parse::<u64>()
            .unwrap()
    };
    let page = rustix::param::page_size() as u64;
    assert!(
        at("kernel") >= page && at("huge") >= 2 << 20,
        "{} {}",
        at("kernel"),
        at("huge")
    );
}

#[test]
fn a_second_sample_in_one_process_is_seen_by_its_heap() {
    let transcript = run(
        Command::new(&workers()[0]),
        &request("malloc-zero", 4096, 2),
    );
    assert_eq!(facts(&transcript, 0)["heap_untouched"], "1");
    assert_eq!(facts(&transcript, 1)["heap_untouched"], "0");
}

#[test]
fn an_allocator_that_was_not_preloaded_is_skipped_with_its_package() {
    let transcript = run(Command::new(&workers()[0]), &request("jemalloc", 4096, 1));
    let [SideEnding::Skip { reason, .. }] = transcript.endings.as_slice() else {
        panic!("{:?}", transcript.endings)
    };
    assert!(
        reason.contains("libjemalloc2") && reason.contains("exec --preload"),
        "{reason}"
    );
}

#[test]
fn a_preloaded_allocator_is_the_one_in_use_where_it_is_installed() {
    let worker = &workers()[0];
    for name in ["jemalloc", "mimalloc", "tcmalloc"] {
        let start = format!("method\tallocate\t{name}\t");
        let list = Command::new(worker).arg("--list").output().unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        let line = list.lines().find(|l| l.starts_with(&start)).unwrap();
        let (library, _) = Method::parse(line).unwrap().preload.unwrap();
        let found = Command::new(helper())
            .args(["find-library", &library])
            .output()
            .unwrap();
        if !found.status.success() {
            skip(&format!("{library} is not installed"));
            continue;
        }
        let found = String::from_utf8(found.stdout).unwrap();
        let mut command = Command::new(helper());
        command
            .args(["exec", "--preload", found.trim(), "--"])
            .arg(worker);
        let transcript = run(command, &request(name, 1_000_001, 1));
        let facts = facts(&transcript, 0);
        assert_eq!(facts["malloc_is_preloaded"], "1", "{facts:?}");
        assert!(facts["malloc_library"].starts_with(&library), "{facts:?}");
        assert_eq!(facts["filled_right"], "1");
    }
}

#[test]
fn libraries_are_found_by_the_loader_or_said_to_be_missing() {
    let find = |name: &str| {
        Command::new(helper())
            .args(["find-library", name])
            .output()
            .unwrap()
    };
    let found = find("libc.so.6");
    assert!(
        found.status.success()
            && String::from_utf8_lossy(&found.stdout)
                .trim()
                .ends_with("/libc.so.6"),
        "{found:?}"
    );
    let missing = find("libsuchathingisnot.so.1");
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        missing.stdout.is_empty() && missing.stderr.is_empty(),
        "{missing:?}"
    );
}

#[test]
fn published_figures_name_what_exists() {
    let native = Command::new(&workers()[0]).arg("--list").output().unwrap();
    let go = carried::source("workers/go/methods.tsv").unwrap();
    let lists = String::from_utf8(native.stdout).unwrap() + go;
    let methods: Vec<(bool, Method)> = lists
        .lines()
        .filter(|l| l.starts_with("method\t"))
        .map(|l| (l.contains("source=workers/go/"), Method::parse(l).unwrap()))
        .collect();
    for id in ["p4", "p5"] {
        let (_, text) = carried::PUBLISHED
            .iter()
            .find(|(path, _)| path.ends_with(&format!("{id}.toml")))
            .unwrap();
        let table: toml::Table = text.parse().unwrap();
        for figure in table["figure"].as_array().unwrap() {
            let cell = figure["cell"].as_str().unwrap();
            let (name, worker) = cell.split_once('@').unwrap();
            let known = |(go, m): &&(bool, Method)| {
                *go == (worker == "go") && format!("{}/{}", m.experiment, m.name) == name
            };
            let (_, method) = methods
                .iter()
                .find(known)
                .unwrap_or_else(|| panic!("{id}: {cell} does not exist"));
            let phase = figure["phase"].as_str().unwrap();
            assert!(
                ["ready", "give-back"].contains(&phase) || method.phases.iter().any(|p| p == phase),
                "{id}: {cell} has no phase {phase}"
            );
            let bytes =
                record::sizes::parse_size(figure["parameters"]["bytes"].as_str().unwrap()).unwrap();
            let unit_bytes = if id == "p4" { 1 } else { 4096 };
            match figure.get("ops") {
                Some(ops) => assert_eq!(
                    ops.as_integer().unwrap() as u64 * unit_bytes,
                    bytes,
                    "{id}: {figure}"
                ),
                None => assert_eq!(figure["unit"].as_str(), Some("times"), "{id}: {figure}"),
            }
        }
    }
}

fn published(worker: &PathBuf, method: &str, keys: &str) -> Transcript {
    let request = format!(
        "protocol=1\nexperiment=fault\nseed=6\ncell=0\nmethod={method}\n{keys}\nround=0 0\n"
    );
    run(Command::new(worker), &request)
}

#[test]
fn p5_as_published_piles_up_what_free_leaves_and_nothing_else() {
    for worker in workers() {
        for release in ["free", "dontneed"] {
            let keys = format!(
                "bytes=4194304\nrelease={release}\npiled=no\npile=1073741824\nbenchtime_ms=1"
            );
            let transcript = published(worker, "touch-published", &keys);
            let facts = facts(&transcript, 0);
            let number = |name: &str| {
                facts[name]
                    .parse::<u64>()
                    .unwrap_or_else(|_| panic!("{name}: {facts:?}"))
            };
            let turns: u64 = (1..=4)
                .filter_map(|i| {
                    facts
                        .get(format!("quarter-{i}.turns").as_str())?
                        .parse::<u64>()
                        .ok()
                })
                .sum();
            assert_eq!(turns, number("iterations"), "{facts:?}");
            assert!(number("mappings") >= turns, "{facts:?}");
            assert_eq!(transcript.samples.len(), 1);
            assert_eq!(transcript.samples[0].counts.bytes, turns * (4 << 20));
            if release == "dontneed" {
                assert_eq!(number("lazyfree_bytes"), 0);
                assert!(number("pile_bytes") < 1 << 20, "{facts:?}");
            } else if number("reclaimed_pages") == 0 {
                assert!(
                    8 * number("lazyfree_bytes") >= 7 * number("mappings") * (4 << 20),
                    "{facts:?}"
                );
            }
        }
    }
}

#[test]
fn p5_as_published_stops_at_its_bound_where_no_cgroup_keeps_it() {
    let keys = "bytes=4194304\nrelease=free\npiled=no\npile=33554432\nbenchtime_ms=600000";
    let transcript = published(&workers()[1], "touch-published", keys);
    let facts = facts(&transcript, 0);
    assert_eq!(
        (facts["stopped"], facts["bounded_by_cgroup"]),
        ("1", "0"),
        "{facts:?}"
    );
    assert_eq!(facts["mappings"], "8", "{facts:?}");
    for (keys, words) in [
        (
            "bytes=4194304\nrelease=free\npiled=before\npile=33554432\nbenchtime_ms=1",
            "memory cgroup",
        ),
        (
            "bytes=4194304\nrelease=dontneed\npiled=before\npile=33554432\nbenchtime_ms=1",
            "nothing that could pile up",
        ),
        (
            "bytes=33554432\nrelease=free\npiled=no\npile=33554432\nbenchtime_ms=1",
            "more than half",
        ),
    ] {
        let transcript = published(&workers()[1], "touch-published", keys);
        let [SideEnding::Skip { reason, .. }] = transcript.endings.as_slice() else {
            panic!("{:?}", transcript.endings)
        };
        assert!(reason.contains(words), "{reason}");
    }
}

/// What a user's shell tells malloc would make another cell of it: such variables are cleared, kept in the record, and said.
#[test]
fn a_users_variables_reach_no_worker_unless_they_are_asked_for() {
    let place = Place::new();
    let mapped = |name: &str, more: &[&str]| {
        let out = place.file(name);
        let what = [
            "run",
            "allocate/malloc-zero@c-O3",
            "--set",
            "bytes=4MiB",
            "--launches",
            "1",
            "--budget",
            "5s",
            "--json",
        ];
        let mut command = place.command(&what);
        command.args(["--out", out.to_str().unwrap()]).args(more);
        command
            .env("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=16777216")
            .env("MALLOC_ARENA_MAX", "1");
        let output = command.output().unwrap();
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
        let environment: serde_json::Value =
            serde_json::from_slice(&std::fs::read(out.join("environment.json")).unwrap()).unwrap();
        assert_eq!(environment["variables"]["MALLOC_ARENA_MAX"], "1");
        let told = summary["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note["code"] == "environment-cleared");
        let cell = summary["cells"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["method"] == "malloc-zero")
            .unwrap();
        (cell["proofs"]["mmapped_blocks"]["max"].as_u64(), told)
    };
    assert_eq!(mapped("cleared", &[]), (Some(1), true));
    assert_eq!(mapped("kept", &["--keep-environment"]), (Some(0), false));
}

/// Changes a setting of the whole machine, if only for a minute: `cargo test -- --ignored` as root.
#[test]
#[ignore = "changes the machine's setting of transparent huge pages, and puts it back"]
fn names_hold_under_every_setting_of_transparent_huge_pages() {
    const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let before = std::fs::read_to_string(SETTING).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut command = assert_cmd::Command::cargo_bin("pagewise").unwrap();
    let fault =
        ["touch", "thp", "populate", "thp-populate", "collapse"].map(|m| format!("fault/{m}@c-O3"));
    let allocate =
        ["malloc-zero", "mmap-zero", "aligned-thp"].map(|m| format!("allocate/{m}@c-O3"));
    let output = command
        .env("XDG_CACHE_HOME", crate::support::cache::below(cache.path()))
        .env("PAGEWISE_LOCK", cache.path())
        .args(["check", "--allow-system-changes"])
        .args(fault.iter().chain(&allocate))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (_, never) = text.split_once("transparent huge pages: never\n").unwrap();
    let (never, smaller) = never.split_once("transparent huge pages").unwrap();
    assert!(
        smaller.contains("of 64 KiB always") || smaller.contains("of 64 KiB: skipped"),
        "{text}"
    );
    assert!(
        never.contains("skipped  fault/thp@c-O3: transparent huge pages are switched off"),
        "{text}"
    );
    assert!(
        never.contains("ok       fault/touch@c-O3")
            && never.contains("ok       fault/collapse@c-O3"),
        "{text}"
    );
    assert_eq!(std::fs::read_to_string(SETTING).unwrap(), before);
}

/// The passes over frames that a process makes before its sample, where the one before noted this level.
fn passes_after(level: u64) -> u64 {
    let (worker, kept) = (
        Worker::native("c-O3"),
        files::empty_memory_file("kept").unwrap(),
    );
    let note: Vec<u8> = [1_u64 << 20, 0, level]
        .into_iter()
        .flat_map(u64::to_ne_bytes)
        .collect();
    kept.write_all_at(&note, 512 << 20).unwrap();
    let mut launch = Launch::new();
    let path = format!("/proc/{}/fd/{}", std::process::id(), kept.as_raw_fd());
    launch.environment.push(("PAGEWISE_SWEPT", path));
    let parameters = [
        ("bytes", "1048576"),
        ("backing", "recycled"),
        ("reuse", "first"),
    ];
    let cell = (worker.method("allocate", "calloc"), parameters.as_slice());
    let ended = launch.alone(&worker, &[cell], 1);
    let mut left = [0; 24];
    kept.read_exact_at(&mut left, 512 << 20).unwrap();
    assert_eq!(
        left[..16],
        note[..16],
        "the note is of that much memory still"
    );
    assert_ne!(left[16..], note[16..], "what this process found is noted");
    ended.facts(0)["backing_passes"].parse().unwrap()
}

#[test]
fn a_level_of_frames_is_handed_down_from_process_to_process() {
    assert_eq!(passes_after(0), 4, "nothing to compare with");
    assert_eq!(
        passes_after(1),
        4,
        "dearer than before: the host has to find the frames"
    );
    assert_eq!(passes_after(u64::MAX / 2), 1, "no dearer than before");
}
