//! Noise of the machine: counters read before and after a launch. They flag; they never correct.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// For each byte that a process makes durable the file system's journal may write two more, by a thread of the kernel: 4 KiB
/// records by fdatasync came to 2.05 times their bytes on ext4.
const JOURNALED: u64 = 2;

/// Tells whether a value did not move; such values are not recorded.
fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Difference of two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseDelta {
    /// Share of all CPU time that the hypervisor gave to others (`steal` of proc_stat(5)).
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub steal_share: f64,
    /// Microseconds for which CPU quotas of the control groups above this process kept their processes waiting, added up over
    /// CPUs and groups (`cpu.stat`).
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub throttled_us: u64,
    /// CPU time of everything that ran, in seconds.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub busy_cpu_s: f64,
    /// Microseconds in which something waited, by resource and severity (`/proc/pressure`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pressure_us: BTreeMap<String, u64>,
    /// Counters of `/proc/vmstat` that moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vmstat: BTreeMap<String, u64>,
    /// Bytes read from block devices by anybody.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub device_read_bytes: u64,
    /// Bytes written to block devices by anybody.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub device_written_bytes: u64,
    /// Bytes of these that the laboratory and the workers that have ended caused to be read.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub own_read_bytes: u64,
    /// Bytes that they caused to be written, now or later.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub own_written_bytes: u64,
    /// Bytes that they had caused to be written before and that no device had yet.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub own_pending_bytes: u64,
}

impl NoiseDelta {
    pub fn oom_kills(&self) -> u64 {
        self.counter("oom_kill")
    }

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
        let caused = self.own_written_bytes.saturating_add(self.own_pending_bytes);
        let written = caused.saturating_mul(1 + JOURNALED);
        read + self.device_written_bytes.saturating_sub(written)
    }
}
