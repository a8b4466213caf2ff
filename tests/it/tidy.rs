//! Style that can be checked is a test: lengths, words that do not belong, methods and experiments that describe themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::{Place, native_worker};
use pagewise::plan::catalog;
use pagewise::worker::carried;
use record::experiment::Experiment;
use record::method::{Heading, Method, Role};

/// Every text file of the repository: path below it, and content.
fn files() -> Vec<(String, String)> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path: PathBuf = entry.path();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            // Build results, the fuzzer's corpus and what stands in .gitignore are nobody's style.
            let generated = [
                "target",
                ".git",
                "fuzz/target",
                "fuzz/corpus",
                "fuzz/artifacts",
                "Cargo.lock",
            ];
            if generated.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, found);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((name, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    walk(root, root, &mut found);
    assert!(found.len() > 100, "the repository was found");
    found.sort();
    found
}

fn is_code(name: &str) -> bool {
    [".rs", ".c", ".h", ".go", ".java", ".sh", ".py"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn is_one_of(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

fn none(what: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

/// Names and versions in a Cargo.lock, without the package itself.
fn locked(path: &str) -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let packages = toml::from_str::<toml::Table>(&text).unwrap()["package"]
        .as_array()
        .unwrap()
        .clone();
    let text = |package: &toml::Value, key: &str| {
        package
            .get(key)
            .and_then(|value| value.as_str())
            .map(str::to_owned)
    };
    let bought = packages
        .iter()
        .filter(|package| package.get("source").is_some());
    bought
        .map(|package| {
            (
                text(package, "name").unwrap(),
                text(package, "version").unwrap(),
            )
        })
        .collect()
}

/// Its test builds it without network, from what the workspace has brought.
#[test]
fn the_crates_of_pagewise_bench_are_those_of_the_workspace() {
    let [workspace, consumer] = ["Cargo.lock", "consumers/pagewise-bench/Cargo.lock"].map(locked);
    let wrong: Vec<_> = consumer
        .difference(&workspace)
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    assert!(!consumer.is_empty());
    none("other versions than in Cargo.lock", &wrong);
}

/// A file without the unit tests at its end, and tests themselves, which nobody reads in one sitting, left out.
#[test]
fn files_are_short_enough_to_be_read_in_one_sitting() {
    let mut long = Vec::new();
    for (name, text) in files() {
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let lines = code.lines().count();
        if is_code(&name) && !name.contains("tests/") && lines > 750 {
            long.push(format!("{name}: {lines}"));
        }
    }
    none("more than 750 lines", &long);
}

/// Functions longer than `most` lines. In all our languages the formatter puts a function's last brace under its first word.
fn long_functions(
    name: &str,
    text: &str,
    most: usize,
    starts: impl Fn(&str) -> bool,
) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate().filter(|(_, line)| starts(line)) {
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", &line[..indent]);
        let Some(length) = lines[first..].iter().position(|l| **l == end) else {
            continue;
        };
        if length + 1 > most {
            found.push(format!("{name}:{}: {} lines", first + 1, length + 1));
        }
    }
    found
}

#[test]
fn functions_are_short_enough_to_be_seen_whole() {
    let mut long = Vec::new();
    for (name, text) in files() {
        if is_one_of(&name, &[".c", ".h"]) {
            long.extend(long_functions(&name, &text, 80, |line| line == "{"));
        } else if name.ends_with(".go") {
            long.extend(long_functions(&name, &text, 80, |line| {
                line.starts_with("func ") && line.ends_with('{')
            }));
        }
    }
    none("long functions", &long);
}

#[test]
fn a_method_of_the_native_worker_is_read_in_a_minute() {
    let is_method = |(name, text): &(String, String)| {
        name.starts_with("workers/c/methods/") && text.contains("\nMETHOD(")
    };
    let lengths = files()
        .into_iter()
        .filter(is_method)
        .map(|(name, text)| (name, text.lines().count()));
    let long: Vec<_> = lengths
        .filter(|(_, n)| *n > 100)
        .map(|(name, n)| format!("{name}: {n}"))
        .collect();
    none("methods of more than 100 lines", &long);
}

#[test]
fn lines_are_clean() {
    let mut wrong = Vec::new();
    for (name, text) in files() {
        let fixture = name.contains("tests/fixtures/") || name.ends_with(".snap");
        if !text.is_empty() && !text.ends_with('\n') && !fixture {
            wrong.push(format!("{name}: the last line has no end"));
        }
        for (i, line) in text.lines().enumerate().filter(|_| !fixture) {
            let at = format!("{name}:{}", i + 1);
            if line.ends_with([' ', '\t', '\r']) {
                wrong.push(format!("{at}: white space at the end"));
            }
            if line.contains('\t')
                && is_one_of(&name, &[".rs", ".c", ".h", ".java", ".toml", ".md"])
            {
                wrong.push(format!("{at}: a tab"));
            }
            // Rustfmt has its own width. Other code is held to 128; an address may stand alone.
            let long = line.chars().count() > 128 && line.split_whitespace().count() > 3;
            if long && is_one_of(&name, &[".c", ".h", ".go", ".java", ".sh"]) && !is_text(line) {
                wrong.push(format!("{at}: {} characters", line.chars().count()));
            }
        }
    }
    none("lines", &wrong);
}

/// A line that is mostly one piece of quoted text, which is easier found whole.
fn is_text(line: &str) -> bool {
    let longest = line
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::len)
        .max()
        .unwrap_or(0);
    longest * 2 > line.len()
}

#[test]
fn nothing_unfinished_and_nothing_unsafe() {
    // Put together here, so that this file does not find itself.
    let words = [
        "TO DO",
        "FIX ME",
        "X XX",
        "dbg !(",
        "todo !(",
        "unimplemented !(",
    ]
    .map(|w| w.replace(' ', ""));
    let mut wrong = Vec::new();
    for (name, text) in files()
        .into_iter()
        .filter(|(name, _)| is_code(name) || name.ends_with(".md"))
    {
        for (i, line) in text.lines().enumerate() {
            // Six of them are what mktemp fills in.
            let told = line.replace(&"X".repeat(6), "");
            let found = words.iter().find(|w| told.contains(w.as_str()));
            wrong.extend(found.map(|word| format!("{name}:{}: {word}", i + 1)));
            let code = line.split("//").next().unwrap_or_default();
            let allows = code.contains("unsafe ") || code.contains("allow(unsafe");
            if name.contains("src/") && name.ends_with(".rs") && allows && !code.contains('"') {
                wrong.push(format!("{name}:{}: unsafe", i + 1));
            }
        }
    }
    none("unfinished or unsafe", &wrong);
    let crates =
        ["stats", "record", "judge", "report"].map(|name| format!("crates/{name}/src/lib.rs"));
    for root in ["src/lib.rs", "src/main.rs"]
        .map(str::to_owned)
        .iter()
        .chain(&crates)
    {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(root)).unwrap();
        assert!(text.contains("#![forbid(unsafe_code)]"), "{root}");
    }
}

#[test]
fn no_path_of_somebodys_machine() {
    let places = [
        "/ro ot/",
        "/Us ers/",
        "/wo rk/",
        "/home/ubu ntu",
        ".lib rary/",
    ]
    .map(|p| p.replace(' ', ""));
    let mut wrong = Vec::new();
    // A sealed record says where its machine had its programs.
    for (name, text) in files()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("docs/evidence/runs/"))
    {
        for (i, line) in text.lines().enumerate() {
            wrong.extend(
                places
                    .iter()
                    .find(|p| line.contains(p.as_str()))
                    .map(|p| format!("{name}:{}: {p}", i + 1)),
            );
        }
    }
    none("paths", &wrong);
}

#[test]
fn decisions_are_numbered() {
    let mut numbers = BTreeMap::new();
    for (name, text) in files()
        .into_iter()
        .filter(|(name, _)| name.starts_with("docs/decisions/") && !name.ends_with("/README.md"))
    {
        let stem = name
            .strip_prefix("docs/decisions/")
            .and_then(|n| n.strip_suffix(".md"));
        let stem = stem.unwrap_or_else(|| panic!("{name} is no Markdown file"));
        let (number, words) = stem
            .split_once('-')
            .unwrap_or_else(|| panic!("{name} is not NUMBER-WORDS.md"));
        assert!(
            number.len() == 4 && number.parse::<u32>().is_ok() && !words.is_empty(),
            "{name}"
        );
        assert!(text.starts_with("# "), "{name} has no title");
        if let Some(other) = numbers.insert(number.parse::<u32>().unwrap(), name.clone()) {
            panic!("{name} and {other} have the same number");
        }
    }
    let expected: Vec<u32> = (1..=numbers.len() as u32).collect();
    assert_eq!(
        numbers.into_keys().collect::<Vec<_>>(),
        expected,
        "decisions are numbered from 1 without gaps"
    );
}

#[test]
fn an_experiment_has_its_files_name_and_keeps_its_word() {
    for (path, text) in carried::EXPERIMENTS {
        let table: toml::Table = toml::from_str(text).unwrap();
        let name = Path::new(path).file_stem().unwrap().to_str().unwrap();
        assert_eq!(table["name"].as_str(), Some(name), "{path}");
    }
    for experiment in catalog::experiments(None).unwrap() {
        let name = &experiment.name;
        assert!(
            experiment.question.contains('?'),
            "{name}: a question has a question mark"
        );
        assert!(
            !experiment.reading.trim().is_empty() && !experiment.traps.is_empty(),
            "{name}"
        );
        let phases: BTreeSet<&String> = experiment.phases.iter().collect();
        assert_eq!(
            phases.len(),
            experiment.phases.len(),
            "{name}: a phase stands twice"
        );
    }
}

/// The `method` lines of all carried workers, with the worker's name.
fn method_lines() -> Vec<(String, String)> {
    let place = Place::new();
    let output = Command::new(native_worker(&place))
        .arg("--list")
        .output()
        .unwrap();
    let native = String::from_utf8(output.stdout).unwrap();
    let listed = carried::SOURCES
        .iter()
        .filter(|(path, _)| path.ends_with("/methods.tsv"));
    let all = listed
        .map(|(path, text)| (*path, (*text).to_owned()))
        .chain([("workers/c", native)]);
    let lines = |(worker, text): (&str, String)| {
        let methods = text
            .lines()
            .filter(|l| l.starts_with("method\t"))
            .map(str::to_owned);
        methods
            .map(|line| (worker.to_owned(), line))
            .collect::<Vec<_>>()
    };
    all.flat_map(lines).collect()
}

/// What is wrong with a method's description of itself.
fn wrong_with(method: &Method, experiments: &[Experiment]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |is_so: bool, words: String| {
        if !is_so {
            wrong.push(words);
        }
    };
    let Some(experiment) = experiments.iter().find(|e| e.name == method.experiment) else {
        return vec!["there is no such experiment".to_owned()];
    };
    must(
        method.summary.ends_with('.') && method.summary.len() > 10,
        "its summary is no sentence".to_owned(),
    );
    must(!method.phases.is_empty(), "it has no phases".to_owned());
    for phase in method.phases.iter().filter(|p| *p != "overall") {
        must(
            experiment.phases.contains(phase),
            format!("phase {phase} is not the experiment's"),
        );
    }
    for phase in method.calls.keys() {
        must(
            method.phases.contains(phase),
            format!("it declares calls of {phase}, which is no phase of its"),
        );
    }
    for (key, _) in &method.keys {
        must(
            experiment.parameters.contains_key(key),
            format!("the experiment does not describe the key {key}"),
        );
    }
    must(
        carried::all_sources()
            .iter()
            .any(|(path, _)| *path == method.source),
        format!("its source {:?} is not carried", method.source),
    );
    must(
        method.role != Role::Method || !method.laws.is_empty(),
        "a method without a law proves nothing".to_owned(),
    );
    wrong
}

#[test]
fn every_method_describes_itself() {
    let experiments = catalog::experiments(None).unwrap();
    let mut wrong = Vec::new();
    let lines = method_lines();
    assert!(lines.len() > 50, "the methods were found");
    for (worker, line) in &lines {
        match Method::parse(line) {
            Ok(method) => {
                let name = format!("{worker}: {}/{}", method.experiment, method.name);
                assert_eq!(
                    Heading::parse(line).unwrap(),
                    method.heading(),
                    "what `list` tells"
                );
                wrong.extend(
                    wrong_with(&method, &experiments)
                        .into_iter()
                        .map(|words| format!("{name}: {words}")),
                );
            }
            Err(error) => wrong.push(format!("{worker}: {error:#}")),
        }
    }
    none("methods", &wrong);
}

#[test]
fn every_source_of_the_native_worker_says_what_it_is() {
    let listed = method_lines();
    let sources: BTreeSet<String> = listed
        .iter()
        .filter_map(|(_, line)| Some(Method::parse(line).ok()?.source))
        .collect();
    let mut wrong = Vec::new();
    let carried = carried::all_sources();
    for (name, text) in carried
        .iter()
        .filter(|(name, _)| name.starts_with("workers/c/"))
    {
        let declares = text.contains("\nMETHOD(");
        if declares != sources.contains(*name) {
            wrong.push(format!("{name}: METHOD() and --list contradict each other"));
        }
        if declares {
            for field in [
                ".experiment",
                ".name",
                ".summary",
                ".phases",
                ".keys",
                ".memory",
                ".run",
            ] {
                let has = text.contains(&format!("{field} ="))
                    || text.contains("\nMETHOD(") && text.contains("_METHOD");
                wrong.extend((!has).then(|| format!("{name}: METHOD() without {field}")));
            }
        } else if !text.trim_start().starts_with("/*") {
            wrong.push(format!(
                "{name}: a file that is no method begins with a comment that says what it is"
            ));
        }
    }
    none("sources", &wrong);
}
