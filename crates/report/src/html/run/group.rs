//! One comparison group as tables with drawings.

use crate::html::chart;
use crate::html::document::{Block, Body, Cell, Column, Entry, Key, Table};
use crate::view::{Curves, ExperimentView, FOR_COMPARISON, Grid, GroupView, Row, Stack};

pub(super) fn blocks(experiment: &ExperimentView, group: &GroupView) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !group.setting.is_empty() {
        blocks.push(Block::Heading { text: group.setting.clone() });
    }
    blocks.extend(group.answers.iter().map(|text| Block::Answer { text: text.clone() }));
    blocks.push(Block::Table(comparison(experiment, group)));
    blocks
        .extend((!group.footprint.is_empty()).then(|| Block::text(format!("Memory gone over: {}.", group.footprint))));
    blocks.extend(group.moved.iter().map(Block::text));
    if let Some(stack) = &group.stack {
        blocks.push(Block::Table(phases(group, stack)));
    }
    let mut behind = Vec::new();
    behind.extend(every_launch(group).map(Block::Table));
    behind.extend(group.tables.iter().flat_map(grid));
    behind.extend(group.settled.iter().map(Block::text));
    if !behind.is_empty() {
        let setting = if group.setting.is_empty() { &experiment.name } else { &group.setting };
        blocks.push(Block::Fold { title: format!("Every launch and further tables, {setting}"), blocks: behind });
    }
    blocks
}

fn titled(group: &GroupView, what: &str) -> String {
    if group.setting.is_empty() { what.to_owned() } else { format!("{what}, {}", group.setting) }
}

/// What is shown of a row, as a word that the style knows.
fn mark(row: &Row) -> &'static str {
    match row.verdict.as_str() {
        verdict if verdict.starts_with("not settled") => "open",
        verdict if verdict.contains(" faster (") => "faster",
        verdict if verdict.contains(" slower (") => "slower",
        "baseline" => "baseline",
        _ => "",
    }
}

fn comparison(experiment: &ExperimentView, group: &GroupView) -> Table {
    let against = group.against.as_ref().map_or_else(|| "verdict".to_owned(), |name| format!("against {name}"));
    let mut columns = vec![Column::text("method")];
    columns.extend(group.axis.as_ref().map(|axis| Column::plot("", chart::head(axis))));
    let mut rows = group.kinds.iter().flat_map(|kind| &kind.rows);
    let has_best = rows.any(|row| !row.of_best_possible.is_empty());
    columns.extend([
        Column::words(against),
        Column::number(group.headline.clone()),
        Column::number(format!("per {}", experiment.unit)),
        Column::number("ratio"),
    ]);
    columns.extend(has_best.then(|| Column::number("best possible")));
    columns.extend(["CPU", "faults"].map(Column::number));
    columns.push(Column { class: "number", ..Column::text("launches") });
    let row = |row: &Row| {
        let number = |of: fn(&crate::view::Numbers) -> f64| row.numbers.as_ref().map(of);
        let mut cells = Vec::new();
        if let Some(axis) = &group.axis {
            let has = row.ratio.is_some() || row.verdict == "baseline";
            let drawing = || chart::interval(axis, row.ratio.as_ref(), &row.launch_ratios, &row.ratio_words);
            cells.push(Cell::drawing(has.then(drawing)));
        }
        cells.extend([
            Cell::text(&row.verdict),
            Cell::number(&row.time, number(|n| n.wall_ns)),
            Cell::number(&row.per_unit, number(|n| n.per_unit_ns)),
            Cell::number(&row.ratio_words, row.ratio.map(|r| r.ratio)),
        ]);
        cells.extend(has_best.then(|| Cell::number(&row.of_best_possible, row.share.map(|s| s.ratio))));
        let launches = row.launches.len();
        cells.extend([
            Cell::number(&row.cpu, number(|n| n.cpu_ns)),
            Cell::number(&row.faults, number(|n| n.minor_faults)),
            Cell::text(if launches > 0 { launches.to_string() } else { String::new() }),
        ]);
        Entry { name: row.label.clone(), cell: Some(row.cell), mark: mark(row), cells }
    };
    let bodies = group.kinds.iter().map(|kind| Body {
        heading: kind.heading.clone(),
        aside: kind.heading == FOR_COMPARISON,
        rows: kind.rows.iter().map(row).collect(),
    });
    let mut caption = titled(group, "The comparison");
    if let Some(against) = group.against.as_ref().filter(|_| group.axis.is_some()) {
        caption += &format!(
            ": {} over that of {against}, left of 1 it takes less; lines are 95 % limits over launches, small dots single launches, open ones at an end lie beyond it",
            group.headline
        );
    }
    Table { caption, legend: Vec::new(), columns, bodies: bodies.collect() }
}

fn phases(group: &GroupView, stack: &Stack) -> Table {
    let row = |row: &crate::view::StackRow| Entry {
        name: row.label.clone(),
        cell: None,
        mark: "",
        cells: vec![Cell::drawing(Some(chart::stack(&stack.scale, &stack.phases, row)))],
    };
    Table {
        caption: titled(group, "Where the time goes: medians of the phases, end to end"),
        legend: Key::all(&stack.phases),
        columns: vec![Column::text("method"), Column::plot("", chart::lengths(&stack.scale))],
        bodies: vec![Body { rows: stack.rows.iter().map(row).collect(), ..Body::default() }],
    }
}

fn every_launch(group: &GroupView) -> Option<Table> {
    let scale = group.times.as_ref()?;
    let row = |row: &Row| Entry {
        name: row.label.clone(),
        cell: None,
        mark: "",
        cells: vec![
            Cell::drawing(Some(chart::launches(scale, &row.launches, &format!("{} launches", row.launches.len())))),
            Cell::text(row.launches.len().to_string()),
        ],
    };
    let rows = group.kinds.iter().flat_map(|k| &k.rows).filter(|r| !r.launches.is_empty()).map(row);
    Some(Table {
        caption: titled(
            group,
            &format!("Every launch by {}: the first at the top, the last at the bottom", group.headline),
        ),
        legend: Vec::new(),
        columns: vec![Column::text("method"), Column::plot("", chart::times(scale)), Column::text("launches")],
        bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
    })
}

fn grid(grid: &Grid) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !grid.rows.is_empty() {
        let rows = grid.rows.iter().map(|row| Entry {
            name: row.label.clone(),
            cells: row.values.iter().map(Cell::text).collect(),
            ..Entry::default()
        });
        let number = |title: &String| Column { class: "number", ..Column::text(title.clone()) };
        blocks.push(Block::Table(Table {
            caption: grid.title.clone(),
            legend: Vec::new(),
            columns: std::iter::once(Column::text("method")).chain(grid.columns.iter().map(number)).collect(),
            bodies: vec![Body { rows: rows.collect(), ..Body::default() }],
        }));
    }
    blocks.extend(grid.below.iter().map(Block::text));
    blocks
}

/// Cost against size.
pub(super) fn curves(unit: &str, curves: &Curves) -> Block {
    let setting = if curves.setting.is_empty() { String::new() } else { format!(", {}", curves.setting) };
    let (headline, parameter) = (&curves.headline, &curves.parameter);
    let mut caption =
        format!("{headline}, time per {unit}, against {parameter}{setting}; equal steps are equal factors");
    for crossover in &curves.crossovers {
        caption += &format!(". {}", crossover.words);
    }
    if curves.left_out > 0 {
        caption += &format!(". {} more methods stand in the tables", curves.left_out);
    }
    Block::Chart {
        drawing: chart::curves(curves, &caption),
        legend: Key::all(curves.lines.iter().map(|l| &l.label)),
        caption: caption + ".",
    }
}
