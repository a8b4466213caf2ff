use super::*;

#[test]
fn the_masses_are_the_share_of_all_arrangements() {
    let (n, m) = (4_u32, 5_u32);
    let mut counted = vec![0.0; (n * m + 1) as usize];
    let mut arrangements = 0.0;
    for first in 0_u32..1 << (n + m) {
        if first.count_ones() != n {
            continue;
        }
        arrangements += 1.0;
        // U counts, for each value of the first group, the values of the other group below it.
        let u: u32 = (0..n + m)
            .filter(|place| first >> place & 1 == 1)
            .map(|place| place - (first & ((1 << place) - 1)).count_ones())
            .sum();
        counted[u as usize] += 1.0;
    }
    for (mass, count) in masses(n as usize, m as usize).iter().zip(counted) {
        assert!((mass - count / arrangements).abs() < 1e-15);
    }
}

#[test]
fn four_against_four_is_the_least() {
    assert_eq!(needed(0.025), 4);
    let a = [1.0, 2.0, 3.0, 4.0];
    let b = [5.0, 7.0, 9.0, 11.0];
    let interval = shift_interval(&a, &b, 0.95).expect("four against four");
    assert_eq!((interval.low, interval.high), (1.0, 10.0));
    assert!((interval.coverage - (1.0 - 2.0 / 70.0)).abs() < 1e-15);
    assert_eq!(shift_interval(&a[..3], &b[..3], 0.95), Err(Undefined::TooFew { got: 3, needed: 4 }));
}

#[test]
fn the_normal_approximation_continues_the_exact_counts() {
    let (exact, _) = cut(50, 50, 0.025).expect("enough");
    let (approximate, _) = normal_cut(50.0, 50.0, 0.025).expect("enough");
    assert!(exact.abs_diff(approximate) <= 1, "{exact} {approximate}");
}

#[test]
fn exchanging_the_groups_reverses_the_shift() {
    let a = [1.0, 2.5, 3.0, 4.0, 8.0];
    let b = [2.0, 3.5, 4.5, 9.0, 11.0, 12.0];
    let forth = shift_interval(&a, &b, 0.95).expect("enough");
    let back = shift_interval(&b, &a, 0.95).expect("enough");
    assert_eq!((forth.low, forth.high), (-back.high, -back.low));
    assert_eq!(forth.estimate, -back.estimate);
}
