//! Results of studies as every verb prints them: a page where one is requested, then JSON or a document, then the exit code.

use super::output::{self, ShownArgs, print_json, print_styled};
use super::runs_folder;
use crate::plan::{claims, published};
use crate::run::signals;
use anyhow::Result;
use record::claim::{Answers, Word};
use record::command::{ArmStatus, CommandSummary, KeptCommand};
use record::folder::{PAGE, RunFolder};
use record::json::ToJson;
use record::summary::{Summary, Verdict};
use record::{outcome::Status, published::Published};
use report::{document::Document, published::Articles, view::Wanted};

/// Characters of a path that fit a line of the first screen.
const LONGEST: usize = 62;

/// Exit code where nothing could be measured.
const NOT_MEASURED: u8 = 4;

/// Result of a study.
pub(super) enum Printed<'a> {
    Run {
        folder: &'a RunFolder,
        summary: &'a Summary,
        /// Articles whose figures are shown next to the run's.
        articles: &'a [&'static Published],
        wanted: Wanted,
    },
    Claims {
        /// Absent where kept runs answer everything.
        folder: Option<&'a RunFolder>,
        answers: &'a Answers,
    },
    Program {
        kept: &'a KeptCommand,
        summary: &'a CommandSummary,
    },
}

impl Printed<'_> {
    /// Writes the requested page, and prints the result as JSON or as a document.
    pub(super) fn print(&self, json: bool, shown: &ShownArgs) -> Result<()> {
        shown.page.write(|| self.page())?;
        if json {
            match self {
                Printed::Run { summary, .. } => print_json(&summary.to_json()?)?,
                Printed::Claims { answers, .. } => print_json(&answers.to_json()?)?,
                Printed::Program { summary, .. } => print_json(&summary.to_json()?)?,
            };
            return Ok(());
        }
        let full = match self {
            Printed::Run { wanted, .. } => wanted.full,
            Printed::Claims { .. } | Printed::Program { .. } => shown.full,
        };
        let mut text = output::text(&self.document(full), shown.ascii, full);
        for line in self.places() {
            text.push(line);
        }
        print_styled(&text).map(drop)
    }

    /// The result as a page.
    pub(super) fn page(&self) -> String {
        match self {
            Printed::Run {
                folder,
                summary,
                articles,
                ..
            } => {
                let document = report::view::page(summary, called(folder).as_deref());
                let document = report::published::page(document, shelf(articles), summary);
                report::html::page(&document, report::html::of_run(summary))
            }
            Printed::Claims { answers, .. } => {
                report::html::page(&self.document(false), report::html::rounded(*answers))
            }
            Printed::Program { summary, .. } => {
                report::html::page(&self.document(false), report::html::rounded(*summary))
            }
        }
    }

    /// Puts the page into the folder. A run whose page cannot be written is a run all the same: that is said, and no more.
    pub(super) fn keep_page(&self, folder: &RunFolder) {
        if let Err(error) = folder.write_text(PAGE, &self.page()) {
            remark!("this run has no page: {error:#}");
        }
    }

    fn document(&self, full: bool) -> Document {
        match self {
            Printed::Run {
                folder,
                summary,
                articles,
                wanted,
            } => {
                let wanted = Wanted {
                    run: called(folder),
                    page: page_in(folder),
                    ..wanted.clone()
                };
                let is_plain = !wanted.full && !wanted.doubt && wanted.experiments.is_empty();
                if is_plain && !articles.is_empty() {
                    return report::published::screen(shelf(articles), summary, &wanted);
                }
                let mut document = report::view::screen(summary, &wanted);
                let tables = report::published::sections(shelf(articles), summary);
                document.sections.extend(tables);
                document
            }
            Printed::Claims { answers, .. } => report::claims::document(answers, full),
            Printed::Program { summary, .. } => report::command::document(summary),
        }
    }

    /// Lines on the places of what was kept.
    fn places(&self) -> Vec<String> {
        match self {
            Printed::Run { wanted, .. } if wanted.doubt => Vec::new(),
            Printed::Run { folder, .. } => vec![output::kept_in("run", folder.path())],
            Printed::Claims { folder: None, .. } => Vec::new(),
            Printed::Claims {
                folder: Some(folder),
                ..
            } => {
                let page = page_in(folder).map(|page| format!("The page is {page}\n"));
                let kept = output::kept_in("run", folder.path());
                page.into_iter().chain([kept]).collect()
            }
            Printed::Program { kept, .. } => {
                vec![output::kept_in(kept.plan.kind.word(), &kept.path)]
            }
        }
    }

    /// Exit code of the verb that measured it: that of the signal; 3 where `strict` meets anything open or untrusted; 4
    /// where nothing could be measured.
    pub(super) fn exit_code(&self, stopped_by: Option<i32>, strict: bool) -> u8 {
        match stopped_by {
            Some(signal) => signals::exit_code(signal),
            None if strict && !self.is_decided() => 3,
            None => self.measured_code(),
        }
    }

    /// 4 where nothing could be measured.
    pub(super) fn measured_code(&self) -> u8 {
        let is_measured = match self {
            Printed::Run { summary, .. } => {
                let mut cells = summary.cells.iter();
                summary.cells.is_empty() || cells.any(|c| c.outcome.status == Status::Ok)
            }
            Printed::Claims { answers, .. } => {
                let mut answers = answers.answers.iter();
                answers.any(|a| a.word != Word::NotMeasurableHere)
            }
            Printed::Program { summary, .. } => match summary {
                CommandSummary::Try(summary) => summary.arms[0].status == ArmStatus::Ok,
                CommandSummary::Profile(summary) => summary.outcome == Status::Ok,
            },
        };
        if is_measured { 0 } else { NOT_MEASURED }
    }

    fn is_decided(&self) -> bool {
        match self {
            Printed::Run { summary, .. } => {
                let mut comparisons = summary.comparisons();
                summary.trusted
                    && comparisons.all(|(_, c)| c.contrast.verdict != Verdict::NotSettled)
            }
            Printed::Claims { answers, .. } => {
                let mut answers = answers.answers.iter();
                answers.all(|a| a.word != Word::Undecided)
            }
            Printed::Program { .. } => true,
        }
    }
}

/// Articles with the claims that the binary carries; these are known to be readable.
pub(super) fn shelf<'a>(articles: &'a [&'static Published]) -> Articles<'a> {
    Articles {
        articles,
        claims: claims::all().unwrap_or_default(),
        programs: published::texts(),
    }
}

/// Name of a run on the command line, where its id alone would not find it: one that is not among the kept runs.
fn called(folder: &RunFolder) -> Option<String> {
    let is_kept = folder.path().parent() == Some(&runs_folder());
    (!is_kept).then(|| folder.path().display().to_string())
}

/// Path of a run's page, if any; a path too long for a screen is left out, since the folder is printed anyway.
fn page_in(folder: &RunFolder) -> Option<String> {
    let path = folder.file(PAGE);
    if !path.is_file() {
        return None;
    }
    let full = path.display().to_string();
    Some(if full.chars().count() <= LONGEST {
        full
    } else {
        format!("{PAGE} in the run's folder")
    })
}
