//! A command's time in the kernel by the work done there, as the helper program sampled it.

use super::MemoryEvent;
use serde::{Deserialize, Serialize};

/// Samples of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelWork {
    /// CPU time between two samples of a thread, in nanoseconds.
    pub period_ns: u64,
    /// Samples that were lost.
    pub lost: u64,
    /// True if no stretch of any process is without samples; otherwise the first period of each is.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub whole: bool,
    /// Samples by the work that they met.
    pub parts: Vec<SampledPart>,
}

impl KernelWork {
    /// Samples of all launches in the kernel below which they divide nothing.
    pub const LEAST: u64 = 60;

    /// Samples that met the kernel.
    pub fn seen(&self) -> u64 {
        let samples = self.parts.iter().map(|part| part.samples);
        samples.fold(0, u64::saturating_add)
    }
}

/// Samples that met the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledPart {
    /// Kind of work; a base page's fault of any kind is [`MemoryEvent::Unknown`].
    pub event: MemoryEvent,
    /// The system call that entered the kernel; empty where a fault or an interrupt did.
    pub call: String,
    /// Number of samples.
    pub samples: u64,
}
