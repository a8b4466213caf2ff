//! Recorded runs, judged again from their plan, decisions and transcripts alone.

mod recorded;

use pagewise_judge::{self as judge, replay};
use record::outcome::Status;
use record::state::State;
use record::summary::{Summary, Verdict};
use recorded::{open, path};

fn judged(name: &str) -> (State, Summary) {
    replay(&open(&path(name)).unwrap()).unwrap()
}

fn text(summary: &Summary) -> String {
    serde_json::to_string_pretty(summary).unwrap() + "\n"
}

/// Runs that came to their end, whose folders hold the summary that they ended with.
const WHOLE: [&str; 3] = ["ordinary", "one-launch", "failed-cell"];

/// A JSON text with its fractions at twelve digits. What the compiler does at another level of optimisation, and the C library of
/// another machine, differ in the sixteenth.
fn twelve_digits(text: &str) -> Vec<String> {
    let number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let mut found = Vec::new();
    for line in text.lines() {
        let (label, value) = line.rsplit_once(' ').unwrap_or(("", line));
        let bare = value.trim_end_matches(',');
        let fraction = bare.contains('.') && bare.chars().all(number);
        let value = bare.parse::<f64>().ok().filter(|_| fraction);
        found.push(value.map_or_else(|| line.to_owned(), |v| format!("{label} {v:.11e}")));
    }
    found
}

#[test]
fn a_replay_gives_the_same_summary() {
    for name in WHOLE {
        let kept = std::fs::read_to_string(path(name).join("summary.json")).unwrap();
        let (kept, again) = (twelve_digits(&kept), twelve_digits(&text(&judged(name).1)));
        let differs = kept.iter().zip(&again).find(|(a, b)| a != b);
        assert!(differs.is_none() && kept.len() == again.len(), "{name}: {differs:?}");
    }
}

#[test]
fn a_replay_is_the_same_every_time() {
    for name in ["ordinary", "one-launch", "failed-cell", "interrupted", "damaged"] {
        assert!(text(&judged(name).1) == text(&judged(name).1), "{name}");
    }
}

/// To be run after the judging was changed on purpose: `cargo test -p pagewise-judge --test runs -- --ignored`.
#[test]
#[ignore = "writes the expected summaries anew"]
fn summaries_are_written_anew() {
    for name in WHOLE {
        std::fs::write(path(name).join("summary.json"), text(&judged(name).1)).unwrap();
    }
}

#[test]
fn a_damaged_launch_is_named_and_the_others_are_as_they_were() {
    let (whole, damaged) = (judged("ordinary").1, judged("damaged").1);
    let warning = damaged.warnings.iter().find(|w| w.code == "damaged").unwrap();
    assert!(warning.seen.contains("launch 4: its frame in transcripts.zst is not as it was written"), "{warning:?}");
    assert!(!damaged.trusted && whole.warnings.iter().all(|w| w.code != "damaged"));
    for (before, after) in whole.cells.iter().zip(&damaged.cells) {
        let mut others = before.per_launch.clone();
        others.retain(|values| values.launch != 4);
        assert_eq!(others, after.per_launch, "{}", before.cell);
    }
}

#[test]
fn a_killed_run_is_judged_as_far_as_it_came() {
    let (state, summary) = judged("interrupted");
    assert!(state.ended.is_none());
    assert!(summary.notes.iter().any(|n| n.code == "interrupted"), "{:?}", summary.notes);
    let touch = summary.cells.iter().find(|c| c.method == "touch" && !c.hidden).unwrap();
    assert!(touch.status == Status::Ok && touch.launches >= 3, "{touch:?}");
}

#[test]
fn a_call_that_failed_fails_its_cell_and_no_other() {
    let summary = judged("failed-cell").1;
    let touch = |large: bool| {
        let of = |c: &&record::summary::CellSummary| {
            c.method == "touch" && !c.hidden && (c.parameters["bytes"].len() > 8) == large
        };
        summary.cells.iter().find(of).unwrap()
    };
    assert_eq!(touch(false).status, Status::Ok, "{}", touch(false).reason);
    assert_eq!(touch(true).status, Status::Failed);
    assert!(touch(true).reason.contains("mmap") && touch(true).reason.contains("Cannot allocate memory"));
    assert!(touch(true).per_launch.is_empty(), "no figure of a cell that failed");
}

#[test]
fn one_launch_settles_nothing() {
    let summary = judged("one-launch").1;
    let ranked: Vec<_> = summary.comparisons().map(|(_, comparison)| comparison).collect();
    assert!(!ranked.is_empty());
    for comparison in ranked {
        assert!(comparison.ratio.is_none() && comparison.verdict == Verdict::NotSettled, "{comparison:?}");
    }
}

#[test]
fn a_verdict_is_explained_from_the_same_launches() {
    let folder = open(&path("ordinary")).unwrap();
    let all = judge::explained::explain(&folder, "fault/populate-write").unwrap();
    let summary = judged("ordinary").1;
    let cell = summary.cells.iter().find(|c| c.method == "populate-write").unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].launches.len(), cell.launches);
    assert!(judge::explained::explain(&folder, "fault/no-such").is_err());
}
