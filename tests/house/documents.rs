//! Documents that a newcomer reads first: how long they may be, and that the table of questions and languages is true.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, below, none, root};

/// Most bytes and lines of a document.
const MOST: [(&str, usize, usize); 5] = [
    ("README.md", 9_000, 200),
    ("METHODOLOGY.md", 18_000, 200),
    ("ARCHITECTURE.md", 12_000, 120),
    ("CHANGELOG.md", 12_000, 150),
    ("docs/tutorial.md", 12_000, 150),
];

/// Columns of README's table after experiment and question, with the folder of the worker.
const LANGUAGES: [&str; 5] = ["c", "rust", "go", "java", "python"];

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn documents_are_short() {
    let wrong = |(path, bytes, lines): (&str, usize, usize)| {
        let text = text(path);
        let found = (text.len(), text.lines().count());
        (found.0 > bytes || found.1 > lines)
            .then(|| format!("{path}: {found:?} where {bytes} and {lines} are allowed"))
    };
    none(
        "documents that are too long",
        &MOST.into_iter().filter_map(wrong).collect::<Vec<_>>(),
    );
}

/// Experiments of README's table, each with the languages that have a mark.
fn told(readme: &str) -> BTreeMap<String, BTreeSet<&'static str>> {
    let rows = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let marks = |rest: &str| -> BTreeSet<&'static str> {
        let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
        LANGUAGES
            .into_iter()
            .zip(&cells[1..])
            .filter(|(_, cell)| **cell == "•")
            .map(|(language, _)| language)
            .collect()
    };
    rows.filter(|(_, rest)| rest.matches('|').count() == 6)
        .map(|(name, rest)| (name.to_owned(), marks(rest)))
        .collect()
}

/// The languages in which each experiment has a method.
fn measured(
    experiments: &[Source],
    lists: &[Source],
    c: &[Source],
) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut found: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    let line = |text: &str, start: &str| {
        text.lines()
            .find_map(|l| Some(l.strip_prefix(start)?.trim_matches('"').to_owned()))
    };
    for (_, text) in experiments
        .iter()
        .filter(|(_, text)| !text.contains("\nhidden = true"))
    {
        let name = line(text, "name = ").expect("an experiment has a name");
        let in_c = |folder: &str| {
            let mut mine = c.iter().filter(|(path, _)| path.starts_with(folder));
            mine.any(|(_, text)| text.contains(&format!("experiment = \"{name}\"")))
        };
        let in_list = |language: &str| {
            let list = lists
                .iter()
                .find(|(path, _)| path.contains(&format!("/{language}/")));
            list.is_some_and(|(_, list)| {
                list.lines().any(|l| {
                    l.starts_with(&format!("method\t{name}\t")) && l.contains("role=method")
                })
            })
        };
        let languages = LANGUAGES.into_iter().filter(|language| match *language {
            "c" => in_c("workers/c/"),
            "rust" => in_c("workers/rust/"),
            _ => in_list(language),
        });
        found.insert(name.clone(), languages.collect());
    }
    found
}

#[test]
fn the_table_of_questions_and_languages_is_true() {
    let lists = below(
        &["workers/go", "workers/java", "workers/python"],
        &["methods.tsv"],
    );
    let c = below(&["workers/c/methods", "workers/rust"], &[".c"]);
    let measured = measured(&below(&["experiments"], &[".toml"]), &lists, &c);
    assert_eq!(told(&text("README.md")), measured);
    assert!(measured["read"].len() == 5 && measured["heap"].len() == 1);
    let table = "| `a` | question | • | | | • | |\n| `b` | x |\n";
    assert_eq!(
        told(table),
        BTreeMap::from([("a".to_owned(), BTreeSet::from(["c", "java"]))])
    );
}
