//! All facts of a machine before anything is measured: `environment.json` of every run.

use super::paging::{HugePages, Memory, Reclaim};
use super::system::{Clock, Hypervisor, Kernel, Limits, Rights};
use super::{cgroup::Cgroups, cpu::Cpu, files::facts, tools::Tools};
use crate::hash::sha256_hex;
use std::collections::BTreeMap;

crate::read_from_json!(Environment);
crate::written_to_json!(Environment);

facts! { m:
    /// One machine as it was when a run began. A field that could not be read is absent; a field that an older version did
    /// not know is absent as well when its runs are read, so that runs stay comparable.
    Environment {
        identity: Identity = Identity::read(m);
        cpu: Cpu = Cpu::read(m);
        kernel: Kernel = Kernel::read(m);
        hypervisor: Hypervisor = Hypervisor::read(m);
        clock: Clock = Clock::read(m);
        memory: Memory = Memory::read(m);
        huge_pages: HugePages = HugePages::read(m);
        reclaim: Reclaim = Reclaim::read(m);
        /// The control groups above this process.
        cgroups: Cgroups = Cgroups::read(m);
        rights: Rights = Rights::read(m);
        limits: Limits = Limits::read(m);
        tools: Tools = Tools::read(m);
        /// Variables that change what a worker allocates, loads or compiles; it gets them only if the plan says so.
        #[serde(skip_serializing_if = "crate::is_default")]
        variables: BTreeMap<String, String> = BTreeMap::new();
    }
}

impl Environment {
    /// The facts that stand in every summary, in words. All keys are always there, so that two summaries can be laid
    /// side by side; what is not known is called `unknown`.
    pub fn headline(&self) -> BTreeMap<String, String> {
        let cgroup_limit = match (self.cgroups.memory.is_empty(), self.cgroups.memory_limit()) {
            (true, _) => "unknown".to_owned(),
            (false, None) => "none".to_owned(),
            (false, Some((bytes, _))) => size(bytes),
        };
        let facts = [
            ("cpu", unknown(self.cpu.model.clone())),
            ("cpus", self.cpus()),
            ("kernel", unknown(self.kernel.release.clone())),
            ("architecture", unknown(self.kernel.architecture.clone())),
            ("hypervisor", self.hypervisor.name()),
            ("memory", unknown(self.memory.total_bytes.map(size))),
            (
                "swap",
                unknown(self.memory.swap_bytes.map(|bytes| {
                    if bytes == 0 {
                        "none".to_owned()
                    } else {
                        size(bytes)
                    }
                })),
            ),
            ("page", unknown(self.memory.page_bytes.map(size))),
            (
                "thp",
                unknown(
                    self.huge_pages
                        .transparent()
                        .map(|(word, _)| word.to_owned()),
                ),
            ),
            (
                "hugetlb_pages",
                unknown(
                    self.huge_pages
                        .main_pool()
                        .and_then(|p| p.pages)
                        .map(|n| n.to_string()),
                ),
            ),
            ("cgroup_limit", cgroup_limit),
            ("clocksource", unknown(self.clock.current.clone())),
            ("governor", self.governor()),
            (
                "free_page_reporting",
                if self.reclaim.reports_free_pages() {
                    "on"
                } else {
                    "off"
                }
                .to_owned(),
            ),
            (
                "hardware_counters",
                if self.rights.hardware_counters.is_empty() {
                    "none"
                } else {
                    "present"
                }
                .to_owned(),
            ),
        ];
        facts
            .into_iter()
            .map(|(name, fact)| (name.to_owned(), fact))
            .collect()
    }

    /// The CPUs in use, and how many of them this process may use if fewer.
    pub fn cpus(&self) -> String {
        match (self.cpu.online, self.cpu.allowed) {
            (Some(online), Some(allowed)) if allowed < online => format!("{allowed} of {online}"),
            (online, allowed) => unknown(online.or(allowed).map(|n| n.to_string())),
        }
    }

    /// The frequency governor, or that there is none to set.
    pub fn governor(&self) -> String {
        let governors: Vec<&str> = self
            .cpu
            .frequency
            .governors
            .iter()
            .map(String::as_str)
            .collect();
        if governors.is_empty() {
            "not visible".to_owned()
        } else {
            governors.join(" and ")
        }
    }
}

/// A size in the largest unit that fits, with three digits that count.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    // Rounded first: 1023.97 MiB would otherwise be printed as 1024 MiB.
    while (value * 10.0).round() >= 10240.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = if value < 10.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    };
    format!(
        "{} {}",
        number.trim_end_matches('0').trim_end_matches('.'),
        UNITS[unit]
    )
}

/// Words for a fact that could not be read.
const UNKNOWN: &str = "unknown";

/// Names an unknown fact instead of leaving it out.
pub fn unknown(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// A fact of a list in words; none where it is absent or [`unknown`].
pub fn known<'a>(facts: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let fact = facts.get(name).map(String::as_str);
    fact.filter(|fact| *fact != UNKNOWN)
}

const DIGITS: usize = 16;

facts! { m:
    /// One machine, and one boot of it. Facts that cannot be read are absent.
    Identity {
        /// SHA-256 of /etc/machine-id, which machine-id(5) asks to keep secret: 16 hex digits.
        machine: Option<String> =
            m.text("/etc/machine-id").map(|id| sha256_hex(&[b"pagewise machine-id ", id.as_bytes()])[..DIGITS].to_owned());
        boot: Option<String> = m.text("/proc/sys/kernel/random/boot_id");
        vendor: Option<String> = m.text("/sys/class/dmi/id/sys_vendor");
        product: Option<String> = m.text("/sys/class/dmi/id/product_name");
        name: Option<String> = m.text("/proc/sys/kernel/hostname");
        /// Name among its like, if that is not its host name, as in a container.
        #[serde(skip_serializing_if = "crate::is_default")]
        node: Option<String> = m.variable("PAGEWISE_NODE").filter(|name| !name.is_empty());
    }
}

impl Identity {
    /// Facts as texts, by the label that screens show.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let facts: BTreeMap<String, Option<String>> = serde_json::to_value(self)
            .and_then(serde_json::from_value)
            .unwrap_or_default();
        facts
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}
