//! Nothing is public that only tests use, or nobody.

use std::collections::BTreeMap;

use crate::source::{Source, below, code, none};

/// Public names of a text: functions, types, constants.
fn public(code: &str) -> Vec<&str> {
    let kinds = ["pub fn ", "pub const fn ", "pub struct ", "pub enum ", "pub const ", "pub type ", "pub trait "];
    let mut found = Vec::new();
    for line in code.lines().map(str::trim_start) {
        let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        found.push(&rest[..end]);
    }
    found
}

/// What the runner may take again for choosing rounds; nothing else may wait for its use.
const COMING: [&str; 2] = ["variance_of", "optimal_rounds"];

/// Public names that stand nowhere but where they are defined.
fn dead(files: &[Source]) -> Vec<String> {
    let codes: Vec<(&str, String)> = files.iter().map(|(name, text)| (name.as_str(), code(text))).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, code) in &codes {
        for word in code.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            *counts.entry(word).or_insert(0) += 1;
        }
    }
    let mut wrong = Vec::new();
    // What only tests compile is no part of the house, nor are benches.
    let counted = |name: &str| !name.starts_with("benches/") && !name.ends_with("/fixture.rs");
    for (name, code) in codes.iter().filter(|(name, _)| counted(name)) {
        wrong.extend(
            public(code)
                .into_iter()
                .filter(|w| counts[w] < 2 && !COMING.contains(w))
                .map(|word| format!("{name}: {word}")),
        );
    }
    wrong
}

#[test]
fn nothing_is_public_that_nobody_uses() {
    let mut files = below(&["src", "crates", "benches"], &[".rs"]);
    // The statistics are held against other programs and simulated machines by all that they offer.
    files.retain(|(name, _)| !name.contains("/tests/") || name.starts_with("crates/stats/"));
    none("public and used by no code but tests", &dead(&files));
}

#[test]
fn what_nobody_uses_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let a =
        file("src/a.rs", "pub fn used() {}\npub struct Lost;\n#[cfg(test)]\nmod tests {\n    use super::Lost;\n}\n");
    let b = file("src/b.rs", "fn f() { used() } // Lost\n");
    assert_eq!(dead(&[a, b]), ["src/a.rs: Lost"]);
}
