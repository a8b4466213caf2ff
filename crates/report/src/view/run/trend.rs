//! The headline figures of kept runs, in the order in which the runs were made.

use crate::render::document::{
    Block, Chart, Column, Document, Entry, Place, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{CurvePoint, Curves, Line, Scale};
use crate::sentences::labels::Labels;
use crate::sentences::{numbers, numbers::Work, wording};
use crate::tables::group;
use indexmap::IndexSet;
use record::summary::{Role, Summary};
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
    parameters: BTreeMap<String, String>,
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
        let is_newer = |newest: &Summary| newest.created <= summary.created;
        if self.newest.as_ref().is_none_or(is_newer) {
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

/// Every believed headline figure of a run: ratios to the baseline, and the baseline's time.
fn figures(summary: &Summary) -> Vec<(TrendKey, TrendPoint)> {
    let mut figures = Vec::new();
    for (group, experiment) in summary
        .groups
        .iter()
        .filter_map(|g| Some((g, summary.experiment(&g.experiment)?)))
    {
        for (index, cell) in group
            .cells
            .iter()
            .map(|&index| (index, &summary.cells[index]))
        {
            let is_shown =
                cell.outcome.status == Status::Ok && cell.role == Role::Method && !cell.hidden;
            let Some(phase) = cell.phases.get(&experiment.headline).filter(|_| is_shown) else {
                continue;
            };
            let base = group.baseline.filter(|&base| base != index);
            let ratio = base.and_then(|base| {
                Some((base, group.comparison(index, &experiment.headline)?.ratio?))
            });
            let (value, bounds, text) = match ratio {
                Some((_, r)) => (r.ratio, (r.low, r.high), numbers::with_limits(&r)),
                None => {
                    let (cost, work) = (&phase.per_unit_ns, Work::new(&experiment.definition));
                    (
                        cost.median,
                        cost.low
                            .zip(cost.high)
                            .unwrap_or((cost.median, cost.median)),
                        work.interval(cost).0,
                    )
                }
            };
            let against = ratio.map(|(base, _)| summary.cells[base].cell.as_str());
            if value.is_finite() && value > 0.0 {
                let key = TrendKey {
                    cell: cell.cell.clone(),
                    parameters: cell.parameters.clone(),
                    baseline: against.map(str::to_owned),
                };
                let point = TrendPoint {
                    value,
                    bounds,
                    text,
                };
                figures.push((key, point));
            }
        }
    }
    figures
}

fn tone(points: &[Option<TrendPoint>]) -> Tone {
    let Some((Some(newest), earlier)) = points.split_last() else {
        return Tone::Plain;
    };
    let (low, high) = newest.bounds;
    let earlier = || earlier.iter().flatten().map(|point| point.bounds);
    match (
        earlier().all(|old| low > old.1),
        earlier().all(|old| high < old.0),
    ) {
        (true, false) => Tone::Slower,
        (false, true) => Tone::Faster,
        _ => Tone::Plain,
    }
}

/// Facts of a run's machine that differ from those of the run before: `kernel 6.1 → 6.18`.
fn changed(before: &TrendRun, run: &TrendRun) -> Vec<String> {
    let host = (before.machine != run.machine).then(|| "another machine".to_owned());
    let fact = |(key, now): (&String, &String)| {
        let was = before.environment.get(key).filter(|was| *was != now)?;
        Some(format!("{key} {was} → {now}"))
    };
    let version = (before.version != run.version)
        .then(|| format!("Pagewise {} → {}", before.version, run.version));
    host.into_iter()
        .chain(run.environment.iter().filter_map(fact))
        .chain(version)
        .collect()
}

/// The newest run's cells with the figures of all runs in the order of their time; `name` is their word.
pub fn trend(trend: &RunTrend, experiments: &[String], name: &str) -> Document {
    let mut in_time: Vec<&TrendRun> = trend.runs.iter().collect();
    in_time.sort_by(|a, b| a.created.cmp(&b.created));
    let runs = &in_time[..];
    let (mut sections, mut rows) = (Vec::new(), Vec::new());
    let is_wanted = |name: &String| experiments.is_empty() || experiments.contains(name);
    if let Some(newest) = &trend.newest {
        let labels = Labels::new(newest);
        for definition in newest
            .experiments
            .iter()
            .map(|e| &e.definition)
            .filter(|e| is_wanted(&e.name))
        {
            let mut blocks = Vec::new();
            for group in group::in_order(newest, &definition.name) {
                let baseline = group.baseline.map(|cell| newest.cells[cell].cell.as_str());
                let row = |&cell: &usize| {
                    let cell = &newest.cells[cell];
                    let mut keys = [baseline, None].into_iter().filter_map(|base| {
                        let key = TrendKey {
                            cell: cell.cell.clone(),
                            parameters: cell.parameters.clone(),
                            baseline: base.map(str::to_owned),
                        };
                        Some((trend.keys.get_index_of(&key)?, base.is_some()))
                    });
                    let (key, is_ratio) = keys.find(|(key, _)| {
                        runs.last().is_some_and(|run| run.figures.contains_key(key))
                    })?;
                    let points: Vec<_> = runs
                        .iter()
                        .map(|run| run.figures.get(&key).cloned())
                        .collect();
                    let name = labels.cell(definition, cell);
                    let row = TrendRow {
                        name,
                        is_ratio,
                        tone: tone(&points),
                        points,
                    };
                    (row.points.iter().flatten().count() > 1).then_some(row)
                };
                let of_group: Vec<TrendRow> = group.cells.iter().filter_map(row).collect();
                if !of_group.is_empty() {
                    blocks.push(Block::Heading(labels.setting(definition, group)));
                    blocks.extend(of_rows(&of_group, runs, &labels.setting(definition, group)));
                }
                rows.extend(of_group);
            }
            sections.push((definition.name.clone(), blocks));
        }
    }
    let day = |run: &TrendRun| {
        run.created
            .get(..16)
            .unwrap_or(&run.created)
            .replace('T', " ")
    };
    let count = |tone| rows.iter().filter(|row| row.tone == tone).count();
    let (above, below) = (count(Tone::Slower), count(Tone::Faster));
    let answer = format!(
        "Of {} figures of the newest run, {above} are above those of all earlier runs, and {below} below.",
        rows.len()
    );
    let caveat = "Each interval is that of one run (95 %). Machine, kernel and neighbors may differ between runs: \
                  pagewise compare tag:A tag:B gives a verdict over runs.";
    let head = [format!("{} of {name}", wording::count(runs.len(), "run"))];
    let answers = vec![Block::Answer(answer), Block::text(caveat)];
    let mut document =
        Document::new("trend", head).section("answers", "Answers", Place::Everywhere, answers);
    for (name, blocks) in sections {
        document = document.section(
            &format!("experiment-{name}"),
            name,
            Place::Everywhere,
            blocks,
        );
    }
    let run = |(at, run): (usize, &&TrendRun)| {
        let changed = at
            .checked_sub(1)
            .map_or_else(Vec::new, |before| changed(runs[before], run));
        let cells = [run.run.clone(), day(run), changed.join("; ")].map(TableCell::text);
        Entry::new((at + 1).to_string(), cells.into())
    };
    let columns = ["#", "run", "made (UTC)"].map(Column::text).into_iter();
    let columns = columns
        .chain([Column::sentences("changed since the run before")])
        .collect();
    let runs = Table::new(
        "The runs, in the order of their time",
        columns,
        runs.iter().enumerate().map(run),
    );
    document.section("runs", "Runs", Place::Everywhere, vec![Block::Table(runs)])
}

/// The cells of a group: ratios over runs as curves, and a table.
fn of_rows(rows: &[TrendRow], runs: &[&TrendRun], setting: &str) -> Vec<Block> {
    let mut columns = vec![
        Column::text("method"),
        Column::number("newest"),
        Column::sentences("against earlier runs"),
    ];
    columns.extend([
        Column::number("first"),
        Column::number("runs").shown(Shown::Room(1)),
    ]);
    let entry = |row: &TrendRow| {
        let known: Vec<&TrendPoint> = row.points.iter().flatten().collect();
        let figure = |at: usize| TableCell::number(&known[at].text, Some(known[at].value));
        let earlier = known.len() - 1;
        let finding = match row.tone {
            Tone::Slower => format!("above all {earlier}"),
            Tone::Faster => format!("below all {earlier}"),
            _ => String::new(),
        };
        let cells = vec![
            figure(earlier),
            TableCell::text(finding),
            figure(0),
            TableCell::count(known.len()),
        ];
        Entry {
            tone: row.tone,
            ..Entry::new(&row.name, cells)
        }
    };
    let caption = format!("Ratios to the baseline, whose row has its time {setting}");
    let table = Table::new(caption.trim_end(), columns, rows.iter().map(entry));
    let chart = Block::part("", Place::Page, curves(rows, runs).into_iter().collect());
    chart.into_iter().chain([Block::Table(table)]).collect()
}

fn curves(rows: &[TrendRow], runs: &[&TrendRun]) -> Option<Block> {
    let point = |(run, point): (usize, &Option<TrendPoint>)| {
        let point = point.as_ref()?;
        let (value, cost) = (run as u64 + 1, (point.value, Some(point.bounds)));
        let value_words = format!("run {value} ({})", runs[run].run);
        Some(CurvePoint {
            cell: 0,
            value,
            value_words,
            cost,
            cost_words: point.text.clone(),
        })
    };
    let points = |row: &TrendRow| row.points.iter().enumerate().filter_map(point).collect();
    let line = |row: &TrendRow| Line {
        label: row.name.clone(),
        color: 0,
        points: points(row),
    };
    let lines: Vec<Line> = rows
        .iter()
        .filter(|row| row.is_ratio)
        .map(line)
        .take(MOST)
        .collect();
    let mut upward = Scale::times(lines.iter().flat_map(Line::costs))?;
    upward
        .ticks
        .iter_mut()
        .for_each(|(ratio, text)| *text = three_digits(*ratio));
    let ticks = (1..=runs.len())
        .map(|run| (run as f64, run.to_string()))
        .collect();
    let across = Scale {
        low: 0.5,
        high: runs.len() as f64 + 0.5,
        ticks,
        logarithmic: false,
    };
    let caption =
        "Ratio to the baseline in each run, in the order of the runs; thick lines are 95 % limits"
            .to_owned();
    Some(Chart::of_curves(
        caption,
        Curves {
            across,
            upward,
            lines,
            crossovers: Vec::new(),
        },
        &mut Vec::new(),
    ))
}
