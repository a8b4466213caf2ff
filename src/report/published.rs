//! Published figures beside ours: `published/*.toml`, one file a write-up.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, Table, presets};
use serde::Deserialize;

use crate::carried;
use crate::catalog::{self, Experiment};
use crate::cell::Selector;
use crate::plan::{self, PlannedCell, Wish};
use crate::sizes::{did_you_mean, three_digits};
use crate::summary::{CellSummary, Distribution, PhaseSummary, Summary};
use crate::workers::Worker;

/// One write-up.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// `P5`.
    pub id: String,
    /// What it asked.
    pub title: String,
    /// Who said it, and when.
    pub source: String,
    /// Where it was measured.
    pub machine: String,
    /// Its figures.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// One published figure and the cell of ours that repeats it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its row and column in words.
    pub label: String,
    /// As published.
    pub value: f64,
    /// `s`, `ms`, `us`, `KiB`, `count`, `%`, `times`.
    pub unit: String,
    /// How many units it covers; 0 where it is the time of a whole sample.
    #[serde(default)]
    pub ops: u64,
    /// `fault/touch@c-O3`.
    pub cell: String,
    /// Where the figure is a ratio (unit `times`): the cell that it is divided by, with the same parameters.
    #[serde(default)]
    pub against: Option<String>,
    /// Parameters that our cells must have where their methods take them; sizes with their units.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
    /// Phase or total.
    pub phase: String,
    /// Column of ours.
    #[serde(default = "wall_ns")]
    pub column: String,
    /// `as published` or `corrected`.
    pub job: String,
}

fn wall_ns() -> String {
    "wall_ns".to_owned()
}

/// All write-ups that the binary carries.
pub fn all() -> Result<&'static [Published]> {
    static ALL: std::sync::OnceLock<Vec<Published>> = std::sync::OnceLock::new();
    if let Some(all) = ALL.get() {
        return Ok(all);
    }
    let parsed = carried::PUBLISHED.iter().map(|(path, text)| toml::from_str(text).with_context(|| (*path).to_owned()));
    let parsed: Vec<Published> = parsed.collect::<Result<_>>()?;
    Ok(ALL.get_or_init(|| parsed))
}

/// One write-up by its id, in either case.
pub fn find(id: &str) -> Result<&'static Published> {
    let all = all()?;
    all.iter().find(|p| p.id.eq_ignore_ascii_case(id)).with_context(|| {
        let names: Vec<_> = all.iter().map(|p| p.id.as_str()).collect();
        format!(
            "there is no write-up {id:?}{} (there are {})",
            did_you_mean(id, names.iter().copied()),
            names.join(", ")
        )
    })
}

impl Figure {
    /// The cell of ours that repeats it, and the one that it is divided by.
    fn cells(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.cell.as_str()).chain(self.against.as_deref())
    }
}

impl Published {
    /// The cells of ours that repeat its figures, each once.
    pub fn selectors(&self) -> Vec<String> {
        let mut cells: Vec<String> = self.figures.iter().flat_map(Figure::cells).map(str::to_owned).collect();
        cells.sort();
        cells.dedup();
        cells
    }
}

/// Exactly the cells that repeat the figures of a write-up.
pub fn cells(
    table: &Published,
    experiments: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<(Vec<PlannedCell>, Vec<Experiment>)> {
    let mut cells: Vec<PlannedCell> = Vec::new();
    let mut involved: Vec<Experiment> = Vec::new();
    for (figure, words) in table.figures.iter().flat_map(|f| f.cells().map(move |words| (f, words))) {
        let selector = Selector::parse(words).with_context(|| format!("{}: {}", table.id, figure.label))?;
        let own = figure.parameters.iter().map(|(k, v)| (k.clone(), vec![v.clone()]));
        let known = catalog::find(experiments, &selector.experiment)?;
        let set = wish
            .settings
            .iter()
            .filter(|(k, _)| !figure.parameters.contains_key(k) && known.parameters.contains_key(k));
        let settings = own.chain(set.cloned()).collect();
        let wish = Wish { selectors: vec![selector], settings, baseline: None, ..wish.clone() };
        if no_worker(workers, words) {
            continue; // The row then says that it is not in this run.
        }
        let (found, of) = plan::cells(experiments, workers, &wish)?;
        for planned in found {
            if !cells.iter().any(|c| c.cell == planned.cell) {
                cells.push(planned);
            }
        }
        for experiment in of {
            if !involved.iter().any(|e| e.name == experiment.name) {
                involved.push(experiment);
            }
        }
    }
    Ok((cells, involved))
}

/// Whether a figure names a family of workers, such as `java*`, of which there is none here.
fn no_worker(workers: &[Worker], words: &str) -> bool {
    let family = words.split_once('@').and_then(|(_, worker)| worker.strip_suffix('*'));
    family.is_some_and(|start| !workers.iter().any(|w| w.name.starts_with(start)))
}

/// Our cells that these words and a figure's parameters stand for: one, or one of each worker of a family.
fn matching<'a>(figure: &Figure, words: &str, summary: &'a Summary) -> Vec<&'a CellSummary> {
    let sized = |text: &str| crate::sizes::parse_size(text).map_or_else(|_| text.to_owned(), |b| b.to_string());
    let named = |cell: &str| match (words.strip_suffix('*'), words.contains('@')) {
        (Some(start), _) => cell.starts_with(start),
        (None, true) => cell == words,
        (None, false) => cell.split('@').next() == Some(words),
    };
    let fits = |c: &&CellSummary| {
        figure.parameters.iter().all(|(k, v)| c.parameters.get(k).is_none_or(|own| own == v || *own == sized(v)))
    };
    let mut found: Vec<_> = summary.cells.iter().filter(|c| named(&c.cell)).filter(fits).collect();
    if !words.ends_with('*') {
        found.truncate(1);
    }
    found
}

/// Our figure in the published unit: value, and its interval where there is one.
fn ours(figure: &Figure, cell: &CellSummary) -> Option<Value> {
    let phase = cell.phases.get(&figure.phase)?;
    let counted = |v: f64| Some((v, None));
    let scale = match figure.unit.as_str() {
        "s" => 1e-9,
        "ms" => 1e-6,
        "us" | "µs" => 1e-3,
        _ => 1.0,
    };
    let timed =
        |d: &Distribution, scale: f64| Some((d.median * scale, d.low.zip(d.high).map(|(l, h)| (l * scale, h * scale))));
    match figure.column.as_str() {
        "wall_ns" if figure.ops > 0 => timed(&phase.per_unit_ns, scale * figure.ops as f64),
        "wall_ns" => timed(&phase.wall_ns, scale),
        "cpu_ns" if figure.ops > 0 && phase.wall_ns.median > 0.0 => {
            let per_unit = phase.per_unit_ns.median / phase.wall_ns.median;
            timed(&phase.cpu_ns, scale * figure.ops as f64 * per_unit)
        }
        "cpu_ns" => timed(&phase.cpu_ns, scale),
        "user_ns" => counted(phase.user_ns * scale * per_unit(figure, phase)),
        "system_ns" => counted(phase.system_ns * scale * per_unit(figure, phase)),
        "cpu_percent" => counted(100.0 * phase.cpu_ns.median / phase.wall_ns.median),
        "minor_faults" => counted(phase.minor_faults),
        "major_faults" => counted(phase.major_faults),
        "voluntary_switches" => counted(phase.voluntary_switches),
        "involuntary_switches" => counted(phase.involuntary_switches),
        fact => match cell.proofs.get(fact)? {
            crate::summary::Proof::Number { max, .. } if figure.unit == "KiB" => counted(*max as f64 / 1024.0),
            crate::summary::Proof::Number { max, .. } if figure.unit == "sectors" => counted(*max as f64 / 512.0),
            crate::summary::Proof::Number { max, .. } => counted(*max as f64),
            crate::summary::Proof::Words(_) => None,
        },
    }
}

/// What a time of one of our samples is to be multiplied by to cover as many units as the figure.
fn per_unit(figure: &Figure, phase: &PhaseSummary) -> f64 {
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    if figure.ops > 0 && units.is_finite() && units > 0.0 { figure.ops as f64 / units } else { 1.0 }
}

type Value = (f64, Option<(f64, f64)>);

/// A ratio with the widest interval that the two intervals allow; both cells come from the same launches or are interleaved.
fn divided(((a, a_limits), (b, b_limits)): (Value, Value)) -> Value {
    (a / b, a_limits.zip(b_limits).map(|((a_low, a_high), (b_low, b_high))| (a_low / b_high, a_high / b_low)))
}

/// The write-up's table with our figures beside it.
pub fn render(table: &Published, summary: &Summary) -> Result<String> {
    let mut text = format!("\n{}: {} ({}; {})\n", table.id, table.title, table.source, table.machine);
    let mut rows = Table::new();
    rows.load_style(presets::NOTHING).set_header(["figure", "job", "published", "here", "95 %", "ratio", "cell"]);
    for figure in &table.figures {
        let published = format!("{} {}", figure.value, figure.unit);
        let cells = matching(figure, &figure.cell, summary);
        for cell in &cells {
            let mine = match &figure.against {
                Some(words) => {
                    let other = matching(figure, words, summary).first().and_then(|c| ours(figure, c));
                    ours(figure, cell).zip(other).map(divided)
                }
                None => ours(figure, cell),
            };
            let (here, interval, ratio) = match mine {
                Some((value, limits)) => (
                    three_digits(value),
                    limits.map_or_else(String::new, |(l, h)| format!("{}–{}", three_digits(l), three_digits(h))),
                    if figure.value == 0.0 { String::new() } else { three_digits(value / figure.value) },
                ),
                None => (cell.status.word().to_owned(), String::new(), String::new()),
            };
            let against = figure.against.as_ref().map_or_else(String::new, |words| format!(" / {words}"));
            let words = format!("{}{against}", cell.cell);
            rows.add_row([&figure.label, &figure.job, &published, &here, &interval, &ratio, &words]);
        }
        if cells.is_empty() {
            rows.add_row([&figure.label, &figure.job, &published, "not in this run", "", "", &figure.cell]);
        }
    }
    for column in rows.column_iter_mut().skip(2).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in rows.to_string().lines() {
        let _ = writeln!(text, "   {}", line.trim_end());
    }
    Ok(text)
}
