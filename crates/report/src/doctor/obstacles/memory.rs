//! Obstacles in memory and in how the kernel manages it.

use record::machine::environment::Environment;

use super::Obstacle;
use record::machine::format::size;

/// The largest region that experiments ask for by themselves.
const LARGEST_BYTES: u64 = 1 << 30;

pub(super) fn transparent_huge_pages(e: &Environment) -> Option<Obstacle> {
    let what = "transparent huge pages: fault/thp and thp-populate, allocate/aligned-thp";
    let Some((setting, file)) = e.huge_pages.transparent() else {
        return Some(Obstacle::new(
            what,
            "the kernel shows none: there is no /sys/kernel/mm/transparent_hugepage/enabled",
        ));
    };
    let never = setting == "never";
    never.then(|| Obstacle::new(what, format!("{file} says never")).remedy(format!("echo madvise | sudo tee {file}")))
}

pub(super) fn shared_huge_pages(e: &Environment) -> Option<Obstacle> {
    let (setting, file) = e.huge_pages.transparent_shared()?;
    matches!(setting, "never" | "deny").then(|| {
        let what = "transparent huge pages in shared memory: share/memfd-huge";
        Obstacle::new(what, format!("{file} says {setting}")).remedy(format!("echo advise | sudo tee {file}"))
    })
}

pub(super) fn pool(e: &Environment) -> Option<Obstacle> {
    let what = "reserved huge pages: fault/hugetlb and hugetlb-populate, share/memfd-hugetlb and sysv-huge";
    let Some(pool) = e.huge_pages.main_pool() else {
        return Some(Obstacle::new(what, "the kernel shows no pool of them in /sys/kernel/mm/hugepages"));
    };
    let (pages, free) = (pool.pages?, pool.free_pages?.saturating_sub(pool.reserved_pages.unwrap_or(0)));
    if free + pool.overcommit_pages.unwrap_or(0) > 0 {
        return None;
    }
    // A pool takes its memory from everything else for good, so it gets a quarter of all memory at most.
    let most_bytes = LARGEST_BYTES.min(e.memory.total_bytes.unwrap_or(LARGEST_BYTES) / 4);
    let more = (most_bytes / pool.page_bytes).max(1);
    let page = size(pool.page_bytes);
    let why = if pages == 0 {
        format!("the pool of {page} pages is empty")
    } else {
        format!("all {pages} pages of {page} in the pool are in use or promised")
    };
    let wanted = pages + more;
    // sysctl speaks of the default size only, which the kernel's parameters may have set to another one.
    let remedy = if e.huge_pages.default_pool_page_bytes == Some(pool.page_bytes) {
        format!("sudo sysctl vm.nr_hugepages={wanted}")
    } else {
        let folder = format!("/sys/kernel/mm/hugepages/hugepages-{}kB", pool.page_bytes / 1024);
        format!("echo {wanted} | sudo tee {folder}/nr_hugepages")
    };
    Some(Obstacle::new(what, why).remedy(remedy))
}

pub(super) fn swap(e: &Environment) -> Option<Obstacle> {
    let what = "anonymous memory that was paged out: fault with release=pageout";
    if e.memory.swap_bytes? == 0 {
        let remedy = "sudo sh -c 'umask 77; cd / && fallocate -l2G swapfile && mkswap swapfile && swapon swapfile'";
        return Some(Obstacle::new(what, "there is no swap, so MADV_PAGEOUT leaves it where it is").remedy(remedy));
    }
    let group = e.cgroups.memory.iter().find(|group| group.swap_limit_bytes == Some(0))?;
    let why = "the memory cgroup allows no swap, so MADV_PAGEOUT leaves it where it is";
    Some(Obstacle::new(what, why).remedy(format!("echo max | sudo tee {}/memory.swap.max", group.folder)))
}

pub(super) fn overcommit(e: &Environment) -> Option<Obstacle> {
    (e.memory.overcommit_memory? == 2).then(|| {
        let why = "vm.overcommit_memory is 2, so the kernel refuses a mapping before memory is short";
        Obstacle::new("the largest regions of every experiment", why).remedy("sudo sysctl vm.overcommit_memory=0")
    })
}

pub(super) fn dev_shm(e: &Environment) -> Option<Obstacle> {
    let bytes = e.memory.dev_shm_bytes?;
    (bytes < LARGEST_BYTES).then(|| {
        let limit = size(bytes);
        let what = format!("objects of more than {limit} in /dev/shm: share/posix-shm and file-tmpfs");
        let why = format!("/dev/shm is mounted with a size of {limit}");
        // The signature of a container, which may not mount.
        let inside = e.rights.sysctl_read_only;
        let remedy = if inside { "docker run --shm-size=2g …" } else { "sudo mount -o remount,size=2G /dev/shm" };
        Obstacle::new(what, why).remedy(remedy)
    })
}

pub(super) fn system_v_size(e: &Environment) -> Option<Obstacle> {
    let bytes = e.limits.shmmax_bytes?;
    (bytes < LARGEST_BYTES).then(|| {
        let what = format!("System V segments of more than {}: share/sysv-shm", size(bytes));
        let remedy = format!("sudo sysctl kernel.shmmax={LARGEST_BYTES}");
        Obstacle::new(what, format!("kernel.shmmax is {bytes}")).remedy(remedy)
    })
}

pub(super) fn damon(e: &Environment) -> Option<Obstacle> {
    let what = "memory and cached files that stay where they are while nobody touches them";
    if e.reclaim.damon_reclaim == Some(true) {
        let remedy = "echo N | sudo tee /sys/module/damon_reclaim/parameters/enabled";
        return Some(Obstacle::new(what, "DAMON's reclaim pages out what is idle").remedy(remedy));
    }
    let number = e.reclaim.kdamonds.iter().position(|kdamond| kdamond.takes_pages())?;
    let why = format!("kdamond {number} runs with the action pageout, which takes idle pages that its filters allow");
    Some(
        Obstacle::new(what, why)
            .remedy(format!("echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/{number}/state")),
    )
}

pub(super) fn merging(e: &Environment) -> Option<Obstacle> {
    (e.memory.ksm_run? == 1).then(|| {
        let why = "KSM (/sys/kernel/mm/ksm/run is 1) takes CPU time, and a merged page is copied at the next write";
        Obstacle::new("writes to idle memory without foreign work", why)
            .remedy("echo 0 | sudo tee /sys/kernel/mm/ksm/run")
    })
}

pub(super) fn numa_balancing(e: &Environment) -> Option<Obstacle> {
    let moves = e.memory.numa_balancing? != 0 && e.memory.nodes.len() > 1;
    moves.then(|| {
        let why = "kernel.numa_balancing unmaps pages to see who uses them, which adds faults that no worker asked for";
        Obstacle::new("steady fault counts on several NUMA nodes", why).remedy("sudo sysctl kernel.numa_balancing=0")
    })
}

pub(super) fn free_page_reporting(e: &Environment) -> Option<Obstacle> {
    let no_host = e.hypervisor.is_virtual() == Some(false) && !e.reclaim.reports_free_pages();
    no_host.then(|| {
        let why = "no host takes free pages back here, so a page frame is never dearer than a recycled one";
        Obstacle::new("page frames that the host has to bring back: fault and allocate with backing=cold", why)
    })
}
