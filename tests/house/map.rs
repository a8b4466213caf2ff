//! The map in ARCHITECTURE.md against the tree; how many rooms there are, and how they are laid out.

use std::collections::BTreeSet;
use std::path::Path;

use crate::source::{below, none, root};

/// Most entries of `src/`.
const MOST_ENTRIES: usize = 8;

/// The paths that the map names, one line after the other: a line's indentation says below which folder its words are.
fn places(text: &str) -> Vec<String> {
    let map = text.split("## The map").nth(1).unwrap_or_default().split("\n## ").next().unwrap_or_default();
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
            found.push(if indent > 4 { format!("{folder}{word}") } else { word.to_owned() });
        }
    }
    found
}

fn wrong_on(map: &[String], exists: impl Fn(&str) -> bool, rooms: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for place in map {
        wrong.extend((!exists(place)).then(|| format!("the map names {place}, which is not there")));
        wrong.extend((!seen.insert(place)).then(|| format!("the map names {place} twice")));
    }
    let named = |room: &String| map.iter().any(|place| place.trim_end_matches('/') == room);
    wrong.extend(rooms.iter().filter(|r| !named(r)).map(|room| format!("the map does not name {room}")));
    wrong
}

fn entries(folder: &str) -> Vec<String> {
    let all = std::fs::read_dir(root().join(folder)).unwrap().flatten();
    let mut names: Vec<_> = all.map(|e| format!("{folder}/{}", e.file_name().to_string_lossy())).collect();
    names.sort();
    names
}

#[test]
fn the_map_is_true() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut rooms = entries("src");
    rooms.extend(entries("crates"));
    none("the map", &wrong_on(&places(&text), |place| root().join(place).exists(), &rooms));
}

#[test]
fn src_has_few_entries() {
    assert!(entries("src").len() <= MOST_ENTRIES, "{:?}", entries("src"));
}

/// Modules that are a file beside a folder: one style is enough.
fn two_styles(names: &[String]) -> Vec<String> {
    let folders: BTreeSet<&str> = names.iter().filter_map(|n| Path::new(n).parent()?.to_str()).collect();
    names.iter().filter(|n| folders.contains(n.trim_end_matches(".rs"))).cloned().collect()
}

#[test]
fn a_module_with_parts_is_a_folder_with_mod_rs() {
    let names: Vec<String> = below(&["src", "crates"], &[".rs"]).into_iter().map(|(name, _)| name).collect();
    none("a file beside the folder of its name", &two_styles(&names));
}

#[test]
fn a_wrong_map_is_found() {
    let text =
        "## The map\n    src/     all\n      a.rs b/  rooms\n               c.rs is words\n    d/       x\n\n## Next\n";
    let map = places(text);
    assert_eq!(map, ["src/", "src/a.rs", "src/b/", "d/"]);
    let rooms = ["src/a.rs".to_owned(), "src/z".to_owned()];
    let wrong = wrong_on(&map, |place| place != "d/", &rooms);
    assert_eq!(wrong, ["the map names d/, which is not there", "the map does not name src/z"]);
    assert_eq!(two_styles(&["src/a.rs".to_owned(), "src/a/b.rs".to_owned()]), ["src/a.rs"]);
}
