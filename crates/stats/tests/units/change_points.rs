use pagewise_stats::change_points::{ChangeRule, change_points};
use pagewise_stats::rng::Seeded;

const CHANGE: ChangeRule = ChangeRule {
    least_length: 5,
    least_shift: 0.0,
    level: 0.01,
    permutations: 199,
};

fn noise(seed: u64, levels: &[(usize, f64)]) -> Vec<f64> {
    let mut rng = Seeded::new(seed);
    levels
        .iter()
        .flat_map(|&(n, level)| vec![level; n])
        .map(|level| level + rng.unit() - 0.5)
        .collect()
}

#[test]
fn a_step_is_found_where_it_is() {
    let found = change_points(&noise(1, &[(22, 0.0), (38, 1.0)]), &CHANGE, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].abs_diff(22) <= 1, "{found:?}");
}

#[test]
fn there_and_back_are_two_steps() {
    let found = change_points(&noise(2, &[(20, 0.0), (20, 1.0), (20, 0.0)]), &CHANGE, 1);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn noise_alone_has_steps_as_rarely_as_the_level_says() {
    let alarms = (0..300)
        .filter(|&seed| !change_points(&noise(seed, &[(40, 0.0)]), &CHANGE, seed).is_empty())
        .count();
    // At 1 % three of 300 are expected; nine or more would happen once in two hundred and fifty.
    assert!(alarms <= 9, "{alarms}");
}

#[test]
fn a_step_below_the_least_shift_is_ignored() {
    let change = ChangeRule {
        least_shift: 1.5,
        ..CHANGE
    };
    assert!(change_points(&noise(3, &[(30, 0.0), (30, 1.0)]), &change, 1).is_empty());
}

#[test]
fn short_series_have_no_change_points() {
    assert!(change_points(&[], &CHANGE, 1).is_empty());
    assert!(change_points(&noise(4, &[(4, 0.0), (4, 9.0)]), &CHANGE, 1).is_empty());
}
