//! Static SVG. Along the page everything lies at shares of the width, and nothing is scaled: a drawing is as wide as its place
//! and its words stay as large as the text around it, from a telephone to a wall. Colours are classes, so that light, dark and
//! paper are the style's business. Why no library draws them: docs/decisions.

mod curve;
mod interval;
mod scatter;
mod stack;
mod svg;

use crate::render::plot::Plot;
use minijinja::Value;
use serde::{Serialize, Serializer};

/// The marks of lines, told apart by their shape as well as by their color.
pub(super) const MARKS: [&str; 7] = [
    "M0-4.5a4.5 4.5 0 1 0 .01 0z",
    "M-4-4h8v8h-8z",
    "M0-5.5L5 4H-5z",
    "M0-6L5.5 0 0 6-5.5 0z",
    "M0 5.5L5-4H-5z",
    "M-5-1.5h3.5V-5h3v3.5H5v3H1.5V5h-3V1.5H-5z",
    "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
];

/// A finished drawing. Only the modules below make one, and they escape every word in it.
struct Drawing(String);

/// A template takes a plot as its drawing.
impl Serialize for Plot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Drawing(svg) = match self {
            Plot::Ratios(axis) => interval::head(axis),
            Plot::Times(scale) => stack::times(scale),
            Plot::Interval {
                axis,
                ratio,
                launches,
                label,
            } => interval::interval(axis, ratio.as_ref(), launches, label),
            Plot::Sides {
                axis,
                ratio,
                runs,
                label,
            } => interval::sides(axis, ratio, runs, label),
            Plot::Bar {
                axis,
                factors,
                label,
            } => interval::bar(axis, *factors, label),
            Plot::Stack {
                scale,
                phases,
                parts,
            } => stack::stack(scale, phases, parts),
            Plot::Curves { curves, label } => curve::curves(curves, label),
            Plot::Scatter { scatter, label } => scatter::scatter(scatter, label),
            Plot::Flame(boxes) => stack::flame(boxes),
        };
        Value::from_safe_string(svg).serialize(serializer)
    }
}
