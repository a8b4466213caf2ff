//! The kinds of fault, driven by hand. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker};
use record::transcript::SideEnding;

const BYTES: &str = "4194304";

fn ended(worker: &Worker, method: &str, more: &[(&str, &str)]) -> Ended {
    let mut parameters = vec![("bytes", BYTES)];
    parameters.extend(more);
    let ended = Launch::new().alone(
        worker,
        &[(worker.method("fault", method), &parameters[..])],
        2,
    );
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

const PLAIN: [(&str, &str); 4] = [
    ("threads", "1"),
    ("processes", "1"),
    ("backing", "recycled"),
    ("idle_ms", "10"),
];

#[test]
fn a_read_of_fresh_memory_maps_every_page_and_gives_no_memory() {
    let worker = Worker::native("c-O3");
    let ended = ended(&worker, "zero-read", &PLAIN);
    assert_eq!(ended.transcript.endings, Vec::<SideEnding>::new());
    let facts = ended.facts(0);
    assert_eq!(
        (
            facts["first-read.rss_bytes"],
            facts["present_bytes"],
            facts["nonzero_bytes"]
        ),
        ("0", BYTES, "0")
    );
}

/// The two ways to make a guard refuse the same writes; only one of them needs mappings for it.
#[test]
fn guards_refuse_writes_until_they_are_taken_away() {
    let worker = Worker::native("c-O3");
    let by_mprotect = ended(&worker, "guard-mprotect", &[]);
    let facts = by_mprotect.facts(0);
    let guards: u64 = facts["refused_guards"].parse().unwrap();
    assert!(guards > 0 && facts["refused_after"] == "0", "{facts:?}");
    assert_eq!(facts["mappings"].parse::<u64>().unwrap(), 2 * guards);
    let installed = ended(&worker, "guard-install", &[]);
    match installed.transcript.endings.as_slice() {
        [] => {
            let facts = installed.facts(0);
            assert_eq!((facts["mappings"], facts["refused_after"]), ("1", "0"));
            assert_eq!(facts["refused_guards"].parse::<u64>().unwrap(), guards);
        }
        [SideEnding::Skip { reason, .. }] => assert!(reason.contains("Linux 6.13"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// Where the machine does not grant what a method needs, its reason has what would; where it does, nothing is skipped.
#[test]
fn what_is_not_granted_is_skipped_with_what_would_grant_it() {
    let worker = Worker::native("c-O3");
    let mthp = ended(
        &worker,
        "mthp",
        &[
            &[("folio", "65536"), ("release", "dontneed")][..],
            &PLAIN[..],
        ]
        .concat(),
    );
    if let [SideEnding::Skip { reason, .. }] = mthp.transcript.endings.as_slice() {
        assert!(
            reason.contains("/sys/kernel/mm/transparent_hugepage/hugepages-"),
            "{reason}"
        );
    } else {
        assert_eq!(mthp.facts(0)["expected_faults"], "64");
    }
    let swap = ended(&worker, "swap-in", &[("threads", "1")]);
    if let [SideEnding::Skip { reason, .. }] = swap.transcript.endings.as_slice() {
        assert!(reason.contains("swap"), "{reason}");
    } else {
        assert_eq!(swap.facts(0)["swapped_bytes"], BYTES);
    }
    for method in ["uffd-missing", "uffd-minor", "uffd-wp"] {
        let ended = ended(&worker, method, &[]);
        if let [SideEnding::Skip { reason, .. }] = ended.transcript.endings.as_slice() {
            assert!(reason.contains("userfaultfd"), "{reason}");
        } else {
            let facts = ended.facts(0);
            assert!(facts["served"] != "0", "{facts:?}");
        }
    }
}

#[test]
fn flushed_frames_are_those_that_the_sample_gets() {
    let worker = Worker::native("c-O3");
    for (method, frames) in [
        ("touch", "memory"),
        ("populate", "memory"),
        ("thp", "memory"),
        ("touch", "swept"),
    ] {
        let mut parameters = vec![
            ("bytes", BYTES),
            ("frames", frames),
            ("release", "dontneed"),
            ("running", "1"),
        ];
        parameters.extend(PLAIN);
        let cell = (worker.method("fault", method), parameters.as_slice());
        let ended = Launch::new().alone(&worker, &[cell], 4);
        if !ended.transcript.endings.is_empty() {
            continue;
        }
        let number = |slot: u32, name: &str| ended.facts(slot)[name].parse::<u64>().unwrap();
        if number(0, "flushed_bytes") == 0 {
            assert!(number(0, "swept_bytes") >= 64 << 20, "{method}");
            continue;
        }
        assert_eq!(
            (number(0, "flushed_bytes"), frames),
            (4 << 20, "memory"),
            "{method}"
        );
        // Only the administrator sees frames. Others may take some between; they do not in each of four rounds.
        let seen = number(0, "frames_seen");
        let foreign = (0..4).map(|slot| number(slot, "foreign_frames")).min();
        assert!(seen == 0 || seen == 1024, "{method}: {seen}");
        assert!(
            foreign.unwrap() * 4 <= seen,
            "{method}: {foreign:?} of {seen}"
        );
    }
}
