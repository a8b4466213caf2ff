//! `pagewise claims`: every carried claim has its cells, own claims are read with care, answers have their shape.

use std::collections::BTreeSet;

use crate::support::place::{Place, said};
use crate::support::wishes::wish;
use pagewise::plan::{catalog, claims};
use pagewise::worker;
use record::cell::Cell;
use record::claim::{Answers, Claim, ClaimKind, NoVerdict};
use serde_json::Value;

/// Holds answers against the committed schema.
fn conforms(answers: &Value) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/claims.schema.json"
    );
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).expect("the schema is one");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: BTreeSet<String> = validator
        .iter_errors(answers)
        .map(|e| format!("{} at {}", e, e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Words of a claim's sentences, source or methods find it, not only its topics.
#[test]
fn claims_are_found_by_what_they_say() {
    let place = Place::new();
    for word in [
        "fsync",
        "O_DIRECT",
        "posix_spawn",
        "MAP_POPULATE",
        "lucene",
        "numpy",
        "msync",
        "small files",
    ] {
        let said = place.run(&["claims", "list", "--about", word]);
        assert!(
            said.code == 0 && said.out.lines().count() >= 3,
            "{word}: {}{}",
            said.out,
            said.err
        );
    }
    assert_eq!(
        place.run(&["claims", "list", "--about", "ync"]).code,
        1,
        "a word's end is no word"
    );
    let all = place.run(&["claims", "list"]).out;
    let head: Vec<&str> = all.lines().take(4).collect();
    assert!(
        all.lines().count() > 200 && head.join(" ").contains("list --about WORD"),
        "{head:?}"
    );
}

#[test]
fn there_are_enough_claims_of_every_kind_spread_over_the_experiments() {
    let all = claims::all().unwrap();
    let measurable = |c: &&Claim| c.missing.is_none();
    assert!(all.iter().filter(measurable).count() >= 60, "{}", all.len());
    let crossovers = all
        .iter()
        .filter(measurable)
        .filter(|c| c.kind == ClaimKind::Crossover);
    assert!(crossovers.count() >= 10);
    let used: BTreeSet<&str> = all
        .iter()
        .flat_map(|c| c.jobs())
        .map(|(_, job)| job.experiment.as_str())
        .collect();
    for experiment in catalog::experiments(None)
        .unwrap()
        .iter()
        .filter(|e| !e.hidden)
    {
        assert!(
            used.contains(experiment.name.as_str()),
            "no claim is about {}",
            experiment.name
        );
    }
    for table in ["P1", "P2", "P3", "P4", "P5"] {
        let mine = all
            .iter()
            .filter(|c| c.table.as_deref() == Some(table))
            .count();
        assert!(mine >= 4, "{table} has {mine}");
    }
}

/// A ratio without its machine and its condition is a rumor. Each carried claim has its author, the machine or that the source
/// names none, the state of which it was said, and the cause of a difference.
#[test]
fn every_claim_has_a_machine_a_condition_and_a_cause() {
    let absent = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().len() < 4);
    let mut wrong = Vec::new();
    for claim in claims::all().unwrap() {
        let source = &claim.source;
        let parts = [
            ("machine", &source.machine),
            ("condition", &source.condition),
            ("cause", &claim.confuses),
        ];
        wrong.extend(
            parts
                .iter()
                .filter(|(_, text)| absent(text))
                .map(|(name, _)| format!("{}: no {name}", claim.id)),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every method, worker and parameter that a claim names exists, and each parameter means something to one of its sides.
#[test]
fn the_cells_of_every_claim_exist() {
    let (experiments, workers) = (
        catalog::experiments(None).unwrap(),
        worker::all(&[], &[]).unwrap(),
    );
    let mut wrong = Vec::new();
    for claim in claims::all().unwrap() {
        let resolved = match claims::resolve(&[claim], &experiments, &workers, &wish()) {
            Ok(resolved) => resolved,
            Err(error) => {
                wrong.push(format!("{error:#}"));
                continue;
            }
        };
        for (asked, (name, job)) in resolved.claims[0].jobs.iter().zip(claim.jobs()) {
            let mut complain = |what: String| wrong.push(format!("{} {name}: {what}", claim.id));
            if matches!(asked.left_out, Some(NoVerdict::NoWorker { .. })) {
                continue;
            }
            if asked.left_out.is_some()
                || !asked.points.is_empty() && asked.points.len() != asked.way.len()
            {
                complain(format!("{:?}", asked.left_out));
            }
            let known =
                |key: &String, cells: &[Cell]| cells.iter().any(|c| c.parameters.contains_key(key));
            let either = |key: &&String| known(key, &asked.way) || known(key, &asked.other);
            let sides = [(&job.way_set, &asked.way), (&job.other_set, &asked.other)];
            let own = sides
                .into_iter()
                .flat_map(|(set, cells)| set.keys().filter(|key| !known(key, cells)));
            for key in job.set.keys().filter(|key| !either(key)).chain(own) {
                complain(format!("{key} means nothing to its methods"));
            }
            let experiment = catalog::find(&experiments, &job.experiment).unwrap();
            for total in [&job.total, &job.other_total].into_iter().flatten() {
                if !experiment.measures().any(|m| m == total) {
                    complain(format!("there is no {total}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The rest of a restore is done in rounds that prove, so each launch needs one.
    let proves = |id: &str| {
        let claim = claims::find(claims::all().unwrap(), &[id.to_owned()]).unwrap();
        let resolved = claims::resolve(&claim, &experiments, &workers, &wish()).unwrap();
        resolved
            .planned
            .iter()
            .map(|planned| planned.proves)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (proves("restore-threads"), proves("restore-move")),
        (vec![true; 2], vec![false; 2])
    );
}

/// A claim that a run of seconds decides.
pub(crate) const OWN: &str = r#"id = "own"
statement = "Two copies of the same loop cost the same."
kind = "ratio"
about = ["copy"]

[source]
title = "A page"
author = "Somebody"
address = "https://example.org/page"
figure = "the same"
read = "2026-11-21"

[holds]
low = 0.001
high = 1000.0

[corrected]
experiment = "copy"
way = "memcpy@c-O0"
other = "memcpy@c-O3"
set = { bytes = "64KiB" }
"#;

#[test]
fn mistakes_in_an_own_claim_are_named_with_line_and_column() {
    let place = Place::new();
    let path = place.file("own.toml");
    for (from, to, expected) in [
        (
            "kind = \"ratio\"",
            "kind = \"rato\"",
            "own.toml:3:8: unknown variant `rato`",
        ),
        (
            "low = 0.001",
            "low = 5000",
            "own.toml:14:1: low is not below high",
        ),
        ("memcpy@c-O0", "memcopy@c-O0", "did you mean \"memcpy\"?"),
        (
            "bytes = \"64KiB\"",
            "byte = \"64KiB\"",
            "has the parameter \"byte\"",
        ),
    ] {
        std::fs::write(&path, OWN.replace(from, to)).unwrap();
        let result = said(&mut place.command(&["claims", "--file", path.to_str().unwrap()]));
        assert_eq!(result.code, 1, "{}", result.out);
        assert!(
            result.err.contains(expected),
            "{}\nwanted {expected}",
            result.err
        );
    }
    let unknown = said(&mut place.command(&["claims", "P5-aa"]));
    assert!(
        unknown.code == 1 && unknown.err.contains("did you mean \"P5-a\"?"),
        "{}",
        unknown.err
    );
}

#[test]
fn an_own_claim_is_measured_kept_reused_compared_and_has_the_shape_of_its_schema() {
    let place = Place::new();
    let (path, runs) = (place.file("own.toml"), place.file("data/pagewise/runs"));
    std::fs::write(&path, OWN).unwrap();
    let words = [
        "claims",
        "--file",
        path.to_str().unwrap(),
        "--budget",
        "30s",
        "--json",
    ];
    let first = said(&mut place.command(&words));
    assert_eq!(first.code, 0, "{}", first.err);
    let value: Value = serde_json::from_str(&first.out).unwrap();
    conforms(&value);
    let answers: Answers = serde_json::from_value(value).unwrap();
    assert_eq!(
        (answers.answers.len(), answers.answers[0].id.as_str()),
        (1, "own")
    );
    let run = answers.run.clone().expect("a run was made");
    assert!(runs.join(&run).join("answers.json").is_file());
    assert_eq!(
        said(&mut place.command(&["report", &run, "--json"])).out,
        first.out,
        "a report repeats the answers"
    );
    let decided = answers.answers[0].word.is_decided();
    let again: Answers = serde_json::from_str(&said(&mut place.command(&words)).out).unwrap();
    assert_eq!(
        again.reused.contains(&run),
        decided,
        "what a kept run answers is not measured again"
    );
    assert_eq!(again.run.is_none(), decided);
    let same = said(&mut place.command(&["claims", "--compare", &run, &run]));
    assert!(
        same.code == 0 && same.out.contains("No verdict of A contradicts one of B"),
        "{}{}",
        same.out,
        same.err
    );
}

#[test]
fn a_killed_run_of_claims_is_answered_when_it_is_completed_and_has_eleven_files_at_most() {
    let place = Place::new();
    let (path, run) = (place.file("own.toml"), place.file("home/run"));
    std::fs::write(&path, OWN).unwrap();
    let (path, name) = (path.to_str().unwrap(), run.to_str().unwrap());
    let mut killed = place.command(&["claims", "--file", path, "--budget", "30s", "--out", name]);
    let killed = killed
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let mut killed = killed.unwrap();
    crate::support::waiting::wait_until("it measures", || run.join("launches.jsonl").is_file());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let half = place.run(&["runs", "show", name]);
    assert!(
        half.code == 0 && half.out.contains("interrupted"),
        "{}{}",
        half.out,
        half.err
    );
    let completed = place.run(&["run", "--resume", name, "--json"]);
    assert_eq!(completed.code, 0, "{}", completed.err);
    let answers: Answers = serde_json::from_str(&completed.out).unwrap();
    assert_eq!(
        (answers.answers.len(), answers.answers[0].id.as_str()),
        (1, "own")
    );
    assert_eq!(
        place.run(&["report", name, "--json"]).out,
        completed.out,
        "they are kept"
    );
    assert_eq!(place.run(&["runs", "tag", name, "mine"]).code, 0);
    let files = crate::support::place::entries(&run);
    assert!(
        files.len() <= 11 && run.join("report.html").is_file(),
        "{files:?}"
    );
}

#[test]
fn a_budget_that_is_too_small_leaves_claims_out_and_says_so() {
    let place = Place::new();
    let result =
        said(&mut place.command(&["claims", "P3-a", "--budget", "1s", "--strict", "--json"]));
    assert_eq!(result.code, 3, "{}", result.err);
    let answers: Answers = serde_json::from_str(&result.out).unwrap();
    assert!(answers.run.is_none(), "nothing was measured");
    assert!(
        answers.answers[0]
            .jobs
            .iter()
            .all(|j| matches!(&j.why, Some(NoVerdict::Budget { needed_s: Some(_) })) && j.late)
    );
}

#[test]
fn claims_that_need_what_there_is_not_say_so_and_exit_with_4() {
    let place = Place::new();
    let result = said(&mut place.command(&["claims", "cidr-ssd-array"]));
    assert_eq!(result.code, 4, "{}", result.err);
    assert!(
        result.out.contains("not measurable here") && result.out.contains("ten NVMe drives"),
        "{}",
        result.out
    );
    let listed = said(
        place
            .command(&["claims", "list", "--about", "mmap"])
            .env("COLUMNS", "80"),
    );
    assert!(
        listed.code == 0 && listed.out.lines().all(|l| l.chars().count() <= 80),
        "{}",
        listed.out
    );
}
