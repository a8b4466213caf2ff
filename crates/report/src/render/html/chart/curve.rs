//! Cost against size, both by factors, with the bands in which the cheaper method changes.

use super::svg::{self, Area, Spot, Svg};
use super::{Drawing, MARKS};
use crate::render::plot::{Crossover, CurvePoint, Curves, Line};

/// Height of the drawing, and of the part of it in which costs lie, in pixels.
const HEIGHT: u32 = 300;
const TOP: f64 = 26.0;
/// Offset, height and largest number of the strips of bands.
const STRIPS: f64 = 2.0;
const STRIP: f64 = 5.0;
const MOST_STRIPS: usize = 4;
const BOTTOM: f64 = 270.0;
/// The part of the width in which values lie; before it stand the words of the costs.
const LEFT: f64 = 0.14;
const RIGHT: f64 = 0.96;

/// The lines of one chart; what `label` says is read out for all of it.
pub(super) fn curves(curves: &Curves, label: &str) -> Drawing {
    let scale = [curves.upward.low, curves.upward.high, TOP, BOTTOM];
    let mut svg = Svg::new("curves", HEIGHT, label).data("scale", &scale);
    for (at, crossover) in curves.crossovers.iter().enumerate() {
        band(&mut svg, curves, at, crossover);
    }
    for (cost, words) in &curves.upward.ticks {
        let y = y(curves, *cost);
        svg.line("grid", Spot::new(0.0, y), Spot::new(1.0, y));
        svg.text(Spot::new(0.0, y - 3.0), "start", words);
    }
    let ticks = curves.across.ticks.iter();
    let across = ticks.map(|(value, words)| (x(curves, *value as u64), words.as_str()));
    svg::ticks(&mut svg, across, BOTTOM + 20.0, 0.13);
    for line in &curves.lines {
        for pair in line.points.windows(2) {
            let [from, to] = [&pair[0], &pair[1]].map(|point| spot(curves, point));
            svg.line(&format!("course c{}", line.color), from, to);
        }
        for point in &line.points {
            mark(&mut svg, curves, line, point);
        }
    }
    svg.done()
}

fn x(curves: &Curves, value: u64) -> f64 {
    LEFT + (RIGHT - LEFT) * curves.across.place(value as f64)
}

fn y(curves: &Curves, cost: f64) -> f64 {
    let place = curves.upward.place(cost);
    let place = if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.0
    };
    BOTTOM - (BOTTOM - TOP) * place
}

fn spot(curves: &Curves, point: &CurvePoint) -> Spot {
    Spot::new(x(curves, point.value), y(curves, point.cost.0))
}

/// The band of a crossover, and a strip above it: bands that lie over each other are told apart there.
fn band(svg: &mut Svg, curves: &Curves, at: usize, crossover: &Crossover) {
    let [from, to] = [crossover.between.0, crossover.between.1].map(|value| x(curves, value));
    let class = format!("c{}", curves.lines[crossover.line].color);
    let band = Area {
        from,
        to,
        top: TOP,
        bottom: BOTTOM,
    };
    let top = STRIPS + STRIP * (at % MOST_STRIPS) as f64;
    let strip = Area {
        from,
        to,
        top,
        bottom: top + STRIP - 1.0,
    };
    svg.area(&format!("band {class}"), &band, &crossover.sentence);
    svg.area(&class, &strip, &crossover.sentence);
}

/// A point with its interval.
fn mark(svg: &mut Svg, curves: &Curves, line: &Line, point: &CurvePoint) {
    let color = line.color;
    if let Some((low, high)) = point.cost.1 {
        let x = x(curves, point.value);
        let [low, high] = [low, high].map(|cost| Spot::new(x, y(curves, cost)));
        svg.line(&format!("limits c{color}"), low, high);
    }
    let title = format!(
        "{}, {}: {}",
        line.label, point.value_words, point.cost_words
    );
    svg.shape(
        &format!("mark c{color}"),
        spot(curves, point),
        MARKS[color % MARKS.len()],
        &title,
    );
}
