//! Everything that the program prints and the files that the user asks for. Arguments, file names and records may steer a
//! terminal, so all text is escaped here.

use crate::run::lines::{FURTHER, folded, screen};
use crate::run::signals::hung_up;
use anyhow::{Context, Result};
use clap::Args;
use files::Output;
use record::json::ToJson;
use report::{document::Document, escape, styled::StyledText, terminal};
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Prints lines for a person; the exit code 0.
pub(super) fn print(text: &str) -> Result<u8> {
    print_styled(&text.into())
}

/// Prints lines with their styles, where standard output has colors; the exit code 0.
pub(super) fn print_styled(text: &StyledText) -> Result<u8> {
    put(text.shown(console::colors_enabled()).as_bytes())
}

/// Prints a document for a person, without what stands behind its figures; the exit code 0.
pub(super) fn print_document(document: &Document) -> Result<u8> {
    print_styled(&text(document, false, false))
}

/// Prints lines of plain text, none wider than the screen; the exit code 0.
pub(super) fn print_folded(text: &str, indent: usize) -> Result<u8> {
    print(&folded(text, indent))
}

/// A line on the place of what was kept.
pub(super) fn kept_in(what: &str, path: &Path) -> String {
    folded(
        &format!("The {what} is kept in {}\n", path.display()),
        FURTHER,
    )
}

/// Prints a value as JSON; the exit code 0.
pub(super) fn print_json(value: &impl Serialize) -> Result<u8> {
    put(escape::pretty_json(value)?.as_bytes())
}

/// Writes to standard output; the exit code 0.
pub(super) fn put(bytes: &[u8]) -> Result<u8> {
    match std::io::stdout().write_all(bytes) {
        // A reader that has seen enough, such as head, is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        // The terminal is gone.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
            hung_up()
        }
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
        self.html
            .as_ref()
            .map_or(Ok(()), |path| may_write(path, self.force))
    }

    /// The result as text, after its page is written if one is requested.
    pub(super) fn text(&self, result: &impl ToJson, document: &Document) -> Result<StyledText> {
        if let Some(path) = &self.html {
            export(
                path,
                self.force,
                &report::html::page(document, report::html::rounded(result)),
            )?;
        }
        Ok(if self.json {
            escape::pretty_json(&result.to_json()?)?.into()
        } else if self.markdown {
            report::markdown::render(document).into()
        } else {
            text(document, self.ascii, false)
        })
    }
}

/// An error if the file cannot be written; asked before time is spent on its content.
pub(super) fn may_write(path: &Path, force: bool) -> Result<()> {
    Output::at(path, force)?;
    Ok(())
}

/// Writes a file by `fill`; its name appears when it is whole.
pub(super) fn write(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let filled =
        |out: &mut dyn Write| fill(out).with_context(|| format!("cannot write {}", path.display()));
    Output::at(path, force)?.write(filled)
}

/// A document as text for this terminal; `full` as in [`terminal::render`].
pub(super) fn text(document: &Document, ascii: bool, full: bool) -> StyledText {
    terminal::render(document, &screen(ascii), full)
}

/// Options of the display.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ShownArgs {
    /// Also phases, resources, what each side paid, latency, lower bound and floor.
    #[arg(long)]
    pub(super) full: bool,
    /// Nothing but ASCII.
    #[arg(long)]
    pub(super) ascii: bool,
    #[command(flatten)]
    pub(super) page: PageArgs,
}

/// Options of a page.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PageArgs {
    /// Also write the page to this file: one file that needs no network. Each run has one in its folder already.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Let --html replace a file; and measure beside another run that is measuring on this machine, which marks both.
    #[arg(long)]
    pub(super) force: bool,
}

impl PageArgs {
    /// True if the page is asked for in a file.
    pub(super) fn has_file(&self) -> bool {
        self.html.is_some()
    }

    /// Refuses a file that may not be written, before time is spent on measuring.
    pub(super) fn check(&self) -> Result<()> {
        self.html
            .as_ref()
            .map_or(Ok(()), |path| may_write(path, self.force))
    }

    /// Writes the page where one is asked for; says whether one was.
    pub(super) fn write(&self, text: impl FnOnce() -> String) -> Result<()> {
        self.html
            .as_ref()
            .map_or(Ok(()), |path| export(path, self.force, &text()))
    }
}

pub(super) fn export(path: &Path, force: bool, text: &str) -> Result<()> {
    write(path, force, |out| Ok(out.write_all(text.as_bytes())?))
}
