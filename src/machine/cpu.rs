//! The processor: what it is, what it caches, what it can copy with, and at which frequency it may run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::files::{Files, field, list_length};

/// Flags of /proc/cpuinfo that change how fast memory is copied, cleared, mapped or timed: `rep movsb` and its wide
/// rivals, stores past the cache, page table features, a clock that does not stop; the last four are Arm's.
const MEMORY_FLAGS: [&str; 23] = [
    "erms",
    "fsrm",
    "fzrm",
    "fsrs",
    "avx",
    "avx2",
    "avx512f",
    "avx512bw",
    "movdiri",
    "movdir64b",
    "clflushopt",
    "clwb",
    "clzero",
    "pdpe1gb",
    "la57",
    "pcid",
    "invpcid",
    "constant_tsc",
    "nonstop_tsc",
    "asimd",
    "sve",
    "dcpop",
    "mops",
];

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
    pub(super) fn capture(files: Files<'_>) -> Cpu {
        // One processor's block is less than this on every machine known.
        let info = files.start("/proc/cpuinfo", 8192).unwrap_or_default();
        let first = |names: [&str; 2]| names.iter().find_map(|n| field(&info, n)).map(str::to_owned);
        let status = files.text("/proc/self/status").unwrap_or_default();
        Cpu {
            model: first(["model name", "CPU part"]),
            vendor: first(["vendor_id", "CPU implementer"]),
            family: first(["cpu family", "CPU architecture"]),
            model_number: first(["model", "CPU variant"]),
            stepping: first(["stepping", "CPU revision"]),
            microcode: first(["microcode", "microcode"]),
            memory_flags: first(["flags", "Features"]).map(|flags| memory_flags(&flags)),
            online: files.text("/sys/devices/system/cpu/online").and_then(|list| list_length(&list)),
            allowed: field(&status, "Cpus_allowed_list").and_then(list_length),
            smt_active: files.switch("/sys/devices/system/cpu/smt/active"),
            caches: caches(files),
            frequency: frequency(files),
            mitigations: mitigations(files),
        }
    }

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
}

fn memory_flags(flags: &str) -> BTreeSet<String> {
    flags.split_whitespace().filter(|f| MEMORY_FLAGS.contains(f)).map(str::to_owned).collect()
}

fn caches(files: Files<'_>) -> Vec<Cache> {
    let folder = "/sys/devices/system/cpu/cpu0/cache";
    let one = |index: u64| {
        let file = |name: &str| format!("{folder}/index{index}/{name}");
        Cache {
            level: files.number(&file("level")),
            kind: files.text(&file("type")),
            size_bytes: files.text(&file("size")).and_then(|size| kib_to_bytes(&size)),
            line_bytes: files.number(&file("coherency_line_size")),
            ways: files.number(&file("ways_of_associativity")),
            shared_by: files.text(&file("shared_cpu_list")).and_then(|list| list_length(&list)),
        }
    };
    files.numbered(folder, "index", "").into_iter().map(one).collect()
}

/// Cache sizes are written `32K`, whatever their size.
fn kib_to_bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn frequency(files: Files<'_>) -> Frequency {
    let folder = "/sys/devices/system/cpu/cpufreq";
    let policies = files.numbered(folder, "policy", "");
    let file = |policy: &u64, name: &str| format!("{folder}/policy{policy}/{name}");
    let first = policies.first();
    let no_turbo = files.switch("/sys/devices/system/cpu/intel_pstate/no_turbo");
    Frequency {
        driver: first.and_then(|p| files.text(&file(p, "scaling_driver"))),
        governors: policies.iter().filter_map(|p| files.text(&file(p, "scaling_governor"))).collect(),
        minimum_khz: first.and_then(|p| files.number(&file(p, "scaling_min_freq"))),
        maximum_khz: first.and_then(|p| files.number(&file(p, "scaling_max_freq"))),
        boost: files.switch(&format!("{folder}/boost")).or(no_turbo.map(|off| !off)),
    }
}

fn mitigations(files: Files<'_>) -> BTreeMap<String, String> {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = files.names(folder).into_iter();
    names.filter_map(|name| files.text(&format!("{folder}/{name}")).map(|text| (name, text))).collect()
}
