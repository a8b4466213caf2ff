//! Cost of one launch of a command, as the helper program prints it.

use super::{Faults, KernelWork, WatchedLaunch};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// End of a run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CommandEnd {
    /// By itself; the code is its exit status.
    Exit,
    /// By a signal; the code is its number.
    Signal,
    /// Ended by Pagewise at the time limit.
    TimeLimit,
    /// Ended by Pagewise because the user stopped the study.
    Stopped,
    /// Ended by Pagewise because its window was over.
    Window,
    /// It could not be started; the code is the error's number.
    #[default]
    NotStarted,
}

/// Cost of one run, over all processes and threads of the command that were waited for.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandCost {
    /// End of the first process.
    pub end: CommandEnd,
    /// Exit status, signal or error number.
    pub code: i32,
    /// From before the start to the end of the first process, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time in user mode, in microseconds.
    pub user_us: u64,
    /// CPU time in the kernel, in microseconds. The two together are exact; ticks or samples (`split`) divide them.
    pub system_us: u64,
    /// The most resident memory of any one process, in KiB.
    pub max_rss_kib: u64,
    /// Page faults without input or output.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Context switches in which a process waited.
    pub voluntary_switches: u64,
    /// Switches because its time was over.
    pub involuntary_switches: u64,
    /// Bytes written to standard output.
    pub output_bytes: u64,
    /// 64-bit hash of the standard output, 16 hexadecimal digits.
    pub output_hash: String,
    /// Bytes written to standard error.
    pub error_bytes: u64,
    /// Processes that still ran when the command had ended, and were ended.
    pub left: u64,
    /// Bytes of files that stayed in the page cache although they were to leave it.
    pub not_evicted: u64,
    /// Bytes that its processes read by calls, from files, pipes and all else.
    #[serde(default)]
    pub read_bytes: u64,
    /// Bytes that its processes wrote by calls, to files, pipes and all else.
    #[serde(default)]
    pub write_bytes: u64,
    /// Number of system calls that read.
    #[serde(default)]
    pub read_calls: u64,
    /// Number of system calls that write.
    #[serde(default)]
    pub write_calls: u64,
    /// Pages of the page cache that its writes made dirty: new ones, and old ones that were clean.
    #[serde(default)]
    pub dirtied_pages: u64,
    /// Bytes that came from a device for its reads and page faults.
    #[serde(default)]
    pub fetched_bytes: u64,
    /// Its page faults by kind, where they were followed.
    pub faults: Option<Faults>,
    /// Why they could not be followed although this was asked.
    pub faults_unseen: Option<String>,
    /// Why their callers could not be followed although this was asked.
    pub stacks_unseen: Option<String>,
    /// Samples of its time in the kernel, where it was sampled.
    pub kernel_work: Option<KernelWork>,
    /// Why its time in the kernel could not be sampled although this was asked.
    pub kernel_unseen: Option<String>,
    /// The samples that divide its CPU time, where that was asked for; where there are none, the kernel's ticks did.
    pub split: Option<Split>,
    /// Its memory and time while it ran, where they were watched.
    pub watched: Option<WatchedLaunch>,
    /// True if the process that is followed ended in this window, or before it: then the window has no length.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub process_ended: bool,
    /// CPU time of the helper program itself while it followed a process that runs already, in microseconds.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub observer_us: u64,
    /// Observation of its processes, if they were observed.
    pub proof: Option<ObservedEffects>,
}

impl CommandCost {
    /// CPU time, in seconds.
    pub fn cpu_s(&self) -> f64 {
        (self.user_us as f64 + self.system_us as f64) * 1e-6
    }

    /// True if stacks were saved where they were asked for.
    pub fn has_stacks(&self) -> bool {
        (self.faults.is_some() || self.kernel_work.is_some()) && self.stacks_unseen.is_none()
    }

    /// CPU time in the kernel, in seconds.
    pub fn kernel_s(&self) -> f64 {
        self.system_us as f64 * 1e-6
    }
}

/// Samples of a command's CPU time by a clock of perf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// CPU time between two samples of a thread, in microseconds.
    pub period_us: u64,
    /// Samples in user mode.
    pub user: u64,
    /// Samples in the kernel; none where it may not be looked into, and then the rest of the CPU time is the kernel's.
    pub kernel: u64,
    /// True if the kernel may be sampled.
    pub in_kernel_seen: bool,
    /// Samples that were lost: where there are any, the ticks divide.
    pub lost: u64,
    /// Processes and threads that it began. The first stretch of each has no sample, so with many the ticks divide.
    pub started: u64,
}

/// Facts in `/proc` about a command's processes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ObservedEffects {
    /// True if every process was looked at just before its end; otherwise the first was looked at from time to time.
    pub traced: bool,
    /// Processes that were looked at when they ended.
    pub processes: u64,
    /// The most memory in transparent huge pages that one process had, in bytes.
    pub huge_bytes: u64,
    /// Processes for which transparent huge pages were off.
    pub thp_disabled: u64,
    /// Resident memory of the process that ended with the most, in bytes.
    pub end_rss_bytes: u64,
    /// Anonymous part of `end_rss_bytes`, in bytes.
    pub end_anonymous_bytes: u64,
    /// Part in transparent huge pages.
    pub end_huge_bytes: u64,
    /// Processes whose program is to run with the rights of its owner.
    pub setuid: u64,
    /// The library of another malloc than the C library's, where one was mapped: `libjemalloc`, `libmimalloc`, `libtcmalloc`.
    pub allocator: String,
    /// The processors that the first process kept to.
    pub cpus: String,
    /// Processes that had the preloaded library mapped; one number, or none where nothing was preloaded.
    pub mapped: Vec<u64>,
    /// Processes in whose environment each variable stood, in the order of their names.
    pub expected: Vec<u64>,
    /// Names of the files of code that were mapped, and `[go]` for a program of Go.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub modules: Vec<String>,
    /// The most memory of one process that was merged with equal pages, in bytes.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub merged_bytes: u64,
    /// Bytes on which the kernel took advice.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub advised_bytes: u64,
    /// The last error of giving advice, by its number.
    pub advice_error: Option<i32>,
}
