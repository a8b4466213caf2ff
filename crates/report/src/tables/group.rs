//! One comparison group: its rows in order, each with its finding, as tables with drawings.

use super::{curves, further};
use crate::render::document::{
    Block, Body, Column, Entry, Key, Place, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot, Scale};
use crate::sentences::labels::Labels;
use crate::sentences::numbers::{self, Work};
use crate::sentences::{answer, wording};
use record::sizes::{about_size, format_ns};
use record::summary::{
    CacheFit, CellSummary, Comparison, ExperimentSummary, GroupSummary, PhaseSummary, Ratio, Role,
    Summary,
};
use record::{experiment::Experiment, outcome::Status};
use stats::estimate::Drift;
use std::collections::BTreeMap;

/// Rows that are ranked with each other, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowKind<'a> {
    Ordinary,
    /// Another job, ranked by itself.
    Other(&'a str),
    Published,
    Aside,
}

struct Row<'a> {
    cell: usize,
    label: String,
    phase: &'a PhaseSummary,
    /// The ratio to the baseline, where it may be believed.
    ratio: Option<Ratio>,
    finding: CellFinding<'a>,
    /// The lower bound's time as a share of this one.
    share: Option<Ratio>,
    launches: usize,
    /// Each launch's wall time over that of the baseline in the same block.
    launch_ratios: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CellFinding<'a> {
    Nothing,
    Baseline,
    Floor,
    BestPossible,
    /// A candidate for the lower bound, beaten by another one or by a method.
    Candidate {
        by_another: bool,
    },
    TooFew,
    BelowFloor,
    Compared(&'a Comparison),
    Outcome(Status),
}

impl CellFinding<'_> {
    fn label(self) -> String {
        match self {
            CellFinding::Nothing => "",
            CellFinding::Baseline => "baseline",
            CellFinding::Floor => "floor",
            CellFinding::BestPossible => "lower bound",
            CellFinding::Candidate { by_another: true } => "another candidate for it",
            CellFinding::Candidate { by_another: false } => "meant as lower bound, but beaten",
            CellFinding::TooFew => "too few launches",
            CellFinding::BelowFloor => "below twice the floor",
            CellFinding::Compared(comparison) => return wording::verdict_briefly(comparison),
            CellFinding::Outcome(status) => return status.word(),
        }
        .to_owned()
    }

    fn tone(self) -> Tone {
        match self {
            CellFinding::Baseline => Tone::Baseline,
            CellFinding::Compared(c) if c.ratio.is_some() => {
                Tone::of_verdict(c.verdict, c.holds_among_all)
            }
            _ => Tone::Plain,
        }
    }

    fn new<'a>(
        summary: &Summary,
        group: &GroupSummary,
        index: usize,
        compared: Option<&'a Comparison>,
    ) -> CellFinding<'a> {
        let cell = &summary.cells[index];
        match (cell.outcome.status, cell.role) {
            (Status::Ok, _) if group.baseline == Some(index) => CellFinding::Baseline,
            (Status::Ok, Role::Null) => CellFinding::Floor,
            (Status::Ok, Role::Limit) if group.best_possible == Some(index) => {
                CellFinding::BestPossible
            }
            (Status::Ok, Role::Limit) => {
                let by_another = group
                    .best_possible
                    .is_some_and(|best| summary.cells[best].role == Role::Limit);
                CellFinding::Candidate { by_another }
            }
            (Status::Ok, _) => match compared {
                Some(comparison) => CellFinding::Compared(comparison),
                None if group.baseline.is_none() => CellFinding::Nothing,
                None => CellFinding::TooFew,
            },
            (status, _) => CellFinding::Outcome(status),
        }
    }
}

impl<'a> RowKind<'a> {
    fn of_cell(cell: &'a CellSummary) -> RowKind<'a> {
        match cell.role {
            Role::Limit | Role::Null => RowKind::Aside,
            Role::Published => RowKind::Published,
            Role::Method if !cell.group.is_empty() => RowKind::Other(&cell.group),
            Role::Method => RowKind::Ordinary,
        }
    }

    fn heading(self) -> String {
        match self {
            RowKind::Ordinary => String::new(),
            RowKind::Other(group) => format!("another job, ranked by itself ({group})"),
            RowKind::Published => "jobs as published".to_owned(),
            RowKind::Aside => "for comparison".to_owned(),
        }
    }
}

/// The groups of an experiment, smaller sizes first.
pub(crate) fn in_order<'a>(summary: &'a Summary, experiment: &'a str) -> Vec<&'a GroupSummary> {
    let value = |text: &'a String| (text.parse::<u64>().unwrap_or(u64::MAX), text);
    let mut groups: Vec<&GroupSummary> = summary.groups_of(experiment).collect();
    groups.sort_by_cached_key(|group| {
        group
            .parameters
            .iter()
            .map(|(key, text)| (key, value(text)))
            .collect::<Vec<_>>()
    });
    groups
}

/// A group as blocks, and true if a finding has the footnote [`wording::AMONG_ALL`]. `None` where it has nothing but floors and
/// lower bounds, which answer nothing.
pub(crate) fn of_group(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
) -> Option<(Vec<Block>, bool)> {
    let definition = &experiment.definition;
    let cells: Vec<usize> = group
        .cells
        .iter()
        .copied()
        .filter(|&c| !summary.cells[c].phases.is_empty())
        .collect();
    if cells
        .iter()
        .all(|&c| matches!(summary.cells[c].role, Role::Null | Role::Limit))
    {
        return None;
    }
    let compared = group.by_cell(&experiment.headline);
    let mut kinds: BTreeMap<RowKind, Vec<Row>> = BTreeMap::new();
    for &cell in &cells {
        // Methods without the phase that is compared are in the further tables only.
        let row = row(
            summary,
            experiment,
            (group, compared.get(&cell).copied()),
            cell,
            labels,
        );
        kinds
            .entry(RowKind::of_cell(&summary.cells[cell]))
            .or_default()
            .extend(row);
    }
    kinds.retain(|_, rows| !rows.is_empty());
    let name = |cell: usize| labels.cell(definition, &summary.cells[cell]);
    let baseline = group.baseline.map(name);
    let ordinary = kinds.get(&RowKind::Ordinary).into_iter().flatten();
    let ordinary: Vec<(usize, &str)> = ordinary.map(|r| (r.cell, r.label.as_str())).collect();
    let setting = labels.setting(definition, group);
    let titled = |caption: String| {
        if setting.is_empty() {
            caption
        } else {
            format!("{caption}, {setting}")
        }
    };
    let footprint = footprint(summary, &ordinary);
    let head: Vec<&str> = [setting.as_str(), &footprint]
        .into_iter()
        .filter(|w| !w.is_empty())
        .collect();
    let mut blocks = vec![Block::Heading(head.join(" · "))];
    blocks.push(Block::Table(comparison(
        experiment,
        &kinds,
        baseline.as_deref(),
        titled("The comparison".to_owned()),
    )));
    blocks.extend(
        answer::sentences(summary, group, name)
            .into_iter()
            .map(Block::Answer),
    );
    let moved = moved(experiment, group, name)
        .into_iter()
        .chain(levels(summary, experiment, &cells, name));
    blocks.extend(moved.map(Block::Text));
    let caption = format!(
        "Where {} goes per {}: medians of its phases, end to end",
        experiment.headline,
        Work::new(definition).noun()
    );
    let stack = stack(summary, definition, &ordinary, titled(caption));
    blocks.extend(Block::part(
        "",
        Place::Page,
        stack.map(Block::Table).into_iter().collect(),
    ));
    let described: Vec<_> = cells
        .iter()
        .map(|&cell| (name(cell), &summary.cells[cell]))
        .collect();
    let percentiles = curves::chart(&described, baseline.as_deref(), &setting);
    blocks.extend(Block::part(
        "",
        Place::Page,
        percentiles.into_iter().collect(),
    ));
    let mut behind = further::of_group(summary, definition, &cells, labels);
    behind.extend(
        further::settled(summary, &cells, name)
            .into_iter()
            .map(Block::Text),
    );
    let setting = if setting.is_empty() {
        &definition.name
    } else {
        &setting
    };
    blocks.extend(Block::part(
        format!("Further tables, {setting}"),
        Place::Full,
        behind,
    ));
    let unsure = |r: &Row| matches!(r.finding, CellFinding::Compared(c) if c.ratio.is_some() && !c.holds_among_all);
    Some((blocks, kinds.values().flatten().any(unsure)))
}

/// The table of methods, with their kinds in order. A new figure of a cell is a column and its cell here.
fn comparison(
    experiment: &ExperimentSummary,
    kinds: &BTreeMap<RowKind, Vec<Row>>,
    against: Option<&str>,
    mut caption: String,
) -> Table {
    let work = Work::new(&experiment.definition);
    // Floors lie so far off that they would squeeze the others.
    let ranked = kinds
        .iter()
        .filter(|(kind, _)| **kind != RowKind::Aside)
        .flat_map(|(_, rows)| rows);
    let axis = Axis::over(ranked.filter_map(|r| r.ratio.as_ref()));
    let mut columns = vec![
        Column::text("method"),
        Column::number(format!("{} ({})", experiment.headline, work.heading())),
    ];
    columns.extend(
        axis.iter()
            .map(|axis| Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(0))),
    );
    columns.extend([
        Column::sentences(against.map_or_else(String::new, |name| format!("against {name}"))),
        Column::number("ratio").shown(Shown::Room(5)),
        Column::number("lower bound").shown(Shown::Room(3)),
        Column::number(if work.noun() == "MiB" {
            "CPU/MiB"
        } else {
            "CPU"
        })
        .shown(Shown::Room(2)),
        Column::number("faults").shown(Shown::Room(4)),
        Column::number("p99").shown(Shown::Page),
        Column::number("launches").shown(Shown::Page),
    ]);
    let bodies = kinds.iter().map(|(kind, rows)| Body {
        heading: kind.heading(),
        aside: *kind == RowKind::Aside,
        rows: rows
            .iter()
            .map(|row| row.entry(work, axis.as_ref()))
            .collect(),
    });
    if let Some(against) = against.filter(|_| axis.is_some()) {
        caption += &format!(
            ": {} over that of {against}, left of 1 it takes less; lines are 95 % limits over launches, small dots single launches, open ones at an end lie beyond it",
            experiment.headline
        );
    }
    Table {
        caption,
        columns,
        bodies: bodies.collect(),
        ..Table::default()
    }
}

impl Row<'_> {
    fn entry(&self, work: Work, axis: Option<&Axis>) -> Entry {
        let is_baseline = self.finding == CellFinding::Baseline;
        let ratio = if is_baseline {
            TableCell::text("1")
        } else {
            TableCell::ratio(self.ratio.as_ref())
        };
        let mut cells = vec![TableCell::cost(work, &self.phase.per_unit_ns)];
        if let Some(axis) = axis {
            let (ratio, launches, label) =
                (self.ratio, self.launch_ratios.clone(), ratio.text.clone());
            let plot = Plot::Interval {
                axis: axis.clone(),
                ratio,
                launches,
                label,
            };
            cells.push(TableCell::plot(
                (self.ratio.is_some() || is_baseline).then_some(plot),
            ));
        }
        let launches = if self.launches == 0 {
            String::new()
        } else {
            self.launches.to_string()
        };
        cells.extend([
            TableCell::text(self.finding.label()),
            ratio,
            self.share.map_or_else(TableCell::default, |s| {
                TableCell::number(numbers::share(&s), Some(s.ratio))
            }),
            TableCell::ns(self.phase.cpu_ns.median * work.scale(self.phase)),
            TableCell::mean(self.phase.minor_faults),
            self.phase
                .per_unit_ns
                .p99
                .map_or_else(TableCell::default, |p99| TableCell::work(work, p99)),
            TableCell::text(launches),
        ]);
        Entry {
            name: self.label.clone(),
            link: None,
            cell: Some(self.cell),
            tone: self.finding.tone(),
            cells,
        }
    }
}

/// The memory that ranked methods work on, against the caches: `fits the cache (128 KiB)`.
fn footprint(summary: &Summary, rows: &[(usize, &str)]) -> String {
    let footprints: Vec<_> = rows
        .iter()
        .filter_map(|&(cell, _)| summary.cells[cell].footprint.as_ref())
        .collect();
    let known = [
        (CacheFit::InCache, "fits the cache"),
        (CacheFit::Around, "around the cache's size"),
        (CacheFit::InMemory, "larger than the cache"),
    ];
    let places = known
        .iter()
        .filter(|(fit, _)| footprints.iter().any(|f| f.against_cache == *fit));
    let places: Vec<&str> = places.map(|(_, words)| *words).collect();
    let Some((least, most)) = footprints
        .iter()
        .map(|f| f.bytes)
        .min()
        .zip(footprints.iter().map(|f| f.bytes).max())
    else {
        return String::new();
    };
    let [least, most] = [least, most].map(|bytes| about_size(bytes as f64));
    let sizes = if least == most {
        most
    } else {
        format!("{least} to {most}")
    };
    if places.is_empty() {
        String::new()
    } else {
        format!("{} ({sizes})", places.join(" to "))
    }
}

/// Ratios that drifted while they were measured.
fn moved(
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    name: impl Fn(usize) -> String,
) -> Vec<String> {
    let of_headline = group
        .comparisons
        .iter()
        .filter(|c| c.phase == experiment.headline);
    let sentence = |c: &Comparison| {
        let Drift { low, high, .. } = c.ratio?.drift?;
        Some(format!("{}: {}", name(c.cell), wording::moved(low, high)))
    };
    of_headline.filter_map(sentence).collect()
}

/// Cells whose launches have two levels.
fn levels<'a>(
    summary: &'a Summary,
    experiment: &'a ExperimentSummary,
    cells: &'a [usize],
    name: impl Fn(usize) -> String + 'a,
) -> impl Iterator<Item = String> + 'a {
    let of_cell = move |&cell: &usize| {
        let phase = summary.cells[cell].phases.get(&experiment.headline)?;
        let work = Work::new(&experiment.definition);
        let levels = phase.levels?;
        let [low, high] = [levels.low, levels.high].map(|ns| format_ns(ns * work.scale(phase)));
        let share = wording::percent(levels.share);
        Some(format!(
            "{}: two levels: {low}, and {high} in {share} of launches (per {})",
            name(cell),
            work.noun()
        ))
    };
    cells.iter().filter_map(of_cell)
}

fn row<'a>(
    summary: &'a Summary,
    experiment: &ExperimentSummary,
    (group, comparison): (&GroupSummary, Option<&'a Comparison>),
    index: usize,
    labels: &Labels,
) -> Option<Row<'a>> {
    let cell = &summary.cells[index];
    let phase = cell.phases.get(&experiment.headline)?;
    let believed = cell.outcome.status == Status::Ok;
    let ratio = comparison.and_then(|c| c.ratio).filter(|_| believed);
    let base = group
        .baseline
        .filter(|&base| base != index && ratio.is_some());
    let mut finding = CellFinding::new(summary, group, index, comparison);
    if phase.below_floor && believed && cell.role == Role::Method {
        finding = CellFinding::BelowFloor;
    }
    Some(Row {
        cell: index,
        label: labels.cell(&experiment.definition, cell),
        phase,
        ratio: ratio.filter(|_| finding != CellFinding::Baseline),
        finding,
        share: phase
            .of_best_possible
            .filter(|_| cell.role != Role::Null && believed),
        launches: cell
            .per_launch
            .iter()
            .filter(|launch| launch.wall_ns.contains_key(&experiment.headline))
            .count(),
        launch_ratios: base
            .map(|base| ratios(cell, &summary.cells[base], &experiment.headline))
            .unwrap_or_default(),
    })
}

/// Each launch over the baseline's launch of the same block.
fn ratios(cell: &CellSummary, baseline: &CellSummary, headline: &str) -> Vec<f64> {
    let times = |cell: &CellSummary| -> BTreeMap<i32, f64> {
        cell.per_launch
            .iter()
            .filter_map(|l| Some((l.block, *l.wall_ns.get(headline)?)))
            .collect()
    };
    let (mine, theirs) = (times(cell), times(baseline));
    let both = mine
        .iter()
        .filter_map(|(block, wall)| Some(wall / theirs.get(block)?));
    both.filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect()
}

/// The phases of a group's ordinary methods, laid end to end in the order in which they pass: a method may save in one phase
/// and pay in another. A method is a cell and its label. `None` where phases overlap, or where there are fewer than two of
/// them or of the cells.
fn stack(
    summary: &Summary,
    experiment: &Experiment,
    ordinary: &[(usize, &str)],
    caption: String,
) -> Option<Table> {
    if experiment.totals.iter().any(|t| t.overlap) {
        return None;
    }
    let rows: Vec<_> = ordinary
        .iter()
        .filter(|(cell, _)| summary.cells[*cell].outcome.status == Status::Ok)
        .collect();
    // Another pass, such as a second use, is no part of the time that is compared.
    let headline = experiment.totals.iter().find(|total| total.headline);
    let has = |phase: &&String| {
        let median = |cell: usize| {
            summary.cells[cell]
                .phases
                .get(*phase)
                .map_or(0.0, |p| p.wall_ns.median)
        };
        // The other side's phases pass at the same time.
        let is_part = headline.is_none_or(|total| total.phases.contains(phase));
        is_part && !phase.ends_with(".b") && rows.iter().any(|(cell, _)| median(*cell) > 0.0)
    };
    let phases: Vec<String> = experiment.phases.iter().filter(has).cloned().collect();
    if phases.len() < 2 || rows.len() < 2 {
        return None;
    }
    let part = |cell: usize, phase: &String| {
        let phases = &summary.cells[cell].phases;
        let scale = Work::new(experiment).scale(phases.get(experiment.headline())?);
        let wall = phases.get(phase)?.wall_ns.map(|ns| ns * scale);
        (wall.median.is_finite() && wall.median >= 0.0)
            .then(|| (wall.median, numbers::interval(&wall)))
    };
    let rows: Vec<(&str, Vec<_>)> = rows
        .iter()
        .map(|&&(cell, label)| (label, phases.iter().map(|p| part(cell, p)).collect()))
        .collect();
    let scale = Scale::lengths(
        rows.iter()
            .map(|(_, parts)| parts.iter().flatten().map(|(wall, _)| wall).sum()),
    )?;
    let columns = vec![
        Column::text("method"),
        Column::plot(Plot::Times(scale.clone())),
    ];
    let row = |(label, parts): (&str, _)| {
        let (scale, phases) = (scale.clone(), phases.clone());
        Entry::new(
            label,
            vec![TableCell::plot(Some(Plot::Stack {
                scale,
                phases,
                parts,
            }))],
        )
    };
    Some(Table {
        legend: Key::all(&phases),
        ..Table::new(caption, columns, rows.into_iter().map(row))
    })
}
