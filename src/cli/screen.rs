//! The terminal that results are printed to: how wide it is, and what it can show.

use console::Term;
use report::document::Document;
use report::terminal::{self, Screen};
use std::io::IsTerminal;

/// Columns where nothing tells how many there are: a file or a pipe is read with room.
const UNKNOWN: usize = 100;

/// A document as text for this terminal; `full` as in [`terminal::render`].
pub(super) fn text(document: &Document, ascii: bool, full: bool) -> String {
    terminal::render(document, &screen(ascii), full)
}

/// Screen of standard output; of standard error where that is a pipe into a pager.
pub(super) fn screen(ascii: bool) -> Screen {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let width_of = |term: Term| term.size_checked().map(|(_, columns)| usize::from(columns));
    let width = columns.or_else(|| width_of(Term::stdout())).or_else(|| width_of(Term::stderr())).unwrap_or(UNKNOWN);
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let ascii = ascii || is_ascii(locale.as_deref(), std::io::stdout().is_terminal());
    Screen::new(width, ascii).colored(console::colors_enabled())
}

/// Tells whether a locale has nothing but ASCII. Where none is set that is believed of a terminal only: files are read
/// elsewhere.
fn is_ascii(locale: Option<&str>, is_terminal: bool) -> bool {
    locale.map_or(is_terminal, |name| ["C", "POSIX"].contains(&name))
}

#[cfg(test)]
#[path = "../../tests/unit/cli/screen.rs"]
mod tests;
