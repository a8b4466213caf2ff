//! Axes of ratios, and scales of times and sizes: where a value lies, and the words at round values.

use crate::sentences::numbers::spaced;
use record::sizes::{format_ns, format_size, three_digits};

/// Values further apart than this are not shown on one scale: the lowest are drawn at its end.
const WIDEST: f64 = 1e6;

/// A scale from its left end to its right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    /// Values that are written at it, with their words.
    pub ticks: Vec<(f64, String)>,
    pub logarithmic: bool,
}

impl Scale {
    /// Times in nanoseconds, by factors; `None` where there is none above zero.
    pub fn times(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let (low, high) = ends(values)?;
        let ticks = between(low, high)
            .into_iter()
            .map(|t| (t, format_ns(t)))
            .collect();
        Some(Scale {
            low,
            high,
            ticks,
            logarithmic: true,
        })
    }

    /// Durations in nanoseconds from zero on, by lengths.
    pub fn lengths(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let high = values
            .filter(|v| v.is_finite() && *v > 0.0)
            .reduce(f64::max)?;
        let step = nice(high / 4.0);
        let ticks = (0..=4)
            .map(|n| f64::from(n) * step)
            .filter(|t| *t <= high * 1.001);
        Some(Scale {
            low: 0.0,
            high,
            ticks: ticks.map(|t| (t, length(t))).collect(),
            logarithmic: false,
        })
    }

    /// Sizes in bytes, or counts where `bytes` is false, by factors: each value that was measured is written.
    pub fn values(values: &[u64], bytes: bool) -> Option<Scale> {
        let (low, high) = ends(values.iter().map(|v| *v as f64))?;
        let texts = values.iter().map(|&value| {
            if bytes {
                spaced(&format_size(value))
            } else {
                value.to_string()
            }
        });
        let ticks = values.iter().map(|v| *v as f64).zip(texts).collect();
        Some(Scale {
            low,
            high,
            ticks,
            logarithmic: true,
        })
    }

    /// Rates in bytes a second, by factors; `None` where there is none above zero.
    pub fn rates(values: impl Iterator<Item = f64>) -> Option<Scale> {
        let (low, high) = ends(values)?;
        let ticks = between(low, high).into_iter().map(|t| (t, rate(t)));
        Some(Scale {
            low,
            high,
            ticks: ticks.collect(),
            logarithmic: true,
        })
    }

    /// Position of a value, from 0 at the left end to 1 at the right; outside them less than 0 and more than 1.
    pub fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// A time on a scale that begins at zero.
fn length(ns: f64) -> String {
    if ns == 0.0 {
        "0".to_owned()
    } else {
        format_ns(ns)
    }
}

/// A round rate.
fn rate(bytes_per_second: f64) -> String {
    let digits = three_digits(bytes_per_second / 1e9);
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits} GB/s")
}

/// The lowest and the highest, a little apart.
fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.filter(|v| v.is_finite() && *v > 0.0).collect();
    let high = values.iter().copied().reduce(f64::max)?;
    let low = values.iter().copied().reduce(f64::min)?.max(high / WIDEST);
    let room = (high / low).powf(0.04).max(1.02);
    Some((low / room, high * room))
}

/// The round number of one digit, 1, 2 or 5, next to a value.
fn nice(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = value / power;
    let digits = [1.0, 2.0, 5.0, 10.0];
    power
        * digits
            .into_iter()
            .find(|d| digit <= *d * 1.0001)
            .unwrap_or(10.0)
}

/// About five round values between two.
fn between(low: f64, high: f64) -> Vec<f64> {
    if high / low < 5.0 {
        let step = nice((high - low) / 4.0);
        let first = (low / step).ceil();
        return (0..8)
            .map(|n| (first + f64::from(n)) * step)
            .filter(|t| *t <= high)
            .collect();
    }
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let digits: &[f64] = if high / low < 150.0 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let round = (from..=to).flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
    round.filter(|t| (low..=high).contains(t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_get_round_ticks_between_their_ends() {
        let words = |values: &[f64]| -> Vec<String> {
            Scale::times(values.iter().copied())
                .unwrap()
                .ticks
                .into_iter()
                .map(|(_, words)| words)
                .collect()
        };
        assert_eq!(
            words(&[1.0e6, 1.3e6]),
            ["1.00 ms", "1.10 ms", "1.20 ms", "1.30 ms"]
        );
        assert_eq!(
            words(&[900.0, 12_000.0]),
            ["1.00 µs", "2.00 µs", "5.00 µs", "10.0 µs"]
        );
        assert_eq!(
            words(&[900.0, 2e6]),
            ["1.00 µs", "10.0 µs", "100 µs", "1.00 ms"]
        );
        assert_eq!(
            Scale::times([0.0, f64::NAN, f64::INFINITY].into_iter()),
            None
        );
    }

    #[test]
    fn rates_are_round_gigabytes() {
        let scale = Scale::rates([0.9e9, 12e9].into_iter()).unwrap();
        let words: Vec<&str> = scale
            .ticks
            .iter()
            .map(|(_, words)| words.as_str())
            .collect();
        assert_eq!(words, ["1 GB/s", "2 GB/s", "5 GB/s", "10 GB/s"]);
    }

    #[test]
    fn lengths_begin_at_zero() {
        let scale = Scale::lengths([300.0, 900.0].into_iter()).unwrap();
        assert_eq!((scale.low, scale.place(450.0)), (0.0, 0.5));
        assert_eq!(
            scale.ticks.iter().map(|(t, _)| *t).collect::<Vec<_>>(),
            [0.0, 500.0]
        );
    }

    #[test]
    fn hopelessly_small_values_do_not_squeeze_the_others() {
        let scale = Scale::times([1e-300, 1e3, 2e3].into_iter()).unwrap();
        assert!(scale.place(1e-300) < 0.0 && scale.place(2e3) > 0.9);
        assert_eq!(
            Scale::values(&[4096, 1 << 20], true).unwrap().ticks[1].1,
            "1 MiB"
        );
    }
}
