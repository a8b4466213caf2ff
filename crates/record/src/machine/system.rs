//! The kernel, the hypervisor, the clock, and what the kernel lets this process do.

use super::files::facts;
use std::collections::BTreeMap;

const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

facts! { m:
    Kernel {
        release: Option<String> = m.text("/proc/sys/kernel/osrelease");
        /// Build, with the preemption model.
        version: Option<String> = m.text("/proc/sys/kernel/version");
        architecture: Option<String> = m.text("/proc/sys/kernel/arch");
        /// Parameters up to ` -- `. The rest is for init, does not change the kernel, and may be private.
        command_line: Option<String> =
            m.text("/proc/cmdline").map(|line| line.split(" -- ").next().unwrap_or_default().trim_end().to_owned());
        distribution: Option<String> = m.text("/etc/os-release").and_then(|text| {
            Some(text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?.trim_matches('"').to_owned())
        });
    }

    /// The machine below the kernel.
    Hypervisor {
        /// True if the processor says that it is a virtual one; absent where it has no such flags.
        flag: Option<bool> = m.cpuinfo("flags").map(|flags| flags.split_whitespace().any(|f| f == "hypervisor"));
        dmi_vendor: Option<String> = m.text("/sys/class/dmi/id/sys_vendor");
        dmi_product: Option<String> = m.text("/sys/class/dmi/id/product_name");
        dmi_firmware_vendor: Option<String> = m.text("/sys/class/dmi/id/bios_vendor");
        /// The hypervisor where the kernel talks to it.
        kind: Option<String> = m.text("/sys/hypervisor/type");
        /// A clock that only one hypervisor offers.
        clock: Option<String> = m.text(CLOCKS).and_then(|clocks| {
            clocks.split_whitespace().find(|clock| hypervisor_of_clock(clock).is_some()).map(str::to_owned)
        });
    }

    Clock {
        current: Option<String> = m.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        available: Option<String> = m.text(CLOCKS);
    }

    Rights {
        effective_uid: Option<u64> =
            m.field("/proc/self/status", "Uid").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok());
        /// Effective capabilities, a bit mask in hexadecimal.
        effective_capabilities: Option<String> = m.field("/proc/self/status", "CapEff");
        /// 2 if a filter may refuse system calls.
        seccomp_mode: Option<u64> = m.field("/proc/self/status", "Seccomp").and_then(|mode| mode.parse().ok());
        /// System calls that this process is refused, among those that filters often refuse; `None` if nobody tried.
        refused_calls: Option<Vec<String>> = None;
        /// True if /proc/sys cannot be written even by root, as in most containers.
        sysctl_read_only: bool = m.text("/proc/self/mountinfo").is_some_and(|mounts| {
            let of_proc = |line: &&str| matches!(line.split_whitespace().nth(4), Some("/proc" | "/proc/sys"));
            mounts.lines().rfind(of_proc).is_some_and(is_read_only)
        });
        /// From 2 on the kernel's own work is not counted for others than root, from 3 on nothing is.
        perf_event_paranoid: Option<i64> = m.number("/proc/sys/kernel/perf_event_paranoid");
        /// Counters of the processor, empty if there are none.
        hardware_counters: Vec<String> = {
            // Hybrid processors have one set of counters per kind of core: `cpu_core` and `cpu_atom`.
            let is_core = |name: &String| name == "cpu" || name.starts_with("cpu_") || name.contains("_pmuv3");
            m.names("/sys/bus/event_source/devices").into_iter().filter(is_core).collect()
        };
        /// Processes that may be traced, by the rules of Yama.
        yama_ptrace_scope: Option<u64> = m.number("/proc/sys/kernel/yama/ptrace_scope");
        /// 0 lets everybody use io_uring, 1 one group and root, 2 nobody.
        io_uring_disabled: Option<u64> = m.number("/proc/sys/kernel/io_uring_disabled");
        /// True if everybody may handle page faults of the kernel.
        unprivileged_userfaultfd: Option<bool> = m.switch("/proc/sys/vm/unprivileged_userfaultfd");
        /// Randomness of addresses, 0 to 2.
        randomize_va_space: Option<u64> = m.number("/proc/sys/kernel/randomize_va_space");
    }

    Limits {
        /// The widest pipe for others than root.
        pipe_max_bytes: Option<u64> = m.number("/proc/sys/fs/pipe-max-size");
        /// Contents of all pipes of one user before new ones are made narrow, in pages.
        pipe_user_pages_soft: Option<u64> = m.number("/proc/sys/fs/pipe-user-pages-soft");
        /// The largest System V segment.
        shmmax_bytes: Option<u64> = m.number("/proc/sys/kernel/shmmax");
        /// All System V segments together, in pages.
        shmall_pages: Option<u64> = m.number("/proc/sys/kernel/shmall");
        shmmni: Option<u64> = m.number("/proc/sys/kernel/shmmni");
        mqueue_messages: Option<u64> = m.number("/proc/sys/fs/mqueue/msg_max");
        mqueue_message_bytes: Option<u64> = m.number("/proc/sys/fs/mqueue/msgsize_max");
        mqueue_queues: Option<u64> = m.number("/proc/sys/fs/mqueue/queues_max");
        max_map_count: Option<u64> = m.number("/proc/sys/vm/max_map_count");
        /// Soft limits of this process that bear on memory, in bytes or `unlimited`.
        process: BTreeMap<String, String> = process_limits(&m.text("/proc/self/limits").unwrap_or_default());
    }
}

/// True for a line of proc_pid_mountinfo(5) whose sixth field, the options of this mount, has `ro`.
pub(super) fn is_read_only(mount: &str) -> bool {
    mount
        .split_whitespace()
        .nth(5)
        .is_some_and(|options| options.split(',').any(|o| o == "ro"))
}

fn process_limits(text: &str) -> BTreeMap<String, String> {
    let wanted = [
        "Max address space",
        "Max data size",
        "Max locked memory",
        "Max msgqueue size",
        "Max stack size",
    ];
    let limit = |name: &&str| {
        let soft = text
            .lines()
            .find_map(|l| l.strip_prefix(*name))?
            .split_whitespace()
            .next()?;
        Some((name.trim_start_matches("Max ").to_owned(), soft.to_owned()))
    };
    wanted.iter().filter_map(limit).collect()
}

impl Hypervisor {
    /// True for a virtual machine; `None` if nothing says so. Processors without the flag are judged by what only
    /// a hypervisor offers, or by the name of the machine.
    pub fn is_virtual(&self) -> Option<bool> {
        if self.flag.is_some() {
            return self.flag;
        }
        if self.kind.is_some() || self.clock.is_some() {
            return Some(true);
        }
        let machine = format!(
            "{} {}",
            self.dmi_vendor.as_deref()?,
            self.dmi_product.as_deref().unwrap_or_default()
        );
        if machine.contains("metal") {
            return Some(false);
        }
        Some(
            ["QEMU", "KVM", "Amazon EC2", "Google", "VMware", "Virtual"]
                .iter()
                .any(|name| machine.contains(name)),
        )
    }

    /// Its name and how that is known, or `none`.
    pub fn name(&self) -> String {
        match self.is_virtual() {
            None => return "unknown".to_owned(),
            Some(false) => return "none".to_owned(),
            Some(true) => {}
        }
        let known = self.kind.clone().or_else(|| {
            self.clock
                .as_deref()
                .and_then(hypervisor_of_clock)
                .map(str::to_owned)
        });
        let part = |fact: &Option<String>| fact.clone().unwrap_or_default();
        let (vendor, product) = (part(&self.dmi_vendor), part(&self.dmi_product));
        // Some products carry their maker's name already.
        let machine = if product.starts_with(&vendor) {
            product
        } else {
            format!("{vendor} {product}")
        };
        match (known, machine.trim()) {
            (Some(known), "") => known,
            (Some(known), machine) => format!("{known} ({machine})"),
            (None, machine) if !machine.is_empty() => machine.to_owned(),
            (None, _) => "a hypervisor without a name".to_owned(),
        }
    }
}

/// The hypervisor that alone offers a clock of this name.
pub fn hypervisor_of_clock(clock: &str) -> Option<&'static str> {
    match clock {
        "kvm-clock" => Some("KVM"),
        "xen" => Some("Xen"),
        "vmware-clock" => Some("VMware"),
        _ => clock.starts_with("hyperv").then_some("Hyper-V"),
    }
}

impl Rights {
    /// True if this process has a capability, by its number in capabilities(7); `None` if they are not known.
    pub fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.effective_capabilities.as_deref()?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }

    /// True if this process can change settings of the kernel.
    pub fn is_root(&self) -> bool {
        self.effective_uid == Some(0)
    }
}
