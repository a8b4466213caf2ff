//! The Go benchmark data format (golang.org/design/14313-benchmark-format): a line a cell and launch, so that
//! benchstat's `n` is the number of launches. `benchstat -col /method FILE` lays the methods side by side.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;

use crate::escape::terminal;
use crate::view::{CellView, ExportedCells};

pub(super) fn write(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    // Whatever is configuration keeps runs in tables of their own, so what differs between runs is a remark.
    writeln!(out, "{}", terminal(&format!("# pagewise {}, run {} of {}", taken.version, taken.run, taken.created)))?;
    writeln!(out, "goos: linux")?;
    if let Some(architecture) = taken.environment.get("architecture") {
        writeln!(out, "goarch: {}", terminal(architecture))?;
    }
    writeln!(out, "pkg: pagewise")?;
    if let Some(cpu) = taken.environment.get("cpu") {
        writeln!(out, "cpu: {}", terminal(cpu))?;
    }
    for cell in taken.believed() {
        of_cell(cell, out)?;
    }
    for cell in taken.cells.iter().filter(|c| c.status != record::outcome::Status::Ok) {
        writeln!(out, "{}", terminal(&format!("# {} {}: {}", cell.name, cell.status.word(), cell.reason)))?;
    }
    Ok(())
}

/// Values of a launch's line.
type Values = Vec<(f64, String)>;

fn of_cell(cell: &CellView<'_>, out: &mut dyn Write) -> Result<()> {
    let name = name(cell);
    let mut lines: BTreeMap<usize, (usize, Values)> = BTreeMap::new();
    for phase in &cell.phases {
        let prefix = if phase.headline { String::new() } else { format!("{}-", word(&phase.name)) };
        for launch in &phase.launches {
            let (_, values) = lines.entry(launch.launch).or_insert((launch.rounds, Vec::new()));
            values.extend(launch.wall_ns.map(|ns| (ns / phase.units, format!("{prefix}ns/op"))));
            values.extend(launch.cpu_ns.map(|ns| (ns / phase.units, format!("{prefix}cpu-ns/op"))));
        }
    }
    for (rounds, values) in lines.into_values().filter(|(_, values)| !values.is_empty()) {
        let values: Vec<String> = values.into_iter().map(|(value, unit)| format!("{value} {unit}")).collect();
        writeln!(out, "{name}\t{}\t{}", rounds.max(1), values.join("\t"))?;
    }
    Ok(())
}

/// `BenchmarkFault/method=touch/worker=c-O3/bytes=4194304`.
fn name(cell: &CellView<'_>) -> String {
    let mut first = cell.experiment.chars();
    let capital: String = first.next().into_iter().flat_map(char::to_uppercase).collect();
    let mut name = format!("Benchmark{}{}", word(&capital), word(first.as_str()));
    let names = [("method", &cell.method), ("worker", &cell.worker)];
    for (key, value) in names.into_iter().chain(cell.parameters.iter().map(|(k, v)| (k.as_str(), v))) {
        name += &format!("/{}={}", word(key), word(value));
    }
    // A number behind the last hyphen would be taken for a number of CPUs.
    match name.rsplit_once('-') {
        Some((before, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
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
            word.extend(sign.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    word
}

#[cfg(test)]
#[path = "../../tests/unit/export/benchfmt.rs"]
mod tests;
