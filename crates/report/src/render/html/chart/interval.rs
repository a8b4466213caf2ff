//! A ratio with its interval on the axis of its group, and bars of factors.

use super::Drawing;
use super::svg::{self, Area, Spot, Strokes, Svg};
use crate::render::plot::Axis;
use crate::sentences::numbers;
use record::summary::Ratio;

/// Height of a row's drawing, in pixels.
const HEIGHT: u32 = 26;
const MIDDLE: f64 = 13.0;
/// Height of a row with dots above and below.
const TALL: u32 = 34;
/// Length of the arrow of an interval that goes on beyond the axis.
const ARROW: f64 = 0.025;

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
    let mut svg = Svg::stretched("plot", HEIGHT, label);
    baseline(&mut svg, axis, HEIGHT);
    let step = (f64::from(HEIGHT) - 6.0) / (launches.len().max(2) - 1) as f64;
    dots(&mut svg, axis, "l", launches, |at| 3.0 + step * at as f64);
    match ratio {
        Some(ratio) => whisker(&mut svg, axis, ratio, MIDDLE),
        None => estimate(&mut svg, axis.place(1.0), MIDDLE),
    }
    svg.done()
}

/// An interval between two sides with every run of the first as a dot above it, and every run of the second below.
pub(super) fn sides(axis: &Axis, ratio: &Ratio, runs: &[Vec<f64>; 2], label: &str) -> Drawing {
    let mut svg = Svg::stretched("plot tall", TALL, label);
    baseline(&mut svg, axis, TALL);
    // Two heights in turn, so that runs alike do not hide each other.
    for (class, runs, top) in [
        ("l0", &runs[0], 3.0),
        ("l1", &runs[1], f64::from(TALL) - 7.0),
    ] {
        dots(&mut svg, axis, class, runs, |at| {
            top + 4.0 * (at % 2) as f64
        });
    }
    whisker(&mut svg, axis, ratio, f64::from(TALL) / 2.0);
    svg.done()
}

/// Small dots at ratios; what lies beyond the axis is a pale dot at its end.
fn dots(svg: &mut Svg, axis: &Axis, class: &str, ratios: &[f64], height: impl Fn(usize) -> f64) {
    let places = ratios.iter().map(|ratio| axis.place(*ratio)).enumerate();
    let (inside, beyond): (Vec<_>, Vec<_>) = places
        .filter(|(_, place)| place.is_finite())
        .partition(|(_, place)| (-0.01..=1.01).contains(place));
    for (class, places) in [(class, inside), ("o", beyond)] {
        let mut strokes = Strokes::default();
        for (at, place) in places {
            strokes.dot(Spot::new(place.clamp(0.0, 1.0), height(at)));
        }
        svg.strokes(class, &strokes);
    }
}

/// A line from limit to limit with the estimate on it; a limit beyond the axis is an arrow at its end.
fn whisker(svg: &mut Svg, axis: &Axis, ratio: &Ratio, middle: f64) {
    let [low, high] = [ratio.low, ratio.high].map(|end| axis.place(end));
    let [from, to] = [low, high].map(|place| {
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    });
    let mut strokes = Strokes::default();
    strokes.line(&[Spot::new(from, middle), Spot::new(to, middle)]);
    for (end, back) in [
        (from, if low < -1e-9 { ARROW } else { 0.0 }),
        (to, if high > 1.0 + 1e-9 { -ARROW } else { 0.0 }),
    ] {
        strokes.line(&[
            Spot::new(end + back, middle - 5.0),
            Spot::new(end, middle),
            Spot::new(end + back, middle + 5.0),
        ]);
    }
    svg.strokes("w", &strokes);
    let place = axis.place(ratio.ratio);
    if (0.0..=1.0).contains(&place) {
        estimate(svg, place, middle);
    }
}

fn estimate(svg: &mut Svg, place: f64, middle: f64) {
    let mut strokes = Strokes::default();
    strokes.dot(Spot::new(place, middle));
    svg.strokes("e", &strokes);
}

/// A bar from one to the factor that is proven, and on to the largest that is possible.
pub(super) fn bar(axis: &Axis, factors: (f64, f64), label: &str) -> Drawing {
    let mut svg = Svg::new("bar", HEIGHT, label);
    for &tick in &axis.ticks {
        vertical(&mut svg, "grid", axis.place(tick), HEIGHT);
    }
    let [least, most] = [factors.0, factors.1].map(|factor| axis.place(factor).clamp(0.0, 1.0));
    for (class, from, to) in [("proven", 0.0, least), ("possible", least, most)] {
        let area = Area {
            from,
            to,
            top: 6.0,
            bottom: 20.0,
        };
        svg.area(class, &area, "");
    }
    svg.done()
}

/// A line over the whole height of a drawing.
fn vertical(svg: &mut Svg, class: &str, x: f64, height: u32) {
    svg.line(class, Spot::new(x, 0.0), Spot::new(x, f64::from(height)));
}

fn baseline(svg: &mut Svg, axis: &Axis, height: u32) {
    let mut strokes = Strokes::default();
    let ends = [0.0, f64::from(height)];
    strokes.line(&ends.map(|y| Spot::new(axis.place(1.0), y)));
    svg.strokes("b", &strokes);
}
