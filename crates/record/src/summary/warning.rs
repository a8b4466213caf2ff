//! Warnings of a run: kinds with their figures. `crates/report` makes the sentences.

use crate::{machine::preflight::Busy, machine_state::LostProof};
use serde::{Deserialize, Serialize};
use stats::steady::Label;

/// Something that was seen and may disturb. It flags; it never corrects a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Warning {
    /// Kind with its figures.
    #[serde(flatten)]
    pub kind: WarningKind,
    /// Place: a cell's name, or the machine's part.
    pub at: String,
    /// The cells it concerns, as indices into the summary's.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub cells: Vec<usize>,
}

/// Affected launches among all launches of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaunchCount {
    /// Launches concerned.
    pub launches: usize,
    /// Launches of the cell.
    pub all: usize,
}

/// Kind of a warning, by which programs know it, with its figures. Shares are 0 to 1.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
    strum::EnumDiscriminants,
)]
#[serde(rename_all = "kebab-case", tag = "code")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
#[strum(serialize_all = "kebab-case")]
#[strum_discriminants(
    name(WarningCode),
    doc = "Code of a warning, without its figures.",
    derive(PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr),
    serde(rename_all = "kebab-case"),
    strum(serialize_all = "kebab-case"),
    allow(missing_docs, reason = "each is a kind of `WarningKind`")
)]
pub enum WarningKind {
    /// A part of the record is not as it was written.
    Damaged { seen: String },
    /// This launch was being written down when the run was killed.
    LastLaunchLost { launch: usize },
    /// Another run was measuring on this machine at the same time.
    AnotherRun,
    /// The baseline differs from its hidden duplicate: the interval of their ratio.
    AaDiffers { low: f64, high: f64 },
    /// A lower bound takes longer than this cell.
    BestPossibleBeaten { by: String },
    /// The phase takes less than twice the floor.
    BelowFloor { phase: String },
    /// Share of its rounds that were switched out.
    Interrupted { share: f64 },
    /// Share of the CPU time of its launches that the hypervisor gave to others.
    Steal { share: f64 },
    /// Share of the time of its launches in which a CPU quota kept it waiting.
    Throttled { share: f64 },
    /// The kernel reclaimed memory for whoever allocated.
    Reclaim(LaunchCount),
    /// Others used a block device while this cell used one.
    ForeignIo(LaunchCount),
    /// A huge page was wanted and not to be had.
    ThpFallback(LaunchCount),
    /// Something waited for memory.
    MemoryPressure(LaunchCount),
    /// The cost moved within most launches; last third relative to first third.
    Unsteady { label: Label, shift: Option<f64> },
    /// The machine lost the state in some launches of all.
    StateLost {
        #[serde(flatten)]
        count: LaunchCount,
        proof: LostProof,
    },
    /// Samples off the expected level, and the first of them.
    Level {
        broken: u64,
        samples: u64,
        first: String,
    },
    /// Nanoseconds of the first pass and of a later one.
    FirstPass { first_ns: f64, later_ns: f64 },
    /// Share of a busy process's time that was taken before the run, and the longest gap.
    CpuTaken { share: f64, longest_ns: u64 },
    /// Cost of one clock read.
    SlowClock { read_ns: f64 },
    /// CPUs that other processes used before the run, and the busiest of them.
    BusyProcesses { cpus: f64, busiest: Vec<Busy> },
    /// Memory threads of the kernel that ran before the run.
    MemoryThreads { busiest: Vec<Busy> },
    /// The reason why a counter is absent.
    CounterAbsent { reason: String },
}

impl WarningKind {
    /// Tells whether a reader can do something about it.
    pub fn is_mendable(&self) -> bool {
        !matches!(
            self,
            WarningKind::Unsteady { .. }
                | WarningKind::Level { .. }
                | WarningKind::FirstPass { .. }
                | WarningKind::MemoryThreads { .. }
                | WarningKind::CounterAbsent { .. }
        )
    }

    /// Tells whether something else took CPUs, memory or devices from launches.
    pub fn is_disturbance(&self) -> bool {
        matches!(
            self,
            WarningKind::AnotherRun
                | WarningKind::Interrupted { .. }
                | WarningKind::Steal { .. }
                | WarningKind::Throttled { .. }
                | WarningKind::Reclaim(_)
                | WarningKind::ForeignIo(_)
                | WarningKind::MemoryPressure(_)
                | WarningKind::CpuTaken { .. }
                | WarningKind::BusyProcesses { .. }
                | WarningKind::MemoryThreads { .. }
        )
    }

    /// Number by which warnings of one kind are compared; the worse has the larger one.
    pub fn severity(&self) -> f64 {
        match self {
            WarningKind::Interrupted { share }
            | WarningKind::Steal { share }
            | WarningKind::Throttled { share }
            | WarningKind::CpuTaken { share, .. } => *share,
            WarningKind::Reclaim(count)
            | WarningKind::ForeignIo(count)
            | WarningKind::ThpFallback(count)
            | WarningKind::MemoryPressure(count)
            | WarningKind::StateLost { count, .. } => {
                count.launches as f64 / count.all.max(1) as f64
            }
            _ => 0.0,
        }
    }

    /// Code of the kind, as JSON has it.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}
