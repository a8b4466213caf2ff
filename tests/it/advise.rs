//! `pagewise advise`: every question has its cells and its snippets, saved advice is what the consumers read, and bad input is
//! answered in a sentence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::snippets::{compiled, ended, root};
use crate::support::place::{Place, said};
use crate::support::skips::skip;
use crate::support::wishes::wish;
use pagewise::plan::{Laboratory, advice, catalog};
use pagewise::worker;
use record::advice::{ADVICE_SCHEMA, Advice, Fingerprint, Question, Segment};
use serde_json::Value;

/// The way that a program is to get under a condition, `KEY=VALUE`; one that names no condition gets what none contradicts.
fn way<'a>(
    advice: &'a Advice,
    question: &str,
    bytes: u64,
    condition: Option<&str>,
) -> Option<&'a str> {
    let question = advice.questions.get(question)?;
    let at = |segments: &'a [Segment]| {
        segments
            .iter()
            .find(|s| s.from <= bytes && bytes <= s.to)
            .map(|s| s.way.as_str())
    };
    match condition {
        Some(name) => at(question.conditions.get(name)?),
        None => at(&question.segments).filter(|way| {
            let mut conditions = question.conditions.values();
            conditions.all(|all| at(all) == Some(way))
        }),
    }
}

const KIB: u64 = 1024;

/// Holds a text against a committed schema.
fn conforms(name: &str, text: &str) -> Value {
    let path = root(&format!("crates/record/schema/{name}.schema.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| format!("{e} at {}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    value
}

fn laboratory() -> Laboratory {
    Laboratory {
        experiments: catalog::experiments(None).unwrap(),
        workers: worker::all(&[], &[]).unwrap(),
    }
}

#[test]
fn every_question_has_its_cells_and_sound_settings() {
    let laboratory = laboratory();
    let topics = advice::topics().unwrap();
    let saved: Vec<&str> = topics
        .iter()
        .filter(|t| t.saved)
        .map(|t| t.id.as_str())
        .collect();
    for needed in ["read", "fault", "transfer", "copy", "allocate"] {
        assert!(saved.contains(&needed), "{needed} is not saved");
    }
    assert!(
        topics
            .iter()
            .map(|t| t.experiment.as_str())
            .eq(report::view::ADVISED),
        "the overview names advice on each"
    );
    for topic in topics {
        let id = topic.id.clone();
        let ways: Vec<String> = topic.ways.iter().map(|w| w.method.clone()).collect();
        let asked =
            advice::request(topic, &advice::AdviceTerms::default(), &laboratory, &wish()).unwrap();
        let found: Vec<&String> = asked.methods.iter().map(|(name, _)| name).collect();
        assert_eq!(
            found,
            ways.iter().collect::<Vec<_>>(),
            "{id}: a way has no cell"
        );
        let cells = || {
            asked
                .methods
                .iter()
                .map(|(_, c)| c)
                .chain([&asked.baseline])
        };
        for (key, value) in asked
            .settings
            .iter()
            .chain(asked.topic.also.iter().map(|(k, v)| (k, &v[0])))
        {
            assert!(
                cells().any(|c| c.parameters.contains_key(key)),
                "{id}: {key}={value} means nothing to its ways"
            );
        }
        for settings in advice::cases(&asked) {
            let wish = advice::wish(&asked, &[asked.bytes], &settings, &wish()).unwrap();
            pagewise::plan::select::cells(&laboratory.experiments, &laboratory.workers, &wish)
                .unwrap_or_else(|e| panic!("{id}: {e:#}"));
        }
        if let Some(uses) = &asked.topic.uses {
            let experiment =
                catalog::find(&laboratory.experiments, &asked.topic.experiment).unwrap();
            let known = |phase: &String| experiment.phases.contains(phase);
            assert!(
                uses.first.iter().chain([&uses.again]).all(known),
                "{id}: a phase is not the experiment's"
            );
        }
    }
}

#[test]
fn a_way_that_does_not_take_a_value_is_left_out_with_those_that_it_takes() {
    let laboratory = laboratory();
    let terms = advice::AdviceTerms {
        settings: BTreeMap::from([("sharing".to_owned(), "shm".to_owned())]),
        ..advice::AdviceTerms::default()
    };
    let topic = advice::topic("prefault").unwrap();
    let request = advice::request(topic, &terms, &laboratory, &wish()).unwrap();
    let asked: Vec<&str> = request
        .methods
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(asked, ["populate", "populate-write"]);
    let untaken: Vec<_> = request.untaken(&request.settings).collect();
    let thp = untaken.iter().find(|untaken| untaken.method == "thp");
    assert_eq!(thp.unwrap().known, ["private", "shared", "memfd"]);
    for settings in advice::cases(&request) {
        let wish = advice::wish(&request, &[request.bytes], &settings, &wish()).unwrap();
        pagewise::plan::select::cells(&laboratory.experiments, &laboratory.workers, &wish).unwrap();
    }
    let terms = advice::AdviceTerms {
        settings: BTreeMap::from([("sharing".to_owned(), "shn".to_owned())]),
        ..advice::AdviceTerms::default()
    };
    let topic = advice::topic("prefault").unwrap();
    let error = advice::request(topic, &terms, &laboratory, &wish()).unwrap_err();
    assert!(error.to_string().contains("sharing"), "{error:#}");
}

/// A state of the machine is a condition of a question: each has its case, and its methods have their cells in it.
#[test]
fn a_question_is_asked_of_states_as_of_any_condition() {
    let laboratory = laboratory();
    let asked = |states: &[&str]| {
        let states = states.iter().map(|state| (*state).to_owned()).collect();
        let terms = advice::AdviceTerms {
            states,
            ..advice::AdviceTerms::default()
        };
        advice::request(
            advice::topic("fault").unwrap(),
            &terms,
            &laboratory,
            &wish(),
        )
    };
    let one = asked(&["fragmented-movable"]).unwrap();
    assert_eq!(one.baseline.parameters["state"], "plain");
    let values = |request: &judge::questions::advise::AdviceRequest| request.open["state"].clone();
    assert_eq!(values(&one), ["plain", "fragmented-movable"]);
    let all = asked(&["all"]).unwrap();
    assert!(
        values(&all).starts_with(&["plain".to_owned()]) && values(&all).len() > 5,
        "{:?}",
        values(&all)
    );
    let mine: Vec<_> = advice::cases(&one)
        .into_iter()
        .filter(|case| case["state"] == "fragmented-movable")
        .collect();
    let [case] = &mine[..] else {
        panic!("{mine:?}")
    };
    let wish = advice::wish(&one, &[one.bytes], case, &wish()).unwrap();
    let (cells, _) =
        pagewise::plan::select::cells(&laboratory.experiments, &laboratory.workers, &wish).unwrap();
    assert!(cells.len() == one.methods.len() + 1, "{}", cells.len());
    assert!(
        cells
            .iter()
            .all(|planned| planned.cell.parameters["state"] == "fragmented-movable")
    );
    assert!(!asked(&[]).unwrap().open.contains_key("state"));
}

pub fn here() -> Fingerprint {
    let environment = pagewise::machine::capture(Path::new("/"));
    pagewise::machine::fingerprint(&environment, worker::glibc().unwrap())
}

/// Advice for this machine: below 64 KiB read, from 128 KiB to 1 MiB mmap.
pub fn advice_here(machine: Fingerprint) -> Advice {
    let segment = |from, to, way: &str, over: &str| Segment {
        from,
        to,
        way: way.to_owned(),
        over: over.to_owned(),
        at_most: 0.9,
        ratio: 0.8,
        at_least: 0.7,
    };
    let segments = vec![
        segment(4 * KIB, 64 * KIB, "read", "mmap"),
        segment(128 * KIB, KIB * KIB, "mmap", "read"),
    ];
    let mapped = vec![
        segment(4 * KIB, 64 * KIB, "mmap", "read"),
        segment(128 * KIB, 512 * KIB, "mmap", "read"),
    ];
    let question = Question {
        conditions: [
            ("cache=hot".to_owned(), segments.clone()),
            ("cache=mapped".to_owned(), mapped),
        ]
        .into(),
        does: "go through a cached file \"once\"".to_owned(),
        experiment: "read".to_owned(),
        settings: BTreeMap::from([("cache".to_owned(), "hot".to_owned())]),
        baseline: "read".to_owned(),
        segments,
        points: Vec::new(),
        runs: vec!["one".to_owned()],
    };
    let empty = Question {
        segments: Vec::new(),
        ..question.clone()
    };
    Advice {
        schema: ADVICE_SCHEMA,
        created: "2026-11-21T20:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        machine,
        margin: 0.02,
        questions: BTreeMap::from([("read".to_owned(), question), ("copy".to_owned(), empty)]),
    }
}

#[test]
fn a_c_program_takes_the_advised_way_on_both_sides_of_the_band_and_its_default_within() {
    let place = Place::new();
    let sources = ["consumers/c/example.c", "consumers/c/pagewise_advice.c"].map(root);
    let program = compiled(&place, "example", &sources);
    let path = place.file("advice.json");
    std::fs::write(&path, advice_here(here()).canonical().unwrap()).unwrap();
    let took = |advice: &Path, bytes: u64| {
        let file = place.file("some");
        std::fs::write(&file, vec![1; bytes as usize]).unwrap();
        let mut command = Command::new(&program);
        place.settle(&mut command);
        let out = ended(command.arg(&file).env("PAGEWISE_ADVICE", advice), "example").unwrap();
        let (way, sum) = out.trim().split_once('\n').unwrap();
        assert_eq!(
            sum,
            bytes.to_string(),
            "whatever is advised, the work is done"
        );
        way.to_owned()
    };
    let default = "read (the default)";
    for (bytes, way) in [
        (4 * KIB - 1, default),
        (4 * KIB, "read"),
        (64 * KIB, "read"),
        (64 * KIB + 1, default),
        (100 * KIB, default),
        (128 * KIB - 1, default),
        (128 * KIB, "mmap"),
        (KIB * KIB, "mmap"),
        (KIB * KIB + 1, default),
    ] {
        assert_eq!(took(&path, bytes), way, "{bytes}");
    }
    for change in [
        |m: &mut Fingerprint| m.cpu += "x",
        |m: &mut Fingerprint| m.microcode += "x",
        |m: &mut Fingerprint| m.kernel += "x",
        |m: &mut Fingerprint| m.thp += "x",
        |m: &mut Fingerprint| m.glibc += "x",
        |m: &mut Fingerprint| m.page_bytes *= 4,
    ] {
        let mut machine = here();
        change(&mut machine);
        let other = place.file("other.json");
        std::fs::write(&other, advice_here(machine.clone()).canonical().unwrap()).unwrap();
        assert_eq!(took(&other, 128 * KIB), default, "{machine:?}");
    }
    // The places in which it is looked for: the user's own comes before the machine's.
    let own = place.file("home/.config/pagewise/advice.json");
    std::fs::create_dir_all(own.parent().unwrap()).unwrap();
    std::fs::copy(&path, &own).unwrap();
    std::fs::write(place.file("some"), vec![1; 128 * KIB as usize]).unwrap();
    let mut command = Command::new(&program);
    place.settle(&mut command);
    command
        .env_remove("PAGEWISE_ADVICE")
        .env_remove("XDG_CONFIG_HOME");
    assert!(
        ended(command.arg(place.file("some")), "example")
            .unwrap()
            .starts_with("mmap\n")
    );
}

/// What loads a file of advice and asks it, line by line from standard input.
const ASKS: &str = r#"
#include "pagewise_advice.h"
#include <inttypes.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char why[256] = "", question[64], condition[64];
    uint64_t bytes;
    struct pagewise_advice *a = pagewise_advice_load(argc > 1 ? argv[1] : NULL, why, sizeof why);
    printf("%s\n", a ? "loaded" : why);
    while (scanf("%63s %" SCNu64 " %63s", question, &bytes, condition) == 3) {
        const char *way = pagewise_advice_ask(a, question, bytes, *condition == '-' ? NULL : condition);
        printf("%s\n", way ? way : "-");
    }
    pagewise_advice_free(a);
}
"#;

fn asking(place: &Place) -> PathBuf {
    let source = place.file("asks.c");
    std::fs::write(&source, ASKS).unwrap();
    compiled(
        place,
        "asks",
        &[source, root("consumers/c/pagewise_advice.c")],
    )
}

#[test]
fn the_c_reader_says_what_the_laboratory_says_and_nothing_of_a_damaged_file() {
    let place = Place::new();
    let program = asking(&place);
    let advice = advice_here(here());
    let path = place.file("advice.json");
    let conditions = [
        None,
        Some("cache=hot"),
        Some("cache=mapped"),
        Some("cache=else"),
    ];
    let asked: Vec<(&str, u64, Option<&str>)> = ["read", "copy", "other"]
        .into_iter()
        .flat_map(|q| {
            (0..25).flat_map(move |n| [(1u64 << n) - 1, 1 << n, (1 << n) + 1].map(|b| (q, b)))
        })
        .flat_map(|(q, b)| conditions.map(|c| (q, b, c)))
        .collect();
    let questions: String = asked
        .iter()
        .map(|(q, b, c)| format!("{q} {b} {}\n", c.unwrap_or("-")))
        .collect();
    std::fs::write(place.file("questions"), &questions).unwrap();
    let ask = |text: &[u8]| {
        std::fs::write(&path, text).unwrap();
        let input = std::fs::File::open(place.file("questions")).unwrap();
        ended(Command::new(&program).arg(&path).stdin(input), "asks").unwrap()
    };
    let canonical = advice.canonical().unwrap();
    {
        let out = ask(canonical.as_bytes());
        let mut lines = out.lines();
        assert_eq!(lines.next(), Some("loaded"));
        for ((question, bytes, condition), said) in asked.iter().zip(lines) {
            let way = way(&advice, question, *bytes, *condition);
            assert_eq!(said, way.unwrap_or("-"), "{question} {bytes} {condition:?}");
        }
        let depends = |b: &u64| {
            way(&advice, "read", *b, None).is_none()
                && way(&advice, "read", *b, Some("cache=hot")).is_some()
        };
        assert!(depends(&(4 * KIB)), "another condition contradicts");
        assert!(depends(&(1024 * KIB)), "another condition is open");
        assert_eq!(way(&advice, "read", 512 * KIB, None), Some("mmap"));
    }
    std::fs::write(place.file("questions"), "read 131072 -\n").unwrap();
    let bytes = canonical.trim_end().as_bytes();
    let why = "it is not as it was written: ";
    for at in (0..bytes.len()).step_by(11) {
        let mut changed = canonical.clone().into_bytes();
        changed[at] ^= 1 << (at % 8);
        let out = ask(&changed);
        assert!(
            out.ends_with("\n-\n") && !out.starts_with("loaded"),
            "byte {at} changed: {out}"
        );
    }
    // Sense alone is not enough: another layout, another size, another way.
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<Value>(&canonical).unwrap()).unwrap();
    let (size, way) = (
        canonical.replace("131072", "131071"),
        canonical.replace("mmap", "read"),
    );
    for text in [&pretty, &size, &way] {
        assert!(*text != canonical && ask(text.as_bytes()).starts_with(why));
    }
    for cut in (0..bytes.len()).step_by(7) {
        let out = ask(&bytes[..cut]);
        assert!(
            out.ends_with("\n-\n") && !out.starts_with("loaded"),
            "cut at {cut}: {out}"
        );
    }
    for wrong in [
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "{\"schema\":1}",
        "{\"schema\":3}",
        "\"\\u12",
        "{}{}",
    ] {
        let out = ask(wrong.as_bytes());
        assert!(
            out.ends_with("\n-\n") && !out.starts_with("loaded"),
            "{wrong}: {out}"
        );
    }
}

#[test]
fn the_c_reader_waits_for_no_pipe_and_reads_no_device_and_no_endless_file() {
    let place = Place::new();
    let program = asking(&place);
    let [pipe, long] = ["pipe", "long"].map(|name| place.file(name));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::fs::File::create(&long)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    for path in [pipe.as_path(), &long, Path::new("/dev/zero"), place.path()] {
        let mut command = Command::new("timeout");
        let out = ended(
            command
                .arg("60")
                .arg(&program)
                .arg(path)
                .stdin(std::process::Stdio::null()),
            "asks",
        )
        .unwrap();
        assert!(
            out.starts_with("there is no advice at "),
            "{}: {out}",
            path.display()
        );
    }
}

#[test]
fn a_set_user_id_program_takes_no_advice_from_its_callers_environment() {
    let place = Place::new();
    let program = asking(&place);
    let advice = place.file("advice.json");
    std::fs::write(&advice, advice_here(here()).canonical().unwrap()).unwrap();
    let load = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .arg(&program)
            .env("PAGEWISE_ADVICE", &advice)
            .env("HOME", place.path());
        ended(command.stdin(std::process::Stdio::null()), "asks").unwrap()
    };
    assert_eq!(load(&["env"]), "loaded\n");
    let open_to_all = |path: &Path, mode: &str| {
        Command::new("chmod")
            .arg(mode)
            .arg(path)
            .status()
            .unwrap()
            .success()
    };
    assert!(open_to_all(place.path(), "755") && open_to_all(&program, "4755"));
    let other = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let is_root = rustix::process::geteuid().is_root();
    let tried = is_root
        .then(|| {
            Command::new(other[0])
                .args(&other[1..])
                .args(["id", "-u"])
                .output()
                .ok()
        })
        .flatten();
    if !tried.is_some_and(|output| output.status.success()) {
        skip("no second user: not root, or no setpriv");
        return;
    }
    assert_eq!(
        load(&other),
        "there is no advice at /etc/pagewise/advice.json\n"
    );
}

/// The real thing at a tiny budget: what came out is not looked at, only that it is whole.
#[test]
fn a_question_is_answered_and_saved_and_read_again() {
    let place = Place::new();
    let answered = said(&mut place.command(&[
        "advise", "copy", "--bytes", "64KiB", "--budget", "3s", "--json",
    ]));
    assert!([0, 4].contains(&answered.code), "{}", answered.err);
    let answer = conforms("advice-answer", &answered.out);
    assert_eq!(
        (&answer["question"], &answer["bytes"]),
        (&Value::from("copy"), &Value::from(65536))
    );
    assert!(!answer["runs"].as_array().unwrap().is_empty());
    let path = place.file("deep/advice.json");
    let out = path.to_str().unwrap();
    let saved =
        said(&mut place.command(&["advise", "copy", "--save", "--budget", "4s", "--out", out]));
    assert_eq!(saved.code, 0, "{}", saved.err);
    let text = std::fs::read_to_string(&path).unwrap();
    conforms("advice", &text);
    let advice = Advice::parse(&text).unwrap();
    assert_eq!(
        (advice.machine.clone(), advice.canonical().unwrap()),
        (here(), text)
    );
    let shown = said(&mut place.command(&["advise", "--out", out]));
    assert!(
        shown.code == 0 && shown.out.contains("copy: to copy a block"),
        "{}",
        shown.out
    );
    let merged = said(&mut place.command(&[
        "advise",
        "--merge",
        out,
        out,
        "--out",
        place.file("m.json").to_str().unwrap(),
    ]));
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert_eq!(
        Advice::parse(&std::fs::read_to_string(place.file("m.json")).unwrap()).unwrap(),
        advice
    );
    std::fs::write(place.file("none"), "").unwrap();
    let input = std::fs::File::open(place.file("none")).unwrap();
    let loads = ended(Command::new(asking(&place)).arg(&path).stdin(input), "asks").unwrap();
    assert_eq!(loads, "loaded\n");
}

/// Advice that was changed by hand is named by every verb and used by none, until a merge of it alone seals it.
#[test]
fn changed_advice_is_named_and_not_used_until_it_is_sealed() {
    let place = Place::new();
    let (path, other) = (place.file("advice.json"), place.file("other.json"));
    let sealed = advice_here(here()).canonical().unwrap();
    std::fs::write(&other, &sealed).unwrap();
    let changed = sealed.replace("\"to\":65536", "\"to\":69632");
    assert!(changed != sealed);
    std::fs::write(&path, &changed).unwrap();
    let (file, theirs) = (path.to_str().unwrap(), other.to_str().unwrap());
    let merged = place.file("merged.json");
    let out = merged.to_str().unwrap();
    for words in [
        &["--out", file][..],
        &["--out", file, "--json"],
        &["--merge", file, theirs, "--out", out],
        &["--merge", theirs, file, "--out", out],
    ] {
        let result = said(&mut place.command(&[&["advise"], words].concat()));
        let named = result.err.starts_with(&format!("pagewise: {file}: "))
            && result.err.contains("it is not as it was written")
            && result.err.trim().lines().count() == 1;
        assert!(
            result.code == 1 && result.out.is_empty() && named && !merged.exists(),
            "{words:?}: {} {}{}",
            result.code,
            result.out,
            result.err
        );
    }
    // The user says that it is meant.
    let result = said(&mut place.command(&["advise", "--merge", file, "--out", out]));
    assert!(
        result.code == 0 && result.err.contains("is sealed as it is now"),
        "{}",
        result.err
    );
    let advice = Advice::parse(&std::fs::read_to_string(&merged).unwrap()).unwrap();
    assert_eq!(
        advice.questions["read"].conditions["cache=hot"][0].to,
        69632
    );
    // Figures that no measurement gives are not sealed, whoever means them.
    for (from, to) in [
        ("\"ratio\":0.8", "\"ratio\":-1.0"),
        ("\"ratio\":0.8", "\"ratio\":100000000000000000000"),
    ] {
        let wrong = sealed.replace(from, to);
        assert!(wrong != sealed);
        std::fs::write(&path, wrong).unwrap();
        let result = said(&mut place.command(&["advise", "--merge", file, "--out", theirs]));
        assert!(
            result.code == 1 && result.err.contains("no measurement gives"),
            "{}",
            result.err
        );
        assert_eq!(std::fs::read_to_string(&other).unwrap(), sealed);
    }
}

#[test]
fn bad_questions_are_answered_in_a_sentence() {
    let place = Place::new();
    std::fs::write(place.file("bad.json"), "{\"schema\": 9}").unwrap();
    std::fs::write(place.file("small"), "abc").unwrap();
    let (bad, small) = (
        place.file("bad.json").display().to_string(),
        place.file("small").display().to_string(),
    );
    for (words, expected) in [
        (&["reed"][..], "did you mean \"read\"?"),
        (&["copy", "--bytes", "much"], "--bytes"),
        (&["copy", "--keep"], "--keep means nothing"),
        (&["copy", "--file", &small], "ask advise read --file"),
        (&["copy", "--set", "colour=red"], "no parameter \"colour\""),
        (&["copy", "--set", "bytes=1MiB"], "by --bytes"),
        (&["copy", "--languages", "cobol"], "\"cobol\""),
        (&["read", "--file", &small, "--bytes", "4KiB"], "more than"),
        (&["read", "--file", "/nowhere"], "/nowhere"),
        (&["message", "--save"], "does not depend on a size"),
        (
            &["fault", "--state", "fragmented-movable"],
            "--allow-system-changes permits it",
        ),
        (
            &["fault", "--state", "fragmented", "--allow-system-changes"],
            "there is no state",
        ),
        (&["--bytes", "1MiB"], "say what the program does"),
        (&["copy", "--out", &bad], "add --save"),
        (&["--out", &bad], "version 9"),
        (&["--merge", &bad], "version 9"),
        (&[], "advise --save makes it"),
    ] {
        let said = said(&mut place.command(&[&["advise"], words].concat()));
        assert_eq!(said.code, 1, "{words:?}: {}", said.out);
        assert!(
            said.err.contains(expected) && said.err.trim().lines().count() == 1,
            "{words:?}: {}",
            said.err
        );
    }
}
