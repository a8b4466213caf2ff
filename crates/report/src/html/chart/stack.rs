//! Phases laid end to end: what a way saves in one phase it may pay in another.

use super::Drawing;
use super::launches::times;
use super::svg::Svg;
use crate::view::{Scale, StackRow};

/// The words of a scale of lengths.
pub(in crate::html) fn lengths(scale: &Scale) -> Drawing {
    times(scale)
}

/// The phases of one cell.
pub(in crate::html) fn stack(scale: &Scale, phases: &[String], row: &StackRow) -> Drawing {
    let said = |(phase, part): (&String, &Option<(f64, String)>)| Some(format!("{phase} {}", part.as_ref()?.1));
    let words: Vec<String> = phases.iter().zip(&row.parts).filter_map(said).collect();
    let mut svg = Svg::new("plot stack", 26, &words.join(", "));
    let mut from = 0.0;
    for (at, (phase, part)) in phases.iter().zip(&row.parts).enumerate() {
        let Some((wall, words)) = part else { continue };
        let to = from + wall;
        svg.area(&format!("c{at}"), (scale.place(from), scale.place(to)), (4.0, 22.0), &format!("{phase}: {words}"));
        from = to;
    }
    svg.done()
}
