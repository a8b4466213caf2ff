//! Results of the self-test, compared with its promises.

use real::{Moves, Real, RealRun};
use record::summary::{Ratio, Verdict, WarningCode};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};
use stats::{quantile::median, verdicts::MARGIN};
use std::collections::BTreeMap;

pub mod real;

/// False alarms that are promised at most, and the share of intervals that may miss the truth.
pub const NOMINAL: f64 = 0.05;
/// A result counts as worse than promised where chance alone would be that bad or worse less often than this.
pub const SURE: f64 = 0.01;

/// Identical pairs of one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identical {
    /// `steps` or `pages`.
    pub work: String,
    pub runs: usize,
    pub comparisons: usize,
    /// Pairs that got no ratio, because the budget ended before launches enough.
    pub withheld: usize,
    /// Ratios whose interval excludes one.
    pub false_alarms: usize,
    pub beyond_margin: usize,
    /// Mean correlation between the launches of different pairs of one run; zero means that they are as good as independent.
    pub correlation: f64,
    pub half_width: f64,
    pub widest: f64,
    pub launches: f64,
    pub rounds: f64,
    pub sample_ns: f64,
    pub seconds: f64,
    /// Seconds until a comparison of two such cells has a half-width of 1 %, as widths shrink with the root of time.
    pub seconds_to_one_percent: f64,
}

/// Trials of one known effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownEffect {
    pub work: String,
    pub extra_permille: u64,
    pub truth: f64,
    /// The true ratio of the samples lies between this and `truth`: each also holds the stopwatch, which stays.
    pub truth_of_samples: f64,
    /// One read of the clock as a share of a sample: nothing is known more exactly.
    pub resolution: f64,
    pub trials: usize,
    pub withheld: usize,
    /// Ratios whose interval contains the truth.
    pub covered: usize,
    /// Ratios whose interval excludes one: the effect is seen.
    pub seen: usize,
    pub estimate: f64,
    pub half_width: f64,
    /// Verdicts against the margin, by word.
    pub verdicts: BTreeMap<String, usize>,
}

/// Identical cells judged by the usual method, a t test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    pub work: String,
    pub comparisons: usize,
    pub samples: usize,
    /// Comparisons in which a t test at 5 % announced a difference.
    pub announced: usize,
    pub beyond_margin: usize,
}

/// The whole finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    pub schema: u32,
    pub seed: u64,
    pub budget_s: f64,
    pub elapsed_s: f64,
    pub margin: f64,
    pub precision: f64,
    /// The level that false alarms may reach.
    pub nominal: f64,
    pub identical: Vec<Identical>,
    pub effects: Vec<KnownEffect>,
    pub real: Vec<Real>,
    /// True if a ratio that moves is said to move.
    pub moves: Moves,
    pub naive: Vec<Usual>,
    /// The chance of as many false alarms or more, if they were as frequent as promised.
    pub false_alarm_chance: f64,
    /// The chance of as few covered effects or fewer, if intervals were as good as promised.
    pub coverage_chance: f64,
    /// The chance of as many false alarms among real cells or more.
    pub real_chance: f64,
    /// The chance of as many wrong sentences about real cells or more, if one in twenty were.
    pub sentence_chance: f64,
    /// True if none is worse than chance explains.
    pub kept: bool,
    /// Warnings of the runs, by code: the cells they named.
    pub warnings: BTreeMap<WarningCode, usize>,
}

fn excludes(ratio: &Ratio, truth: f64) -> bool {
    ratio.low > truth || ratio.high < truth
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    median(&mut values.collect::<Vec<_>>()).unwrap_or(0.0)
}

/// P(X ≥ count) of a binomial number.
fn at_least(count: usize, trials: usize, share: f64) -> f64 {
    match (count, Binomial::new(share, trials as u64)) {
        (0, _) | (_, Err(_)) => 1.0,
        (count, Ok(binomial)) => binomial.sf(count as u64 - 1),
    }
}

/// Pearson's correlation; `None` where one side does not vary.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product: f64 = a
        .iter()
        .zip(b)
        .map(|(x, y)| (x - mean_a) * (y - mean_b))
        .sum();
    let both = (squares(a, mean_a) * squares(b, mean_b)).sqrt();
    (n > 2 && both > 0.0).then(|| product / both)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|x| (x - mean) * (x - mean)).sum()
}

/// A count summed up over results.
fn sum<T>(results: &[T], count: fn(&T) -> usize) -> usize {
    results.iter().map(count).sum()
}

/// The mean over all pairs of comparisons of one run.
fn mean_correlation(runs: &[&Done]) -> f64 {
    let mut correlations = Vec::new();
    for run in runs {
        for (i, (_, a)) in run.twins.iter().enumerate() {
            correlations.extend(
                run.twins[i + 1..]
                    .iter()
                    .filter_map(|(_, b)| correlation(a, b)),
            );
        }
    }
    if correlations.is_empty() {
        0.0
    } else {
        mean(&correlations)
    }
}

fn identical(work: WorkKind, done: &[Done]) -> Option<Identical> {
    let runs: Vec<&Done> = done.iter().filter(|d| d.work == work).collect();
    let ratios: Vec<&Ratio> = runs
        .iter()
        .flat_map(|d| d.twins.iter().map(|(ratio, _)| ratio))
        .collect();
    if runs.is_empty() {
        return None;
    }
    let seconds: f64 = runs.iter().map(|d| d.seconds).sum();
    let half_width = middle(ratios.iter().map(|r| r.half_width()));
    let cells: usize = runs.iter().map(|d| d.cells).sum();
    Some(Identical {
        work: work.method().to_owned(),
        runs: runs.len(),
        comparisons: ratios.len(),
        withheld: runs.iter().map(|d| d.planned).sum::<usize>() - ratios.len(),
        false_alarms: ratios.iter().filter(|r| excludes(r, 1.0)).count(),
        beyond_margin: ratios
            .iter()
            .filter(|r| Verdict::from_interval(r.low, r.high, MARGIN).differs())
            .count(),
        correlation: mean_correlation(&runs),
        half_width,
        widest: ratios.iter().map(|r| r.half_width()).fold(0.0, f64::max),
        launches: middle(runs.iter().map(|d| d.launches as f64)),
        rounds: middle(runs.iter().map(|d| f64::from(d.rounds))),
        sample_ns: middle(runs.iter().map(|d| d.sample_ns)),
        seconds,
        seconds_to_one_percent: 2.0 * seconds / cells as f64 * (half_width / 0.01).powi(2),
    })
}

/// The true ratio of samples that take `sample_ns` with the stopwatch's own `floor_ns` and have so much extra work. What
/// is around a loop besides its steps may cost as much as the stopwatch again, so twice the floor is allowed for.
fn truth_of_samples(extra: f64, sample_ns: f64, floor_ns: f64) -> f64 {
    1.0 + extra * (1.0 - 2.0 * floor_ns / sample_ns.max(1.0)).max(0.0)
}

/// Tells whether an interval holds the truth, which lies between two values. When within its read the clock is taken cannot be
/// known, so nothing is known more exactly than to one read of a sample: `resolution`.
fn holds(ratio: &Ratio, low: f64, high: f64, resolution: f64) -> bool {
    ratio.low - resolution <= high && ratio.high + resolution >= low
}

fn known_effect(work: WorkKind, extra_permille: u64, done: &[Done]) -> Option<KnownEffect> {
    let runs: Vec<&Done> = done.iter().filter(|d| d.work == work).collect();
    let sample_ns = middle(runs.iter().map(|d| d.sample_ns));
    let floor_ns = middle(runs.iter().map(|d| d.floor_ns));
    let clock_read_ns = middle(runs.iter().map(|d| d.clock_read_ns.max(1.0)));
    let resolution = clock_read_ns / sample_ns.max(1.0);
    let effects: Vec<&Effect> = runs
        .iter()
        .flat_map(|d| &d.effects)
        .filter(|e| e.extra_permille == extra_permille)
        .collect();
    let ratios: Vec<&Ratio> = effects.iter().filter_map(|e| e.ratio.as_ref()).collect();
    let truth = 1.0 + extra_permille as f64 / 1000.0;
    let least = truth_of_samples(truth - 1.0, sample_ns, floor_ns);
    let mut verdicts = BTreeMap::new();
    for effect in effects.iter().filter(|e| e.ratio.is_some()) {
        let word = match effect.verdict {
            Verdict::Faster { .. } => "faster",
            Verdict::Slower { .. } => "slower",
            Verdict::Within { .. } => "within the margin",
            Verdict::NotSettled => "open",
        };
        *verdicts.entry(word.to_owned()).or_insert(0) += 1;
    }
    (!effects.is_empty()).then(|| KnownEffect {
        work: work.method().to_owned(),
        resolution,
        extra_permille,
        truth,
        truth_of_samples: least,
        trials: ratios.len(),
        withheld: effects.len() - ratios.len(),
        covered: ratios
            .iter()
            .filter(|r| holds(r, least, truth, resolution))
            .count(),
        seen: ratios.iter().filter(|r| r.low > 1.0).count(),
        estimate: middle(ratios.iter().map(|r| r.ratio)),
        half_width: middle(ratios.iter().map(|r| r.half_width())),
        verdicts,
    })
}

/// The chance of so many false alarms or more. Where the pairs of a run vary together they count as fewer comparisons.
fn false_alarm_chance(identical: &[Identical]) -> f64 {
    let (mut alarms, mut trials) = (0.0, 0.0);
    for identical in identical.iter().filter(|i| i.comparisons > 0) {
        let together = identical.comparisons as f64 / identical.runs as f64;
        let design_effect = 1.0 + (together - 1.0).max(0.0) * identical.correlation.max(0.0);
        alarms += identical.false_alarms as f64 / design_effect;
        trials += identical.comparisons as f64 / design_effect;
    }
    at_least(alarms.round() as usize, trials.round() as usize, NOMINAL)
}

impl SelfTest {
    /// Counts what the runs brought.
    pub fn from_trials(
        done: &[Done],
        runs: &[RealRun],
        naive: Vec<Usual>,
        seed: u64,
        budget_s: f64,
        elapsed_s: f64,
    ) -> SelfTest {
        let (real, moves) = real::count(runs);
        let real_chance = at_least(
            sum(&real, |r| r.false_alarms),
            sum(&real, |r| r.pairs),
            NOMINAL,
        );
        let sentence_chance = at_least(
            sum(&real, |r| r.wrong_sentences + r.missed),
            sum(&real, |r| r.more + r.pairs),
            NOMINAL,
        );
        let identical: Vec<Identical> = [WorkKind::Steps, WorkKind::Pages]
            .iter()
            .filter_map(|w| identical(*w, done))
            .collect();
        let effects: Vec<KnownEffect> = [WorkKind::Steps, WorkKind::Pages]
            .iter()
            .flat_map(|work| {
                EXTRAS
                    .iter()
                    .filter_map(|extra| known_effect(*work, *extra, done))
            })
            .collect();
        let trials = sum(&effects, |e| e.trials);
        let missed = trials - sum(&effects, |e| e.covered);
        let false_alarm_chance = false_alarm_chance(&identical);
        let coverage_chance = at_least(missed, trials, NOMINAL);
        let mut warnings = BTreeMap::new();
        for (code, count) in done.iter().flat_map(|d| &d.warnings) {
            *warnings.entry(*code).or_insert(0) += count;
        }
        SelfTest {
            schema: record::plan::SCHEMA,
            seed,
            budget_s,
            elapsed_s,
            margin: MARGIN,
            precision: PRECISION,
            nominal: NOMINAL,
            identical,
            effects,
            real,
            moves,
            naive,
            false_alarm_chance,
            coverage_chance,
            real_chance,
            sentence_chance,
            kept: [
                false_alarm_chance,
                coverage_chance,
                real_chance,
                sentence_chance,
            ]
            .iter()
            .all(|p| *p >= SURE),
            warnings,
        }
    }

    /// Identical pairs judged, and those told apart.
    pub fn false_alarms(&self) -> (usize, usize) {
        (
            sum(&self.identical, |i| i.comparisons),
            sum(&self.identical, |i| i.false_alarms),
        )
    }

    /// Known effects judged, and those whose interval holds the truth.
    pub fn covered(&self) -> (usize, usize) {
        (
            sum(&self.effects, |e| e.trials),
            sum(&self.effects, |e| e.covered),
        )
    }

    /// Comparisons by the usual method, and the differences it announced.
    pub fn announced(&self) -> (usize, usize) {
        (
            sum(&self.naive, |u| u.comparisons),
            sum(&self.naive, |u| u.announced),
        )
    }

    /// 0 where the promises were kept, 3 where they were not or nothing could be judged.
    pub fn exit_code(&self) -> u8 {
        if self.kept && self.false_alarms().0 > 0 {
            0
        } else {
            3
        }
    }
}

/// The half-width at which a run is done: the default of `pagewise run`.
pub const PRECISION: f64 = 0.01;
/// Thousandths of extra work in successive groups.
pub const EXTRAS: [u64; 4] = [10, 20, 50, 100];
pub const LEVEL: f64 = 0.05;

/// Work of the cells of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    Steps,
    Pages,
}

impl WorkKind {
    /// Name of the method; `NAME-extra` does more of the same.
    pub fn method(self) -> &'static str {
        match self {
            WorkKind::Steps => "steps",
            WorkKind::Pages => "pages",
        }
    }
}

/// A cell with extra work, judged.
#[derive(Clone, Debug)]
pub struct Effect {
    pub extra_permille: u64,
    /// `None` where the judge withheld it.
    pub ratio: Option<Ratio>,
    pub verdict: Verdict,
}

/// Results of one run.
#[derive(Clone, Debug)]
pub struct Done {
    pub work: WorkKind,
    /// Every baseline against its twin: the ratio, and the logarithm of each launch.
    pub twins: Vec<(Ratio, Vec<f64>)>,
    pub planned: usize,
    pub effects: Vec<Effect>,
    pub launches: usize,
    pub rounds: u32,
    pub samples_each: usize,
    pub sample_ns: f64,
    /// The median sample of the null cell: what the stopwatch itself takes, in nanoseconds.
    pub floor_ns: f64,
    pub clock_read_ns: f64,
    /// Time of one slot, its preparation and proofs included, in seconds.
    pub slot_s: f64,
    pub batch: Option<u64>,
    pub cells: usize,
    /// Time from the first to the last launch, in seconds.
    pub seconds: f64,
    pub warnings: BTreeMap<WarningCode, usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(low: f64, high: f64) -> Ratio {
        let estimate = (low * high).sqrt();
        Ratio {
            ratio: estimate,
            low,
            high,
            level: 0.95,
            launches: 6,
            error: (high / low).ln() / 5.14,
            freedom: 5.0,
            drift: None,
        }
    }

    fn done(alarms: usize, pairs: usize, effect: Ratio) -> Done {
        let mut twins = Vec::new();
        for i in 0..pairs {
            let low = if i < alarms { 1.001 } else { 0.99 };
            let logs = (0..8).map(|j| ((i * 31 + j * 17) % 13) as f64).collect();
            twins.push((ratio(low, 1.01), logs));
        }
        Done {
            work: WorkKind::Steps,
            twins,
            planned: pairs,
            effects: vec![
                Effect {
                    extra_permille: 50,
                    ratio: Some(effect),
                    verdict: Verdict::Slower { at_least: 0.03 }
                };
                10
            ],
            launches: 6,
            rounds: 20,
            samples_each: 120,
            sample_ns: 1e5,
            floor_ns: 50.0,
            clock_read_ns: 25.0,
            slot_s: 1.1e-4,
            batch: Some(80),
            cells: 3 * pairs,
            seconds: 5.0,
            warnings: BTreeMap::new(),
        }
    }

    fn judged(alarms: usize, effect: Ratio) -> SelfTest {
        SelfTest::from_trials(
            &[done(alarms, 100, effect)],
            &[],
            Vec::new(),
            1,
            120.0,
            60.0,
        )
    }

    #[test]
    fn as_many_false_alarms_as_chance_explains_are_no_fault() {
        for alarms in [0, 5, 10] {
            let found = judged(alarms, ratio(1.04, 1.06));
            assert_eq!(
                (found.false_alarms(), found.exit_code()),
                ((100, alarms), 0),
                "{found:?}"
            );
        }
        assert_eq!(judged(30, ratio(1.04, 1.06)).exit_code(), 3);
    }

    #[test]
    fn intervals_that_miss_the_truth_are_counted() {
        let missed = judged(5, ratio(1.06, 1.08));
        assert_eq!((missed.covered(), missed.exit_code()), ((10, 0), 3));
        assert_eq!(missed.effects[0].seen, 10);
        assert_eq!(missed.effects[0].verdicts["slower"], 10);
    }

    #[test]
    fn the_stopwatch_is_part_of_the_truth() {
        assert!((truth_of_samples(0.1, 1e5, 50.0) - 1.0999).abs() < 1e-12);
        assert!(holds(&ratio(1.099_91, 1.099_95), 1.0999, 1.1, 0.000_02));
        assert!(!holds(&ratio(1.1001, 1.1002), 1.0999, 1.1, 0.000_02));
    }

    #[test]
    fn nothing_judged_is_nothing_proved() {
        let nothing = SelfTest::from_trials(&[], &[], Vec::new(), 1, 1.0, 1.0);
        assert_eq!(nothing.exit_code(), 3);
    }

    #[test]
    fn tails_of_the_binomial_are_those_of_a_table() {
        // R: pbinom(9, 100, 0.05, lower.tail = FALSE)
        assert!((at_least(10, 100, 0.05) - 0.028_188_3).abs() < 1e-6);
        assert_eq!(at_least(0, 100, 0.05), 1.0);
    }

    #[test]
    fn correlation_is_one_for_the_same_and_minus_one_for_the_opposite() {
        let a = [1.0, 2.0, 4.0, 3.0];
        let b = a.map(|x| -x);
        assert!((correlation(&a, &a).unwrap() - 1.0).abs() < 1e-12);
        assert!((correlation(&a, &b).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(correlation(&a, &[1.0; 4]), None);
    }
}
