//! Kept tries and profiles of programs: every verb that reads runs reads them. No test asserts a time.

use std::process::{Command, Stdio};

use crate::support::place::Place;
use crate::support::waiting::wait_until;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A try and a profile of `true`, with their names.
fn kept(place: &Place) -> [String; 2] {
    let tried = place.run(&[
        "try",
        "--pairs",
        "6",
        "--json",
        "--with",
        "env:A=1",
        "--",
        "/bin/true",
    ]);
    let profiled = place.run(&["profile", "--blocks", "6", "--json", "--", "/bin/true"]);
    [tried, profiled].map(|said| {
        assert_eq!(said.code, 0, "{} {}", said.out, said.err);
        json(&said.out)["plan"]["run"].as_str().unwrap().to_owned()
    })
}

#[test]
fn both_have_pages_and_rows() {
    let place = Place::new();
    let [tried, profiled] = kept(&place);
    for (run, heading) in [(&tried, "Pagewise: try"), (&profiled, "Pagewise: profile")] {
        let beside = place
            .file("data")
            .join("pagewise/runs")
            .join(run)
            .join("report.html");
        let file = place.file(&format!("{run}.html"));
        let said = place.run(&["report", run, "--html", file.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{}", said.err);
        let page = std::fs::read_to_string(&file).unwrap();
        assert_eq!(page, std::fs::read_to_string(beside).unwrap());
        for wanted in [heading, run.as_str(), "/bin/true"] {
            assert!(page.contains(wanted), "{wanted}: {page}");
        }
        let again = place.run(&["report", run, "--html", file.to_str().unwrap()]);
        assert!(
            again.code == 1 && again.err.contains("--force"),
            "{}",
            again.err
        );
        let csv = place.run(&["report", run, "--format", "csv"]).out;
        let ndjson = place.run(&["report", run, "--format", "ndjson"]).out;
        assert_eq!(csv.lines().count(), 1 + ndjson.lines().count());
        let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let first = json(ndjson.lines().next().unwrap());
        assert!(
            columns.iter().all(|c| first.get(c).is_some()) && first["run"] == **run,
            "{first:#}"
        );
        let other = place.run(&["report", run, "--format", "junit"]);
        assert!(
            other.code == 1 && other.err.contains("csv and ndjson"),
            "{}",
            other.err
        );
    }
    // Three arms, six blocks, a warm-up each.
    assert_eq!(
        place
            .run(&["report", &tried, "--format", "ndjson"])
            .out
            .lines()
            .count(),
        21
    );
    let hyperfine = json(&place.run(&["report", &tried, "--format", "hyperfine"]).out);
    assert_eq!(hyperfine["results"].as_array().unwrap().len(), 2);
    assert!(
        place
            .run(&["runs", "show", &profiled])
            .out
            .contains("/bin/true")
    );
}

#[test]
fn both_are_compared_with_their_like() {
    let place = Place::new();
    let [a, profiled] = kept(&place);
    let [b, _] = kept(&place);
    let page = place.file("compared.html");
    let said = place.run(&[
        "compare",
        "--json",
        "--html",
        page.to_str().unwrap(),
        &a,
        &b,
    ]);
    let found = json(&said.out);
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/compare.schema.json"
    );
    let schema = json(&std::fs::read_to_string(path).unwrap());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&found)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let cell = found["cells"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["parameters"]["time"] == "wall")
        .unwrap();
    assert_eq!(
        (&cell["experiment"], &cell["unit"]),
        (&Value::from("/bin/true"), &Value::from("run"))
    );
    assert!(
        cell["quotient"].as_f64().unwrap() > 0.0 && cell["verdict"]["word"] == "not-settled",
        "{cell:#}"
    );
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .contains("time=wall")
    );
    let screen = place.run(&["compare", &profiled, &profiled.clone()]);
    assert_eq!(screen.code, 0, "{}", screen.err);
    let mixed = place.run(&["compare", &a, &profiled]);
    assert!(
        mixed.out.contains("only one side has it"),
        "{} {}",
        mixed.out,
        mixed.err
    );
    for run in [&a, &b] {
        assert_eq!(place.run(&["runs", "tag", run, "same"]).code, 0);
    }
    assert!(place.run(&["runs", "--tag", "same"]).out.contains(&a));
    let tagged = place.run(&["compare", "tag:same", &b]);
    assert!(
        tagged.code == 0 && tagged.out.contains("2 runs"),
        "{} {}",
        tagged.out,
        tagged.err
    );
}

/// Ends `pagewise` when the command of its third measured block runs, and completes the work.
fn resumed(verb: &str, signal: &str, number: u32) {
    let place = Place::new();
    let (count, marker, out) = (place.file("count"), place.file("slow"), place.file("kept"));
    let word = format!("6{number}.0625");
    std::fs::write(&marker, "").unwrap();
    // It counts its runs, and waits in the eighth only as long as the marker is there.
    let line = format!(
        "echo >> {c}; [ $(wc -l < {c}) -lt 8 ] || [ ! -e {m} ] || sleep {word}",
        c = count.display(),
        m = marker.display()
    );
    let blocks = if verb == "try" { "--pairs" } else { "--blocks" };
    let mut child = place.command(&[
        verb,
        blocks,
        "6",
        "--out",
        out.to_str().unwrap(),
        "--",
        &line,
    ]);
    let mut child = child
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let runs = || {
        std::fs::read_to_string(&count)
            .unwrap_or_default()
            .lines()
            .count()
    };
    wait_until("the eighth run", || runs() >= 8);
    assert!(
        Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    child.wait().unwrap();
    std::fs::remove_file(&marker).unwrap();
    let before = std::fs::read_to_string(out.join("launches.jsonl")).unwrap();
    assert!(before.lines().count() >= 7, "{before}");
    let out_name = out.to_str().unwrap();
    // What is executed is this command line's: another command, or none, is refused.
    for (command, reason) in [
        (vec!["--", "echo other"], "another command"),
        (vec![], "nothing to"),
    ] {
        let wrong = place.run(&[&[verb, "--resume", out_name][..], &command].concat());
        assert!(
            wrong.code == 1 && wrong.err.contains(reason),
            "{}",
            wrong.err
        );
    }
    let said = place.run(&[verb, "--resume", out_name, "--json", "--", &line]);
    let all = json(&said.out);
    assert_eq!((said.code, all["blocks"].as_u64()), (0, Some(6)), "{all:#}");
    let after = std::fs::read_to_string(out.join("launches.jsonl")).unwrap();
    let whole = before.rfind('\n').map_or(0, |at| at + 1);
    assert!(
        after.starts_with(&before[..whole]),
        "what was measured stays as it was"
    );
    let other = if verb == "try" { "profile" } else { "try" };
    let wrong = place.run(&[other, "--resume", out_name, "--", &line]);
    assert!(
        wrong.code == 1 && wrong.err.contains(&format!("there is no {other}")),
        "{}",
        wrong.err
    );
}

#[test]
fn an_interrupted_try_is_completed_with_what_it_had() {
    resumed("try", "-INT", 5);
    resumed("try", "-KILL", 6);
}

#[test]
fn an_interrupted_profile_is_completed_with_what_it_had() {
    resumed("profile", "-INT", 7);
    resumed("profile", "-KILL", 8);
}
