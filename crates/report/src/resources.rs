//! What a method cost besides time: processor, memory, faults, switches, device, calls. Shown for experiments whose methods
//! record what they read from a device.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use record::experiment::Experiment;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, PhaseSummary, Proof};

/// The middle of a recorded number's extremes: what one sample needed.
fn proof(cell: &CellSummary, name: &str) -> Option<f64> {
    match cell.proofs.get(name)? {
        Proof::Number { min, max, .. } => Some((*min as f64 + *max as f64) / 2.0),
        Proof::Words(_) => None,
    }
}

/// Whether the table has anything to say about a cell.
fn has_resources(cell: &&&CellSummary) -> bool {
    cell.proofs.contains_key("device_bytes")
}

fn row(label: String, cell: &CellSummary, phase: &PhaseSummary) -> Vec<String> {
    let bytes = cell.parameters.get("bytes").and_then(|b| b.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let or_nothing = |value: Option<f64>, words: &dyn Fn(f64) -> String| {
        value.filter(|v| v.is_finite()).map_or_else(String::new, words)
    };
    let faults = phase.minor_faults + phase.major_faults;
    let pages = proof(cell, "page_bytes").map(|page| bytes / page);
    let device = proof(cell, "device_bytes");
    let calls = proof(cell, "read.system_calls");
    vec![
        label,
        format_ns(phase.user_ns),
        format_ns(phase.system_ns),
        or_nothing(Some(100.0 * phase.cpu_ns.median / phase.wall_ns.median), &|p| format!("{p:.0} %")),
        or_nothing(proof(cell, "peak_rss_bytes"), &about_size),
        count(phase.major_faults),
        count(phase.minor_faults),
        or_nothing(pages.map(|p| faults / p), &three_digits),
        count(phase.voluntary_switches),
        count(phase.involuntary_switches),
        or_nothing(device, &about_size),
        or_nothing(device.map(|d| d / bytes), &|share| format!("{share:.2}")),
        or_nothing(calls.map(|c| c / (bytes / f64::from(1 << 20))), &three_digits),
    ]
}

fn count(value: f64) -> String {
    three_digits(value).trim_end_matches(".00").to_owned()
}

/// The table over the headline phase; empty where there is nothing to say.
pub fn render(experiment: &Experiment, rows: &[&CellSummary], label: impl Fn(&CellSummary) -> String) -> String {
    let header = [
        "resources, mean of one pass",
        "user",
        "system",
        "CPU",
        "max RSS",
        "major faults",
        "minor faults",
        "faults/page",
        "voluntary sw.",
        "involuntary sw.",
        "from device",
        "per byte",
        "calls/MiB",
    ];
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    let mut any = false;
    for cell in rows.iter().filter(has_resources) {
        if let Some(phase) = cell.phases.get(experiment.headline()) {
            table.add_row(row(label(cell), cell, phase));
            any = true;
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = String::new();
    if any {
        text.push('\n');
        for line in table.to_string().lines() {
            let _ = writeln!(text, "   {}", line.trim_end());
        }
    }
    for cell in rows {
        if let Some(Proof::Words(series)) = cell.proofs.get("series") {
            let _ = writeln!(text, "    {}", slowest_second(&label(cell), series));
        }
    }
    text
}

/// One second of a pass under a memory bound, as the fact `series` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    bytes_per_s: f64,
    major_faults: u64,
    memory_stall_us: i64,
    io_stall_us: i64,
}

/// Reads `MS,BYTES,MAJOR_FAULTS,MEMORY_STALL_US,IO_STALL_US;…`. A last second that was cut short is left out, unless it is all
/// there is.
fn seconds(text: &str) -> Vec<Second> {
    let mut all: Vec<(f64, Second)> = Vec::new();
    for row in text.split(';') {
        let v: Vec<i64> = row.split(',').filter_map(|n| n.parse().ok()).collect();
        let [ms, bytes, major, memory_stall_us, io_stall_us] = v[..] else { continue };
        let bytes_per_s = bytes as f64 * 1000.0 / (ms.max(1) as f64);
        all.push((ms as f64, Second { bytes_per_s, major_faults: major.unsigned_abs(), memory_stall_us, io_stall_us }));
    }
    let whole: Vec<Second> = all.iter().filter(|(ms, _)| *ms >= 900.0).map(|(_, s)| *s).collect();
    if whole.is_empty() { all.into_iter().map(|(_, s)| s).collect() } else { whole }
}

fn slowest_second(label: &str, series: &[String]) -> String {
    let mut all: Vec<Second> = series.iter().flat_map(|s| seconds(s)).collect();
    all.sort_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
    let Some(worst) = all.first() else { return format!("{label}: no second was recorded") };
    let middle = all[all.len() / 2].bytes_per_s;
    let stall = |us: i64| if us < 0 { "not known".to_owned() } else { format_ns(us as f64 * 1000.0) };
    format!(
        "worst second of {label}: {}/s from the device (median {}/s), {} major faults, waited for memory {}, for I/O {}",
        about_size(worst.bytes_per_s),
        about_size(middle),
        worst.major_faults,
        stall(worst.memory_stall_us),
        stall(worst.io_stall_us),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_whole_second_is_found() {
        let text = "1000,104857600,3,0,5;1000,1048576,40,900000,7;20,10,0,0,0".to_owned();
        let words = slowest_second("read@c-O3", &[text]);
        assert!(words.contains("1.0 MiB/s from the device (median 100 MiB/s), 40 major faults"), "{words}");
        assert!(words.contains("waited for memory 900 ms"), "{words}");
    }

    #[test]
    fn a_pass_of_less_than_a_second_is_told_too() {
        let words = slowest_second("x", &["500,1048576,0,-1,-1".to_owned()]);
        assert!(words.contains("2.0 MiB/s") && words.contains("not known"), "{words}");
    }
}
