//! What is printed: the JSON by its schema, reports as pure functions of what is stored, requests that work by hand.

use std::collections::BTreeMap;
use std::io::Write;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::place::{Place, cell, entries, native_worker, said};
use crate::support::skips::skip;
use record::folder::RunFolder;
use record::transcript::Transcript;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Holds a summary against the committed schema.
fn conforms(summary: &Value) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/summary.schema.json"
    );
    let schema = json(&std::fs::read_to_string(path).unwrap());
    jsonschema::meta::validate(&schema).expect("the schema is one");
    let validator = jsonschema::validator_for(&schema).unwrap();
    let found = validator
        .iter_errors(summary)
        .map(|error| (error.to_string(), error.instance_path().to_string()));
    // The same is wrong in every cell; one place of each is enough.
    let errors: BTreeMap<String, String> = found.collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// A short run of two cells, kept in the place's `run`.
fn short_run(place: &Place, seed: &str, out: &Path) -> Value {
    // From memory a round takes so long that its time decides on a second pilot.
    let cells = [
        "run",
        "fault/touch@c-O3",
        "fault/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--set",
        "frames=cached",
    ];
    let limits = [
        "--budget",
        "4s",
        "--launches",
        "3",
        "--seed",
        seed,
        "--json",
        "--out",
    ];
    let result = said(place.command(&cells).args(limits).arg(out));
    // 4: others had the processors meanwhile.
    assert!([0, 4].contains(&result.code), "{}", result.err);
    assert_eq!(result.err, "", "quiet where standard error is no terminal");
    json(&result.out)
}

fn report(place: &Place, run: &Path) -> Value {
    json(&place.run(&["report", run.to_str().unwrap(), "--json"]).out)
}

#[test]
fn a_run_of_a_whole_experiment_conforms_to_the_schema_and_reports_repeat_it() {
    let place = Place::new();
    let out = place.file("run");
    // Without a PATH there is no Go: a worker that is missing is part of what the schema describes.
    let mut command = place.command(&[
        "run",
        "fault",
        "--set",
        "bytes=2MiB",
        "--budget",
        "30s",
        // Whoever names launches has every method and language.
        "--launches",
        "6",
        "--json",
        "--out",
        out.to_str().unwrap(),
    ]);
    let result = said(command.env("PATH", "/nonexistent"));
    // 4: on a loaded machine some cells are rightly not trusted.
    assert!(matches!(result.code, 0 | 4), "{}", result.err);
    let summary = json(&result.out);
    conforms(&summary);
    let touch = cell(&summary, "fault/touch@c-O3", &[]);
    assert!(crate::support::place::is_measured(touch), "{touch:#}");
    assert_eq!(
        touch["phases"]["first-touch"]["minor_faults"], 512.0,
        "{touch:#}"
    );
    let go = cell(&summary, "fault/touch@go", &[]);
    assert_eq!(
        (
            &go["status"],
            crate::support::place::reason(go).contains("Go toolchain")
        ),
        (&"skipped".into(), true),
        "{go:#}"
    );
    let mut kept = json(&std::fs::read_to_string(out.join("summary.json")).unwrap());
    assert!(kept.as_object_mut().unwrap().shift_remove("seal").is_some());
    assert_eq!(kept, summary);
    assert_eq!(report(&place, &out), summary);
    let table = place.run(&["report", out.to_str().unwrap()]).out;
    for part in [
        "touch",
        "first-touch",
        "thp-populate",
        out.to_str().unwrap(),
    ] {
        assert!(table.contains(part), "{part} in:\n{table}");
    }
    conforms(&report(&place, &out));
}

#[test]
fn the_schema_refuses_what_is_not_a_summary() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/summary.schema.json"
    );
    let schema = json(&std::fs::read_to_string(path).unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let place = Place::new();
    let summary = short_run(&place, "1", &place.file("run"));
    conforms(&summary);
    for (pointer, wrong) in [
        ("/schema", Value::from(1)),
        ("/cells/0/status", Value::from("fine")),
        ("/cells/0/parameters/bytes", Value::from(4096)),
        ("/cells/0/phases/map/wall_ns/median", Value::Null),
        ("/cells/0/launches", Value::from("six")),
        ("/trusted", Value::Null),
    ] {
        let mut other = summary.clone();
        *other
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer} in {summary:#}")) = wrong;
        assert!(!validator.is_valid(&other), "{pointer}");
    }
}

#[test]
fn every_type_and_every_quantity_of_the_schema_is_described() {
    /// Counts, and numbers of other entries, whose names say all.
    const COUNTS: [&str; 9] = [
        "asked", "baseline", "broken", "bytes", "cell", "launches", "ranked", "samples", "trips",
    ];
    fn walk(at: &str, value: &Value, bare: &mut Vec<String>) {
        for (name, property) in value["properties"].as_object().into_iter().flatten() {
            let format = property["format"].as_str().unwrap_or_default();
            let is_number = format == "double" || format.starts_with("uint");
            let is_said = COUNTS.contains(&name.as_str()) || name.ends_with("_s");
            if is_number && !is_said && property["description"].as_str().is_none_or(str::is_empty) {
                bare.push(format!("{at}/{name}"));
            }
        }
        for (name, definition) in value["$defs"].as_object().into_iter().flatten() {
            if definition["description"].as_str().is_none_or(str::is_empty) {
                bare.push(format!("{at}/{name}"));
            }
            walk(&format!("{at}/{name}"), definition, bare);
        }
    }
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/summary.schema.json"
    );
    let mut bare = Vec::new();
    walk(
        "",
        &json(&std::fs::read_to_string(path).unwrap()),
        &mut bare,
    );
    assert!(bare.is_empty(), "{bare:?}");
}

/// Keeps a run once more with its first judged transcript changed, as a worker that lies would have written it, and reports it.
fn tampered(place: &Place, change: impl Fn(&str) -> Option<String>) -> Value {
    let (run, copy) = (place.file("run"), place.file("copy"));
    let _ = std::fs::remove_dir_all(&copy);
    std::fs::create_dir(&copy).unwrap();
    for name in [
        "plan.json",
        "environment.json",
        "preflight.json",
        "decisions.jsonl",
    ] {
        let _ = std::fs::copy(run.join(name), copy.join(name));
    }
    let open = |path: &Path| RunFolder::open(path.to_str().unwrap(), path).unwrap();
    let (from, to) = (open(&run), open(&copy));
    let mut changed = false;
    for mut record in from.launches().unwrap().records {
        let mut parts = from.reader().parts(&record).unwrap();
        if record.block == 0 && !changed {
            changed = true;
            let index = parts
                .iter()
                .position(|p| p.name == record.sides[0].transcript)
                .unwrap();
            match change(std::str::from_utf8(&parts[index].bytes).unwrap()) {
                Some(text) => parts[index].bytes = text.into_bytes(),
                None => drop(parts.remove(index)),
            }
        }
        to.keep_launch(&mut record, &parts).unwrap();
    }
    report(place, &copy)
}

/// Changes the fields of the lines that are meant, of which there must be one at least.
fn with_lines(
    text: &str,
    is_meant: impl Fn(&[String]) -> bool,
    change: impl Fn(&mut Vec<String>),
) -> String {
    let mut done = false;
    let lines = text.lines().map(|line| {
        let mut fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        if is_meant(&fields) {
            done = true;
            change(&mut fields);
        }
        fields.join("\t") + "\n"
    });
    let text: String = lines.collect();
    assert!(done);
    text
}

#[test]
fn a_transcript_that_was_tampered_with_is_not_believed() {
    let place = Place::new();
    let summary = short_run(&place, "1", &place.file("run"));
    let touch = |summary: &Value| cell(summary, "fault/touch@c-O3", &[]).clone();
    assert!(
        crate::support::place::is_measured(&touch(&summary)),
        "{summary:#}"
    );
    assert_eq!(tampered(&place, |text| Some(text.to_owned())), summary);
    let first_touch = |f: &[String]| f[0] == "sample" && f[4] == "first-touch" && f[5] == "256";
    let digest = |f: &[String]| f[0] == "fact" && f[3] == "digest";
    let without = |text: &str, start: &str| -> String {
        text.lines()
            .filter(|l| !l.starts_with(start))
            .map(|l| format!("{l}\n"))
            .collect()
    };
    let faults = tampered(&place, |text| {
        Some(with_lines(text, first_touch, |f| f[12] = "257".into()))
    });
    let content = tampered(&place, |text| {
        Some(with_lines(text, digest, |f| f[4] = "00".into()))
    });
    let truncated = tampered(&place, |text| Some(without(text, "done")));
    let garbled = tampered(&place, |text| {
        Some(text.replacen("sample\t", "smaple\t", 1))
    });
    let missing = tampered(&place, |_| None);
    let words = [
        (&faults, "first-touch.minor_faults == bytes / page_bytes"),
        (&content, "where the content must give"),
        (&truncated, "the transcript is truncated"),
        (&garbled, "no line of the protocol"),
        (&missing, "there is no transcript"),
    ];
    for (report, because) in words {
        let cell = touch(report);
        assert_eq!(cell["status"], "untrusted", "{because}: {cell:#}");
        assert!(
            crate::support::place::reason(&cell).contains(because),
            "{because}: {}",
            cell["reason"]
        );
        assert_eq!(report["trusted"], false);
    }
    let slower = tampered(&place, |text| {
        Some(with_lines(text, first_touch, |f| f[8] = "1".into()))
    });
    let least = |summary: &Value| touch(summary)["phases"]["first-touch"]["wall_ns"]["min"].clone();
    assert_eq!(least(&slower), 1.0);
    assert_ne!(least(&slower), least(&summary));
}

/// Experiments with the longest explanations.
const EXPERIMENTS: [&str; 4] = ["fault", "read", "share", "transfer"];

#[test]
fn what_there_is_can_be_listed_explained_and_shown() {
    let place = Place::new();
    let says = |arguments: &[&str], parts: &[&str]| {
        let result = place.run(arguments);
        assert_eq!((result.code, result.err.as_str()), (0, ""), "{arguments:?}");
        for part in parts {
            assert!(
                result.out.contains(part),
                "{arguments:?} does not say {part:?}:\n{}",
                result.out
            );
        }
    };
    says(
        &["list"],
        &[
            "fault ",
            "allocate ",
            "page faults, huge",
            "c go java python",
            "pagewise list EXPERIMENT",
        ],
    );
    says(
        &["list", "fault"],
        &[
            "--set KEY=VALUE",
            "bytes",
            "release",
            "default dontneed",
            "values dontneed, free",
        ],
    );
    says(
        &["list", "fault"],
        &[
            "touch",
            "(lower bound)",
            "(floor)",
            "(published)",
            "c-O0 c-O3",
        ],
    );
    says(
        &["show", "fault"],
        &[
            "ready = map + advise + first-touch",
            "Baseline: touch",
            "pagewise list fault",
        ],
    );
    says(
        &["show", "fault", "--laws"],
        &["law: huge_bytes == 0", "Free of these mistakes"],
    );
    for words in std::iter::once(vec!["list"]).chain(EXPERIMENTS.map(|name| vec!["show", name])) {
        let screen = said(place.command(&words).env("COLUMNS", "80")).out;
        let lines = screen.lines().filter(|line| !line.is_empty()).count();
        assert!(lines <= 60, "{words:?} has {lines} lines");
        assert!(
            screen.lines().all(|line| line.chars().count() <= 80) && !screen.contains("\\n"),
            "{screen}"
        );
    }
    says(
        &["show", "fault/touch"],
        &[
            "METHOD(fault_touch",
            "PHASE(s, \"map\")",
            "fault/fault.h",
            "touch_pages",
        ],
    );
    says(&["show", "fault/touch@go"], &["touchPages", "workers/go/"]);
    says(&["runs"], &["no runs are kept yet"]);
    says(&["--help"], &["Measure:", "check", "report"]);
    says(&["show", "fault"], &["Baseline: touch"]);
    says(
        &["run", "--help"],
        &["--budget", "--resume", "--time-limit", "--json"],
    );
}

#[test]
fn kept_runs_are_listed_and_found_by_their_id() {
    let place = Place::new();
    let result = place.run(&[
        "run",
        "fault/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--budget",
        "500ms",
    ]);
    assert_eq!(result.code, 0, "{}", result.err);
    let kept = entries(&place.file("data/pagewise/runs"));
    let [folder] = &kept[..] else {
        panic!("one run is kept: {kept:?}")
    };
    assert!(
        result
            .out
            .contains(&format!("The run is kept in {}", folder.display())),
        "{}",
        result.out
    );
    let id = folder.file_name().unwrap().to_str().unwrap();
    let listed = place.run(&["runs"]).out;
    assert!(
        listed.starts_with(id) && listed.contains("fault") && !listed.contains("interrupted"),
        "{listed}"
    );
    assert_eq!(place.run(&["report", id]).out, result.out);
}

#[test]
fn a_request_drives_a_worker_by_hand() {
    let place = Place::new();
    let arguments = [
        "show",
        "--request",
        "fault/touch",
        "--set",
        "bytes=1MiB",
        "--set",
        "threads=1",
        "--set",
        "processes=1,2",
        "--set",
        "frames=cached",
        "--set",
        "running=1",
    ];
    let request = place.run(&arguments);
    assert_eq!(request.code, 0, "{}", request.err);
    let mut worker = Command::new(native_worker(&place));
    let mut worker = worker
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    worker
        .stdin
        .take()
        .unwrap()
        .write_all(request.out.as_bytes())
        .unwrap();
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success());
    let transcript = Transcript::read(output.stdout.as_slice()).unwrap();
    let cells = request
        .out
        .lines()
        .filter(|l| l.starts_with("cell="))
        .count();
    assert!(transcript.done && transcript.endings.is_empty());
    assert_eq!(
        (cells, transcript.samples.len()),
        (4, 4 * 2 * 7),
        "cells, and samples of 2 rounds of 7 phases"
    );
}

/// The requests of a run but for what bears its name; orders to a length that both runs have.
fn requests(run: &Path) -> Vec<(PathBuf, Vec<String>, Vec<String>)> {
    // Which rounds bring proofs follows from how many there are, which is measured anew in each run.
    let of_run = ["directory=", "name=", "rendezvous=", "proofs="];
    let folder = RunFolder::open(run.to_str().unwrap(), run).unwrap();
    let mut found = Vec::new();
    for record in folder.launches().unwrap().records {
        for part in folder
            .reader()
            .parts(&record)
            .unwrap()
            .into_iter()
            .filter(|p| p.name.starts_with("request"))
        {
            let text = String::from_utf8(part.bytes).unwrap();
            let lines = text
                .lines()
                .filter(|l| !of_run.iter().any(|start| l.starts_with(start)))
                .map(str::to_owned);
            let (orders, rest): (Vec<_>, Vec<_>) =
                lines.partition(|l| l.starts_with("round=") || l.starts_with("warmup="));
            let orders = orders
                .into_iter()
                .filter(|l| l.starts_with("round="))
                .collect();
            found.push((
                PathBuf::from(format!("{} {}", record.launch, part.name)),
                rest,
                orders,
            ));
        }
    }
    found
}

#[test]
fn the_same_seed_asks_for_the_same() {
    let place = Place::new();
    let folders = ["one", "two", "three"].map(|name| place.file(name));
    for (seed, folder) in ["5", "5", "6"].iter().zip(&folders) {
        short_run(&place, seed, folder);
    }
    assert!(
        names_proofs(&folders[0]),
        "a launch of many rounds proves in some of them, not in all"
    );
    let [one, two, three] = folders.map(|folder| requests(&folder));
    assert!(one.len() >= 3, "three launches");
    let mut differs = false;
    for ((a, b), c) in one.iter().zip(&two).zip(&three) {
        assert_eq!((&a.0, &a.1), (&b.0, &b.1));
        assert_ne!(a.1, c.1, "the seed itself stands in the request");
        // How many rounds fit into the budget is measured anew; what both runs have must be the same.
        assert!(
            a.2.iter().zip(&b.2).all(|(x, y)| x == y),
            "{:?} {:?}",
            a.2,
            b.2
        );
        differs |= a.2.iter().zip(&c.2).any(|(x, y)| x != y);
    }
    assert!(differs, "another seed has other orders");
}

/// Whether every launch of a run that is judged says in which few of its rounds it proves.
fn names_proofs(run: &Path) -> bool {
    let folder = RunFolder::open(run.to_str().unwrap(), run).unwrap();
    let judged = folder
        .launches()
        .unwrap()
        .records
        .into_iter()
        .filter(|record| record.block > 0 && record.rounds > 1);
    judged
        .map(|record| record.proofs.len() as u32)
        .all(|proofs| proofs > 0)
}

/// How many samples a run has of each phase of its first cell; nothing where it had fewer than sixteen rounds, as on a machine
/// that is given little of its processors.
fn samples(place: &Place, names: &[&str]) -> std::collections::BTreeMap<String, u64> {
    let result = place.run(&[&["run", "--budget", "3s", "--force", "--json"], names].concat());
    assert_eq!(result.code, 0, "{}", result.err);
    let summary: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    let rounds = summary["cells"][0]["per_launch"]["rounds"]
        .as_array()
        .unwrap();
    if rounds.iter().map(|n| n.as_u64().unwrap()).sum::<u64>() < 16 {
        skip("the run has fewer than sixteen rounds here");
        return Default::default();
    }
    let phases = summary["cells"][0]["phases"].as_object().unwrap();
    phases
        .iter()
        .map(|(name, phase)| (name.clone(), phase["samples"].as_u64().unwrap()))
        .collect()
}

#[test]
fn what_stands_beside_the_question_is_passed_in_few_rounds() {
    let place = Place::new();
    let fault = samples(&place, &["fault/touch@c-O3", "--set", "bytes=1MiB"]);
    if fault.is_empty() {
        return;
    }
    assert!(
        fault["refault"] > 0 && fault["refault"] * 2 <= fault["first-touch"],
        "{fault:?}"
    );
    assert_eq!(fault["re-touch"], fault["refault"]);
    assert_eq!(
        [fault["give-back"], fault["whole"]],
        [fault["refault"]; 2],
        "a total counts where all of it was passed"
    );
    assert_eq!(fault["ready"], fault["first-touch"]);
    let pipes = [
        "message/pipe@c-O3",
        "--set",
        "bytes=64",
        "--set",
        "wait=block",
        "--set",
        "pin=same",
        "--set",
        "idle=no",
    ];
    let message = samples(&place, &pipes);
    let few = |m: &std::collections::BTreeMap<String, u64>| {
        m["timed-trips"] > 0 && m["timed-trips"] * 2 <= m["round-trips"]
    };
    assert!(message.is_empty() || few(&message), "{message:?}");
}
