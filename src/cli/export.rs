//! `pagewise export`: a kept run in a format that other programs read.

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use record::folder::RunFolder;
use record::sizes;
use record::summary::Summary;
use report::export::own::Rows;
use report::export::{FORMATS, Format};
use report::view::Taken;

use super::write::write;
use super::{profile, runs_folder, trial};
use crate::run::replay::replay;

/// The words after `export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// An id, or a folder's path.
    run: String,
    /// These experiments only.
    // Its own id: the global option for further experiments has the field's name.
    #[arg(id = "only", value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Which format.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: String,
    /// The file to write [default: standard output]. It appears when it is whole.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file where there is one.
    #[arg(long)]
    force: bool,
}

fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about)))
}

pub(super) fn export(arguments: &ExportArgs) -> Result<u8> {
    let format = FORMATS.iter().find(|f| f.name == arguments.format).context("clap takes no other format")?;
    if let Some((_, plan, runs)) = trial::open(&arguments.run)? {
        if format.name != "hyperfine" {
            return put(arguments, |out| Rows::tried(&plan, &runs).write(format.name, out));
        }
        let file = report::trial::hyperfine(&plan, &runs);
        return put(arguments, |out| {
            serde_json::to_writer_pretty(&mut *out, &file)?;
            Ok(out.write_all(b"\n")?)
        });
    }
    if let Some((_, plan, runs)) = profile::open(&arguments.run)? {
        let summary = judge::profile::judge(&plan, &runs);
        return put(arguments, |out| Rows::profiled(&summary).write(format.name, out));
    }
    let folder = RunFolder::open(&arguments.run, &runs_folder())?;
    let (_, summary) = replay(&folder)?;
    known(&summary, &arguments.experiments)?;
    let taken = Taken::of(&summary, &arguments.experiments);
    tell_left_out(format, &taken);
    put(arguments, |out| (format.write)(&taken, out))
}

/// A sentence where the run has no such experiment.
pub(super) fn known(summary: &Summary, experiments: &[String]) -> Result<()> {
    let names = || summary.experiments.iter().map(|e| e.definition.name.as_str());
    match experiments.iter().find(|wanted| names().all(|name| name != *wanted)) {
        Some(unknown) => bail!("the run has no experiment \"{unknown}\"{}", sizes::did_you_mean(unknown, names())),
        None => Ok(()),
    }
}

/// A format without outcomes has cells that were measured and may be believed; the others must not vanish unsaid.
fn tell_left_out(format: &Format, taken: &Taken<'_>) {
    let left = taken.cells.len() - taken.believed().count();
    if left > 0 && !format.says_outcomes {
        let cells = if left == 1 { "cell is" } else { "cells are" };
        eprintln!("{left} {cells} left out, which {} has no word for: pagewise report says why", format.name);
    }
}

fn put(arguments: &ExportArgs, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u8> {
    match &arguments.out {
        Some(path) => write(path, arguments.force, fill)?,
        None => {
            let stdout = std::io::stdout();
            if arguments.format == "parquet" && stdout.is_terminal() {
                bail!("Parquet is no text: give it a file with --out FILE");
            }
            let mut out = BufWriter::new(stdout.lock());
            let done = fill(&mut out).and_then(|()| Ok(out.flush()?));
            return match done {
                // A reader that has seen enough, such as head, is no error.
                Err(error) if is_broken_pipe(&error) => Ok(0),
                other => other.map(|()| 0).context("cannot write to standard output"),
            };
        }
    }
    Ok(0)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<std::io::Error>() {
        Some(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
        None => {
            cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
                == Some(std::io::ErrorKind::BrokenPipe)
        }
    };
    error.chain().any(kind)
}
