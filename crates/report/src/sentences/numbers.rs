//! Figures with their intervals, as every table writes them.

use crate::sentences::wording::percent;
use record::experiment::Experiment;
pub(crate) use record::sizes::spaced;
use record::sizes::{format_ns, format_size, three_digits};
use record::summary::{CountSummary, Distribution, PhaseSummary, Ratio};

/// Bytes of the unit of work in which times of bytes are shown.
const MIB: f64 = (1 << 20) as f64;
/// A mean that differs from its median by more than this share is shown beside it.
const SKEWED: f64 = 0.1;

/// Below so many bytes a low rate says less than the time of all of them.
const PIECE_BYTES: f64 = 4096.0;
/// A rate that is no longer read easily, in GB/s.
const LOW_RATE: f64 = 0.1;

/// The unit of work in which people think of the cost of an experiment. Bytes have a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    unit: &'a str,
    /// Bytes of one operation, where its time is shown instead of the rate.
    piece_bytes: Option<u64>,
}

impl<'a> Work<'a> {
    pub fn new(experiment: &'a Experiment) -> Work<'a> {
        Work::of_unit(&experiment.unit)
    }

    /// Takes the unit itself: `byte`, `round trip`.
    pub fn of_unit(unit: &'a str) -> Work<'a> {
        Work {
            unit,
            piece_bytes: None,
        }
    }

    /// The same unit for figures of these phases: few bytes that are slow have a time, as calls have.
    pub fn for_figures(self, figures: impl Iterator<Item = &'a PhaseSummary>) -> Work<'a> {
        let slowest = figures.max_by(|a, b| a.per_unit_ns.median.total_cmp(&b.per_unit_ns.median));
        let piece_bytes = slowest.filter(|_| self.is_rate()).and_then(|phase| {
            let bytes = phase.wall_ns.median / phase.per_unit_ns.median;
            let is_unreadable = bytes < PIECE_BYTES && 1.0 / phase.per_unit_ns.median < LOW_RATE;
            is_unreadable.then_some(bytes.round() as u64)
        });
        Work {
            piece_bytes,
            ..self
        }
    }

    /// True for bytes, whose figure is a rate, unless an operation of few of them is timed.
    pub fn is_rate(self) -> bool {
        self.unit == "byte" && self.piece_bytes.is_none()
    }

    /// Unit of work of a time: `MiB`, `round trip`, `3 B`.
    pub fn noun(self) -> String {
        match self.piece_bytes {
            Some(bytes) => spaced(&format_size(bytes)),
            None if self.is_rate() => "MiB".to_owned(),
            None => self.unit.to_owned(),
        }
    }

    /// Heading of a column of costs: `GB/s`, `per round trip`.
    pub fn heading(self) -> String {
        if self.is_rate() {
            "GB/s".to_owned()
        } else {
            format!("per {}", self.noun())
        }
    }

    /// End of a time's figure: `/round trip`; a rate has none.
    pub fn per(self) -> String {
        if self.is_rate() {
            String::new()
        } else {
            format!("/{}", self.noun())
        }
    }

    /// Factor from nanoseconds of a sample to those of one [`noun`](Work::noun).
    pub fn scale(self, phase: &PhaseSummary) -> f64 {
        self.times(phase.per_unit_ns.median / phase.wall_ns.median)
    }

    /// Nanoseconds of one noun from those of one operation.
    pub fn times(self, per_unit_ns: f64) -> f64 {
        if self.is_rate() {
            per_unit_ns * MIB
        } else {
            per_unit_ns * self.piece_bytes.map_or(1.0, |bytes| bytes as f64)
        }
    }

    /// A figure and its number by nanoseconds of one operation: `8.12 GB/s`, `33.4 µs`.
    pub fn figure(self, per_unit_ns: f64) -> String {
        if self.is_rate() {
            format!("{} GB/s", three_digits(1.0 / per_unit_ns))
        } else {
            format_ns(self.times(per_unit_ns))
        }
    }

    fn mean(self, cost: &Distribution) -> String {
        match cost.mean {
            Some(mean) if (mean / cost.median).ln().abs() > SKEWED.ln_1p() => {
                format!(" (mean {})", self.figure(mean))
            }
            _ => String::new(),
        }
    }

    /// The figure of a phase: a median with its interval, or both levels on which its launches lie.
    pub fn cost(self, phase: &PhaseSummary) -> (String, f64) {
        let (text, value) = self.interval(&phase.per_unit_ns);
        let Some(levels) = &phase.levels else {
            return (text, value);
        };
        let unit = phase.per_unit_ns.median / phase.wall_ns.median;
        let [low, high] = [levels.low, levels.high].map(|ns| self.figure(ns * unit));
        (format!("{low} or {high}"), value)
    }

    /// The figure of a median with its interval, and its number: gigabytes a second, or nanoseconds.
    pub fn interval(self, cost: &Distribution) -> (String, f64) {
        if !self.is_rate() {
            let times = cost.map(|ns| self.times(ns));
            return (interval(&times) + &self.mean(cost), times.median);
        }
        let spread = self.spread(cost).unwrap_or_default();
        (
            self.figure(cost.median) + &spread + &self.mean(cost),
            1.0 / cost.median,
        )
    }

    /// The interval of a figure in whole percent, rounded up, or its bounds where it is wide; none of few launches.
    pub fn rough_spread(self, cost: &Distribution) -> Option<String> {
        let (low, high) = cost.low.zip(cost.high)?;
        let half = (high / low).sqrt() - 1.0;
        if half > WIDE {
            return self.spread(cost);
        }
        Some(format!(" ±{:.0} %", (half * 100.0).ceil().max(1.0)))
    }

    /// The interval of a figure, as it follows the figure: ` ±1.2 %`, or its bounds where it is wide; none of few launches.
    pub fn spread(self, cost: &Distribution) -> Option<String> {
        if !self.is_rate() {
            return spread(&cost.map(|ns| self.times(ns)));
        }
        let bounds = cost.low.zip(cost.high);
        let (low, high) = bounds.filter(|(low, high)| *low > 0.0 && high.is_finite())?;
        Some(match (high / low).sqrt() - 1.0 {
            half if half <= WIDE => format!(" ±{}", percent(half.max(0.0001))),
            _ => format!(
                " ({}–{})",
                three_digits(1.0 / high),
                three_digits(1.0 / low)
            ),
        })
    }
}

/// Half-width from which an interval is shown by its bounds.
const WIDE: f64 = 0.25;

/// The interval of a time, as it follows the time.
fn spread(d: &Distribution) -> Option<String> {
    let (low, high) = d.low.zip(d.high).filter(|_| d.median > 0.0)?;
    let half = (high - low) / 2.0 / d.median;
    if half <= WIDE {
        return Some(format!(" ±{}", percent(half.max(0.0001))));
    }
    Some(format!(" ({})", between(&format_ns(low), &format_ns(high))))
}

/// A range from one figure to another, with a unit that both have there once: `0.35–13 ms`.
pub(crate) fn between(low: &str, high: &str) -> String {
    let units = low.rsplit_once(' ').zip(high.rsplit_once(' '));
    let shared = units.filter(|((_, unit), (_, other))| unit == other);
    format!("{}–{high}", shared.map_or(low, |((number, _), _)| number))
}

/// A median with its interval: `2.05 ms ±1.2 %`; where the interval is wide or leans to one side, its limits:
/// `935 µs (0.35–13 ms)`.
pub(crate) fn interval(d: &Distribution) -> String {
    format_ns(d.median) + &spread(d).unwrap_or_default()
}

/// A count: a number, or its smallest and largest value.
pub(crate) fn range(count: &CountSummary) -> String {
    if count.min == count.max {
        count.max.to_string()
    } else {
        format!("{}–{}", count.min, count.max)
    }
}

pub(crate) fn ratio_words(ratio: &Ratio) -> String {
    format!("{:.3} ({:.3}–{:.3})", ratio.ratio, ratio.low, ratio.high)
}

/// A ratio or a cost in its unit, with its limits.
pub(crate) fn with_limits(e: &Ratio) -> String {
    format!("{} ({}–{})", digits(e.ratio), digits(e.low), digits(e.high))
}

/// Three digits, and more zeros where a figure is tiny.
pub(crate) fn digits(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 {
        format!("{value:.1e}")
    } else {
        three_digits(value)
    }
}

/// Three digits without zeros at the end.
pub(crate) fn short(value: f64) -> String {
    let text = three_digits(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A share in percent with its interval: `63 % (58–71)`.
pub(crate) fn share(share: &Ratio) -> String {
    let [share, low, high] = [share.ratio, share.low, share.high].map(|s| s * 100.0);
    format!("{share:.0} % ({low:.0}–{high:.0})")
}
