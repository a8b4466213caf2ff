use super::*;

#[test]
fn numbers_are_decimal() {
    assert_eq!(field(&2.5e-9.into()), "0.0000000025");
}
