//! Cost against size, both by factors, with the bands in which the cheaper way changes.

use super::{Drawing, MARKS, svg, svg::Svg};
use crate::render::plot::{CurvePoint, Curves};

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
    let x = |value: u64| LEFT + (RIGHT - LEFT) * curves.across.place(value as f64);
    let y = |cost: f64| {
        let place = curves.upward.place(cost);
        let place = if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        };
        BOTTOM - (BOTTOM - TOP) * place
    };
    for (at, crossover) in curves.crossovers.iter().enumerate() {
        let (from, to) = crossover.between;
        let (ends, class) = (
            (x(from), x(to)),
            format!("c{}", curves.lines[crossover.line].color),
        );
        svg.area(
            &format!("band {class}"),
            ends,
            (TOP, BOTTOM),
            &crossover.sentence,
        );
        // A strip each above: bands that lie over each other are told apart there.
        let top = STRIPS + STRIP * (at % MOST_STRIPS) as f64;
        svg.area(&class, ends, (top, top + STRIP - 1.0), &crossover.sentence);
    }
    for (cost, words) in &curves.upward.ticks {
        svg.line("grid", (0.0, y(*cost)), (1.0, y(*cost)));
        svg.text((0.0, y(*cost) - 3.0), "start", words);
    }
    let across: Vec<(f64, &str)> = curves
        .across
        .ticks
        .iter()
        .map(|(value, words)| (x(*value as u64), words.as_str()))
        .collect();
    svg::ticks(&mut svg, across.into_iter(), BOTTOM + 20.0, 0.13);
    for line in &curves.lines {
        for pair in line.points.windows(2) {
            let ends = [&pair[0], &pair[1]].map(|p| (x(p.value), y(p.cost.0)));
            svg.line(&format!("course c{}", line.color), ends[0], ends[1]);
        }
        for point in &line.points {
            self::point(
                &mut svg,
                line.color,
                (x(point.value), y(point.cost.0)),
                point,
                &line.label,
                &y,
            );
        }
    }
    svg.done()
}

fn point(
    svg: &mut Svg,
    color: usize,
    at: (f64, f64),
    point: &CurvePoint,
    label: &str,
    y: &impl Fn(f64) -> f64,
) {
    if let Some((low, high)) = point.cost.1 {
        svg.line(&format!("limits c{color}"), (at.0, y(low)), (at.0, y(high)));
    }
    let title = format!("{label}, {}: {}", point.value_words, point.cost_words);
    svg.shape(
        &format!("mark c{color}"),
        at,
        MARKS[color % MARKS.len()],
        &title,
    );
}
