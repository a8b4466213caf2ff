//! Figures with their intervals, as every table writes them.

use record::sizes::{format_ns, three_digits};
use record::summary::{Distribution, Estimate};

/// A median with the half-width of its interval.
pub(crate) fn interval(d: &Distribution) -> String {
    match (d.low, d.high) {
        (Some(low), Some(high)) if d.median > 0.0 => {
            let half = 100.0 * (high - low) / 2.0 / d.median;
            format!("{} ±{} %", format_ns(d.median), three_digits(half.max(0.01)).trim_end_matches(".0"))
        }
        _ => format_ns(d.median),
    }
}

/// A ratio with its interval.
pub(crate) fn ratio_words(ratio: &Estimate) -> String {
    format!("{:.3} ({:.3}–{:.3})", ratio.ratio, ratio.low, ratio.high)
}
