//! The user-space gap probe: what takes CPUs away from a busy process, whether or not a counter shows it. The worker spins;
//! the laboratory sleeps meanwhile.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// Result of one probe on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    pub cpu: u64,
    pub elapsed_ns: u64,
    pub reads: u64,
    /// Cost of one read without gaps, in picoseconds.
    pub clock_read_ps: u64,
    /// The sum of all gaps above 5 µs, in nanoseconds.
    pub lost_ns: u64,
    pub largest_gap_ns: u64,
    /// Thresholds in nanoseconds with the gaps that exceed them.
    pub over: Vec<(u64, u64)>,
}

impl Gaps {
    /// Reads what the helper's `probe-gaps` prints.
    pub fn parse(text: &str) -> Result<Gaps> {
        let mut gaps = Gaps::default();
        let mut done = false;
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |i: usize| -> Result<u64> {
                let text = fields.get(i).with_context(|| format!("{line:?} is cut short"))?;
                text.parse().with_context(|| format!("{line:?} is not a line of the gap probe"))
            };
            match fields[0] {
                "probe-gaps" if fields.get(1) == Some(&"1") => {}
                "cpu" => gaps.cpu = number(1)?,
                "elapsed_ns" => gaps.elapsed_ns = number(1)?,
                "reads" => gaps.reads = number(1)?,
                "clock_read_ps" => gaps.clock_read_ps = number(1)?,
                "lost_ns" => gaps.lost_ns = number(1)?,
                "largest_gap_ns" => gaps.largest_gap_ns = number(1)?,
                "gaps_over" => gaps.over.push((number(1)?, number(2)?)),
                "done" => done = true,
                _ => bail!("{line:?} is not a line of the gap probe"),
            }
        }
        if !done || gaps.elapsed_ns == 0 {
            bail!("the gap probe ended early");
        }
        Ok(gaps)
    }

    pub fn lost_share(&self) -> f64 {
        self.lost_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    pub fn clock_read_ns(&self) -> f64 {
        self.clock_read_ps as f64 / 1000.0
    }
}

#[cfg(test)]
#[path = "../../tests/unit/machine/gaps.rs"]
mod tests;
