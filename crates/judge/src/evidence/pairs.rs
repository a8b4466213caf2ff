//! Pairs of cells that are compared: what each launch says of their ratio. A launch is paired once, however often the run is
//! looked at; the next look adds those that came since.

use crate::evidence::{CellEvidence, CellLaunch, Evidence, Figures};
use stats::estimate::{Point, Ratio};
use std::cell::RefCell;
use std::{borrow::Cow, collections::BTreeMap};

/// Cost of a phase in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// Baseline, metric and compared cells of ratios that were estimated together.
type RatiosKey = (usize, Metric, Vec<usize>);

/// All pairs of a run that were asked for, and the ratios that followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pairs: RefCell<BTreeMap<PairOf, Pair>>,
    ratios: RefCell<BTreeMap<RatiosKey, KeptRatios>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PairOf {
    base: usize,
    cell: usize,
    metric: Metric,
}

/// The points of a cell that is compared.
pub(crate) struct ComparedPair {
    pub cell: usize,
    pub points: Vec<Point>,
    changes: u64,
}

impl ComparedPair {
    /// The cell, and how often its points have changed.
    pub fn version(&self) -> (usize, u64) {
        (self.cell, self.changes)
    }
}

/// What the ratios of cells to one of their group follow from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RatioBasis {
    pub base: usize,
    pub metric: Metric,
    /// Each compared cell, and how often its points have changed.
    pub compared: Vec<(usize, u64)>,
    pub level: f64,
    pub precision: f64,
}

#[derive(Clone, Debug)]
struct KeptRatios {
    basis: RatioBasis,
    ratios: BTreeMap<usize, Ratio>,
}

/// The launches of two cells, paired.
#[derive(Clone, Debug, Default)]
struct Pair {
    base: PairedLaunches,
    cell: PairedLaunches,
    /// The first launch of the base in each block, by its place.
    by_block: BTreeMap<i32, usize>,
    /// One for each launch of the cell.
    launches: Vec<Paired>,
    /// Those that wait for a launch of the base, by their places.
    alone: Vec<usize>,
    /// True if a sample is zero: then all launches count by their means.
    has_zeros: bool,
    /// How often a launch has come.
    changes: u64,
}

/// One launch of the cell.
#[derive(Clone, Copy, Debug)]
struct Paired {
    launch: usize,
    /// Its points. None where the base was not launched in its block, or a side has no costs.
    points: Option<PairedPoints>,
}

/// The points of a launch; none where it has no finite ratio.
#[derive(Clone, Copy, Debug)]
struct PairedPoints {
    by_rounds: Option<Point>,
    by_means: Option<Point>,
}

/// The launches of a cell that are paired: how many, and the number of the last one. Launches are only ever appended, so that
/// these tell whether the others are still there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PairedLaunches {
    launches: usize,
    last: Option<usize>,
}

impl PairedLaunches {
    fn all(launches: &[CellLaunch]) -> PairedLaunches {
        PairedLaunches {
            launches: launches.len(),
            last: launches.last().map(|launch| launch.launch),
        }
    }

    /// Tells whether they are the first ones of these.
    fn begin(&self, launches: &[CellLaunch]) -> bool {
        launches
            .get(..self.launches)
            .is_some_and(|first| PairedLaunches::all(first) == *self)
    }
}

impl Evidence {
    /// The ratio of a cell to another in every block in which both were launched, with the number of the cell's launch, in the
    /// order in which they ran; `None` where a launch has no finite ratio. Where any sample is zero, all launches count by
    /// their means.
    pub(crate) fn numbered(
        &self,
        base: usize,
        cell: usize,
        metric: Metric,
    ) -> Option<Vec<(usize, Point)>> {
        self.paired(base, cell, metric, Pair::numbered)?
    }

    /// The same without the numbers.
    pub(crate) fn points(&self, base: usize, cell: usize, metric: Metric) -> Option<Vec<Point>> {
        Some(self.compared(base, cell, metric)?.points)
    }

    /// The same as a part of a group.
    pub(crate) fn compared(
        &self,
        base: usize,
        cell: usize,
        metric: Metric,
    ) -> Option<ComparedPair> {
        self.paired(base, cell, metric, |pair| {
            let points = pair.numbered()?.into_iter().map(|(_, point)| point);
            Some(ComparedPair {
                cell,
                points: points.collect(),
                changes: pair.changes,
            })
        })?
    }

    /// The ratios of a group, computed where they were not, or where a launch has come since.
    pub(crate) fn ratios(
        &self,
        basis: RatioBasis,
        compute: impl FnOnce(&RatioBasis) -> BTreeMap<usize, Ratio>,
    ) -> BTreeMap<usize, Ratio> {
        let cells = basis.compared.iter().map(|(cell, _)| *cell).collect();
        let key = (basis.base, basis.metric, cells);
        if let Some(kept) = self.pairs.ratios.borrow().get(&key)
            && kept.basis == basis
        {
            return kept.ratios.clone();
        }
        let ratios = compute(&basis);
        let kept = KeptRatios {
            basis,
            ratios: ratios.clone(),
        };
        self.pairs.ratios.borrow_mut().insert(key, kept);
        ratios
    }

    /// A part of a pair with all launches so far.
    fn paired<T>(
        &self,
        base: usize,
        cell: usize,
        metric: Metric,
        part: impl FnOnce(&Pair) -> T,
    ) -> Option<T> {
        let (base_evidence, cell_evidence) = (self.cells.get(&base)?, self.cells.get(&cell)?);
        let mut pairs = self.pairs.pairs.borrow_mut();
        let pair = pairs.entry(PairOf { base, cell, metric }).or_default();
        pair.extend(base_evidence, cell_evidence, metric);
        Some(part(pair))
    }
}

impl Pair {
    /// Pairs the launches that are new. Where others than new ones changed, it pairs all again.
    fn extend(&mut self, base: &CellEvidence, cell: &CellEvidence, metric: Metric) {
        if !self.base.begin(&base.launches) || !self.cell.begin(&cell.launches) {
            *self = Pair {
                changes: self.changes + 1,
                ..Pair::default()
            };
        }
        let known = (self.base.launches, self.cell.launches);
        if known == (base.launches.len(), cell.launches.len()) {
            return;
        }
        self.changes += 1;
        for (place, launch) in base.launches.iter().enumerate().skip(known.0) {
            self.by_block.entry(launch.block).or_insert(place);
        }
        for (place, launch) in cell.launches.iter().enumerate().skip(known.1) {
            self.launches.push(Paired {
                launch: launch.launch,
                points: None,
            });
            self.alone.push(place);
        }
        for place in std::mem::take(&mut self.alone) {
            let launch = &cell.launches[place];
            match self.by_block.get(&launch.block) {
                None => self.alone.push(place),
                Some(&partner) => {
                    let pair = LaunchPair::new(&base.launches[partner], launch, metric);
                    self.has_zeros |= pair.has_zeros() && !pair.is_empty();
                    self.launches[place].points = pair.points();
                }
            }
        }
        self.base = PairedLaunches::all(&base.launches);
        self.cell = PairedLaunches::all(&cell.launches);
    }

    fn numbered(&self) -> Option<Vec<(usize, Point)>> {
        let mut points = Vec::with_capacity(self.launches.len());
        for paired in &self.launches {
            if let Some(either) = &paired.points {
                let point = if self.has_zeros {
                    either.by_means
                } else {
                    either.by_rounds
                };
                points.push((paired.launch, point?));
            }
        }
        Some(points)
    }
}

/// Results of a launch for both: round by round where they shared a process, otherwise each side by itself.
struct LaunchPair<'a> {
    is_paired: bool,
    base: Cow<'a, [f64]>,
    cell: Cow<'a, [f64]>,
}

impl<'a> LaunchPair<'a> {
    fn new(base: &'a CellLaunch, cell: &'a CellLaunch, metric: Metric) -> LaunchPair<'a> {
        let (base_costs, cell_costs) = (metric.costs(base), metric.costs(cell));
        let is_whole =
            base_costs.len() == base.rounds.len() && cell_costs.len() == cell.rounds.len();
        let is_paired = base.launch == cell.launch && is_whole;
        if !is_paired || base.rounds == cell.rounds {
            return LaunchPair {
                is_paired,
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
            is_paired,
            base: base.into(),
            cell: cell.into(),
        }
    }

    fn is_empty(&self) -> bool {
        self.base.is_empty() || self.cell.is_empty()
    }

    fn points(&self) -> Option<PairedPoints> {
        if self.is_empty() {
            return None;
        }
        Some(PairedPoints {
            by_rounds: self.of_rounds(),
            by_means: self.of_means(),
        })
    }

    fn has_zeros(&self) -> bool {
        self.base
            .iter()
            .chain(self.cell.iter())
            .any(|cost| *cost == 0.0)
    }

    fn of_rounds(&self) -> Option<Point> {
        if self.is_paired {
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
    use stats::rng::Seeded;

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
            idle: BTreeMap::new(),
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

    fn ratio(base: &CellEvidence, cell: &CellEvidence) -> Option<(f64, usize)> {
        let evidence = Evidence {
            cells: BTreeMap::from([(0, base.clone()), (1, cell.clone())]),
            ..Evidence::default()
        };
        let found = evidence.points(0, 1, Metric::wall(0))?;
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

    /// Launches of two cells that come in any order: in blocks of both, of one or again, of few rounds or none, some with zeros.
    fn launches(random: &mut Seeded) -> Vec<(usize, CellLaunch)> {
        let with_zeros = random.unit() < 0.3;
        let mut below = |end: f64| (random.unit() * end) as usize;
        let mut launches = Vec::new();
        for number in 0..30 {
            let rounds: Vec<i32> = (0..4).filter(|_| below(4.0) > 0).collect();
            let cost = |_: &i32| (below(9.0) + usize::from(!with_zeros)) as f64;
            let costs: Vec<f64> = rounds.iter().map(cost).collect();
            let [of_cell, block] = [below(2.0), below(12.0)];
            let mut launch = cell(number, &rounds, &costs).launches.remove(0);
            launch.block = block as i32;
            launches.push((of_cell, launch.clone()));
            // Both sides in one process.
            if below(3.0) == 0 {
                launches.push((1 - of_cell, launch));
            }
        }
        launches
    }

    fn as_from_nothing(evidence: &Evidence) -> String {
        let anew = Evidence {
            pairs: Pairs::default(),
            ..evidence.clone()
        };
        format!("{:?}", anew.numbered(0, 1, Metric::wall(0)))
    }

    #[test]
    fn what_is_kept_is_what_would_be_paired_anew() {
        let mut random = Seeded::new(7);
        for _ in 0..200 {
            let mut evidence = Evidence {
                cells: BTreeMap::from([(0, CellEvidence::default()), (1, CellEvidence::default())]),
                ..Evidence::default()
            };
            for (place, launch) in launches(&mut random) {
                let side = evidence.cells.get_mut(&place).unwrap();
                side.launches.push(launch);
                // Nothing takes a launch away today.
                if random.unit() < 0.02 {
                    side.launches.remove(0);
                }
                if random.unit() < 0.5 {
                    let kept = format!("{:?}", evidence.numbered(0, 1, Metric::wall(0)));
                    assert_eq!(kept, as_from_nothing(&evidence));
                }
            }
        }
    }
}
