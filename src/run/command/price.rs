//! One price: a fresh worker process that does one kind of memory work once, at the size of the user's program.

use super::launch::run_worker;
use crate::{run::patience::TimeLimit, run::signals::Signals, worker};
use anyhow::{Context, Result};
use record::cell::Cell;
use record::command::{CommandLaunch, LaunchMode, PricePhase};
use record::request::{self, LaunchKeys};
use record::transcript::{SideEnding, Transcript};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Memory whose copies after a fork are priced, in bytes.
const COPIED_BYTES: u64 = 16 << 20;
/// Memory of the worker for zero pages, files and calls, in bytes.
const EVENT_BYTES: u64 = 4 << 20;
const LIMIT: Duration = Duration::from_secs(120);

/// The cell that has the price: a method of the experiments, at the program's footprint where that matters.
fn cell(mode: LaunchMode, footprint_bytes: u64) -> Cell {
    let (experiment, method, bytes, keys) = match mode {
        LaunchMode::PriceHuge => ("price", "huge", footprint_bytes, Vec::new()),
        LaunchMode::PriceEvents => ("price", "events", EVENT_BYTES, Vec::new()),
        LaunchMode::PriceCow => ("fork", "cow-child", COPIED_BYTES, vec![("every", "page"), ("pages", "small")]),
        _ => ("price", "base", footprint_bytes, Vec::new()),
    };
    let mut parameters: BTreeMap<String, String> =
        keys.into_iter().map(|(key, value): (&str, &str)| (key.to_owned(), value.to_owned())).collect();
    parameters.insert("bytes".to_owned(), bytes.to_string());
    Cell { experiment: experiment.to_owned(), method: method.to_owned(), worker: "c-O3".to_owned(), parameters }
}

/// Runs it once. A price that cannot be had is a result.
pub fn price(mode: LaunchMode, block: i64, footprint_bytes: u64, scratch: &Path, signals: &Signals) -> Result<CommandLaunch> {
    let started = worker::optimised()?;
    let cell = cell(mode, footprint_bytes);
    let folder = scratch.to_str().context("a temporary folder whose name is not UTF-8")?;
    let keys = LaunchKeys { experiment: &cell.experiment, seed: 1, directory: Some(folder), ..LaunchKeys::default() };
    // One round and no warm-up: a fresh process pays what the program pays.
    let request = request::request(&keys, &[&cell], &[], &[vec![0]]);
    let worked = run_worker(&started.command, &request, TimeLimit::Able(LIMIT), scratch, signals)?;
    let mut run = CommandLaunch { block, mode, ..CommandLaunch::default() };
    match Transcript::read(std::io::BufReader::new(files::open_input(&worked.transcript)?)) {
        Ok(transcript) => fill(&mut run, &transcript),
        Err(error) => run.failed = format!("{error:#}"),
    }
    if run.phases.is_empty() && run.failed.is_empty() {
        run.failed = format!("{}: {:?} {}", cell.name(), worked.end, worked.messages.trim());
    }
    Ok(run)
}

fn fill(run: &mut CommandLaunch, transcript: &Transcript) {
    for sample in &transcript.samples {
        let counts = &sample.counts;
        let phase =
            PricePhase { cpu_ns: counts.cpu_ns, ops: counts.ops, bytes: counts.bytes, minor_faults: counts.minor_faults };
        run.phases.insert(transcript.phases[usize::from(sample.phase)].clone(), phase);
    }
    match transcript.endings.first() {
        Some(SideEnding::Skip { reason, .. }) => run.failed = reason.clone(),
        Some(other) => run.failed = format!("{other:?}"),
        None => {}
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/run/command/price.rs"]
mod tests;
