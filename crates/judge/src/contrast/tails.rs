//! Tails of single operations: quantiles of each launch, intervals over launches, and ratios of p99.9 within launches. Stalls
//! of one launch come together, so operations of a launch are no independent samples; launches are.

use crate::contrast::estimate::{LEVEL, logs_by_block, of_series};
use crate::contrast::verdicts::{hold_among_all, trusted};

use crate::evidence::{CellEvidence, CellLaunch, Evidence};
use record::state::State;
use record::summary::{
    CellSummary, Contrast, GroupSummary, IdleLatency, LatencySummary, Ratio, TailQuantile,
    TailRatio,
};
use stats::{absolute::absolute, interval::CONFIDENCE};
use std::collections::BTreeMap;

/// Operations of a launch from which it has a p99.9: below 3,688 no order statistic bounds it from above.
const LEAST_OPS: u64 = 3_688;
/// Name of the quantile that is compared.
pub(crate) const P999: &str = "p99.9";
pub(crate) const P99: &str = "p99";
const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), (P99, 0.99), (P999, 0.999)];
/// Width of a bucket as a share (workers/c/harness/latency.c): finer differences are not resolved.
pub(crate) const BUCKET: f64 = 1.0 / 32.0;
/// A p99.9 up to this multiple of the idle loop's is the machine's.
const IDLE_FACTOR: f64 = 2.0;

/// Operations beyond this, in nanoseconds, are stalls (workers/c/methods/tail/tail.h).
const STALL_NS: u64 = 20_000;

type Counts = BTreeMap<u64, u64>;

fn add(counts: &mut Counts, buckets: &BTreeMap<(u64, u64), u64>) {
    for ((_, high), count) in buckets {
        let sum = counts.entry(*high).or_insert(0);
        *sum = sum.saturating_add(*count);
    }
}

fn total(counts: &Counts) -> u64 {
    counts
        .values()
        .fold(0, |sum: u64, count| sum.saturating_add(*count))
}

/// The least cost up to which this share of operations came, as the end of its bucket.
fn at(counts: &Counts, share: f64) -> Option<f64> {
    let mut left = (share * total(counts) as f64).ceil() as u64;
    for (high, count) in counts {
        left = left.saturating_sub(*count);
        if left == 0 {
            return Some(*high as f64);
        }
    }
    None
}

/// Quantiles of one launch by name; none where it recorded too few operations.
pub(crate) fn of_launch(launch: &CellLaunch) -> BTreeMap<String, f64> {
    let mut counts = Counts::new();
    add(&mut counts, &launch.latencies);
    let named = QUANTILES.iter().filter(|_| total(&counts) >= LEAST_OPS);
    named
        .filter_map(|(name, share)| Some(((*name).to_owned(), at(&counts, *share)?)))
        .collect()
}

/// Quantiles over all operations, and over launches where each has enough of them.
pub(crate) fn latency(launches: &[CellLaunch]) -> Option<LatencySummary> {
    let mut counts = Counts::new();
    for launch in launches {
        add(&mut counts, &launch.latencies);
    }
    let trips = Some(total(&counts)).filter(|trips| *trips > 0)?;
    let tails: Vec<BTreeMap<String, f64>> = launches.iter().map(of_launch).collect();
    let mut over_launches = BTreeMap::new();
    for (name, _) in QUANTILES {
        let values: Vec<f64> = tails
            .iter()
            .filter_map(|tail| tail.get(name).copied())
            .collect();
        if let Some(quantile) = self::over_launches(&values) {
            over_launches.insert(name.to_owned(), quantile);
        }
    }
    let [median, p99, p999, max] = [0.5, 0.99, 0.999, 1.0].map(|share| at(&counts, share));
    let stalled_ns: f64 = nanoseconds(counts.range(STALL_NS + 1..));
    let stalled_share = stalled_ns / nanoseconds(counts.iter());
    Some(LatencySummary {
        median: median?,
        p99: p99?,
        p999: p999?,
        max: max?,
        trips,
        histogram: if over_launches.is_empty() {
            Vec::new()
        } else {
            counts.into_iter().collect()
        },
        stalled_share: (!over_launches.is_empty()).then_some(stalled_share),
        over_launches,
        p999_ratio: None,
        idle: idle(launches),
    })
}

/// The tail of the same operations before the work.
fn idle(launches: &[CellLaunch]) -> Option<IdleLatency> {
    let mut counts = Counts::new();
    for launch in launches {
        add(&mut counts, &launch.idle);
    }
    let [median, p99, max] = [0.5, 0.99, 1.0].map(|share| at(&counts, share));
    Some(IdleLatency {
        median: median?,
        p99: p99?,
        max: max?,
        trips: total(&counts),
    })
}

/// The time of operations by the ends of their buckets.
fn nanoseconds<'a>(buckets: impl Iterator<Item = (&'a u64, &'a u64)>) -> f64 {
    buckets.fold(0.0, |sum, (high, count)| sum + *high as f64 * *count as f64)
}

fn over_launches(values: &[f64]) -> Option<TailQuantile> {
    let mut launches: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
    let median = absolute(&mut launches, CONFIDENCE).ok()?.median;
    let interval = median.interval;
    Some(TailQuantile {
        median: median.estimate,
        low: interval.map(|i| i.low),
        high: interval.map(|i| i.high),
    })
}

/// Gives each cell with a tail the ratio of its p99.9 to that of its group's baseline, over launches of the same block.
pub(crate) fn compare(
    state: &State,
    evidence: &Evidence,
    cells: &mut [CellSummary],
    groups: &[GroupSummary],
) {
    let margin = state.plan.margin.max(BUCKET);
    for group in groups {
        let Some(base) = group.baseline.and_then(|cell| trusted(evidence, cell)) else {
            continue;
        };
        let idle = group.floor.and_then(|cell| trusted(evidence, cell));
        for &cell in group
            .cells
            .iter()
            .filter(|cell| Some(**cell) != group.baseline)
        {
            let Some(cell_evidence) = trusted(evidence, cell) else {
                continue;
            };
            let Some(latency) = &mut cells[cell].latency_ns else {
                continue;
            };
            latency.p999_ratio = ratio(base, cell_evidence).map(|ratio| TailRatio {
                contrast: Contrast::alone(Some(ratio), margin),
                machine: idle
                    .and_then(|idle| self::ratio(idle, cell_evidence))
                    .is_some_and(|to_idle| to_idle.ratio <= IDLE_FACTOR),
            });
        }
    }
    hold_among_all(
        cells
            .iter_mut()
            .filter_map(|cell| cell.latency_ns.as_mut()?.p999_ratio.as_mut())
            .map(|ratio| &mut ratio.contrast),
        margin,
    );
}

fn ratio(base: &CellEvidence, cell: &CellEvidence) -> Option<Ratio> {
    of_series(&logs(base, cell), LEVEL)
}

fn logs(base: &CellEvidence, cell: &CellEvidence) -> Vec<f64> {
    logs_by_block(p999_by_block(base), p999_by_block(cell))
}

fn p999_by_block(cell: &CellEvidence) -> impl Iterator<Item = (i32, f64)> {
    cell.launches
        .iter()
        .filter_map(|launch| Some((launch.block, *of_launch(launch).get(P999)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch of so many operations at 100 ns, and these stalls.
    fn launch(block: i32, ops: u64, stalls: &[(u64, u64)]) -> CellLaunch {
        let latencies = std::iter::once((100, ops))
            .chain(stalls.iter().copied())
            .map(|(ns, count)| ((ns, ns), count));
        CellLaunch {
            launch: block as usize + 1,
            block,
            measures: Vec::new(),
            rounds: vec![0],
            latencies: latencies.collect(),
            idle: BTreeMap::new(),
            interrupted: 0.0,
            noise: None,
            wall_s: 1.0,
            laboratory_cpu_s: 0.0,
        }
    }

    #[test]
    fn each_launch_has_its_own_quantiles() {
        let launches: Vec<CellLaunch> = (0..6)
            .map(|block| launch(block, 9_980, &[(50_000 + 100 * block as u64, 20)]))
            .collect();
        let latency = latency(&launches).expect("a tail");
        assert_eq!(
            (latency.median, latency.max, latency.trips),
            (100.0, 50_500.0, 60_000)
        );
        let tail = latency.over_launches["p99.9"];
        assert_eq!((tail.low, tail.high), (Some(50_000.0), Some(50_500.0)));
        assert_eq!(latency.over_launches["p50"].median, 100.0);
    }

    #[test]
    fn the_idle_tail_is_its_own() {
        let mut beside = launch(0, 9_000, &[(50_000, 1_000)]);
        assert_eq!(latency(std::slice::from_ref(&beside)).unwrap().idle, None);
        beside.idle = BTreeMap::from([((4_000, 4_000), 395), ((7_000, 7_000), 5)]);
        let latency = latency(&[beside.clone(), beside]).expect("a tail");
        let idle = latency.idle.expect("an idle tail");
        assert_eq!((idle.median, idle.p99, idle.trips), (4_000.0, 7_000.0, 800));
        assert_eq!((latency.usual_p99(), latency.max), (50_000.0, 50_000.0));
    }

    #[test]
    fn a_launch_of_few_operations_has_no_p999() {
        let few = latency(&[launch(0, 3_000, &[(9_000, 1)])]).expect("a latency");
        assert_eq!((few.over_launches.len(), few.max), (0, 9_000.0));
    }

    #[test]
    fn the_worst_operation_does_not_move_the_ratio() {
        let calm: Vec<CellLaunch> = (0..6)
            .map(|block| launch(block, 9_980, &[(1_000, 20)]))
            .collect();
        let one_stall: Vec<CellLaunch> = (0..6)
            .map(|block| launch(block, 9_980, &[(1_000, 19), (500_000_000, 1)]))
            .collect();
        let [calm, one_stall] = [calm, one_stall].map(|launches| CellEvidence {
            launches,
            ..CellEvidence::default()
        });
        assert!(logs(&calm, &one_stall).iter().all(|log| *log == 0.0));
    }
}
