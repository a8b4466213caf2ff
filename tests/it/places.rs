//! Places for which Pagewise was not made say what they are in one sentence. Other kernels and another distribution are played by
//! files mounted over those of the machine, in a mount namespace; refused calls by a real filter; targets by the build script.

use crate::denied::deny;
use crate::support::place::Place;
use crate::support::skips::skip;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const RELEASE: &str = "/proc/sys/kernel/osrelease";
const VERSION: &str = "/proc/sys/kernel/version";

/// The output of the program where these files have these texts; none where no namespace can be made.
fn played(place: &Place, files: &[(&str, &str)], words: &[&str]) -> Option<Output> {
    let mut script = String::new();
    for (at, (path, text)) in files.iter().enumerate() {
        let file = place.file(&format!("played-{at}"));
        std::fs::write(&file, text).unwrap();
        script += &format!("mount --bind '{}' {path} && ", file.display());
    }
    let namespace = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]);
        command
    };
    let can = namespace().arg(format!("{script}true")).output();
    if !can.is_ok_and(|output| output.status.success()) {
        skip("no file can be mounted in a namespace here");
        return None;
    }
    let plain = place.command(words);
    let mut command = namespace();
    command.arg(format!("{script}exec \"$@\"")).arg("sh");
    command.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(command.output().unwrap())
}

/// What `doctor` says of the place.
fn places(output: &Output) -> Vec<Value> {
    let doctor: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    doctor["places"].as_array().unwrap().clone()
}

/// One sentence on standard error, exit code 1, nothing launched and no run kept.
fn refuses(place: &Place, output: &Output, start: &str) {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with(&format!("pagewise: {start}")), "{error}");
    // It is wrapped to the width of the terminal.
    let mut further = error.lines().skip(1);
    assert!(further.all(|line| line.starts_with("  ")), "{error}");
    assert!(output.stdout.is_empty());
    assert!(!place.file("run").exists());
}

#[test]
fn kernels_that_cannot_measure_are_refused_before_any_launch() {
    for (files, start) in [
        (
            &[
                (RELEASE, "4.4.0"),
                (VERSION, "#1 SMP Sun Jan 10 15:06:54 PST 2016"),
            ][..],
            "this is gVisor",
        ),
        (&[(RELEASE, "4.19.0-gvisor")], "this is gVisor"),
        (&[(RELEASE, "4.4.0-19041-Microsoft")], "this is WSL 1"),
    ] {
        let place = Place::new();
        let run = place.file("run").display().to_string();
        let words = ["run", "fault/touch", "--budget", "1s", "--out", &run];
        let Some(output) = played(&place, files, &words) else {
            return;
        };
        refuses(&place, &output, start);
        let output = played(&place, files, &["try", "--", "true"]).unwrap();
        refuses(&place, &output, start);
        let doctor = played(&place, files, &["doctor", "--json"]).unwrap();
        let found = places(&doctor);
        assert!(
            found.len() == 1 && found[0]["measures"] == false,
            "{found:?}"
        );
        // What launches nothing works there.
        let list = played(&place, files, &["list"]).unwrap();
        assert_eq!(list.status.code(), Some(0));
    }
}

#[test]
fn kernels_and_systems_that_measure_in_part_are_said_by_doctor_and_measure() {
    for (files, start) in [
        (
            &[(RELEASE, "5.15.167.4-microsoft-standard-WSL2")][..],
            "this is WSL 2",
        ),
        (&[(RELEASE, "5.4.0-216-generic")], "this is Linux 5.4"),
        (
            &[("/etc/os-release", "PRETTY_NAME=\"Alpine Linux v3.22\"\n")],
            "this is Alpine",
        ),
    ] {
        let place = Place::new();
        let Some(doctor) = played(&place, files, &["doctor", "--json"]) else {
            return;
        };
        let found = places(&doctor);
        assert!(
            found.iter().any(|found| found["measures"] == true
                && found["what"].as_str().unwrap().starts_with(start)),
            "{found:?}"
        );
        let listed = played(&place, files, &["run", "fault/touch", "--dry-run"]).unwrap();
        assert_eq!(listed.status.code(), Some(0), "{listed:?}");
    }
}

#[test]
fn an_ordinary_place_is_not_mentioned() {
    let place = Place::new();
    let files = [
        (RELEASE, "6.12.0-1-amd64"),
        ("/etc/os-release", "PRETTY_NAME=\"Debian\"\n"),
    ];
    let Some(doctor) = played(&place, &files, &["doctor", "--json"]) else {
        return;
    };
    let container = |found: &Value| found["what"].as_str().unwrap().contains("seccomp");
    let found = places(&doctor);
    assert!(found.iter().all(container), "{found:?}");
}

#[test]
fn without_pidfd_open_nothing_is_launched() {
    let place = Place::new();
    let Some(deny) = deny(place.path()) else {
        return;
    };
    for error in ["enosys", "eperm"] {
        let run = place.file("run").display().to_string();
        let plain = place.command(&["run", "fault/touch", "--budget", "1s", "--out", &run]);
        let mut command = Command::new(&deny);
        command.args([error, "pidfd_open", "--"]);
        command.arg(plain.get_program()).args(plain.get_args());
        let output = command
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .unwrap();
        refuses(&place, &output, "a seccomp filter refuses pidfd_open");
    }
}

#[test]
fn targets_that_cannot_measure_are_refused_by_the_build_in_one_sentence() {
    let place = Place::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = place.file("build-script");
    let built = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(root.join("build.rs"))
        .current_dir(root)
        .status();
    if !built.is_ok_and(|status| status.success()) {
        skip("there is no rustc here");
        return;
    }
    for (system, bits, said) in [
        ("macos", "64", "and this is macOS"),
        ("windows", "64", "in WSL 2"),
        ("linux", "32", "64-bit programs"),
        ("linux", "64", ""),
    ] {
        let output = Command::new(&script)
            .current_dir(root)
            .env("CARGO_CFG_TARGET_OS", system)
            .env("CARGO_CFG_TARGET_POINTER_WIDTH", bits)
            .env("OUT_DIR", place.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("cargo::error="))
            .collect();
        assert!(output.status.success(), "{system} {bits}");
        assert_eq!(errors.len(), usize::from(!said.is_empty()), "{errors:?}");
        assert!(
            errors.iter().all(|error| error.contains(said)),
            "{errors:?}"
        );
        assert_eq!(place.file("carried.rs").exists(), said.is_empty());
    }
}
