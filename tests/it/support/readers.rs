//! Other people's programs that read what Pagewise writes, installed once below the build's folder by the ordinary
//! clients. Where that cannot be done, the reason is told and the test that needs them is skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::skips::skip;

/// Packages of Python that read our files.
const PACKAGES: [&str; 6] = [
    "duckdb",
    "jsonschema",
    "junitparser",
    "matplotlib",
    "numpy",
    "prometheus_client",
];
/// What notebooks load runs into.
const FRAMES: [&str; 3] = ["duckdb", "pandas", "polars"];
/// benchstat has no releases; this is one of its states.
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";

fn place() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readers");
    std::fs::create_dir_all(&place).unwrap();
    place
}

/// Runs a command whose failure is a reason; the last line that it wrote is the cause.
fn try_run(what: &str, command: &mut Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("{what}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(output),
        false => Err(format!(
            "{what}: {}",
            text.trim().lines().last().unwrap_or("it failed")
        )),
    }
}

/// Makes something once for all tests, or gives the reason why it cannot be had.
fn once(
    cell: &'static OnceLock<Result<PathBuf, String>>,
    make: impl FnOnce() -> Result<PathBuf, String>,
) -> Option<PathBuf> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    match cell.get_or_init(make) {
        Ok(path) => Some(path.clone()),
        Err(reason) => {
            skip(reason);
            None
        }
    }
}

/// A Python that has all [`PACKAGES`].
pub fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&PYTHON, || python_with("python", &PACKAGES))
}

/// A Python that has all [`FRAMES`].
pub fn frames() -> Option<PathBuf> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&PYTHON, || python_with("frames", &FRAMES))
}

/// A Python with these packages in a folder of its own, made where it is not there yet.
fn python_with(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = place().join(name);
    let python = folder.join("bin/python");
    let imports = format!("import {}", packages.join(","));
    if Command::new(&python)
        .args(["-c", &imports])
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return Ok(python);
    }
    try_run(
        "python3 -m venv",
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "--quiet", "--retries", "1", "install"])
        .args(packages);
    try_run("pip install", &mut pip)?;
    Ok(python)
}

/// benchstat, of golang.org/x/perf.
pub fn benchstat() -> Option<PathBuf> {
    static BENCHSTAT_AT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&BENCHSTAT_AT, || {
        let program = place().join("bin/benchstat");
        if !program.is_file() {
            let mut go = Command::new("go");
            go.args(["install", BENCHSTAT])
                .env("GOBIN", place().join("bin"))
                .env("GOFLAGS", "-mod=mod");
            try_run("go install benchstat", go.current_dir(place()))?;
        }
        Ok(program)
    })
}

/// The folder of hyperfine's own scripts, which are part of its crate.
pub fn hyperfine_scripts() -> Option<PathBuf> {
    static SCRIPTS: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&SCRIPTS, || {
        let folder = place().join("hyperfine");
        let scripts = folder.join("vendor/hyperfine/scripts");
        if !scripts.join("plot_whisker.py").is_file() {
            std::fs::create_dir_all(folder.join("src")).unwrap();
            let manifest = "[package]\nname = \"x\"\nversion = \"0.0.0\"\n[dependencies]\nhyperfine = \"=1.21.0\"\n[workspace]\n";
            std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            std::fs::write(folder.join("src/lib.rs"), "").unwrap();
            let mut cargo = Command::new("cargo");
            cargo
                .args(["vendor", "--quiet", "vendor"])
                .env("CARGO_NET_RETRY", "1");
            try_run("cargo vendor hyperfine", cargo.current_dir(&folder))?;
        }
        Ok(scripts)
    })
}

/// A program of a Debian package that is unpacked and not installed, so that it starts no service.
fn unpacked(package: &str, program: &str) -> Result<PathBuf, String> {
    let folder = place().join(package);
    let unpacked = folder.join("usr/bin").join(program);
    if !unpacked.is_file() {
        std::fs::create_dir_all(&folder).unwrap();
        // A download by root gives its rights up, which the folder does not let it.
        let mut apt = Command::new("apt-get");
        apt.args([
            "-qq",
            "-o",
            "APT::Sandbox::User=root",
            "-o",
            "Acquire::Retries=1",
            "download",
            package,
        ]);
        try_run("apt-get download", apt.current_dir(&folder))?;
        let script = "dpkg-deb -x ./*.deb . && rm ./*.deb";
        try_run(
            "dpkg-deb",
            Command::new("sh").args(["-c", script]).current_dir(&folder),
        )?;
    }
    try_run(program, Command::new(&unpacked).arg("--version")).map(|_| unpacked)
}

/// promtool, of Prometheus.
pub fn promtool() -> Option<PathBuf> {
    static PROMTOOL: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&PROMTOOL, || unpacked("prometheus", "promtool"))
}

/// Prometheus' exporter of a node, whose textfile collector takes our metrics.
pub fn node_exporter() -> Option<PathBuf> {
    static EXPORTER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&EXPORTER, || {
        unpacked("prometheus-node-exporter", "prometheus-node-exporter")
    })
}
