use super::*;
use record::summary::Estimate;

#[test]
fn what_is_near_the_fastest_and_not_shown_to_be_slower_is_as_good() {
    let open = |(cell, bounds): (usize, Option<[f64; 3]>)| {
        let ratio = |[low, ratio, high]: [f64; 3]| Estimate { ratio, low, high, level: 0.95, launches: 10, moved: None };
        Unsettled { cell, ratio: bounds.map(ratio) }
    };
    let slower = [(3, Some([1.01, 1.05, 1.09])), (4, Some([0.9, 1.3, 1.9])), (5, None)];
    let unsettled = [(2, Some([0.97, 1.05, 1.12]))].into_iter().chain(slower).map(open).collect();
    let claim = BestClaim { group: String::new(), leader: 0, over_baseline: None, within: vec![1], unsettled, ranked: 7 };
    let good: Vec<usize> = (0..7).filter(|cell| as_good(&claim, *cell)).collect();
    assert_eq!(good, [0, 1, 2]);
}
