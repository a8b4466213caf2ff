//! Page faults of a command by kind, as the helper program counted them.

use super::MemoryEvent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Page faults of one run, over all processes and threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Faults {
    /// True if faults in kernel mode, inside system calls, have addresses too.
    pub in_kernel_seen: bool,
    /// Faults by the kernel's own count.
    pub counted: u64,
    /// Faults that were recorded.
    pub samples: u64,
    /// Faults of which one was recorded, where not each was; the counts of kinds are scaled to all.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub period: u64,
    /// Records that were lost, because they came faster than they were read.
    pub lost: u64,
    /// Faults in user mode, each of one kind, and those in kernel mode where they are seen.
    #[serde(flatten)]
    pub kinds: BTreeMap<MemoryEvent, u64>,
    /// Faults that malloc would spare if it kept memory: those again that were likely its own, and first ones in what it had
    /// given back.
    pub again_malloc: u64,
    /// Huge pages that malloc would spare likewise.
    pub again_huge: u64,
    /// Huge pages above one that was touched before them: those of memory that is written from its start on, and used whole.
    pub huge_in_order: u64,
    /// Of all first writes and those again, how many were likely malloc's.
    pub malloc_writes: u64,
    /// Blocks of 2 MiB of malloc's memory that would be huge if malloc asked for huge pages.
    pub malloc_blocks: u64,
    /// Faults of those blocks.
    pub malloc_faults: u64,
    /// Blocks of 2 MiB of other memory that would be huge.
    pub other_blocks: u64,
    /// Faults of those other blocks.
    pub other_faults: u64,
    /// Processes whose faults were recorded.
    pub processes: u64,
    /// Threads that these started, beside the first of each.
    pub threads: u64,
    /// Faults of which it is not known whether they read or wrote; they are taken for writes.
    pub unknown_direction: u64,
    /// True if a Java virtual machine was among the processes.
    pub java: bool,
    /// Pages never touched of blocks that malloc gave back. If malloc kept these blocks, calloc would clear them whole.
    pub unused_pages: u64,
    /// Calls that change mappings, by name, and bytes that they gave back and moved; none where they were not seen.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub calls: BTreeMap<String, u64>,
}
