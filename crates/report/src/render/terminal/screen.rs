//! A terminal's abilities (width, characters beyond ASCII); texts cut, padded and wrapped. Widths are in characters.

use super::unbroken::{divided, unbroken};
use crate::render::escape;

/// The narrowest terminal that lines are made for.
const NARROWEST: usize = 80;

/// A terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    width: usize,
    ascii: bool,
}

impl Screen {
    /// A terminal of so many columns; fewer than 80 are taken for 80.
    pub fn new(width: usize, ascii: bool) -> Screen {
        Screen {
            width: width.max(NARROWEST),
            ascii,
        }
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

pub(super) const GAP: usize = 2;

pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text cut to a width; `…` ends it then.
pub(super) fn cut(text: &str, most: usize, screen: &Screen) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(most.saturating_sub(1)).collect();
    if most > 0 {
        kept.push(screen.sign('…', '~'));
    }
    kept
}

pub(super) fn pad(text: &str, field: usize, right: bool) -> String {
    let space = " ".repeat(field.saturating_sub(width(text)));
    if right {
        format!("{space}{text}")
    } else {
        format!("{text}{space}")
    }
}

/// Lines of words no wider than so many characters.
pub(super) fn broken(text: &str, room: usize, screen: &Screen) -> Vec<String> {
    lines(text, room, room, screen)
}

/// Lines of words no wider than the screen; the second and later ones are indented further.
pub(super) fn wrap(text: &str, indent: usize, screen: &Screen) -> Vec<String> {
    let room = screen.width().saturating_sub(indent);
    let indents = std::iter::once(indent).chain(std::iter::repeat(indent + 2));
    lines(text, room, room.saturating_sub(2), screen)
        .iter()
        .zip(indents)
        .map(|(line, indent)| format!("{}{line}", " ".repeat(indent)))
        .collect()
}

/// Plain text whose lines are no wider than the screen; the parts of a line after its first are indented. A word that is wider
/// than a line stays whole, so that a path can be copied.
pub fn folded(text: &str, indent: usize, screen: &Screen) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let length = width(word.trim_end());
            if used > indent && used + length > screen.width() {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded += &format!("\n{}", " ".repeat(indent));
                used = indent;
            }
            folded += word;
            used += width(word);
        }
    }
    folded
}

/// Lines of words, the first and the later ones no wider than so many characters. A figure keeps its unit, and a command its words.
fn lines(text: &str, first: usize, later: usize, screen: &Screen) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in unbroken(&screen.text(text)) {
        for word in divided(&word, later) {
            let room = if lines.len() > 1 { later } else { first };
            match lines.last_mut() {
                Some(line) if width(line) + 1 + width(word) <= room => {
                    *line = format!("{line} {word}");
                }
                // A word that is wider than a line goes on in the next one.
                _ => {
                    let signs: Vec<char> = word.chars().collect();
                    let mut rest = &signs[..];
                    while !rest.is_empty() {
                        let room = if lines.is_empty() { first } else { later };
                        let (line, more) = rest.split_at(rest.len().min(room.max(1)));
                        lines.push(line.iter().collect());
                        rest = more;
                    }
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        let hostile = "a\u{1b}[31mb\u{7}\u{202e}c\n\u{9b}d";
        assert_eq!(
            Screen::new(80, false).text(hostile),
            "a\\x1b[31mb\\x07\\u{202e}c\\n\\x9bd"
        );
    }

    #[test]
    fn ascii_is_all_that_an_ascii_terminal_gets() {
        let shown =
            Screen::new(80, true).text("→ use thp: 4.7× faster, 2.05 µs ±1 %, 4.7–6.0 · ü ¹");
        assert_eq!(
            shown,
            "-> use thp: 4.7x faster, 2.05 us +-1 %, 4.7-6.0 | ? *"
        );
        assert_eq!(Screen::new(10, true).width(), 80);
    }

    mod layout {
        use super::*;

        #[test]
        fn a_word_of_a_million_characters_is_broken_in_one_pass() {
            let lines = wrap(&"x".repeat(1 << 20), 0, &Screen::new(80, false));
            assert_eq!(lines.concat().matches('x').count(), 1 << 20);
        }

        #[test]
        fn no_line_is_wider_than_the_screen() {
            let screen = Screen::new(80, false);
            let long = "word ".repeat(60) + &"x".repeat(200);
            let lines = wrap(&long, 4, &screen);
            for line in &lines {
                assert!(width(line) <= 80 && line.starts_with("    "), "{line}");
            }
            assert_eq!(lines.concat().matches('x').count(), 200, "nothing is cut");
        }

        #[test]
        fn figures_keep_their_units_and_commands_their_words() {
            let screen = Screen::new(80, false);
            for whole in [
                "3.8 ms",
                "5.05 µs/round trip",
                "1.9 % faster–3.7 % slower",
                "16 %–1.9× faster",
                "2 min 29 s",
                "40 s: pagewise run relay)",
                "pagewise doctor --noise",
                "why: pagewise report last --doubt",
                "64 MiB",
                "(A/A ±34 %)",
                "(95 % CI 20.4–31.4×)",
            ] {
                // Wherever the line ends.
                for before in 0..40 {
                    let text = format!("{}a {whole} b", "x ".repeat(before));
                    for room in [36, 40, 45] {
                        let lines = broken(&text, room, &screen);
                        assert!(
                            lines.iter().any(|line| line.contains(whole)),
                            "{whole}: {lines:#?}"
                        );
                    }
                }
            }
        }

        #[test]
        fn a_command_keeps_its_label_that_begins_a_sentence() {
            for before in 0..40 {
                let text = format!("{}y. All words: pagewise show words", "x ".repeat(before));
                for room in [36, 40, 45] {
                    let lines = broken(&text, room, &Screen::new(80, false));
                    let last = lines.last().unwrap();
                    assert!(
                        last.ends_with("All words: pagewise show words"),
                        "{lines:#?}"
                    );
                }
            }
        }

        #[test]
        fn what_is_cut_says_so() {
            assert_eq!(
                cut("process-vm-readv", 8, &Screen::new(80, false)),
                "process…"
            );
            assert_eq!(
                cut("process-vm-readv", 8, &Screen::new(80, true)),
                "process~"
            );
        }
    }
}
