//! The layout of every table: columns with room, names that give way, and several tables where one is too wide.

use super::screen::{GAP, Screen, broken, cut, pad, width, wrap};
use crate::render::document::{Body, Column, Entry, Shape, Shown, Table, TableCell, Tone};
use crate::render::plot::{Axis, Plot};
use crate::render::styled::{Style, StyledText};
use crate::sentences::numbers;
use record::summary::Ratio;

/// Widths of a drawing: as wide as there is room for between these.
const PLOT: (usize, usize) = (13, 25);
/// Names keep so much width when further columns are added.
const NAME: usize = 32;
/// Sentences keep so much width when further columns are added, and before names give way.
const WORDS: usize = 40;
/// Sentences are wrapped to so much width before a name is divided.
const WRAPPED: usize = 24;
/// Words and sentences keep so much width.
const LEAST: usize = 14;

/// The columns that are shown: each one's index and width.
type Widths = Vec<(usize, usize)>;

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
        .filter(|b| (full || !b.aside) && !b.rows.is_empty())
        .collect();
    let rows = || bodies.iter().flat_map(|body| &body.rows);
    if rows().next().is_none() {
        return Vec::new();
    }
    let natural: Vec<usize> = (0..table.columns.len())
        .map(|c| natural(table, c, rows(), screen))
        .collect();
    let room = screen.width().saturating_sub(indent);
    let mut lines = Vec::new();
    for part in parts(&table.columns, &natural, room) {
        let widths = fitted(part, &table.columns, &natural, room);
        lines.extend(head(table, &widths, indent, screen).map(StyledText::from));
        for body in &bodies {
            let heading = if body.heading.is_empty() {
                String::new()
            } else {
                format!("{}:", body.heading)
            };
            lines.extend(
                wrap(&heading, indent, screen)
                    .into_iter()
                    .map(|line| StyledText::new(line, Style::Bold)),
            );
            lines.extend(
                body.rows
                    .iter()
                    .flat_map(|row| line(row, &table.columns, &widths, indent, screen)),
            );
        }
    }
    lines
}

/// A body as a table; only that of the first one has titles.
fn alone(table: &Table, at: usize) -> Table {
    let body = table.bodies[at].clone();
    let filled = body
        .rows
        .iter()
        .map(|row| row.cells.len() + 1)
        .max()
        .unwrap_or(0);
    let mut columns = table.columns[..filled].to_vec();
    columns
        .iter_mut()
        .filter(|_| at > 0)
        .for_each(|column| column.title.clear());
    Table {
        columns,
        bodies: vec![body],
        ..Table::default()
    }
}

/// The width that a column would like: none where no row has anything in it.
fn natural<'a>(
    table: &Table,
    at: usize,
    rows: impl Iterator<Item = &'a Entry>,
    screen: &Screen,
) -> usize {
    let column = &table.columns[at];
    if column.shape == Shape::Drawn {
        return if rows
            .filter_map(|r| field(r, at)?.plot.as_ref())
            .any(is_drawn)
        {
            PLOT.0
        } else {
            0
        };
    }
    // A cell that spans the rest of its row takes what is there.
    let spans = |row: &Entry| at > 0 && at == row.cells.len() && at + 1 < table.columns.len();
    let widths = rows
        .filter(|row| !spans(row))
        .map(|row| width(&screen.text(text(row, at))));
    match widths.max().unwrap_or(0) {
        0 if at > 0 => 0,
        widest => widest.max(width(&screen.text(&column.title))),
    }
}

fn field(row: &Entry, at: usize) -> Option<&TableCell> {
    at.checked_sub(1).and_then(|at| row.cells.get(at))
}

fn text(row: &Entry, at: usize) -> &str {
    if at == 0 {
        &row.name
    } else {
        field(row, at).map_or("", |cell| cell.text.as_str())
    }
}

/// The width below which a column is not made.
fn least(column: &Column, natural: usize, is_name: bool) -> usize {
    match column.shape {
        Shape::Text if is_name => natural.min(NAME),
        Shape::Text | Shape::Words => natural.min(LEAST),
        Shape::Number | Shape::Drawn => natural,
    }
}

/// The columns of each table: those that must be shown, over several tables if needed, then those with room.
fn parts(columns: &[Column], natural: &[usize], room: usize) -> Vec<Vec<usize>> {
    let size = |c: usize| GAP + least(&columns[c], natural[c], false);
    let name = least(&columns[0], natural[0], true);
    let mut parts = vec![(vec![0], name)];
    for c in (1..columns.len()).filter(|&c| natural[c] > 0 && columns[c].shown == Shown::Always) {
        let (part, used) = parts.last_mut().expect("there is one from the start");
        // Names give way before a table is divided.
        if *used + size(c) <= room + name.saturating_sub(LEAST) || part.len() == 1 {
            part.push(c);
            *used += size(c);
        } else {
            parts.push((vec![0, c], name + size(c)));
        }
    }
    if let [(part, _)] = &mut parts[..] {
        let mut wished: Vec<usize> = (1..columns.len()).filter(|&c| natural[c] > 0).collect();
        wished.retain(|&c| matches!(columns[c].shown, Shown::Room(_)));
        wished.sort_by_key(|&c| columns[c].shown);
        let width = |c: usize| {
            if columns[c].shape == Shape::Words {
                natural[c].min(WORDS)
            } else {
                natural[c]
            }
        };
        let mut used: usize = part[1..].iter().map(|&c| GAP + width(c)).sum::<usize>() + name;
        for c in wished {
            if used + GAP + natural[c] <= room {
                used += GAP + natural[c];
                part.push(c);
            }
        }
        part.sort_unstable();
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

/// Gives each column its width: what is too wide is taken from the widest text, what is left goes to drawings.
fn fitted(part: Vec<usize>, columns: &[Column], natural: &[usize], room: usize) -> Widths {
    let mut widths: Widths = part.into_iter().map(|c| (c, natural[c])).collect();
    let whole = |widths: &Widths| widths.iter().map(|(_, w)| w + GAP).sum::<usize>() - GAP;
    while whole(&widths) > room {
        let gives = |&(c, w): &(usize, usize)| {
            let is_text = matches!(columns[c].shape, Shape::Text | Shape::Words);
            // Sentences wrap, so they give way first.
            (is_text && w > LEAST).then_some((
                columns[c].shape == Shape::Words && w > WRAPPED,
                columns[c].shape == Shape::Text,
                w,
            ))
        };
        let widest = (0..widths.len())
            .max_by_key(|&at| gives(&widths[at]))
            .filter(|&at| gives(&widths[at]).is_some());
        // Nothing gives way any more: the name does, and the line is cut at last.
        let at = widest.unwrap_or(0);
        if widths[at].1 <= 1 {
            break;
        }
        widths[at].1 -= 1;
    }
    let left = room.saturating_sub(whole(&widths));
    if let Some((_, plot)) = widths
        .iter_mut()
        .find(|(c, _)| columns[*c].shape == Shape::Drawn)
    {
        *plot = (*plot + left).min(PLOT.1);
    }
    widths
}

fn head(table: &Table, widths: &Widths, indent: usize, screen: &Screen) -> Option<String> {
    let fields = widths.iter().map(|&(c, field)| {
        let column = &table.columns[c];
        let title = column
            .axis
            .as_ref()
            .map_or_else(|| screen.text(&column.title), |plot| axis(plot, field));
        pad(
            &cut(&title, field, screen),
            field,
            column.shape == Shape::Number,
        )
    });
    let line = joined(fields.collect(), indent, screen);
    (!line.trim().is_empty()).then_some(line)
}

fn joined(fields: Vec<String>, indent: usize, screen: &Screen) -> String {
    let line = format!("{}{}", " ".repeat(indent), fields.join(&" ".repeat(GAP)));
    cut(line.trim_end(), screen.width(), screen)
}

/// A row; several lines where its sentences are wrapped. Its last cell runs over the columns that are left.
fn line(
    row: &Entry,
    columns: &[Column],
    widths: &Widths,
    indent: usize,
    screen: &Screen,
) -> Vec<StyledText> {
    let spans = row.cells.len() + 1 < columns.len();
    let mut fields: Vec<Vec<String>> = Vec::new();
    for (at, &(c, field)) in widths.iter().enumerate() {
        if spans && c == row.cells.len() && c > 0 {
            let used: usize = widths[..at].iter().map(|(_, w)| w + GAP).sum();
            let room = screen.width().saturating_sub(indent + used);
            // The lines after the first have room below all of its fields.
            fields.push(broken(text(row, c), room, screen));
            break;
        }
        let plot = self::field(row, c).and_then(|cell| cell.plot.as_ref());
        let texts = match columns[c].shape {
            Shape::Drawn => vec![plot.map_or_else(String::new, |plot| drawn(plot, field, screen))],
            _ if c == 0 => broken(text(row, c), field, screen),
            Shape::Words => broken(text(row, c), field, screen),
            Shape::Text | Shape::Number => vec![cut(&screen.text(text(row, c)), field, screen)],
        };
        let right = columns[c].shape == Shape::Number;
        fields.push(texts.iter().map(|text| pad(text, field, right)).collect());
    }
    let height = fields.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let part = |height: usize| {
        let field = |(at, texts): (usize, &Vec<String>)| {
            texts
                .get(height)
                .cloned()
                .unwrap_or_else(|| " ".repeat(widths[at].1))
        };
        joined(
            fields.iter().enumerate().map(field).collect(),
            indent,
            screen,
        )
    };
    let mut lines: Vec<StyledText> = (0..height).map(|at| part(at).into()).collect();
    let style = match row.tone {
        Tone::Faster => Some(Style::Faster),
        Tone::Slower => Some(Style::Slower),
        Tone::Open => Some(Style::Open),
        Tone::Plain | Tone::Baseline => None,
    };
    let name = widths.first().map_or(0, |(_, width)| indent + width);
    let first = part(0);
    if let Some((style, (at, _))) = style.zip(first.char_indices().nth(name)) {
        let (name, rest) = first.split_at(at);
        lines[0] = StyledText::new(name, style);
        lines[0].push(rest);
    }
    lines
}

/// Tells whether characters can draw it in a row of a table.
pub(super) fn is_drawn(plot: &Plot) -> bool {
    matches!(
        plot,
        Plot::Interval { .. } | Plot::Sides { .. } | Plot::Bar { .. }
    )
}

/// A drawing in a row of a table; empty where characters cannot draw it.
pub(super) fn drawn(plot: &Plot, columns: usize, screen: &Screen) -> String {
    match plot {
        Plot::Interval {
            axis,
            ratio: Some(ratio),
            ..
        }
        | Plot::Sides { axis, ratio, .. } => interval(ratio, axis, columns, screen),
        Plot::Interval {
            axis, ratio: None, ..
        } => baseline(axis, columns, screen),
        Plot::Bar { axis, factors, .. } => bar(*factors, axis, columns, screen),
        _ => String::new(),
    }
}

/// The words of an axis; empty where characters cannot draw it.
pub(super) fn axis(plot: &Plot, columns: usize) -> String {
    if let Plot::Ratios(axis) = plot {
        marks(axis, columns)
    } else {
        String::new()
    }
}

/// Position of a ratio among so many characters; beyond the ends that is said by `None` on its side.
fn column(axis: &Axis, ratio: f64, columns: usize) -> usize {
    let place = axis.place(ratio).clamp(0.0, 1.0);
    (place * (columns.saturating_sub(1)) as f64).round() as usize
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
fn bar((low, high): (f64, f64), axis: &Axis, columns: usize, screen: &Screen) -> String {
    let length =
        |factor: f64| axis.place(factor).clamp(0.0, 1.0) * (columns.saturating_sub(1)) as f64;
    let proven = length(low).floor() as usize;
    let possible = (length(high).ceil() as usize)
        .max(proven + usize::from(proven == 0))
        .max(1);
    let (full, light) = (screen.sign('█', '#'), screen.sign('░', '.'));
    let signs =
        std::iter::repeat_n(full, proven).chain(std::iter::repeat_n(light, possible - proven));
    signs.collect()
}

/// The marks of an axis: each tick's number at its place, where it does not touch the one before it.
fn marks(axis: &Axis, columns: usize) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    for ratio in axis.ranked_ticks() {
        let (at, word) = (column(axis, ratio, columns), numbers::short(ratio));
        let length = word.chars().count();
        let from = at
            .saturating_sub(length / 2)
            .min(columns.saturating_sub(length));
        let around = from.saturating_sub(1)..(from + length + 1).min(columns);
        if line[around].iter().all(|c| *c == ' ') {
            word.chars()
                .enumerate()
                .for_each(|(i, c)| line[from + i] = c);
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

/// An interval with its estimate: `├──●─┤`; an end beyond the axis is an arrow. The baseline's place is a line.
fn interval(ratio: &Ratio, axis: &Axis, columns: usize, screen: &Screen) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let (low, high) = (
        column(axis, ratio.low, columns),
        column(axis, ratio.high, columns),
    );
    line[column(axis, 1.0, columns)] = screen.sign('│', ':');
    line[low..=high].fill(screen.sign('─', '-'));
    line[low] = if axis.place(ratio.low) < -1e-9 {
        screen.sign('◂', '<')
    } else {
        screen.sign('├', '|')
    };
    line[high] = if axis.place(ratio.high) > 1.0 + 1e-9 {
        screen.sign('▸', '>')
    } else {
        screen.sign('┤', '|')
    };
    let inside = (0.0..=1.0).contains(&axis.place(ratio.ratio));
    if inside {
        line[column(axis, ratio.ratio, columns)] = screen.sign('●', '*');
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn baseline(axis: &Axis, columns: usize, screen: &Screen) -> String {
    format!(
        "{}{}",
        " ".repeat(column(axis, 1.0, columns)),
        screen.sign('●', '*')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            matches!(&crate::render::plot::Plot::Ratios(crate::render::plot::Axis::factors(2.0)), plot if !is_drawn(plot))
        );
    }

    mod bars {
        use super::*;

        fn estimate(low: f64, ratio: f64, high: f64) -> Ratio {
            Ratio {
                ratio,
                low,
                high,
                level: 0.95,
                launches: 10,
                error: 0.05,
                freedom: 9.0,
                drift: None,
            }
        }

        #[test]
        fn a_bar_is_full_up_to_what_is_proven() {
            let (axis, screen) = (Axis::factors(16.0), Screen::new(100, false));
            assert_eq!(bar((4.0, 8.0), &axis, 17, &screen), "████████░░░░");
            assert_eq!(bar((1.02, 1.05), &axis, 17, &screen), "░");
            assert_eq!(
                bar((16.0, 16.0), &axis, 17, &Screen::new(100, true)),
                "#".repeat(16)
            );
            assert_eq!(marks(&axis, 17), "1   2   4   8  16");
        }

        #[test]
        fn an_interval_is_drawn_where_it_lies() {
            let (axis, screen) = (
                Axis {
                    low: 0.25,
                    high: 4.0,
                    ticks: vec![0.25, 1.0, 4.0],
                },
                Screen::new(100, false),
            );
            assert_eq!(
                interval(&estimate(0.25, 0.5, 1.0), &axis, 9, &screen),
                "├─●─┤"
            );
            assert_eq!(
                interval(&estimate(2.0, 2.0, 2.0), &axis, 9, &screen),
                "    │ ●"
            );
            assert_eq!(
                interval(&estimate(0.1, 0.5, 9.0), &axis, 9, &screen),
                "◂─●─────▸"
            );
            assert_eq!(
                interval(&estimate(0.1, 0.11, 0.2), &axis, 9, &Screen::new(80, true)),
                "|   :"
            );
            assert_eq!(marks(&axis, 9), "    1   4");
            assert_eq!(baseline(&axis, 9, &screen), "    ●");
        }
    }
}
