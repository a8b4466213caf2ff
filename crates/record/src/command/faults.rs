//! Page faults of a command by kind, as the helper program counted them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Page faults of one run, over all processes and threads; `heap` to `elsewhere` are those in user mode, each in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// True if faults in kernel mode, inside system calls, have addresses too.
    pub in_kernel_seen: bool,
    /// Faults by the kernel's own count.
    pub counted: u64,
    pub samples: u64,
    /// Records that were lost, because they came faster than they were read.
    pub lost: u64,
    /// First writes to the heap.
    pub heap: u64,
    /// First writes to other memory without a file.
    pub anonymous: u64,
    /// First writes to stacks of first threads.
    pub stack: u64,
    /// First writes to memory shared without a file.
    pub shared: u64,
    /// Writes to pages that were given back after an earlier touch.
    pub again: u64,
    /// Number of these that were likely malloc's.
    pub again_malloc: u64,
    /// Of all first writes and those again, how many were likely malloc's.
    pub malloc_writes: u64,
    /// Reads of fresh memory, which get the zero page.
    pub zero_read: u64,
    /// Writes after them.
    pub zero_write: u64,
    /// Writes to pages that a fork had shared.
    pub cow: u64,
    pub file: u64,
    /// Writes to private copies of files' pages.
    pub file_write: u64,
    /// Faults that gave a huge page.
    pub huge: u64,
    /// Faults in mappings that the kernel did not tell of: moved ones (mremap), for the most part.
    pub elsewhere: u64,
    /// Faults in kernel mode, where they are seen.
    pub in_calls: u64,
    /// Blocks of 2 MiB of malloc's memory that would be huge if malloc asked for huge pages.
    pub malloc_blocks: u64,
    pub malloc_faults: u64,
    pub other_blocks: u64,
    pub other_faults: u64,
    pub processes: u64,
    /// Faults of which it is not known whether they read or wrote; they are taken for writes.
    pub unknown_direction: u64,
    /// True if a Java virtual machine was among the processes.
    pub java: bool,
    /// Calls that change mappings, by name, and bytes that they gave back and moved; none where they were not seen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, u64>,
}
