//! The `fork` methods, driven by hand and by the laboratory. No test asserts a time.

use crate::support::sides::{Ended, Launch, Worker};
use crate::support::skips::skip;
use crate::support::suite::conforms;
use record::transcript::SideEnding;

const BYTES: u64 = 4 << 20;

fn ended(worker: &Worker, methods: &[&str], pages: &str, every: &str, rounds: u32) -> Ended {
    let bytes = BYTES.to_string();
    let parameters = [
        ("bytes", bytes.as_str()),
        ("pages", pages),
        ("every", every),
    ];
    let cells: Vec<_> = methods
        .iter()
        .map(|name| (worker.method("fork", name), &parameters[..]))
        .collect();
    let ended = Launch::new().alone(worker, &cells, rounds);
    assert!(
        ended.status.success() && ended.transcript.done,
        "{:?} {}",
        ended.status,
        ended.messages
    );
    ended
}

fn number(ended: &Ended, slot: u32, name: &str) -> u64 {
    let facts = ended.facts(slot);
    facts
        .get(name)
        .unwrap_or_else(|| panic!("no {name} in {facts:?}"))
        .parse()
        .unwrap()
}

/// Minor faults of a phase of one slot.
fn faults(ended: &Ended, slot: u32, phase: &str) -> u64 {
    let transcript = &ended.transcript;
    let number = transcript.phases.iter().position(|p| p == phase).unwrap();
    let mine = |s: &&record::transcript::Sample| s.slot == slot && usize::from(s.phase) == number;
    transcript
        .samples
        .iter()
        .find(mine)
        .unwrap()
        .counts
        .minor_faults
}

#[test]
fn every_native_method_conforms() {
    conforms(
        "fork",
        &[
            "fork/vfork@c-O0",
            "fork/posix-spawn@c-O3",
            "fork/cow-child@c-O3",
        ],
    );
}

#[test]
fn what_a_fork_leaves_behind_is_found_in_the_parents_next_writes_and_in_nobody_elses() {
    let worker = Worker::native("c-O3");
    let methods = ["fork", "vfork", "cow-child", "posix-spawn", "limit"];
    let ended = ended(&worker, &methods, "small", "page", 2);
    let page = rustix::param::page_size() as u64;
    for slot in 0..10 {
        let name = methods[slot as usize % methods.len()];
        let expected = if name == "fork" || name == "cow-child" {
            BYTES / page
        } else {
            0
        };
        // That of cow-child is the child's own phase, which it reported to its parent.
        assert_eq!(
            faults(&ended, slot, "write"),
            expected,
            "{name}, slot {slot}"
        );
    }
}

#[test]
fn the_childs_page_tables_take_two_bytes_a_kibibyte_and_its_writes_double_the_memory() {
    let worker = Worker::native("c-O3");
    let ended = ended(
        &worker,
        &["cow-parent", "cow-child", "pause"],
        "small",
        "page",
        1,
    );
    let page = rustix::param::page_size() as u64;
    for slot in 0..3 {
        assert!(number(&ended, slot, "child_table_bytes") >= 8 * (BYTES / page));
    }
    for slot in 0..2 {
        assert_eq!(number(&ended, slot, "copied_bytes"), BYTES);
    }
    let pauses: u64 = ended.transcript.latencies[&2]
        .iter()
        .map(|(_, _, count)| count)
        .sum();
    assert_eq!(
        pauses,
        BYTES / page + 1,
        "one for each write, and fork() itself"
    );
}

#[test]
fn a_byte_in_a_huge_page_says_what_the_kernel_copied_for_it() {
    let worker = Worker::native("c-O0");
    let ended = ended(&worker, &["cow-parent", "cow-child"], "huge", "huge", 2);
    if let Some(SideEnding::Skip { reason, .. }) = ended.transcript.endings.first() {
        skip(reason);
        return;
    }
    for slot in 0..4 {
        if number(&ended, slot, "huge_bytes") != BYTES {
            skip("this machine has no huge pages to give");
            return;
        }
        let (copied, written) = (
            number(&ended, slot, "copied_bytes"),
            number(&ended, slot, "written"),
        );
        assert!(
            copied >= written * rustix::param::page_size() as u64 && copied <= BYTES,
            "{copied} for {written}"
        );
    }
}
