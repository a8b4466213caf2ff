//! The processor: name, caches and how far they reach, instructions for copying, and frequency.

use super::files::{Files, facts, list_length};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
const POLICIES: &str = "/sys/devices/system/cpu/cpufreq";
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

facts! { m:
    /// The first processor; the second names of /proc/cpuinfo are those of Arm.
    Cpu {
        model: Option<String> = m.cpuinfo("model name").or_else(|| m.cpuinfo("CPU part"));
        vendor: Option<String> = m.cpuinfo("vendor_id").or_else(|| m.cpuinfo("CPU implementer"));
        family: Option<String> = m.cpuinfo("cpu family").or_else(|| m.cpuinfo("CPU architecture"));
        model_number: Option<String> = m.cpuinfo("model").or_else(|| m.cpuinfo("CPU variant"));
        stepping: Option<String> = m.cpuinfo("stepping").or_else(|| m.cpuinfo("CPU revision"));
        microcode: Option<String> = m.cpuinfo("microcode");
        /// Those flags that bear on memory, sorted; absent if no flags can be read at all.
        memory_flags: Option<BTreeSet<String>> = m.cpuinfo("flags").or_else(|| m.cpuinfo("Features")).map(|flags| {
            flags.split_whitespace().filter(|f| MEMORY_FLAGS.contains(f)).map(str::to_owned).collect()
        });
        online: Option<u64> = m.count("/sys/devices/system/cpu/online");
        /// Logical CPUs that this process may use.
        allowed: Option<u64> =
            m.field("/proc/self/status", "Cpus_allowed_list").and_then(|list| list_length(&list));
        /// True if two logical CPUs share a core.
        smt_active: Option<bool> = m.switch("/sys/devices/system/cpu/smt/active");
        caches: Vec<Cache> = m.numbered(CACHES, "index", "").into_iter().map(|index| Cache::read(m, index)).collect();
        /// Reach of its caches as measured in this boot, if it was.
        #[serde(skip_serializing_if = "crate::is_default")]
        ladder: Option<Ladder> = None;
        frequency: Frequency = Frequency::read(m);
        /// Vulnerabilities and what the kernel does about them.
        mitigations: BTreeMap<String, String> = m
            .names(VULNERABILITIES)
            .into_iter()
            .filter_map(|name| m.text(&format!("{VULNERABILITIES}/{name}")).map(|text| (name, text)))
            .collect();
    }

    /// Rules of the frequency; absent in most virtual machines, where the host sets it.
    Frequency {
        driver: Option<String> = first_policy(m, "scaling_driver").and_then(|path| m.text(&path));
        governors: BTreeSet<String> = m
            .numbered(POLICIES, "policy", "")
            .into_iter()
            .filter_map(|policy| m.text(&format!("{POLICIES}/policy{policy}/scaling_governor")))
            .collect();
        /// The lowest that the first policy may set, in kHz.
        minimum_khz: Option<u64> = first_policy(m, "scaling_min_freq").and_then(|path| m.number(&path));
        /// The highest that the first policy may set, in kHz.
        maximum_khz: Option<u64> = first_policy(m, "scaling_max_freq").and_then(|path| m.number(&path));
        /// True if it may go above its nominal frequency.
        boost: Option<bool> = m
            .switch(&format!("{POLICIES}/boost"))
            .or_else(|| m.switch("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off));
    }

    /// One cache of the first CPU.
    Cache(index: u64) {
        /// 1 is the nearest.
        level: Option<u64> = m.number(&cache_file(index, "level"));
        /// `Data`, `Instruction` or `Unified`.
        kind: Option<String> = m.text(&cache_file(index, "type"));
        /// Sizes are written `32K`, whatever the size.
        size_bytes: Option<u64> = m
            .text(&cache_file(index, "size"))
            .and_then(|size| Some(size.strip_suffix('K')?.parse::<u64>().ok()? * 1024));
        line_bytes: Option<u64> = m.number(&cache_file(index, "coherency_line_size"));
        ways: Option<u64> = m.number(&cache_file(index, "ways_of_associativity"));
        shared_by: Option<u64> = m.count(&cache_file(index, "shared_cpu_list"));
    }
}

fn first_policy(m: &dyn Files, name: &str) -> Option<String> {
    m.numbered(POLICIES, "policy", "")
        .first()
        .map(|policy| format!("{POLICIES}/policy{policy}/{name}"))
}

fn cache_file(index: u64, name: &str) -> String {
    format!("{CACHES}/index{index}/{name}")
}

impl Cpu {
    /// Logical CPUs in use that this process may use.
    pub fn usable(&self) -> Option<u64> {
        self.allowed.or(self.online)
    }

    /// The largest data cache, which is shared by the most CPUs.
    pub fn last_level_cache(&self) -> Option<&Cache> {
        self.caches
            .iter()
            .filter(|c| c.kind.as_deref() != Some("Instruction"))
            .max_by_key(|c| c.level)
    }
}

// The ladder of caches: what a read costs that has to wait for the one before it, over working sets that grow by steps. It
// shows how far the caches really reach, which on a virtual machine need not be what the hypervisor tells.

/// One working set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its size, all of it read in random order.
    pub bytes: u64,
    /// Time of one dependent read, in picoseconds.
    pub read_ps: u64,
}

/// All steps, the smallest first, as the helper's `cache-ladder` prints them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// Steps in increasing size.
    pub steps: Vec<Step>,
}

/// Steps at the end that are taken for memory.
const IN_MEMORY: usize = 3;

impl Ladder {
    /// Cost of a read from memory, in picoseconds: the median of the largest steps, where they are about alike.
    pub fn memory_ps(&self) -> Option<u64> {
        let mut last: Vec<u64> = self
            .steps
            .iter()
            .rev()
            .take(IN_MEMORY)
            .map(|s| s.read_ps)
            .collect();
        last.sort_unstable();
        let alike =
            |last: &[u64]| last.len() == IN_MEMORY && 2 * last[IN_MEMORY - 1] <= 3 * last[0];
        alike(&last).then(|| last[IN_MEMORY / 2])
    }

    /// The largest working set within the caches: reads cost less than half of memory's. None if no step is beyond.
    pub fn reach(&self) -> Option<&Step> {
        let memory_ps = self.memory_ps()?;
        let near = self
            .steps
            .iter()
            .rposition(|s| s.read_ps.saturating_mul(2) < memory_ps)?;
        self.steps
            .get(near)
            .filter(|_| near + IN_MEMORY < self.steps.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(costs: &[u64]) -> Ladder {
        let step = |(i, ps): (usize, &u64)| Step {
            bytes: 1 << (14 + i),
            read_ps: *ps,
        };
        Ladder {
            steps: costs.iter().enumerate().map(step).collect(),
        }
    }

    #[test]
    fn the_caches_reach_to_the_last_step_before_memory() {
        // One slow step in between, as where something else ran, changes nothing.
        let told = ladder(&[
            1200, 1300, 4000, 90_000, 4800, 12_000, 15_000, 145_000, 165_000, 170_000, 175_000,
        ]);
        assert_eq!(told.memory_ps(), Some(170_000));
        assert_eq!(
            told.reach().map(|s| (s.bytes, s.read_ps)),
            Some((1 << 20, 15_000))
        );
    }

    #[test]
    fn a_ladder_that_never_leaves_the_caches_says_nothing() {
        assert_eq!(
            ladder(&[1200, 1300, 4000, 4100, 4200])
                .reach()
                .map(|s| s.bytes),
            Some(1 << 15)
        );
        assert!(
            ladder(&[1200, 4000, 4000, 4100, 4200, 4200, 6500])
                .reach()
                .is_none(),
            "it still grows"
        );
        assert!(ladder(&[1200, 1250, 1300]).reach().is_none());
        assert!(
            ladder(&[1200, 1200, 4000, 15_000, 15_100, 30_000])
                .reach()
                .is_none()
        );
        assert!(Ladder::default().reach().is_none());
    }
}
