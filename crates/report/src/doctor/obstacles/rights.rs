//! Obstacles in what the kernel can do and lets this process do.

use record::machine::environment::Environment;

use super::Obstacle;
use record::machine::format::size;

const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_SYS_RESOURCE: u32 = 24;
const CAP_PERFMON: u32 = 38;

/// The widest pipe and the longest message that experiments ask for.
const WIDEST_PIPE_BYTES: u64 = 1 << 20;
const LONGEST_MESSAGE_BYTES: u64 = 64 << 10;

/// Methods that need a newer kernel than the oldest in use, with the release that brought what they call.
const SINCE: [((u64, u64), &str); 4] = [
    ((5, 6), "read/io_uring and io_uring-direct"),
    ((5, 14), "fault/populate-write, read/mmap-populate-read"),
    ((6, 1), "fault/collapse"),
    ((6, 14), "read/uncached"),
];

pub(super) fn kernel_age(e: &Environment) -> Option<Obstacle> {
    let release = e.kernel.release.as_deref()?;
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let running: (u64, u64) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let missing: Vec<_> = SINCE.iter().filter(|(needed, _)| running < *needed).collect();
    if missing.is_empty() {
        return None;
    }
    let named = missing.iter().map(|((major, minor), methods)| format!("{methods} (since {major}.{minor})"));
    let what = format!("what newer kernels brought: {}", named.collect::<Vec<_>>().join(", "));
    Some(Obstacle::new(what, format!("this is Linux {}.{}", running.0, running.1)))
}

pub(super) fn io_uring(e: &Environment) -> Option<Obstacle> {
    let disabled = e.rights.io_uring_disabled?;
    let refused = disabled == 2 || disabled == 1 && e.rights.has_capability(CAP_SYS_ADMIN) != Some(true);
    refused.then(|| {
        let why = format!("kernel.io_uring_disabled is {disabled}");
        Obstacle::new("io_uring: read/io_uring and io_uring-direct", why)
            .remedy("sudo sysctl kernel.io_uring_disabled=0")
    })
}

pub(super) fn seccomp(e: &Environment) -> Option<Obstacle> {
    (e.rights.seccomp_mode? == 2).then(|| {
        let what = "perhaps io_uring, reading another process's memory and performance counters";
        let obstacle = Obstacle::new(what, "a seccomp filter is at work, which may refuse their system calls");
        // The signature of a container; other filters have other masters.
        if e.rights.sysctl_read_only {
            obstacle.remedy("docker run --security-opt seccomp=unconfined …")
        } else {
            obstacle
        }
    })
}

pub(super) fn yama(e: &Environment) -> Option<Obstacle> {
    let scope = e.rights.yama_ptrace_scope?;
    let refused = scope > 2 || scope == 2 && e.rights.has_capability(CAP_SYS_PTRACE) != Some(true);
    refused.then(|| {
        let what = "another process's memory: transfer/process-vm-readv and -writev; system calls under strace";
        let obstacle = Obstacle::new(what, format!("kernel.yama.ptrace_scope is {scope}"));
        // Scope 3 stays until the next boot.
        if scope == 2 { obstacle.remedy("sudo sysctl kernel.yama.ptrace_scope=1") } else { obstacle }
    })
}

pub(super) fn drop_caches(e: &Environment) -> Option<Obstacle> {
    let what = "the page cache emptied as published: read with cache=dropped (cache=cold works)";
    if e.rights.sysctl_read_only {
        return Some(Obstacle::new(what, "/proc/sys is mounted read-only, as containers have it"));
    }
    (e.rights.effective_uid? != 0).then(|| {
        let why = "only root may write /proc/sys/vm/drop_caches";
        Obstacle::new(what, why).remedy("sudo pagewise run read --set cache=dropped --allow-system-changes")
    })
}

pub(super) fn bounded_memory(e: &Environment) -> Option<Obstacle> {
    let what = "files larger than the memory they may fill: read under a memory bound";
    let Some(group) = e.cgroups.memory.first() else {
        return Some(Obstacle::new(what, "no cgroup with the memory controller is mounted"));
    };
    if e.cgroups.memory.iter().any(|group| group.writable) {
        return None;
    }
    let obstacle = Obstacle::new(what, format!("no group can be made in {}", group.folder));
    Some(match (e.rights.is_root(), group.version) {
        // Root is refused only by a read-only mount, which no command from inside changes.
        (true, _) => obstacle,
        (false, 1) => obstacle.remedy("sudo pagewise run read --allow-system-changes"),
        (false, _) => obstacle.remedy("systemd-run --user --scope -p Delegate=yes pagewise run read"),
    })
}

pub(super) fn pipe_width(e: &Environment) -> Option<Obstacle> {
    let most = e.limits.pipe_max_bytes?;
    let refused = most < WIDEST_PIPE_BYTES && e.rights.has_capability(CAP_SYS_RESOURCE) != Some(true);
    refused.then(|| {
        let what =
            format!("pipes of more than {}: transfer/pipe-wide and vmsplice-wide, copy/vmsplice-wide", size(most));
        let remedy = format!("sudo sysctl fs.pipe-max-size={WIDEST_PIPE_BYTES}");
        Obstacle::new(what, format!("fs.pipe-max-size is {most}")).remedy(remedy)
    })
}

pub(super) fn queue_message(e: &Environment) -> Option<Obstacle> {
    let most = e.limits.mqueue_message_bytes?;
    let refused = most < LONGEST_MESSAGE_BYTES && e.rights.has_capability(CAP_SYS_RESOURCE) != Some(true);
    refused.then(|| {
        let what = format!("POSIX queues with messages of more than {}: message/posix-mq", size(most));
        let why = format!("fs.mqueue.msgsize_max is {most}, and this process has no CAP_SYS_RESOURCE");
        Obstacle::new(what, why).remedy(format!("sudo sysctl fs.mqueue.msgsize_max={LONGEST_MESSAGE_BYTES}"))
    })
}

pub(super) fn count_kernel(e: &Environment) -> Option<Obstacle> {
    let paranoid = e.rights.perf_event_paranoid?;
    let trusted = [CAP_PERFMON, CAP_SYS_ADMIN].iter().any(|c| e.rights.has_capability(*c) == Some(true));
    // Without counters their absence is the obstacle.
    if trusted || paranoid < 2 || e.rights.hardware_counters.is_empty() {
        return None;
    }
    let what = if paranoid > 2 {
        "cycles, cache and TLB misses"
    } else {
        "cycles and misses of the kernel's part of a sample"
    };
    let why = format!("kernel.perf_event_paranoid is {paranoid}");
    Some(Obstacle::new(what, why).remedy("sudo sysctl kernel.perf_event_paranoid=1"))
}
