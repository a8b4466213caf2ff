//! Figures with their intervals, as every table writes them.

use record::sizes::{format_ns, three_digits};
use record::summary::{Distribution, Estimate};

use crate::wording::percent;

/// A median with its interval: `2.05 ms ±1.2 %`; where the interval is wide or leans to one side, its limits:
/// `935 µs (0.35–13 ms)`.
pub(crate) fn interval(d: &Distribution) -> String {
    let median = format_ns(d.median);
    let Some((low, high)) = d.low.zip(d.high).filter(|_| d.median > 0.0) else { return median };
    let half = (high - low) / 2.0 / d.median;
    if half <= 0.25 {
        return format!("{median} ±{}", percent(half.max(0.0001)));
    }
    let (low, high) = (format_ns(low), format_ns(high));
    let same_unit = low.rsplit_once(' ').zip(high.rsplit_once(' ')).filter(|(a, b)| a.1 == b.1);
    format!("{median} ({}–{high})", same_unit.map_or(low.as_str(), |(a, _)| a.0))
}

/// A ratio with its interval.
pub(crate) fn ratio_words(ratio: &Estimate) -> String {
    format!("{:.3} ({:.3}–{:.3})", ratio.ratio, ratio.low, ratio.high)
}

/// A ratio or a cost in its unit, with its limits.
pub(crate) fn with_limits(e: &Estimate) -> String {
    format!("{} ({}–{})", digits(e.ratio), digits(e.low), digits(e.high))
}

/// Three digits, and more zeros where a figure is tiny.
pub(crate) fn digits(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 { format!("{value:.1e}") } else { three_digits(value) }
}

/// A share in percent with its interval: `63 % (58–71)`.
pub(crate) fn share(share: &Estimate) -> String {
    let [share, low, high] = [share.ratio, share.low, share.high].map(|s| s * 100.0);
    format!("{share:.0} % ({low:.0}–{high:.0})")
}

/// A size with a space before its unit: `4 MiB`.
pub(crate) fn spaced(size: &str) -> String {
    let digits = size.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    if unit.is_empty() || number.is_empty() { size.to_owned() } else { format!("{number} {unit}") }
}
