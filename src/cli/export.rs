//! `pagewise report --format`: a kept run in a format that other programs read.

use super::damage::{code_of_program, code_of_run};
use super::opened::{JudgedFolder, Judging, open, tell_interrupted};
use super::output::{may_write, write};
use super::printed::shelf;
use crate::plan::published;
use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};
use record::{command::CommandSummary, sizes, summary::Summary};
use report::export::{ExportFormat, ExportedCells, FORMATS, rows::Rows};
use report::{command::STACK_FORMATS, escape::pretty_json};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// A kept run, and the file that it is written to.
pub(super) struct ExportRequest<'a> {
    pub(super) run: &'a str,
    pub(super) experiments: &'a [String],
    pub(super) format: &'a str,
    pub(super) out: Option<&'a Path>,
    pub(super) force: bool,
}

pub(super) fn formats() -> PossibleValuesParser {
    let stacks = STACK_FORMATS
        .iter()
        .map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(
        FORMATS
            .iter()
            .map(|f| PossibleValue::new(f.name).help(f.about))
            .chain(stacks),
    )
}

pub(super) fn export(arguments: &ExportRequest) -> Result<u8> {
    let of_stacks = STACK_FORMATS
        .iter()
        .find(|known| known.name == arguments.format);
    match arguments.out {
        Some(path) => may_write(path, arguments.force)?,
        None if of_stacks.is_some_and(|format| format.is_binary)
            && std::io::stdout().is_terminal() =>
        {
            bail!(
                "{} is binary, which a terminal cannot show: name a file with --out, or a program behind a pipe",
                arguments.format
            )
        }
        None => {}
    }
    let opened = open(arguments.run)?;
    tell_interrupted(arguments.run, opened.is_interrupted());
    if let (Some(kind), Some(name)) = (opened.program(), arguments.experiments.first()) {
        bail!(
            "{} is {kind}, which has no experiment {name:?}",
            arguments.run
        );
    }
    match opened.judge(Judging::Again)? {
        JudgedFolder::Program(kept, summary) => {
            put(arguments, |out| {
                match (arguments.format, &*summary, of_stacks) {
                    ("hyperfine", CommandSummary::Try(_), _) => Ok(out.write_all(
                        pretty_json(&report::export::hyperfine::of_try(&kept))?.as_bytes(),
                    )?),
                    (_, CommandSummary::Profile(summary), Some(format)) => summary
                        .costliest_stacks()
                        .map_or(Ok(()), |stacks| (format.write)(stacks, out)),
                    (format, summary, _) => Rows::new(&kept, summary).write(format, out),
                }
            })?;
            Ok(code_of_program(&kept, 0))
        }
        JudgedFolder::Run(folder, summary) => {
            let format = FORMATS.iter().find(|known| known.name == arguments.format);
            let format = format.with_context(|| {
                format!("{} is no profile, which alone has stacks", arguments.run)
            })?;
            known(&summary, arguments.experiments)?;
            let mut taken = ExportedCells::new(&summary, arguments.experiments);
            let articles = published::of_plan(&folder.plan()?);
            if arguments.experiments.is_empty() {
                taken.articles = report::published::sections(shelf(&articles), &summary);
            }
            tell_left_out(format, &taken);
            tell_interrupted(arguments.run, summary.is_interrupted());
            put(arguments, |out| (format.write)(&taken, out))?;
            Ok(code_of_run(&summary, 0))
        }
    }
}

/// A sentence where the run has no such experiment.
pub(super) fn known(summary: &Summary, experiments: &[String]) -> Result<()> {
    let names = || {
        summary
            .experiments
            .iter()
            .map(|e| e.definition.name.as_str())
    };
    match experiments
        .iter()
        .find(|wanted| names().all(|name| name != *wanted))
    {
        Some(unknown) => bail!(
            "the run has no experiment \"{unknown}\"{}",
            sizes::did_you_mean(unknown, names())
        ),
        None => Ok(()),
    }
}

/// A format without outcomes has cells that were measured and may be believed; the others must not vanish unsaid.
fn tell_left_out(format: &ExportFormat, taken: &ExportedCells<'_>) {
    let left = taken.cells.len() - taken.believed().count();
    if left > 0 && !format.says_outcomes {
        let cells = if left == 1 { "cell is" } else { "cells are" };
        remark!(
            "{left} {cells} left out, which {} has no word for: pagewise report says why",
            format.name
        );
    }
}

fn put(arguments: &ExportRequest, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if let Some(path) = arguments.out {
        return write(path, arguments.force, fill);
    }
    let mut bytes = Vec::new();
    fill(&mut bytes)?;
    super::output::put(&bytes).map(drop)
}
