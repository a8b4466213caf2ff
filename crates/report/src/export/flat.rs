//! The rows of csv and ndjson: one for each cell, phase and launch; one for each cell without figures, with its reason.

use super::{csv, ndjson};
use crate::view::{CellView, ExportedCells, LaunchView, PhaseView};
use anyhow::{Result, bail};
use record::command::{Amount, CommandCost, CommandLaunch, CommandSummary, KeptCommand, ProfileSummary};
use std::io::Write;

/// One field. `None` where there is nothing to say: a cell without figures has no launches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    None,
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

pub(super) struct FlatRow<'a> {
    taken: &'a ExportedCells<'a>,
    cell: &'a CellView<'a>,
    phase: Option<&'a PhaseView<'a>>,
    launch: Option<&'a LaunchView>,
}

type Column = (&'static str, fn(&FlatRow<'_>) -> Field);

/// Every column with its name, in which the unit comes last. After these follows one for each parameter.
const COLUMNS: [Column; 20] = [
    ("run", |r| text(&r.taken.run)),
    ("created", |r| text(&r.taken.created)),
    ("machine", |r| known(r.taken.host.get("machine"))),
    ("kernel", |r| known(r.taken.environment.get("kernel"))),
    ("cpu", |r| known(r.taken.environment.get("cpu"))),
    ("cell", |r| text(&r.cell.name)),
    ("experiment", |r| text(&r.cell.experiment)),
    ("method", |r| text(&r.cell.method)),
    ("worker", |r| text(&r.cell.worker)),
    ("status", |r| text(r.cell.status.word())),
    ("reason", |r| known(Some(&r.cell.reason).filter(|reason| !reason.is_empty()))),
    ("phase", |r| known(r.phase.map(|p| &p.name))),
    ("headline", |r| r.phase.map_or(Field::None, |p| Field::Flag(p.headline))),
    ("launch", |r| whole(r.launch.map(|l| l.launch as i64))),
    ("block", |r| whole(r.launch.map(|l| i64::from(l.block)))),
    ("rounds", |r| whole(r.launch.map(|l| l.rounds as i64))),
    ("unit", |r| known(r.phase.map(|p| &p.unit))),
    ("units_per_sample", |r| number(r.phase.map(|p| p.units))),
    ("wall_ns_per_unit", |r| number(r.launch.zip(r.phase).and_then(|(l, p)| Some(l.wall_ns? / p.units)))),
    ("cpu_ns_per_unit", |r| number(r.launch.zip(r.phase).and_then(|(l, p)| Some(l.cpu_ns? / p.units)))),
];

fn text(value: &str) -> Field {
    Field::Text(value.to_owned())
}

fn known(value: Option<&String>) -> Field {
    value.map_or(Field::None, |v| text(v))
}

fn whole(value: Option<i64>) -> Field {
    value.map_or(Field::None, Field::Whole)
}

fn number(value: Option<f64>) -> Field {
    value.map_or(Field::None, Field::Number)
}

pub(super) fn columns(taken: &ExportedCells<'_>) -> Vec<String> {
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    names.chain(taken.parameters.iter().map(|name| format!("parameter_{name}"))).collect()
}

pub(super) fn fields(row: &FlatRow<'_>) -> Vec<Field> {
    let fields = COLUMNS.iter().map(|(_, field)| field(row));
    fields.chain(row.taken.parameters.iter().map(|name| known(row.cell.parameters.get(name)))).collect()
}

/// All rows, one at a time: a run may have very many.
pub(super) fn rows<'a>(taken: &'a ExportedCells<'a>) -> impl Iterator<Item = FlatRow<'a>> {
    taken.cells.iter().flat_map(move |cell| {
        let of_phase = move |phase: &'a PhaseView<'a>| {
            phase.launches.iter().map(move |l| FlatRow { taken, cell, phase: Some(phase), launch: Some(l) })
        };
        let measured = cell.phases.iter().any(|p| !p.launches.is_empty());
        let alone = (!measured).then_some(FlatRow { taken, cell, phase: None, launch: None });
        cell.phases.iter().flat_map(of_phase).chain(alone)
    })
}

/// Formats that a try and a profile are written in.
const ROWS: &str = "csv and ndjson";

/// Rows with their columns' names.
pub struct Rows {
    columns: Vec<&'static str>,
    rows: Vec<Vec<Field>>,
}

impl Rows {
    pub fn new(kept: &KeptCommand, summary: &CommandSummary) -> Rows {
        match summary {
            CommandSummary::Try(_) => Rows::of_launches(kept),
            CommandSummary::Profile(summary) => Rows::of_prices(summary),
        }
    }

    /// A row a launch, warm-ups included: their block is negative.
    fn of_launches(kept: &KeptCommand) -> Rows {
        let columns = [["run", "arm", "role", "command", "block", "end"].as_slice(), &COST.map(|(name, _)| name)].concat();
        let row = |launch: &CommandLaunch| {
            let (arm, cost) = (kept.plan.arms.get(launch.arm)?, launch.cost.as_ref()?);
            let texts = [&kept.plan.run, &arm.name, &word(&arm.role), &arm.shown].map(|text| Field::Text(text.clone()));
            let mut row = Vec::from(texts);
            row.extend([Field::Number(launch.block as f64), Field::Text(word(&cost.end))]);
            row.extend(COST.map(|(_, of)| Field::Number(of(cost))));
            Some(row)
        };
        Rows { columns, rows: kept.launches.iter().filter_map(row).collect() }
    }

    fn of_prices(summary: &ProfileSummary) -> Rows {
        let columns = [
            "run", "command", "kind", "count", "each_s", "each_low_s", "each_high_s", "together_s", "together_low_s",
            "together_high_s", "spread", "unsteady",
        ];
        let limits = |amount: &Amount| [amount.value, amount.low, amount.high].map(Field::Number);
        let rows = summary.prices.iter().map(|price| {
            let mut row = vec![
                Field::Text(summary.plan.run.clone()),
                Field::Text(summary.plan.arms[0].shown.clone()),
                Field::Text(word(&price.kind)),
                Field::Number(price.count),
            ];
            row.extend(limits(&price.each_s).into_iter().chain(limits(&price.together_s)));
            row.extend([Field::Number(price.spread), Field::Flag(price.unsteady)]);
            row
        });
        Rows { columns: columns.to_vec(), rows: rows.collect() }
    }

    pub fn write(self, format: &str, out: &mut dyn Write) -> Result<()> {
        let columns: Vec<String> = self.columns.iter().map(|name| (*name).to_owned()).collect();
        match format {
            "csv" => csv::rows(&columns, self.rows, out),
            "ndjson" => ndjson::rows(&columns, self.rows, out),
            _ => bail!("runs of a program are written as {ROWS}, those of a try as hyperfine too: {format} has cells"),
        }
    }
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

type CostColumn = (&'static str, fn(&CommandCost) -> f64);
const COST: [CostColumn; 15] = [
    ("code", |c| f64::from(c.code)),
    ("wall_s", |c| c.wall_ns as f64 * 1e-9),
    ("user_s", |c| c.user_us as f64 * 1e-6),
    ("kernel_s", |c| c.system_us as f64 * 1e-6),
    ("max_rss_bytes", |c| c.max_rss_kib as f64 * 1024.0),
    ("minor_faults", |c| c.minor_faults as f64),
    ("major_faults", |c| c.major_faults as f64),
    ("voluntary_switches", |c| c.voluntary_switches as f64),
    ("involuntary_switches", |c| c.involuntary_switches as f64),
    ("read_calls", |c| c.read_calls as f64),
    ("read_bytes", |c| c.read_bytes as f64),
    ("write_calls", |c| c.write_calls as f64),
    ("write_bytes", |c| c.write_bytes as f64),
    ("output_bytes", |c| c.output_bytes as f64),
    ("processes_left", |c| c.left as f64),
];
