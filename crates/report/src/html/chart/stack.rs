//! Phases laid end to end: what a way saves in one phase it may pay in another.

use super::Drawing;
use super::svg::{self, Svg};
use crate::plot::Scale;

/// The words of a scale of times.
pub(super) fn times(scale: &Scale) -> Drawing {
    let mut svg = Svg::new("axis", 16, "");
    svg::ticks(&mut svg, scale.ticks.iter().map(|(t, words)| (scale.place(*t), words.as_str())), 12.0, 0.12);
    svg.done()
}

pub(super) fn stack(scale: &Scale, phases: &[String], parts: &[Option<(f64, String)>]) -> Drawing {
    let part_label = |(phase, part): (&String, &Option<(f64, String)>)| Some(format!("{phase} {}", part.as_ref()?.1));
    let labels: Vec<String> = phases.iter().zip(parts).filter_map(part_label).collect();
    let mut svg = Svg::new("plot stack", 26, &labels.join(", "));
    let mut from = 0.0;
    for (at, (phase, part)) in phases.iter().zip(parts).enumerate() {
        let Some((wall, labels)) = part else { continue };
        let to = from + wall;
        svg.area(&format!("c{at}"), (scale.place(from), scale.place(to)), (4.0, 22.0), &format!("{phase}: {labels}"));
        from = to;
    }
    svg.done()
}
