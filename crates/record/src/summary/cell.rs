//! One cell's figures, and its launches as they are written down: a column a value instead of a row a launch.

use super::{contrast::Contrast, group::Levels, tail::TailQuantile};
use crate::{method::Role, outcome::Outcome, parameters::Parameters};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_with::skip_serializing_none;
use stats::estimate::Ratio;
use stats::steady::Label;
use std::collections::{BTreeMap, BTreeSet};

/// One cell.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellSummary {
    /// `fault/touch@c-O3`.
    pub cell: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Values by key; sizes in bytes.
    pub method: String,
    /// The worker, `a+b` for two sides.
    pub worker: String,
    /// Part of the method in its group.
    pub role: Role,
    /// Ranked only within this group; empty for the ordinary one.
    pub group: String,
    /// Sizes in plain bytes.
    pub parameters: Parameters,
    /// The hidden duplicate of the baseline, which is shown nowhere but takes part in the A/A check.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub hidden: bool,
    /// Status with its cause.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Number of launches.
    pub launches: usize,
    /// Launch results, in order: the raw material of every interval.
    #[serde(serialize_with = "serialize", deserialize_with = "deserialize")]
    #[schemars(with = "LaunchColumns")]
    pub per_launch: Vec<LaunchValues>,
    /// Bytes that the cell's work touches, where its method says so, and how that compares with the last-level cache.
    pub footprint: Option<Footprint>,
    /// True if its launches had settled, by the headline; absent where there is nothing to judge.
    pub steady: Option<SteadySummary>,
    /// Costs by phase or total.
    pub phases: BTreeMap<String, PhaseSummary>,
    /// Counts of single passes by phase and name, such as `calls` and `allocations`, where launches were counted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub counts: BTreeMap<String, BTreeMap<String, CountSummary>>,
    /// Facts: a word, or the smallest and largest number.
    pub proofs: BTreeMap<String, FactProof>,
    /// Results of its laws, by the law's text.
    pub laws: BTreeMap<String, LawSummary>,
    /// Round-trip latency, where the method records one.
    pub latency_ns: Option<LatencySummary>,
}

impl CellSummary {
    /// Tells whether it is ranked with the usual choice of its experiment.
    pub fn is_ranked(&self) -> bool {
        self.role == Role::Method && self.group.is_empty()
    }
}

/// Course of the cost over rounds within launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SteadySummary {
    /// Label of most launches.
    pub label: Label,
    /// Number of launches by label.
    pub launches: BTreeMap<String, usize>,
    /// Median over launches of last third / first third.
    pub shift: Option<f64>,
}

/// One phase or total of one cell.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PhaseSummary {
    /// Wall time of a sample, in nanoseconds.
    pub wall_ns: Distribution,
    /// CPU time of a sample over all threads and sides, in nanoseconds.
    pub cpu_ns: Distribution,
    /// The kernel's split of CPU time: user mode, mean per sample.
    pub user_ns: f64,
    /// The kernel's split of CPU time: kernel mode, mean per sample.
    pub system_ns: f64,
    /// Wall time divided by units.
    pub per_unit_ns: Distribution,
    /// Payload over wall time, where the phase has a payload.
    #[serialize_always]
    pub bytes_per_second: Option<f64>,
    /// Mean per sample.
    pub minor_faults: f64,
    /// Mean per sample.
    pub major_faults: f64,
    /// Mean per sample.
    pub voluntary_switches: f64,
    /// Mean per sample.
    pub involuntary_switches: f64,
    /// The lower bound's time divided by this one, with its interval; 1 is as good as this machine gets.
    pub of_best_possible: Option<Ratio>,
    /// Two levels of its launches' wall times, in nanoseconds, if it has them.
    pub levels: Option<Levels>,
    /// True if it is below twice the floor, so that nothing is resolved.
    pub below_floor: bool,
    /// Number of samples.
    pub samples: usize,
}

/// A count over all counted passes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct CountSummary {
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Passes counted.
    pub passes: usize,
}

impl CountSummary {
    /// Adds one sample's count.
    pub fn add(&mut self, count: u64) {
        let is_first = self.passes == 0;
        (self.min, self.max) = if is_first {
            (count, count)
        } else {
            (self.min.min(count), self.max.max(count))
        };
        self.passes += 1;
    }

    /// Its scatter: the tolerance learnt from repeats.
    pub fn spread(&self) -> u64 {
        self.max - self.min
    }
}

/// Quantiles over launches with their order-statistic interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Distribution {
    /// Median over launches of their medians.
    pub median: f64,
    /// Mean over launches of their means.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub mean: Option<f64>,
    /// Lower limit for the median at 95 %; absent below six launches.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// 90th percentile, where a launch has at least ten samples.
    #[serde(default)]
    pub p90: Option<f64>,
    /// 99th percentile, where a launch has at least a hundred samples.
    pub p99: Option<f64>,
    /// The smallest sample of any launch.
    pub min: f64,
}

impl Distribution {
    /// Every value by the same rule, such as a division by units.
    pub fn map(&self, rule: impl Fn(f64) -> f64) -> Distribution {
        let Distribution {
            median,
            mean,
            low,
            high,
            p90,
            p99,
            min,
        } = *self;
        let [mean, low, high, p90, p99] = [mean, low, high, p90, p99].map(|value| value.map(&rule));
        Distribution {
            median: rule(median),
            mean,
            low,
            high,
            p90,
            p99,
            min: rule(min),
        }
    }
}

/// Value recorded under a fact's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the variant's sentence names its fields")]
pub enum FactProof {
    /// A number's extremes over all samples.
    Number { min: u64, max: u64, samples: u64 },
    /// Values that are no numbers.
    Words(Vec<String>),
}

/// One law over all samples of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LawSummary {
    /// Number of samples.
    #[serde(rename = "asked")]
    pub samples: u64,
    /// Number of samples that break it.
    pub broken: u64,
}

/// Quantiles of single round trips over all launches.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LatencySummary {
    /// Half of the trips took at most this.
    pub median: f64,
    /// 99 % of the trips took at most this.
    pub p99: f64,
    /// 99.9 % of the trips took at most this.
    pub p999: f64,
    /// The longest trip, as its bucket's upper bound.
    pub max: f64,
    /// Number of timed operations.
    pub trips: u64,
    /// Quantiles over launches by name: `p50`, `p99`, `p99.9`. None where launches have too few trips for a p99.9.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub over_launches: BTreeMap<String, TailQuantile>,
    /// Upper bound of each bucket in nanoseconds, and its trips, over all launches; where there is a p99.9.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub histogram: Vec<(u64, u64)>,
    /// Share of the operations' time that went into those beyond 20 µs; where there is a p99.9.
    pub stalled_share: Option<f64>,
    /// The p99.9 relative to the baseline's, within launches.
    pub p999_ratio: Option<TailRatio>,
    /// Quantiles of the same operations before the work, where they are a neighbor's; over all launches.
    pub idle: Option<IdleLatency>,
}

impl LatencySummary {
    /// The p99 of the median launch, or of all operations where launches have too few for it.
    pub fn usual_p99(&self) -> f64 {
        let over_launches = self.over_launches.get("p99");
        over_launches.map_or(self.p99, |quantile| quantile.median)
    }
}

/// Quantiles of single operations while nothing else of the cell ran, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IdleLatency {
    /// Half of the operations took at most this.
    pub median: f64,
    /// 99 % of the operations took at most this.
    pub p99: f64,
    /// The longest operation, as its bucket's upper bound.
    pub max: f64,
    /// Number of timed operations.
    pub trips: u64,
}

/// The p99.9 of a cell relative to that of its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TailRatio {
    /// Ratio over launches; the margin is at least the width of a bucket.
    #[serde(flatten)]
    pub contrast: Contrast,
    /// True if the p99.9 is within twice that of an idle loop of the same launches: the tail is the machine's.
    pub machine: bool,
}

/// Result of one launch of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchValues {
    /// Number of the launch.
    pub launch: usize,
    /// Replicate; cells of the same block are paired.
    pub block: i32,
    /// Measured rounds.
    pub rounds: usize,
    /// Median wall time over its rounds, in nanoseconds, by phase or total.
    pub wall_ns: BTreeMap<String, f64>,
    /// Median CPU time over its rounds, in nanoseconds, by phase or total.
    pub cpu_ns: BTreeMap<String, f64>,
    /// Quantiles of its single trips in nanoseconds, where it recorded enough of them: `p50`, `p99`, `p99.9`.
    pub tail_ns: BTreeMap<String, f64>,
}

/// Working set of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Footprint {
    /// Working set in bytes.
    pub bytes: u64,
    /// That size beside the cache's.
    pub against_cache: CacheFit,
}

/// Size of a working set relative to the last-level cache in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum CacheFit {
    /// At most half of the smallest size that the cache may have.
    #[serde(rename = "in cache")]
    InCache,
    /// Between the two.
    #[serde(rename = "around")]
    Around,
    /// At least four times the largest size that the cache may have.
    #[serde(rename = "in memory")]
    InMemory,
    /// The size of the cache is not known.
    #[serde(rename = "unknown")]
    Unknown,
}

// Launches of a cell as they are written down: a column a value instead of a row a launch, whose names would take most of the
// room.

/// Entry i of every column is of the same launch.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(super) struct LaunchColumns {
    launch: Vec<usize>,
    block: Vec<i32>,
    rounds: Vec<usize>,
    /// Median wall time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    wall_ns: BTreeMap<String, Vec<Option<f64>>>,
    /// Median CPU time over a launch's rounds, in nanoseconds, by phase or total; null where a launch has none.
    cpu_ns: BTreeMap<String, Vec<Option<f64>>>,
    /// Quantiles of a launch's single trips, in nanoseconds; left out where none were recorded.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    tail_ns: BTreeMap<String, Vec<Option<f64>>>,
}

type Values = fn(&LaunchValues) -> &BTreeMap<String, f64>;

fn columns(launches: &[LaunchValues], values: Values) -> BTreeMap<String, Vec<Option<f64>>> {
    let names: BTreeSet<&String> = launches
        .iter()
        .flat_map(|launch| values(launch).keys())
        .collect();
    let column = |name: &String| {
        launches
            .iter()
            .map(|launch| values(launch).get(name).copied())
            .collect()
    };
    names
        .into_iter()
        .map(|name| (name.clone(), column(name)))
        .collect()
}

fn row(columns: &BTreeMap<String, Vec<Option<f64>>>, number: usize) -> BTreeMap<String, f64> {
    columns
        .iter()
        .filter_map(|(name, column)| Some((name.clone(), column[number]?)))
        .collect()
}

/// For serde: the launches as columns.
pub fn serialize<S: Serializer>(
    launches: &[LaunchValues],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let columns = LaunchColumns {
        launch: launches.iter().map(|l| l.launch).collect(),
        block: launches.iter().map(|l| l.block).collect(),
        rounds: launches.iter().map(|l| l.rounds).collect(),
        wall_ns: columns(launches, |l| &l.wall_ns),
        cpu_ns: columns(launches, |l| &l.cpu_ns),
        tail_ns: columns(launches, |l| &l.tail_ns),
    };
    columns.serialize(serializer)
}

/// For serde: the launches from columns, which must be of one length.
pub fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<LaunchValues>, D::Error> {
    let LaunchColumns {
        launch,
        block,
        rounds,
        wall_ns,
        cpu_ns,
        tail_ns,
    } = LaunchColumns::deserialize(deserializer)?;
    let lengths = [block.len(), rounds.len()].into_iter();
    if lengths
        .chain(
            wall_ns
                .values()
                .chain(cpu_ns.values())
                .chain(tail_ns.values())
                .map(Vec::len),
        )
        .any(|length| length != launch.len())
    {
        return Err(D::Error::custom("columns of launches differ in length"));
    }
    let values = |number: usize| LaunchValues {
        launch: launch[number],
        block: block[number],
        rounds: rounds[number],
        wall_ns: row(&wall_ns, number),
        cpu_ns: row(&cpu_ns, number),
        tail_ns: row(&tail_ns, number),
    };
    Ok((0..launch.len()).map(values).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Cell {
        #[serde(with = "super")]
        per_launch: Vec<LaunchValues>,
    }

    fn cell() -> Cell {
        let values = |pairs: &[(&str, f64)]| {
            pairs
                .iter()
                .map(|(name, ns)| ((*name).to_owned(), *ns))
                .collect()
        };
        let launch = |launch, wall: &[(&str, f64)]| LaunchValues {
            launch,
            block: launch as i32 - 1,
            rounds: 3,
            wall_ns: values(wall),
            cpu_ns: values(&[("read", 7.0)]),
            tail_ns: BTreeMap::new(),
        };
        Cell {
            per_launch: vec![
                launch(2, &[("open", 1.5), ("read", 8.0)]),
                launch(5, &[("read", 9.25)]),
            ],
        }
    }

    #[test]
    fn launches_come_back_from_columns() {
        let text = serde_json::to_string(&cell()).unwrap();
        let expected = "{\"per_launch\":{\"launch\":[2,5],\"block\":[1,4],\"rounds\":[3,3],\
        \"wall_ns\":{\"open\":[1.5,null],\"read\":[8.0,9.25]},\"cpu_ns\":{\"read\":[7.0,7.0]}}}";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell());
        assert!(
            serde_json::from_str::<Cell>(&text.replace("[1,4]", "[1]")).is_err(),
            "a column is short"
        );
    }
}
