//! Memory and how the kernel manages it: huge pages, swap, and whatever moves, merges or takes pages on its own.

use record::machine::paging::{HugePages, Kdamond, Memory, Node, Pool, Reclaim, THP_FOLDER};

use super::files::{Files, field_bytes, list_length};

/// Reads what [`Memory`] holds.
pub(super) fn memory(files: Files<'_>) -> Memory {
    let info = files.text("/proc/meminfo").unwrap_or_default();
    // One buffer holds the first mapping; composing the whole file would take longer than all other files together.
    let smaps = files.start("/proc/self/smaps", 1024).unwrap_or_default();
    Memory {
        total_bytes: field_bytes(&info, "MemTotal"),
        swap_bytes: field_bytes(&info, "SwapTotal"),
        page_bytes: field_bytes(&smaps, "KernelPageSize"),
        overcommit_memory: files.number("/proc/sys/vm/overcommit_memory"),
        overcommit_ratio_percent: files.number("/proc/sys/vm/overcommit_ratio"),
        swappiness: files.number("/proc/sys/vm/swappiness"),
        nodes: nodes(files),
        numa_balancing: files.number("/proc/sys/kernel/numa_balancing"),
        numa_demotion: files.text("/sys/kernel/mm/numa/demotion_enabled"),
        ksm_run: files.number("/sys/kernel/mm/ksm/run"),
        dev_shm_bytes: dev_shm_bytes(&files.text("/proc/self/mountinfo").unwrap_or_default()),
    }
}

/// Reads what [`HugePages`] holds.
pub(super) fn huge_pages(files: Files<'_>) -> HugePages {
    let folder = THP_FOLDER;
    let sizes = files.numbered(folder, "hugepages-", "kB");
    let by_size = |name: &str| {
        let one = |kib: &u64| Some((format!("{kib}kB"), files.chosen(&format!("{folder}/hugepages-{kib}kB/{name}"))?));
        sizes.iter().filter_map(one).collect()
    };
    HugePages {
        thp_enabled: files.chosen(&format!("{folder}/enabled")),
        thp_defrag: files.chosen(&format!("{folder}/defrag")),
        thp_shmem_enabled: files.chosen(&format!("{folder}/shmem_enabled")),
        thp_bytes: files.number(&format!("{folder}/hpage_pmd_size")),
        thp_zero_page: files.switch(&format!("{folder}/use_zero_page")),
        khugepaged_defrag: files.switch(&format!("{folder}/khugepaged/defrag")),
        thp_by_size: by_size("enabled"),
        thp_shmem_by_size: by_size("shmem_enabled"),
        default_pool_page_bytes: files.text("/proc/meminfo").and_then(|info| field_bytes(&info, "Hugepagesize")),
        pools: pools(files),
    }
}

/// Reads what [`Reclaim`] holds.
pub(super) fn reclaim(files: Files<'_>) -> Reclaim {
    let order: Option<i64> = files.number("/sys/module/page_reporting/parameters/page_reporting_order");
    Reclaim {
        // Before a device asks for reports the order is -1, which the kernel prints as a number without sign.
        page_reporting_order: order.and_then(|o| u64::try_from(o).ok()).filter(|o| *o < 64),
        balloon_reporting: balloon_reporting(files),
        kdamonds: kdamonds(files),
        damon_reclaim: files.switch("/sys/module/damon_reclaim/parameters/enabled"),
        lru_gen: files.text("/sys/kernel/mm/lru_gen/enabled"),
        zswap: files.switch("/sys/module/zswap/parameters/enabled"),
    }
}

fn nodes(files: Files<'_>) -> Vec<Node> {
    let folder = "/sys/devices/system/node";
    let one = |node: u64| {
        let info = files.text(&format!("{folder}/node{node}/meminfo")).unwrap_or_default();
        let cpus = files.text(&format!("{folder}/node{node}/cpulist"));
        Node {
            node,
            // Here each line starts with `Node 0 `, unlike in /proc/meminfo.
            total_bytes: field_bytes(&info.replace(&format!("Node {node} "), ""), "MemTotal"),
            cpus: cpus.and_then(|list| list_length(&list)),
            distances: files.text(&format!("{folder}/node{node}/distance")),
        }
    };
    files.numbered(folder, "node", "").into_iter().map(one).collect()
}

/// A later mount hides an earlier one, so the last line counts; without `size=` a tmpfs takes half of the memory.
fn dev_shm_bytes(mountinfo: &str) -> Option<u64> {
    let line = mountinfo.lines().rfind(|l| l.split_whitespace().nth(4) == Some("/dev/shm"))?;
    let options = line.split_whitespace().last()?;
    let size = options.split(',').find_map(|o| o.strip_prefix("size="))?;
    size.strip_suffix('k').unwrap_or(size).parse::<u64>().ok().map(|n| if size.ends_with('k') { n * 1024 } else { n })
}

fn pools(files: Files<'_>) -> Vec<Pool> {
    let folder = "/sys/kernel/mm/hugepages";
    let one = |kib: u64| {
        let count = |name: &str| files.number(&format!("{folder}/hugepages-{kib}kB/{name}"));
        Pool {
            page_bytes: kib * 1024,
            pages: count("nr_hugepages"),
            free_pages: count("free_hugepages"),
            reserved_pages: count("resv_hugepages"),
            overcommit_pages: count("nr_overcommit_hugepages"),
        }
    };
    files.numbered(folder, "hugepages-", "kB").into_iter().map(one).collect()
}

/// `VIRTIO_BALLOON_F_REPORTING` is bit 5, and the kernel writes bit 0 first.
fn balloon_reporting(files: Files<'_>) -> Option<bool> {
    let folder = "/sys/bus/virtio/drivers/virtio_balloon";
    let device = files.names(folder).into_iter().find(|n| n.starts_with("virtio"))?;
    let features = files.text(&format!("{folder}/{device}/features"))?;
    features.chars().nth(5).map(|bit| bit == '1')
}

fn kdamonds(files: Files<'_>) -> Vec<Kdamond> {
    let folder = "/sys/kernel/mm/damon/admin/kdamonds";
    let one = |number: u64| {
        let mut kdamond = Kdamond { running: files.switch(&format!("{folder}/{number}/state")), ..Kdamond::default() };
        let contexts = format!("{folder}/{number}/contexts");
        for context in files.numbered(&contexts, "", "") {
            kdamond.operations.extend(files.text(&format!("{contexts}/{context}/operations")));
            let schemes = format!("{contexts}/{context}/schemes");
            for scheme in files.numbered(&schemes, "", "") {
                kdamond.actions.extend(files.text(&format!("{schemes}/{scheme}/action")));
            }
        }
        kdamond
    };
    files.numbered(folder, "", "").into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_of_dev_shm_counts() {
        let lines = "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n30 25 0:27 / /dev/shm rw - tmpfs shm rw,size=65536k\n";
        assert_eq!(dev_shm_bytes(lines), Some(64 << 20));
        assert_eq!(dev_shm_bytes("25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n"), None);
    }
}
