//! Noise of the machine: counters read before and after a launch, and other users of the CPUs. They flag; they never correct.

use super::Below;
use record::machine::cgroup::throttled_us;
use record::machine::preflight::{Busy, NoiseDelta};
use std::{collections::BTreeMap, path::Path};

/// Counters of proc_vmstat(5) that tell of memory work which no worker asked for.
const VMSTAT: [&str; 13] = [
    "thp_fault_alloc",
    "thp_fault_fallback",
    "thp_collapse_alloc",
    "compact_stall",
    "allocstall_normal",
    "allocstall_movable",
    "pgscan_kswapd",
    "pgscan_direct",
    "pgsteal_kswapd",
    "pswpout",
    "oom_kill",
    "balloon_inflate",
    "numa_hint_faults",
];

/// Bytes of a sector of proc_diskstats, on every device.
const SECTOR_BYTES: u64 = 512;

/// Sectors of a device that were read and written.
#[derive(Clone, Copy, Debug, Default)]
struct Sectors {
    read: u64,
    written: u64,
}

/// Counters at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    steal: u64,
    all_cpu: u64,
    busy: u64,
    throttled_us: u64,
    pressure_us: BTreeMap<String, u64>,
    vmstat: BTreeMap<String, u64>,
    sectors: BTreeMap<String, Sectors>,
    own_bytes: (u64, u64),
    unwritten_bytes: u64,
}

fn read(root: &Path, path: &str) -> String {
    files::kernel::read(root.join(path)).unwrap_or_default()
}

impl Snapshot {
    /// Reads the counters below `root`; what a machine lacks counts as zero.
    pub fn take(root: &Path) -> Snapshot {
        let mut snapshot = Snapshot {
            throttled_us: throttled_us(&Below::new(root)),
            ..Snapshot::default()
        };
        if let Some(line) = read(root, "proc/stat").lines().next() {
            let ticks: Vec<u64> = line
                .split_whitespace()
                .skip(1)
                .filter_map(|t| t.parse().ok())
                .collect();
            // The eighth column is steal; guest time, after it, is contained in user time already.
            snapshot.steal = ticks.get(7).copied().unwrap_or(0);
            snapshot.all_cpu = ticks.iter().take(8).sum();
            // The fourth and fifth are idle and waiting for I/O.
            snapshot.busy =
                snapshot.all_cpu - ticks.iter().skip(3).take(2).sum::<u64>() - snapshot.steal;
        }
        for resource in ["cpu", "memory", "io"] {
            for line in read(root, &format!("proc/pressure/{resource}")).lines() {
                let (Some(kind), Some((_, total))) =
                    (line.split_whitespace().next(), line.rsplit_once("total="))
                else {
                    continue;
                };
                snapshot
                    .pressure_us
                    .insert(format!("{resource}_{kind}"), total.parse().unwrap_or(0));
            }
        }
        for line in read(root, "proc/vmstat").lines() {
            if let Some((name, value)) = line.split_once(' ')
                && VMSTAT.contains(&name)
            {
                snapshot
                    .vmstat
                    .insert(name.to_owned(), value.parse().unwrap_or(0));
            }
        }
        // The I/O of processes that have been waited for is added to their parent's (proc_pid_io(5)).
        for line in read(root, "proc/self/io").lines() {
            match line.split_once(": ") {
                Some(("read_bytes", bytes)) => snapshot.own_bytes.0 = bytes.parse().unwrap_or(0),
                Some(("write_bytes", bytes)) => snapshot.own_bytes.1 = bytes.parse().unwrap_or(0),
                _ => {}
            }
        }
        for line in read(root, "proc/meminfo").lines() {
            if let Some(("Dirty" | "Writeback", kib)) = line.split_once(':') {
                let kib: u64 = kib.trim().trim_end_matches(" kB").parse().unwrap_or(0);
                snapshot.unwritten_bytes += kib * 1024;
            }
        }
        for line in read(root, "proc/diskstats").lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, _, name, _, _, read, _, _, _, written, ..] = fields[..]
                && let device = root.join("sys/block").join(name)
                && device.exists()
                // A device that stands on another one, which is counted too: a file by a loop, a disk by a mapper.
                && !device.join("loop").exists() && files::kernel::names(device.join("slaves")).is_empty()
            {
                let sectors = Sectors {
                    read: read.parse().unwrap_or(0),
                    written: written.parse().unwrap_or(0),
                };
                snapshot.sectors.insert(name.to_owned(), sectors);
            }
        }
        snapshot
    }

    pub fn delta(&self, earlier: &Snapshot) -> NoiseDelta {
        let cpu_ticks = self.all_cpu.saturating_sub(earlier.all_cpu);
        let sectors = self.sectors_since(earlier);
        NoiseDelta {
            steal_share: if cpu_ticks == 0 {
                0.0
            } else {
                self.steal.saturating_sub(earlier.steal) as f64 / cpu_ticks as f64
            },
            throttled_us: self.throttled_us.saturating_sub(earlier.throttled_us),
            busy_cpu_s: self.busy.saturating_sub(earlier.busy) as f64 / TICKS_PER_SECOND,
            pressure_us: moved(&self.pressure_us, &earlier.pressure_us),
            vmstat: moved(&self.vmstat, &earlier.vmstat),
            device_read_bytes: sectors.read * SECTOR_BYTES,
            device_written_bytes: sectors.written * SECTOR_BYTES,
            own_read_bytes: self.own_bytes.0.saturating_sub(earlier.own_bytes.0),
            own_written_bytes: self.own_bytes.1.saturating_sub(earlier.own_bytes.1),
            own_pending_bytes: earlier.unwritten_bytes.min(earlier.own_bytes.1),
        }
    }

    /// Sectors of all devices since an earlier moment.
    fn sectors_since(&self, earlier: &Snapshot) -> Sectors {
        let mut since = Sectors::default();
        for (name, now) in &self.sectors {
            let before = earlier.sectors.get(name).copied().unwrap_or_default();
            since.read += now.read.saturating_sub(before.read);
            since.written += now.written.saturating_sub(before.written);
        }
        since
    }
}

/// Counters that have grown, by how much.
fn moved(now: &BTreeMap<String, u64>, earlier: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    now.iter()
        .map(|(name, count)| {
            let before = earlier.get(name).copied().unwrap_or(0);
            (name.clone(), count.saturating_sub(before))
        })
        .filter(|(_, growth)| *growth > 0)
        .collect()
}

/// Clock ticks per second in /proc (USER_HZ), which is 100 on every architecture that Linux runs on today.
pub const TICKS_PER_SECOND: f64 = 100.0;
/// Kernel threads that reclaim, compact, merge, collapse or watch memory, by the start of their names.
const MEMORY_THREADS: [&str; 6] = [
    "kswapd",
    "kcompactd",
    "khugepaged",
    "kdamond",
    "ksmd",
    "kproactived",
];

/// CPU time of every process at one moment.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    by_pid: BTreeMap<u32, Process>,
}

#[derive(Clone, Debug)]
struct Process {
    name: String,
    parent: u32,
    ticks: u64,
}

impl Processes {
    /// Reads `/proc/PID/stat` (proc_pid_stat(5)) of all processes below `root`.
    pub fn take(root: &Path) -> Processes {
        let mut by_pid = BTreeMap::new();
        let proc = root.join("proc");
        for name in files::kernel::names(&proc) {
            let Ok(pid) = name.parse() else { continue };
            if let Some(process) = files::kernel::read(proc.join(name).join("stat"))
                .ok()
                .and_then(|text| parse(&text))
            {
                by_pid.insert(pid, process);
            }
        }
        Processes { by_pid }
    }

    /// Processes that ran between two probes, the busiest first; the kernel's memory threads apart. This process and
    /// its children are left out, and so is what used less than a hundredth of a CPU.
    pub fn since(&self, earlier: &Processes, seconds: f64, parent: u32) -> (Vec<Busy>, Vec<Busy>) {
        let mut programs = Vec::new();
        let mut threads = Vec::new();
        for (&pid, process) in self
            .by_pid
            .iter()
            .filter(|(pid, p)| **pid != parent && p.parent != parent)
        {
            let before = earlier.by_pid.get(&pid).map_or(0, |p| p.ticks);
            let cpus =
                process.ticks.saturating_sub(before) as f64 / TICKS_PER_SECOND / seconds.max(0.01);
            if cpus < 0.01 {
                continue;
            }
            let busy = Busy {
                name: process.name.clone(),
                pid,
                cpus,
            };
            // Children of kthreadd, which is process 2, are threads of the kernel.
            let of_memory = process.parent == 2
                && MEMORY_THREADS
                    .iter()
                    .any(|start| busy.name.starts_with(start));
            if of_memory {
                threads.push(busy)
            } else {
                programs.push(busy)
            }
        }
        programs.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        threads.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        (programs, threads)
    }
}

fn parse(stat: &str) -> Option<Process> {
    // The name is in parentheses and may itself contain spaces and parentheses.
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let fields: Vec<&str> = stat.get(end + 1..)?.split_whitespace().collect();
    let number = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Process {
        name: stat.get(start + 1..end)?.to_owned(),
        parent: u32::try_from(number(1)?).ok()?,
        ticks: number(11)? + number(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_others_did_is_foreign() {
        let delta = NoiseDelta {
            device_read_bytes: 100,
            own_read_bytes: 60,
            device_written_bytes: 10,
            own_written_bytes: 500,
            ..NoiseDelta::default()
        };
        assert_eq!(delta.foreign_bytes(), 40);
        let late = NoiseDelta {
            device_written_bytes: 700,
            own_pending_bytes: 200,
            ..NoiseDelta::default()
        };
        assert_eq!(
            late.foreign_bytes(),
            100,
            "a launch before made them, with their journal"
        );
    }

    #[test]
    fn what_stands_on_another_device_is_counted_once() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in [
            "proc",
            "sys/block/vda",
            "sys/block/loop0/loop",
            "sys/block/dm-0/slaves/vda",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let write = |sectors: u64, dirty: u64| {
            let line = |name: &str| format!(" 254 0 {name} 1 0 0 0 2 0 {sectors} 0\n");
            fs::write(
                root.join("proc/diskstats"),
                ["vda", "loop0", "dm-0"].map(line).concat(),
            )
            .unwrap();
            fs::write(
                root.join("proc/meminfo"),
                format!("Dirty: {dirty} kB\nWriteback: 4 kB\n"),
            )
            .unwrap();
            fs::create_dir_all(root.join("proc/self")).unwrap();
            fs::write(root.join("proc/self/io"), "write_bytes: 10240\n").unwrap();
        };
        write(100, 4);
        let before = Snapshot::take(root);
        write(108, 0);
        let delta = Snapshot::take(root).delta(&before);
        assert_eq!(
            (delta.device_written_bytes, delta.own_pending_bytes),
            (4096, 8192)
        );
    }

    #[test]
    fn only_what_moved_is_told() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        fs::create_dir_all(root.join("proc/pressure")).unwrap();
        fs::create_dir_all(root.join("sys/block/vda")).unwrap();
        let write = |stat: &str, vm: &str, disk: &str| {
            fs::write(root.join("proc/stat"), stat).unwrap();
            fs::write(root.join("proc/vmstat"), vm).unwrap();
            fs::write(root.join("proc/diskstats"), disk).unwrap();
        };
        write(
            "cpu 10 0 10 80 0 0 0 0 0 0\n",
            "oom_kill 1\ncompact_stall 5\n",
            " 254 0 vda 1 0 100 0 2 0 200 0\n",
        );
        let before = Snapshot::take(root);
        write(
            "cpu 20 0 10 160 0 0 0 10 0 0\n",
            "oom_kill 2\ncompact_stall 5\n",
            " 254 0 vda 1 0 104 0 2 0 200 0\n",
        );
        let delta = Snapshot::take(root).delta(&before);
        assert_eq!((delta.steal_share, delta.busy_cpu_s), (0.1, 0.1));
        assert_eq!(delta.counter("oom_kill"), 1);
        assert!(!delta.vmstat.contains_key("compact_stall"));
        assert_eq!(
            (delta.device_read_bytes, delta.device_written_bytes),
            (2048, 0)
        );
    }

    mod busy {
        use super::*;

        fn stat(name: &str, parent: u32, user: u64, system: u64) -> Process {
            let text = format!(
                "7 ({name}) S {parent} 7 7 0 -1 0 1 2 3 4 {user} {system} 0 0 20 0 1 0 5 6 7"
            );
            parse(&text).expect("a line of stat")
        }

        fn processes(list: &[(u32, Process)]) -> Processes {
            Processes {
                by_pid: list.iter().cloned().collect(),
            }
        }

        #[test]
        fn names_with_spaces_and_parentheses_are_read() {
            let process = stat("a (b) c", 5, 10, 3);
            assert_eq!(
                (process.name.as_str(), process.parent, process.ticks),
                ("a (b) c", 5, 13)
            );
            assert!(parse("cut short").is_none());
        }

        #[test]
        fn the_busy_are_told_apart_from_the_kernel_s_memory_threads() {
            let before = processes(&[
                (10, stat("make", 1, 100, 0)),
                (20, stat("kswapd0", 2, 5, 5)),
                (30, stat("idle", 1, 1, 1)),
            ]);
            let after = processes(&[
                (10, stat("make", 1, 150, 0)),
                (20, stat("kswapd0", 2, 5, 15)),
                (30, stat("idle", 1, 1, 1)),
                (40, stat("worker", 99, 500, 0)),
                (99, stat("pagewise", 1, 500, 0)),
            ]);
            let (others, threads) = after.since(&before, 1.0, 99);
            assert_eq!(
                others,
                [Busy {
                    name: "make".into(),
                    pid: 10,
                    cpus: 0.5
                }]
            );
            assert_eq!(
                threads,
                [Busy {
                    name: "kswapd0".into(),
                    pid: 20,
                    cpus: 0.1
                }]
            );
        }
    }
}
