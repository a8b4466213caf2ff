//! The data that a page carries for programs: six digits a number. Of a run it is a row for each cell, with the phase that is
//! compared; everything else is in `summary.json`, and samples are in neither.

use crate::render::document::six_digits;
use crate::sentences::labels::{LabelledExperiment, LabelledGroup, LabelledRun};
use record::json::ToJson;
use record::plan::BATCH;
use record::shared::SharedVerdict;
use record::summary::{GroupSummary, Summary};
use serde::Serialize;
use serde_json::{Number, Value, json};
use std::collections::BTreeMap;

/// The fields of a row, in their order; the unit stands last in a name.
const COLUMNS: [&str; 14] = [
    "cell",
    "status",
    "wall_ns_per_unit",
    "low_ns_per_unit",
    "high_ns_per_unit",
    "cpu_ns",
    "minor_faults",
    "ratio",
    "ratio_low",
    "ratio_high",
    "launches",
    "question",
    "method",
    "verdict",
];

/// The figures of a run as columns and rows. A field is null where a cell has none; parameters that do not vary are said once.
/// A row has the index of its question, by which a gallery finds the same one.
pub fn of_run(summary: &Summary) -> Value {
    let run = LabelledRun::new(summary);
    let experiments = run.experiments();
    let experiments: BTreeMap<&str, Value> = experiments
        .map(|experiment| {
            let fixed = experiment.constant().join(" ");
            let phase = experiment.headline();
            (experiment.name(), json!({ "phase": phase, "fixed": fixed }))
        })
        .collect();
    let groups: Vec<LabelledGroup> = run
        .experiments()
        .flat_map(LabelledExperiment::groups_in_order)
        .collect();
    let questions: Vec<Value> = groups.iter().map(|group| question(group.group)).collect();
    let rows: Vec<Value> = (0..).zip(groups).flat_map(rows).collect();
    let fact = |name: &str| summary.environment.get(name);
    json!({
        "run": summary.run, "created": summary.created, "machine": { "cpu": fact("cpu"), "kernel": fact("kernel") },
        "experiments": experiments, "questions": questions, "columns": COLUMNS, "rows": rows,
    })
}

fn question(group: &GroupSummary) -> Value {
    let parameters = group.parameters.iter().filter(|(key, _)| *key != BATCH);
    let parameters: BTreeMap<&String, &String> = parameters.collect();
    json!({ "experiment": group.experiment, "parameters": parameters })
}

/// A row for each cell of a group that is shown.
fn rows((question, group): (usize, LabelledGroup)) -> Vec<Value> {
    let cells = group.group.cells.iter().copied();
    let visible = cells.filter(|&cell| !group.cell(cell).hidden);
    visible.map(|cell| row(group, cell, question)).collect()
}

fn row(group: LabelledGroup, index: usize, question: usize) -> Value {
    let cell = group.cell(index);
    let phase = group.headline_phase(index);
    let contrast = group
        .comparison(index)
        .map(|comparison| comparison.contrast);
    let ratio = contrast.and_then(|contrast| contrast.ratio);
    let verdict = contrast.map(|contrast| SharedVerdict::from(contrast.overall()));
    let name = format!("{} {}", cell.cell, group.setting());
    short(&(
        name.trim_end(),
        cell.outcome.status.word(),
        phase.map(|phase| phase.per_unit_ns.median),
        phase.and_then(|phase| phase.per_unit_ns.low),
        phase.and_then(|phase| phase.per_unit_ns.high),
        phase.map(|phase| phase.cpu_ns.median),
        phase.map(|phase| phase.minor_faults),
        ratio.map(|ratio| ratio.ratio),
        ratio.map(|ratio| ratio.low),
        ratio.map(|ratio| ratio.high),
        cell.launches,
        question,
        &cell.method,
        verdict,
    ))
}

/// A result as JSON with six digits a number; NaN and infinity are null.
pub fn rounded(result: &impl ToJson) -> Value {
    round(result.to_json().unwrap_or(Value::Null))
}

fn short(row: &impl Serialize) -> Value {
    round(serde_json::to_value(row).unwrap_or(Value::Null))
}

fn round(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().map(six_digits);
            match short {
                // Whole numbers are written without a fraction.
                Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => {
                    Value::from(whole as i64)
                }
                short => short
                    .and_then(Number::from_f64)
                    .map_or(Value::Null, Value::Number),
            }
        }
        Value::Array(all) => all.into_iter().map(round).collect(),
        Value::Object(all) => Value::Object(
            all.into_iter()
                .map(|(key, value)| (key, round(value)))
                .collect(),
        ),
        other => other,
    }
}
