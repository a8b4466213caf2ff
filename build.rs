//! Gathers the texts that the binary carries: experiments, published figures, claims, advice. A new one is a new file;
//! nothing here names one.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

/// A row of a table. The package's folder stands in it by the name of its variable, so that the table is the same wherever
/// it is made.
fn row(path: &str) -> String {
    let whole = format!(
        "concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?})",
        format!("/{path}")
    );
    format!("    ({path:?}, include_str!({whole})),\n")
}

/// A table `NAME: &[(path, text)]` of the files in a folder whose names end so. It is a static: a constant would be compiled anew
/// wherever it is
/// used, each time a text changes.
fn table(code: &mut String, name: &str, doc: &str, folder: &str, endings: &[&str]) {
    println!("cargo::rerun-if-changed={folder}");
    let entries = fs::read_dir(folder)
        .expect("a folder of texts")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = entries
        .filter(|path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            ending.is_some_and(|ending| endings.contains(&ending))
        })
        .collect();
    files.sort();
    writeln!(code, "/// {doc}\npub static {name}: &[(&str, &str)] = &[").unwrap();
    for path in files {
        code.push_str(&row(path.to_str().expect("a path in UTF-8")));
    }
    code.push_str("];\n");
}

/// The table of the snippets, which lie in a folder for each experiment.
fn snippets(code: &mut String) {
    println!("cargo::rerun-if-changed=snippets");
    code.push_str("/// The calls of a way, by path below snippets/.\npub static SNIPPETS: &[(&str, &str)] = &[");
    let entries = |path: PathBuf| {
        let all = fs::read_dir(path)
            .expect("a folder of snippets")
            .map(|entry| entry.expect("an entry").path());
        let mut all: Vec<PathBuf> = all.collect();
        all.sort();
        all
    };
    for path in entries(PathBuf::from("snippets"))
        .into_iter()
        .filter(|p| p.is_dir())
        .flat_map(entries)
    {
        code.push_str(&row(path.to_str().expect("a path in UTF-8")));
    }
    code.push_str("];\n");
}

/// The reason why no program for this system can measure anything, with what works instead.
fn unsupported(system: &str, pointer_bits: &str) -> Option<&'static str> {
    match (system, pointer_bits) {
        ("macos", _) => Some(
            "Pagewise measures Linux, and this is macOS: run it in a virtual machine with Linux (Lima, UTM, OrbStack), which then is \
             what is measured",
        ),
        ("linux", "64") => None,
        ("linux", _) => Some(
            "Pagewise measures 64-bit programs: build it for x86_64 or aarch64, which a 64-bit kernel runs beside 32-bit programs",
        ),
        _ => Some(
            "Pagewise measures Linux: build and run it there, on Windows in WSL 2, elsewhere in a virtual machine",
        ),
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = ["CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_POINTER_WIDTH"]
        .map(|name| env::var(name).expect("cargo sets it"));
    if let Some(reason) = unsupported(&target[0], &target[1]) {
        println!("cargo::error={reason}");
        return;
    }
    let mut code = String::new();
    table(
        &mut code,
        "EXPERIMENTS",
        "The experiments, by path.",
        "experiments",
        &["toml"],
    );
    table(
        &mut code,
        "PUBLISHED",
        "Published figures, by path.",
        "published",
        &["toml"],
    );
    table(
        &mut code,
        "SETTINGS",
        "Settings that can be tried on a program, by path.",
        "settings",
        &["toml"],
    );
    table(
        &mut code,
        "CLAIMS",
        "Other people's claims, by path.",
        "claims",
        &["toml"],
    );
    table(
        &mut code,
        "TOPICS",
        "Questions that advice answers, by path.",
        "advice",
        &["toml"],
    );
    table(
        &mut code,
        "STATES",
        "States of the machine, by path.",
        "states",
        &["toml"],
    );
    table(
        &mut code,
        "PROGRAMS",
        "Programs that do what the articles did, by path.",
        "published/programs",
        &["c", "go", "java"],
    );
    snippets(&mut code);
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("carried.rs"), code).expect("the table of carried files");
}
