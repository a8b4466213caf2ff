use super::*;

#[test]
fn an_end_distinguishes_comparisons_that_lack_time_from_those_near_an_edge() {
    assert!(undecided(0, 0, 9).starts_with("every comparison has its word after 9 launches"));
    assert_eq!(undecided(1, 0, 9), "after 9 launches 1 comparison without a word should get one in more time");
    let edge = "2 comparisons without a word seem to lie on an edge, where more time may not help";
    assert_eq!(undecided(0, 2, 9), format!("after 9 launches {edge}"));
    let both = format!("after 9 launches 3 comparisons without a word should get one in more time; {edge}");
    assert_eq!(undecided(3, 2, 9), both);
}
