//! Abilities of a terminal: width, and characters beyond ASCII.

use crate::escape::{self, Style};

/// The narrowest terminal that lines are made for.
const NARROWEST: usize = 80;

/// A terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    width: usize,
    ascii: bool,
    color: bool,
}

impl Screen {
    /// A terminal of so many columns; fewer than 80 are taken for 80.
    pub fn new(width: usize, ascii: bool) -> Screen {
        Screen { width: width.max(NARROWEST), ascii, color: false }
    }

    pub fn colored(self, color: bool) -> Screen {
        Screen { color, ..self }
    }

    /// A text in a style, where there are colors.
    pub(super) fn styled(&self, text: &str, style: Style) -> String {
        if self.color && !text.is_empty() { escape::marked(text, style) } else { text.to_owned() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The character, or its stand-in where there is nothing but ASCII.
    pub(super) fn sign(&self, sign: char, ascii: char) -> char {
        if self.ascii { ascii } else { sign }
    }

    /// Text as this terminal can show it. Nothing that a record holds may steer a terminal: control characters, and those
    /// that turn the direction of writing, appear by their numbers.
    pub(super) fn text(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        for sign in escape::terminal(text).chars() {
            match sign {
                c if !self.ascii || c.is_ascii() => shown.push(c),
                'µ' => shown.push('u'),
                '×' => shown.push('x'),
                '±' => shown.push_str("+-"),
                '–' | '─' | '—' => shown.push('-'),
                '→' => shown.push_str("->"),
                '…' => shown.push_str(".."),
                '¹' => shown.push('*'),
                '·' | '│' => shown.push('|'),
                _ => shown.push('?'),
            }
        }
        shown
    }
}

#[cfg(test)]
#[path = "../../tests/unit/terminal/screen.rs"]
mod tests;
