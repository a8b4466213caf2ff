//! Real cells, judged as in any run, where the truth is known: a method against itself, and against 5 % more of the same work.

use super::{excludes, middle};
use crate::contrast::estimate::of_series;
use record::outcome::Status;
use record::summary::{CellSummary, Comparison, GroupSummary, Recommendation, Summary, Verdict};
use serde::{Deserialize, Serialize};
use stats::{interval::CONFIDENCE, moved::LEAST_IN_ORDER};
use std::collections::BTreeMap;

/// Additional work of the third cell, in percent.
pub const MORE_PERCENT: u64 = 5;

/// Work of one cell.
#[derive(Clone, Debug)]
pub struct CellWork {
    /// The parameter that says how much is done.
    pub parameter: String,
    pub least: u64,
    /// The highest ratio that 5 % more of it may cost.
    pub most: f64,
}

/// An experiment, and a method of it that is not the baseline: its ratio is another one.
const OTHER_METHOD: (&str, &str) = ("fault", "populate");

/// One run.
#[derive(Clone, Debug)]
pub struct RealRun {
    pub worker: String,
    pub amounts: BTreeMap<String, CellWork>,
    pub summary: Summary,
}

/// Results of the cells of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Real {
    pub experiment: String,
    pub worker: String,
    /// Identical pairs that got a ratio.
    pub pairs: usize,
    /// Those that did not, because the budget ended or a cell was not trusted.
    pub withheld: usize,
    /// Pairs whose interval excludes one.
    pub false_alarms: usize,
    pub half_width: f64,
    /// Comparisons with 5 % more work.
    pub more: usize,
    /// Those whose interval lies above one as a whole.
    pub seen: usize,
    /// Intervals beside what the truth may be: from 1, where all of it is fixed cost, to [`CellWork::most`].
    pub missed: usize,
    pub estimate: f64,
    /// Sentences that the truth contradicts: a verdict, a best set or a recommendation.
    pub wrong_sentences: usize,
    /// ln of the ratio of each launch of each identical pair, in their order.
    pub identical_logs: Vec<Vec<f64>>,
    /// The same of each comparison with 5 % more work.
    pub more_logs: Vec<Vec<f64>>,
}

/// Ratios made of launches of one pair and then of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moves {
    /// Series whose second half has another ratio.
    pub moved: usize,
    pub detected: usize,
    /// Series of one pair from beginning to end.
    pub still: usize,
    /// Those of which it was said all the same.
    pub imagined: usize,
}

/// Counts over all runs.
pub fn count(runs: &[RealRun]) -> (Vec<Real>, Moves) {
    let mut by_worker: BTreeMap<(String, String), Vec<(&RealRun, &GroupSummary)>> = BTreeMap::new();
    for run in runs {
        for group in &run.summary.groups {
            by_worker
                .entry((run.worker.clone(), group.experiment.clone()))
                .or_default()
                .push((run, group));
        }
    }
    let real = by_worker
        .into_iter()
        .map(|((worker, experiment), groups)| tally(experiment, worker, &groups))
        .collect();
    let mut moves = Moves::default();
    for run in runs {
        follow(run, &mut moves);
    }
    (real, moves)
}

fn tally(experiment: String, worker: String, groups: &[(&RealRun, &GroupSummary)]) -> Real {
    let mut real = Real {
        experiment,
        worker,
        ..Real::default()
    };
    let (mut widths, mut estimates) = (Vec::new(), Vec::new());
    for (run, group) in groups {
        match &group.aa {
            Some(aa) => {
                real.pairs += 1;
                real.false_alarms += usize::from(excludes(&aa.ratio, 1.0));
                widths.push(aa.ratio.half_width());
            }
            None => real.withheld += 1,
        }
        real.identical_logs.extend(identical_logs(run, group));
        for comparison in group.comparisons.iter().filter(|c| is_more(run, group, c)) {
            let Some(ratio) = &comparison.contrast.ratio else {
                continue;
            };
            real.more += 1;
            real.seen += usize::from(ratio.low > 1.0);
            real.missed += usize::from(ratio.high < 1.0 || ratio.low > most(run, group));
            real.wrong_sentences +=
                usize::from(wrong(comparison.contrast.verdict, most(run, group)));
            estimates.push(ratio.ratio);
            let base = group.baseline.map(|b| &run.summary.cells[b]);
            real.more_logs.extend(
                base.and_then(|b| logs(b, &run.summary.cells[comparison.cell], &comparison.phase)),
            );
        }
        real.wrong_sentences += wrong_choices(run, group);
    }
    real.half_width = middle(widths.into_iter());
    real.estimate = middle(estimates.into_iter());
    real
}

fn most(run: &RealRun, group: &GroupSummary) -> f64 {
    run.amounts
        .get(&group.experiment)
        .map_or(f64::INFINITY, |amount| amount.most)
}

/// Tells whether a verdict on 5 % more work says what cannot be.
fn wrong(verdict: Verdict, most: f64) -> bool {
    match verdict {
        Verdict::Faster { .. } => true,
        Verdict::Slower { at_least } => at_least > most - 1.0,
        Verdict::Within { .. } | Verdict::NotSettled => false,
    }
}

fn headline<'a>(run: &'a RealRun, group: &GroupSummary) -> Option<&'a str> {
    let experiment = run
        .summary
        .experiments
        .iter()
        .find(|e| e.definition.name == group.experiment);
    experiment.map(|e| e.headline.as_str())
}

fn does_more(run: &RealRun, cell: &CellSummary) -> bool {
    let Some(amount) = run.amounts.get(&cell.experiment) else {
        return false;
    };
    cell.parameters
        .number(&amount.parameter)
        .is_some_and(|v| v > amount.least)
}

/// The baseline's own method with more to do, by what it is compared by first.
fn is_more(run: &RealRun, group: &GroupSummary, comparison: &Comparison) -> bool {
    group
        .baseline
        .is_some_and(|base| is_base_with_more(run, base, comparison.cell))
        && headline(run, group) == Some(comparison.phase.as_str())
}

/// Best sets that leave out the lesser work while they hold the greater, and a recommendation to do more. Where the lesser
/// was not ranked, because it was not trusted, the greater is compared with nothing.
fn wrong_choices(run: &RealRun, group: &GroupSummary) -> usize {
    let Some(base) = group.baseline else { return 0 };
    let mut wrong = 0;
    if run.summary.cells[base].outcome.status == Status::Ok {
        for best in &group.best {
            let is_base_ranked =
                best.within.contains(&base) || best.unsettled.iter().any(|u| u.cell == base);
            wrong += usize::from(is_base_with_more(run, base, best.leader) && !is_base_ranked);
        }
    }
    if let Recommendation::Use { cell, .. } = group.recommendation {
        wrong += usize::from(is_base_with_more(run, base, cell));
    }
    wrong
}

fn is_base_with_more(run: &RealRun, base: usize, cell: usize) -> bool {
    let (base, cell) = (&run.summary.cells[base], &run.summary.cells[cell]);
    cell.method == base.method && does_more(run, cell)
}

/// ln of the ratio of each launch or block in which both have a value.
pub fn logs(base: &CellSummary, other: &CellSummary, phase: &str) -> Option<Vec<f64>> {
    let shares_launches = base
        .per_launch
        .iter()
        .all(|launch| other.per_launch.iter().any(|o| o.launch == launch.launch));
    let mut logs = Vec::new();
    for launch in &base.per_launch {
        let other_launch = other.per_launch.iter().find(|other| {
            if shares_launches {
                other.launch == launch.launch
            } else {
                other.block == launch.block
            }
        });
        let base_ns = launch.wall_ns.get(phase);
        let other_ns = other_launch.and_then(|launch| launch.wall_ns.get(phase));
        if let (Some(&base_ns), Some(&other_ns)) = (base_ns, other_ns)
            && base_ns > 0.0
            && other_ns > 0.0
        {
            logs.push((other_ns / base_ns).ln());
        }
    }
    (!logs.is_empty()).then_some(logs)
}

fn identical_logs(run: &RealRun, group: &GroupSummary) -> Option<Vec<f64>> {
    let cells = &run.summary.cells;
    let base = &cells[group.baseline?];
    let twin = cells
        .iter()
        .find(|cell| cell.hidden && cell.cell == base.cell)?;
    logs(base, twin, headline(run, group)?)
}

/// Tells whether the ratio of a series of launches is judged to have moved.
fn is_judged_to_move(logs: &[f64]) -> Option<bool> {
    Some(of_series(logs, CONFIDENCE)?.drift.is_some())
}

/// The launches of one method and then those of another, as if the machine had changed its mind in the middle of the run.
fn follow(run: &RealRun, moves: &mut Moves) {
    for group in run
        .summary
        .groups
        .iter()
        .filter(|g| g.experiment == OTHER_METHOD.0)
    {
        let (Some(base), Some(phase)) = (group.baseline, headline(run, group)) else {
            continue;
        };
        let base = &run.summary.cells[base];
        let first = cell_of(run, group, OTHER_METHOD.1, false);
        let second = cell_of(run, group, &base.method, true);
        let [Some(first), Some(second)] = [first, second].map(|cell| logs(base, cell?, phase))
        else {
            continue;
        };
        let n = first.len().min(second.len());
        if n < LEAST_IN_ORDER {
            continue;
        }
        let mixed: Vec<f64> = first[..n / 2]
            .iter()
            .chain(&second[n / 2..n])
            .copied()
            .collect();
        if let (Some(mixed), Some(still)) =
            (is_judged_to_move(&mixed), is_judged_to_move(&first[..n]))
        {
            moves.moved += 1;
            moves.detected += usize::from(mixed);
            moves.still += 1;
            moves.imagined += usize::from(still);
        }
    }
}

/// The cell of a method that does more of the work, or the one that does not.
fn cell_of<'a>(
    run: &'a RealRun,
    group: &GroupSummary,
    method: &str,
    more: bool,
) -> Option<&'a CellSummary> {
    group
        .cells
        .iter()
        .map(|&cell| &run.summary.cells[cell])
        .find(|cell| cell.method == method && does_more(run, cell) == more)
}

impl Real {
    pub fn sum(real: &[Real], count: fn(&Real) -> usize) -> usize {
        super::sum(real, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded run whose fastest cell is made one that does 5 % more of what the baseline does.
    fn with_more_as_the_best() -> RealRun {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../report/tests/fixtures/fault.json"
        );
        let mut summary: Summary =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let group = &mut summary.groups[0];
        let (base, leader) = (group.baseline.unwrap(), group.best[0].leader);
        assert_ne!(base, leader);
        group.best.truncate(1);
        (group.best[0].within, group.best[0].unsettled) = (Vec::new(), Vec::new());
        group.recommendation = Recommendation::Nothing;
        summary.groups.truncate(1);
        summary.cells[leader].method = summary.cells[base].method.clone();
        let least = summary.cells[base].parameters.bytes().unwrap();
        summary.cells[leader]
            .parameters
            .insert("bytes".to_owned(), (least / 100 * 105).to_string());
        let amount = CellWork {
            parameter: "bytes".to_owned(),
            least,
            most: 1.06,
        };
        RealRun {
            worker: "c-O3".to_owned(),
            amounts: [("fault".to_owned(), amount)].into(),
            summary,
        }
    }

    #[test]
    fn more_work_alone_in_the_best_set_is_a_wrong_sentence_where_the_lesser_was_ranked() {
        let mut run = with_more_as_the_best();
        assert_eq!(wrong_choices(&run, &run.summary.groups[0]), 1);
        let base = run.summary.groups[0].baseline.unwrap();
        run.summary.cells[base].outcome.status = Status::Untrusted;
        assert_eq!(wrong_choices(&run, &run.summary.groups[0]), 0);
    }
}
