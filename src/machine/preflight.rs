//! Disturbance of this machine at the moment: a short look before each run, a longer one for `doctor --noise`.

use super::helped;
use super::noise::{Processes, Snapshot};
use crate::machine::threads::all_at_once;
use anyhow::Result;
use record::machine::preflight::{Gaps, Preflight};
use std::path::Path;
use std::time::{Duration, Instant};

/// Duration of the probe before a run, in milliseconds.
pub const SHORT_MS: u64 = 250;
/// Duration of `doctor --noise`, in milliseconds.
pub const LONG_MS: u64 = 3000;
const MOST_NAMED: usize = 8;

/// Looks for so long.
pub fn look(root: &Path, milliseconds: u64) -> Result<Preflight> {
    let cpus = allowed_cpus();
    let frequencies = |cpus: &[usize]| {
        cpus.iter()
            .filter_map(|cpu| frequency_khz(root, *cpu))
            .collect::<Vec<u64>>()
    };
    let before = (
        Snapshot::take(root),
        Processes::take(root),
        frequencies(&cpus),
    );
    let started = Instant::now();
    let gaps = probe(&cpus, milliseconds)?;
    let seconds = started.elapsed().as_secs_f64();
    let after = (
        Snapshot::take(root),
        Processes::take(root),
        frequencies(&cpus),
    );
    let (mut busy, memory_threads) = after.1.since(&before.1, seconds, std::process::id());
    busy.truncate(MOST_NAMED);
    let counters = after.0.delta(&before.0);
    // Processes that began or ended meanwhile have no name here, but the CPUs know of them.
    let probes: f64 = gaps.iter().map(|g| 1.0 - g.lost_share()).sum();
    let busy_cpus = (counters.busy_cpu_s / seconds - probes).max(0.0);
    Ok(Preflight {
        seconds,
        gaps,
        counters,
        busy,
        busy_cpus,
        memory_threads,
        frequency_khz: before.2.into_iter().zip(after.2).collect(),
        kept_scores: Vec::new(),
    })
}

/// The share of its CPUs that a quiet machine gives.
const QUIET: f64 = 0.9;
/// Between two looks while a quieter machine is waited for.
const PAUSE: Duration = Duration::from_secs(2);

/// Looks again and again until the machine is quiet or so much time has passed; `tell` is given what is seen and the seconds
/// left. Tells whether it became quiet.
pub fn wait_for_quiet(
    root: &Path,
    most: Duration,
    mut tell: impl FnMut(&Preflight, f64),
) -> Result<bool> {
    let started = Instant::now();
    loop {
        let preflight = look(root, SHORT_MS)?;
        if preflight.got_share() >= QUIET {
            return Ok(true);
        }
        let left = most.saturating_sub(started.elapsed());
        tell(&preflight, left.as_secs_f64());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(PAUSE.min(left));
    }
}

fn frequency_khz(root: &Path, cpu: usize) -> Option<u64> {
    let path = root.join(format!(
        "sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"
    ));
    files::kernel::read(path).ok()?.trim().parse().ok()
}

// The user-space gap probe: what takes CPUs away from a busy process, whether or not a counter shows it. The helper spins;
// the laboratory sleeps meanwhile.

/// The CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or_else(
        |_| vec![0],
        |set| {
            (0..rustix::thread::CpuSet::MAX_CPU)
                .filter(|&cpu| set.is_set(cpu))
                .collect()
        },
    )
}

/// Probes these CPUs, all at the same time.
pub fn probe(cpus: &[usize], milliseconds: u64) -> Result<Vec<Gaps>> {
    let request = ["probe-gaps", &milliseconds.to_string()];
    let probed = all_at_once(cpus, |cpu| helped(*cpu, &request));
    probed.into_iter().collect()
}
