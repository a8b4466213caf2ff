//! Methods by two costs, both by factors: a mark with an interval each way, and its name.

use super::svg::{self, Spot, Svg};
use super::{Drawing, MARKS};
use crate::render::plot::{Scale, Scatter, ScatterPoint};

/// Height of the drawing, and of the part of it in which costs lie, in pixels.
const HEIGHT: u32 = 340;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 310.0;
/// The part of the width in which costs lie; before it stand the words of the costs, behind it names.
const LEFT: f64 = 0.12;
const RIGHT: f64 = 0.84;
/// Least distance of two names, in pixels.
const LINE_HEIGHT: f64 = 12.0;

/// The points of one chart; what `label` says is read out for all of it.
pub(super) fn scatter(scatter: &Scatter, label: &str) -> Drawing {
    let mut svg = Svg::new("curves", HEIGHT, label);
    for (cost, words) in &scatter.upward.ticks {
        let y = y(scatter, *cost);
        svg.line("grid", Spot::new(0.0, y), Spot::new(1.0, y));
        svg.text(Spot::new(0.0, y - 3.0), "start", words);
    }
    let ticks = scatter.across.ticks.iter();
    let across = ticks.map(|(cost, words)| (x(scatter, *cost), words.as_str()));
    svg::ticks(&mut svg, across, BOTTOM + 20.0, 0.13);
    let mut named: Vec<(f64, f64)> = Vec::new();
    for point in &scatter.points {
        mark(&mut svg, scatter, point);
        let name = name_place(scatter, point, &named);
        named.push(name);
        svg.text(Spot::new(name.0, name.1), "start", &point.label);
    }
    svg.done()
}

fn share(scale: &Scale, cost: f64) -> f64 {
    let place = scale.place(cost);
    if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

fn x(scatter: &Scatter, cost: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * share(&scatter.across, cost)
}

fn y(scatter: &Scatter, cost: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * share(&scatter.upward, cost)
}

/// A mark with its intervals: those on the frontier have another color.
fn mark(svg: &mut Svg, scatter: &Scatter, point: &ScatterPoint) {
    let color = usize::from(!point.is_best);
    let at = Spot::new(x(scatter, point.across.0), y(scatter, point.upward.0));
    if let Some((low, high)) = point.across.1 {
        let [low, high] =
            [low, high].map(|cost| Spot::new(x(scatter, cost), y(scatter, point.upward.0)));
        svg.line(&format!("limits c{color}"), low, high);
    }
    if let Some((low, high)) = point.upward.1 {
        let [low, high] =
            [low, high].map(|cost| Spot::new(x(scatter, point.across.0), y(scatter, cost)));
        svg.line(&format!("limits c{color}"), low, high);
    }
    svg.shape(
        &format!("mark c{color}"),
        at,
        MARKS[color % MARKS.len()],
        &point.title,
    );
}

/// Place of a point's name, right of it and below the names that are there already.
fn name_place(scatter: &Scatter, point: &ScatterPoint, named: &[(f64, f64)]) -> (f64, f64) {
    let x = x(scatter, point.across.0) + 0.012;
    let mut y = y(scatter, point.upward.0) + 4.0;
    while let Some((_, taken)) = named
        .iter()
        .find(|(left, top)| (left - x).abs() < 0.14 && (top - y).abs() < LINE_HEIGHT)
    {
        y = taken + LINE_HEIGHT;
    }
    (x, y)
}
