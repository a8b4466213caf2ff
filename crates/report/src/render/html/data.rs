//! The summary as a page carries it: what is compared, with six digits. What every launch brought, laws and facts stand on the
//! page in words and in `summary.json` in full; samples stand in neither.

use crate::render::document::six_digits;
use record::summary::Summary;
use serde::Serialize;
use serde_json::{Number, Value};

/// A summary of the same shape, so that what reads the one reads the other.
pub fn of_run(summary: &Summary) -> Value {
    let mut small = summary.clone();
    for cell in &mut small.cells {
        let headline = summary
            .experiment(&cell.experiment)
            .map(|e| e.headline.as_str());
        cell.phases
            .retain(|phase, _| Some(phase.as_str()) == headline);
        cell.per_launch.clear();
        cell.laws.clear();
        cell.proofs.clear();
    }
    for group in &mut small.groups {
        let headline = summary
            .experiment(&group.experiment)
            .map(|e| e.headline.as_str());
        group
            .comparisons
            .retain(|comparison| Some(comparison.phase.as_str()) == headline);
    }
    // What is no number becomes null; nothing else of a summary can fail to be written.
    rounded(&small)
}

/// A result as JSON with six digits a number; NaN and infinity are null.
pub fn rounded(result: &impl Serialize) -> Value {
    round(serde_json::to_value(result).unwrap_or(Value::Null))
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
