//! The degree to which an answer is sure: settled, early or noisy.

use crate::evidence::{CellEvidence, Evidence};
use record::summary::{AaCheck, CellSummary, GroupSummary, Recommendation, Summary, Sureness};
use std::collections::{BTreeMap, BTreeSet};

/// Launches from which on it would be seen whether a ratio moves with time.
const LAUNCHES_TO_SEE_DRIFT: usize = 8;
/// Seconds over which launches are spread from which on it would be seen whether something else took the machine for a while.
const SPREAD_S: f64 = 5.0;

/// Seconds of launches from the first launch of a cell to its last one, by cell; of the whole run for all of them together.
#[derive(Default)]
pub(crate) struct Spread {
    cells: BTreeMap<usize, f64>,
    run_s: f64,
}

impl Spread {
    pub fn new(evidence: &Evidence) -> Spread {
        let mut wall_s: BTreeMap<usize, f64> = BTreeMap::new();
        for launch in evidence.cells.values().flat_map(|cell| &cell.launches) {
            wall_s.insert(launch.launch, launch.wall_s);
        }
        let between_s = |cell: &CellEvidence| {
            let launches = cell.launches.iter().map(|launch| launch.launch);
            let (first, last) = (launches.clone().min()?, launches.max()?);
            Some(wall_s.range(first..=last).map(|(_, s)| s).sum::<f64>())
        };
        let cells = evidence.cells.iter();
        Spread {
            cells: cells
                .filter_map(|(cell, known)| Some((*cell, between_s(known)?)))
                .collect(),
            run_s: wall_s.values().sum(),
        }
    }

    /// Tells whether a cell's launches lie so close together that one disturbance may have met them all, in a run that is longer.
    fn is_close(&self, cell: usize) -> bool {
        let spread_s = self.cells.get(&cell).copied().unwrap_or(self.run_s);
        spread_s < SPREAD_S && self.run_s >= SPREAD_S
    }
}

/// Gives each group with comparisons the degree to which what they show is sure: a group is its condition's own evidence, its
/// A/A check among it. No time is promised for an open answer that is noisy.
pub(crate) fn mark(summary: &mut Summary, spread: &Spread) {
    let mut disturbed: BTreeSet<usize> = BTreeSet::new();
    for warning in summary.warnings.iter().filter(|w| w.kind.is_disturbance()) {
        disturbed.extend(&warning.cells);
    }
    for group in &mut summary.groups {
        let headline = summary
            .experiments
            .iter()
            .find(|e| e.definition.name == group.experiment)
            .map_or("", |e| e.definition.headline());
        let compared = group.comparisons.iter().filter(|c| c.phase == headline);
        let launches = compared
            .filter(|c| summary.cells[c.cell].is_ranked())
            .filter_map(|c| Some(c.contrast.ratio?.launches))
            .min();
        let is_weak = group.aa.is_some_and(|aa| AaCheck::is_weak(&aa.ratio));
        let lacks_check = group.aa.is_none() && has_duplicate(&summary.cells, group);
        group.sureness = match (group.recommendation, launches) {
            (Recommendation::Nothing, _) | (_, None) => None,
            _ if group.cells.iter().any(|cell| disturbed.contains(cell)) => Some(Sureness::Noisy),
            (_, Some(launches)) if lacks_check || launches < LAUNCHES_TO_SEE_DRIFT => {
                Some(Sureness::Early)
            }
            // A check of few launches is wide on any machine.
            _ if is_weak => Some(Sureness::Noisy),
            _ if group.baseline.is_some_and(|cell| spread.is_close(cell)) => Some(Sureness::Early),
            _ => Some(Sureness::Settled),
        };
        if group.sureness == Some(Sureness::Noisy) {
            group.further_s = None;
        }
    }
}

/// Tells whether a group's baseline has a hidden duplicate, which gives it an A/A check once both have launches.
fn has_duplicate(cells: &[CellSummary], group: &GroupSummary) -> bool {
    group.baseline.is_some_and(|baseline| {
        let baseline = &cells[baseline];
        cells.iter().any(|cell| {
            cell.hidden && (&cell.cell, &cell.parameters) == (&baseline.cell, &baseline.parameters)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::summary::{Ratio, Warning, WarningKind};

    /// The recorded run with these launches behind each ratio, and this warning on the baseline of its first group with an answer.
    fn marked_at(
        launches: usize,
        warning: Option<WarningKind>,
        times: (f64, f64),
    ) -> Option<Sureness> {
        marked_with(launches, warning, times, |_| ())
    }

    /// The same with a change of that group.
    fn marked_with(
        launches: usize,
        warning: Option<WarningKind>,
        (run_s, cell_s): (f64, f64),
        change: impl Fn(&mut GroupSummary),
    ) -> Option<Sureness> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/runs/ordinary/summary.json"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let mut summary: Summary = serde_json::from_str(&text).unwrap();
        let with_answer = |group: &record::summary::GroupSummary| {
            matches!(group.recommendation, Recommendation::Use { .. })
        };
        let group = summary.groups.iter().position(with_answer).unwrap();
        for comparison in &mut summary.groups[group].comparisons {
            if let Some(ratio) = &mut comparison.contrast.ratio {
                ratio.launches = launches;
            }
        }
        summary.warnings = Vec::from_iter(warning.map(|kind| Warning {
            kind,
            at: "fault/touch".to_owned(),
            cells: Vec::from_iter(summary.groups[group].baseline),
        }));
        let spread = Spread {
            cells: summary.groups[group]
                .baseline
                .map(|cell| (cell, cell_s))
                .into_iter()
                .collect(),
            run_s,
        };
        change(&mut summary.groups[group]);
        mark(&mut summary, &spread);
        summary.groups[group].sureness
    }

    /// A condition is as sure as its own A/A check, and no time is promised for what is noisy.
    #[test]
    fn a_group_whose_own_check_is_weak_is_noisy_and_one_without_a_check_is_early() {
        let checked = |half: f64| {
            marked_with(40, None, (20.0, 10.0), |group| {
                let ratio = Ratio::of_log(0.0, half / 2.1, 20.0, 20, 0.95).unwrap();
                group.aa = Some(AaCheck {
                    cell: group.baseline.unwrap(),
                    ratio,
                    z: 0.0,
                    p: 1.0,
                    differs: false,
                    weak: AaCheck::is_weak(&ratio),
                });
                group.further_s = Some(60.0);
            })
        };
        assert_eq!(checked(0.05), Some(Sureness::Settled));
        assert_eq!(checked(0.3), Some(Sureness::Noisy));
        let unchecked = marked_with(40, None, (20.0, 10.0), |group| group.aa = None);
        assert_eq!(unchecked, Some(Sureness::Early));
    }

    fn marked(launches: usize, warning: Option<WarningKind>) -> Option<Sureness> {
        marked_at(launches, warning, (20.0, 10.0))
    }

    #[test]
    fn launches_that_lie_close_together_are_early_in_a_longer_run() {
        assert_eq!(marked_at(40, None, (60.0, 4.0)), Some(Sureness::Early));
        assert_eq!(marked_at(40, None, (60.0, 6.0)), Some(Sureness::Settled));
        assert_eq!(marked_at(40, None, (4.0, 4.0)), Some(Sureness::Settled));
    }

    #[test]
    fn few_launches_are_early_and_disturbed_ones_noisy() {
        assert_eq!(marked(7, None), Some(Sureness::Early));
        assert_eq!(marked(8, None), Some(Sureness::Settled));
        let steal = WarningKind::Steal { share: 0.07 };
        assert_eq!(marked(40, Some(steal)), Some(Sureness::Noisy));
        let shown = WarningKind::BelowFloor {
            phase: "touch".to_owned(),
        };
        assert_eq!(marked(40, Some(shown)), Some(Sureness::Settled));
    }
}
