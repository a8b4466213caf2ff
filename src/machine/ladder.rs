//! Reach of the caches: the helper walks through working sets that grow by steps. What was seen is kept for the boot, so
//! that runs need not look again.

use super::{helped, memory, preflight};
use crate::worker;
use anyhow::Result;
use record::machine::cpu::Ladder;
use record::machine::environment::{Environment, Identity};
use std::path::Path;

/// The largest step where no larger cache is reported.
const LEAST_TOP: u64 = 64 << 20;
/// Limit of a kept sweep, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// The largest step of all: to walk further takes seconds.
const MOST_TOP: u64 = 1 << 30;

/// The largest step: twice the reported last cache, and no more than a quarter of the memory that is available.
fn top(reported: Option<u64>, available: u64) -> u64 {
    let wanted = reported.unwrap_or(0).saturating_mul(2).min(MOST_TOP).next_power_of_two().max(LEAST_TOP);
    wanted.min(available / 4)
}

/// Walks the ladder, in a second or few.
fn measure(reported: Option<u64>) -> Result<Ladder> {
    let bytes = top(reported, memory::available_bytes(Path::new("/")).bytes);
    let cpu = preflight::allowed_cpus().last().copied().unwrap_or(0);
    Ladder::parse(&helped(cpu, &["cache-ladder", &bytes.to_string()])?)
}

/// File of this boot's latency sweep in the cache; none on a machine that cannot be told from others.
fn name(identity: &Identity) -> Option<String> {
    let boot = identity.boot.as_ref()?;
    let key = format!("{} {boot}", identity.machine.as_deref().unwrap_or_default());
    Some(format!("ladder-{}.json", &record::folder::sha256_hex(&[key.as_bytes()])[..16]))
}

/// Latency sweep of this boot.
pub fn kept(identity: &Identity) -> Option<Ladder> {
    let bytes = worker::private_cache("").ok()?.read(name(identity)?, MOST_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Looks now, and keeps what is seen where that is possible.
pub fn look(environment: &Environment) -> Result<Ladder> {
    let ladder = measure(environment.cpu.last_level_cache().and_then(|c| c.size_bytes))?;
    let (cache, text) = (worker::private_cache(""), serde_json::to_vec(&ladder));
    if let (Some(name), Ok(cache), Ok(text)) = (name(&environment.identity), cache, text) {
        // A sweep that cannot be kept is measured again by the next run.
        let _ = cache.write(name, &text);
    }
    Ok(ladder)
}

#[cfg(test)]
#[path = "../../tests/unit/machine/ladder.rs"]
mod tests;
