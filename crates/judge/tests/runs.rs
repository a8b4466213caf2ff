//! Recorded runs, judged again from their plan, decisions and transcripts alone.

mod recorded;

use pagewise_judge::evidence::{Evidence, ReadOne, one_by_one};
use pagewise_judge::{self as judge, Circumstances, KnownMethods, replay};
use record::folder::SUMMARY;
use record::json::ToJson;
use record::method::{Method, Offer};
use record::outcome::{Cause, Outcome, Status};
use record::state::State;
use record::summary::{Recommendation, Summary, Verdict};
use recorded::{open, path};
use std::cell::Cell;

fn judged(name: &str) -> (State, Summary) {
    replay(&open(&path(name)).unwrap()).unwrap()
}

fn text(summary: &Summary) -> String {
    record::folder::one_a_line(&summary.to_json().unwrap()).unwrap()
}

/// Runs that came to their end, whose folders hold the summary that they ended with.
const WHOLE: [&str; 4] = ["ordinary", "one-launch", "failed-cell", "no-java"];

/// Byte for byte, whatever machine and level of optimisation: fractions leave the judging with ten digits. With
/// `PAGEWISE_BLESS`, as `cargo xtask bless` sets it, the summaries are written.
#[test]
fn a_replay_gives_the_same_summary() {
    for name in WHOLE {
        let again = text(&judged(name).1);
        if std::env::var_os("PAGEWISE_BLESS").is_some() {
            std::fs::write(path(name).join("summary.json"), &again).unwrap();
        }
        let kept = std::fs::read_to_string(path(name).join("summary.json")).unwrap();
        let differs = kept.lines().zip(again.lines()).find(|(a, b)| a != b);
        assert!(kept == again, "{name}: {differs:?}");
    }
}

#[test]
fn a_replay_is_the_same_every_time() {
    for name in WHOLE.into_iter().chain(["interrupted", "damaged"]) {
        assert!(text(&judged(name).1) == text(&judged(name).1), "{name}");
    }
}

/// All that is asked of a run between its launches, with every digit.
fn looked_at(state: &State, evidence: &Evidence) -> String {
    let experiments = state.plan.experiments.iter();
    let widths: Vec<_> = experiments
        .map(|experiment| judge::half_widths(state, evidence, &experiment.name))
        .collect();
    let summary = judge::summarise(state, evidence, Circumstances::default()).unwrap();
    let logs = judge::launch_logs(state, evidence);
    format!("{widths:?} {logs:?} {:?}", text(&summary))
}

/// A run is looked at after each launch, and what was paired before is kept: it says what it would say from nothing.
#[test]
fn a_run_that_was_looked_at_says_the_same() {
    for name in WHOLE {
        let folder = open(&path(name)).unwrap();
        let (state, launches) = (folder.state().unwrap(), folder.launches().unwrap().records);
        let mut kept = Evidence::default();
        for (so_far, record) in launches.iter().enumerate() {
            kept.add(&state, record, &folder.transcripts(record).unwrap());
            let mut anew = Evidence::default();
            for record in &launches[..=so_far] {
                anew.add(&state, record, &folder.transcripts(record).unwrap());
            }
            assert!(
                looked_at(&state, &kept) == looked_at(&state, &anew),
                "{name}: {}",
                record.launch
            );
        }
    }
}

/// A summary is believed without a launch being read, unless a transcript is damaged.
#[test]
fn launches_are_read_only_where_the_summary_does_not_hold() {
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("run");
    std::fs::create_dir(&copy).unwrap();
    for entry in std::fs::read_dir(path("ordinary")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let folder = open(&copy).unwrap();
    let (_, summary) = replay(&folder).unwrap();
    folder.write_result(SUMMARY, &summary).unwrap();
    let read = Cell::new(0);
    let counting = |launches: usize, reader: ReadOne| {
        read.set(read.get() + launches);
        one_by_one(launches, reader)
    };
    assert!(
        text(&judge::judged(&folder, &counting, &KnownMethods::default()).unwrap())
            == text(&summary)
    );
    assert_eq!(read.get(), 0);
    let transcripts = copy.join("transcripts.zst");
    let mut bytes = std::fs::read(&transcripts).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&transcripts, bytes).unwrap();
    let again = judge::judged(&folder, &counting, &KnownMethods::default()).unwrap();
    let damage: Vec<&str> = again.damage().collect();
    assert!(
        damage
            .first()
            .is_some_and(|first| first.contains("transcripts.zst")),
        "{damage:?}"
    );
    assert_eq!(read.get(), folder.launches().unwrap().records.len());
}

/// The methods of a run, of which some do not take the run's value of `frames` any more.
fn known(state: &State, is_narrowed: impl Fn(&Method) -> bool) -> KnownMethods {
    let methods = state.plan.cells.iter().map(|planned| {
        let line = &planned.method.line;
        if is_narrowed(&planned.method) {
            Method::parse(&line.replace("frames:cached|", "frames:")).unwrap()
        } else {
            Method::parse(line).unwrap()
        }
    });
    let methods: Vec<Method> = methods.collect();
    let offer = Offer {
        worker: "c-O3",
        methods: &methods,
    };
    KnownMethods::new(&[offer], "c-O3", &["fault"].into())
}

#[test]
fn a_method_that_has_no_part_in_a_condition_is_withdrawn_from_an_older_run() {
    let folder = open(&path("ordinary")).unwrap();
    let (state, as_kept) = replay(&folder).unwrap();
    let recommended = |summary: &Summary| match summary.groups[0].recommendation {
        Recommendation::Use { cell, .. } => Some(summary.cells[cell].method.clone()),
        _ => None,
    };
    assert_eq!(recommended(&as_kept).as_deref(), Some("populate-write"));
    let same = judge::judged(&folder, &one_by_one, &known(&state, |_| false)).unwrap();
    assert_eq!(same.cells, as_kept.cells);
    let narrowed = known(&state, |method| method.name == "populate-write");
    let now = judge::judged(&folder, &one_by_one, &narrowed).unwrap();
    let is_withdrawn = |name: &str| {
        let cell = now.cells.iter().find(|c| c.method == name).unwrap();
        let cause = cell.outcome.cause.as_ref();
        let is_cause = matches!(cause, Some(Cause::OtherValues { key, .. }) if key == "frames");
        (
            cell.outcome.status == Status::Skipped && is_cause,
            cell.phases.len(),
        )
    };
    assert_eq!(is_withdrawn("populate-write"), (true, 0));
    assert!(!is_withdrawn("touch").0);
    assert_eq!(recommended(&now), None);
    let mut compared = now.groups.iter().flat_map(|group| &group.comparisons);
    assert!(compared.all(|c| now.cells[c.cell].method != "populate-write"));
    // A value that no method takes any more has another name, and withdraws nothing.
    let renamed = known(&state, |_| true);
    let summary = judge::judged(&folder, &one_by_one, &renamed).unwrap();
    assert_eq!(summary.cells, as_kept.cells);
    assert_eq!(renamed.offered()["fault"], 2);
}

#[test]
fn a_damaged_launch_is_named_and_the_others_are_as_they_were() {
    let (whole, damaged) = (judged("ordinary").1, judged("damaged").1);
    let seen = damaged.damage().next().unwrap();
    assert!(
        seen.contains("launch 4: its frame in transcripts.zst is not as it was written"),
        "{seen}"
    );
    assert!(!damaged.trusted && whole.damage().next().is_none());
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
    assert!(
        summary.notes.iter().any(|n| n.kind.code() == "interrupted"),
        "{:?}",
        summary.notes
    );
    let touch = summary
        .cells
        .iter()
        .find(|c| c.method == "touch" && !c.hidden)
        .unwrap();
    assert!(
        touch.outcome.status == Status::Ok && touch.launches >= 3,
        "{touch:?}"
    );
}

#[test]
fn a_call_that_failed_fails_its_cell_and_no_other() {
    let summary = judged("failed-cell").1;
    let [small, large] = [false, true].map(|is_large| {
        summary
            .cells
            .iter()
            .filter(|cell| cell.method == "touch" && !cell.hidden)
            .find(|cell| (cell.parameters["bytes"].len() > 8) == is_large)
            .unwrap()
    });
    assert_eq!(small.outcome, Outcome::OK);
    assert_eq!(large.outcome.status, Status::Failed);
    assert_eq!(
        large.outcome.cause,
        Some(Cause::Call {
            call: "mmap".to_owned(),
            phase: "-".to_owned(),
            error: "Cannot allocate memory".to_owned(),
        })
    );
    assert!(
        large.per_launch.is_empty(),
        "no figure of a cell that failed"
    );
}

#[test]
fn what_a_machine_lacks_is_skipped_and_the_rest_is_judged() {
    let summary = judged("no-java").1;
    let skipped: Vec<_> = summary
        .cells
        .iter()
        .filter(|c| c.outcome.status == Status::Skipped)
        .collect();
    for (worker, reason) in [
        ("java", "no Java in JAVA_HOME or PATH"),
        ("go", "no Go toolchain in PATH"),
    ] {
        let mut causes = skipped
            .iter()
            .filter(|cell| cell.worker == worker)
            .filter_map(|cell| cell.outcome.cause.as_ref());
        assert!(
            causes.any(
                |cause| matches!(cause, Cause::NoWorker { error, .. } if error.starts_with(reason))
            ),
            "{skipped:?}"
        );
    }
    assert!(skipped.iter().all(|c| c.per_launch.is_empty()));
    assert!(
        summary
            .comparisons()
            .any(|(_, comparison)| comparison.contrast.ratio.is_some()),
        "C's are compared all the same"
    );
}

#[test]
fn one_launch_settles_nothing() {
    let summary = judged("one-launch").1;
    let ranked: Vec<_> = summary
        .comparisons()
        .map(|(_, comparison)| comparison)
        .collect();
    assert!(!ranked.is_empty());
    for comparison in ranked {
        assert!(
            comparison.contrast.ratio.is_none()
                && comparison.contrast.verdict == Verdict::NotSettled,
            "{comparison:?}"
        );
    }
}

#[test]
fn a_verdict_is_explained_from_the_same_launches() {
    let folder = open(&path("ordinary")).unwrap();
    let explain = |cell: &str| judge::explained::explain(&folder, cell, &KnownMethods::default());
    let all = explain("fault/populate-write").unwrap();
    let summary = judged("ordinary").1;
    let cell = summary
        .cells
        .iter()
        .find(|c| c.method == "populate-write")
        .unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].launches.len(), cell.launches);
    assert!(explain("fault/no-such").is_err());
}
