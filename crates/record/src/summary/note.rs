//! Notes on a run: kinds with their figures. `crates/report` makes the sentences.

use crate::{kind::Kind, outcome::Cause, parameters::Parameters};
use serde::{Deserialize, Serialize};

/// Note on a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Note {
    /// Kind with its figures.
    #[serde(flatten)]
    pub kind: NoteKind,
    /// The experiment it concerns; empty for the run.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub experiment: String,
}

/// The end of an experiment's launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EndedExperiment {
    /// Launches of its least launched comparison set.
    pub launches: usize,
    /// The condition of that set: parameters in which the experiment's sets differ.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub fewest: Parameters,
    /// Its least precise ranked ratio, if any could be measured.
    pub widest: Option<LeastPrecise>,
}

/// A ratio of two methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeastPrecise {
    /// Name of the method.
    pub method: String,
    /// Name of the baseline.
    pub base: String,
    /// Its condition: parameters in which the experiment's comparisons differ.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub condition: Parameters,
    /// Half of the interval's width, as a share.
    pub half_width: f64,
    /// The half-width requested.
    pub target: f64,
}

/// Kind of a note, by which programs know it, with its figures.
#[derive(
    Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case", tag = "code")]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
#[strum(serialize_all = "kebab-case")]
pub enum NoteKind {
    /// A signal or a kill ended it; `pagewise KIND --resume RUN` completes it.
    Interrupted {
        #[schemars(with = "String")]
        kind: Kind,
        run: String,
    },
    /// Its default values need so many seconds.
    ShortBudget { needed_s: f64 },
    /// Variables that the workers did not have.
    EnvironmentCleared { names: Vec<String> },
    /// Every ranked ratio is as narrow as requested.
    PrecisionReached(EndedExperiment),
    /// Every ranked ratio has its word, in a run that ends on words.
    WordsSettled(EndedExperiment),
    /// The budget ended first.
    BudgetEnded(EndedExperiment),
    /// No launch is left that may make a ratio narrower.
    LaunchesEnded(EndedExperiment),
    /// Claims ended: undecided comparisons that more launches should decide, and those near an edge.
    QuestionsEnded {
        likely: usize,
        near_edge: usize,
        launches: usize,
    },
    /// A try ended at an interim analysis, before it was as precise as this.
    SettledEarly { precision: f64 },
    /// A part of the record is not as it was written.
    Damaged { seen: String },
    /// The output of a command was not compared.
    OutputDiscarded,
    /// The unchanged command does not write the same each time.
    OutputVaries,
    /// These commands write something else than the first.
    OutputsDiffer { arms: Vec<String> },
    /// Bytes that stayed in the page cache although they were to leave it.
    NotEvicted { bytes: u64 },
    /// The kernel's rules for transparent huge pages meanwhile.
    ThpChanged { rules: Vec<String> },
    /// Processes that the command starts.
    ManyProcesses { processes: u64 },
    /// Fewer blocks than an interval needs.
    TooFew { least: usize },
    /// A profile ended before that: the kernel has this share of CPU time at most.
    LittleKernel { share: f64 },
    /// Single page faults were not followed, for this reason.
    FaultsUnseen { reason: String },
    /// Kinds of page faults were not requested.
    TotalsOnly,
    /// Call stacks are missing for this reason.
    NoStacks { reason: String },
    /// Of so many page faults of a running process one was recorded.
    FaultsSampled { period: u64 },
    /// Each run was ended after so many seconds.
    Windows { window_s: f64 },
    /// The process that was followed ended after these windows, and so many seconds of them.
    ProcessEnded { windows: usize, followed_s: f64 },
    /// Processes with another user's rights.
    Setuid { processes: u64 },
    /// It ended in another way under ptrace.
    NotWatched,
    /// The kernel's time could not be sampled, for this reason.
    KernelUnseen { reason: String },
    /// Page faults of a followed launch and of others: kinds are those of the followed one.
    UnlikeFollowed { followed: f64, plain: f64 },
    /// Records of page faults that were lost: kinds are not known.
    KindsLost { records: u64 },
    /// Pages never touched of blocks that malloc gave back, so that `keep` is not proposed.
    SparseBlocks { pages: f64 },
    /// Base pages touched of each that would be huge, so that `thp` is not proposed.
    SparseHuge { pages: f64 },
    /// Major page faults of a launch, which have no price.
    MajorFaults { faults: f64 },
    /// Bytes of output that Pagewise read.
    MuchOutput { bytes: u64 },
    /// Prices are missing for this reason.
    NoPrice { cause: Cause },
}

impl NoteKind {
    /// Code of the kind, as JSON has it.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

impl From<NoteKind> for Note {
    fn from(kind: NoteKind) -> Note {
        Note {
            kind,
            experiment: String::new(),
        }
    }
}
