//! The degree to which an answer is sure: settled, early or noisy.

use crate::evidence::{CellEvidence, Evidence};
use record::summary::{
    AaCheck, CellSummary, Comparison, Doubt, GroupSummary, Recommendation, Role, Summary, Sureness,
    Verdict,
};
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

/// Takes from the methods of a group the verdict that they are faster, where their launches or the baseline's were disturbed: what
/// is noisy is open. The comparisons are those of the headline. A weak check has taken the verdicts within its width before.
pub(crate) fn withhold(
    disturbed: &BTreeSet<usize>,
    cells: &[CellSummary],
    baseline: Option<usize>,
    headlines: Vec<&mut Comparison>,
) {
    let is_disturbed = |cell: usize| disturbed.contains(&cell);
    for comparison in headlines {
        let contrast = &mut comparison.contrast;
        let is_faster = matches!(contrast.verdict, Verdict::Faster { .. });
        let is_noisy = is_disturbed(comparison.cell) || baseline.is_some_and(is_disturbed);
        if cells[comparison.cell].role == Role::Method && is_faster && is_noisy {
            comparison.doubt = Some(Doubt::Disturbed);
            (contrast.verdict, contrast.holds_among_all) = (Verdict::NotSettled, true);
        }
    }
}

/// Cells of a judged run from whose launches something else took CPUs, memory or devices.
pub(crate) fn disturbed(summary: &Summary) -> BTreeSet<usize> {
    let warnings = summary.warnings.iter();
    let disturbing = warnings.filter(|warning| warning.kind.is_disturbance());
    disturbing.flat_map(|w| w.cells.iter().copied()).collect()
}

/// The noise behind the comparisons of a group.
struct Noise<'a> {
    /// The check of the group's duplicate.
    aa: Option<&'a AaCheck>,
    /// Cells of the run from whose launches something else took CPUs, memory or devices.
    disturbed: &'a BTreeSet<usize>,
}

impl Noise<'_> {
    /// Tells whether the check is weak after so many launches. A check of few launches is wide on any machine.
    fn is_weak(&self, launches: usize) -> bool {
        launches >= LAUNCHES_TO_SEE_DRIFT && self.aa.is_some_and(|aa| AaCheck::is_weak(&aa.ratio))
    }

    /// Tells whether noise is behind what a group shows: disturbances in launches of its baseline, or where no method is shown to
    /// be faster those in launches of any method, or a weak check. What is shown exceeds the check's width.
    fn meets<'a>(
        &self,
        cells: &[CellSummary],
        group: &GroupSummary,
        launches: Option<usize>,
        headlines: impl Iterator<Item = &'a Comparison>,
    ) -> bool {
        let ranked: Vec<&Comparison> = headlines.filter(|c| cells[c.cell].is_ranked()).collect();
        let mut verdicts = ranked.iter().map(|c| c.contrast.overall());
        let is_shown = verdicts.any(|verdict| matches!(verdict, Verdict::Faster { .. }));
        let methods = ranked.iter().map(|c| c.cell).filter(|_| !is_shown);
        let mut behind = group.baseline.into_iter().chain(methods);
        let is_weak = || launches.is_some_and(|launches| self.is_weak(launches));
        behind.any(|cell| self.disturbed.contains(&cell)) || !is_shown && is_weak()
    }
}

/// The fewest launches behind a ratio of a ranked method; none without one.
fn fewest_launches<'a>(
    cells: &[CellSummary],
    headlines: impl Iterator<Item = &'a Comparison>,
) -> Option<usize> {
    headlines
        .filter(|comparison| cells[comparison.cell].is_ranked())
        .filter_map(|comparison| Some(comparison.contrast.ratio?.launches))
        .min()
}

/// Gives each group with comparisons the degree to which what they show is sure: a group is its condition's own evidence, its
/// A/A check among it. No time is promised for an open answer that is noisy.
pub(crate) fn mark(summary: &mut Summary, spread: &Spread) {
    let disturbed = disturbed(summary);
    let cells = &summary.cells;
    for group in &mut summary.groups {
        let headline = summary
            .experiments
            .iter()
            .find(|e| e.definition.name == group.experiment)
            .map_or("", |e| e.definition.headline());
        let compared = || {
            let comparisons = group.comparisons.iter();
            comparisons.filter(move |comparison| comparison.phase == headline)
        };
        let launches = fewest_launches(cells, compared());
        let noise = Noise {
            aa: group.aa.as_ref(),
            disturbed: &disturbed,
        };
        let lacks_check = group.aa.is_none() && has_duplicate(cells, group);
        group.sureness = match (group.recommendation, launches) {
            (Recommendation::Nothing, _) | (_, None) => None,
            _ if noise.meets(cells, group, launches, compared()) => Some(Sureness::Noisy),
            (_, Some(launches)) if lacks_check || launches < LAUNCHES_TO_SEE_DRIFT => {
                Some(Sureness::Early)
            }
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
    use proptest::prelude::*;
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

    /// A check of this cell's duplicate that found no difference, with about this half-width.
    fn check(cell: usize, half_width: f64) -> AaCheck {
        let ratio = Ratio::of_log(0.0, half_width / 2.1, 20.0, 20, 0.95).unwrap();
        AaCheck {
            cell,
            ratio,
            z: 0.0,
            p: 1.0,
            differs: false,
            weak: AaCheck::is_weak(&ratio),
        }
    }

    /// A condition is as sure as its own A/A check, and no time is promised for what is noisy.
    #[test]
    fn a_group_whose_own_check_is_weak_is_noisy_and_one_without_a_check_is_early() {
        let checked = |half: f64, verdict: Option<Verdict>| {
            marked_with(40, None, (20.0, 10.0), |group| {
                group.aa = Some(check(group.baseline.unwrap(), half));
                group.further_s = Some(60.0);
                for comparison in &mut group.comparisons {
                    let contrast = &mut comparison.contrast;
                    contrast.verdict = verdict.unwrap_or(contrast.verdict);
                }
            })
        };
        assert_eq!(checked(0.05, None), Some(Sureness::Settled));
        assert_eq!(
            checked(0.3, None),
            Some(Sureness::Settled),
            "its effect exceeds that"
        );
        let open = Some(Verdict::NotSettled);
        assert_eq!(checked(0.05, open), Some(Sureness::Settled));
        assert_eq!(checked(0.3, open), Some(Sureness::Noisy));
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

    /// The first group with an answer of the recorded run, with these ratios and cells disturbed, after withholding and marking.
    fn withheld(
        logs: &[f64],
        launches: usize,
        half_width: f64,
        disturbed: &[bool],
    ) -> (Summary, usize, BTreeSet<usize>) {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/runs/ordinary/summary.json"
        );
        let mut summary: Summary =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let at = summary
            .groups
            .iter()
            .position(|group| group.baseline.is_some());
        let at = at.unwrap();
        let group = &mut summary.groups[at];
        let masked = group.cells.iter().zip(disturbed.iter().cycle());
        let disturbed: BTreeSet<usize> = masked.filter(|(_, is)| **is).map(|(c, _)| *c).collect();
        for (comparison, log) in group.comparisons.iter_mut().zip(logs.iter().cycle()) {
            let ratio = Ratio::of_log(*log, 0.01, 9.0, launches, 0.95).unwrap();
            comparison.contrast = record::summary::Contrast::alone(Some(ratio), 0.02);
            comparison.doubt = None;
        }
        group.aa = Some(check(group.baseline.unwrap(), half_width));
        let headline = summary.experiments[0].headline.clone();
        let headlines = group.comparisons.iter_mut();
        let headlines = headlines.filter(|c| c.phase == headline).collect();
        withhold(&disturbed, &summary.cells, group.baseline, headlines);
        summary.warnings = vec![Warning {
            kind: WarningKind::Steal { share: 0.3 },
            at: String::new(),
            cells: disturbed.iter().copied().collect(),
        }];
        let spread = Spread::default();
        mark(&mut summary, &spread);
        (summary, at, disturbed)
    }

    proptest! {
        /// The law: no ranked method is shown to be faster under a condition that is noisy.
        #[test]
        fn what_is_noisy_is_never_faster(
            logs in prop::collection::vec(-1.0f64..1.0, 1..6),
            launches in 2usize..40,
            half_width in 0.01f64..0.5,
            disturbed in prop::collection::vec(any::<bool>(), 1..6),
        ) {
            let (summary, at, disturbed) = withheld(&logs, launches, half_width, &disturbed);
            let group = &summary.groups[at];
            let headline = &summary.experiments[0].headline;
            let ranked = group.comparisons.iter().filter(|c| c.phase == *headline);
            let mut faster = ranked
                .filter(|c| summary.cells[c.cell].is_ranked())
                .filter(|c| matches!(c.contrast.overall(), Verdict::Faster { .. }));
            if group.sureness == Some(Sureness::Noisy) {
                prop_assert!(faster.next().is_none());
            }
            prop_assert!(faster.all(|c| !disturbed.contains(&c.cell)));
        }
    }

    #[test]
    fn a_method_that_looks_faster_is_open_where_it_is_noisy_and_faster_where_it_is_not() {
        let shown = |half_width: f64, launches: usize, disturbed: &[bool]| {
            let (summary, at, _) = withheld(&[-1.0], launches, half_width, disturbed);
            let headline = summary.experiments[0].headline.clone();
            let mut compared = summary.groups[at].comparisons.iter();
            let is_ranked = |c: &&Comparison| summary.cells[c.cell].is_ranked();
            let first = compared
                .find(|c| c.phase == headline && is_ranked(c))
                .unwrap();
            (
                first.doubt,
                matches!(first.contrast.overall(), Verdict::Faster { .. }),
            )
        };
        assert_eq!(shown(0.05, 20, &[false]), (None, true));
        assert_eq!(shown(0.05, 20, &[true]), (Some(Doubt::Disturbed), false));
        // It exceeds the width of a weak check by far.
        assert_eq!(shown(0.4, 20, &[false]), (None, true));
    }
}
