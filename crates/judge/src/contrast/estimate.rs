//! Ratios of launches with their intervals: the one place where a ratio's statistics are chosen.

use crate::contrast::groups::{Group, groups};
use crate::evidence::Evidence;
use crate::evidence::pairs::{ComparedPair, Metric, RatioBasis};
use record::summary::{AaCheck, NoteKind, Verdict};
use record::{decision::Width, method::Role, state::State};
use stats::anytime::{launches_to_word, spoken};
use stats::estimate::{Point, Ratio, confidence, estimate, prior};
use stats::{interval::CONFIDENCE, moderated::Prior, verdicts::Region};
use std::collections::BTreeMap;

/// Confidence of the intervals that are shown, but where precision itself ended the run.
pub(crate) const LEVEL: f64 = CONFIDENCE;

/// The confidence of an experiment's intervals. While it runs it is the one that they have if precision ends it.
pub(crate) fn level(state: &State, experiment: &str) -> f64 {
    let by_precision = match &state.ended {
        Some(ended) => ended.notes.iter().any(|note| {
            matches!(note.kind, NoteKind::PrecisionReached(_))
                && (note.experiment.is_empty() || note.experiment == experiment)
        }),
        None => state.plan.precision > 0.0,
    };
    confidence(by_precision)
}

/// Confidence of an experiment's words in a run that ends on words: all experiments' together err as seldom as one's.
pub(crate) fn level_at_any_moment(state: &State) -> f64 {
    1.0 - (1.0 - LEVEL) / state.plan.experiments.len().max(1) as f64
}

/// The ratios of cells to one of their group. Their variances are pooled; the floor's is no method's and stays out.
pub(crate) fn against(
    state: &State,
    evidence: &Evidence,
    group: &Group,
    base: usize,
    metric: Metric,
) -> BTreeMap<usize, Ratio> {
    let compared: Vec<ComparedPair> = group
        .compared_with(base)
        .filter_map(|cell| evidence.compared(base, cell, metric))
        .collect();
    let basis = RatioBasis {
        base,
        metric,
        compared: compared.iter().map(ComparedPair::version).collect(),
        level: level(state, &group.experiment.name),
        precision: state.plan.precision,
    };
    evidence.ratios(basis, |basis| {
        let methods: Vec<Vec<Point>> = compared
            .iter()
            .filter(|compared| state.cells[compared.cell].method.role != Role::Null)
            .map(|compared| compared.points.clone())
            .collect();
        let common = prior(&methods);
        compared
            .iter()
            .filter_map(|compared| {
                let ratio = at_its_level(&compared.points, &common, basis)?;
                Some((compared.cell, ratio))
            })
            .collect()
    })
}

/// A ratio at its level. A cell leaves the launches as soon as its ratio is as narrow as asked, so a ratio that is has the
/// level of a run that its precision ended, however the run ended.
fn at_its_level(points: &[Point], common: &Prior, basis: &RatioBasis) -> Option<Ratio> {
    let ratio = estimate(points, common, confidence(true)).ok()?;
    if ratio.half_width() <= basis.precision {
        Some(ratio)
    } else {
        ratio.at(basis.level).ok()
    }
}

/// One cell's ratio to another by itself.
pub(crate) fn alone(
    evidence: &Evidence,
    base: usize,
    cell: usize,
    metric: Metric,
    level: f64,
) -> Option<Ratio> {
    estimate(&evidence.points(base, cell, metric)?, &Prior::NONE, level).ok()
}

/// The logarithm of each ratio of two costs of the same block, in the order of `cell`; blocks of one side and costs that have
/// no finite ratio are left out.
pub(crate) fn logs_by_block<B: Ord>(
    base: impl Iterator<Item = (B, f64)>,
    cell: impl Iterator<Item = (B, f64)>,
) -> Vec<f64> {
    let mut first: BTreeMap<B, f64> = BTreeMap::new();
    for (block, cost) in base {
        first.entry(block).or_insert(cost);
    }
    cell.filter_map(|(block, cost)| Some((cost / first.get(&block)?).ln()))
        .filter(|log| log.is_finite())
        .collect()
}

/// The ratio from one logarithm a launch, in the order in which they ran, of whose rounds nothing is known.
pub(crate) fn of_series(logs: &[f64], level: f64) -> Option<Ratio> {
    let points: Vec<Point> = logs
        .iter()
        .map(|log| Point {
            log: *log,
            rounds: 1,
            round_variance: 0.0,
        })
        .collect();
    estimate(&points, &Prior::NONE, level).ok()
}

/// The widths of all headline ratios of an experiment that have one. Where none of them is ranked, all are.
pub fn half_widths(state: &State, evidence: &Evidence, experiment: &str) -> Vec<Width> {
    let mut widths = Vec::new();
    let mut headlines: Vec<Headline> = Vec::new();
    for group in groups(state, Some(experiment)) {
        let Some((base, measure)) = group.baseline.zip(group.headline_measure()) else {
            continue;
        };
        let ratios = against(state, evidence, &group, base, Metric::wall(measure));
        for cell in group.compared_with(base) {
            let planned = &state.cells[cell];
            // How wide the floor's ratio is does not matter: nobody chooses it.
            if planned.method.role == Role::Null {
                continue;
            }
            if let Some(ratio) = ratios.get(&cell) {
                if matches!(planned.method.role, Role::Method | Role::Published) {
                    headlines.push(Headline {
                        width: widths.len(),
                        ratio: *ratio,
                        twin: group.twin.and_then(|twin| ratios.get(&twin)).copied(),
                    });
                }
                widths.push(Width {
                    base,
                    cell,
                    half_width: ratio.half_width(),
                    ranked: !planned.twin
                        && planned.cell.worker == state.cells[base].cell.worker
                        && planned.method.group.is_empty()
                        && matches!(planned.method.role, Role::Method | Role::Published),
                    settled: false,
                    word_at: None,
                });
            }
        }
    }
    if state.plan.ends_on_words {
        settle(state, &headlines, &mut widths);
    }
    if !widths.iter().any(|w| w.ranked) {
        widths.iter_mut().for_each(|w| w.ranked = true);
    }
    widths
}

/// A headline ratio of a method in a run that ends on words.
struct Headline {
    /// Its place among the widths.
    width: usize,
    ratio: Ratio,
    /// The ratio of its group's hidden duplicate.
    twin: Option<Ratio>,
}

/// Marks the ratios of which is known what to say: the word holds at any moment, and a weak A/A check explains it by no bias.
fn settle(state: &State, headlines: &[Headline], widths: &mut [Width]) {
    let margin = state.plan.margin;
    let ratios: Vec<(Ratio, f64)> = headlines
        .iter()
        .map(|headline| (headline.ratio, margin))
        .collect();
    let level = level_at_any_moment(state);
    let regions = spoken(&ratios, level);
    let open = regions
        .iter()
        .filter(|region| **region == Region::Undecided)
        .count();
    for (headline, region) in headlines.iter().zip(regions) {
        let beyond_check = headline.twin.filter(AaCheck::is_weak).is_none_or(|twin| {
            let (low, high) = (headline.ratio.low, headline.ratio.high);
            Verdict::from_interval(low, high, twin.half_width()).differs()
        });
        let width = &mut widths[headline.width];
        width.settled = region != Region::Undecided && beyond_check;
        if region == Region::Undecided {
            width.word_at = launches_to_word(&headline.ratio, margin, open, level);
        }
    }
}

/// Every cell against the baseline of its group by the headline: the logarithm of each launch's ratio, in their order.
pub fn launch_logs(state: &State, evidence: &Evidence) -> Vec<(usize, Vec<f64>)> {
    let mut logs = Vec::new();
    for group in groups(state, None) {
        let Some((base, measure)) = group.baseline.zip(group.headline_measure()) else {
            continue;
        };
        for cell in group.compared_with(base) {
            let points = evidence.points(base, cell, Metric::wall(measure));
            logs.extend(points.map(|points| (cell, logs_of(&points))));
        }
    }
    logs
}

pub(crate) fn logs_of(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.log).collect()
}

/// Every group's baseline against its hidden duplicate, and the logarithm of each launch's ratio.
pub fn twins(state: &State, evidence: &Evidence) -> Vec<(Ratio, Vec<f64>)> {
    let mut estimates = Vec::new();
    for group in groups(state, None) {
        let measure = group.headline_measure();
        let Some(((base, twin), measure)) = group.baseline.zip(group.twin).zip(measure) else {
            continue;
        };
        let metric = Metric::wall(measure);
        let ratios = against(state, evidence, &group, base, metric);
        let Some(ratio) = ratios.get(&twin) else {
            continue;
        };
        let launches = evidence.points(base, twin, metric).unwrap_or_default();
        estimates.push((*ratio, logs_of(&launches)));
    }
    estimates
}
