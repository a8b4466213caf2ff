//! Another revision of a user's file, checked out beside the one that is there.

use crate::worker::programs;
use anyhow::{Context, Result, ensure};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A worktree of a revision. It ends with this value; where the process is killed, git prunes what it knows of it.
pub struct Worktree {
    git: PathBuf,
    top: PathBuf,
    path: PathBuf,
    /// The file in it.
    pub file: PathBuf,
}

impl Worktree {
    /// Checks a revision out into a folder that is not there yet, whole: a file may include what is beside its own folder.
    /// Errors: there is no git, no repository or no such revision, or the file is not in it.
    pub fn add(file: &Path, revision: &str, path: PathBuf) -> Result<Worktree> {
        let git = programs::find("git").context("--base needs git")?;
        let file = file
            .canonicalize()
            .with_context(|| format!("there is no file {}", file.display()))?;
        let above = file.parent().unwrap_or(&file);
        let top = run(
            &git,
            above,
            &["rev-parse", "--show-toplevel"].map(OsStr::new),
        )
        .with_context(|| format!("{} is in no git repository", file.display()))?;
        let top = PathBuf::from(top).canonicalize()?;
        let below = file.strip_prefix(&top)?.to_owned();
        let commit = format!("{revision}^{{commit}}");
        let named = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &commit,
        ];
        let commit = run(&git, &top, &named.map(OsStr::new))
            .ok()
            .with_context(|| format!("there is no revision {revision:?}"))?;
        let mut arguments = ["worktree", "add", "--detach", "--quiet"]
            .map(OsStr::new)
            .to_vec();
        arguments.extend([path.as_os_str(), OsStr::new(&commit)]);
        run(&git, &top, &arguments).with_context(|| format!("{revision} cannot be checked out"))?;
        let worktree = Worktree {
            file: path.join(&below),
            git,
            top,
            path,
        };
        ensure!(
            worktree.file.is_file(),
            "{} has no file {}",
            revision,
            below.display()
        );
        Ok(worktree)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        let arguments = ["worktree", "remove", "--force"].map(OsStr::new);
        let arguments = [&arguments[..], &[self.path.as_os_str()]].concat();
        let _ = run(&self.git, &self.top, &arguments);
    }
}

/// What git answers in a folder, without its last line's end. No hook of the repository runs.
fn run(git: &Path, folder: &Path, arguments: &[&OsStr]) -> Result<String> {
    let mut command = Command::new(git);
    programs::settle(&mut command);
    command.args([
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-C",
    ]);
    command.arg(folder).args(arguments);
    let output = programs::answer(&mut command, Stdio::null())?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git: {}", message.trim());
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}
