//! A ratio with its interval on the axis of its group, and bars of factors.

use record::sizes::three_digits;
use record::summary::Estimate;

use super::Drawing;
use super::svg::{self, Svg};
use crate::view::Axis;

/// Height of a row's drawing, in pixels.
const HEIGHT: u32 = 26;
const MIDDLE: f64 = 13.0;
/// The triangle of an interval that goes on beyond the axis.
const TO_LEFT: &str = "M0 0l7-5v10z";
const TO_RIGHT: &str = "M0 0l-7-5v10z";

fn number(ratio: f64) -> String {
    let text = three_digits(ratio);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The words of an axis of ratios.
pub fn head(axis: &Axis) -> Drawing {
    // The baseline's own place comes first, then the ends, then what there is room for.
    let mut ticks = axis.ticks.clone();
    ticks.sort_by_key(|&t| (t != 1.0, t != axis.low && t != axis.high));
    let words: Vec<(f64, String)> = ticks.iter().map(|&t| (axis.place(t), number(t))).collect();
    let mut svg = Svg::new("axis", 16, "");
    svg::ticks(&mut svg, words.iter().map(|(place, words)| (*place, words.as_str())), 12.0, 0.15);
    svg.done()
}

/// An interval with its estimate, the baseline at one, and every launch as a small dot, from the first at the top to the last
/// at the bottom. Without an estimate it is the baseline itself.
pub fn interval(axis: &Axis, ratio: Option<&Estimate>, launches: &[f64], words: &str) -> Drawing {
    let mut svg = Svg::new("plot", HEIGHT, words);
    svg.line("one", (axis.place(1.0), 0.0), (axis.place(1.0), f64::from(HEIGHT)));
    let step = (f64::from(HEIGHT) - 6.0) / (launches.len().max(2) - 1) as f64;
    svg.begin("launch");
    for (at, launch) in launches.iter().enumerate() {
        let place = axis.place(*launch);
        if (-0.01..=1.01).contains(&place) {
            svg.small_dot((place, 3.0 + step * at as f64), "");
        }
    }
    svg.end();
    let Some(ratio) = ratio else {
        svg.dot("estimate base", (axis.place(1.0), MIDDLE), 4.5, "");
        return svg.done();
    };
    let [low, high] = [ratio.low, ratio.high].map(|end| axis.place(end));
    let [from, to] = [low, high].map(|place| if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 });
    svg.line("whisker", (from, MIDDLE), (to, MIDDLE));
    for (end, place) in [(from, low), (to, high)] {
        match place {
            p if p < -1e-9 => svg.shape("beyond", (0.0, MIDDLE), TO_LEFT, ""),
            p if p > 1.0 + 1e-9 => svg.shape("beyond", (1.0, MIDDLE), TO_RIGHT, ""),
            _ => svg.line("whisker", (end, MIDDLE - 5.0), (end, MIDDLE + 5.0)),
        }
    }
    if (0.0..=1.0).contains(&axis.place(ratio.ratio)) {
        svg.dot("estimate", (axis.place(ratio.ratio), MIDDLE), 4.5, "");
    }
    svg.done()
}

/// The words of the axis of factors.
pub(in crate::html) fn factors(axis: &Axis) -> Drawing {
    head(axis)
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
pub(in crate::html) fn bar(axis: &Axis, (low, high): (f64, f64), words: &str) -> Drawing {
    let mut svg = Svg::new("bar", HEIGHT, words);
    for &tick in &axis.ticks {
        svg.line("grid", (axis.place(tick), 0.0), (axis.place(tick), f64::from(HEIGHT)));
    }
    let [low, high] = [low, high].map(|factor| axis.place(factor).clamp(0.0, 1.0));
    svg.area("proven", (0.0, low), (6.0, 20.0), "");
    svg.area("possible", (low, high), (6.0, 20.0), "");
    svg.done()
}
