//! Figures as they leave the judging: with ten significant digits. Compilers add up in another order at another level of
//! optimisation, and C libraries differ in the last digit of a logarithm. No statement is as fine as that, and without those
//! digits a run that is judged again anywhere gives the same summary, byte for byte.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Number, Value};

/// Digits after the first.
const FURTHER_DIGITS: usize = 9;

/// A value with every fraction in it at ten significant digits; whole numbers stay as they are. What JSON cannot hold, such as
/// an infinite figure that must be there, leaves all as it was.
pub(crate) fn rounded<T: Serialize + DeserializeOwned>(value: T) -> T {
    let Ok(mut json) = serde_json::to_value(&value) else { return value };
    round(&mut json);
    serde_json::from_value(json).unwrap_or(value)
}

fn round(value: &mut Value) {
    match value {
        // Most figures are whole nanoseconds, or halves of them.
        Value::Number(number) if number.as_f64().is_some_and(|v| v.abs() < 1e9 && (2.0 * v).fract() == 0.0) => {}
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().and_then(|v| format!("{v:.FURTHER_DIGITS$e}").parse().ok());
            *number = short.and_then(Number::from_f64).unwrap_or_else(|| number.clone());
        }
        Value::Array(all) => all.iter_mut().for_each(round),
        Value::Object(all) => all.values_mut().for_each(round),
        _ => {}
    }
}

#[cfg(test)]
#[path = "../tests/unit/rounding.rs"]
mod tests;
