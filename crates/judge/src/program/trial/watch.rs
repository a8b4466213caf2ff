//! Memory for time: the course of each arm, and which arms are beaten by another in both.

use record::command::{
    ArmRole, ArmStatus, ArmSummary, CommandCost, CommandEnd, CommandLaunch, CommandPlan,
    CoursePoint, Measure, WatchSummary, WatchedArm, WatchedLaunch, WatchedMoment,
};
use stats::quantile::median;
use std::collections::BTreeMap;

/// Points of a course at most.
const MOST_POINTS: usize = 60;

/// Memory for time of a watched try; `None` where it was not watched, or has no figures.
pub(super) fn watch(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    arms: &[ArmSummary],
) -> Option<WatchSummary> {
    plan.watch?;
    let baseline = arms.first().filter(|arm| arm.status == ArmStatus::Ok)?;
    let mut costs = costs(launches, 0);
    let is_service = costs.all(|cost| cost.end == CommandEnd::Window);
    let arms = arms.iter().enumerate();
    let measured: Vec<(usize, &ArmSummary)> = arms
        .filter(|(_, arm)| arm.status == ArmStatus::Ok && arm.runs > 0)
        .collect();
    let watched = measured.iter().map(|(index, arm)| WatchedArm {
        name: arm.name.clone(),
        role: arm.role,
        relative: relative(baseline, arm),
        beaten_by: beaten_by(arm, &measured),
        course: course(launches, *index),
    });
    let watch = WatchSummary {
        is_service,
        arms: watched.collect(),
    };
    (!watch.arms.is_empty()).then_some(watch)
}

/// Launches of an arm that count.
fn costs(launches: &[CommandLaunch], arm: usize) -> impl Iterator<Item = &CommandCost> {
    launches
        .iter()
        .filter(move |launch| launch.arm == arm && launch.block >= 0)
        .filter_map(|launch| launch.cost.as_ref())
}

fn relative(baseline: &ArmSummary, arm: &ArmSummary) -> BTreeMap<Measure, f64> {
    let mut relative = BTreeMap::new();
    for (measure, cost) in &arm.measured {
        let base = baseline.measured.get(measure).map(|base| base.median);
        if let Some(base) = base.filter(|base| *base > 0.0) {
            relative.insert(*measure, cost.median / base);
        }
    }
    relative
}

/// The first arm that is shown to take less of the one and is not shown to take more of the other.
fn beaten_by(arm: &ArmSummary, arms: &[(usize, &ArmSummary)]) -> Option<String> {
    let others = arms.iter().map(|(_, other)| *other);
    let mut others = others.filter(|other| other.name != arm.name && other.role != ArmRole::Again);
    let better = others.find(|other| {
        let [cpu, rss] = [Measure::Cpu, Measure::Rss].map(|measure| order(other, arm, measure));
        let (Some(cpu), Some(rss)) = (cpu, rss) else {
            return false;
        };
        cpu.min(rss) == CostOrder::Less && cpu.max(rss) != CostOrder::More
    });
    better.map(|other| other.name.clone())
}

/// Position of an arm's cost relative to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CostOrder {
    Less,
    /// Their intervals meet.
    Alike,
    More,
}

/// `None` where either has no interval. The baseline is what the others are relative to.
fn order(arm: &ArmSummary, other: &ArmSummary, measure: Measure) -> Option<CostOrder> {
    let [bounds, others] = [arm, other].map(|arm| bounds(arm, measure));
    let ((low, high), (other_low, other_high)) = (bounds?, others?);
    Some(if high < other_low {
        CostOrder::Less
    } else if low > other_high {
        CostOrder::More
    } else {
        CostOrder::Alike
    })
}

/// Interval of a cost relative to the baseline's; a verdict that does not hold among all is none.
fn bounds(arm: &ArmSummary, measure: Measure) -> Option<(f64, f64)> {
    let Some(against) = arm.against.get(&measure) else {
        return arm.against.is_empty().then_some((1.0, 1.0));
    };
    let ratio = against.contrast.ratio?;
    // An interval without a difference is drawn to 1.
    Some(if !against.contrast.overall().differs() {
        (ratio.low.min(1.0), ratio.high.max(1.0))
    } else {
        (ratio.low, ratio.high)
    })
}

/// The course of an arm: the median over its launches at each moment that all but the shortest of them reached.
fn course(launches: &[CommandLaunch], arm: usize) -> Vec<CoursePoint> {
    let watched_launches: Vec<&WatchedLaunch> = costs(launches, arm)
        .filter_map(|cost| cost.watched.as_ref())
        .filter(|watched| !watched.moments.is_empty())
        .collect();
    let ends = watched_launches
        .iter()
        .filter_map(|watched| watched.moments.last());
    let end_ms = middle(ends.map(|moment| moment.at_ms as f64)).map_or(0, |end| end as u64);
    let moments = watched_launches
        .iter()
        .map(|watched| watched.moments.len())
        .min();
    let steps = moments.unwrap_or(0).min(MOST_POINTS) as u64;
    let mut course: Vec<CoursePoint> = Vec::new();
    let mut before = (0.0, 0.0);
    for step in 1..=steps {
        let at_ms = end_ms.saturating_mul(step) / steps;
        let at = |quantity: fn(&WatchedMoment) -> u64| {
            middle(
                watched_launches
                    .iter()
                    .filter_map(|watched| watched.at(at_ms, quantity)),
            )
        };
        let (at_s, cpu_s) = (at_ms as f64 * 1e-3, at(|m| m.cpu_us).unwrap_or(0.0) * 1e-6);
        let bytes = |quantity| at(quantity).unwrap_or(0.0) * 1024.0;
        if at_s <= before.0 {
            continue;
        }
        course.push(CoursePoint {
            at_s,
            cpu: (cpu_s - before.1) / (at_s - before.0),
            rss_bytes: bytes(|m| m.rss_kib),
            pss_bytes: bytes(|m| m.pss_kib),
            huge_bytes: bytes(|m| m.huge_kib),
            refaults: at(|m| m.refaults).unwrap_or(0.0),
        });
        before = (at_s, cpu_s);
    }
    course
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    median(&mut values.collect::<Vec<f64>>())
}
