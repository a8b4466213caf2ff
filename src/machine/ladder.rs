//! How far the caches reach: the helper walks through working sets that grow by steps. What was seen is kept for the boot, so
//! that runs need not look again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use record::machine::environment::Environment;
use record::machine::identity::Identity;
use record::machine::ladder::Ladder;

use super::{gaps, memory};
use crate::worker;

/// The largest step where the machine tells of no larger cache.
const LEAST_TOP: u64 = 64 << 20;
/// The largest step of all: to walk further takes seconds.
const MOST_TOP: u64 = 1 << 30;

/// The largest step: twice what the machine tells of its last cache, and no more than a quarter of the memory that is
/// available.
fn top(told: Option<u64>, available: u64) -> u64 {
    let wanted = told.unwrap_or(0).saturating_mul(2).min(MOST_TOP).next_power_of_two().max(LEAST_TOP);
    wanted.min(available / 4)
}

/// Walks the ladder, in a second or few.
fn measure(told: Option<u64>) -> Result<Ladder> {
    let helper = worker::helper()?;
    let bytes = top(told, memory::available_bytes(Path::new("/")).bytes);
    let mut command = Command::new(&helper);
    command.args(["exec", "--parent"]).arg(std::process::id().to_string());
    command.arg("--cpus").arg(gaps::allowed_cpus().last().copied().unwrap_or(0).to_string()).arg("--").arg(&helper);
    command.arg("cache-ladder").arg(bytes.to_string()).stdin(Stdio::null());
    let output = command.output().context("cannot start the ladder of caches")?;
    if !output.status.success() {
        bail!("the ladder of caches: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ladder::parse(&String::from_utf8_lossy(&output.stdout))
}

/// Where this boot's ladder is kept; nowhere on a machine that cannot be told from others.
fn place(identity: &Identity) -> Option<PathBuf> {
    let boot = identity.boot.as_ref()?;
    let words = format!("{} {boot}", identity.machine.as_deref().unwrap_or_default());
    let name = record::folder::sha256_hex(&[words.as_bytes()]);
    Some(worker::cache_folder().join(format!("ladder-{}.json", &name[..16])))
}

/// What was seen earlier in this boot.
pub fn kept(identity: &Identity) -> Option<Ladder> {
    serde_json::from_slice(&fs::read(place(identity)?).ok()?).ok()
}

/// Looks now, and keeps what is seen where that is possible.
pub fn look(environment: &Environment) -> Result<Ladder> {
    let ladder = measure(environment.cpu.last_level_cache().and_then(|c| c.size_bytes))?;
    if let (Some(place), Ok(text)) = (place(&environment.identity), serde_json::to_vec(&ladder)) {
        // Another process may keep its own at the same moment: the file appears whole. Where it cannot be kept, the next looks.
        let part = place.with_extension(format!("part-{}", std::process::id()));
        let _ = fs::create_dir_all(worker::cache_folder());
        if fs::write(&part, text).and_then(|()| fs::rename(&part, &place)).is_err() {
            let _ = fs::remove_file(&part);
        }
    }
    Ok(ladder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_goes_beyond_what_is_told_and_leaves_memory_to_others() {
        let much = 1 << 40;
        assert_eq!(top(None, much), 64 << 20);
        assert_eq!(top(Some(32 << 20), much), 64 << 20);
        assert_eq!(top(Some(105 << 20), much), 256 << 20);
        assert_eq!(top(Some(u64::MAX), much), 1 << 30);
        assert_eq!(top(Some(32 << 20), 100 << 20), 25 << 20);
    }
}
