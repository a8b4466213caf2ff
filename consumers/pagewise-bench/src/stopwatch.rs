//! The clock and the counters of the process, as all workers read them.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

fn read_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub(crate) fn now_ns() -> u64 {
    read_ns(ClockId::Monotonic)
}

pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Files of /proc/self that hold the counters, opened once: a read makes no fault of its own then.
static STAT: OnceLock<Option<File>> = OnceLock::new();
static STATUS: OnceLock<Option<File>> = OnceLock::new();

fn read<'a>(file: &OnceLock<Option<File>>, name: &str, into: &'a mut [u8]) -> &'a str {
    let file = file.get_or_init(|| File::open(format!("/proc/self/{name}")).ok());
    let got = file.as_ref().and_then(|file| file.read_at(into, 0).ok()).unwrap_or(0);
    std::str::from_utf8(&into[..got]).unwrap_or_default()
}

/// CPU time, the kernel's split of it, faults and switches.
#[derive(Default)]
pub(crate) struct Counters([u64; 7]);

impl Counters {
    pub(crate) fn read() -> Counters {
        let (mut stat, mut status) = ([0; 1024], [0; 4096]);
        // The name of the program, which may hold anything, ends with the last parenthesis (proc_pid_stat(5)).
        let text = read(&STAT, "stat", &mut stat);
        let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        let field = |number: usize| fields.split_ascii_whitespace().nth(number - 3)?.parse::<u64>().ok();
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let ns = |number: usize| field(number).unwrap_or(0) * tick_ns;
        let text = read(&STATUS, "status", &mut status);
        let switches = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let voluntary = switches("voluntary_ctxt_switches:").unwrap_or(0);
        let involuntary = switches("nonvoluntary_ctxt_switches:").unwrap_or(0);
        let (minor, major) = (field(10).unwrap_or(0), field(12).unwrap_or(0));
        Counters([read_ns(ClockId::ProcessCPUTime), ns(14), ns(15), minor, major, voluntary, involuntary])
    }

    pub(crate) fn since(&self, before: &Counters) -> Counters {
        Counters(std::array::from_fn(|at| self.0[at].saturating_sub(before.0[at])))
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|count| write!(f, "\t{count}"))
    }
}

/// What a tracer and a preloaded library count, where this launch is counted and not timed (workers/c/harness/counts.h).
pub(crate) struct Traced {
    memory: Option<File>,
    columns: std::ops::Range<usize>,
}

/// Names of the counts.
const COUNTS: [&str; 6] = ["calls", "read_bytes", "written_bytes", "allocations", "allocated_bytes", "copied_bytes"];
/// Size of the shared counts: six numbers, and two flags of four bytes.
const SHARED: usize = 56;

impl Traced {
    pub(crate) fn open() -> Traced {
        let descriptor = std::env::var("PAGEWISE_COUNTS").ok();
        let memory = descriptor.and_then(|number| File::open(format!("/proc/self/fd/{number}")).ok());
        let mut bytes = [0; SHARED];
        let is_there = memory.as_ref().is_some_and(|memory| memory.read_exact_at(&mut bytes, 0).is_ok());
        let (traced, preloaded) = (bytes[48] != 0, bytes[52] != 0);
        let columns = if traced { 0 } else { 3 }..if preloaded { 6 } else { 3 };
        Traced { memory: memory.filter(|_| is_there), columns }
    }

    pub(crate) fn columns(&self) -> String {
        let columns = if self.memory.is_some() { &COUNTS[self.columns.clone()] } else { &[] };
        columns.iter().map(|name| format!("\t{name}")).collect()
    }

    pub(crate) fn read(&self) -> [u64; 6] {
        let mut bytes = [0; SHARED];
        if let Some(memory) = &self.memory {
            let _ = memory.read_exact_at(&mut bytes, 0);
        }
        std::array::from_fn(|at| u64::from_ne_bytes(std::array::from_fn(|byte| bytes[8 * at + byte])))
    }

    /// The counts of a body between two reads, without the first read's own bytes and the second's call.
    pub(crate) fn between(&self, before: &[u64; 6], after: &[u64; 6]) -> String {
        if self.memory.is_none() {
            return String::new();
        }
        let read = [1, SHARED as u64, 0, 0, 0, 0];
        let count = |at: usize| after[at].saturating_sub(before[at]).saturating_sub(read[at]);
        self.columns.clone().map(|at| format!("\t{}", count(at))).collect()
    }
}
