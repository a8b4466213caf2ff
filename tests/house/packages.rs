//! What cargo packs: a package that lacks a file which its build reads can be installed from the repository and from
//! nowhere else.

use std::collections::BTreeSet;
use std::process::Command;

use crate::source::{Source, below, none, root, without_tests};

/// Where each package lies, and the folders whose files its build carries.
const PACKAGES: [(&str, &str, &[&str]); 8] = [
    (
        "pagewise",
        "",
        &[
            "src",
            "experiments",
            "published",
            "settings",
            "claims",
            "advice",
            "snippets",
            "states",
        ],
    ),
    (
        "pagewise-workers",
        "workers/",
        &["workers/c", "workers/go", "workers/java", "workers/rust"],
    ),
    ("pagewise-files", "crates/files/", &["crates/files/src"]),
    (
        "pagewise-record",
        "crates/record/",
        &["crates/record/src", "crates/record/schema"],
    ),
    ("pagewise-judge", "crates/judge/", &["crates/judge/src"]),
    ("pagewise-report", "crates/report/", &["crates/report/src"]),
    (
        "pagewise-schedule",
        "crates/schedule/",
        &["crates/schedule/src"],
    ),
    ("pagewise-stats", "crates/stats/", &["crates/stats/src"]),
];

/// Files that a package's build reads and that are not packed. `files` are of the repository, `packed` of the package at
/// `place`.
fn missing(place: &str, files: &[Source], packed: &BTreeSet<String>) -> Vec<String> {
    let mut missing = Vec::new();
    for (name, text) in files {
        let Some(own) = name.strip_prefix(place) else {
            continue;
        };
        missing.extend((!packed.contains(own)).then(|| format!("{name} is not packed")));
        if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            missing.extend(
                outside(own, text).map(|path| {
                    format!("{name} includes {path}, which is in no package of its own")
                }),
            );
        }
    }
    missing
}

/// What a file includes from outside of its package, by paths that lead upwards too far.
fn outside<'a>(own: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let depth = own.matches('/').count();
    let included = ["include_str!(\"", "include_bytes!(\""]
        .into_iter()
        .flat_map(|word| text.split(word).skip(1));
    let paths = included.filter_map(|rest| rest.split('"').next());
    paths.filter(move |path| path.matches("../").count() > depth)
}

#[test]
fn packages_have_what_their_builds_read() {
    let mut wrong = Vec::new();
    for (package, place, folders) in PACKAGES {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut list = Command::new(cargo);
        list.args([
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "-p",
            package,
        ])
        .current_dir(root());
        let output = list.output().expect("cargo starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let packed: BTreeSet<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect();
        let files = below(folders, &[""]).into_iter();
        let built: Vec<Source> = files
            .map(|(name, text)| (name, without_tests(&text)))
            .collect();
        wrong.extend(missing(place, &built, &packed));
    }
    none("packages", &wrong);
}

#[test]
fn a_file_that_is_not_packed_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let files = [
        file(
            "crates/x/src/lib.rs",
            "include_str!(\"../schema/a.json\"); include_str!(\"../../y/b.json\");",
        ),
        file("crates/x/src/new.toml", ""),
    ];
    let packed = BTreeSet::from(["src/lib.rs".to_owned()]);
    let wrong = missing("crates/x/", &files, &packed);
    assert_eq!(
        wrong,
        [
            "crates/x/src/lib.rs includes ../../y/b.json, which is in no package of its own",
            "crates/x/src/new.toml is not packed"
        ]
    );
}
