use super::*;

#[test]
fn numbers_are_decimal() {
    assert_eq!(field(&Field::Number(2.5e-9)), "0.0000000025");
}
