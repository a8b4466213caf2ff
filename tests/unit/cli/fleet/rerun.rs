use super::*;

#[test]
fn a_name_that_was_made_up_runs_nothing() {
    assert_eq!(quoted("fault/thp@c-O3"), "fault/thp@c-O3");
    assert_eq!(quoted("n1; rm -rf $HOME"), "'n1; rm -rf ?HOME'");
    assert_eq!(quoted("a'b\"`c`"), "'a?b??c?'");
}
