//! Methods on two axes: their own time, and a quantile of the latencies of others beside them. Launches are paired on both.

use crate::contrast::estimate::{LEVEL, alone, logs_by_block, of_series};
use crate::contrast::tails::{BUCKET, of_launch};
use crate::contrast::verdicts::sound;
use crate::evidence::pairs::Metric;
use crate::evidence::{CellEvidence, Evidence};
use record::method::Role;
use record::state::State;
use record::summary::{CellSummary, FrontierPoint, GroupSummary, TailQuantile};
use stats::estimate::Ratio;
use stats::leader::simultaneous;

/// Gives each group of an experiment with harm its methods on both axes, the least harm first.
pub(crate) fn compare(
    state: &State,
    evidence: &Evidence,
    cells: &[CellSummary],
    groups: &mut [GroupSummary],
) {
    for group in groups {
        let Some(experiment) = state.plan.experiment(&group.experiment) else {
            continue;
        };
        let headline = experiment.headline();
        let measure = experiment.measures().position(|name| name == headline);
        let (Some(quantile), Some(measure)) = (&experiment.harm, measure) else {
            continue;
        };
        let axes = Axes {
            evidence,
            quantile,
            measure,
            margin: state.plan.margin,
        };
        group.frontier = axes.points(cells, group, headline);
    }
}

/// Both axes of a group.
struct Axes<'a> {
    evidence: &'a Evidence,
    quantile: &'a str,
    measure: usize,
    margin: f64,
}

impl Axes<'_> {
    fn points(
        &self,
        cells: &[CellSummary],
        group: &GroupSummary,
        headline: &str,
    ) -> Vec<FrontierPoint> {
        let mut points: Vec<FrontierPoint> = group
            .cells
            .iter()
            .filter(|&&cell| cells[cell].role == Role::Method)
            .filter_map(|&cell| self.point(&cells[cell], cell, group.floor, headline))
            .collect();
        points.sort_by(|a, b| a.harm_ns.median.total_cmp(&b.harm_ns.median));
        let members: Vec<usize> = points.iter().map(|point| point.cell).collect();
        // Any of the others may be the one that seems to dominate.
        let level = simultaneous(LEVEL, members.len().saturating_sub(1));
        for point in &mut points {
            let baseline = group.baseline.filter(|base| *base != point.cell);
            point.to_baseline = baseline.and_then(|base| self.harm(base, point.cell, level));
            let limit = 1.0 / (1.0 + self.margin.max(BUCKET));
            point.is_gentler = point.to_baseline.is_some_and(|ratio| ratio.high < limit);
            let mut others = members.iter().copied().filter(|cell| *cell != point.cell);
            point.dominated_by = others.find(|&other| self.dominates(other, point.cell, level));
        }
        points
    }

    /// `None` without a sound figure on both axes.
    fn point(
        &self,
        summary: &CellSummary,
        cell: usize,
        floor: Option<usize>,
        headline: &str,
    ) -> Option<FrontierPoint> {
        self.sound(cell)?;
        let time = summary.phases.get(headline)?.wall_ns;
        let harm_ns = *summary
            .latency_ns
            .as_ref()?
            .over_launches
            .get(self.quantile)?;
        Some(FrontierPoint {
            cell,
            time_ns: TailQuantile {
                median: time.median,
                low: time.low,
                high: time.high,
            },
            harm_ns,
            to_alone: floor.and_then(|floor| self.harm(floor, cell, LEVEL)),
            to_baseline: None,
            is_gentler: false,
            dominated_by: None,
        })
    }

    /// Tells whether a method is shown to be better by one axis, and not worse than the margin by the other.
    fn dominates(&self, cell: usize, other: usize, level: f64) -> bool {
        let metric = Metric::wall(self.measure);
        let time = alone(self.evidence, other, cell, metric, level);
        let harm = self.harm(other, cell, level);
        let (Some(time), Some(harm)) = (time, harm) else {
            return false;
        };
        is_dominating(&time, &harm, self.margin)
    }

    /// A cell's harm relative to another's, over launches of the same block.
    fn harm(&self, base: usize, cell: usize, level: f64) -> Option<Ratio> {
        let base = self.by_block(self.sound(base)?);
        let cell = self.by_block(self.sound(cell)?);
        of_series(&logs_by_block(base, cell), level)
    }

    /// Evidence of a cell whose figures may be compared.
    fn sound(&self, cell: usize) -> Option<&CellEvidence> {
        self.evidence.cells.get(&cell).filter(|cell| sound(cell))
    }

    fn by_block<'c>(&'c self, cell: &'c CellEvidence) -> impl Iterator<Item = (i32, f64)> + 'c {
        cell.launches
            .iter()
            .filter_map(|launch| Some((launch.block, *of_launch(launch).get(self.quantile)?)))
    }
}

/// Tells whether ratios of one method to another, by time and by harm, show it to be better by one and as good by the other. A
/// latency is known to a bucket's width.
fn is_dominating(time: &Ratio, harm: &Ratio, margin: f64) -> bool {
    let harm_margin = margin.max(BUCKET);
    let is_better = time.high < 1.0 / (1.0 + margin) || harm.high < 1.0 / (1.0 + harm_margin);
    is_better && time.high <= 1.0 + margin && harm.high <= 1.0 + harm_margin
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ratio known to 1 %.
    fn ratio(ratio: f64) -> Ratio {
        let logs: Vec<f64> = [-0.005, 0.005, -0.002, 0.002, 0.0, 0.001]
            .map(|off: f64| ratio.ln() + off)
            .into();
        of_series(&logs, LEVEL).unwrap()
    }

    #[test]
    fn a_method_dominates_by_one_axis_where_it_does_not_lose_by_the_other() {
        for (time, harm, expected) in [
            (0.5, 0.5, true),
            (0.5, 1.0, true),
            (1.0, 0.5, true),
            (1.0, 1.0, false),
            (0.5, 1.2, false),
            (1.2, 0.1, false),
        ] {
            assert_eq!(
                is_dominating(&ratio(time), &ratio(harm), 0.02),
                expected,
                "time {time}, harm {harm}"
            );
        }
    }
}
