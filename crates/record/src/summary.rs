//! What came out of a run: the shape of `summary.json` and of `run --json`. The committed JSON Schema describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::outcome::Status;
use stats::ratio::Ratio;
use stats::steady::Label;
use stats::verdict::Verdict;

/// A whole run, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of this shape.
    pub schema: u32,
    /// Name of the run.
    pub run: String,
    /// What matters most of the environment; all of it is in `environment.json`.
    pub environment: BTreeMap<String, String>,
    /// Every cell with its outcome.
    pub cells: Vec<CellSummary>,
    /// Every method against the baseline of its group.
    pub comparisons: Vec<Comparison>,
    /// Methods that cannot be told from the best.
    pub best: Vec<BestSet>,
    /// The baseline against its hidden duplicate: the worst case of the run; absent where there were too few launches.
    pub twin: Option<TwinSummary>,
    /// Whether no twin differs and no cell is untrusted.
    pub trusted: bool,
    /// Doubts, each with a name, where it was seen and what to do.
    pub warnings: Vec<Warning>,
    /// What is to be said about budget and precision.
    pub remarks: Vec<String>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// `fault/touch@c-O3`.
    pub cell: String,
    /// The experiment.
    pub experiment: String,
    /// The method.
    pub method: String,
    /// The worker, `a+b` for two sides.
    pub worker: String,
    /// method, limit, null or published.
    pub role: String,
    /// Ranked only within this group; empty for the ordinary one.
    pub group: String,
    /// Sizes in plain bytes.
    pub parameters: BTreeMap<String, String>,
    /// What became of it.
    pub status: Status,
    /// Why, where it is not `ok`.
    pub reason: String,
    /// Launches judged.
    pub launches: usize,
    /// Whether its launches had settled, by the headline; absent where there is nothing to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadySummary>,
    /// Phases and totals by name.
    pub phases: BTreeMap<String, PhaseSummary>,
    /// Facts: a word, or the smallest and largest number.
    pub proofs: BTreeMap<String, Proof>,
    /// Laws by their text.
    pub laws: BTreeMap<String, LawSummary>,
    /// Round-trip latency, where the method records one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<LatencySummary>,
}

/// How the cost behaved from round to round within launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadySummary {
    /// What most launches were.
    pub label: Label,
    /// Launches by label.
    pub launches: BTreeMap<String, usize>,
    /// Median over launches of last third / first third.
    pub shift: Option<f64>,
}

/// One phase or total of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// Wall time of one sample.
    pub wall_ns: Distribution,
    /// CPU time of one sample.
    pub cpu_ns: Distribution,
    /// The kernel's split of CPU time: user mode, mean per sample.
    pub user_ns: f64,
    /// The kernel's split of CPU time: kernel mode, mean per sample.
    pub system_ns: f64,
    /// Wall time divided by units.
    pub per_unit_ns: Distribution,
    /// Payload over wall time, where the phase has a payload.
    pub bytes_per_second: Option<f64>,
    /// Mean per sample.
    pub minor_faults: f64,
    /// Mean per sample.
    pub major_faults: f64,
    /// Mean per sample.
    pub voluntary_switches: f64,
    /// Mean per sample.
    pub involuntary_switches: f64,
    /// The limit's time per unit divided by this one; 1 is as good as this machine gets.
    pub limit_fraction: Option<f64>,
    /// Whether it is below twice the floor, so that nothing is resolved.
    pub below_floor: bool,
    /// Samples judged.
    pub samples: usize,
}

/// Quantiles over launches with their order-statistic interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Median launch.
    pub median: f64,
    /// Lower limit for the median at 95 %; absent below six launches.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// 90th percentile, where a launch has at least ten samples.
    #[serde(default)]
    pub p90: Option<f64>,
    /// 99th percentile, where a launch has at least a hundred samples.
    pub p99: Option<f64>,
    /// Smallest sample.
    pub min: f64,
}

/// What was recorded under a fact's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Proof {
    /// A number's extremes over all samples.
    Number {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Samples that recorded it.
        samples: u64,
    },
    /// All words seen.
    Words(Vec<String>),
}

/// One law over all samples of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LawSummary {
    /// Samples it applied to.
    pub asked: u64,
    /// Samples that broke it.
    pub broken: u64,
}

/// Quantiles of single round trips over all launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Half of the trips took at most this.
    pub median: f64,
    /// 99 %.
    pub p99: f64,
    /// 99.9 %.
    pub p999: f64,
    /// The longest trip, as its bucket's upper bound.
    pub max: f64,
    /// Trips counted.
    pub trips: u64,
}

/// A method against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The experiment.
    pub experiment: String,
    /// The group's parameters.
    pub parameters: BTreeMap<String, String>,
    /// Phase or total.
    pub phase: String,
    /// The baseline as `method@worker`.
    pub baseline: String,
    /// The method.
    pub method: String,
    /// Its worker.
    pub worker: String,
    /// Its own settings that do not group.
    pub options: BTreeMap<String, String>,
    /// Wall time relative to the baseline; absent below six launches.
    pub ratio: Option<Ratio>,
    /// The same for CPU time.
    pub cpu_ratio: Option<Ratio>,
    /// The same for minor faults.
    pub faults_ratio: Option<Ratio>,
    /// In a word.
    pub verdict: Verdict,
}

/// The methods of one group that cannot be told from the best.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestSet {
    /// The experiment.
    pub experiment: String,
    /// The group's parameters.
    pub parameters: BTreeMap<String, String>,
    /// Phase or total.
    pub phase: String,
    /// Semantic group of the methods; empty for the ordinary one.
    pub group: String,
    /// `method@worker` of each, the leader first.
    pub set: Vec<String>,
    /// Methods that were compared; where all of them are in the set, nothing could be told apart.
    pub compared: usize,
}

/// The baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwinSummary {
    /// Which baseline.
    pub cell: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, String>,
    /// The twin relative to the baseline.
    pub ratio: Ratio,
    /// agrees, coarse or differs.
    pub verdict: stats::verdict::Twin,
}

/// A doubt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Its name.
    pub name: String,
    /// Where it was seen.
    pub cell: String,
    /// What was seen and what to do about it.
    pub advice: String,
}
