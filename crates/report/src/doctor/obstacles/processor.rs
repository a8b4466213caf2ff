//! Obstacles in the processor, its clock and its frequency.

use record::machine::environment::Environment;

use super::Obstacle;
use record::machine::format::count;

pub(super) fn counters(e: &Environment) -> Option<Obstacle> {
    if !e.rights.hardware_counters.is_empty() {
        return None;
    }
    // Only the host could pass them on, by another type of machine: no command in here changes that.
    let why = match e.hypervisor.is_virtual() {
        Some(true) => "the hypervisor passes no performance counters on (no cpu in /sys/bus/event_source/devices)",
        _ => "the kernel has no driver for this processor's counters (no cpu in /sys/bus/event_source/devices)",
    };
    Some(Obstacle::new("cycles, instructions, cache and TLB misses", why))
}

pub(super) fn one_cpu(e: &Environment) -> Option<Obstacle> {
    (e.cpu.online? == 1).then(|| {
        let why = "there is one CPU, and two sides that spin on it wait for the scheduler and not for each other";
        Obstacle::new("two sides that run at once: message, transfer, wait=spin, more than one thread", why)
    })
}

pub(super) fn affinity(e: &Environment) -> Option<Obstacle> {
    let (allowed, online) = (e.cpu.allowed?, e.cpu.online?);
    (allowed < online).then(|| {
        let why = format!("this process may use {} of {online}", count(allowed, "CPU"));
        Obstacle::new("threads and sides on all CPUs", why).remedy(format!("taskset -pc 0-{} $$", online - 1))
    })
}

pub(super) fn quota(e: &Environment) -> Option<Obstacle> {
    let quota = e.cgroups.cpu_quota.as_ref()?;
    // More than all CPUs can use never stops anything.
    if e.cpu.usable().is_some_and(|cpus| quota.cpus() >= cpus as f64) {
        return None;
    }
    let why = format!(
        "the cgroup grants {} ms of CPU time in each {} ms and then stops all threads; ask for a group without",
        quota.quota_us / 1000,
        quota.period_us / 1000
    );
    Some(Obstacle::new("long samples without pauses, and sides that spin", why))
}

pub(super) fn clock(e: &Environment) -> Option<Obstacle> {
    let current = e.clock.current.as_deref()?;
    if e.clock.is_counter()? {
        return None;
    }
    let (what, why) = if e.clock.is_shared_page()? {
        let why = format!("the clock is {current}, which the hypervisor scales: slower to read than a plain counter");
        ("the shortest samples as sharply as elsewhere", why)
    } else {
        let why = format!("the clock is {current}: each reading enters the kernel and takes longer than what is timed");
        ("samples below some ten microseconds", why)
    };
    let offered = e.clock.available.as_deref().unwrap_or_default().split_whitespace().any(|clock| clock == "tsc");
    let obstacle = Obstacle::new(what, why);
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(if offered { obstacle.remedy(format!("echo tsc | sudo tee {file}")) } else { obstacle })
}

pub(super) fn governor(e: &Environment) -> Option<Obstacle> {
    let governors = &e.cpu.frequency.governors;
    let other = governors.iter().any(|governor| governor != "performance");
    other.then(|| {
        let why =
            format!("the frequency governor is {}, so a short job can run before the clock rate is up", e.governor());
        let remedy = "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
        Obstacle::new("short jobs at a steady frequency", why).remedy(remedy)
    })
}
