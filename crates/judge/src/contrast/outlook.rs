//! The outlook of open answers: seconds of further launches after which they are expected to be settled.

use crate::evidence::Evidence;
use record::experiment::Experiment;
use record::state::State;
use record::summary::{CellSummary, Comparison, GroupSummary, Ratio, Recommendation, Verdict};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// Standard errors of a 95 % interval of many launches on one side.
const ERRORS: f64 = 1.96;
/// Factor by which a verdict that holds among all comparisons of a run needs a narrower interval than one by itself: some
/// fifty of them are asked, which takes 3.3 standard errors.
const AMONG_ALL: f64 = 1.7;
/// Share of the margin to which an interval is narrowed at most: nearer to an edge of the margin no time is known.
const NARROWEST: f64 = 0.5;

/// Gives each open answer of an ordinary group the seconds of further launches that it is expected to need.
pub(crate) fn forecast(
    state: &State,
    evidence: &Evidence,
    cells: &[CellSummary],
    groups: &mut [GroupSummary],
) {
    for group in groups {
        let is_open = matches!(group.recommendation, Recommendation::Inconclusive { .. });
        if !is_open || !group.faster.is_empty() {
            continue;
        }
        let Some(experiment) = state.plan.experiment(&group.experiment) else {
            continue;
        };
        let needed = launches_needed(experiment, cells, group, state.plan.margin);
        let spent = spent(evidence, group);
        group.further_s = needed.zip(spent).map(|(needed, (launches, seconds))| {
            let launches = launches as f64;
            (needed - launches).max(1.0) * seconds / launches
        });
    }
}

/// Launches of a group's baseline, and the seconds of all launches of the group.
fn spent(evidence: &Evidence, group: &GroupSummary) -> Option<(usize, f64)> {
    let baseline = evidence.cells.get(&group.baseline?)?.launches.len();
    let launches = group
        .cells
        .iter()
        .filter_map(|cell| evidence.cells.get(cell));
    let by_launch: BTreeMap<usize, f64> = launches
        .flat_map(|cell| &cell.launches)
        .map(|launch| (launch.launch, launch.wall_s))
        .collect();
    (baseline > 0).then(|| (baseline, by_launch.values().sum()))
}

/// Launches after which a group is expected to be settled: as soon as one of the methods that seem faster is shown to be, or
/// once none of the others can be any more.
fn launches_needed(
    experiment: &Experiment,
    cells: &[CellSummary],
    group: &GroupSummary,
    margin: f64,
) -> Option<f64> {
    let edge = margin.ln_1p();
    let headlines = group.comparisons.iter().filter(|c| {
        c.phase == experiment.headline()
            && cells[c.cell].is_ranked()
            && group.cells.contains(&c.cell)
    });
    let is_open = |c: &&Comparison| c.contrast.overall() == Verdict::NotSettled;
    let open: Vec<&Comparison> = headlines.filter(is_open).collect();
    let (seem_faster, others): (Vec<&Comparison>, Vec<&Comparison>) = open
        .into_iter()
        .partition(|c| c.contrast.ratio.is_some_and(|ratio| ratio.log() < -edge));
    if !seem_faster.is_empty() {
        let needed = seem_faster.iter().filter_map(|c| shown_faster(c, edge));
        return needed.reduce(f64::min);
    }
    let may_be_faster = others.into_iter().filter(|c| c.may_be_faster(margin));
    let needed: Option<Vec<f64>> = may_be_faster.map(|c| shown_no_faster(c, edge)).collect();
    needed?.into_iter().reduce(f64::max)
}

/// Launches until a method that seems faster is shown to be; none where no number of them is known to help.
fn shown_faster(comparison: &Comparison, edge: f64) -> Option<f64> {
    let ratio = comparison
        .contrast
        .ratio
        .filter(|_| is_settled_by_time(comparison))?;
    let distance = (-ratio.log() - edge).max(NARROWEST * edge) / AMONG_ALL;
    Some(to_width(&ratio, distance))
}

/// Launches until a method that does not seem faster cannot be.
fn shown_no_faster(comparison: &Comparison, edge: f64) -> Option<f64> {
    let Some(ratio) = comparison.contrast.ratio else {
        return Some(LEAST_LAUNCHES as f64);
    };
    let distance = (ratio.log() + edge).max(NARROWEST * edge);
    is_settled_by_time(comparison).then(|| to_width(&ratio, distance))
}

/// Launches with which the half-width of a ratio's logarithm is expected to be this: its square falls with their number.
fn to_width(ratio: &Ratio, width: f64) -> f64 {
    let now = if ratio.error > 0.0 {
        ERRORS * ratio.error
    } else {
        (ratio.high / ratio.low).ln() / 2.0
    };
    let launches = ratio.launches as f64 * (now / width).powi(2);
    launches.max(LEAST_LAUNCHES as f64)
}

/// Tells whether time may settle a comparison: it makes neither two levels one nor a noisy machine quiet.
fn is_settled_by_time(comparison: &Comparison) -> bool {
    comparison.doubt.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::summary::{Contrast, Doubt, Levels};

    const EDGE: f64 = 0.0198;

    /// A method at this ratio, known to `error`.
    fn compared(ratio: f64, error: f64, doubt: Option<Doubt>) -> Comparison {
        let ratio = Ratio::of_log(ratio.ln(), error, 9.0, 10, 0.95).unwrap();
        Comparison {
            cell: 0,
            phase: "copy".to_owned(),
            contrast: Contrast::alone(Some(ratio), 0.02),
            cpu_ratio: None,
            faults_ratio: None,
            doubt,
        }
    }

    #[test]
    fn an_interval_of_half_the_width_takes_four_times_the_launches() {
        let ratio = compared(1.0, 0.1, None).contrast.ratio.unwrap();
        let launches = to_width(&ratio, ERRORS * 0.05);
        assert!((launches - 40.0).abs() < 1e-6, "{launches}");
        assert_eq!(to_width(&ratio, 10.0), LEAST_LAUNCHES as f64);
    }

    #[test]
    fn what_is_far_from_the_edge_needs_few_launches_and_what_is_near_it_many() {
        let [far, near] = [0.7, 0.95].map(|ratio| shown_faster(&compared(ratio, 0.1, None), EDGE));
        assert!(
            far.unwrap() < 20.0 && near.unwrap() > 100.0,
            "{far:?} {near:?}"
        );
        let [slower, same] =
            [1.2, 0.99].map(|ratio| shown_no_faster(&compared(ratio, 0.1, None), EDGE));
        assert!(slower.unwrap() < same.unwrap(), "{slower:?} {same:?}");
        // On the edge no number is right; it is bounded.
        let edge = shown_no_faster(&compared(0.9804, 0.1, None), EDGE).unwrap();
        assert!((3000.0..5000.0).contains(&edge), "{edge}");
    }

    #[test]
    fn no_time_is_promised_for_noise_and_for_two_levels() {
        let weak = Doubt::WeakCheck { half_width: 0.4 };
        assert_eq!(shown_faster(&compared(0.7, 0.01, Some(weak)), EDGE), None);
        assert_eq!(
            shown_no_faster(&compared(1.2, 0.01, Some(weak)), EDGE),
            None
        );
        let levels = Doubt::TwoLevels(Levels {
            low: 0.2,
            high: 0.9,
            share: 0.5,
        });
        assert_eq!(shown_faster(&compared(0.7, 0.1, Some(levels)), EDGE), None);
    }
}
