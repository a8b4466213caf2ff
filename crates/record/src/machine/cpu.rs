//! The processor: what it is, what it caches, what it can copy with, and at which frequency it may run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ladder::Ladder;

/// The processor. Only the first one is described: /proc/cpuinfo is slow to compose where there are hundreds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// Its name: `model name` in /proc/cpuinfo (on Arm: `CPU part`).
    pub model: Option<String>,
    /// Its maker: `vendor_id` in /proc/cpuinfo (on Arm: `CPU implementer`).
    pub vendor: Option<String>,
    /// Its family: `cpu family` in /proc/cpuinfo (on Arm: `CPU architecture`).
    pub family: Option<String>,
    /// Its model number: `model` in /proc/cpuinfo (on Arm: `CPU variant`).
    pub model_number: Option<String>,
    /// Its stepping: `stepping` in /proc/cpuinfo (on Arm: `CPU revision`).
    pub stepping: Option<String>,
    /// The microcode's revision: `microcode` in /proc/cpuinfo.
    pub microcode: Option<String>,
    /// Those flags of /proc/cpuinfo that bear on memory, sorted; `None` if no flags can be read at all.
    pub memory_flags: Option<BTreeSet<String>>,
    /// Logical CPUs in use: /sys/devices/system/cpu/online.
    pub online: Option<u64>,
    /// Logical CPUs that this process may use: `Cpus_allowed_list` in /proc/self/status.
    pub allowed: Option<u64>,
    /// Whether two logical CPUs share a core: /sys/devices/system/cpu/smt/active.
    pub smt_active: Option<bool>,
    /// The caches of the first CPU: /sys/devices/system/cpu/cpu0/cache/index*.
    pub caches: Vec<Cache>,
    /// How far its caches were seen to reach in this boot, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ladder: Option<Ladder>,
    /// How its frequency is set: /sys/devices/system/cpu/cpufreq.
    pub frequency: Frequency,
    /// What it suffers from and what the kernel does about it: /sys/devices/system/cpu/vulnerabilities.
    pub mitigations: BTreeMap<String, String>,
}

/// One cache of the first CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cache {
    /// 1 is the nearest: …/cache/index*/level.
    pub level: Option<u64>,
    /// `Data`, `Instruction` or `Unified`: …/cache/index*/type.
    pub kind: Option<String>,
    /// Its size: …/cache/index*/size.
    pub size_bytes: Option<u64>,
    /// Its line: …/cache/index*/coherency_line_size.
    pub line_bytes: Option<u64>,
    /// Its associativity: …/cache/index*/ways_of_associativity.
    pub ways: Option<u64>,
    /// How many logical CPUs share it: …/cache/index*/shared_cpu_list.
    pub shared_by: Option<u64>,
}

/// How the frequency is set; all absent in most virtual machines, where the host sets it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Frequency {
    /// The driver of the first policy: …/cpufreq/policy*/scaling_driver.
    pub driver: Option<String>,
    /// The governors of all policies: …/cpufreq/policy*/scaling_governor.
    pub governors: BTreeSet<String>,
    /// The lowest the first policy may set, in kHz: …/cpufreq/policy*/scaling_min_freq.
    pub minimum_khz: Option<u64>,
    /// The highest the first policy may set, in kHz: …/cpufreq/policy*/scaling_max_freq.
    pub maximum_khz: Option<u64>,
    /// Whether it may go above its nominal frequency: …/cpufreq/boost, or …/intel_pstate/no_turbo turned round.
    pub boost: Option<bool>,
}

impl Cpu {
    /// Whether the processor has a flag; `None` if its flags are not known.
    pub fn has(&self, flag: &str) -> Option<bool> {
        self.memory_flags.as_ref().map(|flags| flags.contains(flag))
    }

    /// How many logical CPUs a measurement can have: those in use that this process may use.
    pub fn usable(&self) -> Option<u64> {
        self.allowed.or(self.online)
    }

    /// The largest data cache, which is shared by the most CPUs.
    pub fn last_level_cache(&self) -> Option<&Cache> {
        self.caches.iter().filter(|c| c.kind.as_deref() != Some("Instruction")).max_by_key(|c| c.level)
    }

    /// The cache that a core has to itself beside its nearest one.
    pub fn second_level_cache(&self) -> Option<&Cache> {
        self.caches.iter().find(|c| c.level == Some(2) && c.kind.as_deref() != Some("Instruction"))
    }
}
