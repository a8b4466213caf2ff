//! The control groups above this process: what they let it take, and whether it may make its own.

use serde::{Deserialize, Serialize};

/// The tightest limits that control groups set to this process, over all levels above it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroups {
    /// The groups that account for memory, nearest first: at most one of each version.
    pub memory: Vec<MemoryGroup>,
    /// CPUs' worth of time per second, if less than all: cpu.max, or cpu.cfs_quota_us over cpu.cfs_period_us.
    pub cpu_quota: Option<Quota>,
}

/// The memory group that this process is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryGroup {
    /// 1 or 2: the kind of mount in /proc/self/mountinfo.
    pub version: u64,
    /// Its folder, as this process sees it: /proc/self/cgroup below the mount.
    pub folder: String,
    /// The least limit on the way up: memory.max, or memory.limit_in_bytes.
    pub limit_bytes: Option<u64>,
    /// The least limit above which it is slowed: memory.high; version 2 only.
    pub high_bytes: Option<u64>,
    /// The least limit of swap: memory.swap.max; version 2 only.
    pub swap_limit_bytes: Option<u64>,
    /// Whether this process may make groups in it: faccessat2(2) on the folder, and its mount.
    pub writable: bool,
}

/// Time on CPUs per period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quota {
    /// What may be used in each period, in µs.
    pub quota_us: u64,
    /// How long a period is, in µs.
    pub period_us: u64,
}

impl Cgroups {
    /// The least limit on memory, and the folder of its group.
    pub fn memory_limit(&self) -> Option<(u64, &str)> {
        self.memory.iter().filter_map(|g| Some((g.limit_bytes?, g.folder.as_str()))).min()
    }
}

impl Quota {
    /// The time in CPUs.
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}
