//! The steps to one verdict, in sentences: interval, adjustments, A/A check, margin.

use super::{phrases, wording};
use judge::explained::Explained;
use record::summary::{Comparison, Contrast, Ratio, Verdict};
use stats::estimate::Drift;

/// The interval step by step, then what was adjusted and checked.
pub(crate) fn steps(explained: &Explained) -> Vec<String> {
    let comparison = &explained.comparison;
    let widened = explained.calibration.widened;
    let pooled = "variances pooled over the group";
    let pooled = if widened > 1.0 {
        format!("{pooled}, widened {widened:.2} times")
    } else {
        pooled.to_owned()
    };
    let steps = [
        ("Student's interval of these", explained.student.as_ref()),
        (
            "weighted by rounds, order counted",
            explained.alone.as_ref(),
        ),
        (&pooled, comparison.contrast.ratio.as_ref()),
    ];
    let mut items: Vec<String> = steps
        .iter()
        .filter_map(|(label, estimate)| Some(step(label, (*estimate)?)))
        .collect();
    if comparison.contrast.ratio.is_none() {
        let why = explained
            .outcome
            .as_ref()
            .map_or_else(|| "too few launches".to_owned(), phrases::reason);
        items.push(format!("No ratio is shown: {why}."));
    }
    items.extend([order(explained), aa(explained)]);
    let margin = explained.margin;
    let (low, high) = (1.0 / (1.0 + margin), 1.0 + margin);
    items.push(format!(
        "margin: {low:.4} to {high:.4} is called the same (±{:.1} %)",
        100.0 * margin
    ));
    items
}

fn step(label: &str, estimate: &Ratio) -> String {
    let Ratio {
        ratio,
        low,
        high,
        level,
        launches,
        ..
    } = estimate;
    let percent = 100.0 * level;
    format!("{label}: {ratio:.4} ({low:.4} to {high:.4}) at {percent:.1} %, {launches} launches")
}

fn order(explained: &Explained) -> String {
    let Some(p) = explained.alike else {
        return "order: with fewer than eight launches nobody can see whether the ratio moved"
            .to_owned();
    };
    let moved = explained
        .comparison
        .contrast
        .ratio
        .and_then(|ratio| ratio.drift)
        .map_or_else(String::new, |Drift { low, high, .. }| {
            format!("; ratio drifted from {low:.3} to {high:.3} during this run")
        });
    format!(
        "order: neighboring launches are this much alike by chance with probability {p:.3}{moved}"
    )
}

fn aa(explained: &Explained) -> String {
    let check = match explained.aa {
        None => "A/A check: there is none".to_owned(),
        Some((
            Ratio {
                ratio, low, high, ..
            },
            differs,
        )) => {
            let word = if differs {
                "differs, so that the run is not trusted"
            } else {
                "does not differ"
            };
            format!(
                "A/A check: the baseline against its hidden duplicate {ratio:.4} ({low:.4} to {high:.4}), {word}"
            )
        }
    };
    let calibration = &explained.calibration;
    let pool = calibration
        .spread
        .zip(calibration.p)
        .map_or_else(String::new, |(spread, p)| {
            format!(
                "; all {} checks scatter {spread:.2} times as far as promised (probability {p:.3})",
                calibration.checks
            )
        });
    format!("{check}{pool}")
}

pub(crate) fn verdict(explained: &Explained) -> String {
    let comparison = &explained.comparison;
    if comparison.doubt.is_some() {
        return wording::verdict(comparison);
    }
    let alone = match comparison.contrast.verdict {
        Verdict::Faster { .. } | Verdict::Slower { .. } => wording::verdict(&Comparison {
            contrast: Contrast {
                holds_among_all: true,
                ..comparison.contrast
            },
            ..comparison.clone()
        }),
        Verdict::Within { margin } => format!("within {:.1} %", 100.0 * margin),
        Verdict::NotSettled if comparison.contrast.ratio.is_none() => {
            "open: there is no interval".to_owned()
        }
        Verdict::NotSettled => "open: the interval reaches across an edge of the margin".to_owned(),
    };
    if comparison.contrast.holds_among_all {
        return alone;
    }
    format!("open among so many comparisons; alone its interval would say \"{alone}\" (Holm)")
}
