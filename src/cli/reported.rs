//! The verb `report`: a kept run once more.

use super::export::{self, ExportRequest, known};
use super::opened::{Opened, code_of_run, open_any};
use super::run::{ShownArgs, articles, nothing_measured, print_run};
use super::{named, output, print_document, print_json};
use crate::machine::threads::{MOST_READERS, side_by_side};
use crate::run::session::{judged, replay};
use anyhow::{Result, bail};
use clap::Args;
use record::{folder::RunFolder, summary::Summary};
use report::view::{RunTrend, Wanted, trend};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// An id, a folder's path, `last` or tag:NAME, whose newest run is taken.
    pub(super) run: String,
    /// The tables of these experiments only.
    // Its own id: the global option for further experiments has the field's name.
    #[arg(id = "only", value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Print its summary as JSON instead.
    #[arg(long, conflicts_with_all = ["warnings", "full", "ascii"])]
    pub(super) json: bool,
    /// List what was seen that may disturb, and what to do about it.
    #[arg(long)]
    warnings: bool,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
    /// Write it in this format for other programs instead: benchfmt, hyperfine, github, openmetrics, csv,
    /// ndjson, markdown, junit.
    #[arg(long, value_name = "FORMAT", value_parser = export::formats(), hide_possible_values = true,
          conflicts_with_all = ["json", "warnings", "published", "explain_verdict", "html", "full", "ascii"])]
    format: Option<String>,
    /// The file that --format writes [default: standard output]. It appears when it is whole.
    #[arg(long, value_name = "FILE", requires = "format",
          conflicts_with_all = ["json", "warnings", "published", "explain_verdict", "html", "full", "ascii", "trend"])]
    out: Option<PathBuf>,
    /// Put the published figures of one article (P1 … P5), or of `all`, beside it.
    #[arg(long, value_name = "ID")]
    pub(super) published: Option<String>,
    /// Show the headline figures of all runs that RUN stands for, in their order: report --trend tag:main.
    #[arg(long, conflicts_with_all = ["json", "warnings", "published", "explain_verdict", "format"])]
    pub(super) trend: bool,
    /// Show how the headline verdict of a cell came about, as fault/thp or fault/thp@c-O3.
    #[arg(long, value_name = "CELL", conflicts_with_all = ["json", "published", "full", "ascii", "warnings", "html", "only"])]
    pub(super) explain_verdict: Option<String>,
}

impl ReportArgs {
    /// True if the answers of a run of claims are the report, and not its tables.
    pub(super) fn wants_answers(&self) -> bool {
        self.published.is_none() && self.experiments.is_empty() && !self.warnings
    }

    pub(super) fn export(&self) -> Option<ExportRequest<'_>> {
        Some(ExportRequest {
            run: &self.run,
            experiments: &self.experiments,
            format: self.format.as_deref()?,
            out: self.out.as_deref(),
            force: self.shown.page.force,
        })
    }

    /// Refuses what only a run of methods has, where a try or a profile was kept.
    pub(super) fn has_its_kind(&self, opened: &Opened) -> Result<()> {
        let given = [
            (!self.experiments.is_empty(), "tables of an experiment"),
            (self.shown.full, "--full"),
            (self.shown.ascii, "--ascii"),
            (self.warnings, "--warnings"),
            (self.published.is_some(), "--published"),
        ];
        if let (Some(kind), Some((_, name))) =
            (opened.program(), given.iter().find(|(given, _)| *given))
        {
            bail!("{} is {kind}, which has no {name}", self.run);
        }
        Ok(())
    }
}

pub(super) fn report_run(folder: &RunFolder, arguments: &ReportArgs) -> Result<u8> {
    let (_, summary) = replay(folder)?;
    known(&summary, &arguments.experiments)?;
    let wanted = Wanted {
        experiments: arguments.experiments.clone(),
        full: arguments.shown.full,
        warnings: arguments.warnings,
        ..Wanted::default()
    };
    let articles = articles(arguments.published.as_deref())?;
    arguments
        .shown
        .page
        .write(|| output::of_run(&summary, folder, &articles))?;
    if arguments.json {
        print_json(&summary)?
    } else {
        print_run(&summary, folder, wanted, &arguments.shown, &articles)?
    };
    Ok(code_of_run(&summary, nothing_measured(&summary)))
}

/// Prints the headline figures of several kept runs in the order of their time.
pub(super) fn report_trend(arguments: &ReportArgs) -> Result<u8> {
    let (mut runs, mut code) = (RunTrend::default(), 0);
    let names = named::named(&arguments.run)?;
    // In pieces, because a summary is larger than the figures that are kept of it.
    for piece in names.chunks(MOST_READERS) {
        for summary in side_by_side(piece, MOST_READERS, |name| trend_summary(name)) {
            let summary = summary?;
            code = code_of_run(&summary, code);
            runs.add(summary);
        }
    }
    if runs.count() < 2 {
        bail!(
            "--trend takes several runs: give them a tag (pagewise runs tag RUN NAME), then pagewise report --trend tag:NAME"
        );
    }
    runs.newest()
        .map_or(Ok(()), |newest| known(newest, &arguments.experiments))?;
    let document = trend(&runs, &arguments.experiments, &arguments.run);
    let newest = || {
        runs.newest()
            .map_or(serde_json::Value::Null, report::html::of_run)
    };
    arguments
        .shown
        .page
        .write(|| report::html::page(&document, newest()))?;
    output::print_styled(&output::text(
        &document,
        arguments.shown.ascii,
        arguments.shown.full,
    ))?;
    Ok(code)
}

fn trend_summary(name: &str) -> Result<Summary> {
    match open_any(name)? {
        Opened::Run(folder, _) => judged(&folder),
        program @ Opened::Command(_) => bail!(
            "{name} is {}, which has no --trend",
            program.program().unwrap_or_default()
        ),
    }
}

/// Prints how the headline verdicts of a kept run's cells came about.
pub(super) fn explain_verdict(name: &str, cell: &str) -> Result<u8> {
    let folder = named::folder(name)?;
    print_document(&report::verdict::document(&judge::explained::explain(
        &folder, cell,
    )?))
}
