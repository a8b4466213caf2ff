//! Memory and how the kernel manages it: huge pages, swap, and all that moves, merges or takes pages unasked.

use super::files::{Files, facts, field_bytes};
use std::collections::{BTreeMap, BTreeSet};

/// Folder of the settings of transparent huge pages.
pub const THP_FOLDER: &str = "/sys/kernel/mm/transparent_hugepage";

facts! { m:
    Memory {
        total_bytes: Option<u64> = m.bytes("/proc/meminfo", "MemTotal");
        swap_bytes: Option<u64> = m.bytes("/proc/meminfo", "SwapTotal");
        /// One page. 1 KiB holds the first mapping; the whole file would take longer than all other files together.
        page_bytes: Option<u64> =
            m.start("/proc/self/smaps", 1024).and_then(|smaps| field_bytes(&smaps, "KernelPageSize"));
        /// 0 guesses, 1 always grants, 2 never grants more than there is.
        overcommit_memory: Option<u64> = m.number("/proc/sys/vm/overcommit_memory");
        /// Grant of rule 2, in percent of memory.
        overcommit_ratio_percent: Option<u64> = m.number("/proc/sys/vm/overcommit_ratio");
        /// Readiness to swap anonymous pages.
        swappiness: Option<u64> = m.number("/proc/sys/vm/swappiness");
        nodes: Vec<NumaNode> = m.numbered(NODES, "node", "").into_iter().map(|node| NumaNode::read(m, node)).collect();
        /// Migration of pages to the node that uses them (a bit mask).
        numa_balancing: Option<u64> = m.number("/proc/sys/kernel/numa_balancing");
        /// Migration from full nodes to slower ones.
        numa_demotion: Option<String> = m.text("/sys/kernel/mm/numa/demotion_enabled");
        /// 1 if equal pages are being merged, 2 if they are being parted.
        ksm_run: Option<u64> = m.number("/sys/kernel/mm/ksm/run");
        /// The size of /dev/shm where its mount sets one.
        dev_shm_bytes: Option<u64> = m.text("/proc/self/mountinfo").and_then(|mounts| dev_shm_bytes(&mounts));
    }

    /// Huge pages: those that the kernel makes by itself and those from a pool.
    HugePages {
        /// Setting of transparent huge pages.
        thp_enabled: Option<String> = m.chosen(&format!("{THP_FOLDER}/enabled"));
        /// Effort of a fault to make one.
        thp_defrag: Option<String> = m.chosen(&format!("{THP_FOLDER}/defrag"));
        /// Setting in shared memory.
        thp_shmem_enabled: Option<String> = m.chosen(&format!("{THP_FOLDER}/shmem_enabled"));
        thp_bytes: Option<u64> = m.number(&format!("{THP_FOLDER}/hpage_pmd_size"));
        /// True if a first read gets a huge zero page.
        thp_zero_page: Option<bool> = m.switch(&format!("{THP_FOLDER}/use_zero_page"));
        /// True if khugepaged moves pages to make room for a huge one.
        khugepaged_defrag: Option<bool> = m.switch(&format!("{THP_FOLDER}/khugepaged/defrag"));
        thp_by_size: BTreeMap<String, String> = by_size(m, "enabled");
        thp_shmem_by_size: BTreeMap<String, String> = by_size(m, "shmem_enabled");
        /// Size of the pages that `vm.nr_hugepages` counts.
        default_pool_page_bytes: Option<u64> = m.bytes("/proc/meminfo", "Hugepagesize");
        /// Pools of reserved huge pages.
        pools: Vec<Pool> = m.numbered(POOLS, "hugepages-", "kB").into_iter().map(|kib| Pool::read(m, kib)).collect();
    }

    /// Activities that take pages away unasked.
    Reclaim {
        /// The smallest free block that is given back to the host, as a power of two of pages. Before a device asks for
        /// reports the order is -1, which the kernel prints as a number without sign.
        page_reporting_order: Option<u64> = m
            .number("/sys/module/page_reporting/parameters/page_reporting_order")
            .and_then(|order: i64| u64::try_from(order).ok())
            .filter(|order| *order < 64);
        /// True if the balloon agreed with the host on giving free pages back.
        balloon_reporting: Option<bool> = balloon_reporting(m);
        kdamonds: Vec<Kdamond> = entries(m, KDAMONDS).iter().map(|folder| Kdamond::read(m, folder)).collect();
        /// True if DAMON's own reclaim runs.
        damon_reclaim: Option<bool> = m.switch("/sys/module/damon_reclaim/parameters/enabled");
        /// Generations of the newer page reclaim in use (a bit mask).
        lru_gen: Option<String> = m.text("/sys/kernel/mm/lru_gen/enabled");
        /// True if swapped pages are compressed in memory first.
        zswap: Option<bool> = m.switch("/sys/module/zswap/parameters/enabled");
    }

    /// One NUMA node.
    NumaNode(number: u64) {
        node: u64 = number;
        /// Each line of its file starts with `Node 0 `, unlike in /proc/meminfo.
        total_bytes: Option<u64> = m
            .text(&node_file(number, "meminfo"))
            .and_then(|info| field_bytes(&info.replace(&format!("Node {number} "), ""), "MemTotal"));
        /// Number of logical CPUs that are near.
        cpus: Option<u64> = m.count(&node_file(number, "cpulist"));
        distances: Option<String> = m.text(&node_file(number, "distance"));
    }

    /// A pool of reserved huge pages of one size, in pages.
    Pool(kib: u64) {
        page_bytes: u64 = kib * 1024;
        pages: Option<u64> = m.number(&pool_file(kib, "nr_hugepages"));
        free_pages: Option<u64> = m.number(&pool_file(kib, "free_hugepages"));
        reserved_pages: Option<u64> = m.number(&pool_file(kib, "resv_hugepages"));
        /// Pages that the kernel may make besides, on demand.
        overcommit_pages: Option<u64> = m.number(&pool_file(kib, "nr_overcommit_hugepages"));
    }

    /// One thread of DAMON, which watches accesses and acts on idle pages.
    Kdamond(folder: &str) {
        /// True if it runs; absent for others than root.
        running: Option<bool> = m.switch(&format!("{folder}/state"));
        /// Targets (`paddr` is all memory).
        operations: BTreeSet<String> = entries(m, &format!("{folder}/contexts"))
            .iter()
            .filter_map(|context| m.text(&format!("{context}/operations")))
            .collect();
        actions: BTreeSet<String> = entries(m, &format!("{folder}/contexts"))
            .iter()
            .flat_map(|context| entries(m, &format!("{context}/schemes")))
            .filter_map(|scheme| m.text(&format!("{scheme}/action")))
            .collect();
    }
}

const NODES: &str = "/sys/devices/system/node";
const POOLS: &str = "/sys/kernel/mm/hugepages";
const KDAMONDS: &str = "/sys/kernel/mm/damon/admin/kdamonds";

fn node_file(node: u64, name: &str) -> String {
    format!("{NODES}/node{node}/{name}")
}

fn pool_file(kib: u64, name: &str) -> String {
    format!("{POOLS}/hugepages-{kib}kB/{name}")
}

fn entries(m: &dyn Files, folder: &str) -> Vec<String> {
    m.numbered(folder, "", "")
        .into_iter()
        .map(|number| format!("{folder}/{number}"))
        .collect()
}

fn by_size(m: &dyn Files, name: &str) -> BTreeMap<String, String> {
    let setting = |kib: u64| {
        Some((
            format!("{kib}kB"),
            m.chosen(&format!("{THP_FOLDER}/hugepages-{kib}kB/{name}"))?,
        ))
    };
    m.numbered(THP_FOLDER, "hugepages-", "kB")
        .into_iter()
        .filter_map(setting)
        .collect()
}

/// A later mount hides an earlier one, so the last line counts; without `size=` a tmpfs takes half of the memory.
fn dev_shm_bytes(mountinfo: &str) -> Option<u64> {
    let line = mountinfo
        .lines()
        .rfind(|l| l.split_whitespace().nth(4) == Some("/dev/shm"))?;
    let options = line.split_whitespace().last()?;
    let size = options.split(',').find_map(|o| o.strip_prefix("size="))?;
    size.strip_suffix('k')
        .unwrap_or(size)
        .parse::<u64>()
        .ok()
        .map(|n| if size.ends_with('k') { n * 1024 } else { n })
}

/// `VIRTIO_BALLOON_F_REPORTING` is bit 5, and the kernel writes bit 0 first.
fn balloon_reporting(m: &dyn Files) -> Option<bool> {
    let folder = "/sys/bus/virtio/drivers/virtio_balloon";
    let device = m
        .names(folder)
        .into_iter()
        .find(|n| n.starts_with("virtio"))?;
    m.text(&format!("{folder}/{device}/features"))?
        .chars()
        .nth(5)
        .map(|bit| bit == '1')
}

impl HugePages {
    /// Setting of transparent huge pages of the processor's size, and its file.
    pub fn transparent(&self) -> Option<(&str, String)> {
        self.deciding("enabled", &self.thp_by_size, self.thp_enabled.as_deref())
    }

    /// The rule for transparent huge pages in shared memory, and its file.
    pub fn transparent_shared(&self) -> Option<(&str, String)> {
        self.deciding(
            "shmem_enabled",
            &self.thp_shmem_by_size,
            self.thp_shmem_enabled.as_deref(),
        )
    }

    /// The setting of this size counts, unless it inherits the common one, or the kernel is older than it.
    fn deciding<'s>(
        &self,
        name: &str,
        by_size: &'s BTreeMap<String, String>,
        common: Option<&'s str>,
    ) -> Option<(&'s str, String)> {
        let own_name = self
            .thp_bytes
            .map(|bytes| format!("{}kB", bytes / 1024))
            .unwrap_or_default();
        match by_size.get(&own_name) {
            Some(own) if own != "inherit" => Some((
                own.as_str(),
                format!("{THP_FOLDER}/hugepages-{own_name}/{name}"),
            )),
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
    /// True if free pages go back to the host. The balloon's word counts most: the order alone may be set without effect.
    pub fn reports_free_pages(&self) -> bool {
        self.balloon_reporting
            .unwrap_or(self.page_reporting_order.is_some())
    }

    /// True if DAMON takes pages back on this machine.
    pub fn damon_takes_pages(&self) -> bool {
        self.damon_reclaim == Some(true) || self.kdamonds.iter().any(Kdamond::takes_pages)
    }
}

impl Kdamond {
    /// True if it runs and pages out; its other actions only advise.
    pub fn takes_pages(&self) -> bool {
        self.running == Some(true) && self.actions.contains("pageout")
    }
}
