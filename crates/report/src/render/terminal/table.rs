//! The lines of a table: a heading, then the rows of each body.

use super::drawing::{axis, drawn};
use super::layout::{ShownColumn, layouts, spans};
use super::screen::{GAP, Screen, broken, cut, pad, wrap};
use crate::render::document::{Body, Entry, Shape, Table, Tone};
use crate::render::styled::{Style, StyledText};

/// A table's lines. Bodies that are put aside belong to `full`.
pub(super) fn lines(table: &Table, indent: usize, screen: &Screen, full: bool) -> Vec<StyledText> {
    if table.apart {
        return (0..table.bodies.len())
            .flat_map(|at| lines(&alone(table, at), indent, screen, full))
            .collect();
    }
    let bodies: Vec<&Body> = table
        .bodies
        .iter()
        .filter(|body| (full || !body.aside) && !body.rows.is_empty())
        .collect();
    let rows: Vec<&Entry> = bodies.iter().flat_map(|body| &body.rows).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let room = screen.width().saturating_sub(indent);
    let mut lines = Vec::new();
    for (part, columns) in layouts(table, &rows, room, screen).iter().enumerate() {
        lines.extend(head(columns, indent, screen).map(StyledText::from));
        for body in &bodies {
            // A part after the first has the rows that say something there.
            let mut rows = body
                .rows
                .iter()
                .filter(|row| part == 0 || is_filled(row, columns))
                .peekable();
            if rows.peek().is_some() {
                lines.extend(heading(body, indent, screen));
            }
            for row in rows {
                if let Some(sentence) = sentence_below(row, table.columns.len()) {
                    lines.extend(
                        wrap(sentence, indent + BELOW, screen)
                            .into_iter()
                            .map(Into::into),
                    );
                    continue;
                }
                let texts = texts(row, columns, table.columns.len(), indent, screen);
                lines.extend(row_lines(row, &texts, columns, indent, screen));
            }
        }
    }
    lines
}

/// Tells whether a row has anything in these columns beside its name.
fn is_filled(row: &Entry, columns: &[ShownColumn]) -> bool {
    columns[1..].iter().any(|column| {
        let cell = row.cell(column.index);
        cell.is_some_and(|cell| cell.plot.is_some()) || !row.text(column.index).is_empty()
    })
}

/// Indent of a sentence below the row that it belongs to.
const BELOW: usize = 2;

/// The sentence of a row without a name that has nothing else: it belongs to the row above, and has the whole line.
fn sentence_below(row: &Entry, columns: usize) -> Option<&str> {
    (row.name.is_empty() && row.cells.len() == 1 && spans(row, 1, columns)).then(|| row.text(1))
}

/// A body as a table; only that of the first one has titles.
fn alone(table: &Table, at: usize) -> Table {
    let body = table.bodies[at].clone();
    let filled = body.rows.iter().map(|row| row.cells.len() + 1).max();
    let mut columns = table.columns[..filled.unwrap_or(0)].to_vec();
    if at > 0 {
        for column in &mut columns {
            column.title.clear();
        }
    }
    Table {
        columns,
        bodies: vec![body],
        ..Table::default()
    }
}

fn heading(body: &Body, indent: usize, screen: &Screen) -> Vec<StyledText> {
    let heading = if body.heading.is_empty() {
        String::new()
    } else {
        format!("{}:", body.heading)
    };
    wrap(&heading, indent, screen)
        .into_iter()
        .map(|line| StyledText::new(line, Style::Bold))
        .collect()
}

fn head(columns: &[ShownColumn], indent: usize, screen: &Screen) -> Option<String> {
    let mut titles = Vec::new();
    for ShownColumn { column, width, .. } in columns {
        let title = match &column.axis {
            Some(plot) => axis(plot, *width),
            None => screen.text(&column.title),
        };
        let is_right = column.shape == Shape::Number;
        titles.push(pad(&cut(&title, *width, screen), *width, is_right));
    }
    let line = joined(&titles, indent, screen);
    (!line.trim().is_empty()).then_some(line)
}

fn joined(texts: &[String], indent: usize, screen: &Screen) -> String {
    let line = format!("{}{}", " ".repeat(indent), texts.join(&" ".repeat(GAP)));
    cut(line.trim_end(), screen.width(), screen)
}

/// The lines of each of a row's cells. Its last cell runs over the columns that are left.
fn texts(
    row: &Entry,
    columns: &[ShownColumn],
    count: usize,
    indent: usize,
    screen: &Screen,
) -> Vec<Vec<String>> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    let mut used = indent;
    for column in columns {
        if spans(row, column.index, count) {
            let room = screen.width().saturating_sub(used);
            // The lines after the first have room below all of its fields.
            texts.push(sentences(row, column.index, room, screen));
            break;
        }
        used += column.width + GAP;
        let is_right = column.column.shape == Shape::Number;
        let lines = cell_lines(row, column, screen);
        texts.push(
            lines
                .iter()
                .map(|line| pad(line, column.width, is_right))
                .collect(),
        );
    }
    texts
}

fn cell_lines(row: &Entry, column: &ShownColumn, screen: &Screen) -> Vec<String> {
    let text = row.text(column.index);
    match column.column.shape {
        Shape::Drawn => {
            let plot = row.cell(column.index).and_then(|cell| cell.plot.as_ref());
            vec![plot.map_or_else(String::new, |plot| drawn(plot, column.width, screen))]
        }
        Shape::Words => sentences(row, column.index, column.width, screen),
        Shape::Text | Shape::Number if column.index > 0 => {
            vec![cut(&screen.text(text), column.width, screen)]
        }
        Shape::Text | Shape::Number => broken(text, column.width, screen),
    }
}

/// The lines of a cell with sentences: without the count at its end where that would take a line more.
fn sentences(row: &Entry, column: usize, room: usize, screen: &Screen) -> Vec<String> {
    let whole = broken(row.text(column), room, screen);
    let uncounted = row
        .cell(column)
        .and_then(|cell| cell.uncounted.as_ref())
        .map(|text| broken(text, room, screen));
    uncounted
        .filter(|lines| lines.len() < whole.len())
        .unwrap_or(whole)
}

/// A row; several lines where its sentences are wrapped.
fn row_lines(
    row: &Entry,
    texts: &[Vec<String>],
    columns: &[ShownColumn],
    indent: usize,
    screen: &Screen,
) -> Vec<StyledText> {
    let height = texts.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let mut lines: Vec<StyledText> = Vec::new();
    for at in 0..height {
        let parts: Vec<String> = texts
            .iter()
            .zip(columns)
            .map(|(lines, column)| {
                let line = lines.get(at).cloned();
                line.unwrap_or_else(|| " ".repeat(column.width))
            })
            .collect();
        let line = joined(&parts, indent, screen);
        lines.push(if at == 0 {
            toned(row.tone, line, indent + columns[0].width)
        } else {
            line.into()
        });
    }
    lines
}

/// A line whose first characters, the name, have the style of a tone.
fn toned(tone: Tone, line: String, name: usize) -> StyledText {
    let style = match tone {
        Tone::Faster => Some(Style::Faster),
        Tone::Slower => Some(Style::Slower),
        Tone::Open => Some(Style::Open),
        Tone::Plain | Tone::Baseline => None,
    };
    let Some((style, (at, _))) = style.zip(line.char_indices().nth(name)) else {
        return line.into();
    };
    let (name, rest) = line.split_at(at);
    let mut styled = StyledText::new(name, style);
    styled.push(rest);
    styled
}

#[cfg(test)]
mod tests {
    use super::super::screen::width;
    use super::*;
    use crate::render::document::{Column, TableCell};

    #[test]
    fn a_table_that_is_too_wide_is_divided_and_its_names_are_repeated() {
        let column = |n: usize| Column::number(format!("{n}{}", "-".repeat(28)));
        let columns = std::iter::once(Column::text("name"))
            .chain((0..4).map(column))
            .collect();
        let row = Entry::new(
            "a".repeat(60),
            vec![
                TableCell::text("1"),
                TableCell::text("2"),
                TableCell::text("3"),
                TableCell::text("4"),
            ],
        );
        let lines = lines(
            &Table::new("", columns, [row]),
            2,
            &Screen::new(80, false),
            false,
        );
        let lines: Vec<String> = lines.iter().map(StyledText::plain).collect();
        assert!(lines.iter().all(|line| width(line) <= 80), "{lines:#?}");
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.trim_start().starts_with("name"))
                .count(),
            2,
            "{lines:#?}"
        );
        assert_eq!(
            lines.concat().matches('a').count(),
            2 * (60 + 1),
            "no letter of a name is cut"
        );
    }

    #[test]
    fn a_row_without_figures_in_a_part_after_the_first_is_left_out_there() {
        let columns = std::iter::once(Column::text("name"))
            .chain((0..4).map(|n| Column::number(format!("{n}{}", "-".repeat(28)))))
            .collect();
        let row = |name: &str, cells: &[&str]| {
            Entry::new(name, cells.iter().copied().map(TableCell::text).collect())
        };
        let rows = [
            row("full", &["1", "2", "3", "4"]),
            row("half", &["1", "2", "", ""]),
        ];
        let table = Table::new("", columns, rows);
        let lines = lines(&table, 2, &Screen::new(80, false), false);
        let text = lines.iter().map(StyledText::plain).collect::<String>();
        assert_eq!(text.matches("full").count(), 2, "{text}");
        assert_eq!(text.matches("half").count(), 1, "{text}");
    }

    #[test]
    fn a_name_stays_whole_where_figures_can_follow_in_another_table() {
        // The counts of a user's functions: a name of 21 letters, a setting, and four figures.
        let mut columns = vec![Column::text("method"), Column::text("phase")];
        columns.extend(
            ["allocated bytes", "allocations", "calls", "minor faults"].map(Column::number),
        );
        let row = |name: &str| {
            let cells = ["a-phase-with-a-name", "0–65536", "0–1", "2051–2053", "1–2"];
            Entry::new(name, cells.map(TableCell::text).to_vec())
        };
        let name = "bench/vmsplice_splice_again";
        let table = Table::new("", columns, [row(&format!("{name} pipe_bytes=64KiB"))]);
        let lines = lines(&table, 2, &Screen::new(80, false), false);
        let lines: Vec<String> = lines.iter().map(StyledText::plain).collect();
        assert!(lines.iter().all(|line| width(line) <= 80), "{lines:#?}");
        let text = lines.join("\n");
        for whole in [name, "a-phase-with-a-name", "2051–2053", "1–2"] {
            assert!(text.contains(whole), "{whole}: {text}");
        }
        assert!(!text.contains('…'), "{text}");
    }

    #[test]
    fn a_row_of_a_sentence_alone_has_the_whole_line() {
        let columns = vec![
            Column::text("cell"),
            Column::sentences("finding"),
            Column::number("n"),
        ];
        let above = vec![TableCell::text("faster"), TableCell::count(7)];
        let rows = [
            Entry::new("a-name-that-is-long", above),
            Entry::new("", vec![TableCell::text("w".repeat(70))]),
        ];
        let lines = lines(
            &Table::new("", columns, rows),
            0,
            &Screen::new(80, false),
            false,
        );
        let below = lines.last().unwrap().plain();
        assert_eq!((lines.len(), below), (3, format!("  {}", "w".repeat(70))));
    }

    #[test]
    fn a_count_at_the_end_of_a_finding_is_dropped_before_the_row_has_another_line() {
        let columns = || vec![Column::text("cell"), Column::sentences("finding")];
        let counted = |finding: &str| {
            let row = Entry::new("a", vec![TableCell::counted(finding, 2)]);
            let table = Table::new("", columns(), [row]);
            let lines = lines(&table, 0, &Screen::new(80, false), false);
            lines.iter().map(StyledText::plain).collect::<Vec<_>>()
        };
        let short = counted("mmap is slower");
        assert!(
            short.len() == 2 && short[1].ends_with("slower; 2 more"),
            "{short:?}"
        );
        let long = counted(&format!("{} is slower", "m".repeat(60)));
        assert!(
            long.len() == 2 && long[1].ends_with("is slower"),
            "{long:?}"
        );
    }

    #[test]
    fn sentences_are_wrapped_within_their_column() {
        let columns = vec![
            Column::text("cell"),
            Column::sentences("finding"),
            Column::number("n"),
        ];
        let row = Entry::new(
            "a",
            vec![TableCell::text("word ".repeat(30)), TableCell::count(7)],
        );
        let lines = lines(
            &Table::new("", columns, [row]),
            0,
            &Screen::new(80, false),
            false,
        );
        let lines: Vec<String> = lines.iter().map(StyledText::plain).collect();
        assert!(
            lines.len() == 4 && lines.iter().all(|line| width(line) <= 80),
            "{lines:#?}"
        );
    }
}
