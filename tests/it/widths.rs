//! No line that a person reads is wider than 80 columns where nothing tells the width, and none is cut.

use std::path::Path;

use clap::CommandFactory;
use pagewise::cli::Cli;

use crate::support::place::{Place, entries};

const COLUMNS: usize = 80;

/// Two kept runs of one experiment, each with two tags, and one of everything.
fn furnished() -> Place {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = [
        ("before", "tests/fixtures/runs/ordinary"),
        ("after", "tests/fixtures/runs/ordinary"),
    ];
    for (name, from) in kept
        .into_iter()
        .chain([("20261130T095844Z-8caadf25", "docs/evidence/runs/overview")])
    {
        let folder = place.file("data/pagewise/runs").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for file in entries(&root.join(from)) {
            std::fs::copy(&file, folder.join(file.file_name().unwrap())).unwrap();
        }
    }
    for (run, tag) in [
        ("before", "a"),
        ("before", "both"),
        ("after", "b"),
        ("after", "both"),
    ] {
        assert_eq!(place.run(&["runs", "tag", run, tag]).code, 0);
    }
    place
}

/// Lines of both outputs that are too wide.
fn wrong(place: &Place, words: &[&str]) -> Vec<String> {
    let output = place.command(words).env_remove("COLUMNS").output().unwrap();
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(!text.is_empty(), "{words:?} prints something");
    // A path or a name that is wider than a line stays whole, and a command, which is copied.
    let is_whole = |line: &&str| !line.trim().contains(' ') || line.trim().starts_with("$ ");
    let is_wide = |line: &&str| {
        line.chars().count() > COLUMNS && !is_whole(line) || line.ends_with('…') && !is_help(words)
    };
    text.lines()
        .filter(is_wide)
        .map(|line| format!("{words:?}: {line}"))
        .collect()
}

/// Tells whether an ellipsis was written and not made by a cut.
fn is_help(words: &[&str]) -> bool {
    words.iter().any(|word| ["--help", "-h"].contains(word))
}

#[test]
fn help_of_every_verb_fits() {
    let place = Place::new();
    let mut calls = vec![vec!["--help".to_owned()], vec!["-h".to_owned()]];
    for verb in Cli::command().get_subcommands() {
        let mut names = vec![vec![verb.get_name().to_owned()]];
        names.extend(
            verb.get_subcommands()
                .map(|below| vec![verb.get_name().to_owned(), below.get_name().to_owned()]),
        );
        for help in ["--help", "-h"] {
            calls.extend(names.iter().map(|name| {
                name.iter()
                    .cloned()
                    .chain([help.to_owned()])
                    .collect::<Vec<_>>()
            }));
        }
    }
    assert!(calls.len() > 30, "{calls:?}");
    let words =
        |call: &Vec<String>| wrong(&place, &call.iter().map(String::as_str).collect::<Vec<_>>());
    let wide: Vec<String> = calls.iter().flat_map(words).collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn lines_of_every_verb_fit_and_none_is_cut() {
    let place = furnished();
    let calls: [&[&str]; 37] = [
        &["list"],
        &["list", "read"],
        &["show", "fault"],
        &["show", "read", "--laws"],
        &["doctor"],
        &["runs"],
        &["runs", "show", "20261130T095844Z-8caadf25"],
        &["runs", "show", "before"],
        &["runs", "rm", "before"],
        &["report", "last"],
        &["report", "last", "--full"],
        &["report", "last", "read", "--full"],
        &["report", "last", "--doubt"],
        &["report", "last", "--ascii"],
        &["report", "before"],
        &["report", "tag:both", "--trend"],
        &["report", "last", "--explain-verdict", "fault/thp"],
        &[
            "report",
            "last",
            "--format",
            "junit",
            "--out",
            "/dev/full",
            "--force",
        ],
        &["compare", "tag:a", "tag:b"],
        &["compare", "before", "last"],
        &["compare", "--outliers", "."],
        &["claims", "list"],
        &["claims", "list", "--about", "huge"],
        &["try", "--list"],
        &["run", "--dry-run"],
        &["run", "tail", "--budget", "20s", "--dry-run"],
        &["run", "fault/touch", "--launches", "0"],
        &["run", "mmap"],
        &["run", "faultt"],
        &["run", "fault", "--budgt", "3s"],
        &["run", "fault", "--set", "bytes=many"],
        &["bench", "no-such-file.c"],
        &["advise", "no-such-question"],
        &["advise"],
        &["try", "--with", "no-such-setting", "--", "true"],
        &["show", "read/no-such-method"],
        &["check", "fault/touch@c-O0"],
    ];
    let wide: Vec<String> = calls
        .iter()
        .flat_map(|words| wrong(&place, words))
        .collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}
