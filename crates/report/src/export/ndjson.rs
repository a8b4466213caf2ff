//! A JSON object a line.

use super::ExportedCells;
use super::flat;
use crate::render::escape::json;
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
    for row in rows {
        let fields = columns.iter().cloned().zip(row);
        writeln!(
            out,
            "{}",
            json(&Value::Object(fields.collect()).to_string())
        )?;
    }
    Ok(())
}
