//! The `heap` methods, driven by hand and by the laboratory. No test asserts a time.

use std::collections::BTreeSet;

use crate::support::sides::{Launch, Worker};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

#[test]
fn every_heap_conforms() {
    conforms("heap", &["heap/glibc@c-O0", "heap/jemalloc@c-O3"]);
}

/// The same seed makes the same objects, whatever happens between the slots; and what is kept is a tenth.
#[test]
fn the_objects_are_the_same_in_every_slot_and_a_tenth_of_them_is_kept() {
    let worker = Worker::native("c-O3");
    let parameters = [("bytes", "1048576"), ("turnover", "1")];
    let cells = [(worker.method("heap", "glibc"), &parameters[..])];
    let ended = Launch::new().alone(&worker, &cells, 2);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    assert_eq!(ended.transcript.endings, Vec::<SideEnding>::new());
    let told = |slot, name: &str| ended.facts(slot)[name].parse::<u64>().unwrap();
    for name in [
        "objects",
        "live_bytes",
        "kept_bytes",
        "handed_objects",
        "freed_objects",
        "grown_bytes",
    ] {
        let both: BTreeSet<u64> = (0..2).map(|slot| told(slot, name)).collect();
        assert_eq!(both.len(), 1, "{name}: {both:?}");
    }
    assert_eq!(
        told(0, "freed_objects"),
        2 * told(0, "objects") + told(0, "handed_objects")
    );
    assert!(told(0, "kept_bytes") < told(0, "live_bytes") / 4);
    // The mean of the inverse square from 4 to 32768 bytes is some 36 bytes.
    let mean = told(0, "live_bytes") / told(0, "objects");
    assert!((25..50).contains(&mean), "{mean}");
}
