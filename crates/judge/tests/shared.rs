//! Shared runs: made of real kept runs, free of what names anybody, and refused once they are changed or cannot be right.

use flate2::{Compression, write::GzEncoder};
use pagewise_judge::sets::gallery::{SharedFile, gather, machine_id};
use pagewise_judge::sets::shared::{check, share};
use record::experiment::Experiment;
use record::gallery::{Gallery, GalleryQuestion, RefusedFile, usual_values};
use record::machine::environment::Environment;
use record::shared::{AnswerWord, BuiltIn, MOST_PACKED, SharedRun, SharedVerdict};
use record::summary::Summary;
use serde_json::Value;
use stats::rng::Seeded;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const TODAY: &str = "2026-11-29";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A kept run of the evidence.
fn kept(name: &str) -> (Summary, Value) {
    let folder = format!("docs/evidence/runs/{name}");
    let summary = serde_json::from_str(&text(&format!("{folder}/summary.json"))).unwrap();
    let environment = serde_json::from_str(&text(&format!("{folder}/environment.json"))).unwrap();
    (summary, environment)
}

fn environment(value: &Value) -> Environment {
    serde_json::from_value(value.clone()).unwrap()
}

/// What the program carries, with the methods of these runs.
fn built_in(runs: &[&Summary]) -> BuiltIn {
    let mut built_in = BuiltIn::default();
    for entry in std::fs::read_dir(root().join("experiments")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            built_in
                .experiments
                .push(Experiment::parse("x", &text).unwrap());
        }
    }
    let cells = runs.iter().flat_map(|run| &run.cells);
    built_in.methods = cells
        .map(|cell| format!("{}/{}", cell.experiment, cell.method))
        .collect();
    built_in.states = ["plain", "fragmented-movable"].map(str::to_owned).into();
    built_in
}

fn shared(name: &str) -> (SharedRun, BuiltIn) {
    let (summary, value) = kept(name);
    let built_in = built_in(&[&summary]);
    let part = share(&summary, &environment(&value), &built_in).unwrap();
    (part.run, built_in)
}

#[test]
fn a_real_overview_is_one_small_file_that_comes_back_whole() {
    let (summary, value) = kept("amd");
    let built_in = built_in(&[&summary]);
    let part = share(&summary, &environment(&value), &built_in).unwrap();
    // Two groups have no usual choice that was measured.
    assert_eq!(
        (part.run.questions.len(), part.left_out),
        (summary.groups.len() - part.left_out, part.left_out)
    );
    assert!(
        part.run.questions.len() >= 40,
        "{}",
        part.run.questions.len()
    );
    let packed = part.run.packed().unwrap();
    assert!((packed.len() as u64) < MOST_PACKED, "{}", packed.len());
    let opened = SharedRun::open(&packed).unwrap();
    assert!(opened == part.run);
    check(&opened, &built_in, TODAY).unwrap();
    let machine = &opened.machine;
    assert_eq!(
        (
            machine.cpu.as_str(),
            machine.kernel.as_str(),
            machine.memory_gib
        ),
        ("AMD EPYC", "6.18.44", 24)
    );
    // Verdicts and ratios are those of the summary.
    let question = &opened.questions[0];
    let group = summary
        .groups
        .iter()
        .find(|g| g.parameters == question.parameters)
        .unwrap();
    for method in question
        .methods
        .iter()
        .filter(|method| method.ratio.is_some())
    {
        let cell = group
            .cells
            .iter()
            .find(|&&cell| summary.cells[cell].method == method.method);
        let comparison = group.comparison(*cell.unwrap(), &question.phase).unwrap();
        let (ratio, whole) = (method.ratio.unwrap(), comparison.contrast.ratio.unwrap());
        assert!((ratio.ratio / whole.ratio - 1.0).abs() < 1e-4);
        assert_eq!(
            comparison.contrast.overall().differs(),
            matches!(
                method.verdict,
                SharedVerdict::Faster | SharedVerdict::Slower
            )
        );
    }
    for personal in [
        "d21ba1275c9e74c5",
        "269ba201",
        "fc-v669",
        "process_api",
        "\"vm\"",
        "/root",
        "pyenv",
    ] {
        assert!(!opened.text().unwrap().contains(personal), "{personal}");
    }
}

/// A text that names somebody, with a token that nothing else has.
fn personal(random: &mut Seeded) -> String {
    const KINDS: [&str; 10] = [
        "/home/TOKEN/secret.db",
        "TOKEN.corp.example",
        "TOKEN@corp.example",
        "10.20.30.TOKEN",
        "gdb --args TOKEN -p",
        "TOKEN",
        "c-TOKEN",
        "6.8.0-TOKEN",
        "\u{202e}TOKEN\n",
        "TOKEN=1",
    ];
    let kind = KINDS[random.below(KINDS.len())];
    kind.replace("TOKEN", "alice7f3a")
}

/// Every text below a value becomes one that names somebody; names of fields that are data, too.
fn name_somebody(value: &mut Value, random: &mut Seeded) {
    match value {
        Value::String(text) => *text = personal(random),
        Value::Array(all) => all
            .iter_mut()
            .for_each(|value| name_somebody(value, random)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                // The model is the processor's own name, which a shared file is about.
                if key != "model" {
                    name_somebody(value, random);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_thousand_generated_runs_name_nobody() {
    let (summary, value) = kept("same-day-1");
    let built_in = built_in(&[&summary]);
    let mut random = Seeded::new(59);
    let mut written = 0;
    for _ in 0..1000 {
        let (mut run, mut machine) = (summary.clone(), value.clone());
        name_somebody(&mut machine, &mut random);
        run.run = personal(&mut random);
        run.host
            .values_mut()
            .for_each(|text| *text = personal(&mut random));
        run.environment
            .values_mut()
            .for_each(|text| *text = personal(&mut random));
        run.created += &personal(&mut random);
        for cell in &mut run.cells {
            let place = random.below(12);
            if place == 0 {
                cell.method = personal(&mut random);
            } else if place == 1 {
                cell.worker = personal(&mut random);
            } else if place == 2 {
                cell.group = personal(&mut random);
            } else if place == 3 {
                cell.parameters
                    .insert(personal(&mut random), personal(&mut random));
            }
            cell.cell = personal(&mut random);
        }
        let group = random.below(run.groups.len() * 2);
        if let Some(group) = run.groups.get_mut(group) {
            group
                .parameters
                .insert("file".to_owned(), personal(&mut random));
        }
        for experiment in &mut run.experiments {
            experiment.definition.title = personal(&mut random);
            experiment.definition.unit = personal(&mut random);
        }
        let Ok(part) = share(&run, &environment(&machine), &built_in) else {
            continue;
        };
        written += 1;
        let text = part.run.text().unwrap();
        assert!(!text.contains("alice7f3a"), "{text}");
    }
    assert!(written > 300, "{written} of 1000 were written");
}

/// A random change of some bytes.
fn changed(bytes: &[u8], random: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.truncate(at),
        2 => bytes.insert(at, random.below(256) as u8),
        3 => {
            let other = random.below(bytes.len());
            bytes.swap(at, other);
        }
        _ => {
            let end = (at + 1 + random.below(40)).min(bytes.len());
            bytes.drain(at..end);
        }
    }
    bytes
}

/// The gzip file of a text.
fn zipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// Half of them are changed as they are, and half within, and packed again.
#[test]
fn ten_thousand_changed_files_are_refused_or_say_the_same() {
    let (run, _) = shared("same-day-1");
    let (packed, text) = (run.packed().unwrap(), run.text().unwrap());
    let mut random = Seeded::new(10_000);
    let mut refused = 0;
    for number in 0..10_000 {
        let bytes = if number % 2 == 0 {
            changed(&packed, &mut random)
        } else {
            zipped(&changed(text.as_bytes(), &mut random))
        };
        match SharedRun::open(&bytes) {
            // The header of gzip has a time and a system that mean nothing.
            Ok(opened) => assert!(opened == run, "a changed file was taken"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 9_900, "{refused} of 10000 were refused");
}

/// Change of a run; the numbers are those of a question and of a method of it that is faster.
type Change = fn(&mut SharedRun, usize, usize);

/// What a check says of a run that was changed and sealed again.
fn refusal(run: &SharedRun, built_in: &BuiltIn) -> String {
    let opened = run.packed().and_then(|packed| SharedRun::open(&packed));
    let checked = opened.and_then(|run| check(&run, built_in, TODAY));
    checked.map_or_else(|error| format!("{error:#}"), |()| String::new())
}

#[test]
fn figures_that_cannot_be_right_are_refused_though_their_seal_is() {
    let (run, built_in) = shared("amd");
    assert_eq!(refusal(&run, &built_in), "");
    let at = run
        .questions
        .iter()
        .position(|q| q.methods.iter().any(|m| m.verdict == SharedVerdict::Faster));
    let at = at.unwrap();
    let method = run.questions[at]
        .methods
        .iter()
        .position(|m| m.verdict == SharedVerdict::Faster)
        .unwrap();
    let changes: [(&str, Change); 17] = [
        ("day", |run, _, _| run.day = "2026-11-30".to_owned()),
        ("day is none", |run, _, _| run.day = "yesterday".to_owned()),
        ("this version has no such experiment", |run, at, _| {
            run.questions[at].experiment = "mine".to_owned()
        }),
        ("no method", |run, at, method| {
            run.questions[at].methods[method].method = "mine".to_owned()
        }),
        ("no method", |run, at, method| {
            run.questions[at].methods[method].worker = "c-mine".to_owned()
        }),
        ("characters", |run, at, method| {
            run.questions[at].methods[method].method = "<b>".to_owned()
        }),
        ("characters", |run, _, _| {
            run.machine.cpu = "x <script>".to_owned()
        }),
        ("characters", |run, _, _| {
            run.machine.kernel = "a/b".to_owned()
        }),
        ("none that a shared run has", |run, _, _| {
            run.machine.kernel = "6.1-alice".to_owned()
        }),
        ("none that a shared run has", |run, _, _| {
            run.machine.thp = Some("alice".to_owned())
        }),
        ("no value of it", |run, at, _| {
            run.questions[at]
                .parameters
                .insert("file".to_owned(), "alice".to_owned());
        }),
        ("a law was broken", |run, at, method| {
            run.questions[at].methods[method].laws_broken = 1
        }),
        ("its A/A check differs", |run, at, _| {
            run.questions[at].control.as_mut().unwrap().differs = true;
        }),
        ("not that of its interval", |run, at, method| {
            run.questions[at].methods[method].verdict = SharedVerdict::Slower;
        }),
        ("not that of its launches", |run, at, method| {
            let ratio = run.questions[at].methods[method].ratio.as_mut().unwrap();
            (ratio.low, ratio.ratio, ratio.high) =
                (ratio.low / 100.0, ratio.ratio / 100.0, ratio.high / 100.0);
        }),
        ("an interval of its questions is none", |run, at, method| {
            run.questions[at].methods[method]
                .ratio
                .as_mut()
                .unwrap()
                .low = 1e9;
        }),
        ("a method that it does not have", |run, at, _| {
            run.questions[at].baseline = Some(99)
        }),
    ];
    for (reason, change) in changes {
        let mut other = run.clone();
        change(&mut other, at, method);
        let sentence = refusal(&other, &built_in);
        assert!(sentence.contains(reason), "{sentence:?}, not {reason:?}");
    }
}

#[test]
fn a_gallery_has_each_run_once_and_each_question_of_all_machines() {
    let (first, _) = shared("amd");
    let (second, _) = shared("same-day-1");
    let file = |name: &str, run: &SharedRun| SharedFile {
        name: name.to_owned(),
        run: run.clone(),
    };
    let files = vec![file("a", &first), file("b", &second), file("again", &first)];
    let lost = RefusedFile {
        file: "c".to_owned(),
        reason: "x".to_owned(),
    };
    let (gallery, files) = gather(files, vec![lost], BTreeMap::new());
    let names: Vec<&str> = gallery.machines.iter().map(|m| m.file.as_str()).collect();
    assert_eq!(names, ["b", "a"], "the newest first");
    assert_eq!(files[1].run, first);
    let refused: Vec<&str> = gallery.refused.iter().map(|r| r.file.as_str()).collect();
    assert_eq!(refused, ["c", "again"]);
    assert!(
        gallery
            .questions
            .iter()
            .all(|q| q.cells.len() == 2 && q.method != q.usual)
    );
    assert_eq!(gallery.machines[1].id, machine_id(&first));
    let asked: usize = gallery
        .questions
        .iter()
        .map(|q| q.cells.iter().flatten().count())
        .sum();
    let rivals = |run: &SharedRun| {
        let asked = run.questions.iter().filter(|q| {
            q.methods
                .iter()
                .enumerate()
                .any(|(at, m)| Some(at) != q.baseline && m.ranked && m.ratio.is_some())
        });
        asked.count()
    };
    assert_eq!(asked, rivals(&first) + rivals(&second));
}

#[test]
fn a_run_that_did_not_know_a_parameter_answers_the_question_of_its_usual_value() {
    let (newer, built_in) = shared("amd");
    let known = usual_values(&built_in.experiments);
    let is_usual = |experiment: &str, key: &str, value: &str| known[experiment].is(key, value);
    let mut older = newer.clone();
    older.day = "2026-11-01".to_owned();
    let mut forgotten = 0;
    for question in &mut older.questions {
        let experiment = question.experiment.clone();
        let count = question.parameters.len();
        question
            .parameters
            .retain(|key, value| !is_usual(&experiment, key, value));
        forgotten += count - question.parameters.len();
    }
    assert!(forgotten > 0);
    let file = |name: &str, run: &SharedRun| SharedFile {
        name: name.to_owned(),
        run: run.clone(),
    };
    let files = || vec![file("newer", &newer), file("older", &older)];
    let whole = |gallery: &Gallery| {
        let both = gallery.questions.iter();
        both.filter(|q| q.cells.iter().flatten().count() == 2)
            .count()
    };
    let (gallery, _) = gather(files(), Vec::new(), known.clone());
    assert_eq!(whole(&gallery), gallery.questions.len());
    let names_all =
        |q: &GalleryQuestion| newer.questions.iter().any(|n| n.parameters == q.parameters);
    assert!(
        gallery.questions.iter().all(names_all),
        "the newest names most"
    );
    let (apart, _) = gather(files(), Vec::new(), BTreeMap::new());
    assert!(apart.questions.len() > gallery.questions.len());
}

#[test]
fn the_method_of_a_question_is_the_one_that_runs_recommend() {
    let (run, built_in) = shared("amd");
    let known = usual_values(&built_in.experiments);
    let file = SharedFile {
        name: "a".to_owned(),
        run: run.clone(),
    };
    let (gallery, _) = gather(vec![file], Vec::new(), known);
    let mut recommended = 0;
    for question in &gallery.questions {
        let cell = question.cells[0].as_ref();
        let Some(cell) = cell.filter(|cell| cell.answer == AnswerWord::Use) else {
            continue;
        };
        recommended += 1;
        assert_eq!(
            cell.choice.as_ref(),
            Some(&question.method),
            "{}",
            question.id
        );
    }
    assert!(recommended > 0);
}
