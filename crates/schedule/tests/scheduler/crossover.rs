//! The search for a crossover on simulated machines.

use judge::questions::advise::{choices, flips, pooled, segments};
use pagewise_schedule::crossover::{CrossoverSearch, Measurement, SizeAnswer};
use record::advice::AdvicePoint;
use record::decision::Reason;
use record::summary::Ratio;
use stats::rng::Seeded;
use stats::t::mean_and_deviation;

const KIB: u64 = 1024;

fn search() -> CrossoverSearch {
    CrossoverSearch {
        from: 16 * KIB,
        to: 64 * KIB * KIB,
        step: 4 * KIB,
        budget_s: 1e9,
    }
}

fn answers(all: &[(u64, &str)]) -> Vec<SizeAnswer> {
    let one = |(size, method): &(u64, &str)| SizeAnswer {
        size: *size,
        method: (!method.is_empty()).then(|| (*method).to_owned()),
        looks: 1,
    };
    all.iter().map(one).collect()
}

fn next(search: CrossoverSearch, all: &[SizeAnswer]) -> Result<u64, Reason> {
    search
        .next(all, 0.0, None)
        .map(|measurement| measurement.size)
}

/// The coarse grid, measured with the same answer everywhere.
fn grid() -> Vec<u64> {
    let mut sizes = Vec::new();
    while let Ok(Measurement {
        size,
        launches: None,
        ..
    }) = search().next(
        &answers(&sizes.iter().map(|size| (*size, "a")).collect::<Vec<_>>()),
        0.0,
        None,
    ) {
        sizes.push(size);
    }
    sizes
}

#[test]
fn the_coarse_grid_comes_first_and_takes_known_sizes() {
    let all = grid();
    assert_eq!((all[0], all[all.len() - 1]), (16 * KIB, 64 * KIB * KIB));
    assert!(
        all.windows(2)
            .all(|two| two[1] as f64 / two[0] as f64 <= 8.8),
        "{all:?}"
    );
    assert_eq!(
        next(search(), &answers(&[(all[0], "a"), (all[2], "a")])),
        Ok(all[1])
    );
}

#[test]
fn the_time_is_shared_among_the_measurements_that_are_left() {
    let budget_s = |all: &[(u64, &str)]| {
        let narrow = CrossoverSearch {
            from: all[0].0,
            to: all[all.len() - 1].0,
            step: 1,
            budget_s: 80.0,
        };
        narrow
            .next(&answers(all), 0.0, None)
            .map(|measurement| measurement.budget_s)
    };
    // 8 is 1.5 to the power of 5.1: halved three times it is below 1.5, and one measurement may have to be repeated.
    assert_eq!(budget_s(&[(1000, "a"), (8000, "b")]), Ok(20.0));
    assert_eq!(budget_s(&[(1000, "a"), (1200, ""), (1500, "b")]), Ok(80.0));
    assert_eq!(
        budget_s(&[(1000, "a"), (8000, "b"), (64000, "a")]),
        Ok(10.0)
    );
}

#[test]
fn only_sizes_between_two_answers_are_halved() {
    let all = grid();
    let (left, right) = all.split_at(3);
    let known = |a: &str, b: &str| -> Vec<SizeAnswer> {
        let left = left.iter().map(|size| (*size, a));
        answers(
            &left
                .chain(right.iter().map(|size| (*size, b)))
                .collect::<Vec<_>>(),
        )
    };
    let size = next(search(), &known("a", "b")).unwrap();
    assert!(left[2] < size && size < right[0]);
    assert_eq!(next(search(), &known("a", "a")), Err(Reason::NothingOpen));
    assert_eq!(next(search(), &known("", "")), Err(Reason::NothingOpen));
    assert_eq!(
        search().next(&known("a", "b"), 1e9, Some(1.0)),
        Err(Reason::BudgetSpent)
    );
}

#[test]
fn a_size_without_answer_is_measured_again_but_not_for_ever() {
    let band = CrossoverSearch {
        from: 16 * KIB,
        to: 24 * KIB,
        ..search()
    };
    let mut all = answers(&[
        (16 * KIB, "a"),
        (20 * KIB, ""),
        (24 * KIB, "b"),
        (64 * KIB * KIB, "b"),
    ]);
    assert_eq!(next(band, &all), Ok(20 * KIB));
    all[1].looks = 3;
    assert_eq!(next(band, &all), Err(Reason::Precise));
    let near = CrossoverSearch {
        from: 100,
        to: 130,
        step: 1,
        budget_s: 1e9,
    };
    let mut all = answers(&[(100, "a"), (115, ""), (130, "a")]);
    assert_eq!(next(near, &all), Ok(115));
    all[1].looks = 3;
    assert_eq!(next(near, &all), Err(Reason::Precise));
}

/// One simulated machine: the logarithm of the ratio falls through zero at `at`; every launch adds noise.
struct Machine {
    at: f64,
    slope: f64,
    noise: f64,
    random: Seeded,
}

impl Machine {
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.random.unit()).sum::<f64>() - 6.0
    }

    fn point(&mut self, bytes: u64) -> AdvicePoint {
        let truth = (-self.slope * (bytes as f64 / self.at).ln()).clamp(-0.7, 0.7);
        let logs: Vec<f64> = (0..10)
            .map(|_| truth + self.noise * self.normal())
            .collect();
        let (mean, deviation) = mean_and_deviation(&logs).unwrap();
        let error = deviation / (logs.len() as f64).sqrt();
        let cost = Ratio::of_log(mean, error, 9.0, logs.len(), 0.95).unwrap();
        AdvicePoint {
            bytes,
            way: "way".to_owned(),
            cost,
        }
    }
}

/// The whole search on one machine: the points, and the number of measurements after the coarse grid.
fn searched(machine: &mut Machine) -> (Vec<AdvicePoint>, usize) {
    let (mut points, mut fine): (Vec<AdvicePoint>, usize) = (Vec::new(), 0);
    loop {
        let known = choices(&points, "obvious", 0.0).into_iter();
        let known: Vec<SizeAnswer> = known
            .map(|(size, method)| SizeAnswer {
                size,
                method,
                looks: 3,
            })
            .collect();
        let Ok(next) = search().next(&known, 0.0, None) else {
            return (points, fine);
        };
        points.push(machine.point(next.size));
        points = pooled(points);
        fine += usize::from(next.launches.is_some());
        assert!(fine < 40, "it ends");
    }
}

#[test]
fn bands_contain_the_simulated_crossover_in_at_least_95_of_100() {
    let (mut with_band, mut right, mut wrong, mut widths) = (0, 0, 0, Vec::new());
    for seed in 0..600 {
        let mut random = Seeded::new(seed);
        let at = 40e3 * 500_f64.powf(random.unit());
        let (slope, noise) = (0.03 + 0.4 * random.unit(), 0.005 + 0.08 * random.unit());
        let mut machine = Machine {
            at,
            slope,
            noise,
            random,
        };
        let (points, _) = searched(&mut machine);
        let segments = segments(&points, "obvious", 0.02);
        // No method is advised for sizes at which it is the dearer one.
        let bad = |s: &record::advice::Segment| {
            if s.way == "way" {
                (s.from as f64) < at
            } else {
                s.to as f64 > at
            }
        };
        wrong += usize::from(segments.iter().any(bad));
        if let [flip] = &flips(&points, &segments, "obvious")[..] {
            with_band += 1;
            right += usize::from((flip.above as f64) < at && at < flip.up_to as f64);
            widths.push(flip.up_to as f64 / flip.above as f64);
        }
    }
    assert!(with_band > 400, "{with_band} of 600 have a band");
    assert!(
        right * 100 >= with_band * 95,
        "{right} of {with_band} bands hold the crossover"
    );
    assert!(
        wrong * 100 <= 600 * 5,
        "{wrong} of 600 advise the dearer method somewhere"
    );
    widths.sort_by(f64::total_cmp);
    assert!(
        widths[widths.len() / 2] < 8.0,
        "the median band is {} wide",
        widths[widths.len() / 2]
    );
}

#[test]
fn a_clear_crossover_is_narrow_within_few_measurements() {
    let mut machine = Machine {
        at: 3e6,
        slope: 0.5,
        noise: 0.005,
        random: Seeded::new(1),
    };
    let (points, fine) = searched(&mut machine);
    let flips = flips(&points, &segments(&points, "obvious", 0.02), "obvious");
    assert_eq!(flips.len(), 1);
    assert!(
        flips[0].above < 3_000_000 && 3_000_000 < flips[0].up_to,
        "{flips:?}"
    );
    assert!(
        (flips[0].up_to as f64 / flips[0].above as f64) < 2.3 && fine <= 7,
        "{flips:?} after {fine}"
    );
}

#[test]
fn methods_of_equal_cost_are_not_distinguished() {
    let mut distinguished = 0;
    for seed in 0..200 {
        let mut machine = Machine {
            at: 1.0,
            slope: 0.0,
            noise: 0.02,
            random: Seeded::new(seed),
        };
        distinguished +=
            usize::from(!segments(&searched(&mut machine).0, "obvious", 0.02).is_empty());
    }
    assert!(distinguished <= 10, "{distinguished} of 200");
}
