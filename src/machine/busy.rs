//! Other users of the CPUs: processes and the kernel's own threads for memory, by their CPU time between two looks.

use std::collections::BTreeMap;
use std::path::Path;

use record::machine::busy::Busy;

/// Clock ticks per second in /proc (USER_HZ), which is 100 on every architecture that Linux runs on today.
pub const TICKS_PER_SECOND: f64 = 100.0;

/// Kernel threads that reclaim, compact, merge, collapse or watch memory, by the start of their names.
const MEMORY_THREADS: [&str; 6] = ["kswapd", "kcompactd", "khugepaged", "kdamond", "ksmd", "kproactived"];

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
            if let Some(process) = files::kernel::read(proc.join(name).join("stat")).ok().and_then(|text| parse(&text))
            {
                by_pid.insert(pid, process);
            }
        }
        Processes { by_pid }
    }

    /// Processes that ran between two probes, the busiest first; the kernel's memory threads apart. This process and
    /// its children are left out, and so is what used less than a hundredth of a CPU.
    pub fn since(&self, earlier: &Processes, seconds: f64, own: u32) -> (Vec<Busy>, Vec<Busy>) {
        let mut others = Vec::new();
        let mut threads = Vec::new();
        for (&pid, process) in self.by_pid.iter().filter(|(pid, p)| **pid != own && p.parent != own) {
            let before = earlier.by_pid.get(&pid).map_or(0, |p| p.ticks);
            let cpus = process.ticks.saturating_sub(before) as f64 / TICKS_PER_SECOND / seconds.max(0.01);
            if cpus < 0.01 {
                continue;
            }
            let busy = Busy { name: process.name.clone(), pid, cpus };
            // Children of kthreadd, which is process 2, are threads of the kernel.
            let of_memory = process.parent == 2 && MEMORY_THREADS.iter().any(|start| busy.name.starts_with(start));
            if of_memory { threads.push(busy) } else { others.push(busy) }
        }
        others.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        threads.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
        (others, threads)
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

    fn stat(name: &str, parent: u32, user: u64, system: u64) -> Process {
        let text = format!("7 ({name}) S {parent} 7 7 0 -1 0 1 2 3 4 {user} {system} 0 0 20 0 1 0 5 6 7");
        parse(&text).expect("a line of stat")
    }

    fn processes(list: &[(u32, Process)]) -> Processes {
        Processes { by_pid: list.iter().cloned().collect() }
    }

    #[test]
    fn names_with_spaces_and_parentheses_are_read() {
        let process = stat("a (b) c", 5, 10, 3);
        assert_eq!((process.name.as_str(), process.parent, process.ticks), ("a (b) c", 5, 13));
        assert!(parse("cut short").is_none());
    }

    #[test]
    fn the_busy_are_told_apart_from_the_kernel_s_memory_threads() {
        let before =
            processes(&[(10, stat("make", 1, 100, 0)), (20, stat("kswapd0", 2, 5, 5)), (30, stat("idle", 1, 1, 1))]);
        let after = processes(&[
            (10, stat("make", 1, 150, 0)),
            (20, stat("kswapd0", 2, 5, 15)),
            (30, stat("idle", 1, 1, 1)),
            (40, stat("worker", 99, 500, 0)),
            (99, stat("pagewise", 1, 500, 0)),
        ]);
        let (others, threads) = after.since(&before, 1.0, 99);
        assert_eq!(others, [Busy { name: "make".into(), pid: 10, cpus: 0.5 }]);
        assert_eq!(threads, [Busy { name: "kswapd0".into(), pid: 20, cpus: 0.1 }]);
    }
}
