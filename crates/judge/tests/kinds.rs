//! One kept thing of every kind (`tests/fixtures/kept`, recorded by `record.sh` there), judged again: its result is, byte for
//! byte, the one that the program kept. `cargo xtask bless` writes the results anew after the judging was changed on purpose.

use pagewise_judge::{ending_notes, program, questions::claims, replay};
use record::claim::ResolvedClaim;
use record::decision::{Ending, Reason, Width};
use record::folder::{ANSWERS, ASKED, RunFolder, SUMMARY, one_a_line};
use record::json::ToJson;
use record::summary::{EndedExperiment, NoteKind};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Runs of methods: in states, of tails, of published cells, of claims.
const RUNS: [&str; 6] = [
    "states",
    "tail",
    "tail-again",
    "published",
    "claims",
    "claims-again",
];
/// Folders of runs: of the user's functions, of nodes, of a question of advice.
const FOLDERS: [&str; 3] = ["bench", "nodes", "advise/runs"];
/// Runs that answer claims.
const CLAIMS: [&str; 2] = ["claims", "claims-again"];
/// Studies of a program.
const PROGRAMS: [&str; 3] = ["try", "try-again", "profile"];

/// The claims that a run was made to answer, as they stand in its folder.
#[derive(Deserialize)]
struct Asked {
    claims: Vec<ResolvedClaim>,
}

record::read_from_json!(Asked);

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/kept")
}

fn open(path: &Path) -> RunFolder {
    RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere"))
        .unwrap_or_else(|error| panic!("{}: {error:#}", path.display()))
}

/// The text of a sealed result without its seal, which stands alone in the second line.
fn without_seal(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap();
    let (seal, rest) = rest.split_once('\n').unwrap();
    assert!(seal.trim_start().starts_with("\"seal\""), "{seal}");
    format!("{first}\n{rest}")
}

/// Fails unless the folder holds just this result under the name; with `PAGEWISE_BLESS` it is written.
fn assert_kept(folder: &RunFolder, name: &str, result: &impl ToJson) {
    if std::env::var_os("PAGEWISE_BLESS").is_some() {
        return folder.write_result(name, result).unwrap();
    }
    let kept = without_seal(&std::fs::read_to_string(folder.file(name)).unwrap());
    let again = one_a_line(&result.to_json().unwrap()).unwrap();
    let differs = kept.lines().zip(again.lines()).find(|(a, b)| a != b);
    assert!(
        kept == again,
        "{}: {differs:?}",
        folder.file(name).display()
    );
}

#[test]
fn runs_of_every_kind_have_the_summaries_that_they_ended_with() {
    let mut paths: Vec<PathBuf> = RUNS.iter().map(|name| kept().join(name)).collect();
    for name in FOLDERS {
        let entries = std::fs::read_dir(kept().join(name)).unwrap();
        paths.extend(entries.map(|entry| entry.unwrap().path()));
    }
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        let folder = open(&path);
        assert_kept(&folder, SUMMARY, &replay(&folder).unwrap().1);
    }
}

#[test]
fn claims_have_the_answers_that_their_run_gave() {
    for name in CLAIMS {
        let folder = open(&kept().join(name));
        let asked: Asked = folder.read_sealed(ASKED).unwrap();
        let summary = replay(&folder).unwrap().1;
        let (margin, run) = (summary.settings.margin, summary.run.clone());
        let answers = claims::report(&asked.claims, &[&summary], margin, Some(run));
        assert!(
            answers.answers.iter().any(|answer| !answer.jobs.is_empty()),
            "{name} answers nothing"
        );
        assert_kept(&folder, ANSWERS, &answers);
    }
}

#[test]
fn studies_of_programs_have_the_results_that_they_ended_with() {
    for name in PROGRAMS {
        let folder = open(&kept().join(name));
        assert_kept(&folder, SUMMARY, &program::judge(&folder.whole().unwrap()));
    }
}

/// The end of a kept run's only experiment, with its fewest launches in this cell and the widest of these ratios to a base.
fn ended(run: &str, fewest: usize, [base, cell]: [usize; 2]) -> EndedExperiment {
    let state = open(&kept().join(run)).state().unwrap();
    let ending = Ending::Experiment {
        experiment: state.plan.experiments[0].name.clone(),
        reason: Reason::BudgetSpent,
        launches: 7,
        fewest: Some(fewest),
        widest: Some(Width {
            base,
            cell,
            half_width: 0.1,
            ranked: true,
            settled: false,
            word_at: None,
        }),
    };
    let mut notes = ending_notes(&state, &[ending], &[]);
    match notes.remove(0).kind {
        NoteKind::BudgetEnded(ended) => ended,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_end_of_an_experiment_names_conditions_only_where_it_has_several() {
    let state = open(&kept().join("states")).state().unwrap();
    let place = |frames: &str, state_name: &str| {
        let is_there = |cell: &record::cell::Cell| {
            cell.parameters.word("frames") == Some(frames)
                && cell.parameters.word("state") == Some(state_name)
        };
        let mut cells = state.cells.iter();
        cells.position(|planned| is_there(&planned.cell)).unwrap()
    };
    let (cached, memory) = (place("cached", "many-vmas"), place("memory", "plain"));
    let ended_there = ended("states", memory, [cached, cached]);
    assert_eq!(
        ended_there.fewest,
        [("frames", "memory"), ("state", "plain")].into()
    );
    assert_eq!(
        ended_there.widest.unwrap().condition,
        [("frames", "cached"), ("state", "many-vmas")].into()
    );
    let alone = ended("bench/after-1", 0, [0, 0]);
    assert!(alone.fewest.is_empty() && alone.widest.unwrap().condition.is_empty());
}
