//! Everything that the program prints. Arguments, file names and records may steer a terminal, so all text is escaped here.

use super::{page, screen, write};
use crate::run::signals::hung_up;
use anyhow::{Context, Result};
use clap::Args;
use report::{document::Document, escape};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// Prints lines for a person; the exit code 0.
pub(super) fn print(text: &str) -> Result<u8> {
    put(&if console::colors_enabled() { escape::styled(text) } else { escape::lines(text) })
}

/// Prints a value as JSON; the exit code 0.
pub(super) fn print_json(value: &impl Serialize) -> Result<u8> {
    put(&escape::pretty_json(value)?)
}

fn put(text: &str) -> Result<u8> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough, such as head, is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        // The terminal is gone.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => hung_up(),
        other => other.map(|()| 0).context("cannot write to standard output"),
    }
}

/// Output of a verb on sets of runs.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Print everything as JSON (crates/record/schema has its shape).
    #[arg(long)]
    json: bool,
    /// Print Markdown, for a comment on a pull request.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Also write a page of it to this file: one file that needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace files that are there.
    #[arg(long)]
    pub(super) force: bool,
    /// ASCII output only.
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    ascii: bool,
}

impl OutputArgs {
    /// Refuses a file that may not be written, before time is spent on its content.
    pub(super) fn check(&self) -> Result<()> {
        self.html.as_ref().map_or(Ok(()), |path| write::may_write(path, self.force))
    }

    /// The result as text, after its page is written if one is requested.
    pub(super) fn text(&self, result: &impl Serialize, document: &Document) -> Result<String> {
        if let Some(path) = &self.html {
            page::export(path, self.force, &report::html::page(document, report::html::rounded(result)))?;
        }
        Ok(if self.json {
            escape::pretty_json(result)?
        } else if self.markdown {
            report::markdown::render(document)
        } else {
            screen::text(document, self.ascii, false)
        })
    }
}
