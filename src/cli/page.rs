//! Pages: one beside each run, and one wherever somebody wants it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use record::claim::Answers;
use record::folder::RunFolder;
use record::summary::Summary;
use report::view::View;

use super::{runs_folder, write};

/// A run's page in its folder.
const PAGE: &str = "report.html";
/// Characters of a path that fit a line of the first screen.
const LONGEST: usize = 62;

/// Where a page is written to.
#[derive(Debug, Args)]
pub(super) struct PageArgs {
    /// Also write the page to this file: one file that needs no network. Each run has one in its folder already.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Let --html replace a file; and measure beside another run that is measuring on this machine, which marks both.
    #[arg(long)]
    pub(super) force: bool,
}

impl PageArgs {
    /// Refuses a file that may not be written, before time is spent on measuring.
    pub(super) fn check(&self) -> Result<()> {
        self.html.as_ref().map_or(Ok(()), |path| write::may_write(path, self.force))
    }

    /// Writes the page where one is asked for; says whether one was.
    pub(super) fn write(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.html.as_ref().map_or(Ok(()), |path| export(path, self.force, &text()))
    }
}

/// How a run is called on the command line, where its id alone would not find it: one that is not among the kept runs.
pub(super) fn called(folder: &RunFolder) -> Option<String> {
    let kept = folder.path().parent() == Some(&runs_folder());
    (!kept).then(|| folder.path().display().to_string())
}

/// The page of a run.
pub(super) fn of_run(summary: &Summary, folder: &RunFolder) -> String {
    let mut view = View::of(summary);
    if let Some(name) = called(folder) {
        view.called(&name);
    }
    report::html::page(&view, summary)
}

/// The page of answers to claims.
pub(super) fn of_claims(answers: &Answers) -> String {
    report::html::claims(answers)
}

/// Puts a page into a run's folder. A run whose page cannot be written is a run all the same: that is said, and no more.
pub(super) fn keep(folder: &RunFolder, text: &str) {
    if let Err(error) = folder.write_text(PAGE, text) {
        eprintln!("this run has no page: {error:#}");
    }
}

/// Where the page of a run lies, if it has one; a path that fits no screen is told by the folder, which is printed anyway.
pub(super) fn beside(folder: &RunFolder) -> Option<String> {
    let path = folder.file(PAGE);
    let full = path.display().to_string();
    path.is_file().then(|| if full.chars().count() <= LONGEST { full } else { format!("{PAGE} in the run's folder") })
}

/// Writes a page where somebody asked for it.
pub(super) fn export(path: &Path, force: bool, text: &str) -> Result<()> {
    write::write(path, force, |out| Ok(out.write_all(text.as_bytes())?))
}
