//! What disturbs this machine at the moment: a short look before each run, a longer one for `doctor --noise`.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::busy::{Busy, Processes};
use super::gaps::{self, Gaps};
use super::noise::{NoiseDelta, Snapshot};

/// How long the look before a run takes, in milliseconds.
pub const SHORT_MS: u64 = 250;
/// How long `doctor --noise` looks, in milliseconds.
pub const LONG_MS: u64 = 3000;
/// Most processes that are kept.
const MOST_NAMED: usize = 8;

/// What was seen in the time looked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preflight {
    /// How long was looked, in seconds.
    pub seconds: f64,
    /// The gap probe, one for each CPU that may be used.
    pub gaps: Vec<Gaps>,
    /// Counters that moved: steal, pressure, reclaim, devices.
    pub counters: NoiseDelta,
    /// The busiest other processes.
    pub busy: Vec<Busy>,
    /// CPUs that all other processes used together.
    pub busy_cpus: f64,
    /// The kernel's own threads for memory that ran.
    pub memory_threads: Vec<Busy>,
    /// Frequency of each CPU in kilohertz, before and after; empty where the kernel does not say.
    pub frequency_khz: Vec<(u64, u64)>,
}

/// Looks for so long.
pub fn look(root: &Path, milliseconds: u64) -> Result<Preflight> {
    let cpus = gaps::allowed_cpus();
    let frequencies = |cpus: &[usize]| cpus.iter().filter_map(|cpu| frequency_khz(root, *cpu)).collect::<Vec<u64>>();
    let before = (Snapshot::take(root), Processes::take(root), frequencies(&cpus));
    let started = Instant::now();
    let gaps = gaps::probe(&cpus, milliseconds)?;
    let seconds = started.elapsed().as_secs_f64();
    let after = (Snapshot::take(root), Processes::take(root), frequencies(&cpus));
    let (mut busy, memory_threads) = after.1.since(&before.1, seconds, std::process::id());
    busy.truncate(MOST_NAMED);
    let counters = after.0.delta(&before.0);
    // Processes that began or ended meanwhile have no name here, but the CPUs know of them.
    let probes: f64 = gaps.iter().map(|g| 1.0 - g.lost_share()).sum();
    let busy_cpus = (counters.busy_cpu_s / seconds - probes).max(0.0);
    Ok(Preflight {
        seconds,
        gaps,
        counters,
        busy,
        busy_cpus,
        memory_threads,
        frequency_khz: before.2.into_iter().zip(after.2).collect(),
    })
}

fn frequency_khz(root: &Path, cpu: usize) -> Option<u64> {
    let path = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

impl Preflight {
    /// The share of time that a busy process loses, over all CPUs.
    pub fn lost_share(&self) -> f64 {
        self.gaps.iter().map(Gaps::lost_share).sum::<f64>() / self.gaps.len().max(1) as f64
    }

    /// The largest gap on any CPU, in nanoseconds.
    pub fn largest_gap_ns(&self) -> u64 {
        self.gaps.iter().map(|g| g.largest_gap_ns).max().unwrap_or(0)
    }

    /// What one clock read costs on the slowest CPU, in nanoseconds.
    pub fn clock_read_ns(&self) -> f64 {
        self.gaps.iter().map(Gaps::clock_read_ns).fold(0.0, f64::max)
    }

    /// CPUs that the kernel's memory threads used together.
    pub fn memory_thread_cpus(&self) -> f64 {
        self.memory_threads.iter().map(|t| t.cpus).sum()
    }
}
