use super::*;

#[test]
fn a_tag_is_a_word() {
    for good in ["before", "6.12-rc1", "a_b"] {
        assert!(check(good).is_ok(), "{good}");
    }
    for wrong in ["", "a b", "../x", "\u{1b}[2J", &"x".repeat(41)] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}
