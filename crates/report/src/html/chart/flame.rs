//! Functions below their callers.

use super::{Drawing, svg::Svg};
use crate::plot::FlameBox;

const ROW: f64 = 18.0;
const ROWS: usize = 60;
/// Characters that fit into the width of a telephone.
const LETTERS: f64 = 60.0;

pub(super) fn flame(boxes: &[FlameBox]) -> Drawing {
    let rows = boxes.iter().map(|function| function.depth + 1).max().unwrap_or(0).min(ROWS);
    let mut svg = Svg::new("plot flame", rows as u32 * ROW as u32, "flame graph of page faults");
    for function in boxes.iter().filter(|function| function.depth < rows) {
        let top = function.depth as f64 * ROW;
        let color = function.name.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte)) % 8;
        svg.area(&format!("c{color}"), function.span, (top, top + ROW - 1.0), &function.title);
        let room = ((function.span.1 - function.span.0) * LETTERS) as usize;
        if room > 2 {
            let text: String = function.name.chars().take(room).collect();
            svg.text((function.span.0 + 0.003, top + 12.0), "start", &text);
        }
    }
    svg.done()
}
