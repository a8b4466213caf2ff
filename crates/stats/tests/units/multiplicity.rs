use pagewise_stats::multiplicity::{benjamini_hochberg, holm};

#[test]
fn one_question_needs_no_adjustment() {
    assert_eq!(holm(&[0.03]), [0.03]);
    assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
    assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
}

#[test]
fn adjusted_values_keep_their_order_and_stay_probabilities() {
    let p = [0.9, 0.01, 0.02, 0.02, 0.6];
    for (name, adjusted) in [("holm", holm(&p)), ("bh", benjamini_hochberg(&p))] {
        for (raw, value) in p.iter().zip(&adjusted) {
            assert!(value >= raw && *value <= 1.0, "{name} {raw} {value}");
        }
        assert!(
            adjusted[1] <= adjusted[2] && adjusted[2] <= adjusted[4],
            "{name}"
        );
    }
}
