//! Comma-separated values as in RFC 4180, with a line of names.

use std::io::Write;

use anyhow::Result;

use super::flat::{self, Field};
use crate::view::Taken;

/// How a text begins that a spreadsheet would take for a formula.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

pub(super) fn write(taken: &Taken<'_>, out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = flat::columns(taken).into_iter().map(|(name, _)| quoted(&name)).collect();
    write!(out, "{}\r\n", names.join(","))?;
    for row in flat::rows(taken) {
        let fields: Vec<String> = flat::fields(&row).iter().map(field).collect();
        write!(out, "{}\r\n", fields.join(","))?;
    }
    Ok(())
}

/// Rows with names of columns that are given.
pub(super) fn rows(columns: &[&str], rows: &[Vec<Field>], out: &mut dyn Write) -> Result<()> {
    write!(out, "{}\r\n", columns.join(","))?;
    for row in rows {
        write!(out, "{}\r\n", row.iter().map(field).collect::<Vec<_>>().join(","))?;
    }
    Ok(())
}

fn field(field: &Field) -> String {
    match field {
        Field::None => String::new(),
        Field::Text(text) => quoted(text),
        Field::Whole(value) => value.to_string(),
        Field::Number(value) => value.to_string(),
        Field::Flag(value) => value.to_string(),
    }
}

/// A text; what a spreadsheet would take for a formula gets an apostrophe, which keeps it text.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(FORMULA) { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r', '\'']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes_are_quoted_and_formulas_are_text() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"so\","), "\"say \"\"so\"\",\"");
        assert_eq!(quoted("=1+2"), "\"'=1+2\"");
        assert_eq!(field(&Field::Number(2.5e-9)), "0.0000000025");
    }
}
