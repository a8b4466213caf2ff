//! A JSON object a line.

use super::flat::{self, Field};
use crate::{escape::json, view::ExportedCells};
use anyhow::Result;
use serde_json::Value;
use std::io::Write;

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    rows(&flat::columns(taken), flat::rows(taken).map(|row| flat::fields(&row)), out)
}

pub(super) fn rows(columns: &[String], rows: impl IntoIterator<Item = Vec<Field>>, out: &mut dyn Write) -> Result<()> {
    for row in rows {
        let fields = columns.iter().cloned().zip(row.into_iter().map(value));
        writeln!(out, "{}", json(&Value::Object(fields.collect()).to_string()))?;
    }
    Ok(())
}

fn value(field: Field) -> Value {
    match field {
        Field::None => Value::Null,
        Field::Text(text) => text.into(),
        Field::Whole(value) => value.into(),
        Field::Number(value) => value.into(),
        Field::Flag(value) => value.into(),
    }
}
