//! Every launch a dot, on a scale of times.

use super::Drawing;
use super::svg::{self, Svg};
use crate::plot::Scale;
use record::sizes::format_ns;

/// Height of one row, in pixels.
const HEIGHT: u32 = 30;

/// The words of a scale of times.
pub(super) fn times(scale: &Scale) -> Drawing {
    let mut svg = Svg::new("axis", 16, "");
    svg::ticks(&mut svg, scale.ticks.iter().map(|(t, words)| (scale.place(*t), words.as_str())), 12.0, 0.12);
    svg.done()
}

/// The launches of one cell, from the first at the top to the last at the bottom: what slants was drifting.
pub(super) fn launches(scale: &Scale, walls: &[f64]) -> Drawing {
    let mut svg = Svg::new("plot", HEIGHT, &format!("{} launches", walls.len()));
    let step = (f64::from(HEIGHT) - 8.0) / (walls.len().max(2) - 1) as f64;
    svg.begin("launch large");
    for (at, wall) in walls.iter().enumerate() {
        let title = format!("launch {}: {}", at + 1, format_ns(*wall));
        svg.small_dot((scale.place(*wall).clamp(0.0, 1.0), 4.0 + step * at as f64), &title);
    }
    svg.end();
    svg.done()
}
