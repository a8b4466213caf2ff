//! Disturbance of this machine at the moment: a short look before each run, a longer one for `doctor --noise`.

use super::{busy::Busy, gaps::Gaps, noise::NoiseDelta};
use serde::{Deserialize, Serialize};

/// Below this share of its CPUs a machine is said to be starved.
const STARVED: f64 = 0.5;

/// Result of the probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preflight {
    pub seconds: f64,
    /// The gap probe, one for each CPU that may be used.
    pub gaps: Vec<Gaps>,
    /// Counters that moved: steal, pressure, reclaim, devices.
    pub counters: NoiseDelta,
    pub busy: Vec<Busy>,
    pub busy_cpus: f64,
    /// The kernel's own threads for memory that ran.
    pub memory_threads: Vec<Busy>,
    /// Frequency of each CPU in kilohertz, before and after; empty where the kernel does not say.
    pub frequency_khz: Vec<(u64, u64)>,
    /// The scores (`AaCheck::z`) of the A/A checks of this machine's kept runs, as known then: they stand here so that
    /// a run's folder has a file less.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_scores: Vec<f64>,
}

impl Preflight {
    /// The share of time that a busy process loses, over all CPUs.
    pub fn lost_share(&self) -> f64 {
        self.gaps.iter().map(Gaps::lost_share).sum::<f64>() / self.gaps.len().max(1) as f64
    }

    /// The share of its CPUs that a busy process gets here.
    pub fn got_share(&self) -> f64 {
        (1.0 - self.lost_share()).clamp(0.0, 1.0)
    }

    /// Warning before measuring, where so little CPU time is left that intervals will be wide; `None` elsewhere.
    pub fn starved(&self) -> Option<String> {
        let got = self.got_share();
        let taker = match self.counters.steal_share {
            s if s > (1.0 - got) / 2.0 => format!("the host took {:.0} % of them", s * 100.0),
            _ => format!("other processes here used {:.1} CPUs", self.busy_cpus),
        };
        (got < STARVED).then(|| format!("this machine gets {:.0} % of its CPUs at the moment: {taker}", got * 100.0))
    }

    /// The largest gap on any CPU, in nanoseconds.
    pub fn largest_gap_ns(&self) -> u64 {
        self.gaps.iter().map(|g| g.largest_gap_ns).max().unwrap_or(0)
    }

    /// Cost of one clock read on the slowest CPU, in nanoseconds.
    pub fn clock_read_ns(&self) -> f64 {
        self.gaps.iter().map(Gaps::clock_read_ns).fold(0.0, f64::max)
    }

    pub fn memory_thread_cpus(&self) -> f64 {
        self.memory_threads.iter().map(|t| t.cpus).sum()
    }
}
