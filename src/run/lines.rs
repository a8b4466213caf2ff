//! The screen, and plain text whose lines are no wider.

use console::Term;
use report::{escape, terminal, terminal::Screen};
use std::io::{IsTerminal, Write};

/// Columns of a file or a pipe.
pub(crate) const UNKNOWN: usize = 80;
/// Indent of what goes on in a further line.
pub(crate) const FURTHER: usize = 2;

/// Screen of standard output; of standard error where that is a pipe into a pager.
pub fn screen(ascii: bool) -> Screen {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let width = columns
        .or_else(|| width_of(&Term::stdout()))
        .or_else(|| width_of(&Term::stderr()))
        .unwrap_or(UNKNOWN);
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    let ascii = ascii || is_ascii(locale.as_deref(), std::io::stdout().is_terminal());
    Screen::new(width, ascii)
}

fn width_of(term: &Term) -> Option<usize> {
    let (_, columns) = term.size_checked()?;
    Some(usize::from(columns))
}

/// Tells whether a locale has nothing but ASCII. Where none is set that is believed of a terminal only: files are read
/// elsewhere.
fn is_ascii(locale: Option<&str>, is_terminal: bool) -> bool {
    locale.map_or(is_terminal, |name| ["C", "POSIX"].contains(&name))
}

/// Plain text for this screen; what goes on in a further line is indented.
pub(crate) fn folded(text: &str, indent: usize) -> String {
    terminal::folded(text, indent, &screen(false))
}

/// Prints a note on standard error; no text from outside steers a terminal, and one that is gone is no reason to stop.
pub fn remark(text: &str) {
    let _ = writeln!(
        std::io::stderr(),
        "{}",
        folded(&escape::terminal(text), FURTHER)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_c_locale_is_ascii() {
        assert!(
            is_ascii(Some("C"), false) && is_ascii(Some("POSIX"), true) && is_ascii(None, true)
        );
        assert!(
            !is_ascii(Some("C.UTF-8"), true)
                && !is_ascii(Some("de_DE.UTF-8"), true)
                && !is_ascii(None, false)
        );
    }
}
