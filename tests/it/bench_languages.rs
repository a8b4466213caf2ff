//! `bench` in other languages: the worked examples of examples/bench, a target of cargo bench, and Python's decorator.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, cell, is_measured, program, said};
use crate::support::skips::{skip, thorough};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/bench")
        .join(name)
}

/// Runs a compiler; false where it is not installed.
fn compiled(place: &Place, command: &mut Command) -> bool {
    let name = command.get_program().to_string_lossy().into_owned();
    match command
        .env("HOME", place.file("home"))
        .env("GOCACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache/go"))
        .output()
    {
        Err(_) => {
            skip(&format!("{name} is not installed"));
            false
        }
        Ok(output) => {
            assert!(
                output.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            true
        }
    }
}

fn measured(place: &Place, what: &str, functions: &[&str]) {
    let result = said(&mut place.command(&[
        "bench",
        what,
        "--launches",
        "3",
        "--budget",
        "60s",
        "--json",
    ]));
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    for function in functions {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        // A busy machine may disturb it; it ran, and came to the same as the others.
        let reason = crate::support::place::reason(cell);
        assert!(
            is_measured(cell) && !reason.contains("digest"),
            "{function}: {reason} {}",
            result.err
        );
    }
}

/// The functions of a library that this compiler makes.
fn library(compiler: &str, arguments: &[&str], source: &str, functions: &[&str]) {
    let place = Place::new();
    let library = place.file("libmine.so");
    let mut command = Command::new(compiler);
    command.args(arguments).arg(&library).arg(example(source));
    if compiled(&place, &mut command) {
        measured(
            &place,
            &format!("{}:{}", library.display(), functions.join(",")),
            functions,
        );
    }
}

#[test]
fn functions_in_cpp_are_measured() {
    library(
        "g++",
        &["-O2", "-shared", "-fPIC", "-o"],
        "mine.cpp",
        &["push_back", "reserve"],
    );
}

#[test]
fn functions_in_rust_are_measured() {
    library(
        "rustc",
        &["-O", "--crate-type", "cdylib", "--edition", "2024", "-o"],
        "mine.rs",
        &["grow", "reserve"],
    );
}

#[test]
fn functions_in_zig_are_measured() {
    let place = Place::new();
    let library = place.file("libmine.so");
    // The package ziglang of PyPI has the compiler where the system has none.
    let is_there = |program: &str, words: &[&str]| {
        Command::new(program)
            .args(words)
            .output()
            .is_ok_and(|o| o.status.success())
    };
    let mut command = if is_there("zig", &["version"]) {
        Command::new("zig")
    } else if is_there("python3", &["-m", "ziglang", "version"]) {
        let mut command = Command::new("python3");
        command.args(["-m", "ziglang"]);
        command
    } else {
        return skip("zig is not installed");
    };
    command
        .args(["build-lib", "-O", "ReleaseFast", "-dynamic", "-lc"])
        .arg(example("mine.zig"))
        .current_dir(place.path());
    let output = format!("-femit-bin={}", library.display());
    if compiled(
        &place,
        command
            .arg(output)
            .env("ZIG_GLOBAL_CACHE_DIR", place.file("home/zig")),
    ) {
        measured(
            &place,
            &format!("{}:grow,reserve", library.display()),
            &["grow", "reserve"],
        );
    }
}

#[test]
fn functions_in_go_are_measured() {
    if !thorough() {
        return;
    }
    library(
        "go",
        &["build", "-buildmode=c-shared", "-o"],
        "mine.go",
        &["grow", "reserve"],
    );
}

#[test]
fn functions_in_python_are_measured_by_the_decorator() {
    if !thorough() {
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("there is no python3");
    }
    let place = Place::new();
    let script = place.file("mine.py");
    std::fs::copy(example("mine.py"), &script).unwrap();
    measured(&place, script.to_str().unwrap(), &["joined", "added"]);
    assert!(
        !place.file("__pycache__").exists(),
        "compiled code is left beside the script"
    );
    std::fs::write(
        &script,
        "import pagewise\n\n\n@pagewise.bench\ndef wrong():\n    raise ValueError('no\\tdata')\n",
    )
    .unwrap();
    let result = said(&mut place.command(&[
        "bench",
        script.to_str().unwrap(),
        "--budget",
        "1s",
        "--json",
    ]));
    assert!(
        result.out.contains("ValueError: no data"),
        "{}{}",
        result.out,
        result.err
    );
}

#[test]
fn a_target_of_cargo_bench_is_measured_and_tested() {
    let place = Place::new();
    let cargo = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        place.settle(&mut command);
        command
            .args(words)
            .arg("--manifest-path")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("consumers/pagewise-bench/Cargo.toml"));
        command
            .arg("--target-dir")
            .arg(place.file("target"))
            .arg("--offline")
            .arg("--quiet")
            .env("PAGEWISE", program());
        command
    };
    let home = std::env::var_os("HOME").unwrap_or_default();
    let rustup =
        std::env::var_os("RUSTUP_HOME").unwrap_or_else(|| Path::new(&home).join(".rustup").into());
    let mut measured = cargo(&["bench", "--bench", "vectors"]);
    let result = said(measured.env("RUSTUP_HOME", &rustup).args([
        "--",
        "--launches",
        "3",
        "--budget",
        "60s",
        "--json",
        "--set",
        "elements=1000",
    ]));
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    for function in ["grow", "reserve"] {
        let cell = cell(
            &summary,
            &format!("bench/{function}@own"),
            &[("elements", "1000")],
        );
        assert!(is_measured(cell), "{function}: {}", cell["reason"]);
    }
    let tested = said(cargo(&["test", "--benches"]).env("RUSTUP_HOME", &rustup));
    assert!(
        tested.code == 0 && tested.out.contains("test grow ... ok"),
        "{}{}",
        tested.out,
        tested.err
    );
}
