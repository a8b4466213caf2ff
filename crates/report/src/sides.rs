//! What each of two sides paid: processor time and calls of its own, and the memory that both and their channel held.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, Proof};

/// The middle of a recorded number's extremes.
fn proof(cell: &CellSummary, name: &str) -> Option<f64> {
    match cell.proofs.get(name)? {
        Proof::Number { min, max, .. } => Some((*min as f64 + *max as f64) / 2.0),
        Proof::Words(_) => None,
    }
}

fn row(label: String, cell: &CellSummary) -> Vec<String> {
    let mib = cell.parameters.get("bytes").and_then(|b| b.parse::<f64>().ok()).map(|b| b / f64::from(1 << 20));
    let cpu = |phase: &str| cell.phases.get(phase).map_or_else(String::new, |p| format_ns(p.cpu_ns.median));
    let calls = |fact: &str| proof(cell, fact).zip(mib).map_or_else(String::new, |(n, mib)| count(n / mib));
    let memory = proof(cell, "memory_bytes").map_or_else(String::new, about_size);
    vec![label, cpu("send"), cpu("receive"), calls("send.calls"), calls("receive.calls"), memory]
}

fn count(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { three_digits(value) }
}

/// The table; empty where no cell has two sides that say what they did.
pub fn render(rows: &[&CellSummary], label: impl Fn(&CellSummary) -> String) -> String {
    let header = ["each side, median", "send CPU", "receive CPU", "send calls/MiB", "receive calls/MiB", "memory"];
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    let of_sides: Vec<_> = rows.iter().filter(|c| c.proofs.contains_key("send.calls")).collect();
    if of_sides.is_empty() {
        return String::new();
    }
    for cell in of_sides {
        table.add_row(row(label(cell), cell));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = String::from("\n");
    for line in table.to_string().lines() {
        let _ = writeln!(text, "   {}", line.trim_end());
    }
    text
}
