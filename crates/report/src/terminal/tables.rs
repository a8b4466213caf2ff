//! The tables of experiments: one a comparison group, and with `--full` what lies behind it.

use super::bars;
use super::layout::{GAP, Side, table, width, wrap};
use super::screen::Screen;
use super::{Wanted, warnings};
use crate::view::{ExperimentView, FOR_COMPARISON, Grid, GroupView, Kind, Row, View};
use crate::words;

/// Columns of an interval's plot: as many as there is room for between these.
const PLOT: (usize, usize) = (13, 25);
/// Columns of a table at most.
const MOST: usize = 9;
/// How far a table stands in.
const INDENT: usize = 2;
/// Names are kept at least so wide when other columns are added.
const NAME: usize = 24;

/// What a column of the comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Time,
    Plot,
    Verdict,
    PerUnit,
    Ratio,
    OfBest,
    Cpu,
    Faults,
}

/// In the order in which they stand.
const ORDER: [Column; MOST] = [
    Column::Name,
    Column::Time,
    Column::PerUnit,
    Column::Plot,
    Column::Ratio,
    Column::Verdict,
    Column::OfBest,
    Column::Cpu,
    Column::Faults,
];

/// In the order in which they are taken in where there is room; name, time and verdict are always there.
const WISHED: [Column; 6] = [Column::Plot, Column::PerUnit, Column::Cpu, Column::OfBest, Column::Faults, Column::Ratio];

/// The tables of all experiments that are wanted.
pub(super) fn render(view: &View, screen: &Screen, wanted: &Wanted) -> String {
    let mut lines = wrap(&format!("pagewise · {}", view.head.join(" · ")), 0, screen);
    let mut footnote = false;
    let is_wanted = |e: &&ExperimentView| wanted.experiments.is_empty() || wanted.experiments.contains(&e.name);
    for experiment in view.experiments.iter().filter(is_wanted) {
        lines.push(String::new());
        lines.extend(wrap(&format!("{}: {}", experiment.name, experiment.title), 0, screen));
        lines.extend(wrap(&format!("compared is {}", experiment.compared), INDENT, screen));
        if !experiment.constant.is_empty() {
            lines.extend(wrap(&format!("throughout: {}", experiment.constant.join(" ")), INDENT, screen));
        }
        for group in &experiment.groups {
            lines.push(String::new());
            lines.extend(of_group(experiment, group, screen, wanted.full));
            footnote |= group.kinds.iter().flat_map(|k| &k.rows).any(|r| r.verdict.contains('¹'));
        }
        lines.extend(absent(experiment, screen));
    }
    lines.push(String::new());
    if footnote {
        lines.extend(wrap(words::AMONG_ALL, 0, screen));
    }
    for sure in &view.sure {
        lines.extend(wrap(sure, 0, screen));
    }
    lines.extend(warnings::counted(view, screen));
    // What is told of experiments that were not asked for is left to a report of all.
    let unasked: Vec<String> =
        view.experiments.iter().filter(|e| !is_wanted(e)).map(|e| format!("{}: ", e.name)).collect();
    for note in view.notes.iter().filter(|note| !unasked.iter().any(|name| note.starts_with(name.as_str()))) {
        lines.extend(wrap(&format!("Note: {note}"), 0, screen));
    }
    lines.join("\n") + "\n"
}

fn of_group(experiment: &ExperimentView, group: &GroupView, screen: &Screen, full: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let head: Vec<&str> = [group.setting.as_str(), &group.footprint].into_iter().filter(|w| !w.is_empty()).collect();
    if !head.is_empty() {
        lines.extend(wrap(&head.join(" · "), INDENT, screen));
    }
    lines.extend(comparison(experiment, group, screen, full));
    for sentence in group.answers.iter().chain(&group.moved) {
        lines.extend(wrap(sentence, INDENT, screen));
    }
    if full {
        for grid in &group.tables {
            lines.push(String::new());
            lines.extend(of_grid(grid, screen));
        }
        for sentence in &group.settled {
            lines.extend(wrap(sentence, INDENT, screen));
        }
    }
    lines
}

fn title(column: Column, experiment: &ExperimentView, group: &GroupView, plot: usize) -> String {
    match column {
        Column::Name => String::new(),
        Column::Time => group.headline.clone(),
        Column::Plot => group.axis.as_ref().map_or_else(String::new, |axis| bars::marks(axis, plot)),
        Column::Verdict => group.against.as_ref().map_or_else(String::new, |name| format!("against {name}")),
        Column::PerUnit => format!("per {}", experiment.unit),
        Column::Ratio => "ratio".to_owned(),
        Column::OfBest => "best possible".to_owned(),
        Column::Cpu => "CPU".to_owned(),
        Column::Faults => "faults".to_owned(),
    }
}

fn text(column: Column, row: &Row, group: &GroupView, columns: usize, screen: &Screen) -> String {
    match column {
        Column::Name => row.label.clone(),
        Column::Time => row.time.clone(),
        Column::Plot => plot(row, group, columns, screen),
        Column::Verdict => row.verdict.clone(),
        Column::PerUnit => row.per_unit.clone(),
        Column::Ratio => row.ratio_words.clone(),
        Column::OfBest => row.of_best_possible.clone(),
        Column::Cpu => row.cpu.clone(),
        Column::Faults => row.faults.clone(),
    }
}

fn plot(row: &Row, group: &GroupView, columns: usize, screen: &Screen) -> String {
    match (&group.axis, &row.ratio) {
        (Some(axis), Some(ratio)) => bars::interval(ratio, axis, columns, screen),
        (Some(axis), None) if row.verdict == "baseline" => bars::baseline(axis, columns, screen),
        _ => String::new(),
    }
}

fn side(column: Column) -> Side {
    match column {
        Column::Name | Column::Plot | Column::Verdict => Side::Left,
        _ => Side::Right,
    }
}

/// Which columns there is room for, and how wide the plot is.
fn fitting(columns: &[(Column, usize)], screen: &Screen) -> (Vec<Column>, usize) {
    let of = |wanted: Column| columns.iter().find(|(c, _)| *c == wanted).map_or(0, |(_, w)| *w);
    let mut taken = vec![Column::Name, Column::Time, Column::Verdict];
    let mut used = INDENT + of(Column::Name).min(NAME) + of(Column::Time) + of(Column::Verdict) + 2 * GAP;
    let mut plot = PLOT.0;
    for wished in WISHED {
        // A column without a word in it takes no room.
        if of(wished) > 0 && used + GAP + of(wished) <= screen.width() {
            if wished == Column::Plot {
                plot = (screen.width() - used - GAP).min(PLOT.1);
                used += GAP + plot;
            } else {
                used += GAP + of(wished);
            }
            taken.push(wished);
        }
    }
    (ORDER.into_iter().filter(|c| taken.contains(c)).collect(), plot)
}

/// One table for all kinds of rows; a line of its own heads those that are not ranked with the first.
fn comparison(experiment: &ExperimentView, group: &GroupView, screen: &Screen, full: bool) -> Vec<String> {
    // Best possible and floor are asked for by --full.
    let kinds: Vec<&Kind> = group.kinds.iter().filter(|k| full || k.heading != FOR_COMPARISON).collect();
    let rows = || kinds.iter().flat_map(|k| &k.rows);
    let widest = |column: Column| {
        let most = rows().map(|row| width(&screen.text(&text(column, row, group, PLOT.0, screen)))).max().unwrap_or(0);
        match column {
            _ if most == 0 => 0,
            Column::Plot => PLOT.0,
            _ => most.max(width(&screen.text(&title(column, experiment, group, PLOT.0)))),
        }
    };
    let columns: Vec<(Column, usize)> = ORDER.into_iter().map(|c| (c, widest(c))).collect();
    let (columns, plot) = fitting(&columns, screen);
    let mut texts = vec![columns.iter().map(|&c| title(c, experiment, group, plot)).collect::<Vec<String>>()];
    texts.extend(rows().map(|row| columns.iter().map(|&c| text(c, row, group, plot, screen)).collect()));
    let sides: Vec<Side> = columns.iter().map(|&c| side(c)).collect();
    let mut drawn = table(&texts, &sides, INDENT, screen).into_iter();
    let mut lines: Vec<String> = drawn.next().into_iter().collect();
    for kind in kinds {
        if !kind.heading.is_empty() {
            lines.extend(wrap(&format!("{}:", kind.heading), INDENT, screen));
        }
        lines.extend(drawn.by_ref().take(kind.rows.len()));
    }
    lines
}

/// A further table; where it is too wide it is cut into several, each with the names before it.
fn of_grid(grid: &Grid, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let label = grid.rows.iter().map(|r| width(&r.label)).chain([width(&grid.title)]).max().unwrap_or(0);
    let label = label.min(screen.width() / 2);
    let mut from = 0;
    while from < grid.columns.len() && !grid.rows.is_empty() {
        let mut used = INDENT + label;
        let fits = |column: usize, used: usize| {
            let texts = grid.rows.iter().filter_map(|r| r.values.get(column)).map(|v| width(&screen.text(v)));
            used + GAP + texts.chain([width(&grid.columns[column])]).max().unwrap_or(0)
        };
        let mut to = from;
        while to < grid.columns.len() && (to == from || fits(to, used) <= screen.width()) {
            used = fits(to, used);
            to += 1;
        }
        let head = std::iter::once(grid.title.clone()).chain(grid.columns[from..to].iter().cloned());
        let mut rows: Vec<Vec<String>> = vec![head.collect()];
        rows.extend(
            grid.rows
                .iter()
                .map(|row| std::iter::once(row.label.clone()).chain(row.values[from..to].iter().cloned()).collect()),
        );
        let mut sides = vec![Side::Right; to - from + 1];
        sides[0] = Side::Left;
        lines.extend(table(&rows, &sides, INDENT, screen));
        from = to;
    }
    for sentence in &grid.below {
        lines.extend(wrap(sentence, INDENT, screen));
    }
    lines
}

/// Cells without figures, by outcome and reason.
fn absent(experiment: &ExperimentView, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for absent in &experiment.absent {
        let said = format!("{}: {}: {}", absent.status.word(), absent.names.join(", "), absent.reason);
        lines.extend(wrap(&said, INDENT, screen));
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}
