//! The ladder of caches: what a read costs that has to wait for the one before it, over working sets that grow by steps. It
//! shows how far the caches really reach, which on a virtual machine need not be what the hypervisor tells.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// One working set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its size, all of it read in random order.
    pub bytes: u64,
    pub read_ps: u64,
}

/// All steps, the smallest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    pub steps: Vec<Step>,
}

/// Steps at the end that are taken for memory.
const IN_MEMORY: usize = 3;

impl Ladder {
    /// Reads what the helper's `cache-ladder` prints.
    pub fn parse(text: &str) -> Result<Ladder> {
        let mut ladder = Ladder::default();
        let mut done = false;
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |i: usize| -> Result<u64> {
                let text = fields.get(i).with_context(|| format!("{line:?} is cut short"))?;
                text.parse().with_context(|| format!("{line:?} is not a line of the ladder"))
            };
            match fields[0] {
                "cache-ladder" if fields.get(1) == Some(&"1") => {}
                "step" => ladder.steps.push(Step { bytes: number(1)?, read_ps: number(2)? }),
                "done" => done = true,
                _ => bail!("{line:?} is not a line of the ladder"),
            }
        }
        if !done || !ladder.steps.is_sorted_by(|a, b| a.bytes < b.bytes) {
            bail!("the ladder of caches ended early");
        }
        Ok(ladder)
    }

    /// Cost of a read from memory, in picoseconds: the median of the largest steps, where they are about alike.
    pub fn memory_ps(&self) -> Option<u64> {
        let mut last: Vec<u64> = self.steps.iter().rev().take(IN_MEMORY).map(|s| s.read_ps).collect();
        last.sort_unstable();
        let alike = |last: &[u64]| last.len() == IN_MEMORY && 2 * last[IN_MEMORY - 1] <= 3 * last[0];
        alike(&last).then(|| last[IN_MEMORY / 2])
    }

    /// The largest working set that the caches still hold: its reads cost less than half of memory's. None where the
    /// ladder ends before memory begins.
    pub fn reach(&self) -> Option<&Step> {
        let memory_ps = self.memory_ps()?;
        let near = self.steps.iter().rposition(|s| s.read_ps.saturating_mul(2) < memory_ps)?;
        self.steps.get(near).filter(|_| near + IN_MEMORY < self.steps.len())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/machine/ladder.rs"]
mod tests;
