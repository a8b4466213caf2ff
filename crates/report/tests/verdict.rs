//! The steps to a verdict.

use judge::explained::{Explained, LaunchRatio};
use pagewise_report::terminal::{Screen, render};
use pagewise_report::verdict::document;
use record::summary::{Calibration, Comparison, Contrast, Ratio, Verdict};

fn text(all: &[Explained]) -> String {
    render(&document(all), &Screen::new(200, false), false)
        .plain()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn explained(low: f64, high: f64, holds_among_all: bool) -> Explained {
    let ratio = Ratio {
        ratio: (low * high).sqrt(),
        low,
        high,
        level: 0.95,
        launches: 6,
        error: (high / low).ln() / 5.141,
        freedom: 5.0,
        drift: None,
    };
    let verdict = Verdict::from_interval(low, high, 0.02);
    Explained {
        cell: "fault/thp@c-O3".to_owned(),
        base: "fault/touch@c-O3".to_owned(),
        parameters: "bytes=4MiB".to_owned(),
        phase: "ready".to_owned(),
        launches: vec![LaunchRatio {
            launch: 3,
            rounds: 7,
            ratio: 0.8,
            round_spread: 0.1,
        }],
        student: Some(ratio),
        alone: Some(ratio),
        alike: None,
        aa: Some((ratio, false)),
        calibration: Calibration {
            checks: 8,
            spread: Some(1.4),
            p: Some(0.0004),
            widened: 1.4,
        },
        margin: 0.02,
        comparison: Comparison {
            cell: 1,
            phase: "ready".to_owned(),
            contrast: Contrast {
                ratio: Some(ratio),
                verdict,
                holds_among_all,
            },
            cpu_ratio: None,
            faults_ratio: None,
            doubt: None,
        },
        outcome: None,
    }
}

#[test]
fn every_step_is_there_and_the_word_is_the_interval_s() {
    let shown = text(&[explained(0.7, 0.9, true)]);
    for part in [
        "0.8000 7 rounds ±10.5 %",
        "widened 1.40 times",
        "0.7000 to 0.9000",
        "fewer than eight",
        "21 % faster (95 % CI 10–30 %)",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_word_that_only_company_withholds_is_said_to_be() {
    let shown = text(&[explained(0.7, 0.9, false)]);
    assert!(
        shown.contains("verdict: open among so many comparisons"),
        "{shown}"
    );
    assert!(text(&[explained(0.7, 1.1, true)]).contains("reaches across an edge"));
}
