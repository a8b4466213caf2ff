//! A gate on a user's functions: their times and counts against those of a saved worker that ran in turn with them.

use crate::across::{compared_run, gated};
use crate::estimate::{LEVEL, of_series, shown};
use crate::sets::{gates, hold_among_all};
use record::across::{
    COMPARED_SCHEMA, Compared, ComparedCell, ComparedCount, ComparedSide, GateWord, Gated, MissingCell, MissingReason, SideCost,
};
use record::cell::parameter_words;
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, CountSummary, Role, Summary, Verdict};
use stats::estimate::RatioEstimate;
use std::collections::BTreeMap;

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
    let functions = |worker: &str| {
        let worker = worker.to_owned();
        summary.cells.iter().filter(move |c| c.worker == worker && !c.hidden && c.role != Role::Null)
    };
    let same = |cell: &CellSummary| functions(before).find(|c| c.method == cell.method && c.parameters == cell.parameters);
    let side =
        || ComparedSide { runs: vec![compared_run(summary)], environment: summary.environment.clone(), unlike: Vec::new() };
    let mut compared = Compared {
        schema: COMPARED_SCHEMA,
        margin: terms.margin,
        gate: terms.slower,
        a: side(),
        b: side(),
        differences: Vec::new(),
        cells: Vec::new(),
        counts: Vec::new(),
        missing: Vec::new(),
        claims: Vec::new(),
        gated: None,
    };
    let mut estimates: Vec<(usize, RatioEstimate)> = Vec::new();
    for (a, b) in functions(now).filter_map(|now| Some((same(now)?, now))) {
        // A gate on counts alone needs no times.
        let late = |cell: &CellSummary| cell.cause == Some(Cause::Budget) && terms.slower.is_none();
        if [a, b].into_iter().any(|cell| cell.status != Status::Ok && !late(cell)) {
            let worse = if b.status == Status::Ok { a } else { b };
            let (cell, reason) = (label(b), MissingReason::Outcome(worse.outcome()));
            compared.missing.push(MissingCell { cell, a: Some(a.status), b: Some(b.status), reason });
            continue;
        }
        if terms.counts {
            compared.counts.extend(counts(a, b));
        }
        if let Some((cell, estimate)) = terms.slower.and_then(|_| times(summary, a, b, terms.margin)) {
            estimates.extend(estimate.map(|estimate| (compared.cells.len(), estimate)));
            compared.cells.push(cell);
        }
    }
    let verdicts = terms.slower.map(|slower| gates(&estimates, 1.0 + slower));
    let held = hold_among_all(estimates.iter().map(|(_, estimate)| (*estimate, terms.margin)).collect());
    for (place, (cell, _)) in estimates.iter().enumerate() {
        compared.cells[*cell].holds_among_all = held[place];
        compared.cells[*cell].gate = verdicts.as_ref().map(|verdicts| verdicts[place]);
    }
    let uncounted = terms.counts && compared.counts.is_empty();
    compared.gated = Some(match gated(&compared) {
        Gated::Passes if uncounted => Gated::Undecided,
        verdict => verdict,
    });
    compared
}

/// A function with its parameters.
fn label(cell: &CellSummary) -> String {
    format!("{} {}", cell.method, parameter_words(&cell.parameters, None)).trim_end().to_owned()
}

fn times(summary: &Summary, a: &CellSummary, b: &CellSummary, margin: f64) -> Option<(ComparedCell, Option<RatioEstimate>)> {
    let experiment = summary.experiment(&b.experiment)?;
    let headline = &experiment.headline;
    let wall = |launch: &record::summary::LaunchValues| Some((launch.block, *launch.wall_ns.get(headline)?));
    let by_block: BTreeMap<i32, f64> = a.per_launch.iter().filter_map(wall).collect();
    let both = b.per_launch.iter().filter_map(wall);
    let logs = both.filter_map(|(block, now)| Some((now / by_block.get(&block)?).ln()));
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
    let estimate = of_series(&logs, LEVEL);
    let cost = |cell: &CellSummary| {
        let per_unit_ns = cell.phases.get(headline)?.per_unit_ns.median;
        Some(SideCost { per_unit_ns, runs: 1, launches: cell.launches, between_runs: None, per_run_ns: Vec::new() })
    };
    let cell = ComparedCell {
        cell: format!("{}/{}", b.experiment, b.method),
        experiment: b.experiment.clone(),
        parameters: b.parameters.clone(),
        phase: headline.clone(),
        unit: experiment.definition.unit.clone(),
        a: cost(a)?,
        b: cost(b)?,
        ratio: estimate
            .map_or_else(|| cost(b).map_or(0.0, |b| b.per_unit_ns) / cost(a).map_or(0.0, |a| a.per_unit_ns), |e| e.ratio),
        estimate: estimate.as_ref().map(shown),
        verdict: estimate.map_or(Verdict::NotSettled, |e| Verdict::from_interval(e.low, e.high, margin)),
        holds_among_all: false,
        runs_needed: None,
        gate: Some(GateWord::Undecided),
    };
    Some((cell, estimate))
}

/// The counts that both have, by phase.
fn counts<'a>(a: &'a CellSummary, b: &'a CellSummary) -> impl Iterator<Item = ComparedCount> + 'a {
    let named = b.counts.iter().flat_map(|(phase, counts)| counts.iter().map(move |(name, count)| (phase, name, count)));
    // Huge pages are no cost: how many there are is shown, and gates nothing.
    named.filter(|(_, name, _)| *name != "huge_bytes").filter_map(move |(phase, name, now)| {
        let before = a.counts.get(phase)?.get(name)?;
        Some(ComparedCount {
            cell: label(b),
            phase: phase.clone(),
            count: name.clone(),
            a: *before,
            b: *now,
            gate: word(before, now),
        })
    })
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
#[path = "../tests/unit/gate.rs"]
mod tests;
