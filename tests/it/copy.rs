//! The `copy` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Launch, Worker, spoiled_cell};
use crate::support::suite::conforms;
use record::transcript::SideEnding;
use std::os::{fd::AsRawFd, unix::fs::MetadataExt};

const OPTIONS: [(&str, &str); 5] = [
    ("batch_bytes", "1"),
    ("pipe_bytes", "65536"),
    ("threads", "2"),
    ("pages", "base"),
    ("node", "local"),
];

fn parameters<'a>(bytes: &'a str, destination: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("bytes", bytes), ("destination", destination)];
    all.extend(OPTIONS);
    all
}

#[test]
fn every_method_conforms() {
    conforms(
        "copy",
        &[
            "copy/vmsplice-published@c-O0",
            "copy/rep-movsb@c-O3",
            "copy/process-vm-self@c-O3",
        ],
    );
}

#[test]
fn odd_sizes_end_in_the_same_bytes_whatever_the_method() {
    for worker in ["c-O0", "c-O3"].map(Worker::native) {
        for bytes in ["1", "31", "4097", "70001", "1048575"] {
            for destination in ["warm", "first-touch"] {
                let launch = Launch::new();
                let parameters = parameters(bytes, destination);
                // A block is moved to its node before it is copied, so a fresh one is none of that method's.
                let takes = |name: &str| name != "memcpy-node" || destination == "warm";
                for method in worker
                    .of("copy")
                    .filter(|m| m.name != "null" && takes(&m.name))
                {
                    let ended = launch.alone(&worker, &[(method, &parameters)], 2);
                    if let Some(SideEnding::Skip { reason, .. }) = ended.transcript.endings.first()
                    {
                        assert!(
                            bytes.parse::<u64>().unwrap() < 8192 || !reason.contains("page"),
                            "{}: {reason}",
                            method.name
                        );
                        continue;
                    }
                    assert_eq!(
                        ended.facts(1)["wrong_at"],
                        bytes,
                        "{} {destination}",
                        method.name
                    );
                    let digest = |slot| ended.facts(slot).get("digest").copied().unwrap_or("none");
                    assert_eq!(
                        (digest(0) == "none", digest(1)),
                        (false, digest(0)),
                        "{} {destination}",
                        method.name
                    );
                }
            }
        }
    }
}

#[test]
fn memory_that_fills_the_caches_stays_for_the_next_launch() {
    let (worker, kept) = (
        Worker::native("c-O3"),
        files::empty_memory_file("kept").unwrap(),
    );
    let mut parameters = parameters("65536", "warm");
    parameters.push(("frames", "swept"));
    let swept_with = |path: String| {
        let mut launch = Launch::new();
        launch.environment.push(("PAGEWISE_SWEPT", path));
        let ended = launch.alone(
            &worker,
            &[(worker.method("copy", "memcpy"), &parameters)],
            2,
        );
        ended.facts(1)["swept_bytes"].to_owned()
    };
    let swept = swept_with(format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        kept.as_raw_fd()
    ));
    let file = kept.metadata().unwrap();
    assert_eq!(
        (file.len(), (file.blocks() * 512).to_string()),
        (512 << 20, swept.clone())
    );
    // A file that is no process's descriptor is not made larger, whoever named it.
    let other = tempfile::NamedTempFile::new().unwrap();
    for way in ["", "/proc/.."] {
        assert_eq!(
            swept_with(format!("{way}{}", other.path().display())),
            swept
        );
    }
    assert_eq!(other.as_file().metadata().unwrap().len(), 0);
}

#[test]
fn blocks_are_flushed_line_by_line_and_the_lines_have_to_come_again() {
    let worker = Worker::native("c-O3");
    for (destination, flushed) in [("warm", 2 * 70_001), ("first-touch", 70_001)] {
        let mut parameters = parameters("70001", destination);
        parameters.push(("frames", "memory"));
        for method in ["memcpy", "limit"] {
            let cell = (worker.method("copy", method), parameters.as_slice());
            let ended = Launch::new().alone(&worker, &[cell], 2);
            let facts = ended.facts(1);
            if facts["flushed_bytes"] == "0" {
                assert_ne!(
                    facts["swept_bytes"], "0",
                    "{method}: neither flushed nor swept"
                );
                continue;
            }
            assert_eq!(facts["flushed_bytes"], flushed.to_string(), "{method}");
            assert_eq!(
                facts["wrong_at"], "70001",
                "{method}: flushing loses nothing"
            );
            assert!(facts.contains_key("flushed_lines_ns"), "{method}");
        }
    }
}

#[test]
fn a_wrong_byte_is_found_where_it_is() {
    let worker = Worker::native("c-O3");
    for offset in ["0", "7", "8", "4095", "4096", "69999", "70000"] {
        let mut launch = Launch::new();
        launch
            .environment
            .push(("PAGEWISE_TEST_WRONG_AT", offset.to_owned()));
        for method in ["memcpy", "vmsplice-wide", "mremap"] {
            let parameters = parameters("70001", "warm");
            let ended = launch.alone(&worker, &[(worker.method("copy", method), &parameters)], 2);
            assert_eq!(ended.facts(0)["wrong_at"], offset, "{method}");
            assert_eq!(ended.facts(1)["wrong_at"], offset, "{method}");
        }
    }
}

#[test]
fn the_laboratory_trusts_no_cell_with_a_wrong_byte() {
    let place = tempfile::tempdir().unwrap();
    let cell = spoiled_cell(&place, "copy/memcpy", &["bytes=64KiB"], 4711);
    assert_eq!(cell["status"], "untrusted");
    let reason = crate::support::place::reason(&cell);
    assert!(
        reason.contains("digest") && reason.contains("4711 against 65536"),
        "{reason}"
    );
}

#[test]
fn a_pipe_that_is_not_granted_as_asked_is_no_measurement() {
    let worker = Worker::native("c-O3");
    for (asked, words) in [("100000", "131072"), ("18446744073709551615", "an int")] {
        let launch = Launch::new();
        let parameters = [
            ("bytes", "65536"),
            ("destination", "warm"),
            ("batch_bytes", "1"),
            ("pages", "base"),
            ("pipe_bytes", asked),
        ];
        let ended = launch.alone(
            &worker,
            &[(worker.method("copy", "vmsplice-wide"), &parameters)],
            1,
        );
        let Some(SideEnding::Skip { reason, .. }) = ended.transcript.endings.first() else {
            panic!("not skipped")
        };
        assert!(reason.contains(words), "{reason}");
        assert!(ended.transcript.samples.is_empty());
    }
}
