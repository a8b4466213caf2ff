//! Nothing is public that only tests use, or nobody; public types and functions say what they are.

use std::collections::BTreeMap;

use crate::language::laboratory;
use crate::source::{Source, below, code, none};

/// Public names of a text: functions, types, constants.
fn public(code: &str) -> Vec<&str> {
    let kinds = [
        "pub fn ",
        "pub const fn ",
        "pub struct ",
        "pub enum ",
        "pub const ",
        "pub type ",
        "pub trait ",
    ];
    let mut found = Vec::new();
    for line in code.lines().map(str::trim_start) {
        let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else {
            continue;
        };
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        found.push(&rest[..end]);
    }
    found
}

/// Public names that stand nowhere but where they are defined.
fn dead(files: &[Source]) -> Vec<String> {
    let codes: Vec<(&str, String)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), code(text)))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, code) in &codes {
        for word in code.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    // An attribute of serde names a function in a text.
    let attributes = files.iter().flat_map(|(_, text)| text.lines());
    for line in attributes.filter(|line| line.contains("skip_serializing_if = \"")) {
        for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    let mut wrong = Vec::new();
    for (name, code) in &codes {
        let dead = public(code).into_iter().filter(|item| counts[item] < 2);
        wrong.extend(dead.map(|item| format!("{name}: {item}")));
    }
    wrong
}

#[test]
fn nothing_is_public_that_nobody_uses() {
    let mut files = below(&["src", "crates", "benches"], &[".rs"]);
    // Tests are no use: an item that only they reach is dead. A fixture is a test's, though it lies in src.
    files.retain(|(name, _)| {
        !["/tests/", "/tests.rs", "/fixture.rs"]
            .iter()
            .any(|part| name.contains(part))
    });
    none("public and used by no code but tests", &dead(&files));
}

/// Public types and functions of modules without a doc comment. Fields, variants and methods whose names say all need none.
fn undocumented(name: &str, text: &str) -> Vec<String> {
    let kinds = [
        "pub fn ",
        "pub const fn ",
        "pub struct ",
        "pub enum ",
        "pub trait ",
    ];
    let mut wrong = Vec::new();
    let mut documented = false;
    for (number, line) in text.lines().enumerate() {
        if kinds.iter().any(|kind| line.starts_with(kind)) && !documented {
            wrong.push(format!("{name}:{}: {line}", number + 1));
        }
        // Attributes, which may take several lines, are between a comment and its item.
        documented = line.starts_with("///") || (documented && line.starts_with(['#', ' ', ')']));
    }
    wrong
}

#[test]
fn public_types_and_functions_have_a_doc_comment() {
    let wrong: Vec<String> = laboratory()
        .iter()
        .flat_map(|(name, text)| undocumented(name, text))
        .collect();
    none("public and without a doc comment", &wrong);
    assert_eq!(
        undocumented(
            "a.rs",
            "pub fn f() {}\n/// Text.\n#[derive(\n    A\n)]\npub struct B;\n"
        )
        .len(),
        1
    );
}

#[test]
fn what_nobody_uses_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let a = file(
        "src/a.rs",
        "pub fn used() {}\npub struct Lost;\n#[cfg(test)]\nmod tests {\n    use super::Lost;\n}\n",
    );
    let b = file("src/b.rs", "fn f() { used() } // Lost\n");
    assert_eq!(dead(&[a, b]), ["src/a.rs: Lost"]);
}
