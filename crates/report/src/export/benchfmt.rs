//! The Go benchmark data format (golang.org/design/14313-benchmark-format): a line a cell and launch, so that
//! benchstat's `n` is the number of launches. `benchstat -col /method FILE` lays the methods side by side.

use super::{CellView, ExportedCells};
use crate::render::escape::terminal;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    // Whatever is configuration keeps runs in tables of their lone, so what differs between runs is a remark.
    writeln!(
        out,
        "{}",
        terminal(&format!(
            "# pagewise {}, run {} of {}",
            taken.version, taken.run, taken.created
        ))
    )?;
    writeln!(out, "goos: linux")?;
    if let Some(architecture) = taken.environment.get("architecture") {
        writeln!(out, "goarch: {}", terminal(architecture))?;
    }
    writeln!(out, "pkg: pagewise")?;
    if let Some(cpu) = taken.environment.get("cpu") {
        writeln!(out, "cpu: {}", terminal(cpu))?;
    }
    let lone = lone_settings(taken);
    for cell in taken.believed() {
        of_cell(cell, &lone, out)?;
    }
    for cell in taken
        .cells
        .iter()
        .filter(|c| c.status != record::outcome::Status::Ok)
    {
        writeln!(
            out,
            "{}",
            terminal(&format!(
                "# {} {}: {}",
                cell.name,
                cell.status.word(),
                cell.reason
            ))
        )?;
    }
    Ok(())
}

type Values = Vec<(f64, String)>;

/// Parameters that some methods of an experiment lack, by experiment: such as `chunk` of read(2), which a mapping has not.
type LoneSettings<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Settings that one method has and another lacks would keep benchstat from laying the two side by side. They are left out of
/// names where each method has one value of them.
fn lone_settings<'a>(taken: &'a ExportedCells<'_>) -> LoneSettings<'a> {
    let mut experiments: BTreeMap<&str, Vec<&CellView>> = BTreeMap::new();
    taken
        .believed()
        .for_each(|cell| experiments.entry(&cell.experiment).or_default().push(cell));
    experiments
        .into_iter()
        .map(|(name, cells)| (name, lone(&cells)))
        .collect()
}

/// Parameters that some of these cells lack, and of which each method has one value.
fn lone<'a>(cells: &[&'a CellView]) -> BTreeSet<&'a str> {
    let keys = cells.iter().flat_map(|c| c.parameters.keys());
    keys.map(String::as_str)
        .filter(|key| cells.iter().any(|c| !c.parameters.contains_key(*key)))
        .filter(|key| has_one_value(cells, key))
        .collect()
}

fn has_one_value(cells: &[&CellView], key: &str) -> bool {
    let mut values: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    cells.iter().all(|cell| {
        cell.parameters.get(key).is_none_or(|value| {
            *values.entry((&cell.method, &cell.worker)).or_insert(value) == value
        })
    })
}

fn of_cell(cell: &CellView<'_>, lone: &LoneSettings, out: &mut dyn Write) -> Result<()> {
    let lone = lone.get(cell.experiment.as_str());
    let name = name(cell, |key| lone.is_some_and(|lone| lone.contains(key)));
    let mut lines: BTreeMap<usize, (usize, Values)> = BTreeMap::new();
    for phase in &cell.phases {
        let prefix = if phase.headline {
            String::new()
        } else {
            format!("{}-", word(&phase.name))
        };
        for launch in &phase.launches {
            let (_, values) = lines
                .entry(launch.launch)
                .or_insert((launch.rounds, Vec::new()));
            values.extend(
                launch
                    .wall_ns
                    .map(|ns| (ns / phase.units, format!("{prefix}ns/op"))),
            );
            values.extend(
                launch
                    .cpu_ns
                    .map(|ns| (ns / phase.units, format!("{prefix}cpu-ns/op"))),
            );
        }
    }
    for (rounds, values) in lines.into_values().filter(|(_, values)| !values.is_empty()) {
        let values: Vec<String> = values
            .into_iter()
            .map(|(value, unit)| format!("{value} {unit}"))
            .collect();
        writeln!(out, "{name}\t{}\t{}", rounds.max(1), values.join("\t"))?;
    }
    Ok(())
}

/// `BenchmarkFault/method=touch/worker=c-O3/bytes=4194304`.
fn name(cell: &CellView<'_>, is_lone: impl Fn(&str) -> bool) -> String {
    let mut first = cell.experiment.chars();
    let capital: String = first
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    let mut name = format!("Benchmark{}{}", word(&capital), word(first.as_str()));
    let names = [("method", &cell.method), ("worker", &cell.worker)];
    let parameters = cell
        .parameters
        .iter()
        .map(|(key, value)| (key.as_str(), value));
    for (key, value) in names
        .into_iter()
        .chain(parameters.filter(|(key, _)| !is_lone(key)))
    {
        name += &format!("/{}={}", word(key), word(value));
    }
    // A number behind the last hyphen would be taken for a number of CPUs.
    match name.rsplit_once('-') {
        Some((before, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{before}%2D{digits}")
        }
        _ => name,
    }
}

/// A part of a name: without white space, slashes and what else divides names, which are written as in an address.
fn word(text: &str) -> String {
    let mut word = String::new();
    for sign in text.chars() {
        if sign.is_ascii_alphanumeric() || "._+:@,-".contains(sign) {
            word.push(sign);
        } else {
            let mut bytes = [0; 4];
            word.extend(
                sign.encode_utf8(&mut bytes)
                    .bytes()
                    .map(|byte| format!("%{byte:02X}")),
            );
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_divides_it() {
        assert_eq!(word("/tmp/a b=c"), "%2Ftmp%2Fa%20b%3Dc");
        assert_eq!(word("c-O3+java-17"), "c-O3+java-17");
    }
}
