//! Comma-separated values as in RFC 4180, with a line of names.

use super::ExportedCells;
use super::flat;
use crate::render::escape;
use anyhow::Result;
use serde_json::Value;
use std::io::Write;

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    rows(
        &flat::columns(taken),
        flat::rows(taken).map(|row| flat::fields(&row)),
        out,
    )
}

pub(super) fn rows(
    columns: &[String],
    rows: impl IntoIterator<Item = Vec<Value>>,
    out: &mut dyn Write,
) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|name| escape::csv(name)).collect();
    write!(out, "{}\r\n", names.join(","))?;
    for row in rows {
        write!(
            out,
            "{}\r\n",
            row.iter().map(field).collect::<Vec<_>>().join(",")
        )?;
    }
    Ok(())
}

fn field(field: &Value) -> String {
    match field {
        Value::Null => String::new(),
        Value::String(text) => escape::csv(text),
        // Without an exponent, as spreadsheets take it.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        assert_eq!(field(&2.5e-9.into()), "0.0000000025");
    }
}
