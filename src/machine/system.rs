//! The kernel, what is below it, its clock, and what it lets this process do.

use std::collections::BTreeMap;

use record::machine::system::{Clock, Hypervisor, Kernel, Limits, Rights, hypervisor_of_clock};

use super::files::{Files, field};

/// Reads what [`Kernel`] holds.
pub(super) fn kernel(files: Files<'_>) -> Kernel {
    let distribution = files.text("/etc/os-release").and_then(|text| {
        let name = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
        Some(name.trim_matches('"').to_owned())
    });
    let own_parameters = |line: String| line.split(" -- ").next().unwrap_or_default().trim_end().to_owned();
    Kernel {
        release: files.text("/proc/sys/kernel/osrelease"),
        version: files.text("/proc/sys/kernel/version"),
        architecture: files.text("/proc/sys/kernel/arch"),
        command_line: files.text("/proc/cmdline").map(own_parameters),
        distribution,
    }
}

/// Reads what [`Hypervisor`] holds.
pub(super) fn hypervisor(files: Files<'_>) -> Hypervisor {
    let info = files.start("/proc/cpuinfo", 8192).unwrap_or_default();
    let clocks = clock(files).available.unwrap_or_default();
    let telling = |clock: &&str| hypervisor_of_clock(clock).is_some();
    Hypervisor {
        flag: field(&info, "flags").map(|flags| flags.split_whitespace().any(|f| f == "hypervisor")),
        dmi_vendor: files.text("/sys/class/dmi/id/sys_vendor"),
        dmi_product: files.text("/sys/class/dmi/id/product_name"),
        dmi_firmware_vendor: files.text("/sys/class/dmi/id/bios_vendor"),
        kind: files.text("/sys/hypervisor/type"),
        clock: clocks.split_whitespace().find(telling).map(str::to_owned),
    }
}

/// Reads what [`Clock`] holds.
pub(super) fn clock(files: Files<'_>) -> Clock {
    let folder = "/sys/devices/system/clocksource/clocksource0";
    Clock {
        current: files.text(&format!("{folder}/current_clocksource")),
        available: files.text(&format!("{folder}/available_clocksource")),
    }
}

/// Reads what [`Rights`] holds.
pub(super) fn rights(files: Files<'_>) -> Rights {
    let status = files.text("/proc/self/status").unwrap_or_default();
    let mounts = files.text("/proc/self/mountinfo").unwrap_or_default();
    let counters = files.names("/sys/bus/event_source/devices").into_iter().filter(|name| is_core_counter(name));
    Rights {
        effective_uid: field(&status, "Uid").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok()),
        effective_capabilities: field(&status, "CapEff").map(str::to_owned),
        seccomp_mode: field(&status, "Seccomp").and_then(|mode| mode.parse().ok()),
        sysctl_read_only: mounts.lines().rfind(|l| at_proc_sys(l)).is_some_and(is_read_only),
        perf_event_paranoid: files.number("/proc/sys/kernel/perf_event_paranoid"),
        hardware_counters: counters.collect(),
        yama_ptrace_scope: files.number("/proc/sys/kernel/yama/ptrace_scope"),
        io_uring_disabled: files.number("/proc/sys/kernel/io_uring_disabled"),
        unprivileged_userfaultfd: files.switch("/proc/sys/vm/unprivileged_userfaultfd"),
        randomize_va_space: files.number("/proc/sys/kernel/randomize_va_space"),
    }
}

/// Hybrid processors have one set of counters per kind of core: `cpu_core` and `cpu_atom`.
fn is_core_counter(name: &str) -> bool {
    name == "cpu" || name.starts_with("cpu_") || name.contains("_pmuv3")
}

fn at_proc_sys(mount: &str) -> bool {
    matches!(mount.split_whitespace().nth(4), Some("/proc" | "/proc/sys"))
}

/// The sixth field of a line of proc_pid_mountinfo(5) holds the options of this mount.
pub(super) fn is_read_only(mount: &str) -> bool {
    mount.split_whitespace().nth(5).is_some_and(|options| options.split(',').any(|o| o == "ro"))
}

/// Reads what [`Limits`] holds.
pub(super) fn limits(files: Files<'_>) -> Limits {
    let limits = files.text("/proc/self/limits").unwrap_or_default();
    Limits {
        pipe_max_bytes: files.number("/proc/sys/fs/pipe-max-size"),
        pipe_user_pages_soft: files.number("/proc/sys/fs/pipe-user-pages-soft"),
        shmmax_bytes: files.number("/proc/sys/kernel/shmmax"),
        shmall_pages: files.number("/proc/sys/kernel/shmall"),
        shmmni: files.number("/proc/sys/kernel/shmmni"),
        mqueue_messages: files.number("/proc/sys/fs/mqueue/msg_max"),
        mqueue_message_bytes: files.number("/proc/sys/fs/mqueue/msgsize_max"),
        mqueue_queues: files.number("/proc/sys/fs/mqueue/queues_max"),
        max_map_count: files.number("/proc/sys/vm/max_map_count"),
        process: process_limits(&limits),
    }
}

fn process_limits(text: &str) -> BTreeMap<String, String> {
    let wanted = ["Max address space", "Max data size", "Max locked memory", "Max msgqueue size", "Max stack size"];
    let one = |name: &&str| {
        let soft = text.lines().find_map(|l| l.strip_prefix(*name))?.split_whitespace().next()?;
        Some((name.trim_start_matches("Max ").to_owned(), soft.to_owned()))
    };
    wanted.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_cores_are_told_from_others() {
        assert!(["cpu", "cpu_core", "cpu_atom", "armv8_pmuv3_0"].iter().all(|n| is_core_counter(n)));
        assert!(!["software", "msr", "cpum_cf_diag", "uncore_imc_0", "power"].iter().any(|n| is_core_counter(n)));
    }
}
