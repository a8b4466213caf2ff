use super::*;

fn ratio(low: f64, high: f64) -> Estimate {
    let estimate = (low * high).sqrt();
    Estimate {
        ratio: estimate,
        low,
        high,
        level: 0.95,
        launches: 6,
        moved: None,
    }
}

fn done(alarms: usize, pairs: usize, effect: Estimate) -> Done {
    let pair = |i: usize| {
        if i < alarms {
            ratio(1.001, 1.01)
        } else {
            ratio(0.99, 1.01)
        }
    };
    let logs = |i: usize| (0..8).map(|j| ((i * 31 + j * 17) % 13) as f64).collect();
    Done {
        work: WorkKind::Steps,
        twins: (0..pairs).map(|i| (pair(i), logs(i))).collect(),
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

fn judged(alarms: usize, effect: Estimate) -> SelfTest {
    SelfTest::from_trials(
        &[done(alarms, 100, effect)],
        &[],
        Vec::new(),
        1,
        (120.0, 60.0),
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
    let nothing = SelfTest::from_trials(&[], &[], Vec::new(), 1, (1.0, 1.0));
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
