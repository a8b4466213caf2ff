//! Verdicts: each method of a group against its baseline, by the margin asked for and nothing else.

use crate::contrast::estimate::{LEVEL, against, level_at_any_moment, logs_of};
use crate::contrast::groups::Group;
use crate::evidence::flags::{distrust, stolen};
use crate::evidence::pairs::{Metric, PairedCost};
use crate::evidence::{CellEvidence, Evidence};
use record::summary::{AaCheck, Comparison, Contrast, Doubt, Levels, Verdict};
use record::{method::Role, outcome::Cause, state::State};
use stats::anytime::spoken;
use stats::verdicts::{Region, verdicts};
use stats::{estimate::Ratio, steady::two_levels};
use std::collections::BTreeMap;

/// The ratios of cells to the baseline by one measure.
#[derive(Default)]
pub(crate) struct MeasureRatios {
    pub wall: BTreeMap<usize, Ratio>,
    pub cpu: BTreeMap<usize, Ratio>,
    pub faults: BTreeMap<usize, Ratio>,
}

impl MeasureRatios {
    fn new(
        state: &State,
        evidence: &Evidence,
        group: &Group,
        base: usize,
        measure: usize,
    ) -> MeasureRatios {
        let [wall, cpu, faults] = [PairedCost::Wall, PairedCost::Cpu, PairedCost::Faults]
            .map(|cost| against(state, evidence, group, base, Metric { measure, cost }));
        MeasureRatios { wall, cpu, faults }
    }

    pub fn ratios_mut(&mut self) -> impl Iterator<Item = &mut Ratio> {
        [&mut self.wall, &mut self.cpu, &mut self.faults]
            .into_iter()
            .flat_map(BTreeMap::values_mut)
    }
}

/// The ratios of a group's cells to its baseline.
pub(crate) struct Judged<'a> {
    pub group: &'a Group<'a>,
    /// Cells whose content differs from what the others came to.
    pub disagreeing: &'a BTreeMap<usize, Cause>,
    /// One entry for each measure; the hidden duplicate is among the cells.
    pub measures: Vec<MeasureRatios>,
    /// Factor by which the run's calibration has widened all of them.
    pub widened: f64,
}

impl<'a> Judged<'a> {
    pub fn new(
        state: &State,
        evidence: &Evidence,
        group: &'a Group<'a>,
        disagreeing: &'a BTreeMap<usize, Cause>,
    ) -> Judged<'a> {
        let measures = 0..group.experiment.measures().count();
        Judged {
            group,
            disagreeing,
            measures: measures
                .map(|measure| match group.baseline {
                    Some(base) => MeasureRatios::new(state, evidence, group, base, measure),
                    None => MeasureRatios::default(),
                })
                .collect(),
            widened: 1.0,
        }
    }

    /// The hidden duplicate against the baseline, by the headline.
    pub fn twin(&self) -> Option<&Ratio> {
        self.wall(self.group.headline_measure()?, self.group.twin?)
    }

    pub fn wall(&self, measure: usize, cell: usize) -> Option<&Ratio> {
        self.measures.get(measure)?.wall.get(&cell)
    }

    /// Evidence of a cell, if its figures may be compared.
    pub fn sound<'e>(&self, evidence: &'e Evidence, cell: usize) -> Option<&'e CellEvidence> {
        evidence
            .cells
            .get(&cell)
            .filter(|evidence| !self.disagreeing.contains_key(&cell) && sound(evidence))
    }

    pub fn walls_mut(&mut self) -> impl Iterator<Item = &mut Ratio> {
        self.measures
            .iter_mut()
            .flat_map(|ratios| ratios.wall.values_mut())
    }
}

/// A comparison, and whether it is one of those that a run is made for: a method's headline.
pub(crate) struct CellComparison {
    pub comparison: Comparison,
    first: bool,
}

/// Tells whether a cell's figures may be compared with others'.
pub(crate) fn sound(evidence: &CellEvidence) -> bool {
    evidence.checks.outcome().is_none() && distrust(evidence).is_none()
}

/// Evidence of a cell that was not disturbed too much to be trusted.
pub(crate) fn trusted(evidence: &Evidence, cell: usize) -> Option<&CellEvidence> {
    evidence
        .cells
        .get(&cell)
        .filter(|cell| distrust(cell).is_none())
}

/// Comparisons of a group's cells with its baseline. `aa` is the check of the group's own duplicate.
pub(crate) fn compare(
    state: &State,
    evidence: &Evidence,
    judged: &Judged,
    aa: Option<&AaCheck>,
) -> Vec<CellComparison> {
    let group = judged.group;
    let Some((baseline, base)) = group
        .baseline
        .and_then(|b| Some((b, evidence.cells.get(&b)?)))
    else {
        return Vec::new();
    };
    let unbelieved = MeasureRatios::default();
    let mut comparisons = Vec::new();
    for &cell in group.cells.iter().filter(|c| **c != baseline) {
        let Some(cell_evidence) = evidence.cells.get(&cell) else {
            continue;
        };
        // Time that others took falls on both sides of a ratio; whether evenly, the group's own duplicate tells.
        let is_stolen_unevenly = aa.is_some_and(|aa| aa.differs)
            && (stolen(cell_evidence).is_some() || stolen(base).is_some());
        let believable = [cell, baseline]
            .iter()
            .all(|&c| judged.sound(evidence, c).is_some())
            && !is_stolen_unevenly;
        for (measure, phase) in group.experiment.measures().enumerate() {
            if !has_times(base, measure) || !has_times(cell_evidence, measure) {
                continue;
            }
            let ratios = if believable {
                &judged.measures[measure]
            } else {
                &unbelieved
            };
            let is_headline = phase == group.experiment.headline();
            let ratio = ratios.wall.get(&cell).copied();
            let mut contrast = Contrast::alone(ratio, state.plan.margin);
            let doubt = ratio.filter(|_| is_headline).and_then(|ratio| {
                let points = evidence.points(baseline, cell, Metric::wall(measure))?;
                doubt(&ratio, contrast.verdict, &logs_of(&points), aa)
            });
            if doubt.is_some() {
                contrast.verdict = Verdict::NotSettled;
            }
            let role = state.cells[cell].method.role;
            comparisons.push(CellComparison {
                comparison: Comparison {
                    cell,
                    phase: phase.to_owned(),
                    contrast,
                    // Nobody asked whether these moved.
                    cpu_ratio: ratios.cpu.get(&cell).map(Ratio::undrifted),
                    faults_ratio: ratios.faults.get(&cell).map(Ratio::undrifted),
                    doubt,
                },
                first: is_headline && matches!(role, Role::Method | Role::Published),
            });
        }
    }
    comparisons
}

fn has_times(evidence: &CellEvidence, measure: usize) -> bool {
    evidence
        .launches
        .iter()
        .any(|launch| !launch.measures[measure].wall_ns.is_empty())
}

/// The reason to withhold a verdict: two levels have no one ratio, and an effect within a weak A/A check may be a bias.
fn doubt(ratio: &Ratio, verdict: Verdict, logs: &[f64], aa: Option<&AaCheck>) -> Option<Doubt> {
    if let Some(levels) = two_levels(logs) {
        return Some(Doubt::TwoLevels(Levels {
            low: levels.low.exp(),
            high: levels.high.exp(),
            share: levels.share,
        }));
    }
    let half_width = aa.filter(|aa| aa.weak)?.ratio.half_width();
    let beyond = Verdict::from_interval(ratio.low, ratio.high, half_width).differs();
    (verdict != Verdict::NotSettled && !beyond).then_some(Doubt::WeakCheck { half_width })
}

/// Marks the verdicts of a run that hold: headlines among each other, every other among all of the run. `cells` are the groups
/// whose comparisons these are, in their order.
pub(crate) fn adjust(state: &State, cells: &[Group], groups: &mut [Vec<CellComparison>]) {
    let margin = state.plan.margin;
    if state.plan.ends_on_words {
        for experiment in &state.plan.experiments {
            let compared = cells.iter().zip(groups.iter_mut());
            let mut compared: Vec<&mut CellComparison> = compared
                .filter(|(group, _)| group.experiment.name == experiment.name)
                .flat_map(|(_, compared)| compared)
                .collect();
            for first in [false, true] {
                let contrasts = compared
                    .iter_mut()
                    .filter(|compared| compared.first || !first)
                    .map(|compared| &mut compared.comparison.contrast);
                hold_at_any_moment(contrasts, margin, level_at_any_moment(state));
            }
        }
        return;
    }
    for first in [false, true] {
        hold_among_all(
            groups
                .iter_mut()
                .flatten()
                .filter(|compared| compared.first || !first)
                .map(|compared| &mut compared.comparison.contrast),
            margin,
        );
    }
}

/// Marks which verdicts of contrasts that were asked together hold among all of them (Holm 1979).
pub(crate) fn hold_among_all<'a>(contrasts: impl Iterator<Item = &'a mut Contrast>, margin: f64) {
    let (contrasts, ratios): (Vec<&mut Contrast>, Vec<(Ratio, f64)>) = contrasts
        .filter_map(|contrast| {
            let ratio = contrast.ratio?;
            Some((contrast, (ratio, margin)))
        })
        .unzip();
    for (contrast, word) in contrasts.into_iter().zip(verdicts(&ratios, LEVEL)) {
        contrast.holds_among_all = holds(contrast.verdict, word.verdict);
    }
}

/// Marks which verdicts of contrasts hold among all of them whatever ended the launches.
fn hold_at_any_moment<'a>(
    contrasts: impl Iterator<Item = &'a mut Contrast>,
    margin: f64,
    level: f64,
) {
    let (contrasts, ratios): (Vec<&mut Contrast>, Vec<(Ratio, f64)>) = contrasts
        .filter_map(|contrast| {
            let ratio = contrast.ratio?;
            Some((contrast, (ratio, margin)))
        })
        .unzip();
    for (contrast, word) in contrasts.into_iter().zip(spoken(&ratios, level)) {
        contrast.holds_among_all = holds(contrast.verdict, word);
    }
}

/// Tells whether what an interval says is what may be said among all.
fn holds(alone: Verdict, among_all: Region) -> bool {
    match alone {
        Verdict::Faster { .. } => among_all == Region::Faster,
        Verdict::Slower { .. } => among_all == Region::Slower,
        Verdict::Within { .. } => among_all == Region::Equivalent,
        Verdict::NotSettled => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast::estimate::of_series;

    fn ratio_of(logs: &[f64]) -> Ratio {
        of_series(logs, 0.95).unwrap()
    }

    fn check(half_width: f64) -> AaCheck {
        let (low, high) = (1.0 / (1.0 + half_width), 1.0 + half_width);
        let ratio = Ratio {
            ratio: 1.0,
            low,
            high,
            level: 0.95,
            launches: 10,
            error: half_width.ln_1p() / 2.26,
            freedom: 9.0,
            drift: None,
        };
        AaCheck {
            cell: 0,
            ratio,
            z: 0.0,
            p: 1.0,
            differs: false,
            weak: half_width > 0.1,
        }
    }

    fn doubted(logs: &[f64], half_width: f64) -> Option<Doubt> {
        let estimate = ratio_of(logs);
        doubt(
            &estimate,
            Verdict::from_interval(estimate.low, estimate.high, 0.02),
            logs,
            Some(&check(half_width)),
        )
    }

    /// Logarithms of launches that scatter by 2 % about a ratio.
    fn around(ratio: f64) -> [f64; 8] {
        [-0.02, 0.02, -0.01, 0.01, 0.0, 0.015, -0.015, 0.005].map(|off| ratio.ln() + off)
    }

    #[test]
    fn a_weak_check_takes_the_verdicts_that_it_could_explain_by_a_bias() {
        // ±54 % excludes nothing of 30 % less time, or of the same time; a tenth of the time is beyond it.
        assert!(
            matches!(doubted(&around(0.7), 0.54), Some(Doubt::WeakCheck { half_width }) if half_width > 0.5)
        );
        assert!(matches!(
            doubted(&around(1.0), 0.54),
            Some(Doubt::WeakCheck { .. })
        ));
        assert_eq!(doubted(&around(0.1), 0.54), None);
        assert_eq!(doubted(&around(0.7), 0.05), None);
    }

    #[test]
    fn launches_on_two_levels_have_no_verdict() {
        // vmsplice / memcpy as published at 256 MiB, in a run of all of transfer.
        let logs = [
            0.97f64, 0.95, 0.24, 0.99, 0.23, 0.96, 0.22, 0.98, 0.23, 0.94,
        ]
        .map(f64::ln);
        let Some(Doubt::TwoLevels(levels)) = doubted(&logs, 0.02) else {
            panic!()
        };
        assert!(
            (levels.low - 0.23).abs() < 0.01 && (levels.high - 0.965).abs() < 0.01,
            "{levels:?}"
        );
        assert!((levels.share - 0.6).abs() < 1e-9);
    }
}
