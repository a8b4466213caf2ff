//! Disturbance of this machine: counters around each launch, which flag and never correct; a short look before each run and
//! a longer one for `doctor --noise`, with a probe that spins to see what takes CPUs away from a busy process.

use serde::{Deserialize, Serialize};
use serde_with::apply;
use std::collections::BTreeMap;

crate::read_from_json!(Preflight);
crate::written_to_json!(Preflight);

/// Below this share of its CPUs a machine is said to be starved.
const STARVED: f64 = 0.5;

/// Result of the probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preflight {
    /// Length of the probe, in seconds.
    pub seconds: f64,
    /// The gap probe, one for each CPU that may be used.
    pub gaps: Vec<Gaps>,
    /// Counters that moved: steal, pressure, reclaim, devices.
    pub counters: NoiseDelta,
    /// Busiest processes, the busiest first.
    pub busy: Vec<Busy>,
    /// CPUs that other processes used, as a number of CPUs.
    pub busy_cpus: f64,
    /// The kernel's own threads for memory that ran.
    pub memory_threads: Vec<Busy>,
    /// Frequency of each CPU in kilohertz, before and after; empty where the kernel does not say.
    pub frequency_khz: Vec<(u64, u64)>,
    /// The scores (`AaCheck::z`) of the A/A checks of this machine's kept runs, as known then.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kept_scores: Vec<f64>,
}

impl Preflight {
    /// Tells whether the probe ran. It cannot where no thread may be pinned.
    pub fn has_looked(&self) -> bool {
        self.seconds > 0.0
    }

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
        (got < STARVED).then(|| {
            format!(
                "this machine gets {:.0} % of its CPUs at the moment: {taker}",
                got * 100.0
            )
        })
    }

    /// Cost of one clock read on the slowest CPU, in nanoseconds.
    pub fn clock_read_ns(&self) -> f64 {
        self.gaps
            .iter()
            .map(Gaps::clock_read_ns)
            .fold(0.0, f64::max)
    }
}

/// One process that was busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Busy {
    /// Name of the process, as in `/proc/PID/comm`.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// CPUs it used on average: 1 is one whole CPU.
    pub cpus: f64,
}

// The user-space gap probe: what takes CPUs away from a busy process, whether or not a counter shows it. The worker spins;
// the laboratory sleeps meanwhile.

/// Result of one probe on one CPU, as the helper's `probe-gaps` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// Number of the CPU.
    pub cpu: u64,
    /// Wall time of the probe, in nanoseconds.
    pub elapsed_ns: u64,
    /// Number of clock reads.
    pub reads: u64,
    /// Cost of one read without gaps, in picoseconds.
    pub clock_read_ps: u64,
    /// The sum of all gaps above 5 µs, in nanoseconds.
    pub lost_ns: u64,
    /// Longest gap, in nanoseconds.
    pub largest_gap_ns: u64,
    /// Thresholds in nanoseconds with the gaps that exceed them.
    pub over: Vec<(u64, u64)>,
}

impl Gaps {
    /// Share of the time that was lost in gaps, 0 to 1.
    pub fn lost_share(&self) -> f64 {
        self.lost_ns as f64 / self.elapsed_ns.max(1) as f64
    }

    /// Cost of one clock read, in nanoseconds.
    pub fn clock_read_ns(&self) -> f64 {
        self.clock_read_ps as f64 / 1000.0
    }
}

/// For each byte that a process makes durable the file system's journal may write two more, by a thread of the kernel: 4 KiB
/// records by fdatasync came to 2.05 times their bytes on ext4.
const JOURNALED: u64 = 2;

/// Difference of two snapshots.
#[apply(_ => #[serde(skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoiseDelta {
    /// Share of all CPU time that the hypervisor gave to others (`steal` of proc_stat(5)).
    pub steal_share: f64,
    /// Microseconds that CPU quotas of this process's control groups took, over CPUs and groups (`cpu.stat`).
    pub throttled_us: u64,
    /// CPU time of everything that ran, in seconds.
    pub busy_cpu_s: f64,
    /// Microseconds in which something waited, by resource and severity (`/proc/pressure`).
    pub pressure_us: BTreeMap<String, u64>,
    /// Counters of `/proc/vmstat` that moved.
    pub vmstat: BTreeMap<String, u64>,
    /// Bytes read from block devices by anybody.
    pub device_read_bytes: u64,
    /// Bytes written to block devices by anybody.
    pub device_written_bytes: u64,
    /// Bytes of these that the laboratory and the workers that have ended caused to be read.
    pub own_read_bytes: u64,
    /// Bytes that they caused to be written, now or later.
    pub own_written_bytes: u64,
    /// Bytes that they had caused to be written before and that no device had yet.
    pub own_pending_bytes: u64,
}

impl NoiseDelta {
    /// Increase of a counter; 0 where it did not move.
    pub fn counter(&self, name: &str) -> u64 {
        self.vmstat.get(name).copied().unwrap_or(0)
    }

    /// The same without counters that a state of the machine moves: lines of `/proc/vmstat`, or `device_bytes`.
    pub fn without(mut self, counters: &[String]) -> NoiseDelta {
        self.vmstat.retain(|name, _| !counters.contains(name));
        if counters.iter().any(|name| name == "device_bytes") {
            (self.device_read_bytes, self.device_written_bytes) = (0, 0);
        }
        self
    }

    /// Device bytes that the laboratory and its workers did not cause. Their own writes may reach the device later than they
    /// are made, and their journal's writes are nobody's, so only what exceeds both is foreign.
    pub fn foreign_bytes(&self) -> u64 {
        let read = self.device_read_bytes.saturating_sub(self.own_read_bytes);
        let caused = self
            .own_written_bytes
            .saturating_add(self.own_pending_bytes);
        let written = caused.saturating_mul(1 + JOURNALED);
        read + self.device_written_bytes.saturating_sub(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_read() {
        let text = r#"{"cpu": 1, "elapsed_ns": 1000000, "reads": 40000, "clock_read_ps": 24000, "lost_ns": 40000,
        "largest_gap_ns": 30000, "over": [[5000, 2], [20000, 1]]}"#;
        let gaps: Gaps = serde_json::from_str(text).unwrap();
        assert_eq!(
            (gaps.cpu, gaps.over.as_slice()),
            (1, &[(5000, 2), (20_000, 1)][..])
        );
        assert!(
            (gaps.lost_share() - 0.04).abs() < 1e-12 && (gaps.clock_read_ns() - 24.0).abs() < 1e-12
        );
        assert!(
            serde_json::from_str::<Gaps>(text.trim_end_matches("]}")).is_err(),
            "it ended early"
        );
    }
}
