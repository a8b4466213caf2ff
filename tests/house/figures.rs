//! The house in figures, one table: `cargo test --test house -- --nocapture`. Functions of Rust have a bound here.

use std::collections::BTreeSet;

use crate::language::{
    dialect, documents_and_texts, laboratory, openings, shared_type_names, vague,
};
use crate::source::{Source, below, code, none};

/// Most constants of the scheduler. The number may only fall.
const MOST_CONSTANTS: usize = 30;

/// Most lines of a function, its signature and last brace included.
const MOST_LINES: usize = 120;

/// Functions with their lines, the longest first. Rustfmt puts the last brace under the first word.
fn functions(files: &[Source]) -> Vec<(usize, String)> {
    let mut lengths = Vec::new();
    for (name, text) in files {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let word = line
                .trim_start()
                .trim_start_matches("pub ")
                .trim_start_matches("pub(crate) ");
            let word = word
                .trim_start_matches("pub(super) ")
                .trim_start_matches("const ")
                .trim_start_matches("unsafe ");
            if !word.starts_with("fn ") || line.trim_end().ends_with(['}', ';']) {
                continue;
            }
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let length = lines[at..].iter().position(|l| *l == end);
            lengths.extend(length.map(|n| (n + 1, format!("{name}:{}", at + 1))));
        }
    }
    lengths.sort_by(|a, b| b.cmp(a));
    lengths
}

/// Fields and functions of a struct in one file.
fn fields_and_functions(text: &str, name: &str) -> (usize, usize) {
    let code = code(text);
    let body = |head: &str| {
        code.split(head)
            .nth(1)
            .and_then(|rest| rest.split("\n}").next())
            .unwrap_or_default()
            .to_owned()
    };
    let fields = body(&format!("struct {name}"))
        .lines()
        .filter(|line| line.trim_end().ends_with(','))
        .count();
    let functions = body(&format!("impl {name}")) + &body(&format!("impl<'a> {name}"));
    (
        fields,
        functions
            .lines()
            .filter(|line| {
                line.contains("fn ") && line.starts_with("    ") && !line.starts_with("     ")
            })
            .count(),
    )
}

/// Project files that a C file includes, directly or not.
fn cone<'a>(file: &'a str, files: &'a [Source], seen: &mut BTreeSet<&'a str>) {
    let Some((name, text)) = files
        .iter()
        .find(|(name, _)| name == file)
        .filter(|(name, _)| seen.insert(name))
    else {
        return;
    };
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    for header in text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("#include \"")?.strip_suffix('"'))
    {
        let places = [
            folder,
            "workers/c",
            "workers/c/harness",
            "workers/c/methods",
        ];
        let found = places.iter().find_map(|place| {
            files
                .iter()
                .find(|(name, _)| *name == format!("{place}/{header}"))
        });
        if let Some((name, _)) = found {
            cone(name, files, seen);
        }
    }
}

#[test]
fn figures() {
    let rust = laboratory();
    let lines: usize = rust.iter().map(|(_, text)| text.lines().count()).sum();
    let comments = rust
        .iter()
        .flat_map(|(_, text)| text.lines())
        .filter(|l| l.trim_start().starts_with("//"))
        .count();
    let file = |name: &str| {
        rust.iter()
            .find(|(n, _)| n == name)
            .map_or("", |(_, text)| text.as_str())
    };
    let constants = code(file("crates/schedule/src/constants.rs"))
        .lines()
        .filter(|line| line.contains("const "))
        .count();
    let (fields, methods) = fields_and_functions(file("src/run/runner.rs"), "Runner");
    let longest = functions(&rust).into_iter().next().unwrap_or_default();
    let c = below(&["workers/c"], &[".c", ".h"]);
    let cones = c
        .iter()
        .filter(|(name, text)| name.contains("/methods/") && text.contains("\nMETHOD("))
        .map(|(name, _)| {
            let mut seen = BTreeSet::new();
            cone(name, &c, &mut seen);
            (seen.len(), name)
        });
    let largest = cones.max().expect("methods");
    let rows = [
        ("lines of src and crates/*/src", lines.to_string()),
        ("  of these, comments", comments.to_string()),
        (
            "openings with What, Who, Which, Whether, Where, How",
            openings(&rust).len().to_string(),
        ),
        ("vague names", vague(&rust).len().to_string()),
        (
            "phrases of the old dialect",
            dialect(&documents_and_texts()).len().to_string(),
        ),
        (
            "type names used twice",
            shared_type_names(&rust).len().to_string(),
        ),
        ("constants of the scheduler", constants.to_string()),
        (
            "fields and methods of the runner",
            format!("{fields} and {methods}"),
        ),
        (
            "lines of the longest function",
            format!("{} ({})", longest.0, longest.1),
        ),
        (
            "files to read for one C method, at most",
            format!("{} ({})", largest.0, largest.1),
        ),
    ];
    let table: Vec<String> = rows
        .iter()
        .map(|(name, value)| format!("  {name:<52} {value}"))
        .collect();
    println!("\n{}", table.join("\n"));
    assert!(
        constants <= MOST_CONSTANTS,
        "{constants} constants where {MOST_CONSTANTS} are allowed"
    );
}

#[test]
fn functions_are_seen_whole() {
    let long = functions(&laboratory())
        .into_iter()
        .filter(|(n, _)| *n > MOST_LINES);
    none(
        "functions that are too long",
        &long
            .map(|(n, place)| format!("{place}: {n} lines"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn figures_are_counted_right() {
    let text = "pub struct Runner<'a> {\n    a: u8,\n    b: &'a str,\n}\n\nimpl Runner<'_> {\n    fn f(\n        &self,\n    ) {\n        g();\n    }\n}\n";
    assert_eq!(fields_and_functions(text, "Runner"), (2, 1));
    assert_eq!(
        functions(&[("a.rs".to_owned(), text.to_owned())]),
        [(5, "a.rs:7".to_owned())]
    );
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file("workers/c/m/a.c", "#include \"a.h\"\n#include <b.h>\n"),
        file("workers/c/m/a.h", "#include \"a.c\"\n"),
    ];
    let mut seen = BTreeSet::new();
    cone("workers/c/m/a.c", &files, &mut seen);
    assert_eq!(seen.len(), 2);
}
