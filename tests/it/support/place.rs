//! What the integration tests share: the binary, folders of their own, the canary. Nothing of the user's is touched.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A place of one test: its own runs, its own temporary folder. Workers are unpacked once for all tests.
pub struct Place {
    folder: TempDir,
}

impl Default for Place {
    fn default() -> Place {
        Place::new()
    }
}

/// What a command did.
pub struct Said {
    /// Exit status; 128 + n where signal n ended it.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in ["data", "tmp", "home", "runtime"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Place { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// What a reader of the pages has: `pagewise` in `bin`, this repository's snippets, and a log of so many lines.
    pub fn furnish(&self, lines: usize) {
        let snippets = Path::new(env!("CARGO_MANIFEST_DIR")).join("snippets");
        std::fs::create_dir(self.file("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pagewise"), self.file("bin/pagewise"))
            .unwrap();
        std::os::unix::fs::symlink(snippets, self.file("snippets")).unwrap();
        let lines = (0..lines).map(|n| format!("2026-11-21T{n:09} GET /index.html 200 1234\n"));
        std::fs::write(self.file("access.log"), lines.collect::<String>()).unwrap();
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// `pagewise` with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        self.settle(&mut command);
        command.args(arguments);
        command
    }

    /// Gives any program the environment of this place.
    pub fn settle(&self, command: &mut Command) {
        command
            .env("XDG_DATA_HOME", self.file("data"))
            .env("XDG_CACHE_HOME", cache());
        command
            .env("HOME", self.file("home"))
            .env("TMPDIR", self.file("tmp"))
            .env("XDG_RUNTIME_DIR", self.file("runtime"));
        command.env("COLUMNS", "100");
        // Tests run at the same time, each in a machine of its own as far as runs are concerned.
        command.env("PAGEWISE_LOCK", self.path());
    }

    /// `pagewise --worker CANARY` with these arguments; the canary does one thing wrong.
    pub fn canary(&self, lie: &str, arguments: &[&str]) -> Command {
        let worker = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/canary.sh");
        let mut command = self.command(&["--worker", worker]);
        command
            .args(arguments)
            .env("COLUMNS", "1000")
            .env("CANARY_LIE", lie)
            .env("CANARY_PLACE", self.path());
        command.env("CANARY_WORKER", native_worker(self));
        command
    }

    /// A folder whose experiment `fault` is the carried one, but for one cell of each method in the conformance suite.
    pub fn small_experiments(&self) -> String {
        let carried = pagewise::worker::carried::EXPERIMENTS
            .iter()
            .find(|(path, _)| path.ends_with("fault.toml"))
            .unwrap()
            .1;
        let mut fault: toml::Table = toml::from_str(carried).unwrap();
        for (_, parameter) in fault["parameters"].as_table_mut().unwrap() {
            let first = parameter.get("check").unwrap_or(&parameter["default"])[0].clone();
            parameter
                .as_table_mut()
                .unwrap()
                .insert("check".to_owned(), toml::Value::Array(vec![first]));
        }
        let folder = self.file("experiments");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("fault.toml"), toml::to_string(&fault).unwrap()).unwrap();
        folder.to_str().unwrap().to_owned()
    }

    /// Runs `pagewise` to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        said(&mut self.command(arguments))
    }

    /// What temporary folders, shared memory and this place still hold of runs.
    pub fn leftovers(&self, run: &Path) -> Vec<PathBuf> {
        let id = std::fs::read_to_string(run.join("plan.json")).ok();
        let id = id.and_then(|text| {
            Some(
                serde_json::from_str::<Value>(&text).ok()?["run"]
                    .as_str()?
                    .to_owned(),
            )
        });
        let of_run = |path: &Path| {
            id.as_ref()
                .is_some_and(|id| path.to_string_lossy().contains(&format!("pagewise-{id}")))
        };
        let mut found = entries(&self.file("tmp"));
        found.extend(
            entries(Path::new("/dev/shm"))
                .into_iter()
                .filter(|p| of_run(p)),
        );
        found.extend(
            entries(Path::new("/dev/mqueue"))
                .into_iter()
                .filter(|p| of_run(p)),
        );
        let unfinished = |p: &PathBuf| {
            let name = p
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            name.starts_with("scratch") || name.starts_with('.')
        };
        found.extend(entries(run).into_iter().filter(unfinished));
        found
    }
}

/// The program that is tested: `PAGEWISE_TESTED`, to see a test fail on another build, otherwise the one of this build.
pub fn program() -> std::ffi::OsString {
    std::env::var_os("PAGEWISE_TESTED").unwrap_or_else(|| env!("CARGO_BIN_EXE_pagewise").into())
}

/// What stands directly in a folder; nothing where there is none.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// The optimised native worker of this very build.
pub fn native_worker(place: &Place) -> PathBuf {
    let folder = place.file("native");
    std::fs::create_dir_all(&folder).unwrap();
    super::native::worker("c-O3", &folder)
}

/// Runs a command to its end.
pub fn said(command: &mut Command) -> Said {
    let output = command.output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: code(&output),
        out: text(&output.stdout),
        err: unfolded(&text(&output.stderr)),
    }
}

/// Each note of standard error as one line: what goes on in a further one is indented by two.
fn unfolded(text: &str) -> String {
    let mut whole = String::new();
    for line in text.split_inclusive('\n') {
        match line
            .strip_prefix("  ")
            .filter(|rest| !rest.starts_with(' ') && whole.ends_with('\n'))
        {
            Some(rest) => {
                whole.pop();
                whole += &format!(" {rest}");
            }
            None => whole += line,
        }
    }
    whole
}

fn code(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output
        .status
        .code()
        .unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0))
}

/// The cell of a summary whose name is this and whose parameters contain these.
pub fn cell<'a>(summary: &'a Value, name: &str, parameters: &[(&str, &str)]) -> &'a Value {
    let fits =
        |c: &&Value| c["cell"] == name && parameters.iter().all(|(k, v)| c["parameters"][*k] == *v);
    let found = summary["cells"]
        .as_array()
        .expect("a summary has cells")
        .iter()
        .find(fits);
    found.unwrap_or_else(|| panic!("no cell {name} {parameters:?} in {summary:#}"))
}

/// The reason of a cell's outcome, as reports say it.
pub fn reason(cell: &Value) -> String {
    report::phrases::reason(&serde_json::from_value(cell.clone()).expect("a cell has an outcome"))
}

/// Whether a cell has figures: trusted, or untrusted for nothing but a level (a law about a time), which noise may break.
pub fn is_measured(cell: &Value) -> bool {
    let reason = reason(cell);
    cell["status"] == "ok"
        || (cell["status"] == "untrusted"
            && ["_ns ", "the median is a disturbed one", "foreign_bytes"]
                .iter()
                .any(|w| reason.contains(w)))
}

/// Copies a program to where a test wants it. Another program writes the copy: a file that this process had open for writing
/// could still be open in a child that another test starts just then, and could not be executed.
pub fn install(from: &Path, to: &Path) {
    assert!(
        Command::new("install")
            .args(["-m", "755"])
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}
