//! The control groups above this process: what they let it take, and whether it may make its own.

use std::path::{Path, PathBuf};

use record::machine::cgroup::{Cgroups, MemoryGroup, Quota};
use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::files::Files;
use super::system::is_read_only;

/// One hierarchy that this process is in.
struct Place {
    version: u64,
    mount: PathBuf,
    folder: PathBuf,
    read_only: bool,
}

impl Place {
    /// The folder and all above it within the mount; all of them bind.
    fn levels(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|level| level.starts_with(&self.mount))
    }
}

/// Reads what [`Cgroups`] holds.
pub(super) fn cgroups(files: Files<'_>) -> Cgroups {
    let memory = places(files, "memory");
    let cpu = places(files, "cpu");
    Cgroups {
        memory: memory.iter().filter_map(|place| memory_group(files, place)).collect(),
        cpu_quota: cpu.iter().flat_map(|place| quotas(files, place)).min_by(|a, b| a.cpus().total_cmp(&b.cpus())),
    }
}

fn memory_group(files: Files<'_>, place: &Place) -> Option<MemoryGroup> {
    let own = place.folder.to_string_lossy().into_owned();
    let accounts = if place.version == 1 { "memory.usage_in_bytes" } else { "memory.current" };
    // The root group of version 2 has no such file; it accounts for memory if it may hand the controller on.
    let controllers = files.text(&format!("{}/cgroup.controllers", place.mount.display())).unwrap_or_default();
    let hands_on = controllers.split_whitespace().any(|c| c == "memory");
    let has_account = place.levels().any(|level| files.exists(&format!("{}/{accounts}", level.display())));
    if !has_account && !hands_on {
        return None;
    }
    let least = |name: &str| {
        let levels = place.levels().filter_map(|level| files.number::<u64>(&format!("{}/{name}", level.display())));
        // Version 1 writes "no limit" as the largest number of whole pages, version 2 as the word `max`.
        levels.filter(|bytes| *bytes < 1 << 62).min()
    };
    let writable = accessat(CWD, files.place(&own), Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    Some(MemoryGroup {
        version: place.version,
        limit_bytes: least(if place.version == 1 { "memory.limit_in_bytes" } else { "memory.max" }),
        high_bytes: least("memory.high"),
        swap_limit_bytes: least("memory.swap.max"),
        writable: writable && !place.read_only,
        folder: own,
    })
}

fn quotas(files: Files<'_>, place: &Place) -> Vec<Quota> {
    let one = |level: &Path| {
        let file = |name: &str| format!("{}/{name}", level.display());
        if place.version == 1 {
            // Without a limit the quota is -1, which is no number of this kind.
            let quota_us = files.number(&file("cpu.cfs_quota_us"))?;
            return Some(Quota { quota_us, period_us: files.number(&file("cpu.cfs_period_us"))? });
        }
        let text = files.text(&file("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        Some(Quota { quota_us: quota.parse().ok()?, period_us: period.parse().ok()? })
    };
    place.levels().filter_map(one).filter(|quota| quota.period_us > 0).collect()
}

/// For how long quotas have kept the processes of the groups above this process waiting, in microseconds: cpu.stat of every
/// level, in microseconds in version 2 and in nanoseconds in version 1. A group without a quota has none.
pub(super) fn throttled_us(files: Files<'_>) -> u64 {
    let one = |version: u64, level: &Path| -> Option<u64> {
        let text = files.text(&format!("{}/cpu.stat", level.display()))?;
        let (name, per_us) = if version == 1 { ("throttled_time", 1000) } else { ("throttled_usec", 1) };
        let told = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        told.map(|time| time / per_us)
    };
    let places = places(files, "cpu");
    places.iter().flat_map(|place| place.levels().filter_map(|level| one(place.version, level))).sum()
}

/// Where this process is in each hierarchy with a controller: cgroups(7) for the path, proc_pid_mountinfo(5) for the
/// mount. On a hybrid machine both versions are mounted, and only one of them has the controller.
fn places(files: Files<'_>, controller: &str) -> Vec<Place> {
    let mounts = files.text("/proc/self/mountinfo").unwrap_or_default();
    let own = files.text("/proc/self/cgroup").unwrap_or_default();
    mounts.lines().filter_map(|line| place(line, &own, controller)).collect()
}

fn place(mount_line: &str, own: &str, controller: &str) -> Option<Place> {
    let (left, right) = mount_line.split_once(" - ")?;
    let (inside, mount) = (left.split_whitespace().nth(3)?, left.split_whitespace().nth(4)?);
    let (kind, options) = (right.split_whitespace().next()?, right.split_whitespace().last()?);
    let named = |list: &str| list.split(',').any(|name| name == controller);
    let version = match kind {
        "cgroup2" => 2,
        "cgroup" if named(options) => 1,
        _ => return None,
    };
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let wanted = if version == 2 { number == "0" && controllers.is_empty() } else { named(controllers) };
        wanted.then_some(path)
    })?;
    // A container's mount shows only a part of the tree, while the process's path may start above it.
    let below = Path::new(path).strip_prefix(inside).unwrap_or(Path::new(path));
    let mount = PathBuf::from(mount);
    let folder = mount.join(below.strip_prefix("/").unwrap_or(below));
    // Joining an empty path would leave a slash at the end.
    let folder = if below.as_os_str().is_empty() { mount.clone() } else { folder };
    Some(Place { version, mount, folder, read_only: is_read_only(left) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_a_quota_took_is_read_from_every_level_of_either_version() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let mounts = "35 31 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n40 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        write("proc/self/mountinfo", mounts);
        write("proc/self/cgroup", "4:cpu:/a/b\n0::/c\n");
        assert_eq!(throttled_us(Files::new(root.path())), 0);
        write("sys/fs/cgroup/cpu/a/b/cpu.stat", "nr_periods 9\nnr_throttled 7\nthrottled_time 5000999\nnr_bursts 0\n");
        write("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_time 2000000\n");
        write("sys/fs/cgroup/unified/c/cpu.stat", "usage_usec 7\nnr_throttled 3\nthrottled_usec 40\n");
        assert_eq!(throttled_us(Files::new(root.path())), 5_000 + 2_000 + 40);
    }

    #[test]
    fn a_mount_that_shows_a_part_of_the_tree_is_not_entered_twice() {
        let mount = "40 30 0:30 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw";
        let place = place(mount, "0::/docker/abc\n", "memory").unwrap();
        assert_eq!(place.folder, Path::new("/sys/fs/cgroup"));
        assert!(place.read_only);
    }

    #[test]
    fn a_version_1_hierarchy_is_found_by_its_controller() {
        let mount = "35 31 0:32 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";
        let place = place(mount, "4:cpu,cpuacct:/a/b\n0::/c\n", "cpu").unwrap();
        let levels: Vec<_> = place.levels().collect();
        assert_eq!(levels.len(), 3);
        assert_eq!(levels[0], Path::new("/sys/fs/cgroup/cpu,cpuacct/a/b"));
        assert!(super::place(mount, "4:cpu,cpuacct:/a/b\n", "memory").is_none());
    }
}
