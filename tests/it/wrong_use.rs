//! Four hundred wrong command lines: each gets one clear sentence and exit status 1, and the store stays as it was.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::place::{Place, entries, said};

/// Words between `|` are alternatives; `RUN`, `TRY` and `CLAIMS` stand for kept work. Every alternative is one command line.
const WRONG: &str = include_str!("../fixtures/wrong_use.txt");

/// Every choice of alternatives in a line: `a (b|c) d` is `a b d` and `a c d`.
fn spread(line: &str) -> Vec<String> {
    let Some((before, rest)) = line.split_once('(') else {
        return vec![line.to_owned()];
    };
    let (choices, after) = rest.split_once(')').expect("a bracket is closed");
    choices
        .split('|')
        .flat_map(|choice| spread(&format!("{before}{choice}{after}")))
        .collect()
}

/// Every file below a folder with its content.
fn contents(folder: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
    // Go counts its own calls below HOME.
    for path in entries(folder)
        .into_iter()
        .filter(|path| !path.ends_with("home/.config"))
    {
        if path.is_dir() {
            contents(&path, all);
            all.insert(path.display().to_string(), Vec::new());
        } else {
            all.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
}

/// A store with a run and its tag, a try, and a folder that is none.
fn settled() -> (Place, String) {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    std::fs::create_dir_all(store.join("RUN")).unwrap();
    std::fs::create_dir_all(store.join("empty")).unwrap();
    for file in entries(&root) {
        std::fs::copy(&file, store.join("RUN").join(file.file_name().unwrap())).unwrap();
    }
    let out = store.join("TRY");
    let tried = place.run(&[
        "try",
        "--with",
        "keep",
        "--pairs",
        "6",
        "--out",
        out.to_str().unwrap(),
        "--",
        "/bin/true",
    ]);
    assert!(
        out.join("plan.json").is_file(),
        "{}{}",
        tried.out,
        tried.err
    );
    std::fs::write(place.file("home/file"), "mine").unwrap();
    let source = "#include <pagewise.h>\nBENCH(f) { PHASE(\"f\") { } RESULT(1); }\n";
    std::fs::write(place.file("home/mine.c"), source).unwrap();
    // The workers are built and the list of runs is made before anything is timed.
    assert_eq!(
        (
            place.run(&["runs"]).code,
            place.run(&["run", "fault", "--baseline", "nonesuch"]).code
        ),
        (0, 1)
    );
    let home = place.file("home").display().to_string();
    (place, home)
}

#[test]
fn four_hundred_wrong_command_lines_get_one_sentence_each() {
    let (place, home) = settled();
    let lines: Vec<String> = WRONG
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .flat_map(spread)
        .collect();
    assert!(lines.len() >= 400, "{} lines", lines.len());
    let seen = |place: &Place| {
        let mut all = BTreeMap::new();
        ["data", "home", "tmp"]
            .iter()
            .for_each(|folder| contents(&place.file(folder), &mut all));
        all
    };
    let (before, mut wrong, mut slow) = (seen(&place), Vec::new(), Vec::new());
    for line in &lines {
        let words: Vec<String> = line
            .split(' ')
            .map(|word| {
                word.replace("HOME", &home)
                    .replace("\\x1b", "\u{1b}")
                    .replace("\\u202e", "\u{202e}")
            })
            .collect();
        let words: Vec<&str> = words
            .iter()
            .map(String::as_str)
            .filter(|word| !word.is_empty())
            .collect();
        let began = Instant::now();
        // A refusal takes no compiler.
        let said = said(place.command(&words).env("CC", "/nonexistent/cc"));
        assert!(
            !said.err.contains("/nonexistent/cc"),
            "{line}: {}",
            said.err
        );
        slow.push((began.elapsed(), line));
        let sentence = said.err.starts_with("pagewise: ") && said.err.lines().count() == 1;
        let steers = said.err.trim_end().chars().any(report::escape::is_steering);
        if said.code != 1
            || !said.out.is_empty()
            || !sentence
            || steers
            || said.err.contains("panicked")
        {
            wrong.push(format!(
                "{line}: exit status {}: {:?} {:?}",
                said.code,
                said.out.get(..200.min(said.out.len())),
                said.err
            ));
        }
        if seen(&place) != before {
            panic!("{line} changed what is kept");
        }
    }
    slow.sort();
    let longest: Vec<String> = slow
        .iter()
        .rev()
        .take(5)
        .map(|(time, line)| format!("{time:?} {line}"))
        .collect();
    let over = slow
        .iter()
        .filter(|(time, _)| *time > Duration::from_millis(50))
        .count();
    println!(
        "{} lines; median {:?}; {over} above 50 ms; longest: {longest:#?}",
        lines.len(),
        slow[slow.len() / 2].0
    );
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        lines.len(),
        wrong.join("\n")
    );
}
