//! Text of a request to a worker. See `workers/PROTOCOL.md`.

use crate::{cell::Cell, machine_state::STATE};
use std::fmt::Write as _;

/// Keys of the whole launch, apart from its cells.
#[derive(Clone, Debug, Default)]
pub struct LaunchKeys<'a> {
    pub experiment: &'a str,
    pub launch: usize,
    pub seed: u64,
    /// Side, where two take part.
    pub role: Option<char>,
    /// Socket on which the sides meet.
    pub rendezvous: Option<&'a str>,
    pub directory: Option<&'a str>,
    pub name: Option<&'a str>,
    /// The measured rounds that carry proofs; all where empty, none where no round has that number.
    pub proofs: &'a [u32],
    pub trace_marks: bool,
}

/// Writes a request. `warmup` and `rounds` hold orders of indices into `cells`.
pub fn request(keys: &LaunchKeys, cells: &[&Cell], warmup: &[Vec<usize>], rounds: &[Vec<usize>]) -> String {
    let mut text = String::from("protocol=1\n");
    let mut line = |key: &str, value: &dyn std::fmt::Display| writeln!(text, "{key}={value}").expect("writing to a string");
    line("experiment", &keys.experiment);
    line("launch", &keys.launch);
    line("seed", &keys.seed);
    if let Some(role) = keys.role {
        line("role", &role);
    }
    for (key, value) in [("rendezvous", keys.rendezvous), ("directory", keys.directory), ("name", keys.name)] {
        if let Some(value) = value {
            line(key, &value);
        }
    }
    if !keys.proofs.is_empty() {
        line("proofs", &keys.proofs.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    }
    if keys.trace_marks {
        line("trace_marks", &"yes");
    } else {
        line("hardware_counters", &"yes");
    }
    for (number, cell) in cells.iter().enumerate() {
        line("cell", &number);
        line("method", &cell.method);
        // The laboratory makes the state; no worker is asked for it.
        cell.parameters.iter().filter(|(key, _)| *key != STATE).for_each(|(key, value)| line(key, value));
    }
    let joined = |order: &Vec<usize>| order.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    for (left, order) in (1..=warmup.len()).rev().zip(warmup) {
        line("warmup", &format_args!("{left} {}", joined(order)));
    }
    for (number, order) in rounds.iter().enumerate() {
        line("round", &format_args!("{number} {}", joined(order)));
    }
    text
}
