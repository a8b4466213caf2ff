use super::*;

#[test]
fn a_probe_is_read() {
    let text = r#"{"cpu": 1, "elapsed_ns": 1000000, "reads": 40000, "clock_read_ps": 24000, "lost_ns": 40000,
        "largest_gap_ns": 30000, "over": [[5000, 2], [20000, 1]]}"#;
    let gaps: Gaps = serde_json::from_str(text).unwrap();
    assert_eq!(
        (gaps.cpu, gaps.over.as_slice()),
        (1, &[(5000, 2), (20_000, 1)][..])
    );
    assert!(
        (gaps.lost_share() - 0.04).abs() < 1e-12 && (gaps.clock_read_ns() - 24.0).abs() < 1e-12
    );
    assert!(
        serde_json::from_str::<Gaps>(text.trim_end_matches("]}")).is_err(),
        "it ended early"
    );
}
