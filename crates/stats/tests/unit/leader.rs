use super::super::rng::Seeded;
use super::*;

fn rows(n: usize, levels: &[f64]) -> Vec<Vec<f64>> {
    let mut rng = Seeded::new(5);
    (0..n).map(|_| levels.iter().map(|level| level + 0.01 * (rng.unit() - 0.5)).collect()).collect()
}

#[test]
fn each_has_its_standing() {
    let ranking = rank(&rows(16, &[0.30, 0.0, 0.001, 0.021]), Some(0), 0.02, 0.95).expect("enough launches");
    use Standing::{Beaten, Leader, NotSettled, Within};
    assert_eq!(ranking.standings, [Beaten, Leader, Within, NotSettled]);
    let claim = ranking.claim.expect("the baseline does not lead");
    assert!(claim.high < 0.76 && claim.confidence > 0.98 && ranking.leader == 1, "{claim:?}");
    assert!(ranking.to_leader[0].expect("a pair").ratio > 1.3 && ranking.to_leader[1].is_none());
}

#[test]
fn a_claim_of_a_chosen_one_is_wider_than_its_interval() {
    let ranking = rank(&rows(8, &[0.10, 0.0, 0.001, 0.002]), Some(0), 0.02, 0.95).expect("enough launches");
    let (claim, plain) = (ranking.claim.expect("a claim"), turned(ranking.to_leader[0].expect("a pair")));
    assert!(claim.high > plain.high && claim.low < plain.low && (claim.log - plain.log).abs() < 1e-12);
}

#[test]
fn bad_input_is_named() {
    let mut rows = rows(6, &[0.0, 0.0]);
    assert!(matches!(rank(&rows[..3], None, 0.0, 0.95), Err(Undefined::TooFew { got: 3, needed: 4 })));
    rows[4].pop();
    assert!(matches!(rank(&rows, None, 0.0, 0.95), Err(Undefined::LengthsDiffer { left: 2, right: 1 })));
    assert_eq!(rank(&[[0.3]; 6], None, 0.0, 0.95).expect("one method").standings, [Standing::Leader]);
}
