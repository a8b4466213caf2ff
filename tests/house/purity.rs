//! The five crates start nothing and read no clock, environment or /proc; every dependency says its version.

use crate::source::{Source, below, code, none};

/// What the code of a crate that starts nothing cannot contain. Files are the record's alone.
const FORBIDDEN: [&str; 12] = [
    "std::process",
    "std::env",
    "std::thread",
    "std::net",
    "std::time",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "env!(",
    "rustix",
    "libc::",
];

/// Names by which code opens files without `crates/files`.
const FILES: [&str; 7] = [
    "std::fs",
    "File::open",
    "File::create",
    "File::options",
    "OpenOptions",
    "env::temp_dir",
    "read_dir(",
];

/// What the five crates may depend on, and no more.
const ALLOWED: [&str; 29] = [
    "files",
    "stats",
    "record",
    "judge",
    "schedule",
    "anyhow",
    "flate2",
    "hmac",
    "indexmap",
    "jiff",
    "minijinja",
    "proptest",
    "quick-xml",
    "rand",
    "serde",
    "serde_json",
    "serde_with",
    "sha2",
    "shlex",
    "statrs",
    "strsim",
    "tempfile",
    "thiserror",
    "toml",
    "zstd",
    "insta",
    // For tests: the schema of a summary is made from its types and held against a real one.
    "jsonschema",
    "schemars",
    "strum",
];

/// Features by which a dependency reads a clock, a time zone or the system's randomness.
const FEATURES: [&str; 6] = [
    "thread_rng",
    "sys_rng",
    "os_rng",
    "tz-system",
    "tzdb-zoneinfo",
    "now",
];

fn impure(name: &str, text: &str) -> Vec<String> {
    // The version is a constant of the build.
    let code = code(&text.replace("env!(\"CARGO_PKG_VERSION\")", ""));
    let found = FORBIDDEN.iter().filter(|word| code.contains(**word));
    found.map(|word| format!("{name}: {word}")).collect()
}

/// Ways to the file system around `crates/files`.
fn around_files(name: &str, text: &str) -> Vec<String> {
    let of_tests = ["/fixture.rs", "/schema.rs", "/simulated.rs", "tests.rs"];
    if name.starts_with("crates/files/") || of_tests.iter().any(|end| name.ends_with(end)) {
        return Vec::new();
    }
    let code = code(text);
    FILES
        .iter()
        .filter(|word| code.contains(**word))
        .map(|word| format!("{name}: {word}"))
        .collect()
}

/// The lines `name = …` and `name.workspace = …` of a manifest's tables of dependencies.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
        } else if let Some((name, value)) = line.split_once('=').filter(|_| inside) {
            found.push((name.trim().trim_end_matches(".workspace"), value.trim()));
        }
    }
    found
}

fn not_allowed(name: &str, manifest: &str) -> Vec<String> {
    let all = dependencies(manifest).into_iter();
    all.filter(|(d, _)| !ALLOWED.contains(d))
        .map(|(d, _)| format!("{name} depends on {d}"))
        .collect()
}

/// Dependencies without a version, and features that read the system.
fn loose(name: &str, manifest: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (dependency, value) in dependencies(manifest) {
        // What the workspace has, it has with a version.
        let versioned = value == "true"
            || value.contains("workspace = true")
            || value.chars().any(|c| c.is_ascii_digit()) && !value.contains("\"*\"");
        wrong.extend((!versioned).then(|| format!("{name}: {dependency} has no version")));
        let feature = FEATURES
            .iter()
            .find(|f| value.contains(&format!("\"{f}\"")));
        wrong.extend(feature.map(|f| format!("{name}: {dependency} has the feature {f}")));
    }
    wrong
}

#[test]
fn the_five_crates_start_nothing_and_look_nothing_up() {
    let mut wrong = Vec::new();
    for crate_name in ["stats", "record", "schedule", "judge", "report"] {
        let folder = format!("crates/{crate_name}");
        wrong.extend(
            below(&[&format!("{folder}/src")], &[".rs"])
                .iter()
                .flat_map(|(name, text)| impure(name, text)),
        );
        let manifests: Vec<Source> = below(&[&folder], &["Cargo.toml"]);
        wrong.extend(
            manifests
                .iter()
                .flat_map(|(name, text)| not_allowed(name, text)),
        );
    }
    none("not pure", &wrong);
}

#[test]
fn only_one_crate_touches_the_file_system() {
    let mut sources = below(&["src", "crates"], &[".rs"]);
    sources.retain(|(name, _)| name.contains("src/"));
    let wrong: Vec<String> = sources
        .iter()
        .flat_map(|(name, text)| around_files(name, text))
        .collect();
    none("around crates/files", &wrong);
}

#[test]
fn every_dependency_says_its_version() {
    let mut wrong = Vec::new();
    for (name, text) in below(&["crates"], &["Cargo.toml"]) {
        wrong.extend(loose(&name, &text));
    }
    let own = std::fs::read_to_string(crate::source::root().join("Cargo.toml")).unwrap();
    wrong.extend(loose("Cargo.toml", &own));
    none("dependencies", &wrong);
}

#[test]
fn what_is_not_pure_is_found() {
    assert_eq!(
        impure(
            "crates/judge/src/x.rs",
            "let t = std::time::Instant::now();\n"
        )
        .len(),
        2
    );
    assert_eq!(
        around_files("src/x.rs", "use std::fs;\nlet a = File::open(path);\n").len(),
        2
    );
    assert!(around_files("crates/files/src/x.rs", "use std::fs;\n").is_empty());
    assert!(
        around_files(
            "src/x.rs",
            "use std::os::unix::fs::MetadataExt;\n// std::fs\n"
        )
        .is_empty()
    );
    assert!(
        impure(
            "crates/record/src/x.rs",
            "// std::env\nlet a = \"std::process\";\n"
        )
        .is_empty()
    );
    assert_eq!(
        not_allowed("x", "[dependencies]\nrustix = \"1\"\n"),
        ["x depends on rustix"]
    );
    assert_eq!(
        loose("x", "[dependencies]\na = \"*\"\nb.workspace = true\n"),
        ["x: a has no version"]
    );
    assert_eq!(
        loose(
            "x",
            "[dev-dependencies]\nrand = { version = \"1\", features = [\"os_rng\"] }\n"
        )
        .len(),
        1
    );
}
