//! The states in which a program may be: an audit found that answers reversed between them, and that none was named.

use std::collections::BTreeMap;

use pagewise::plan::catalog;
use record::experiment::Experiment;

use crate::support::place::{Place, cell, is_measured};

/// Condition of an experiment, its usual value and the others that the overview measures.
const CONDITIONS: &[(&str, &str, &str, &[&str])] = &[
    ("relay", "cache", "hot", &["written", "mapped", "cold"]),
    ("allocate", "reuse", "first", &["steady", "kept"]),
    ("copy", "helpers", "asleep", &["spinning", "created"]),
    ("fault", "frames", "cached", &["memory"]),
    ("message", "pin", "l3", &["same", "none"]),
    ("message", "idle", "no", &["1ms"]),
    ("read", "cache", "hot", &["written", "mapped", "cold"]),
    ("load", "cache", "hot", &["written", "mapped", "cold"]),
    ("fork", "program", "tiny", &["dynamic"]),
    ("unmap", "chunk", "1MiB", &["4KiB"]),
    ("write", "order", "append", &["random", "preallocated"]),
    ("false-sharing", "stores", "atomic", &["plain"]),
];

/// Usual choice of an experiment and a candidate that the overview compares with it.
const CANDIDATES: &[(&str, &str, &str)] = &[
    ("transfer", "pipe", "shm-ring"),
    ("fork", "fork", "posix-spawn"),
    ("fork", "fork", "vfork"),
    ("allocate", "malloc-zero", "calloc"),
    ("message", "unix-stream", "eventfd"),
    ("relay", "read-pipe", "splice"),
];

fn experiments() -> BTreeMap<String, Experiment> {
    let all = catalog::experiments(None).unwrap();
    all.into_iter()
        .map(|experiment| (experiment.name.clone(), experiment))
        .collect()
}

#[test]
fn the_overview_measures_every_question_under_the_conditions_that_reverse_its_answer() {
    let all = experiments();
    for (experiment, key, usual, others) in CONDITIONS {
        let parameter = &all[*experiment].parameters[*key];
        assert!(
            parameter.condition,
            "{experiment}: {key} is a choice, no condition"
        );
        assert_eq!(
            parameter
                .look
                .first()
                .or(parameter.default.first())
                .map(String::as_str),
            Some(*usual),
            "{experiment}"
        );
        for value in [usual].into_iter().chain(*others) {
            assert!(
                parameter.look.iter().any(|look| look == value),
                "{experiment}: {key}={value} is not measured"
            );
            let clause = parameter.when.get(*value).or(parameter.when.get("*"));
            assert!(
                clause.is_some_and(|clause| !clause.is_empty()),
                "{experiment}: {key}={value} has no clause"
            );
        }
    }
    // Frames that the host has taken back made two levels of a published job.
    let backing = &all["transfer"].parameters["backing"];
    assert!(backing.condition && backing.default == ["recycled"]);
    // A store that needs its index computed hides a store that costs twice as much.
    assert_eq!(all["share"].parameters["index"].look, ["table"]);
}

#[test]
fn the_overview_compares_with_the_usual_choice_of_a_program() {
    let all = experiments();
    for (experiment, usual, candidate) in CANDIDATES {
        let experiment = &all[*experiment];
        assert_eq!(experiment.baseline, *usual, "{}", experiment.name);
        assert!(
            experiment
                .look_methods
                .iter()
                .any(|method| method == candidate),
            "{}: {candidate}",
            experiment.name
        );
    }
    // Memory that is given back later is no other way to give it back.
    assert!(
        !all["unmap"]
            .look_methods
            .iter()
            .any(|method| method == "free")
    );
}

#[test]
fn every_figure_of_an_experiment_has_a_unit_and_no_sample_is_one() {
    for (name, experiment) in experiments() {
        assert!(
            !experiment.unit.is_empty() && experiment.unit != "sample",
            "{name}: {:?}",
            experiment.unit
        );
    }
}

/// Runs an overview of two questions and looks at what the screen and the rows for other programs say of their figures.
#[test]
fn a_run_prints_the_cost_of_one_operation_under_a_named_condition() {
    let place = Place::new();
    let cells = ["message/unix-stream@c-O3+c-O3", "message/eventfd@c-O3+c-O3"];
    let set = [
        "--set",
        "bytes=64",
        "--set",
        "wait=block",
        "--set",
        "pin=same",
        "--set",
        "idle=no",
    ];
    let out = place.file("run").display().to_string();
    let run = place.run(
        &[
            &["run"],
            &cells[..],
            &set[..],
            &["--budget", "3s", "--launches", "3", "--out", &out],
        ]
        .concat(),
    );
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(
        run.out.contains("µs") && run.out.contains("round trip"),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("both sides share a CPU") || run.out.contains("pin=same"),
        "{}",
        run.out
    );
    let csv = place.run(&["report", &out, "--format", "csv"]).out;
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let unit = header
        .iter()
        .position(|name| *name == "unit")
        .expect("the rows have a unit");
    let row = csv
        .lines()
        .find(|line| line.contains("eventfd"))
        .expect("a row of eventfd");
    assert_eq!(row.split(',').nth(unit), Some("round trip"), "{row}");
}

#[test]
fn a_condition_that_some_methods_lack_is_measured_by_the_others() {
    let run = Place::new().run(&[
        "run",
        "fault/touch@c-O3",
        "fault/touch@python-*",
        "--set",
        "frames=memory,cached",
        "--set",
        "bytes=64KiB",
        "--launches",
        "1",
        "--budget",
        "2s",
        "--json",
    ]);
    let summary: serde_json::Value =
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.err));
    let cells = summary["cells"].as_array().unwrap();
    let both = |cell: &serde_json::Value| {
        (
            text(&cell["worker"]).split('-').next().unwrap().to_owned(),
            text(&cell["parameters"]["frames"]),
        )
    };
    let found: std::collections::BTreeSet<_> = cells.iter().map(both).collect();
    let wanted = [("c", "cached"), ("c", "memory"), ("python", "cached")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(found, wanted.into());
}

/// A pause and a block that no list names are measured; what is none is refused before.
#[test]
fn any_pause_and_any_block_may_be_asked_for() {
    let place = Place::new();
    let run = |method: &str, set: &str| {
        let words = [
            "run",
            method,
            "--launches",
            "3",
            "--budget",
            "20s",
            "--json",
        ];
        let set = set.split(' ').flat_map(|setting| ["--set", setting]);
        place.run(&words.into_iter().chain(set).collect::<Vec<_>>())
    };
    for (method, set, key, value) in [
        (
            "message/eventfd@c-O3+c-O3",
            "bytes=64 ops=5 wait=block pin=same idle=250us,20ms",
            "idle",
            &["250us", "20ms"][..],
        ),
        (
            "read/pread@c-O3",
            "bytes=1MiB place=disk cache=hot order=random-12KiB,random-8192",
            "order",
            &["random-12KiB", "random-8KiB"],
        ),
    ] {
        let run = run(method, set);
        let summary = serde_json::from_str(&run.out).unwrap_or_default();
        for value in value {
            let cell = cell(&summary, method, &[(key, value)]);
            assert!(is_measured(cell), "{cell} {}", run.err);
        }
    }
    let refused = run("message/eventfd@c-O3+c-O3", "idle=5min");
    assert!(
        refused.code == 1 && refused.err.contains("is not one of no, <time>"),
        "{}",
        refused.err
    );
    let skipped = run(
        "read/pread@c-O3",
        "order=random-5000B cache=hot bytes=1MiB place=disk",
    );
    assert!(
        format!("{}{}", skipped.out, skipped.err).contains("multiples of 4 KiB up to 16 MiB"),
        "{}{}",
        skipped.out,
        skipped.err
    );
}

/// Named methods run by the usual worker under the usual condition, unless more is requested.
#[test]
fn named_methods_bring_no_variants_that_nobody_asked_for() {
    let place = Place::new();
    let planned = |further: &[&str]| {
        let words = ["run", "message/unix-stream", "message/pipe", "--dry-run"];
        let result = place.run(&[&words[..], further].concat());
        assert_eq!(result.code, 0, "{}", result.err);
        let is_cell = |line: &&str| line.starts_with("message/");
        let rows: Vec<String> = result
            .out
            .lines()
            .filter(is_cell)
            .map(str::to_owned)
            .collect();
        let cells = |row: &String| row.split_whitespace().last().unwrap().parse::<usize>();
        let count: usize = rows.iter().map(|row| cells(row).unwrap()).sum();
        (rows, count)
    };
    let (rows, usual) = planned(&[]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.iter().all(|row| row.contains("@c-O3+c-O3")),
        "{rows:?}"
    );
    // A pause that is asked for is one more condition of each.
    let (_, paused) = planned(&["--set", "idle=no,1ms"]);
    assert_eq!(paused, 2 * usual);
    let (_, all) = planned(&["--budget", "1h"]);
    assert!(all > usual);
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
