//! The verb `report`: a kept run once more.

use super::answers::kept_answers;
use super::damage::{code_of_program, code_of_run};
use super::export::{self, ExportRequest, known};
use super::opened::{JudgedFolder, Judging, Opened, open_any};
use super::output::ShownArgs;
use super::{first_given, named, output, print_document, printed::Printed};
use crate::machine::threads::{MOST_READERS, side_by_side};
use crate::plan::{catalog, published};
use anyhow::{Result, bail};
use clap::Args;
use record::command::{CommandSummary, KeptCommand};
use record::{folder::RunFolder, kind::Kind, summary::Summary};
use report::view::{RunTrend, Wanted, trend};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// An id, a folder's path, `last` or tag:NAME, whose newest run is taken.
    run: String,
    /// The tables of these experiments only.
    // Its own id: the global option for further experiments has the field's name.
    #[arg(id = "only", value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Print its summary as JSON instead.
    #[arg(long, conflicts_with_all = ["doubt", "full", "ascii", "published"])]
    json: bool,
    /// Show how sure it is: its checks, what disturbed it, and what would help.
    #[arg(long, alias = "warnings")]
    doubt: bool,
    #[command(flatten)]
    shown: ShownArgs,
    /// Write it in this format for other programs instead: benchfmt, hyperfine, github, openmetrics, csv,
    /// ndjson, markdown, junit.
    #[arg(long, value_name = "FORMAT", value_parser = export::formats(), hide_possible_values = true,
          conflicts_with_all = ["json", "doubt", "published", "explain_verdict", "html", "full", "ascii"])]
    format: Option<String>,
    /// The file that --format writes [default: standard output]. It appears when it is whole.
    #[arg(long, value_name = "FILE", requires = "format",
          conflicts_with_all = ["json", "doubt", "published", "explain_verdict", "html", "full", "ascii", "trend"])]
    out: Option<PathBuf>,
    /// Put the published figures of one article (P1 … P5), or of `all`, beside it.
    #[arg(long, value_name = "ID")]
    published: Option<String>,
    /// Show the headline figures of all runs that RUN stands for, in their order: report --trend tag:main.
    #[arg(long, conflicts_with_all = ["json", "doubt", "published", "explain_verdict", "format"])]
    trend: bool,
    /// Show how the headline verdict of a cell came about, as fault/thp or fault/thp@c-O3.
    #[arg(long, value_name = "CELL", conflicts_with_all = ["json", "published", "full", "ascii", "doubt", "html", "only"])]
    explain_verdict: Option<String>,
}

impl ReportArgs {
    /// True if the answers of a run of claims are the report, and not its tables.
    fn wants_answers(&self) -> bool {
        self.published.is_none() && self.experiments.is_empty() && !self.doubt
    }

    fn export(&self) -> Option<ExportRequest<'_>> {
        Some(ExportRequest {
            run: &self.run,
            experiments: &self.experiments,
            format: self.format.as_deref()?,
            out: self.out.as_deref(),
            force: self.shown.page.force,
        })
    }

    /// Refuses what only a run of methods has, where a try or a profile was kept.
    fn has_its_kind(&self, opened: &Opened) -> Result<()> {
        let has_tables = matches!(opened, Opened::Program(kept) if kept.plan.kind == Kind::Profile);
        let given = [
            (!self.experiments.is_empty(), "tables of an experiment"),
            (self.shown.full && !has_tables, "--full"),
            (self.shown.ascii, "--ascii"),
            (self.doubt, "--doubt"),
            (self.published.is_some(), "--published"),
        ];
        if let (Some(kind), Some(name)) = (opened.program(), first_given(&given)) {
            bail!("{} is {kind}, which has no {name}", self.run);
        }
        Ok(())
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            experiments: self.experiments.clone(),
            full: self.shown.full,
            doubt: self.doubt,
            ..Wanted::default()
        }
    }
}

/// Prints a kept study again, whatever its kind.
pub(super) fn report(arguments: &ReportArgs) -> Result<u8> {
    if let Some(cell) = &arguments.explain_verdict {
        return explain_verdict(&arguments.run, cell);
    }
    if arguments.trend {
        return report_trend(arguments);
    }
    if let Some(request) = arguments.export() {
        return export::export(&request);
    }
    let opened = open_any(&arguments.run)?;
    arguments.has_its_kind(&opened)?;
    if arguments.wants_answers()
        && let Opened::Run(folder, kind) = &opened
        && let Some(answers) = kept_answers(folder, *kind)?
    {
        let printed = Printed::Claims {
            folder: Some(folder),
            answers: &answers,
        };
        printed.print(arguments.json, &arguments.shown)?;
        return Ok(printed.exit_code(None, false));
    }
    match opened.judge(Judging::Again)? {
        JudgedFolder::Program(kept, summary) => report_program(&kept, &summary, arguments),
        JudgedFolder::Run(folder, summary) => report_run(&folder, &summary, arguments),
    }
}

fn report_program(
    kept: &KeptCommand,
    summary: &CommandSummary,
    arguments: &ReportArgs,
) -> Result<u8> {
    let printed = Printed::Program { kept, summary };
    printed.print(arguments.json, &arguments.shown)?;
    Ok(code_of_program(kept, printed.measured_code()))
}

fn report_run(folder: &RunFolder, summary: &Summary, arguments: &ReportArgs) -> Result<u8> {
    known(summary, &arguments.experiments)?;
    let articles = match &arguments.published {
        Some(id) => published::named(id)?,
        None => published::of_plan(&folder.plan()?),
    };
    let printed = Printed::Run {
        folder,
        summary,
        articles: &articles,
        wanted: arguments.wanted(),
    };
    printed.print(arguments.json, &arguments.shown)?;
    Ok(code_of_run(summary, printed.measured_code()))
}

/// Prints the headline figures of several kept runs in the order of their time.
fn report_trend(arguments: &ReportArgs) -> Result<u8> {
    let (mut runs, mut code) = (RunTrend::default(), 0);
    let names = named::named(&arguments.run)?;
    // In pieces, because a summary is larger than the figures that are kept of it.
    for piece in names.chunks(MOST_READERS) {
        for summary in side_by_side(piece, MOST_READERS, |name| {
            open_any(name)?.summary(name, "--trend")
        }) {
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

/// Prints how the headline verdicts of a kept run's cells came about.
fn explain_verdict(name: &str, cell: &str) -> Result<u8> {
    let folder = named::folder(name)?;
    let known = catalog::known_methods()?;
    let explained = judge::explained::explain(&folder, cell, known)?;
    print_document(&report::verdict::document(&explained))
}
