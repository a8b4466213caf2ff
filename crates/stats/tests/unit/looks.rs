use super::*;

#[test]
fn looks_are_ever_further_apart() {
    let all: Vec<usize> = planned().take(6).collect();
    assert_eq!(all, [6, 9, 14, 21, 32, 48]);
    assert_eq!(
        [next_look(0), next_look(6), next_look(8), next_look(9)],
        [6, 9, 9, 14]
    );
    assert_eq!([looks(4), looks(6), looks(9), looks(40)], [1, 1, 2, 5]);
}

#[test]
fn all_looks_together_spend_no_more_than_is_there() {
    let spent: f64 = planned().take(40).map(|at| 1.0 / price(at)).sum();
    assert!(spent < 1.0 && spent > 0.9, "{spent}");
    assert_eq!([price(6), price(9), price(14)], [2.0, 6.0, 12.0]);
}
