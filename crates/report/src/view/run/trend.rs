//! The headline figures of kept runs, in the order in which the runs were made.

use super::is_wanted;
use crate::render::document::{
    Block, Chart, Document, Entry, Place, Section, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::{LabelledExperiment, LabelledGroup, LabelledRun};
use crate::sentences::{numbers, wording};
use crate::tables::columns::Columns;
use indexmap::IndexSet;
use record::parameters::Parameters;
use record::summary::{CellSummary, Role, Summary};
use record::{outcome::Status, sizes::three_digits};
use std::collections::BTreeMap;

/// Lines of one chart at most.
const MOST: usize = 7;

/// One run's figure with the bounds of its interval, which are the figure itself where it has none.
#[derive(Clone)]
struct TrendPoint {
    value: f64,
    bounds: (f64, f64),
    /// The figure as tables write it.
    text: String,
}

/// One cell of the newest run over all runs.
struct TrendRow {
    name: String,
    is_ratio: bool,
    /// One for each run; absent where the run has no figure to be believed.
    points: Vec<Option<TrendPoint>>,
    /// Position of the newest interval: slower above and faster below the intervals of all earlier runs, otherwise plain.
    tone: Tone,
}

/// A cell, and the baseline of which its figure is a multiple.
#[derive(PartialEq, Eq, Hash)]
struct TrendKey {
    cell: String,
    parameters: Parameters,
    baseline: Option<String>,
}

/// The part of a run that a trend shows.
struct TrendRun {
    run: String,
    created: String,
    version: String,
    machine: Option<String>,
    environment: BTreeMap<String, String>,
    /// By the place of the key.
    figures: BTreeMap<usize, TrendPoint>,
}

/// Figures of many runs, of which only the newest is held whole.
#[derive(Default)]
pub struct RunTrend {
    keys: IndexSet<TrendKey>,
    runs: Vec<TrendRun>,
    newest: Option<Summary>,
}

/// The runs in the order of their time.
struct Trends<'a> {
    trend: &'a RunTrend,
    runs: Vec<&'a TrendRun>,
}

impl RunTrend {
    /// Takes the figures of one more run.
    pub fn add(&mut self, summary: Summary) {
        let figures = figures(&summary).into_iter();
        let figures = figures.map(|(key, point)| (self.keys.insert_full(key).0, point));
        self.runs.push(TrendRun {
            run: summary.run.clone(),
            created: summary.created.clone(),
            version: summary.version.clone(),
            machine: summary.host.get("machine").cloned(),
            environment: summary.environment.clone(),
            figures: figures.collect(),
        });
        let newest = self.newest.as_ref();
        if newest.is_none_or(|newest| newest.created <= summary.created) {
            self.newest = Some(summary);
        }
    }

    /// The newest run.
    pub fn newest(&self) -> Option<&Summary> {
        self.newest.as_ref()
    }

    /// Number of runs.
    pub fn count(&self) -> usize {
        self.runs.len()
    }
}

impl TrendKey {
    fn new(cell: &CellSummary, baseline: Option<&CellSummary>) -> TrendKey {
        TrendKey {
            cell: cell.cell.clone(),
            parameters: cell.parameters.clone(),
            baseline: baseline.map(|baseline| baseline.cell.clone()),
        }
    }
}

/// Every believed headline figure of a run: ratios to the baseline, and the baseline's time.
fn figures(summary: &Summary) -> Vec<(TrendKey, TrendPoint)> {
    let run = LabelledRun::new(summary);
    let mut figures = Vec::new();
    for group in &summary.groups {
        let Some(experiment) = run.experiments().find(|e| e.name() == group.experiment) else {
            continue;
        };
        let group = LabelledGroup { experiment, group };
        let cells = group.group.cells.iter();
        figures.extend(cells.filter_map(|&cell| figure(group, cell)));
    }
    figures
}

/// The ratio of a cell to the baseline; its time where it has none.
fn figure(group: LabelledGroup, index: usize) -> Option<(TrendKey, TrendPoint)> {
    let cell = group.cell(index);
    if cell.outcome.status != Status::Ok || cell.role != Role::Method || cell.hidden {
        return None;
    }
    let cost = &group.headline_phase(index)?.per_unit_ns;
    let baseline = group.group.baseline.filter(|&baseline| baseline != index);
    let ratio = baseline.and_then(|baseline| {
        let ratio = group.comparison(index)?.contrast.ratio?;
        Some((group.cell(baseline), ratio))
    });
    let (baseline, point) = match ratio {
        Some((baseline, ratio)) => {
            let point = TrendPoint {
                value: ratio.ratio,
                bounds: (ratio.low, ratio.high),
                text: numbers::with_limits(&ratio),
            };
            (Some(baseline), point)
        }
        None => {
            let bounds = cost.low.zip(cost.high);
            let point = TrendPoint {
                value: cost.median,
                bounds: bounds.unwrap_or((cost.median, cost.median)),
                text: group.work().interval(cost).0,
            };
            (None, point)
        }
    };
    (point.value.is_finite() && point.value > 0.0).then(|| (TrendKey::new(cell, baseline), point))
}

fn tone(points: &[Option<TrendPoint>]) -> Tone {
    let Some((Some(newest), earlier)) = points.split_last() else {
        return Tone::Plain;
    };
    let (low, high) = newest.bounds;
    let earlier: Vec<(f64, f64)> = earlier.iter().flatten().map(|point| point.bounds).collect();
    let is_above = earlier.iter().all(|(_, old_high)| low > *old_high);
    let is_below = earlier.iter().all(|(old_low, _)| high < *old_low);
    match (is_above, is_below) {
        (true, false) => Tone::Slower,
        (false, true) => Tone::Faster,
        _ => Tone::Plain,
    }
}

/// Facts of a run's machine that differ from those of the run before: `kernel 6.1 → 6.18`.
fn changed(before: &TrendRun, run: &TrendRun) -> Vec<String> {
    let mut changed = Vec::new();
    if before.machine != run.machine {
        changed.push("another machine".to_owned());
    }
    for (key, now) in &run.environment {
        if let Some(was) = before.environment.get(key).filter(|was| *was != now) {
            changed.push(format!("{key} {was} → {now}"));
        }
    }
    if before.version != run.version {
        changed.push(format!("Pagewise {} → {}", before.version, run.version));
    }
    changed
}

/// The newest run's cells with the figures of all runs in the order of their time; `name` is their word.
pub fn trend(trend: &RunTrend, experiments: &[String], name: &str) -> Document {
    let mut runs: Vec<&TrendRun> = trend.runs.iter().collect();
    runs.sort_by(|a, b| a.created.cmp(&b.created));
    let trends = Trends { trend, runs };
    let (mut sections, mut rows) = (Vec::new(), Vec::new());
    if let Some(newest) = &trend.newest {
        let run = LabelledRun::new(newest);
        for experiment in run.experiments() {
            if is_wanted(experiments, experiment.name()) {
                sections.extend(trends.section(experiment, &mut rows));
            }
        }
    }
    let head = [format!(
        "{} of {name}",
        wording::count(trends.runs.len(), "run")
    )];
    let mut document = Document::new("trend", head).explained().section(
        "answers",
        "Answers",
        Place::Everywhere,
        answers(&rows),
    );
    document.sections.extend(sections);
    document.section(
        "runs",
        "Runs",
        Place::Everywhere,
        vec![Block::Table(trends.runs_table())],
    )
}

fn answers(rows: &[TrendRow]) -> Vec<Block> {
    let [above, below] =
        [Tone::Slower, Tone::Faster].map(|tone| rows.iter().filter(|row| row.tone == tone).count());
    let answer = format!(
        "Of {} figures of the newest run, {above} are above those of all earlier runs, and {below} below.",
        rows.len()
    );
    let caveat = "Each interval is that of one run (95 %). Machine, kernel and neighbors may differ between runs: \
                  pagewise compare tag:A tag:B gives a verdict over runs.";
    vec![Block::Answer(answer), Block::text(caveat)]
}

impl Trends<'_> {
    /// The section of an experiment; `all_rows` takes its rows too.
    fn section(
        &self,
        experiment: LabelledExperiment,
        all_rows: &mut Vec<TrendRow>,
    ) -> Option<Section> {
        let mut blocks = Vec::new();
        for group in experiment.groups_in_order() {
            let cells = group.group.cells.iter();
            let rows: Vec<TrendRow> = cells.filter_map(|&cell| self.row(group, cell)).collect();
            if !rows.is_empty() {
                blocks.push(Block::Heading(group.setting()));
                blocks.extend(self.blocks(&rows, &group.setting()));
            }
            all_rows.extend(rows);
        }
        let name = experiment.name();
        Section::new(
            format!("experiment-{name}"),
            name,
            Place::Everywhere,
            blocks,
        )
    }

    /// A cell of the newest run that has figures of other runs too.
    fn row(&self, group: LabelledGroup, cell: usize) -> Option<TrendRow> {
        let baseline = group.group.baseline.map(|baseline| group.cell(baseline));
        let keys = [
            baseline.map(|baseline| TrendKey::new(group.cell(cell), Some(baseline))),
            Some(TrendKey::new(group.cell(cell), None)),
        ];
        let newest = self.runs.last()?;
        let (index, key) = keys
            .iter()
            .flatten()
            .filter_map(|key| Some((self.trend.keys.get_index_of(key)?, key)))
            .find(|(index, _)| newest.figures.contains_key(index))?;
        let runs = self.runs.iter();
        let points: Vec<_> = runs.map(|run| run.figures.get(&index).cloned()).collect();
        (points.iter().flatten().count() > 1).then(|| TrendRow {
            name: group.name(cell),
            is_ratio: key.baseline.is_some(),
            tone: tone(&points),
            points,
        })
    }

    /// The cells of a group: ratios over runs as curves, and a table.
    fn blocks(&self, rows: &[TrendRow], setting: &str) -> Vec<Block> {
        let caption = format!("Ratios to the baseline, whose row has its time {setting}");
        let table = Columns::new("method", |row: &TrendRow| row.name.clone())
            .number("newest", |row| TrendRow::figure(row.known().last()))
            .sentences("against earlier runs", TrendRow::finding)
            .number("first", |row| TrendRow::figure(row.known().next()))
            .number("runs", |row| TableCell::count(row.known().count()))
            .shown(Shown::Room(1))
            .marked(|row, entry| Entry {
                tone: row.tone,
                ..entry
            })
            .table(caption.trim_end(), rows);
        let mut blocks = Vec::from_iter(Block::part(
            "",
            Place::Page,
            Vec::from_iter(self.curves(rows)),
        ));
        blocks.push(Block::Table(table));
        blocks
    }

    fn curves(&self, rows: &[TrendRow]) -> Option<Block> {
        let lines: Vec<Line> = rows
            .iter()
            .filter(|row| row.is_ratio)
            .map(|row| self.line(row))
            .take(MOST)
            .collect();
        let mut upward = Scale::times(lines.iter().flat_map(Line::costs))?;
        for (ratio, text) in &mut upward.ticks {
            *text = three_digits(*ratio);
        }
        let numbers = 1..=self.runs.len();
        let across = Scale {
            low: 0.5,
            high: self.runs.len() as f64 + 0.5,
            ticks: numbers.map(|run| (run as f64, run.to_string())).collect(),
            logarithmic: false,
        };
        let caption = "Ratio to the baseline in each run, in the order of the runs; thick lines are 95 % limits";
        let curves = Curves {
            across,
            upward,
            lines,
            crossovers: Vec::new(),
        };
        Some(Chart::of_curves(
            caption.to_owned(),
            curves,
            &mut Vec::new(),
        ))
    }

    fn line(&self, row: &TrendRow) -> Line {
        let mut points = Vec::new();
        for (at, point) in row.points.iter().enumerate() {
            let Some(point) = point else { continue };
            let number = at as u64 + 1;
            points.push(CurvePoint {
                cell: 0,
                value: number,
                value_words: format!("run {number} ({})", self.runs[at].run),
                cost: (point.value, Some(point.bounds)),
                cost_words: point.text.clone(),
            });
        }
        Line {
            label: row.name.clone(),
            color: 0,
            points,
        }
    }

    fn runs_table(&self) -> Table {
        Columns::new("#", |at: &usize| (at + 1).to_string())
            .text("run", |&at| self.runs[at].run.clone())
            .text("made (UTC)", |&at| minute(&self.runs[at].created))
            .sentences("changed since the run before", |&at| {
                let before = at.checked_sub(1);
                let changed = before.map(|before| changed(self.runs[before], self.runs[at]));
                changed.unwrap_or_default().join("; ")
            })
            .table("The runs, in the order of their time", 0..self.runs.len())
    }
}

impl TrendRow {
    /// Figures of the runs that have one.
    fn known(&self) -> impl DoubleEndedIterator<Item = &TrendPoint> {
        self.points.iter().flatten()
    }

    fn figure(point: Option<&TrendPoint>) -> TableCell {
        point.map_or_else(TableCell::default, |point| {
            TableCell::number(&point.text, Some(point.value))
        })
    }

    fn finding(&self) -> String {
        let earlier = self.known().count() - 1;
        match self.tone {
            Tone::Slower => format!("above all {earlier}"),
            Tone::Faster => format!("below all {earlier}"),
            _ => String::new(),
        }
    }
}

/// A time without its seconds.
pub(super) fn minute(created: &str) -> String {
    created.get(..16).unwrap_or(created).replace('T', " ")
}
