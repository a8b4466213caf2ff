use super::*;

#[test]
fn two_sides_of_one_kind_are_written_once() {
    assert_eq!(worker("c-O3+c-O3"), "c-O3");
    assert_eq!(worker("c-O3+java-17"), "c-O3+java-17");
    assert_eq!(worker("go"), "go");
}
