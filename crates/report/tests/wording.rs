//! No sentence contradicts the interval that it stands beside.

use pagewise_report::wording::{duration, factors, moved, verdict, verdict_briefly};
use proptest::prelude::*;
use record::summary::{Comparison, Contrast, Ratio};

fn comparison(low: f64, at: f64, high: f64, margin: f64, holds: bool) -> Comparison {
    // The estimate lies anywhere within its interval.
    let ratio = (low.ln() + at * (high / low).ln()).exp();
    let ratio = Ratio {
        ratio,
        low,
        high,
        level: 0.95,
        launches: 10,
        error: (high / low).ln() / 4.524,
        freedom: 9.0,
        drift: None,
    };
    Comparison {
        cell: 0,
        phase: "x".into(),
        contrast: Contrast {
            holds_among_all: holds,
            ..Contrast::alone(Some(ratio), margin)
        },
        cpu_ratio: None,
        faults_ratio: None,
        doubt: None,
    }
}

/// Ratio of a sentence: the ratio that `9.1 % faster` or `4.7× slower` stands for.
fn ratio_of(words: &str) -> f64 {
    if words.trim() == "as fast" {
        return 1.0;
    }
    let (amount, faster) = match words.trim().strip_suffix(" faster") {
        Some(amount) => (amount, true),
        None => (
            words
                .trim()
                .strip_suffix(" slower")
                .unwrap_or_else(|| panic!("{words}")),
            false,
        ),
    };
    amount_of(amount, faster)
}

fn amount_of(amount: &str, faster: bool) -> f64 {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .unwrap_or_else(|_| panic!("{amount}"))
    };
    match (amount.strip_suffix(" %"), faster) {
        (Some(percent), true) => 1.0 - number(percent) / 100.0,
        (Some(percent), false) => 1.0 + number(percent) / 100.0,
        (None, true) => 1.0 / number(amount.strip_suffix('×').unwrap()),
        (None, false) => number(amount.strip_suffix('×').unwrap()),
    }
}

/// The ratios that a whole sentence claims to lie between, and the least effect where it claims one.
fn claimed(sentence: &str) -> (f64, f64, Option<f64>) {
    if sentence.contains("no usable interval") {
        return (0.0, f64::INFINITY, None);
    }
    if let Some(least) = sentence.strip_prefix("at least ") {
        let least = ratio_of(least);
        let (low, high) = if least < 1.0 {
            (0.0, least)
        } else {
            (least, f64::INFINITY)
        };
        return (low, high, Some(least));
    }
    if let Some((estimate, rest)) = sentence.split_once(" (95 % CI ") {
        let faster = estimate.ends_with("faster");
        let range = rest.strip_suffix(')').unwrap();
        let unit = if range.ends_with('×') { "×" } else { " %" };
        let (near, far) = range.strip_suffix(unit).unwrap().split_once('–').unwrap();
        let (near, far) = (
            amount_of(&format!("{near}{unit}"), faster),
            amount_of(&format!("{far}{unit}"), faster),
        );
        return (near.min(far), near.max(far), Some(near));
    }
    let (_, range) = sentence
        .split_once("between ")
        .or_else(|| sentence.split_once("(from "))
        .unwrap();
    let (low, high) = range
        .split_once(" and ")
        .or_else(|| range.split_once(" to "))
        .unwrap();
    (ratio_of(low), ratio_of(high.trim_end_matches(')')), None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_sentence_holds_all_of_its_interval_and_claims_no_more(
        low in -6.0f64..6.0, width in 0.0f64..4.0, at in 0.0f64..=1.0,
        margin in prop::sample::select(vec![0.005, 0.01, 0.02, 0.05, 0.3]), holds: bool,
    ) {
        // Narrow intervals near one are where rounding tells lies: half of the cases are such.
        let (low, high) = if at < 0.5 { (low / 40.0, width / 40.0) } else { (low, width) };
        let (low, high) = (low.exp(), (low + high).exp());
        let comparison = comparison(low, at, high, margin, holds);
        let ratio = comparison.contrast.ratio.unwrap();
        let sentence = verdict(&comparison);
        let (from, to, least) = claimed(&sentence);
        let slack = 1e-9;
        prop_assert!(from <= low * (1.0 + slack) && high <= to * (1.0 + slack), "{sentence} beside {low}–{high}");
        match least {
            // The interval's nearer end is no nearer to one.
            Some(least) if least < 1.0 => {
                prop_assert!(high <= least * (1.0 + slack) && high < 1.0 / (1.0 + margin), "{sentence}");
            }
            Some(least) => prop_assert!(least <= low * (1.0 + slack) && low > 1.0 + margin, "{sentence}"),
            None => {}
        }
        // A word is said where the interval and all the verdicts of the run allow it, and only there.
        let settled = holds && (high < 1.0 / (1.0 + margin) || low > 1.0 + margin);
        prop_assert_eq!(least.is_some(), settled, "{}", sentence);
        let within = holds && low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin;
        prop_assert_eq!(sentence.starts_with("within"), within, "{}", sentence);
        let brief = verdict_briefly(&comparison);
        prop_assert_eq!(brief.starts_with("open"), sentence.starts_with("open"), "{} / {}", brief, sentence);
        for word in ["faster", "slower"] {
            let away = if word == "faster" { ratio.low >= 1.0 } else { ratio.high <= 1.0 };
            prop_assert!(!(away && brief.contains(word)), "{brief} beside {low}–{high}");
        }
    }

    #[test]
    fn factors_hold_their_interval(low in 0.0f64..6.0, width in 0.0f64..3.0) {
        let (low, high) = (low.exp(), (low + width).exp());
        let words = factors(low, high);
        let (from, to) = words.split_once('–').unwrap();
        let (from, to): (f64, f64) = (from.parse().unwrap(), to.parse().unwrap());
        prop_assert!(from <= low * (1.0 + 1e-9) && high <= to * (1.0 + 1e-9), "{words} for {low}–{high}");
    }
}

fn said(low: f64, at: f64, high: f64) -> (String, String) {
    let comparison = comparison(low, at, high, 0.02, true);
    (verdict(&comparison), verdict_briefly(&comparison))
}

#[test]
fn the_sentences_read_as_people_speak() {
    assert_eq!(said(0.81, 0.5, 0.915).0, "14 % faster (95 % CI 8.5–19 %)");
    assert_eq!(said(0.168, 0.5, 0.212).0, "5.3× faster (95 % CI 4.7–6.0×)");
    assert_eq!(said(1.306, 0.5, 1.5).0, "1.4× slower (95 % CI 1.3–1.5×)");
    assert_eq!(
        said(0.91, 0.5, 1.04),
        (
            "open: between 9.0 % faster and 4.0 % slower".into(),
            "open: 9.0 % faster–4.0 % slower".into()
        )
    );
    assert_eq!(said(22456.0, 0.5, 19_200_311.0).0, "at least 22456× slower");
    assert_eq!(said(0.96, 0.5, 0.985).1, "open: 1.5–4.0 % faster");
    assert_eq!(
        said(0.99, 0.5, 1.01),
        (
            "within 2 % (from 1.0 % faster to 1.0 % slower)".into(),
            "within 2 %".into()
        )
    );
    assert_eq!(
        verdict_briefly(&comparison(0.8, 0.5, 0.9, 0.02, false)),
        "open¹: 10–20 % faster"
    );
}

#[test]
fn a_ratio_that_moved_is_said_to_have_moved() {
    assert_eq!(
        moved(0.151, 0.203),
        "ratio drifted from .15 to .20 during this run"
    );
    assert_eq!(
        moved(0.9931, 1.0042),
        "ratio drifted from .99 to 1.00 during this run"
    );
    assert_eq!(
        moved(0.9961, 0.9989),
        "ratio drifted from .996 to .999 during this run"
    );
}

#[test]
fn times_are_said_in_two_units_at_most() {
    let said = [0.4, 40.0, 162.0, 120.0, 3900.0, 7200.0].map(duration);
    assert_eq!(
        said,
        ["0 s", "40 s", "2 min 42 s", "2 min", "1 h 5 min", "2 h"]
    );
}

#[test]
fn one_is_singular() {
    assert_eq!(pagewise_report::wording::count(1, "CPU"), "1 CPU");
    assert_eq!(pagewise_report::wording::count(0, "CPU"), "0 CPUs");
}
