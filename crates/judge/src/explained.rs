//! Derivation of one verdict, step by step, for those who doubt it.

use crate::evidence::pairs::Metric;
use crate::evidence::{Evidence, one_by_one};
use crate::{KnownMethods, contrast::groups::groups, summarise::replay_with_evidence};
use anyhow::{Result, bail};
use record::outcome::{Outcome, Status};
use record::summary::{Calibration, Comparison, Ratio};
use record::{cell::Selector, folder::RunFolder, state::State};
use stats::moved::{LEAST_IN_ORDER, alike_by_chance};
use stats::{estimate::estimate, interval::CONFIDENCE, moderated::Prior, t::mean_and_deviation};

/// One launch of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct LaunchRatio {
    pub launch: usize,
    pub rounds: usize,
    pub ratio: f64,
    /// Scatter of a round's ratio within the launch, as a share; zero where it is not known.
    pub round_spread: f64,
}

/// Everything that made one headline's verdict.
#[derive(Clone, Debug)]
pub struct Explained {
    pub cell: String,
    pub base: String,
    pub parameters: String,
    pub phase: String,
    pub launches: Vec<LaunchRatio>,
    /// Student's interval of the launches, all counted the same.
    pub student: Option<Ratio>,
    /// The cell's interval by itself: weights by rounds, and the order of the launches.
    pub alone: Option<Ratio>,
    /// The probability of neighbours this much alike by chance; absent below eight launches.
    pub alike: Option<f64>,
    pub aa: Option<(Ratio, bool)>,
    pub calibration: Calibration,
    pub margin: f64,
    pub comparison: Comparison,
    /// The outcome of the cell, or of the baseline, that has no figures.
    pub outcome: Option<Outcome>,
}

/// Explains the headline verdicts of the cells of a kept run that these words name: `EXPERIMENT/METHOD[@WORKER]`.
pub fn explain(folder: &RunFolder, selector: &str, known: &KnownMethods) -> Result<Vec<Explained>> {
    let wanted = Selector::parse(selector)?;
    let (state, evidence, summary) = replay_with_evidence(folder, &one_by_one, known)?;
    let groups = groups(&state, None);
    let mut explanations = Vec::new();
    for (group, judged) in groups.iter().zip(&summary.groups) {
        let Some(base) = group.baseline else { continue };
        let phase = group.experiment.headline();
        for comparison in judged
            .comparisons
            .iter()
            .filter(|c| c.phase == phase && names(&wanted, &state, c.cell))
        {
            let cell = comparison.cell;
            let numbers = launches(
                &evidence,
                base,
                cell,
                group.experiment.measures().position(|m| m == phase),
            );
            let logs: Vec<f64> = numbers.iter().map(|(_, point)| point.log).collect();
            let points: Vec<_> = numbers.iter().map(|(_, point)| *point).collect();
            let level = comparison
                .contrast
                .ratio
                .map_or(CONFIDENCE, |ratio| ratio.level);
            let sides = [&summary.cells[cell], &summary.cells[base]];
            explanations.push(Explained {
                cell: summary.cells[cell].cell.clone(),
                base: summary.cells[base].cell.clone(),
                parameters: record::cell::parameter_words(
                    &group.parameters,
                    Some(&state.cells[cell].method),
                ),
                phase: phase.to_owned(),
                launches: numbers
                    .iter()
                    .map(|(launch, point)| LaunchRatio {
                        launch: *launch,
                        rounds: point.rounds,
                        ratio: point.log.exp(),
                        round_spread: point.round_variance.sqrt(),
                    })
                    .collect(),
                student: student(&logs, level),
                alone: estimate(&points, &Prior::NONE, level).ok(),
                alike: (logs.len() >= LEAST_IN_ORDER)
                    .then(|| alike_by_chance(&logs).ok())
                    .flatten(),
                aa: judged.aa.map(|aa| (aa.ratio, aa.differs)),
                calibration: summary.calibration,
                margin: summary.settings.margin,
                comparison: comparison.clone(),
                outcome: sides
                    .iter()
                    .find(|cell| cell.outcome.status != Status::Ok)
                    .map(|cell| cell.outcome.clone()),
            });
        }
    }
    if explanations.is_empty() {
        bail!(
            "the run compares nothing called {selector}; a baseline is compared with nothing but itself"
        );
    }
    Ok(explanations)
}

fn names(wanted: &Selector, state: &State, cell: usize) -> bool {
    let cell = &state.cells[cell].cell;
    cell.experiment == wanted.experiment
        && wanted
            .method
            .as_ref()
            .is_none_or(|method| *method == cell.method)
        && wanted
            .worker
            .as_ref()
            .is_none_or(|worker| *worker == cell.worker)
}

fn launches(
    evidence: &Evidence,
    base: usize,
    cell: usize,
    measure: Option<usize>,
) -> Vec<(usize, stats::estimate::Point)> {
    measure
        .and_then(|measure| evidence.numbered(base, cell, Metric::wall(measure)))
        .unwrap_or_default()
}

fn student(logs: &[f64], level: f64) -> Option<Ratio> {
    let n = logs.len();
    let (mean, deviation) = mean_and_deviation(logs).filter(|_| n > 1)?;
    let error = deviation / (n as f64).sqrt();
    Ratio::of_log(mean, error, (n - 1) as f64, n, level).ok()
}
