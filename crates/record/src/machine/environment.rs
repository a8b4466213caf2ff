//! All facts of a machine before anything is measured: `environment.json` of every run.

use super::format::{size, unknown};
use super::paging::{HugePages, Memory, Reclaim};
use super::system::{Clock, Hypervisor, Kernel, Limits, Rights};
use super::{cgroup::Cgroups, cpu::Cpu, files::facts, identity::Identity, tools::Tools};
use std::collections::BTreeMap;

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
        /// Variables that would change what a worker allocates, loads or compiles. Workers are not given them unless the
        /// plan says so.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
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
            ("swap", unknown(self.memory.swap_bytes.map(|bytes| if bytes == 0 { "none".to_owned() } else { size(bytes) }))),
            ("page", unknown(self.memory.page_bytes.map(size))),
            ("thp", unknown(self.huge_pages.transparent().map(|(word, _)| word.to_owned()))),
            ("hugetlb_pages", unknown(self.huge_pages.main_pool().and_then(|p| p.pages).map(|n| n.to_string()))),
            ("cgroup_limit", cgroup_limit),
            ("clocksource", unknown(self.clock.current.clone())),
            ("governor", self.governor()),
            ("free_page_reporting", if self.reclaim.reports_free_pages() { "on" } else { "off" }.to_owned()),
            ("hardware_counters", if self.rights.hardware_counters.is_empty() { "none" } else { "present" }.to_owned()),
        ];
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
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
        let governors: Vec<&str> = self.cpu.frequency.governors.iter().map(String::as_str).collect();
        if governors.is_empty() { "not visible".to_owned() } else { governors.join(" and ") }
    }
}
