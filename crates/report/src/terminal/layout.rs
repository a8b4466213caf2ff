//! Cutting, padding and wrapping. Widths are counted in characters.

use super::screen::Screen;

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

/// A text in a field of a width.
pub(super) fn pad(text: &str, field: usize, right: bool) -> String {
    let space = " ".repeat(field.saturating_sub(width(text)));
    if right { format!("{space}{text}") } else { format!("{text}{space}") }
}

/// Lines of words no wider than so many characters.
pub(super) fn broken(text: &str, room: usize, screen: &Screen) -> Vec<String> {
    lines(text, (room, room), screen)
}

/// Lines of words no wider than the screen; the second and later ones are indented further.
pub(super) fn wrap(text: &str, indent: usize, screen: &Screen) -> Vec<String> {
    let room = screen.width().saturating_sub(indent);
    let indents = std::iter::once(indent).chain(std::iter::repeat(indent + 2));
    lines(text, (room, room.saturating_sub(2)), screen)
        .iter()
        .zip(indents)
        .map(|(line, indent)| format!("{}{line}", " ".repeat(indent)))
        .collect()
}

fn lines(text: &str, (first, later): (usize, usize), screen: &Screen) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in screen.text(text).split(' ').filter(|word| !word.is_empty()) {
        let room = if lines.len() > 1 { later } else { first };
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= room => *line = format!("{line} {word}"),
            // A word that is wider than a line goes on in the next one.
            _ => {
                let mut rest: Vec<char> = word.chars().collect();
                while !rest.is_empty() {
                    let room = if lines.is_empty() { first } else { later };
                    let more = rest.split_off(rest.len().min(room.max(1)));
                    lines.push(rest.into_iter().collect());
                    rest = more;
                }
            }
        }
    }
    lines
}

#[cfg(test)]
#[path = "../../tests/unit/terminal/layout.rs"]
mod tests;
