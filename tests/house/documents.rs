//! Documents that a newcomer reads first: how long they may be, and that the table of questions and languages is true.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, below, none, root};

/// Most bytes and lines of a document.
const MOST: [(&str, usize, usize); 5] = [
    ("README.md", 8_000, 200),
    ("METHODOLOGY.md", 18_000, 200),
    ("ARCHITECTURE.md", 12_000, 120),
    ("CHANGELOG.md", 16_000, 170),
    ("docs/tutorial.md", 12_000, 150),
];

/// Rows of README's table of languages, in small letters the folders of their workers.
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

/// Experiments of README's table, each with the languages whose rows have it.
fn told(readme: &str) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut experiments: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for line in readme.lines() {
        let Some((language, rest)) = line.strip_prefix("| ").and_then(|l| l.split_once(" | `"))
        else {
            continue;
        };
        let mut known = LANGUAGES.into_iter();
        let Some(language) = known.find(|known| *known == language.to_lowercase()) else {
            continue;
        };
        for name in rest.trim_end_matches("` |").split("` `") {
            experiments
                .entry(name.to_owned())
                .or_default()
                .insert(language);
        }
    }
    experiments
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

/// The commands of the blocks that README has first, a line each.
fn first_commands(readme: &str) -> Vec<&str> {
    let blocks = readme.split("```sh\n").skip(1);
    blocks
        .filter_map(|block| block.lines().next())
        .take(2)
        .collect()
}

#[test]
fn what_must_pass_runs_the_two_commands_that_readme_has_first() {
    let (readme, ci) = (text("README.md"), text(".ci/run"));
    let commands = first_commands(&readme);
    assert_eq!(commands, ["cargo run --release -- run", "cargo test"]);
    let is_run = |command: &str| {
        let command = format!("{command} ");
        ci.lines().map(str::trim_start).any(|line| {
            let line = line.strip_prefix("if ! ").unwrap_or(line);
            !line.starts_with('#') && format!("{line} ").starts_with(&command)
        })
    };
    assert!(is_run(commands[0]));
    // With nothing behind it but where its output goes.
    let whole = format!("{} 2>&1 | tee", commands[1]);
    assert!(is_run(&whole), "{whole}");
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
    let table = "| language | `x` |\n| C | `a` `b` |\n| Java | `a` |\n";
    assert_eq!(
        told(table),
        BTreeMap::from([
            ("a".to_owned(), BTreeSet::from(["c", "java"])),
            ("b".to_owned(), BTreeSet::from(["c"])),
        ])
    );
}

/// Parts of a decision, in order.
const PARTS: [&str; 5] = [
    "Context",
    "Decision",
    "Rejected",
    "Consequences",
    "Evidence",
];

/// Faults in the form of decisions and in the index of them.
fn wrong_decisions(index: &str, decisions: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in decisions {
        let file = path.rsplit('/').next().unwrap();
        let parts: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("**")?.split_once(".**"))
            .map(|(part, _)| part)
            .collect();
        if parts != PARTS {
            wrong.push(format!("{file} has the parts {parts:?}"));
        }
        let title = text.lines().next().and_then(|line| line.split_once(". "));
        let state = text
            .lines()
            .find_map(|line| line.strip_prefix("State: ")?.strip_suffix('.'));
        let (Some((_, title)), Some(state)) = (title, state) else {
            wrong.push(format!("{file} lacks a title or a state"));
            continue;
        };
        if state != "in force" && !state.starts_with("overturned by [") {
            wrong.push(format!("{file} is {state}"));
        }
        if !index.contains(&format!("]({file}) | {title} | {state} |")) {
            wrong.push(format!("the index lacks {file} with its title and state"));
        }
    }
    wrong
}

#[test]
fn decisions_have_one_form_and_an_index() {
    let mut decisions = below(&["docs/decisions"], &[".md"]);
    decisions.retain(|(path, _)| !path.ends_with("/README.md"));
    assert!(decisions.len() > 20);
    let index = text("docs/decisions/README.md");
    none("decisions", &wrong_decisions(&index, &decisions));
    let diary = ("d/0001-a.md".to_owned(), "# 1. A\n\nThen.\n".to_owned());
    assert_eq!(wrong_decisions("", &[diary]).len(), 2);
    let parts: String = PARTS.map(|part| format!("**{part}.** x\n")).concat();
    let decision = (
        "d/0002-b.md".to_owned(),
        format!("# 2. B\n\nState: in force.\n\n{parts}"),
    );
    assert_eq!(
        wrong_decisions("", std::slice::from_ref(&decision)).len(),
        1
    );
    let index = "| [2](0002-b.md) | B | in force |";
    assert!(wrong_decisions(index, &[decision]).is_empty());
}

/// Pages without a link in the index of their folder.
fn not_listed(index: &str, pages: &[&str]) -> Vec<String> {
    let missing = pages
        .iter()
        .filter(|page| !index.contains(&format!("]({page})")));
    missing.map(|page| (*page).to_owned()).collect()
}

#[test]
fn every_page_is_in_an_index() {
    let folders = [
        ("docs/README.md", "docs/"),
        ("docs/evidence/README.md", "docs/evidence/"),
        ("docs/reading.md", "docs/reading/"),
    ];
    for (index, folder) in folders {
        let pages = below(&[folder.trim_end_matches('/')], &[".md"]);
        let names: Vec<&str> = pages
            .iter()
            .filter_map(|(path, _)| path.trim_start_matches("./").strip_prefix(folder))
            .filter(|name| !name.contains('/') && *name != "README.md")
            .collect();
        assert!(!names.is_empty(), "{folder}");
        let links = text(index).replace("](reading/", "](");
        none(index, &not_listed(&links, &names));
    }
    assert_eq!(not_listed("[A](a.md)", &["a.md", "b.md"]), ["b.md"]);
}
