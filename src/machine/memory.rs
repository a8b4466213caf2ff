//! Memory for a launch: the machine's, every cgroup's above this process, and the address space limit.

use super::Below;
use record::machine::cgroup::places;
use record::{machine::files::Files, machine::paging::THP_FOLDER, outcome::Cause};
use std::path::{Path, PathBuf};

/// Bytes that stay free at the least.
const RESERVE_BYTES: u64 = 64 << 20;

/// Size of the default huge page of this machine (`Hugepagesize` of proc_meminfo(5)), in bytes.
pub fn huge_page_bytes() -> Option<u64> {
    let files: &dyn Files = &Below::new(Path::new("/"));
    files.bytes("/proc/meminfo", "Hugepagesize")
}

/// Size of a transparent huge page, in bytes.
pub fn transparent_huge_page_bytes() -> Option<u64> {
    let files: &dyn Files = &Below::new(Path::new("/"));
    files.number(&format!("{THP_FOLDER}/hpage_pmd_size"))
}

/// Memory that can be allocated now, and the origin of that bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    pub bytes: u64,
    /// In words: `MemAvailable`, a cgroup's path, `RLIMIT_AS`.
    pub limited_by: String,
}

impl Available {
    /// Lowers it to a smaller bound, if that is known.
    fn limit(&mut self, bytes: Option<u64>, limited_by: String) {
        if let Some(bytes) = bytes
            && bytes < self.bytes
        {
            *self = Available { bytes, limited_by };
        }
    }
}

/// The least of `MemAvailable` (proc_meminfo(5)), what each memory cgroup above this process leaves (reclaimable file pages
/// counted as free), and `RLIMIT_AS`. `root` is `/`, or a copy of the files below it.
pub fn available_bytes(root: &Path) -> Available {
    let mut least = Available {
        bytes: u64::MAX,
        limited_by: "nothing known".to_owned(),
    };
    let machine: &dyn Files = &Below::new(root);
    least.limit(
        machine.bytes("/proc/meminfo", "MemAvailable"),
        "MemAvailable".to_owned(),
    );
    for (folder, version) in cgroups(root) {
        for level in folder
            .ancestors()
            .take_while(|p| p.starts_with(root.join("sys/fs/cgroup")))
        {
            let group = level
                .strip_prefix(root)
                .unwrap_or(level)
                .display()
                .to_string();
            least.limit(
                left_in(level, version),
                format!("the memory cgroup /{group}"),
            );
        }
    }
    least.limit(
        rustix::process::getrlimit(rustix::process::Resource::As).current,
        "RLIMIT_AS".to_owned(),
    );
    least
}

/// Tells whether a launch that takes `needed` bytes leaves a quarter of the available memory free, and at least
/// [`RESERVE_BYTES`]: the kernel reclaims before memory is used up, and the machine has other programs.
pub fn fits(root: &Path, needed: u64) -> Result<(), Cause> {
    let available = available_bytes(root);
    let reserve = RESERVE_BYTES.max(available.bytes / 4);
    let usable = available.bytes.saturating_sub(reserve);
    if needed <= usable {
        return Ok(());
    }
    Err(Cause::Memory {
        needed_bytes: needed,
        available_bytes: usable,
        limited_by: available.limited_by,
    })
}

fn number(path: &Path) -> Option<u64> {
    files::kernel::read(path).ok()?.trim().parse().ok()
}

/// Memory that one cgroup leaves, `None` where it sets no limit.
fn left_in(level: &Path, version: u8) -> Option<u64> {
    let (limit, usage, reclaimable) = match version {
        1 => (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file ",
        ),
        _ => ("memory.max", "memory.current", "inactive_file "),
    };
    // Version 1 writes "no limit" as the largest multiple of a page, version 2 as a word that is no number.
    let limit = number(&level.join(limit)).filter(|l| *l < 1 << 62)?;
    let used = number(&level.join(usage)).unwrap_or(0);
    let statistics = files::kernel::read(level.join("memory.stat")).unwrap_or_default();
    let free_again = statistics
        .lines()
        .find_map(|l| l.strip_prefix(reclaimable)?.trim().parse().ok())
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(free_again)))
}

/// Folders of this process's memory cgroups, below `root`, with their version.
pub(crate) fn cgroups(root: &Path) -> Vec<(PathBuf, u8)> {
    places(&Below::new(root), "memory")
        .into_iter()
        .map(|place| {
            let folder = place.folder.strip_prefix("/").unwrap_or(&place.folder);
            (root.join(folder), place.version)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::fixture::tree;

    #[test]
    fn the_tightest_ancestor_of_a_v2_cgroup_decides() {
        let place = tree(&[
            (
                "proc/meminfo",
                "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n",
            ),
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            ),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/a/memory.current", "800000000\n"),
            (
                "sys/fs/cgroup/a/memory.stat",
                "anon 1\ninactive_file 300000000\n",
            ),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ]);
        let available = available_bytes(place.path());
        assert_eq!(available.bytes, 1_073_741_824 - 500_000_000);
        assert!(
            available.limited_by.ends_with("sys/fs/cgroup/a"),
            "{}",
            available.limited_by
        );
    }

    #[test]
    fn a_v1_limit_on_a_hybrid_machine_is_found() {
        let place = tree(&[
            ("proc/meminfo", "MemAvailable: 8000000 kB\n"),
            (
                "proc/self/mountinfo",
                "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 1 0:28 / /sys/fs/cgroup/unified rw - cgroup2 x rw\n",
            ),
            ("proc/self/cgroup", "4:memory:/job\n0::/\n"),
            (
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes",
                "536870912\n",
            ),
            (
                "sys/fs/cgroup/memory/job/memory.usage_in_bytes",
                "36870912\n",
            ),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ]);
        assert_eq!(available_bytes(place.path()).bytes, 500_000_000);
        let limited_by = "the memory cgroup /sys/fs/cgroup/memory/job";
        let refused = Cause::Memory {
            needed_bytes: 375_000_001,
            available_bytes: 375_000_000,
            limited_by: limited_by.to_owned(),
        };
        assert_eq!(fits(place.path(), 375_000_001), Err(refused));
        assert_eq!(fits(place.path(), 375_000_000), Ok(()));
    }

    #[test]
    fn nothing_is_always_allowed() {
        assert!(fits(Path::new("/nowhere"), 0).is_ok());
    }
}
