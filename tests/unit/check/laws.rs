use super::*;

#[test]
fn lies_differ_from_the_truth_and_some_are_gross() {
    assert_eq!(lies(0, 0), BTreeSet::from([1, 100, 1 << 30]));
    assert_eq!(
        lies(8, 64),
        BTreeSet::from([0, 4, 7, 9, 17, 72, 180, (1 << 30) + 8])
    );
    assert!(!lies(u64::MAX, 1).contains(&u64::MAX));
}

#[test]
fn the_border_of_a_law_is_found_from_either_side() {
    assert_eq!(border(8, 1 << 40, |n| n > 1029), [1029, 1030]);
    assert_eq!(border(8, 0, |n| n < 3), [3, 2]);
    assert_eq!(border(8, 9, |n| n > 8), [8, 9]);
}

#[test]
fn a_changed_digest_is_another() {
    assert_eq!(wrong_digest("00a0"), "00a1");
    assert_eq!(wrong_digest("00af"), "00a0");
}
