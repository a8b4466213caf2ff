//! Shares of a whole: phases laid end to end, and functions below their callers.

use super::Drawing;
use super::svg::{self, Area, Spot, Svg};
use crate::render::plot::{FlameBox, Scale};

/// The words of a scale of times.
pub(super) fn times(scale: &Scale) -> Drawing {
    let mut svg = Svg::new("axis", 16, "");
    svg::ticks(
        &mut svg,
        scale
            .ticks
            .iter()
            .map(|(t, words)| (scale.place(*t), words.as_str())),
        12.0,
        0.12,
    );
    svg.done()
}

pub(super) fn stack(scale: &Scale, phases: &[String], parts: &[Option<(f64, String)>]) -> Drawing {
    let named = phases.iter().zip(parts);
    let labels: Vec<String> = named
        .filter_map(|(phase, part)| Some(format!("{phase} {}", part.as_ref()?.1)))
        .collect();
    let mut svg = Svg::new("plot stack", 26, &labels.join(", "));
    let mut from = 0.0;
    for (at, part) in parts.iter().enumerate() {
        let Some((wall, _)) = part else { continue };
        let to = from + wall;
        let area = Area {
            from: scale.place(from),
            to: scale.place(to),
            top: 4.0,
            bottom: 22.0,
        };
        svg.area(&format!("c{at}"), &area, "");
        from = to;
    }
    svg.done()
}

const ROW: f64 = 18.0;
const ROWS: usize = 60;
/// Characters that fit into the width of a telephone.
const LETTERS: f64 = 60.0;

pub(super) fn flame(boxes: &[FlameBox]) -> Drawing {
    let rows = boxes
        .iter()
        .map(|function| function.depth + 1)
        .max()
        .unwrap_or(0)
        .min(ROWS);
    let mut svg = Svg::new(
        "plot flame",
        rows as u32 * ROW as u32,
        "flame graph of page faults",
    );
    for function in boxes.iter().filter(|function| function.depth < rows) {
        let top = function.depth as f64 * ROW;
        let color = function
            .name
            .bytes()
            .fold(0u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte))
            % 8;
        let (from, to) = function.span;
        let area = Area {
            from,
            to,
            top,
            bottom: top + ROW - 1.0,
        };
        svg.area(&format!("c{color}"), &area, &function.title);
        let room = ((to - from) * LETTERS) as usize;
        if room > 2 {
            let text: String = function.name.chars().take(room).collect();
            svg.text(Spot::new(from + 0.003, top + 12.0), "start", &text);
        }
    }
    svg.done()
}
