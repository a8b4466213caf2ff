//! Comma-separated values as in RFC 4180, with a line of names.

use super::flat::{self, Field};
use crate::{escape, view::ExportedCells};
use anyhow::Result;
use std::io::Write;

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    rows(&flat::columns(taken), flat::rows(taken).map(|row| flat::fields(&row)), out)
}

pub(super) fn rows(columns: &[String], rows: impl IntoIterator<Item = Vec<Field>>, out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = columns.iter().map(|name| escape::csv(name)).collect();
    write!(out, "{}\r\n", names.join(","))?;
    for row in rows {
        write!(out, "{}\r\n", row.iter().map(field).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

fn field(field: &Field) -> String {
    match field {
        Field::None => String::new(),
        Field::Text(text) => escape::csv(text),
        Field::Whole(value) => value.to_string(),
        Field::Number(value) => value.to_string(),
        Field::Flag(value) => value.to_string(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/export/csv.rs"]
mod tests;
