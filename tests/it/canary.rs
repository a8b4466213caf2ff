//! The conformance suite must reject a worker that lies, by the name of the method that lied, and nothing else.

use crate::support::place::{Place, Said, said};
use crate::support::skips::skip;

fn check(lie: &str) -> Said {
    let place = Place::new();
    let experiments = place.small_experiments();
    let result = said(&mut place.canary(lie, &["--experiments", &experiments, "check"]));
    assert!(
        place.leftovers(place.path()).is_empty(),
        "{lie}: {:?}",
        place.leftovers(place.path())
    );
    result
}

/// The line on `fault/METHOD@canary`, without its word.
fn line<'a>(result: &'a Said, word: &str, method: &str) -> &'a str {
    let start = format!("{word:<8} fault/{method}@canary");
    let found = result
        .out
        .lines()
        .find_map(|l| l.strip_prefix(start.as_str()));
    found.unwrap_or_else(|| panic!("no line {start:?} in:\n{}{}", result.out, result.err))
}

fn rejected(lie: &str, because: &str) {
    let result = check(lie);
    let reason = line(&result, "REJECTED", "touch");
    assert!(
        reason.contains(because),
        "{lie}: {reason:?} does not say {because:?}"
    );
    assert_eq!(result.code, 3, "{lie}");
    // What did not lie is not rejected with it.
    line(&result, "ok", "null");
    line(&result, "ok", "limit");
}

#[test]
fn an_honest_canary_conforms() {
    let result = check("none");
    assert_eq!(result.code, 0, "{}{}", result.out, result.err);
    line(&result, "ok", "touch");
    assert!(
        result.out.contains("3 methods conform, 0 are rejected"),
        "{}",
        result.out
    );
    assert!(
        !result.out.contains("@c-O3"),
        "an external worker is checked by itself:\n{}",
        result.out
    );
}

#[test]
fn content_that_is_not_there_is_rejected() {
    rejected(
        "digest",
        "digest 0123456789abcdef where the content must give",
    );
    rejected("no-digest", "no digest was recorded");
}

#[test]
fn a_transcript_without_its_end_is_rejected() {
    rejected("no-done", "does not end with \"done\"");
}

#[test]
fn a_wrong_count_at_the_end_is_rejected() {
    rejected("done-count", "the worker says it took");
    rejected("after-done", "something stands after the closing line");
}

#[test]
fn samples_that_are_missing_are_rejected() {
    rejected("dropped-sample", "lacks the phase \"refault\"");
    rejected("dropped-round", "1 rounds where 2 were asked for");
}

#[test]
fn a_phase_timed_twice_is_rejected() {
    rejected("phase-twice", "timed the phase \"release\" twice");
}

#[test]
fn a_phase_that_was_not_declared_is_rejected() {
    rejected(
        "undeclared-phase",
        "timed the phase \"rehearsal\", which the method does not declare",
    );
}

#[test]
fn faults_beyond_the_law_are_rejected() {
    rejected(
        "extra-faults",
        "first-touch.minor_faults == bytes / page_bytes",
    );
}

#[test]
fn a_worker_that_ends_badly_is_rejected() {
    rejected("status", "the worker ended with exit status 7");
    rejected(
        "give-up",
        "the worker ended with exit status 9: the canary cannot go on",
    );
}

#[test]
fn system_calls_are_held_against_what_is_declared() {
    if std::process::Command::new("strace")
        .arg("-V")
        .output()
        .is_err()
    {
        skip("strace is not installed");
        return;
    }
    rejected(
        "undeclared-call",
        "phase map makes the system call mmap, which the method does not declare",
    );
    rejected(
        "unmade-call",
        "phase re-touch does not make the system call madvise that the method declares",
    );
}

#[test]
fn a_description_that_cannot_be_read_is_an_error() {
    let result = check("broken-law");
    assert_eq!(result.code, 1, "{}", result.out);
    assert!(
        result
            .err
            .starts_with("pagewise: worker canary describes itself wrongly: method fault/touch"),
        "{}",
        result.err
    );
}
