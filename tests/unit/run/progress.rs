use super::*;

#[test]
fn the_line_begins_with_the_time_left_and_ends_with_what_is_known() {
    let mut progress = Progress::new();
    progress.begin(3, 14);
    progress.reached("copy", 4, 0.062, 0.01, 102.0);
    progress.learnt = vec![
        "allocate aligned-thp 2.3–3.3×".into(),
        "fault thp 3.0–3.8×".into(),
    ];
    let line = progress.line("copy: launch 5", 102.0);
    let known = "so far: fault thp 3.0–3.8×, allocate aligned-thp 2.3–3.3×";
    let whole =
        format!("1 min 42 s left · 3 of 14 · copy: launch 5, ratios to ±6.2 % of ±1.0 % · {known}");
    // A narrow terminal has fewer answers, and none is cut.
    assert!(whole.starts_with(&line), "{line}");
    let ends = ["launch 5", "±1.0 %", "3.0–3.8×", "2.3–3.3×"];
    assert!(ends.iter().any(|end| line.ends_with(end)), "{line}");
}

#[test]
fn an_interval_that_says_nothing_is_not_shown() {
    let mut progress = Progress::new();
    progress.reached("copy", 2, 28.0, 0.025, 102.0);
    assert_eq!(progress.reached, "");
    progress.reached("copy", 3, 0.4, 0.025, 102.0);
    assert_eq!(progress.reached, ", ratios to ±40.0 % of ±2.5 %");
}
