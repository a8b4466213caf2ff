//! Layout of a run's JSON files: every field on a line of its own, and every element of a list. Laid out fully, most of a
//! summary would be white space; on one line, nobody could read it or see what differs.

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

/// A JSON object as text: a line for each field, but for a list or an object of several a line for each of what it holds.
pub fn one_a_line(value: &impl Serialize) -> Result<String> {
    let Value::Object(fields) = serde_json::to_value(value)? else {
        return Ok(serde_json::to_string(value)? + "\n");
    };
    let mut lines = Vec::new();
    for (name, value) in &fields {
        let name = serde_json::to_string(name)?;
        lines.push(match value {
            Value::Array(all) if all.iter().any(|element| element.is_object()) => {
                let all: Vec<String> = all.iter().map(|element| format!("    {element}")).collect();
                format!("  {name}: [\n{}\n  ]", all.join(",\n"))
            }
            Value::Object(all) if !all.is_empty() => {
                let entry = |(name, entry): (&String, &Value)| Ok(format!("    {}: {entry}", serde_json::to_string(name)?));
                let all: Vec<String> = all.iter().map(entry).collect::<Result<_>>()?;
                format!("  {name}: {{\n{}\n  }}", all.join(",\n"))
            }
            other => format!("  {name}: {other}"),
        });
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

#[cfg(test)]
#[path = "../../tests/unit/folder/layout.rs"]
mod tests;
