//! The user-space gap probe: what takes CPUs away from a busy process, whether or not a counter shows it. The helper spins;
//! the laboratory sleeps meanwhile.

use super::helped;
use anyhow::Result;
use record::machine::gaps::Gaps;

/// The CPUs that this process may use.
pub fn allowed_cpus() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    set.map_or_else(|_| vec![0], |set| (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Probes these CPUs, all at the same time.
pub fn probe(cpus: &[usize], milliseconds: u64) -> Result<Vec<Gaps>> {
    let request = ["probe-gaps", &milliseconds.to_string()];
    let probe = |cpu: &usize| Gaps::parse(&helped(*cpu, &request)?);
    std::thread::scope(|scope| {
        let probes: Vec<_> = cpus.iter().map(|cpu| scope.spawn(move || probe(cpu))).collect();
        probes.into_iter().map(|probe| probe.join().expect("a thread that waits for the helper")).collect()
    })
}
