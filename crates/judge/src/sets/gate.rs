//! A gate on a user's functions: their times and counts against those of a saved worker that ran in turn with them.

use crate::contrast::estimate::{LEVEL, logs_by_block, of_series};
use crate::sets::across::{compared_run, gated};
use crate::sets::{settle, withhold};
use crate::sureness;
use record::across::{
    COMPARED_SCHEMA, CellHeadline, Compared, ComparedCell, ComparedCount, ComparedSide, GateWord,
    Gated, MissingCell, MissingReason, SideCost,
};
use record::cell::parameter_words;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Contrast, CountSummary, Role, Summary};
use std::collections::BTreeSet;

/// Terms of a gate.
#[derive(Clone, Debug, Default)]
pub struct GateTerms {
    /// Share by which nothing may be slower.
    pub slower: Option<f64>,
    /// True if no count may be larger.
    pub counts: bool,
    /// Differences below this share are called within the margin.
    pub margin: f64,
}

/// Compares each function of the worker `now` with the same of the worker `before`.
pub fn gate(summary: &Summary, [before, now]: [&str; 2], terms: &GateTerms) -> Compared {
    let side = ComparedSide {
        runs: vec![compared_run(summary)],
        environment: summary.environment.clone(),
        unlike: Vec::new(),
    };
    let mut compared = Compared {
        schema: COMPARED_SCHEMA,
        margin: terms.margin,
        gate: terms.slower,
        a: side.clone(),
        b: side,
        ..Compared::default()
    };
    let disturbed = sureness::disturbed(summary);
    // Places of the times from disturbed launches.
    let mut noisy: BTreeSet<usize> = BTreeSet::new();
    for (place, b) in functions(summary, now) {
        let saved = functions(summary, before)
            .find(|(_, a)| a.method == b.method && a.parameters == b.parameters);
        let Some((other, a)) = saved else { continue };
        if [a, b].into_iter().any(|cell| terms.is_missing(cell)) {
            let worse = if b.outcome.status == Status::Ok { a } else { b };
            compared.missing.push(MissingCell {
                cell: label(b),
                a: Some(a.outcome.status),
                b: Some(b.outcome.status),
                reason: MissingReason::Outcome(worse.outcome.clone()),
            });
            continue;
        }
        if terms.counts {
            compared.counts.extend(counts(a, b));
        }
        if terms.slower.is_some()
            && let Some(timed) = times(summary, a, b, terms.margin)
        {
            if disturbed.contains(&place) || disturbed.contains(&other) {
                noisy.insert(compared.cells.len());
            }
            compared.cells.push(timed);
        }
    }
    settle(
        compared.cells.iter_mut().collect(),
        terms.margin,
        terms.slower,
    );
    let times = compared.cells.iter_mut().enumerate();
    let times = times.filter(|(place, _)| noisy.contains(place));
    withhold(times.map(|(_, cell)| cell));
    let uncounted = terms.counts && compared.counts.is_empty();
    compared.gated = Some(match gated(&compared) {
        Gated::Passes if uncounted => Gated::Undecided,
        verdict => verdict,
    });
    compared
}

/// The functions that a worker ran, with their places among the cells.
fn functions<'a>(
    summary: &'a Summary,
    worker: &str,
) -> impl Iterator<Item = (usize, &'a CellSummary)> {
    let is_function =
        move |cell: &CellSummary| cell.worker == worker && !cell.hidden && cell.role != Role::Null;
    let cells = summary.cells.iter().enumerate();
    cells.filter(move |(_, cell)| is_function(cell))
}

impl GateTerms {
    /// Tells whether a function has no figures to be compared. A gate on counts alone needs no times.
    fn is_missing(&self, cell: &CellSummary) -> bool {
        let is_late = cell.outcome.cause == Some(Cause::Budget) && self.slower.is_none();
        cell.outcome.status != Status::Ok && !is_late
    }
}

/// A function with its parameters.
fn label(cell: &CellSummary) -> String {
    format!(
        "{} {}",
        cell.method,
        parameter_words(&cell.parameters, None)
    )
    .trim_end()
    .to_owned()
}

fn times(
    summary: &Summary,
    before: &CellSummary,
    now: &CellSummary,
    margin: f64,
) -> Option<ComparedCell> {
    let experiment = summary.experiment(&now.experiment)?;
    let headline = &experiment.headline;
    let logs = logs_by_block(wall(before, headline), wall(now, headline));
    let estimate = of_series(&logs, LEVEL);
    let (a, b) = (cost(before, headline)?, cost(now, headline)?);
    let headline = CellHeadline {
        cell: format!("{}/{}", now.experiment, now.method),
        experiment: now.experiment.clone(),
        parameters: now.parameters.clone(),
        phase: headline.clone(),
        unit: experiment.definition.unit.clone(),
    };
    Some(ComparedCell {
        headline,
        quotient: estimate.map_or(b.per_unit_ns / a.per_unit_ns, |e| e.ratio),
        a,
        b,
        contrast: Contrast::alone(estimate, margin),
        runs_needed: None,
        doubt: None,
        gate: Some(GateWord::Undecided),
    })
}

/// Wall time of a phase in each launch, with the launch's block.
fn wall(cell: &CellSummary, phase: &str) -> impl Iterator<Item = (i32, f64)> {
    cell.per_launch
        .iter()
        .filter_map(move |launch| Some((launch.block, *launch.wall_ns.get(phase)?)))
}

fn cost(cell: &CellSummary, headline: &str) -> Option<SideCost> {
    Some(SideCost {
        per_unit_ns: cell.phases.get(headline)?.per_unit_ns.median,
        runs: 1,
        launches: cell.launches,
        between_runs: None,
        per_run_ns: Vec::new(),
    })
}

/// The counts that both have, by phase.
fn counts(a: &CellSummary, b: &CellSummary) -> Vec<ComparedCount> {
    let mut compared = Vec::new();
    for (phase, counts) in &b.counts {
        for (name, now) in counts {
            // Huge pages are no cost: how many there are is shown, and gates nothing.
            if name == "huge_bytes" {
                continue;
            }
            if let Some(before) = a.counts.get(phase).and_then(|counts| counts.get(name)) {
                compared.push(ComparedCount {
                    cell: label(b),
                    phase: phase.clone(),
                    count: name.clone(),
                    a: *before,
                    b: *now,
                    gate: word(before, now),
                });
            }
        }
    }
    compared
}

/// A count that no pass changes is exact. Otherwise passes differ by the tolerance that they show themselves.
fn word(before: &CountSummary, now: &CountSummary) -> GateWord {
    let tolerated = before.max.saturating_add(before.spread().max(now.spread()));
    if now.min > tolerated {
        GateWord::Regression
    } else if now.max <= tolerated {
        GateWord::Passes
    } else {
        GateWord::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use record::summary::{Doubt, Verdict, Warning, WarningKind};

    fn count(passes: &[u64]) -> CountSummary {
        let mut count = CountSummary::default();
        passes.iter().for_each(|pass| count.add(*pass));
        count
    }

    #[test]
    fn exact_counts_are_compared_exactly_and_others_by_the_tolerance_they_show() {
        for (before, now, expected) in [
            (&[5, 5, 5][..], &[5, 5, 5][..], GateWord::Passes),
            (&[5, 5, 5], &[6, 6, 6], GateWord::Regression),
            (&[5, 5, 5], &[4, 4, 4], GateWord::Passes),
            (&[100, 103], &[101, 106], GateWord::Passes),
            (&[100, 103], &[107, 109], GateWord::Regression),
            (&[100, 103], &[105, 109], GateWord::Undecided),
            (&[100, 100], &[100, 104], GateWord::Passes),
            (&[100, 100], &[103, 107], GateWord::Undecided),
        ] {
            assert_eq!(
                word(&count(before), &count(now)),
                expected,
                "{before:?} {now:?}"
            );
        }
    }

    /// The gate on a recorded run beside a saved worker that took this part of its time, with other work in launches of these cells.
    fn gated_run(factor: f64, disturbed: &[usize]) -> Compared {
        let text = include_str!("../../../../tests/fixtures/runs/ordinary/summary.json");
        let mut summary: Summary = serde_json::from_str(text).unwrap();
        for mut saved in summary.cells.clone() {
            saved.worker = "main".to_owned();
            for (number, launch) in saved.per_launch.iter_mut().enumerate() {
                let shaken = 1.0 + 0.001 * (7 * number % 5) as f64;
                launch
                    .wall_ns
                    .values_mut()
                    .for_each(|ns| *ns *= factor * shaken);
            }
            summary.cells.push(saved);
        }
        summary.warnings = vec![Warning {
            kind: WarningKind::Steal { share: 0.2 },
            at: String::new(),
            cells: disturbed.to_vec(),
        }];
        let terms = GateTerms {
            slower: Some(0.03),
            margin: 0.02,
            ..GateTerms::default()
        };
        let worker = summary.cells[0].worker.clone();
        gate(&summary, ["main", &worker], &terms)
    }

    proptest! {
        /// The law: a gate neither opens nor closes by launches that other work disturbed, on whichever side.
        #[test]
        fn what_is_noisy_neither_passes_nor_fails(
            factor in 0.3f64..3.0,
            mask in prop::collection::vec(any::<bool>(), 8),
        ) {
            let disturbed: Vec<usize> = (0..8).filter(|cell| mask[*cell]).collect();
            let (quiet, noisy) = (gated_run(factor, &[]), gated_run(factor, &disturbed));
            prop_assert!(!quiet.cells.is_empty() && quiet.cells.iter().all(|c| c.doubt.is_none()));
            for (before, after) in quiet.cells.iter().zip(&noisy.cells) {
                if after.doubt.is_none() {
                    prop_assert_eq!(before, after);
                    continue;
                }
                prop_assert_eq!(after.doubt, Some(Doubt::Disturbed));
                prop_assert_eq!(after.contrast.overall(), Verdict::NotSettled);
                prop_assert_eq!(after.gate, Some(GateWord::Undecided));
            }
            if disturbed.len() == 8 {
                prop_assert!(noisy.cells.iter().all(|cell| cell.doubt.is_some()));
                prop_assert_eq!(noisy.gated, Some(Gated::Undecided));
            }
        }
    }

    #[test]
    fn a_regression_is_one_only_where_it_is_quiet() {
        assert_eq!(gated_run(0.5, &[]).gated, Some(Gated::Regression));
        assert_eq!(gated_run(2.0, &[]).gated, Some(Gated::Passes));
        let all: Vec<usize> = (0..8).collect();
        for factor in [0.5, 2.0] {
            assert_eq!(gated_run(factor, &all).gated, Some(Gated::Undecided));
        }
        // The saved worker's launches alone.
        let saved: Vec<usize> = (4..8).collect();
        assert_eq!(gated_run(0.5, &saved).gated, Some(Gated::Undecided));
    }
}
