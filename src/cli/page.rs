//! Pages: one beside each run, and one wherever somebody wants it.

use super::{output, runs_folder};
use anyhow::Result;
use clap::Args;
use record::folder::{PAGE, RunFolder};
use record::{claim::Answers, published::Published, summary::Summary};
use std::path::{Path, PathBuf};

/// Characters of a path that fit a line of the first screen.
const LONGEST: usize = 62;

/// Options of a page.
#[derive(Clone, Debug, Args)]
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
        self.html.as_ref().map_or(Ok(()), |path| output::may_write(path, self.force))
    }

    /// Writes the page where one is asked for; says whether one was.
    pub(super) fn write(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.html.as_ref().map_or(Ok(()), |path| export(path, self.force, &text()))
    }
}

/// Name of a run on the command line, where its id alone would not find it: one that is not among the kept runs.
pub(super) fn called(folder: &RunFolder) -> Option<String> {
    let kept = folder.path().parent() == Some(&runs_folder());
    (!kept).then(|| folder.path().display().to_string())
}

/// The page of a run, with the tables of these articles.
pub(super) fn of_run(summary: &Summary, folder: &RunFolder, articles: &[&Published]) -> String {
    let mut document = report::view::page(summary, called(folder).as_deref());
    document.sections.extend(report::published::sections(articles, summary));
    report::html::page(&document, report::html::of_run(summary))
}

pub(super) fn of_claims(answers: &Answers) -> String {
    report::html::page(&report::claims::document(answers, false), report::html::rounded(answers))
}

/// Puts a page into a run's folder. A run whose page cannot be written is a run all the same: that is said, and no more.
pub(super) fn keep(folder: &RunFolder, text: &str) {
    if let Err(error) = folder.write_text(PAGE, text) {
        remark!("this run has no page: {error:#}");
    }
}

/// Path of a run's page, if any; a path too long for a screen is left out, since the folder is printed anyway.
pub(super) fn beside(folder: &RunFolder) -> Option<String> {
    let path = folder.file(PAGE);
    let full = path.display().to_string();
    path.is_file().then(|| if full.chars().count() <= LONGEST { full } else { format!("{PAGE} in the run's folder") })
}

pub(super) fn export(path: &Path, force: bool, text: &str) -> Result<()> {
    output::write(path, force, |out| Ok(out.write_all(text.as_bytes())?))
}
