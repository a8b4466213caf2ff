//! Which keys concern files, memory bounds and huge pages stands in `experiments/*.toml` alone: the code that deals with these
//! names none of them.

use crate::source::{Source, below, none, root};

/// The code that deals with files, bounds and huge pages.
const DEALS: [&str; 6] = [
    "src/plan/input.rs",
    "src/run/captures.rs",
    "src/run/bound.rs",
    "crates/judge/src/warnings.rs",
    "crates/judge/src/evidence/flags.rs",
    "crates/record/src/cell.rs",
];

/// The keys of an experiment that concern something, and the fact that counts its huge pages.
fn concerned(text: &str) -> Vec<String> {
    let (mut key, mut found) = ("", Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("[parameters.") {
            key = name.trim_end_matches(']');
        } else if line.starts_with("concerns = ") {
            found.push(key.to_owned());
        } else if let Some(fact) = line.strip_prefix("huge_pages = ") {
            found.push(fact.trim_matches('"').to_owned());
        }
    }
    found
}

/// Where code names one of the keys, by itself or in a sentence such as `KEY=value`. The ending of a name is no key.
fn named((name, text): &Source, keys: &[String]) -> Vec<String> {
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        if line.trim_start().starts_with("//") || line.contains("ends_with(") {
            continue;
        }
        let has = |key: &String| {
            let assigned = line.match_indices(&format!("{key}=")).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
            });
            assigned || line.contains(&format!("\"{key}\""))
        };
        found.extend(
            keys.iter()
                .filter(|key| has(key))
                .map(|key| format!("{name}:{} names {key}", number + 1)),
        );
    }
    found
}

#[test]
fn no_code_names_a_key_that_concerns_a_file_or_huge_pages() {
    let mut keys: Vec<String> = below(&["experiments"], &[".toml"])
        .iter()
        .flat_map(|(_, text)| concerned(text))
        .collect();
    keys.sort();
    keys.dedup();
    for known in ["file", "cache", "memory", "huge_bytes"] {
        assert!(
            keys.iter().any(|key| key == known),
            "{known} is not among {keys:?}"
        );
    }
    let sources = DEALS.map(|name| {
        (
            name.to_owned(),
            std::fs::read_to_string(root().join(name)).unwrap(),
        )
    });
    none(
        "keys in code",
        &sources
            .iter()
            .flat_map(|source| named(source, &keys))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_named_key_is_found() {
    let text = "huge_pages = \"huge_bytes\"\n[parameters.file]\nkind = \"text\"\nconcerns = \"file\"\n[parameters.ops]\n";
    let keys = concerned(text);
    assert_eq!(keys, ["huge_bytes", "file"]);
    let wrong = |line: &str| named(&("x.rs".to_owned(), format!("{line}\n")), &keys).len();
    assert_eq!(
        (
            wrong("get(\"file\")"),
            wrong("format!(\"file={f}\")"),
            wrong("\"huge_bytes\"")
        ),
        (1, 1, 1)
    );
    assert_eq!(
        (
            wrong("/// `file=`"),
            wrong("format!(\"a-file={f}\")"),
            wrong("let file = \"ops\";")
        ),
        (0, 0, 0)
    );
    assert_eq!(wrong("#[cfg(test)]\nmod tests {\nget(\"file\")"), 0);
}
