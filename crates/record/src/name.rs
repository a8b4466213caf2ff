//! Names of runs.

use anyhow::{Result, bail};
use serde::{Deserialize, Deserializer, de::Error};

const MOST: usize = 64;

/// The name, if it can stand in paths, sockets and records of the guard: 1 to 64 ASCII letters, digits and hyphens.
/// Errors: it has another character, none, or too many.
pub fn run_name(name: &str) -> Result<&str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if name.is_empty() || name.len() > MOST || !name.chars().all(allowed) {
        bail!("{name:?} is no name of a run: 1 to {MOST} letters, digits and hyphens");
    }
    Ok(name)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    run_name(&name).map_err(D::Error::custom)?;
    Ok(name)
}
