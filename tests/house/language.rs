//! The language of the house: openings of comments, names of bindings, phrases, lengths of sentences.

use std::collections::BTreeMap;

use crate::source::{Source, below, code, none, without_tests};

/// Most doc comments that may open with a free relative.
const MOST_OPENINGS: usize = 60;

/// Most words of a sentence, on average over a document.
const MOST_WORDS: f64 = 18.0;
/// Documents in which a colon or a semicolon ends no sentence: those that a user reads.
const FOR_USERS: [&str; 8] = [
    "README",
    "METHODOLOGY",
    "CHANGELOG",
    "ARCHITECTURE",
    "CONTRIBUTING",
    "SECURITY",
    "docs/",
    "packaging/",
];
/// Records of decisions, evidence and studies: there a colon or a semicolon ends a sentence.
const RECORDS: [&str; 3] = ["docs/decisions/", "docs/evidence/", "docs/validity.md"];

/// Most vague identifiers, phrases of the old dialect, matches on booleans and type names used twice. Each number may
/// only fall.
const MOST_VAGUE: usize = 0;
const MOST_PHRASES: usize = 0;
const MOST_BOOLEAN_ARMS: usize = 0;
const MOST_SHARED_TYPE_NAMES: usize = 0;

/// Words that may not stand alone as an identifier.
const VAGUE: [&str; 8] = [
    "words", "of", "found", "own", "one", "told", "said", "asked",
];

/// Phrases of the old dialect, lower case; each has a field term instead.
const PHRASES: [&str; 40] = [
    "held against",
    "stands beside",
    "stands in the table",
    "as it is written",
    "as it should be",
    "the obvious way",
    "measured best",
    "best possible",
    "the very source",
    "for lack of",
    "of its own kind",
    "what it comes to",
    "comes to rest",
    "piled up",
    "full pile",
    "the pile",
    "a way to do it",
    "another way to do the same",
    "write-up",
    "the machine tells",
    "the kernel tells",
    "is told by",
    "as told",
    "a look at the claims",
    "looks at claims",
    "turn of launches",
    "a turn of",
    "first look",
    "once more (a/a)",
    "too few rounds to tell",
    "compared is ready",
    "compared is",
    "the ratio itself moved",
    "memory gone over",
    "equal steps are equal factors",
    "odd node",
    "seldom phase",
    "laboratory's word",
    "has company",
    "in company",
];

/// The sources that are compiled into the laboratory, without their unit tests.
pub fn laboratory() -> Vec<Source> {
    let mut files = below(&["src", "crates"], &[".rs"]);
    files.retain(|(name, _)| !name.contains("/tests/"));
    files
        .into_iter()
        .map(|(name, text)| (name, without_tests(&text)))
        .collect()
}

/// Doc comments that open with a free relative.
pub fn openings(files: &[Source]) -> Vec<String> {
    const WORDS: [&str; 6] = ["What", "Who", "Which", "Whether", "Where", "How"];
    let mut wrong = Vec::new();
    for (name, text) in files {
        for (number, line) in text.lines().enumerate() {
            let comment = line
                .trim_start()
                .strip_prefix("///")
                .or_else(|| line.trim_start().strip_prefix("//!"));
            let first = comment
                .and_then(|c| c.split_whitespace().next())
                .unwrap_or_default();
            let first = first.trim_end_matches(|c: char| !c.is_alphanumeric());
            wrong.extend(
                WORDS
                    .contains(&first)
                    .then(|| format!("{name}:{}: {}", number + 1, line.trim())),
            );
        }
    }
    wrong
}

/// Bindings, parameters, fields and functions with a name that says nothing.
pub fn vague(files: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, text) in files {
        for (number, line) in code(text).lines().enumerate() {
            for word in VAGUE {
                wrong.extend(
                    introduces(line, word).then(|| format!("{name}:{}: {word}", number + 1)),
                );
            }
        }
    }
    wrong
}

/// Tells whether a line of code introduces an identifier of this name.
fn introduces(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let keyword = ["let ", "let mut ", "fn ", "for ", "ref ", "mod "]
            .iter()
            .any(|k| before.ends_with(k));
        let typed = after.starts_with(": ") && !before.ends_with("::") && !before.ends_with('\'');
        let closure = before.ends_with('|') && after.starts_with(['|', ',']);
        whole && (keyword || typed || closure)
    })
}

/// Lines that match on a boolean.
fn boolean_matches(files: &[Source]) -> Vec<String> {
    let is_arm = |line: &str| {
        line.trim_start().starts_with("true =>") || line.trim_start().starts_with("false =>")
    };
    let mut wrong = Vec::new();
    for (name, text) in files {
        let code = code(text);
        let lines = code.lines().enumerate().filter(|(_, line)| is_arm(line));
        wrong.extend(lines.map(|(number, line)| format!("{name}:{}: {}", number + 1, line.trim())));
    }
    wrong
}

/// Names that two types have.
pub fn shared_type_names(files: &[Source]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, text) in files {
        for line in code(text).lines().map(str::trim_start) {
            let line = ["pub(crate) ", "pub(super) ", "pub "]
                .iter()
                .find_map(|p| line.strip_prefix(p))
                .unwrap_or(line);
            let Some(rest) = ["struct ", "enum ", "trait "]
                .iter()
                .find_map(|kind| line.strip_prefix(kind))
            else {
                continue;
            };
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            places.entry(rest[..end].to_owned()).or_default().push(name);
        }
    }
    places.retain(|_, files| files.len() > 1);
    places
        .into_iter()
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect()
}

/// Lines with a phrase of the old dialect.
pub fn dialect(files: &[Source]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, text) in files {
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            let found = PHRASES.iter().find(|phrase| line.contains(*phrase));
            wrong.extend(found.map(|phrase| format!("{name}:{}: {phrase}", number + 1)));
        }
    }
    wrong
}

/// Average words of the sentences of a Markdown text that `ends` end, without its code, tables and headings.
fn mean_sentence(text: &str, ends: &[&str]) -> f64 {
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let item = line.starts_with(['-', '*'])
            || line
                .split_once(". ")
                .is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        if fenced || line.starts_with(['|', '#', '<', '`', '>']) {
            continue;
        }
        if line.is_empty() || item {
            prose.push_str(". ");
        }
        prose.push_str(line.trim_start_matches(['-', '*', ' ']));
        prose.push(' ');
    }
    let words = |sentence: &str| {
        sentence
            .split_whitespace()
            .filter(|w| w.contains(char::is_alphabetic))
            .count()
    };
    let marked = ends
        .iter()
        .fold(prose, |prose, end| prose.replace(end, "\u{0}"));
    let lengths: Vec<usize> = marked
        .split('\u{0}')
        .map(words)
        .filter(|&n| n > 2)
        .collect();
    lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64
}

/// Documents of the repository.
fn documents() -> Vec<Source> {
    let mut files = below(&["."], &[".md"]);
    files.retain(|(name, _)| !["target/", "fuzz/"].iter().any(|f| name.contains(f)));
    files
}

/// Ends of a sentence in a document.
fn ends(document: &str) -> &'static [&'static str] {
    let begins = |with: &[&str]| {
        with.iter()
            .any(|start| document.trim_start_matches("./").starts_with(start))
    };
    let all = &[". ", "? ", "! ", ": ", "; "];
    if begins(&FOR_USERS) && !begins(&RECORDS) {
        &all[..3]
    } else {
        all
    }
}

/// Everything that a reader may read.
pub fn documents_and_texts() -> Vec<Source> {
    let mut files = laboratory();
    let is_record = |name: &str| {
        ["docs/decisions/", "docs/evidence/"]
            .iter()
            .any(|folder| name.contains(folder))
    };
    files.extend(documents().into_iter().filter(|(name, _)| !is_record(name)));
    files.extend(below(
        &["experiments", "claims", "published", "settings", "advice"],
        &[".toml"],
    ));
    files.extend(below(&["workers"], &[".c", ".h", ".go", ".java", ".py"]));
    files
}

/// Fails beyond a bound with all that is counted.
fn at_most(name: &str, wrong: &[String], most: usize) {
    assert!(
        wrong.len() <= most,
        "{name}: {} where {most} are allowed\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    at_most(
        "doc comments that open with a free relative",
        &openings(&laboratory()),
        MOST_OPENINGS,
    );
}

#[test]
fn names_say_something() {
    at_most(
        "identifiers that say nothing",
        &vague(&laboratory()),
        MOST_VAGUE,
    );
}

#[test]
fn booleans_are_asked_by_if() {
    at_most(
        "arms of a match on a boolean",
        &boolean_matches(&laboratory()),
        MOST_BOOLEAN_ARMS,
    );
}

#[test]
fn no_two_types_have_one_name() {
    at_most(
        "types of one name",
        &shared_type_names(&laboratory()),
        MOST_SHARED_TYPE_NAMES,
    );
}

#[test]
fn nobody_speaks_the_old_dialect() {
    at_most(
        "phrases of the old dialect",
        &dialect(&documents_and_texts()),
        MOST_PHRASES,
    );
}

#[test]
fn sentences_are_short() {
    let long = documents().into_iter().map(|(name, text)| {
        let mean = mean_sentence(&text, ends(&name));
        (name, mean)
    });
    let long: Vec<_> = long
        .filter(|(_, n)| *n > MOST_WORDS)
        .map(|(name, n)| format!("{name}: {n:.1}"))
        .collect();
    none("documents of long sentences", &long);
}

#[test]
fn each_rule_finds_a_fault() {
    let file = |text: &str| vec![("a.rs".to_owned(), text.to_owned())];
    assert_eq!(
        openings(&file("/// Where it is.\n/// Reads it.\n")).len(),
        1
    );
    assert_eq!(
        vague(&file(
            "let words = 1;\nlet all_words = 2;\nfn f(of: u8) {}\nx(|one| 1)\nPlace::of(3);\n"
        ))
        .len(),
        3
    );
    assert_eq!(
        boolean_matches(&file(
            "match a {\n    true => 1,\n    Some(true) => 2,\n}\n"
        ))
        .len(),
        1
    );
    assert_eq!(
        shared_type_names(&file("pub struct A;\nenum A {}\nstruct B;\n")).len(),
        1
    );
    assert_eq!(
        dialect(&file(
            "// It is held against a reference.\n// It is compared.\n"
        ))
        .len(),
        1
    );
    let text = "# Title of it\nOne two three. Four five six: seven eight nine.\n";
    assert!((mean_sentence(text, ends("README.md")) - 4.5).abs() < 1e-9);
    assert!((mean_sentence(text, ends("docs/decisions/0001.md")) - 3.0).abs() < 1e-9);
}
