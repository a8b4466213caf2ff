//! Ratios of launches with their intervals: the one place where a ratio's statistics are chosen.

use crate::contrast::groups::{Group, groups};
use crate::evidence::{CellEvidence, CellLaunch, Evidence, Figures};
use record::summary::{AaCheck, NoteKind, Verdict};
use record::{decision::Width, method::Role, state::State};
use stats::anytime::spoken;
use stats::estimate::{Point, Ratio, confidence, estimate, prior};
use stats::{interval::CONFIDENCE, moderated::Prior, verdicts::Region};
use std::{borrow::Cow, collections::BTreeMap};

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
    let Some(base_evidence) = evidence.cells.get(&base) else {
        return BTreeMap::new();
    };
    let mut contrasts: Vec<(usize, Vec<Point>)> = Vec::new();
    for cell in group.compared_with(base) {
        let cell_evidence = evidence.cells.get(&cell);
        if let Some(points) = cell_evidence.and_then(|e| points(base_evidence, e, metric)) {
            contrasts.push((cell, points));
        }
    }
    let methods: Vec<Vec<Point>> = contrasts
        .iter()
        .filter(|(cell, _)| state.cells[*cell].method.role != Role::Null)
        .map(|(_, points)| points.clone())
        .collect();
    let common = prior(&methods);
    let level = level(state, &group.experiment.name);
    contrasts
        .iter()
        .filter_map(|(cell, points)| {
            let ratio = at_its_level(points, &common, state.plan.precision, level)?;
            Some((*cell, ratio))
        })
        .collect()
}

/// A ratio at its level. A cell leaves the launches as soon as its ratio is as narrow as asked, so a ratio that is has the
/// level of a run that its precision ended, however the run ended.
fn at_its_level(points: &[Point], common: &Prior, precision: f64, level: f64) -> Option<Ratio> {
    estimate(points, common, confidence(true))
        .ok()
        .filter(|ratio| ratio.half_width() <= precision)
        .or_else(|| estimate(points, common, level).ok())
}

/// One cell's ratio to another by itself.
pub(crate) fn alone(
    base: &CellEvidence,
    cell: &CellEvidence,
    metric: Metric,
    level: f64,
) -> Option<Ratio> {
    estimate(&points(base, cell, metric)?, &Prior::NONE, level).ok()
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
    let mut asked: Vec<Asked> = Vec::new();
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
                    asked.push(Asked {
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
                });
            }
        }
    }
    if state.plan.ends_on_words {
        settle(state, &asked, &mut widths);
    }
    if !widths.iter().any(|w| w.ranked) {
        widths.iter_mut().for_each(|w| w.ranked = true);
    }
    widths
}

/// A headline ratio of a method in a run that ends on words.
struct Asked {
    /// Its place among the widths.
    width: usize,
    ratio: Ratio,
    /// The ratio of its group's hidden duplicate.
    twin: Option<Ratio>,
}

/// Marks the ratios of which is known what to say: the word holds at any moment, and a weak A/A check explains it by no bias.
fn settle(state: &State, asked: &[Asked], widths: &mut [Width]) {
    let margin = state.plan.margin;
    let ratios: Vec<(Ratio, f64)> = asked.iter().map(|one| (one.ratio, margin)).collect();
    let words = spoken(&ratios, level_at_any_moment(state));
    for (one, word) in asked.iter().zip(words) {
        let beyond_check = one.twin.filter(AaCheck::is_weak).is_none_or(|twin| {
            Verdict::from_interval(one.ratio.low, one.ratio.high, twin.half_width()).differs()
        });
        widths[one.width].settled = word != Region::Undecided && beyond_check;
    }
}

/// Every cell against the baseline of its group by the headline: the logarithm of each launch's ratio, in their order.
pub fn launch_logs(state: &State, evidence: &Evidence) -> Vec<(usize, Vec<f64>)> {
    let mut logs = Vec::new();
    for group in groups(state, None) {
        let Some((base, measure)) = group.baseline.zip(group.headline_measure()) else {
            continue;
        };
        let Some(base_evidence) = evidence.cells.get(&base) else {
            continue;
        };
        for cell in group.compared_with(base) {
            let points = evidence
                .cells
                .get(&cell)
                .and_then(|e| points(base_evidence, e, Metric::wall(measure)));
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
        let Some((base, twin)) = evidence.cells.get(&base).zip(evidence.cells.get(&twin)) else {
            continue;
        };
        let launches = points(base, twin, metric).unwrap_or_default();
        estimates.push((*ratio, logs_of(&launches)));
    }
    estimates
}

/// Cost of a phase in each round.
#[derive(Clone, Copy)]
pub(crate) enum PairedCost {
    Wall,
    Cpu,
    Faults,
}

pub(crate) fn column(figures: &Figures, column: PairedCost) -> &[f64] {
    match column {
        PairedCost::Wall => &figures.wall_ns,
        PairedCost::Cpu => &figures.cpu_ns,
        PairedCost::Faults => &figures.minor_faults,
    }
}

/// Metric of a comparison: a measure of the experiment, by its place, and a cost of it.
#[derive(Clone, Copy)]
pub(crate) struct Metric {
    pub measure: usize,
    pub cost: PairedCost,
}

impl Metric {
    pub fn wall(measure: usize) -> Metric {
        Metric {
            measure,
            cost: PairedCost::Wall,
        }
    }

    fn costs(self, launch: &CellLaunch) -> &[f64] {
        column(&launch.measures[self.measure], self.cost)
    }
}

/// The ratio of a cell to another in every block in which both were launched, with the number of the cell's launch, in the
/// order in which they ran; `None` where a launch has no finite ratio. Where any sample is zero, all launches count by their
/// means.
pub(crate) fn numbered(
    base: &CellEvidence,
    cell: &CellEvidence,
    metric: Metric,
) -> Option<Vec<(usize, Point)>> {
    let by_block: BTreeMap<i32, &CellLaunch> = base
        .launches
        .iter()
        .rev()
        .map(|launch| (launch.block, launch))
        .collect();
    let mut pairs: Vec<(usize, LaunchPair)> = Vec::new();
    for launch in &cell.launches {
        let Some(base) = by_block.get(&launch.block) else {
            continue;
        };
        let pair = LaunchPair::new(base, launch, metric);
        if !pair.base.is_empty() && !pair.cell.is_empty() {
            pairs.push((launch.launch, pair));
        }
    }
    let by_means = pairs.iter().any(|(_, pair)| pair.has_zeros());
    let mut points = Vec::new();
    for (launch, pair) in &pairs {
        let point = if by_means {
            pair.of_means()?
        } else {
            pair.of_rounds()?
        };
        points.push((*launch, point));
    }
    Some(points)
}

/// The same without the numbers.
pub(crate) fn points(
    base: &CellEvidence,
    cell: &CellEvidence,
    metric: Metric,
) -> Option<Vec<Point>> {
    let numbered = numbered(base, cell, metric)?;
    Some(numbered.into_iter().map(|(_, point)| point).collect())
}

/// Results of a launch for both: round by round where they shared a process, otherwise each side by itself.
struct LaunchPair<'a> {
    paired: bool,
    base: Cow<'a, [f64]>,
    cell: Cow<'a, [f64]>,
}

impl<'a> LaunchPair<'a> {
    fn new(base: &'a CellLaunch, cell: &'a CellLaunch, metric: Metric) -> LaunchPair<'a> {
        let (base_costs, cell_costs) = (metric.costs(base), metric.costs(cell));
        let is_whole =
            base_costs.len() == base.rounds.len() && cell_costs.len() == cell.rounds.len();
        let paired = base.launch == cell.launch && is_whole;
        if !paired || base.rounds == cell.rounds {
            return LaunchPair {
                paired,
                base: base_costs.into(),
                cell: cell_costs.into(),
            };
        }
        // Who takes part in fewer rounds is compared with the other's figures of just these.
        let in_round: BTreeMap<i32, f64> = base
            .rounds
            .iter()
            .copied()
            .zip(base_costs.iter().copied())
            .collect();
        let (base, cell): (Vec<f64>, Vec<f64>) = cell
            .rounds
            .iter()
            .zip(cell_costs)
            .filter_map(|(round, cost)| Some((*in_round.get(round)?, *cost)))
            .unzip();
        LaunchPair {
            paired,
            base: base.into(),
            cell: cell.into(),
        }
    }

    fn has_zeros(&self) -> bool {
        self.base
            .iter()
            .chain(self.cell.iter())
            .any(|cost| *cost == 0.0)
    }

    fn of_rounds(&self) -> Option<Point> {
        if self.paired {
            let logs: Vec<f64> = self
                .cell
                .iter()
                .zip(self.base.iter())
                .map(|(cell, base)| (cell / base).ln())
                .collect();
            Point::of_rounds(&logs).ok()
        } else {
            Point::of_sides(&logarithms(&self.base), &logarithms(&self.cell)).ok()
        }
    }

    fn of_means(&self) -> Option<Point> {
        let log = (mean(&self.cell) / mean(&self.base)).ln();
        log.is_finite().then(|| Point {
            log,
            rounds: self.base.len().min(self.cell.len()),
            round_variance: 0.0,
        })
    }
}

fn logarithms(costs: &[f64]) -> Vec<f64> {
    costs.iter().map(|cost| cost.ln()).collect()
}

fn mean(costs: &[f64]) -> f64 {
    costs.iter().sum::<f64>() / costs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(launch: usize, rounds: &[i32], wall_ns: &[f64]) -> CellEvidence {
        let figures = Figures {
            wall_ns: wall_ns.to_vec(),
            ..Figures::default()
        };
        let launch = CellLaunch {
            launch,
            block: 0,
            measures: vec![figures],
            rounds: rounds.to_vec(),
            latencies: BTreeMap::new(),
            interrupted: 0.0,
            noise: None,
            wall_s: 1.0,
            laboratory_cpu_s: 0.0,
        };
        CellEvidence {
            launches: vec![launch],
            ..CellEvidence::default()
        }
    }

    fn ratio(a: &CellEvidence, b: &CellEvidence) -> Option<(f64, usize)> {
        let found = points(a, b, Metric::wall(0))?;
        Some((found.first()?.log.exp(), found[0].rounds))
    }

    #[test]
    fn who_comes_in_fewer_rounds_is_held_against_these() {
        let base = cell(0, &[0, 1, 2, 3], &[10.0, 100.0, 10.0, 100.0]);
        let (ratio, rounds) = ratio(&base, &cell(0, &[1, 3], &[200.0, 200.0])).unwrap();
        assert!((ratio - 2.0).abs() < 1e-12 && rounds == 2);
    }

    #[test]
    fn processes_of_their_own_are_compared_side_by_side() {
        let base = cell(0, &[0, 1], &[10.0, 10.0]);
        let (found, rounds) = ratio(&base, &cell(1, &[0, 1, 2], &[30.0, 30.0, 30.0])).unwrap();
        assert!((found - 3.0).abs() < 1e-12 && rounds == 2);
    }

    #[test]
    fn zeros_turn_to_means_and_nothing_has_no_ratio() {
        let base = cell(0, &[0, 1], &[0.0, 10.0]);
        assert!((ratio(&base, &cell(0, &[0, 1], &[10.0, 10.0])).unwrap().0 - 2.0).abs() < 1e-12);
        assert_eq!(ratio(&base, &cell(0, &[0, 1], &[0.0, 0.0])), None);
    }
}
