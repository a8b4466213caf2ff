//! Hostile names of files, commands and settings go through every verb; none of them steers a terminal.

use report::escape::is_steering;

use crate::support::place::{Place, Said};

/// A name that clears a screen, turns the direction of writing and breaks lines.
const NAME: &str = "\u{1b}[2J\u{9b}31m\u{202e}gpj\u{2066}\n=cmd|x\t";

/// Runs these words; nothing that is printed steers.
fn harmless(place: &Place, words: &[&str]) -> String {
    let said = place.run(words);
    is_harmless(words, &said);
    said.out
}

/// Nothing that was printed steers, and nothing died.
pub(crate) fn is_harmless(words: &[&str], said: &Said) {
    // CSV ends its lines by CR and LF.
    for text in [&said.out.replace("\r\n", "\n"), &said.err] {
        let steering = text
            .chars()
            .find(|c| !matches!(c, '\n' | '\t') && is_steering(*c));
        assert_eq!(steering, None, "{words:?} prints {text:?}");
    }
    assert!(
        said.code != 101 && !said.err.contains("panicked"),
        "{words:?}: {}",
        said.err
    );
}

#[test]
fn a_hostile_command_steers_no_verb() {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    for (name, kind) in [
        ("one", "try"),
        ("two", "try"),
        ("three", "profile"),
        ("four", "profile"),
    ] {
        let out = store.join(name);
        let out = out.to_str().unwrap();
        let how: &[&str] = if kind == "try" {
            &["--with", "env:A=\u{1b}[31m", "--pairs", "6"]
        } else {
            &["--blocks", "6"]
        };
        let words = [&[kind, "--out", out], how, &["--", "/bin/echo", NAME]].concat();
        harmless(&place, &words);
        for words in [
            &["report", name][..],
            &["report", name, "--json"],
            &["runs", "show", name],
            &["runs"],
            &["runs", "--json"],
        ] {
            let shown = harmless(&place, words);
            assert!(
                words.len() != 2 || words[0] == "runs" || shown.contains("\\x1b[2J"),
                "{words:?}: {shown}"
            );
        }
        for format in ["csv", "ndjson", "hyperfine"] {
            let text = harmless(&place, &["report", name, "--format", format]);
            assert!(
                !text.split(['\n', ',']).any(|field| field.starts_with('=')),
                "{text}"
            );
        }
    }
    harmless(&place, &["compare", "one", "two"]);
    harmless(&place, &["compare", "three", "four"]);
}

#[test]
fn a_hostile_name_steers_no_error() {
    let place = Place::new();
    let folder = place.file(&format!("home/{NAME}"));
    std::fs::create_dir(&folder).unwrap();
    let inside = folder.join("x");
    std::fs::write(&inside, "not what is expected").unwrap();
    let (folder, file) = (folder.to_str().unwrap(), inside.to_str().unwrap());
    for words in [
        vec!["list", NAME],
        vec!["show", NAME],
        vec!["run", NAME],
        vec![NAME],
        vec!["run", "--budget", NAME],
        vec!["run", NAME, "--out", file],
        vec!["run", "fault", "--set", NAME],
        vec!["check", NAME],
        vec!["report", folder],
        vec!["report", folder, "--format", "csv"],
        vec!["compare", folder, file],
        vec!["runs", "show", file],
        vec!["runs", "--tag", NAME],
        vec!["runs", "--since", NAME],
        vec!["fleet", folder],
        vec!["claims", "--file", file],
        vec!["advise", "--out", file],
        vec!["advise", NAME],
        vec!["try", "--with", file, "--", "/bin/true"],
        vec!["try", "--with", "keep", "--", file],
        vec!["profile", "--", file],
        vec!["--worker", file, "list"],
        vec!["--experiments", folder, "list"],
        vec!["man", "--out", file],
    ] {
        harmless(&place, &words);
    }
}
