//! The comparison of one group: its rows in order, each with its finding, drawn along one axis.

use super::columns::Columns;
use crate::render::document::{Column, Entry, Shown, Table, TableCell, Tone};
use crate::render::plot::{Axis, Plot};
use crate::sentences::labels::LabelledGroup;
use crate::sentences::{numbers, wording};
use indexmap::IndexSet;
use record::outcome::Status;
use record::summary::{CellSummary, Comparison, PhaseSummary, Ratio, Role};
use std::collections::BTreeMap;

/// The reading of drawn ratios.
const DRAWN: &str = "left of 1 it takes less; lines are 95 % limits over launches, small dots single launches, pale ones at an \
                     end lie beyond it";
/// Panels that are side by side at most.
const MOST_PANELS: usize = 12;
/// Panels that have room for all words of their axis.
const FULL_PANELS: usize = 4;

/// The rows of a group by the kinds that are ranked with each other.
pub(crate) struct RankedRows<'a> {
    group: LabelledGroup<'a>,
    kinds: BTreeMap<RowKind<'a>, Vec<Row<'a>>>,
}

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
    /// The mean of these by their logarithms, where they are too few for an interval.
    early: Option<f64>,
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

impl<'a> RankedRows<'a> {
    pub fn new(group: LabelledGroup<'a>, cells: &[usize]) -> RankedRows<'a> {
        let compared = group.group.by_cell(group.experiment.headline());
        let mut kinds: BTreeMap<RowKind, Vec<Row>> = BTreeMap::new();
        for &cell in cells {
            // Methods without the phase that is compared are in the further tables only.
            if let Some(row) = Row::new(group, cell, compared.get(&cell).copied()) {
                let kind = RowKind::of_cell(group.cell(cell));
                kinds.entry(kind).or_default().push(row);
            }
        }
        RankedRows { group, kinds }
    }

    /// Cells of the methods that do the experiment's own job, in their order.
    pub fn ordinary(&self) -> Vec<usize> {
        let rows = self.kinds.get(&RowKind::Ordinary).into_iter().flatten();
        rows.map(|row| row.cell).collect()
    }

    /// Tells whether a finding has the footnote [`wording::AMONG_ALL`].
    pub fn has_footnote(&self) -> bool {
        let mut rows = self.kinds.values().flatten();
        rows.any(|row| {
            matches!(row.finding, CellFinding::Compared(c) if c.contrast.ratio.is_some() && !c.contrast.holds_among_all)
        })
    }

    /// The table of methods, with their kinds in order. A new figure of a cell is a column here. A page that has a picture of all
    /// groups draws none of them again.
    pub fn table(&self, caption: String, is_pictured: bool) -> Table {
        let work = self.group.work();
        let headline = self.group.experiment.headline();
        let baseline = self.group.baseline_name();
        let axis = Axis::over(self.ratios());
        let shown = if is_pictured {
            Shown::Screen
        } else {
            Shown::Room(0)
        };
        let columns = Columns::new("method", |row: &Row| row.label.clone())
            .number(format!("{headline} ({})", work.heading()), move |row| {
                TableCell::cost(work, row.phase)
            })
            .ratios(axis.as_ref(), shown, Row::plot)
            .sentences(
                baseline
                    .as_ref()
                    .map_or("finding".to_owned(), |name| format!("against {name}")),
                |row| row.finding.label(),
            )
            .number("ratio", Row::ratio_cell)
            .shown(Shown::Room(5))
            .number("lower bound", Row::share_cell)
            .shown(Shown::Room(3))
            .number(if work.is_rate() { "CPU/MiB" } else { "CPU" }, move |row| {
                TableCell::ns(row.phase.cpu_ns.median * work.scale(row.phase))
            })
            .shown(Shown::Room(2))
            .number("faults", |row| TableCell::mean(row.phase.minor_faults))
            .shown(Shown::Room(4))
            .number("p99", move |row| {
                let p99 = row.phase.per_unit_ns.p99;
                p99.map_or_else(TableCell::default, |p99| TableCell::work(work, p99))
            })
            .shown(Shown::Page)
            .figure("launches", Row::launches)
            .shown(Shown::Page)
            .marked(|row, entry| Entry {
                cell: Some(row.cell),
                tone: row.finding.tone(),
                ..entry
            });
        let mut bodies = Vec::new();
        for (kind, rows) in &self.kinds {
            let mut body = columns.body(kind.heading(), rows);
            body.aside = *kind == RowKind::Aside;
            bodies.push(body);
        }
        let caption = match baseline.filter(|_| axis.is_some() && !is_pictured) {
            None => caption,
            Some(baseline) => format!("{caption}: {headline} over that of {baseline}, {DRAWN}"),
        };
        columns.table_of(caption, bodies)
    }

    /// The rows that are drawn: floors lie so far off that they would squeeze the others.
    fn drawn(&self) -> impl Iterator<Item = &Row<'a>> {
        let ranked = self.kinds.iter();
        ranked
            .filter(|(kind, _)| **kind != RowKind::Aside)
            .flat_map(|(_, rows)| rows)
    }

    fn ratios(&self) -> impl Iterator<Item = &Ratio> {
        self.drawn().filter_map(|row| row.ratio.as_ref())
    }

    /// A method's drawing, by its name within the group.
    fn panel(&self, label: &str, axis: &Axis) -> TableCell {
        let row = self.drawn().find(|row| row.label == label);
        row.map_or_else(TableCell::default, |row| TableCell {
            tone: row.finding.tone(),
            ..TableCell::plot(row.plot(axis))
        })
    }
}

/// The groups of an experiment side by side on one scale, a method a row: how each fares under every condition is seen at once.
/// `None` where there is nothing to compare, or more than fits a screen.
pub(crate) fn picture(groups: &[RankedRows]) -> Option<Table> {
    let axis = Axis::over(groups.iter().flat_map(RankedRows::ratios))?;
    if !(2..=MOST_PANELS).contains(&groups.len()) {
        return None;
    }
    let labels: IndexSet<&str> = groups
        .iter()
        .flat_map(RankedRows::drawn)
        .map(|row| row.label.as_str())
        .collect();
    let mut columns = Columns::new("method", |label: &&str| (*label).to_owned());
    let mut head_axis = axis.clone();
    if groups.len() > FULL_PANELS {
        head_axis
            .ticks
            .retain(|&tick| [axis.low, 1.0, axis.high].contains(&tick));
    }
    for group in groups {
        let head = Column {
            title: group.group.setting(),
            ..Column::plot(Plot::Ratios(head_axis.clone()))
        };
        let axis = &axis;
        columns = columns.column(head, move |label| Some(group.panel(label, axis)));
    }
    let first = groups.first()?.group;
    let baselines = groups.iter().filter_map(|rows| rows.group.baseline_name());
    let baselines: IndexSet<String> = baselines.collect();
    let baseline = match baselines.len() {
        1 => &baselines[0],
        _ => "the baseline",
    };
    let caption = format!(
        "All conditions on one scale: {} over that of {baseline}, {DRAWN}",
        first.experiment.headline()
    );
    Some(columns.table(caption, labels))
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

impl<'a> Row<'a> {
    fn new(
        group: LabelledGroup<'a>,
        index: usize,
        comparison: Option<&'a Comparison>,
    ) -> Option<Row<'a>> {
        let cell = group.cell(index);
        let headline = group.experiment.headline();
        let phase = group.headline_phase(index)?;
        let is_believed = cell.outcome.status == Status::Ok;
        let ratio = comparison
            .and_then(|c| c.contrast.ratio)
            .filter(|_| is_believed);
        let baseline = group
            .group
            .baseline
            .filter(|&baseline| baseline != index && is_believed && cell.role != Role::Null);
        let launch_ratios = baseline.map_or_else(Vec::new, |baseline| {
            launch_ratios(cell, group.cell(baseline), headline)
        });
        let is_early = ratio.is_none() && !launch_ratios.is_empty();
        let mut finding = CellFinding::new(group, index, comparison);
        if phase.below_floor && is_believed && cell.role == Role::Method {
            finding = CellFinding::BelowFloor;
        }
        let launches = cell.per_launch.iter();
        Some(Row {
            cell: index,
            label: group.name(index),
            phase,
            ratio: ratio.filter(|_| finding != CellFinding::Baseline),
            finding,
            share: phase
                .of_best_possible
                .filter(|_| cell.role != Role::Null && is_believed),
            launches: launches
                .filter(|launch| launch.wall_ns.contains_key(headline))
                .count(),
            early: is_early.then(|| {
                let sum: f64 = launch_ratios.iter().map(|ratio| ratio.ln()).sum();
                (sum / launch_ratios.len() as f64).exp()
            }),
            launch_ratios,
        })
    }

    fn is_baseline(&self) -> bool {
        self.finding == CellFinding::Baseline
    }

    fn ratio_cell(&self) -> TableCell {
        if self.is_baseline() {
            return TableCell::text("1");
        }
        match self.early {
            Some(early) => {
                TableCell::number(format!("about {}", numbers::digits(early)), Some(early))
            }
            None => TableCell::ratio(self.ratio.as_ref()),
        }
    }

    fn plot(&self, axis: &Axis) -> Option<Plot> {
        (self.ratio.is_some() || self.is_baseline()).then(|| Plot::Interval {
            axis: axis.clone(),
            ratio: self.ratio,
            launches: self.launch_ratios.clone(),
            label: self.ratio_cell().text,
        })
    }

    fn share_cell(&self) -> TableCell {
        self.share.map_or_else(TableCell::default, |share| {
            TableCell::number(numbers::share(&share), Some(share.ratio))
        })
    }

    fn launches(&self) -> String {
        match self.launches {
            0 => String::new(),
            launches => launches.to_string(),
        }
    }
}

impl CellFinding<'_> {
    fn new<'a>(
        group: LabelledGroup,
        index: usize,
        compared: Option<&'a Comparison>,
    ) -> CellFinding<'a> {
        let cell = group.cell(index);
        let lower_bound = group.group.best_possible;
        match (cell.outcome.status, cell.role) {
            (Status::Ok, _) if group.group.baseline == Some(index) => CellFinding::Baseline,
            (Status::Ok, Role::Null) => CellFinding::Floor,
            (Status::Ok, Role::Limit) if lower_bound == Some(index) => CellFinding::BestPossible,
            (Status::Ok, Role::Limit) => CellFinding::Candidate {
                by_another: lower_bound.is_some_and(|best| group.cell(best).role == Role::Limit),
            },
            (Status::Ok, _) => match compared {
                Some(comparison) => CellFinding::Compared(comparison),
                None if group.group.baseline.is_none() => CellFinding::Nothing,
                None => CellFinding::TooFew,
            },
            (status, _) => CellFinding::Outcome(status),
        }
    }

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
            CellFinding::Outcome(status) => status.word(),
        }
        .to_owned()
    }

    fn tone(self) -> Tone {
        match self {
            CellFinding::Baseline => Tone::Baseline,
            CellFinding::Compared(c) if c.contrast.ratio.is_some() => Tone::contrast(&c.contrast),
            _ => Tone::Plain,
        }
    }
}

/// Each launch over the baseline's launch of the same block.
fn launch_ratios(cell: &CellSummary, baseline: &CellSummary, headline: &str) -> Vec<f64> {
    let baseline = times_by_block(baseline, headline);
    times_by_block(cell, headline)
        .iter()
        .filter_map(|(block, wall)| Some(wall / baseline.get(block)?))
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect()
}

fn times_by_block(cell: &CellSummary, headline: &str) -> BTreeMap<i32, f64> {
    cell.per_launch
        .iter()
        .filter_map(|launch| Some((launch.block, *launch.wall_ns.get(headline)?)))
        .collect()
}
