//! Does the judging keep its promises on a noisy machine? Simulated machines with fixed seeds, judged thousands of times.
//!
//! Every count is compared with what the theory promises, within 3.5 standard errors of the simulation, on both sides
//! where the promise has two sides: an interval that is too wide is as wrong as one that is too narrow.

mod simulated;

use pagewise_stats::absolute::absolute;
use pagewise_stats::estimate::{Point, Ratio, estimates};
use pagewise_stats::interval::{CONFIDENCE, Interval};
use pagewise_stats::leader::{Ranking, RankingTerms, Standing, rank_contrasts};
use pagewise_stats::moved::autocorrelation;
use pagewise_stats::rng::Seeded;
use pagewise_stats::stopping::{GroupProgress, NextStep, STOPPED_CONFIDENCE, StoppingGoal, decide};
use pagewise_stats::t::naive;
use pagewise_stats::t::t_interval;
use pagewise_stats::verdicts::verdicts;
use pagewise_stats::verdicts::{MARGIN, Region};
use simulated::{Machine, long_memory, normal, points, recorded};

/// Rounds in a launch, after warm-up.
const ROUNDS: usize = 24;

/// Long enough that trials seldom meet the same noise.
const NOISE: usize = 400_000;

/// The numbers of launches that are tried.
const LAUNCHES: [usize; 5] = [6, 8, 12, 20, 30];

fn covers(ratio: &Ratio, truth: f64) -> bool {
    ratio.low <= truth && truth <= ratio.high
}

/// The share of trials, by seed, for which the claim holds.
fn share(trials: usize, holds: impl Fn(u64) -> bool) -> f64 {
    (0..trials as u64).filter(|seed| holds(*seed)).count() as f64 / trials as f64
}

/// How far a share may lie from its expectation by the chance of the simulation.
fn chance(expected: f64, trials: usize) -> f64 {
    3.5 * (expected * (1.0 - expected) / trials as f64).sqrt()
}

/// The interval of launches, as a run without a target precision has it.
fn ratio(launches: &[Vec<Vec<f64>>]) -> Ratio {
    estimates(&[points(launches)], CONFIDENCE)
        .remove(0)
        .expect("enough launches")
}

fn verdict(ratio: &Ratio) -> Region {
    verdicts(&[(*ratio, MARGIN)], CONFIDENCE)[0].verdict
}

fn judge(machine: &Machine<'_>, launches: usize, seed: u64) -> Ratio {
    let mut run = machine.run(seed);
    let samples: Vec<_> = (0..launches).map(|_| run.launch(ROUNDS)).collect();
    ratio(&samples)
}

/// The machines that everything must work on: each has long memory and ticks.
fn machines<'a>(noise: &'a [f64], costs: &'a [f64]) -> [(&'static str, Machine<'a>); 4] {
    let plain = Machine::new(noise, costs);
    [
        ("long memory", plain.clone()),
        (
            "drift",
            Machine {
                drift: 3.0,
                ..plain.clone()
            },
        ),
        (
            "two levels",
            Machine {
                second_level: 1.3,
                ..plain.clone()
            },
        ),
        (
            "equal launches",
            Machine {
                launch_sd: 0.0008,
                ..plain
            },
        ),
    ]
}

#[test]
fn the_noise_has_the_memory_it_should() {
    let noise = long_memory(NOISE, 1);
    let mut by_size: Vec<usize> = (0..noise.len()).collect();
    by_size.sort_by(|a, b| noise[*a].total_cmp(&noise[*b]));
    let mut ranks = vec![0.0; noise.len()];
    by_size
        .iter()
        .enumerate()
        .for_each(|(rank, index)| ranks[*index] = rank as f64);
    for (lag, expected) in [(1, 0.45), (100, 0.25), (1_000, 0.15)] {
        let found = autocorrelation(&ranks, lag).expect("long enough");
        assert!((found - expected).abs() < 0.05, "lag {lag}: {found}");
    }
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let noise = long_memory(NOISE, 2);
    for (name, machine) in machines(&noise, &[80.0, 84.0]) {
        for launches in LAUNCHES {
            let trials = 1_000;
            let covered = share(trials, |seed| {
                covers(&judge(&machine, launches, seed), 1.05)
            });
            println!("{name}, {launches} launches: {covered:.3} of promised {CONFIDENCE:.3}");
            assert!(
                (0.93..=0.98).contains(&covered),
                "{name} {launches}: {covered}"
            );
        }
    }
}

#[test]
fn identical_cells_are_seldom_told_apart() {
    let noise = long_memory(NOISE, 3);
    for (name, machine) in machines(&noise, &[80.0, 80.0]) {
        let (mut judged, mut apart, mut beyond_margin) = (0.0, 0.0, 0.0);
        for launches in LAUNCHES {
            for seed in 0..500 {
                let ratio = judge(&machine, launches, seed);
                let is_beyond = matches!(verdict(&ratio), Region::Faster | Region::Slower);
                judged += 1.0;
                apart += f64::from(u8::from(!covers(&ratio, 1.0)));
                beyond_margin += f64::from(u8::from(is_beyond));
            }
        }
        let (apart, beyond_margin) = (apart / judged, beyond_margin / judged);
        println!("{name}: {apart:.4} told apart, {beyond_margin:.4} beyond the margin");
        assert!(apart <= 0.05, "{name}: {apart}");
        assert!(beyond_margin <= 0.01, "{name}: {beyond_margin}");
    }
}

#[test]
fn known_effects_get_their_verdicts() {
    let noise = long_memory(NOISE, 4);
    for (cost, expected) in [
        (80.0, Region::Equivalent),
        (84.0, Region::Slower),
        (76.0, Region::Faster),
    ] {
        let costs = [80.0, cost];
        let machine = Machine {
            launch_sd: 0.0008,
            ..Machine::new(&noise, &costs)
        };
        let right = share(200, |seed| verdict(&judge(&machine, 10, seed)) == expected);
        assert!(right >= 0.95, "{expected:?}: {right}");
        let machine = Machine {
            launch_sd: 0.028,
            ..machine
        };
        let opposite = share(200, |seed| {
            let said = verdict(&judge(&machine, 10, seed));
            said != expected && said != Region::Undecided
        });
        assert!(opposite <= 0.05, "{expected:?}: {opposite}");
    }
}

/// Student's interval and the number of launches when the rule stops the run, at one second a launch and at most 60 of them.
fn run_until_stopped(machine: &Machine<'_>, precision: f64, seed: u64) -> (Interval, NextStep) {
    let goal = StoppingGoal {
        precision,
        budget_seconds: 60.0,
    };
    let mut run = machine.run(seed);
    let mut logs = Vec::new();
    loop {
        let judged = t_interval(&logs, STOPPED_CONFIDENCE);
        let half_width = judged.as_ref().ok().map(half_width);
        let group = GroupProgress {
            launches: logs.len(),
            half_width,
            launch_seconds: 1.0,
        };
        match decide(&goal, &[group], logs.len() as f64) {
            NextStep::Continue { .. } => {
                let samples = [run.launch(ROUNDS)];
                logs.extend(points(&samples).iter().map(|point| point.log));
            }
            stopped => return (judged.expect("six launches fit"), stopped),
        }
    }
}

/// Half the width of an interval of logarithms, as a fraction.
fn half_width(logs: &Interval) -> f64 {
    ((logs.high - logs.low) / 2.0).exp_m1()
}

#[test]
fn stopping_on_precision_keeps_the_coverage() {
    let noise = long_memory(NOISE, 5);
    // The ratio of the two cells differs from launch to launch by 2.8 %.
    let machine = Machine {
        launch_sd: 0.02,
        ..Machine::new(&noise, &[80.0, 80.0])
    };
    let mut after_many_looks = Vec::new();
    for precision in [0.04, 0.02, 0.015, 0.0125, 0.011] {
        let trials = 1_000;
        let runs: Vec<_> = (0..trials as u64)
            .map(|seed| run_until_stopped(&machine, precision, seed))
            .collect();
        let covered = runs
            .iter()
            .filter(|(logs, _)| logs.low <= 0.0 && 0.0 <= logs.high)
            .count() as f64
            / trials as f64;
        let launches = runs.iter().map(|(logs, _)| logs.n).sum::<usize>() as f64 / trials as f64;
        let precise = runs
            .iter()
            .filter(|(_, stopped)| *stopped == NextStep::Precise)
            .count();
        println!(
            "±{precision}: {covered:.3} covered, {launches:.1} launches, {precise} runs precise"
        );
        if precision <= 0.02 {
            after_many_looks.push(covered);
        }
        assert!((0.93..=0.98).contains(&covered), "±{precision}: {covered}");
        assert!(precise >= trials * 9 / 10, "±{precision}: {precise}");
        for (logs, stopped) in &runs {
            assert!(*stopped != NextStep::Precise || half_width(logs) <= precision);
        }
    }
    let covered = after_many_looks.iter().sum::<f64>() / after_many_looks.len() as f64;
    assert!(
        covered >= 0.945,
        "{covered}: many looks cost coverage that the stopped confidence should give back"
    );
}

#[test]
fn stopping_on_significance_would_not() {
    let noise = long_memory(NOISE, 6);
    let machine = Machine::new(&noise, &[80.0, 80.0]);
    let alarms = share(300, |seed| {
        let mut run = machine.run(seed);
        let samples: Vec<_> = (0..40).map(|_| run.launch(ROUNDS)).collect();
        (6..=40).any(|n| !covers(&ratio(&samples[..n]), 1.0))
    });
    assert!(
        alarms > 0.15,
        "peeking should raise false alarms, or this simulation finds nothing: {alarms}"
    );
}

#[test]
fn no_method_is_called_beaten_that_is_as_good_as_the_best() {
    let noise = long_memory(NOISE, 7);
    let machine = Machine::new(&noise, &[80.0, 80.0, 80.0, 80.0, 112.0]);
    for launches in [6, 12, 20, 30] {
        let trials = 1_000;
        let (mut wrongly_beaten, mut loser_beaten) = (0, 0);
        for seed in 0..trials as u64 {
            let mut run = machine.run(seed);
            let rows: Vec<Vec<f64>> = (0..launches)
                .map(|_| relative_costs(&run.launch(ROUNDS)))
                .collect();
            let standings = rank(&rows, 0.0, CONFIDENCE).standings;
            wrongly_beaten += usize::from(standings[..4].contains(&Standing::Beaten));
            loser_beaten += usize::from(standings[4] == Standing::Beaten);
        }
        let rate = wrongly_beaten as f64 / trials as f64;
        println!(
            "{launches} launches: {rate:.4} wrongly beaten, loser beaten {loser_beaten} of {trials}"
        );
        assert!(rate <= 0.05 + chance(0.05, trials), "{launches}: {rate}");
        assert!(
            loser_beaten >= trials * 95 / 100,
            "{launches}: {loser_beaten}"
        );
    }
}

/// How often one of two equals is called beaten in runs that precision ends, where words have this level. What launches differ
/// by is so many times the width asked for, and each remembers this much of the one before.
fn wrongly_beaten(deviation: f64, memory: f64, level: f64, trials: usize) -> f64 {
    let goal = StoppingGoal {
        precision: 0.01,
        budget_seconds: 100.0,
    };
    share(trials, |seed| {
        let mut rng = Seeded::new(seed);
        let (mut points, mut state): (Vec<Point>, f64) = (Vec::new(), normal(&mut rng));
        loop {
            let half_width = estimates(&[points.clone()], STOPPED_CONFIDENCE)[0]
                .as_ref()
                .ok()
                .map(Ratio::half_width);
            let group = GroupProgress {
                launches: points.len(),
                half_width,
                launch_seconds: 1.0,
            };
            if !matches!(
                decide(&goal, &[group], points.len() as f64),
                NextStep::Continue { .. }
            ) {
                let terms = RankingTerms {
                    margin: 0.0,
                    confidence: CONFIDENCE,
                    widening: 1.0,
                };
                break rank_contrasts(2, |_, _| points.clone(), |_, _| level, Some(0), terms)
                    .expect("six launches")
                    .standings
                    .contains(&Standing::Beaten);
            }
            state = memory * state + (1.0 - memory * memory).sqrt() * normal(&mut rng);
            points.push(Point {
                log: deviation * goal.precision * state,
                rounds: 1,
                round_variance: 0.0,
            });
        }
    })
}

/// At the ordinary level a run that its precision ended calls one of two equals beaten more often than it may.
#[test]
fn who_is_beaten_in_a_stopped_run_is_said_at_the_level_of_stopping() {
    let machines = [(1.3, 0.1), (2.0, 0.1), (1.3, 0.2), (2.0, 0.2)];
    let [kept, without] = [STOPPED_CONFIDENCE, CONFIDENCE].map(|level| {
        let each =
            machines.map(|(deviation, memory)| wrongly_beaten(deviation, memory, level, 2_000));
        each.iter().sum::<f64>() / each.len() as f64
    });
    println!("stopped runs: {kept:.4} wrongly beaten, {without:.4} at the ordinary level");
    assert!(kept <= 0.05, "{kept}");
    assert!(
        without > 0.055,
        "the level must be needed, or this simulation finds nothing: {without}"
    );
}

/// A ranking by one row of logarithms a launch.
fn rank(rows: &[Vec<f64>], margin: f64, confidence: f64) -> Ranking {
    rank_contrasts(
        rows[0].len(),
        |a, b| rows.iter().map(|row| point(row[b] - row[a])).collect(),
        |_, _| confidence,
        Some(0),
        RankingTerms {
            margin,
            confidence,
            widening: 1.0,
        },
    )
    .expect("methods")
}

fn point(log: f64) -> Point {
    Point {
        log,
        rounds: 1,
        round_variance: 0.0,
    }
}

/// The logarithms of what each cell of a launch costs relative to the first.
fn relative_costs(cells: &[Vec<f64>]) -> Vec<f64> {
    let first = &cells[0];
    cells
        .iter()
        .map(|cell| points(&[vec![first.clone(), cell.clone()]])[0].log)
        .collect()
}

#[test]
fn balanced_orders_make_what_ran_before_harmless() {
    let noise = long_memory(NOISE, 8);
    let plain = Machine::new(&noise, &[80.0, 80.0, 60.0]);
    let machine = Machine {
        carry_over: 1.06,
        launch_sd: 0.0008,
        ..plain
    };
    let trials = 500;
    let balanced = share(trials, |seed| !covers(&judge(&machine, 12, seed), 1.0));
    let fixed_order = share(100, |seed| {
        let mut run = machine.run(seed);
        let orders = vec![vec![0, 1, 2]; ROUNDS];
        let samples: Vec<_> = (0..12).map(|_| run.launch_in(&orders)).collect();
        !covers(&ratio(&samples), 1.0)
    });
    println!("false alarms: {balanced:.3} balanced, {fixed_order:.3} in a fixed order");
    assert!(balanced <= 0.05 + chance(0.05, trials), "{balanced}");
    assert!(
        fixed_order > 0.9,
        "a fixed order should mislead, or this simulation finds nothing: {fixed_order}"
    );
}

#[test]
fn the_naive_method_is_misled_by_the_same_machine() {
    let noise = long_memory(NOISE, 9);
    let machine = Machine::new(&noise, &[80.0]);
    let alarms = share(300, |seed| {
        let mut run = machine.run(seed);
        let (a, b) = (run.launch(1_000), run.launch(1_000));
        naive(&a[0], &b[0]).expect("samples").announces(0.05)
    });
    println!("naive false alarms: {alarms:.3}");
    assert!(alarms > 0.4, "{alarms}");
}

/// The interval of the median of launches that scatter by 30 %.
fn interval_of_skewed(launches: usize, seed: u64) -> Interval {
    let mut rng = Seeded::new(seed);
    let mut samples: Vec<Vec<f64>> = (0..launches)
        .map(|_| vec![80.0 * (0.3 * normal(&mut rng)).exp(); 9])
        .collect();
    absolute(&mut samples, CONFIDENCE)
        .expect("samples")
        .median
        .interval
        .expect("enough launches")
}

#[test]
fn absolute_medians_cover_the_typical_launch() {
    // Nothing is assumed of the distribution from six launches on, of which these are skewed; below, of its logarithm.
    for launches in [4, 5].into_iter().chain(LAUNCHES) {
        let trials = 1_000;
        let promised = interval_of_skewed(launches, 0).coverage;
        let covered = share(trials, |seed| {
            let interval = interval_of_skewed(launches, seed);
            interval.low <= 80.0 && 80.0 <= interval.high
        });
        assert!(
            (covered - promised).abs() <= chance(promised, trials),
            "{launches}: {covered} {promised}"
        );
    }
}

#[test]
fn recorded_noise_raises_no_more_false_alarms_than_the_generated() {
    let streams = recorded();
    assert!(
        !streams.is_empty(),
        "no stream is recorded below tests/fixtures/streams of this crate, so this would check nothing"
    );
    for noise in streams {
        // A recording contains its own ticks.
        let machine = Machine {
            ticks: false,
            ..Machine::new(&noise, &[80.0, 80.0])
        };
        let trials = 500;
        for launches in LAUNCHES {
            let alarms = share(trials, |seed| {
                !covers(&judge(&machine, launches, seed), 1.0)
            });
            println!("recorded, {launches} launches: {alarms:.3} told apart");
            assert!(
                alarms <= 0.05 + chance(0.05, trials),
                "{launches}: {alarms}"
            );
        }
    }
}
