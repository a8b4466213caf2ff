//! The control groups above this process: limits, and the right to make groups.

use super::files::{Files, facts};
use super::system::is_read_only;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

facts! { m:
    /// The tightest limits that control groups set to this process, over all levels above it.
    Cgroups {
        /// Groups that account for memory, nearest first: at most one of each version.
        memory: Vec<MemoryGroup> = places(m, "memory").iter().filter_map(|place| memory_group(m, place)).collect();
        /// CPUs' worth of time per second, if less than all.
        cpu_quota: Option<Quota> = places(m, "cpu")
            .iter()
            .flat_map(|place| quotas(m, place))
            .min_by(|a, b| a.cpus().total_cmp(&b.cpus()));
    }
}

/// The memory group that this process is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryGroup {
    /// 1 or 2: the kind of mount in /proc/self/mountinfo.
    pub version: u64,
    /// Its folder, as this process sees it: /proc/self/cgroup below the mount.
    pub folder: String,
    /// The least limit on the way up: memory.max, or memory.limit_in_bytes.
    pub limit_bytes: Option<u64>,
    /// The least limit above which it is slowed: memory.high; version 2 only.
    pub high_bytes: Option<u64>,
    /// The least limit of swap: memory.swap.max; version 2 only.
    pub swap_limit_bytes: Option<u64>,
    /// True if this process may make groups in it: faccessat2(2) on the folder, and its mount.
    pub writable: bool,
}

/// Time on CPUs per period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quota {
    /// CPU time of each period, in µs.
    pub quota_us: u64,
    /// Length of a period, in µs.
    pub period_us: u64,
}

impl Cgroups {
    /// The least limit on memory, and the folder of its group.
    pub fn memory_limit(&self) -> Option<(u64, &str)> {
        self.memory
            .iter()
            .filter_map(|g| Some((g.limit_bytes?, g.folder.as_str())))
            .min()
    }
}

impl Quota {
    /// Quota as a number of CPUs.
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// One hierarchy that this process is in.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    mount: PathBuf,
    /// The folder of its group, as this process sees it.
    pub folder: PathBuf,
    read_only: bool,
}

impl Hierarchy {
    /// The folder and all above it within the mount; all of them bind.
    fn levels(&self) -> impl Iterator<Item = &Path> {
        self.folder
            .ancestors()
            .take_while(|level| level.starts_with(&self.mount))
    }
}

fn memory_group(m: &dyn Files, place: &Hierarchy) -> Option<MemoryGroup> {
    let folder = place.folder.to_string_lossy().into_owned();
    let accounts = if place.version == 1 {
        "memory.usage_in_bytes"
    } else {
        "memory.current"
    };
    // The root group of version 2 has no such file; it accounts for memory if it may hand the controller on.
    let controllers = m
        .text(&format!("{}/cgroup.controllers", place.mount.display()))
        .unwrap_or_default();
    let hands_on = controllers.split_whitespace().any(|c| c == "memory");
    let has_account = place
        .levels()
        .any(|level| m.is_file(&format!("{}/{accounts}", level.display())));
    if !has_account && !hands_on {
        return None;
    }
    let least = |name: &str| {
        let levels = place
            .levels()
            .filter_map(|level| m.number::<u64>(&format!("{}/{name}", level.display())));
        // Version 1 writes "no limit" as the largest number of whole pages, version 2 as the word `max`.
        levels.filter(|bytes| *bytes < 1 << 62).min()
    };
    let writable = m.is_writable(&folder);
    Some(MemoryGroup {
        version: u64::from(place.version),
        limit_bytes: least(if place.version == 1 {
            "memory.limit_in_bytes"
        } else {
            "memory.max"
        }),
        high_bytes: least("memory.high"),
        swap_limit_bytes: least("memory.swap.max"),
        writable: writable && !place.read_only,
        folder,
    })
}

fn quotas(m: &dyn Files, place: &Hierarchy) -> Vec<Quota> {
    let quota = |level: &Path| {
        let file = |name: &str| format!("{}/{name}", level.display());
        if place.version == 1 {
            // Without a limit the quota is -1, which is no number of this kind.
            let quota_us = m.number(&file("cpu.cfs_quota_us"))?;
            return Some(Quota {
                quota_us,
                period_us: m.number(&file("cpu.cfs_period_us"))?,
            });
        }
        let text = m.text(&file("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(Quota {
            quota_us: quota.parse().ok()?,
            period_us: period.parse().ok()?,
        })
    };
    place
        .levels()
        .filter_map(quota)
        .filter(|quota| quota.period_us > 0)
        .collect()
}

/// For how long quotas have kept the processes of the groups above this process waiting, in microseconds: cpu.stat of every
/// level, in microseconds in version 2 and in nanoseconds in version 1. A group without a quota has none.
pub fn throttled_us(m: &dyn Files) -> u64 {
    let time = |version: u8, level: &Path| -> Option<u64> {
        let text = m.text(&format!("{}/cpu.stat", level.display()))?;
        let (name, per_us) = if version == 1 {
            ("throttled_time", 1000)
        } else {
            ("throttled_usec", 1)
        };
        let time = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        time.map(|time| time / per_us)
    };
    let places = places(m, "cpu");
    places
        .iter()
        .flat_map(|place| {
            place
                .levels()
                .filter_map(|level| time(place.version, level))
        })
        .sum()
}

/// Places of this process in each hierarchy with a controller: cgroups(7) for the path, proc_pid_mountinfo(5) for the
/// mount. On a hybrid machine both versions are mounted, and only one of them has the controller.
pub fn places(m: &dyn Files, controller: &str) -> Vec<Hierarchy> {
    let mounts = m.text("/proc/self/mountinfo").unwrap_or_default();
    let memberships = m.text("/proc/self/cgroup").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| place(line, &memberships, controller))
        .collect()
}

fn place(mount_line: &str, memberships: &str, controller: &str) -> Option<Hierarchy> {
    let (left, right) = mount_line.split_once(" - ")?;
    let (inside, mount) = (
        left.split_whitespace().nth(3)?,
        left.split_whitespace().nth(4)?,
    );
    let (kind, options) = (
        right.split_whitespace().next()?,
        right.split_whitespace().last()?,
    );
    let named = |list: &str| list.split(',').any(|name| name == controller);
    let version = match kind {
        "cgroup2" => 2,
        "cgroup" if named(options) => 1,
        _ => return None,
    };
    let path = memberships.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let wanted = if version == 2 {
            number == "0" && controllers.is_empty()
        } else {
            named(controllers)
        };
        wanted.then_some(path)
    })?;
    // A container's mount shows only a part of the tree, while the process's path may start above it.
    let below = Path::new(path)
        .strip_prefix(inside)
        .unwrap_or(Path::new(path));
    let mount = PathBuf::from(mount);
    let folder = mount.join(below.strip_prefix("/").unwrap_or(below));
    // Joining an empty path would leave a slash at the end.
    let folder = if below.as_os_str().is_empty() {
        mount.clone()
    } else {
        folder
    };
    Some(Hierarchy {
        version,
        mount,
        folder,
        read_only: is_read_only(left),
    })
}
