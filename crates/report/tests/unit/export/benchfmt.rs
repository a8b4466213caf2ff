use super::*;

#[test]
fn nothing_in_a_name_divides_it() {
    assert_eq!(word("/tmp/a b=c"), "%2Ftmp%2Fa%20b%3Dc");
    assert_eq!(word("c-O3+java-17"), "c-O3+java-17");
}
