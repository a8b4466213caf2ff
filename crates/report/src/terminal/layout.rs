//! Columns and lines: padding, cutting, wrapping. Widths are counted in characters.

use super::screen::Screen;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The space between two columns.
pub(super) const GAP: usize = 2;

/// How wide a text is.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text cut to a width; what was cut is told by `…`.
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
pub(super) fn pad(text: &str, field: usize, side: Side) -> String {
    let space = " ".repeat(field.saturating_sub(width(text)));
    match side {
        Side::Left => format!("{text}{space}"),
        Side::Right => format!("{space}{text}"),
    }
}

/// Lines of words no wider than the screen; the second and later ones are set in further.
pub(super) fn wrap(text: &str, indent: usize, screen: &Screen) -> Vec<String> {
    let text = screen.text(text);
    let (first, later) = (" ".repeat(indent), " ".repeat(indent + 2));
    let mut lines = Vec::new();
    let mut line = first.clone();
    let mut is_empty = true;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if !is_empty && width(&line) + 1 + width(word) > screen.width() {
            lines.push(std::mem::replace(&mut line, later.clone()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&cut(word, screen.width().saturating_sub(width(&line)), screen));
        is_empty = false;
    }
    if !is_empty {
        lines.push(line);
    }
    lines
}

/// Rows of a table whose first row heads it, each row with one text a column. The first column is cut where the whole would be
/// wider than the screen.
pub(super) fn table(rows: &[Vec<String>], sides: &[Side], indent: usize, screen: &Screen) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|text| screen.text(text)).collect()).collect();
    let columns = sides.len();
    let mut widths: Vec<usize> =
        (0..columns).map(|c| rows.iter().filter_map(|row| row.get(c)).map(|t| width(t)).max().unwrap_or(0)).collect();
    let whole = indent + widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1);
    if let Some(first) = widths.first_mut() {
        *first = first.saturating_sub(whole.saturating_sub(screen.width())).max(1);
    }
    let line = |row: &Vec<String>| {
        let fields =
            widths.iter().zip(sides).enumerate().map(|(c, (&field, &side))| {
                pad(&cut(row.get(c).map_or("", String::as_str), field, screen), field, side)
            });
        let text = fields.collect::<Vec<_>>().join(&" ".repeat(GAP));
        let line = format!("{}{}", " ".repeat(indent), text.trim_end());
        cut(&line, screen.width(), screen)
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let screen = Screen::new(80, false);
        let long = "word ".repeat(60) + &"x".repeat(200);
        for line in wrap(&long, 4, &screen) {
            assert!(width(&line) <= 80 && line.starts_with("    "), "{line}");
        }
        let rows = vec![vec!["n".repeat(70), "1".repeat(30)], vec!["a".into(), "b".into()]];
        for line in table(&rows, &[Side::Left, Side::Right], 2, &screen) {
            assert!(width(&line) <= 80, "{line}");
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("process-vm-readv", 8, &Screen::new(80, false)), "process…");
        assert_eq!(cut("process-vm-readv", 8, &Screen::new(80, true)), "process~");
    }
}
