//! The kernel, what is below it, its clock, and what it lets this process do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// Its release: /proc/sys/kernel/osrelease.
    pub release: Option<String>,
    /// Its build, with its preemption model: /proc/sys/kernel/version.
    pub version: Option<String>,
    /// Its architecture: /proc/sys/kernel/arch.
    pub architecture: Option<String>,
    /// Its own parameters: /proc/cmdline up to ` -- `. What follows is for init, does not change the kernel, and may be
    /// nobody's business in a published run.
    pub command_line: Option<String>,
    /// The distribution: `PRETTY_NAME` in /etc/os-release.
    pub distribution: Option<String>,
}

/// What is below the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hypervisor {
    /// Whether the processor says that it is a virtual one: flag `hypervisor` in /proc/cpuinfo; `None` where there are
    /// no such flags.
    pub flag: Option<bool>,
    /// Who made the machine: /sys/class/dmi/id/sys_vendor.
    pub dmi_vendor: Option<String>,
    /// What it is called: /sys/class/dmi/id/product_name.
    pub dmi_product: Option<String>,
    /// Who made its firmware: /sys/class/dmi/id/bios_vendor.
    pub dmi_firmware_vendor: Option<String>,
    /// The hypervisor where the kernel talks to it: /sys/hypervisor/type.
    pub kind: Option<String>,
    /// A clock that only one hypervisor offers, among
    /// /sys/devices/system/clocksource/clocksource0/available_clocksource.
    pub clock: Option<String>,
}

/// The clock that all times come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// The one in use: /sys/devices/system/clocksource/clocksource0/current_clocksource.
    pub current: Option<String>,
    /// All there are: /sys/devices/system/clocksource/clocksource0/available_clocksource.
    pub available: Option<String>,
}

/// What this process may do and see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rights {
    /// Its effective user: second column of `Uid` in /proc/self/status.
    pub effective_uid: Option<u64>,
    /// Its effective capabilities, a bit mask in hexadecimal: `CapEff` in /proc/self/status.
    pub effective_capabilities: Option<String>,
    /// 2 if a filter may refuse system calls: `Seccomp` in /proc/self/status.
    pub seccomp_mode: Option<u64>,
    /// Whether /proc/sys cannot be written even by root, as in most containers: its mount in /proc/self/mountinfo.
    pub sysctl_read_only: bool,
    /// From 2 on the kernel's own work is not counted for others than root, from 3 on nothing is:
    /// /proc/sys/kernel/perf_event_paranoid.
    pub perf_event_paranoid: Option<i64>,
    /// The processor's own counters, empty if there are none: /sys/bus/event_source/devices/cpu* and Arm's pmuv3.
    pub hardware_counters: Vec<String>,
    /// Which processes may be traced: /proc/sys/kernel/yama/ptrace_scope.
    pub yama_ptrace_scope: Option<u64>,
    /// 0 lets everybody use io_uring, 1 one group and root, 2 nobody: /proc/sys/kernel/io_uring_disabled.
    pub io_uring_disabled: Option<u64>,
    /// Whether everybody may handle page faults of the kernel: /proc/sys/vm/unprivileged_userfaultfd.
    pub unprivileged_userfaultfd: Option<bool>,
    /// How far addresses are random: /proc/sys/kernel/randomize_va_space.
    pub randomize_va_space: Option<u64>,
}

/// How much of each thing this process may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The widest pipe for others than root: /proc/sys/fs/pipe-max-size.
    pub pipe_max_bytes: Option<u64>,
    /// What all pipes of one user hold before new ones are made narrow, in pages:
    /// /proc/sys/fs/pipe-user-pages-soft.
    pub pipe_user_pages_soft: Option<u64>,
    /// The largest System V segment: /proc/sys/kernel/shmmax.
    pub shmmax_bytes: Option<u64>,
    /// All System V segments together, in pages: /proc/sys/kernel/shmall.
    pub shmall_pages: Option<u64>,
    /// How many System V segments: /proc/sys/kernel/shmmni.
    pub shmmni: Option<u64>,
    /// How many messages a POSIX queue holds: /proc/sys/fs/mqueue/msg_max.
    pub mqueue_messages: Option<u64>,
    /// How long one of them is: /proc/sys/fs/mqueue/msgsize_max.
    pub mqueue_message_bytes: Option<u64>,
    /// How many POSIX queues: /proc/sys/fs/mqueue/queues_max.
    pub mqueue_queues: Option<u64>,
    /// Mappings per process: /proc/sys/vm/max_map_count.
    pub max_map_count: Option<u64>,
    /// The soft limits of this process that bear on memory, in bytes or `unlimited`: /proc/self/limits.
    pub process: BTreeMap<String, String>,
}

impl Hypervisor {
    /// Whether this is a virtual machine; `None` if nothing tells. Processors without the flag are judged by what only
    /// a hypervisor offers, or by the name of the machine.
    pub fn is_virtual(&self) -> Option<bool> {
        if self.flag.is_some() {
            return self.flag;
        }
        if self.kind.is_some() || self.clock.is_some() {
            return Some(true);
        }
        let machine = format!("{} {}", self.dmi_vendor.as_deref()?, self.dmi_product.as_deref().unwrap_or_default());
        if machine.contains("metal") {
            return Some(false);
        }
        Some(["QEMU", "KVM", "Amazon EC2", "Google", "VMware", "Virtual"].iter().any(|name| machine.contains(name)))
    }

    /// Its name and how that is known, or `none`.
    pub fn name(&self) -> String {
        match self.is_virtual() {
            None => return "unknown".to_owned(),
            Some(false) => return "none".to_owned(),
            Some(true) => {}
        }
        let known =
            self.kind.clone().or_else(|| self.clock.as_deref().and_then(hypervisor_of_clock).map(str::to_owned));
        let part = |fact: &Option<String>| fact.clone().unwrap_or_default();
        let (vendor, product) = (part(&self.dmi_vendor), part(&self.dmi_product));
        // Some products carry their maker's name already.
        let machine = if product.starts_with(&vendor) { product } else { format!("{vendor} {product}") };
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

impl Clock {
    /// Whether the clock is a plain counter of the processor; `None` if the clock is not known.
    pub fn is_counter(&self) -> Option<bool> {
        self.current
            .as_deref()
            .map(|clock| matches!(clock, "tsc" | "arch_sys_counter" | "timebase" | "riscv_clocksource"))
    }

    /// Whether the clock is a counter that the hypervisor scales through a page it shares with the kernel.
    pub fn is_shared_page(&self) -> Option<bool> {
        self.current.as_deref().map(|clock| matches!(clock, "kvm-clock" | "xen" | "hyperv_clocksource_tsc_page"))
    }
}

impl Rights {
    /// Whether this process has a capability, by its number in capabilities(7); `None` if they are not known.
    pub fn has_capability(&self, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(self.effective_capabilities.as_deref()?, 16).ok()?;
        Some(mask >> number & 1 == 1)
    }

    /// Whether settings of the kernel can be changed by this process.
    pub fn is_root(&self) -> bool {
        self.effective_uid == Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_bare_metal_in_a_cloud_is_not_virtual() {
        let machine = |flag, product: &str| Hypervisor {
            flag,
            dmi_vendor: Some("Amazon EC2".to_owned()),
            dmi_product: Some(product.to_owned()),
            ..Hypervisor::default()
        };
        assert_eq!(machine(Some(false), "m5.metal").is_virtual(), Some(false));
        assert_eq!(machine(None, "m6g.metal").is_virtual(), Some(false));
        assert_eq!(machine(None, "m6g.large").name(), "Amazon EC2 m6g.large");
        assert_eq!(Hypervisor::default().is_virtual(), None);
    }

    #[test]
    fn capabilities_are_bits() {
        let rights = Rights { effective_capabilities: Some("0000000000200000".to_owned()), ..Rights::default() };
        assert_eq!(rights.has_capability(21), Some(true));
        assert_eq!(rights.has_capability(38), Some(false));
        assert_eq!(Rights::default().has_capability(21), None);
    }
}
