//! Memory and how the kernel manages it: huge pages, swap, and whatever moves, merges or takes pages on its own.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Where the kernel keeps the settings of transparent huge pages.
pub const THP_FOLDER: &str = "/sys/kernel/mm/transparent_hugepage";

/// Memory and the rules for handing it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// All of it: `MemTotal` in /proc/meminfo.
    pub total_bytes: Option<u64>,
    /// All swap space: `SwapTotal` in /proc/meminfo.
    pub swap_bytes: Option<u64>,
    /// What one page holds: `KernelPageSize` of the first mapping in /proc/self/smaps.
    pub page_bytes: Option<u64>,
    /// 0 guesses, 1 always grants, 2 never grants more than there is: /proc/sys/vm/overcommit_memory.
    pub overcommit_memory: Option<u64>,
    /// What rule 2 grants, in percent of memory: /proc/sys/vm/overcommit_ratio.
    pub overcommit_ratio_percent: Option<u64>,
    /// How readily anonymous pages are swapped: /proc/sys/vm/swappiness.
    pub swappiness: Option<u64>,
    /// The NUMA nodes: /sys/devices/system/node/node*.
    pub nodes: Vec<Node>,
    /// Whether pages move to the node that uses them (a bit mask): /proc/sys/kernel/numa_balancing.
    pub numa_balancing: Option<u64>,
    /// Whether full nodes give pages to slower ones: /sys/kernel/mm/numa/demotion_enabled.
    pub numa_demotion: Option<String>,
    /// 1 if equal pages are being merged, 2 if they are being parted: /sys/kernel/mm/ksm/run.
    pub ksm_run: Option<u64>,
    /// The size of /dev/shm where its mount sets one: `size=` in /proc/self/mountinfo.
    pub dev_shm_bytes: Option<u64>,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Its number: the folder's name.
    pub node: u64,
    /// Its memory: `MemTotal` in …/node*/meminfo.
    pub total_bytes: Option<u64>,
    /// How many logical CPUs are near: …/node*/cpulist.
    pub cpus: Option<u64>,
    /// How far the other nodes are, itself included: …/node*/distance.
    pub distances: Option<String>,
}

/// Huge pages, those the kernel makes by itself and those taken from a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HugePages {
    /// Who gets transparent huge pages: /sys/kernel/mm/transparent_hugepage/enabled.
    pub thp_enabled: Option<String>,
    /// How hard a fault tries to make one: /sys/kernel/mm/transparent_hugepage/defrag.
    pub thp_defrag: Option<String>,
    /// Who gets them in shared memory: /sys/kernel/mm/transparent_hugepage/shmem_enabled.
    pub thp_shmem_enabled: Option<String>,
    /// The size of a transparent huge page: /sys/kernel/mm/transparent_hugepage/hpage_pmd_size.
    pub thp_bytes: Option<u64>,
    /// Whether a first read gets a huge zero page: /sys/kernel/mm/transparent_hugepage/use_zero_page.
    pub thp_zero_page: Option<bool>,
    /// Whether khugepaged moves pages to make room for a huge one:
    /// /sys/kernel/mm/transparent_hugepage/khugepaged/defrag.
    pub khugepaged_defrag: Option<bool>,
    /// Who gets pages of the other sizes, by size: /sys/kernel/mm/transparent_hugepage/hugepages-*kB/enabled.
    pub thp_by_size: BTreeMap<String, String>,
    /// The same in shared memory: /sys/kernel/mm/transparent_hugepage/hugepages-*kB/shmem_enabled.
    pub thp_shmem_by_size: BTreeMap<String, String>,
    /// The size of the pages that `vm.nr_hugepages` counts: `Hugepagesize` in /proc/meminfo.
    pub default_pool_page_bytes: Option<u64>,
    /// The pools of reserved huge pages: /sys/kernel/mm/hugepages/hugepages-*kB.
    pub pools: Vec<Pool>,
}

/// A pool of reserved huge pages of one size, in pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pool {
    /// The size of its pages: the folder's name.
    pub page_bytes: u64,
    /// How many it has: …/nr_hugepages.
    pub pages: Option<u64>,
    /// How many nobody uses: …/free_hugepages.
    pub free_pages: Option<u64>,
    /// How many are promised: …/resv_hugepages.
    pub reserved_pages: Option<u64>,
    /// How many more it may make when asked: …/nr_overcommit_hugepages.
    pub overcommit_pages: Option<u64>,
}

/// What takes pages away while nobody asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reclaim {
    /// The smallest free block that is given back to the host, as a power of two of pages:
    /// /sys/module/page_reporting/parameters/page_reporting_order.
    pub page_reporting_order: Option<u64>,
    /// Whether the balloon agreed with the host on giving free pages back: the sixth digit of
    /// /sys/bus/virtio/drivers/virtio_balloon/virtio*/features.
    pub balloon_reporting: Option<bool>,
    /// DAMON's threads: /sys/kernel/mm/damon/admin/kdamonds/*.
    pub kdamonds: Vec<Kdamond>,
    /// Whether DAMON's own reclaim runs: /sys/module/damon_reclaim/parameters/enabled.
    pub damon_reclaim: Option<bool>,
    /// Generations of the newer page reclaim in use (a bit mask): /sys/kernel/mm/lru_gen/enabled.
    pub lru_gen: Option<String>,
    /// Whether swapped pages are compressed in memory first: /sys/module/zswap/parameters/enabled.
    pub zswap: Option<bool>,
}

/// One thread of DAMON, which watches accesses and acts on what is idle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kdamond {
    /// Whether it runs: …/state.
    pub running: Option<bool>,
    /// What it watches (`paddr` is all memory): …/contexts/*/operations.
    pub operations: BTreeSet<String>,
    /// What it does: …/contexts/*/schemes/*/action.
    pub actions: BTreeSet<String>,
}

impl HugePages {
    /// Who gets transparent huge pages of the processor's size, and the file that says so.
    pub fn transparent(&self) -> Option<(&str, String)> {
        self.deciding("enabled", &self.thp_by_size, self.thp_enabled.as_deref())
    }

    /// Who gets them in shared memory, and the file that says so.
    pub fn transparent_shared(&self) -> Option<(&str, String)> {
        self.deciding("shmem_enabled", &self.thp_shmem_by_size, self.thp_shmem_enabled.as_deref())
    }

    /// The setting of this size counts, unless it inherits the common one, or the kernel is older than it.
    fn deciding<'s>(
        &self,
        name: &str,
        by_size: &'s BTreeMap<String, String>,
        common: Option<&'s str>,
    ) -> Option<(&'s str, String)> {
        let own_name = self.thp_bytes.map(|bytes| format!("{}kB", bytes / 1024)).unwrap_or_default();
        match by_size.get(&own_name) {
            Some(own) if own != "inherit" => Some((own.as_str(), format!("{THP_FOLDER}/hugepages-{own_name}/{name}"))),
            _ => Some((common?, format!("{THP_FOLDER}/{name}"))),
        }
    }

    /// The pool whose pages have the size of a transparent huge page, which is the one measured beside them.
    pub fn main_pool(&self) -> Option<&Pool> {
        let wanted = self.thp_bytes.unwrap_or(2 << 20);
        self.pools.iter().find(|pool| pool.page_bytes == wanted)
    }
}

impl Reclaim {
    /// Whether free pages go back to the host. The balloon's word counts most: the order alone may be set without
    /// effect.
    pub fn reports_free_pages(&self) -> bool {
        self.balloon_reporting.unwrap_or(self.page_reporting_order.is_some())
    }

    /// Whether DAMON takes idle pages away.
    pub fn damon_takes_pages(&self) -> bool {
        self.damon_reclaim == Some(true) || self.kdamonds.iter().any(Kdamond::takes_pages)
    }
}

impl Kdamond {
    /// Whether it runs and pages out; its other actions only advise.
    pub fn takes_pages(&self) -> bool {
        self.running == Some(true) && self.actions.contains("pageout")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balloon_decides_whether_free_pages_go_back() {
        let with = |balloon_reporting, page_reporting_order| Reclaim {
            balloon_reporting,
            page_reporting_order,
            ..Reclaim::default()
        };
        assert!(with(Some(true), None).reports_free_pages());
        assert!(!with(Some(false), Some(10)).reports_free_pages());
        assert!(with(None, Some(9)).reports_free_pages());
        assert!(!with(None, None).reports_free_pages());
    }

    #[test]
    fn a_kdamond_that_is_off_takes_nothing() {
        let kdamond = |running| Kdamond {
            running: Some(running),
            actions: BTreeSet::from(["pageout".to_owned()]),
            ..Kdamond::default()
        };
        let with = |running| Reclaim { kdamonds: vec![kdamond(running)], ..Reclaim::default() };
        assert!(with(true).damon_takes_pages());
        assert!(!with(false).damon_takes_pages());
    }
}
