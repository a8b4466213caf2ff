//! Other users of the CPUs: processes and the kernel's own threads for memory, by their CPU time between two looks.

use record::machine::busy::Busy;
use std::collections::BTreeMap;
use std::path::Path;

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
            if let Some(process) = files::kernel::read(proc.join(name).join("stat")).ok().and_then(|text| parse(&text)) {
                by_pid.insert(pid, process);
            }
        }
        Processes { by_pid }
    }

    /// Processes that ran between two probes, the busiest first; the kernel's memory threads apart. This process and
    /// its children are left out, and so is what used less than a hundredth of a CPU.
    pub fn since(&self, earlier: &Processes, seconds: f64, parent: u32) -> (Vec<Busy>, Vec<Busy>) {
        let mut others = Vec::new();
        let mut threads = Vec::new();
        for (&pid, process) in self.by_pid.iter().filter(|(pid, p)| **pid != parent && p.parent != parent) {
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
#[path = "../../tests/unit/machine/busy.rs"]
mod tests;
