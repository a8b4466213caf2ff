//! The map in ARCHITECTURE.md against the tree; how many rooms there are, and how they are laid out.

use std::collections::BTreeSet;
use std::path::Path;

use crate::source::{below, none, root};

/// Most entries of `src/`.
const MOST_ENTRIES: usize = 8;

/// The paths that the map names, one line after the other: a line's indentation says below which folder its words are.
fn places(text: &str) -> Vec<String> {
    let map = text
        .split("## The map")
        .nth(1)
        .unwrap_or_default()
        .split("\n## ")
        .next()
        .unwrap_or_default();
    let mut found = Vec::new();
    let mut folder = String::new();
    for line in map.lines().filter(|l| l.starts_with("    ")) {
        let indent = line.len() - line.trim_start().len();
        // A line that goes on with words stands under the words of the line before.
        if indent > 6 {
            continue;
        }
        // What the words are about comes after two spaces.
        let named = line.trim().split("  ").next().unwrap_or_default();
        for word in named.split(' ').filter(|w| !w.contains('*')) {
            if indent == 4 {
                folder = word.to_owned();
            }
            found.push(if indent > 4 {
                format!("{folder}{word}")
            } else {
                word.to_owned()
            });
        }
    }
    found
}

/// Endings of the files that a document may name by their path.
const ENDINGS: [&str; 9] = [
    ".rs", ".c", ".h", ".toml", ".md", ".json", ".go", ".java", ".py",
];

/// Paths of the repository that a document names in code or as links, with the document's own folder for links.
fn named_paths(document: &str, text: &str) -> Vec<String> {
    let tops = [
        "src/",
        "crates/",
        "workers/",
        "tests/",
        "docs/",
        "benches/",
        "experiments/",
        "claims/",
        "packaging/",
    ];
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut paths = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = |word: &&str| {
            tops.iter().any(|top| word.starts_with(top))
                && !word.contains(['*', '<', '{', '…', '='])
                && !word.contains("NAME")
                && ENDINGS.iter().any(|end| word.ends_with(end))
        };
        paths.extend(quoted.split_whitespace().filter(is_path).map(str::to_owned));
    }
    for link in text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let target = link.split('#').next().unwrap_or_default();
        if !target.is_empty() && !target.contains(':') {
            paths.push(folder.join(target).to_string_lossy().into_owned());
        }
    }
    paths
}

/// Documents that say how things were when they were written.
fn is_history(document: &str) -> bool {
    document == "CHANGELOG.md" || document.starts_with("docs/decisions/")
}

/// Paths in a page that it tells the reader to write.
const TO_BE_WRITTEN: [&str; 1] = ["workers/c/methods/fault/populate_small.c"];

#[test]
fn every_path_that_a_document_names_is_there() {
    let mut documents = below(
        &[
            "benches",
            "docs",
            "crates",
            "workers",
            "experiments",
            "packaging",
        ],
        &[".md"],
    );
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "METHODOLOGY.md",
        "SECURITY.md",
    ] {
        documents.push((
            name.to_owned(),
            std::fs::read_to_string(root().join(name)).unwrap(),
        ));
    }
    let mut wrong = Vec::new();
    for (document, text) in documents.iter().filter(|(name, _)| !is_history(name)) {
        let missing = named_paths(document, text);
        let missing = missing
            .iter()
            .filter(|path| !root().join(path).exists() && !TO_BE_WRITTEN.contains(&path.as_str()));
        wrong.extend(missing.map(|path| format!("{document} names {path}, which is not there")));
    }
    none("paths in documents", &wrong);
    let text = "`src/none.rs` [a](b.md#c) [d](https://e.f) `cat src/x.rs`";
    assert_eq!(
        named_paths("docs/page.md", text),
        ["src/none.rs", "src/x.rs", "docs/b.md"]
    );
}

fn wrong_on(map: &[String], exists: impl Fn(&str) -> bool, rooms: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for place in map {
        wrong
            .extend((!exists(place)).then(|| format!("the map names {place}, which is not there")));
        wrong.extend((!seen.insert(place)).then(|| format!("the map names {place} twice")));
    }
    let named = |room: &String| map.iter().any(|place| place.trim_end_matches('/') == room);
    wrong.extend(
        rooms
            .iter()
            .filter(|r| !named(r))
            .map(|room| format!("the map does not name {room}")),
    );
    wrong
}

fn entries(folder: &str) -> Vec<String> {
    let all = std::fs::read_dir(root().join(folder)).unwrap().flatten();
    let mut names: Vec<_> = all
        .map(|e| format!("{folder}/{}", e.file_name().to_string_lossy()))
        .collect();
    names.sort();
    names
}

#[test]
fn the_map_is_true() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut rooms = entries("src");
    rooms.extend(entries("crates"));
    none(
        "the map",
        &wrong_on(&places(&text), |place| root().join(place).exists(), &rooms),
    );
}

#[test]
fn src_has_few_entries() {
    assert!(entries("src").len() <= MOST_ENTRIES, "{:?}", entries("src"));
}

/// Modules that are a file beside a folder: one style is enough.
fn two_styles(names: &[String]) -> Vec<String> {
    let folders: BTreeSet<&str> = names
        .iter()
        .filter_map(|n| Path::new(n).parent()?.to_str())
        .collect();
    names
        .iter()
        .filter(|n| folders.contains(n.trim_end_matches(".rs")))
        .cloned()
        .collect()
}

#[test]
fn a_module_with_parts_is_a_folder_with_mod_rs() {
    let names: Vec<String> = below(&["src", "crates"], &[".rs"])
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    none("a file beside the folder of its name", &two_styles(&names));
}

#[test]
fn a_wrong_map_is_found() {
    let text = "## The map\n    src/     all\n      a.rs b/  rooms\n               c.rs is words\n    d/       x\n\n## Next\n";
    let map = places(text);
    assert_eq!(map, ["src/", "src/a.rs", "src/b/", "d/"]);
    let rooms = ["src/a.rs".to_owned(), "src/z".to_owned()];
    let wrong = wrong_on(&map, |place| place != "d/", &rooms);
    assert_eq!(
        wrong,
        [
            "the map names d/, which is not there",
            "the map does not name src/z"
        ]
    );
    assert_eq!(
        two_styles(&["src/a.rs".to_owned(), "src/a/b.rs".to_owned()]),
        ["src/a.rs"]
    );
}
