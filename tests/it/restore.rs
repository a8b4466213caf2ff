//! The `restore` methods, driven by the laboratory. No test asserts a time.

use crate::support::sides::{Launch, Worker};
use crate::support::suite::conforms;
use record::transcript::SideEnding;

#[test]
fn every_native_method_conforms() {
    conforms(
        "restore",
        &[
            "restore/copy@c-O0",
            "restore/file-private@c-O3",
            "restore/fork-clone@c-O3",
        ],
    );
}

#[test]
fn a_page_that_nobody_may_serve_ends_the_guest_in_words() {
    let worker = Worker::native("c-O3");
    let mut launch = Launch::new();
    launch
        .environment
        .push(("PAGEWISE_TEST_POISON", String::new()));
    let set = [
        ("bytes", "4194304"),
        ("set", "10"),
        ("run", "2"),
        ("order", "random"),
        ("access", "mixed"),
        ("cache", "hot"),
        ("clones", "1"),
        ("pin", "none"),
    ];
    let ended = launch.alone(
        &worker,
        &[(worker.method("restore", "uffd-thread"), &set)],
        1,
    );
    match ended.transcript.endings.first() {
        Some(SideEnding::Skip { reason, .. }) => crate::support::skips::skip(reason),
        Some(SideEnding::Crash { signal, phase, .. }) => {
            assert!(signal == "SIGBUS" && phase == "work", "{signal} {phase}")
        }
        other => panic!("{other:?} {}", ended.messages),
    }
}
