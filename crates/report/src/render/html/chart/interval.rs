//! A ratio with its interval on the axis of its group, and bars of factors.

use super::{Drawing, svg, svg::Svg};
use crate::render::plot::Axis;
use crate::sentences::numbers;
use record::summary::Ratio;

/// Height of a row's drawing, in pixels.
const HEIGHT: u32 = 26;
const MIDDLE: f64 = 13.0;
/// The same where dots stand above and below.
const TALL: u32 = 34;
/// The triangle of an interval that goes on beyond the axis.
const TO_LEFT: &str = "M0 0l7-5v10z";
const TO_RIGHT: &str = "M0 0l-7-5v10z";

/// A ratio at an axis: what is far below one as a fraction, which is how one says it.
fn number(ratio: f64) -> String {
    let parts = (1.0 / ratio).round();
    if parts >= 8.0 && (parts * ratio - 1.0).abs() < 1e-6 {
        return format!("1/{parts:.0}");
    }
    numbers::short(ratio)
}

/// The words of an axis of ratios.
pub(super) fn head(axis: &Axis) -> Drawing {
    let ticks: Vec<(f64, String)> = axis
        .ranked_ticks()
        .into_iter()
        .map(|t| (axis.place(t), number(t)))
        .collect();
    let mut svg = Svg::new("axis", 16, "");
    svg::ticks(
        &mut svg,
        ticks.iter().map(|(place, ticks)| (*place, ticks.as_str())),
        12.0,
        0.15,
    );
    svg.done()
}

/// An interval with its estimate, the baseline at one, and every launch as a small dot, from the first at the top to the last
/// at the bottom. Without an estimate it is the baseline itself.
pub(super) fn interval(
    axis: &Axis,
    ratio: Option<&Ratio>,
    launches: &[f64],
    label: &str,
) -> Drawing {
    let mut svg = Svg::new("plot", HEIGHT, label);
    svg.line(
        "one",
        (axis.place(1.0), 0.0),
        (axis.place(1.0), f64::from(HEIGHT)),
    );
    let step = (f64::from(HEIGHT) - 6.0) / (launches.len().max(2) - 1) as f64;
    dots(&mut svg, axis, "launch", launches, |at| {
        3.0 + step * at as f64
    });
    match ratio {
        Some(ratio) => whisker(&mut svg, axis, ratio, MIDDLE),
        None => svg.dot("estimate base", (axis.place(1.0), MIDDLE)),
    }
    svg.done()
}

/// An interval between two sides with every run of the first as a dot above it, and every run of the second below.
pub(super) fn sides(axis: &Axis, ratio: &Ratio, runs: &[Vec<f64>; 2], label: &str) -> Drawing {
    let mut svg = Svg::new("plot", TALL, label);
    svg.line(
        "one",
        (axis.place(1.0), 0.0),
        (axis.place(1.0), f64::from(TALL)),
    );
    // Two heights in turn, so that runs alike do not hide each other.
    for (class, runs, top) in [
        ("launch-a", &runs[0], 3.0),
        ("launch-b", &runs[1], f64::from(TALL) - 7.0),
    ] {
        dots(&mut svg, axis, class, runs, |at| {
            top + 4.0 * (at % 2) as f64
        });
    }
    whisker(&mut svg, axis, ratio, f64::from(TALL) / 2.0);
    svg.done()
}

/// Small dots at ratios; what lies beyond the axis is an open dot at its end.
fn dots(svg: &mut Svg, axis: &Axis, class: &str, ratios: &[f64], height: impl Fn(usize) -> f64) {
    let inside = |place: f64| (-0.01..=1.01).contains(&place);
    let places: Vec<(usize, f64)> = ratios
        .iter()
        .map(|ratio| axis.place(*ratio))
        .enumerate()
        .collect();
    for beyond in [false, true] {
        let chosen = || {
            places
                .iter()
                .filter(|(_, place)| inside(*place) != beyond && place.is_finite())
        };
        if chosen().next().is_none() {
            continue;
        }
        svg.begin(if beyond { "out" } else { class });
        chosen().for_each(|&(at, place)| svg.small_dot((place.clamp(0.0, 1.0), height(at))));
        svg.end();
    }
}

/// A line from limit to limit with the estimate on it.
fn whisker(svg: &mut Svg, axis: &Axis, ratio: &Ratio, middle: f64) {
    let [low, high] = [ratio.low, ratio.high].map(|end| axis.place(end));
    let [from, to] = [low, high].map(|place| {
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    });
    svg.line("whisker", (from, middle), (to, middle));
    for (end, place) in [(from, low), (to, high)] {
        match place {
            p if p < -1e-9 => svg.shape("beyond", (0.0, middle), TO_LEFT, ""),
            p if p > 1.0 + 1e-9 => svg.shape("beyond", (1.0, middle), TO_RIGHT, ""),
            _ => svg.line("whisker", (end, middle - 5.0), (end, middle + 5.0)),
        }
    }
    if (0.0..=1.0).contains(&axis.place(ratio.ratio)) {
        svg.dot("estimate", (axis.place(ratio.ratio), middle));
    }
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
pub(super) fn bar(axis: &Axis, (low, high): (f64, f64), label: &str) -> Drawing {
    let mut svg = Svg::new("bar", HEIGHT, label);
    for &tick in &axis.ticks {
        svg.line(
            "grid",
            (axis.place(tick), 0.0),
            (axis.place(tick), f64::from(HEIGHT)),
        );
    }
    let [low, high] = [low, high].map(|factor| axis.place(factor).clamp(0.0, 1.0));
    svg.area("proven", (0.0, low), (6.0, 20.0), "");
    svg.area("possible", (low, high), (6.0, 20.0), "");
    svg.done()
}
