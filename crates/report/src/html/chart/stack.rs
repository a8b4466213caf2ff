//! Phases laid end to end: what a way saves in one phase it may pay in another.

use super::{Drawing, svg::Svg};
use crate::plot::Scale;

/// The phases of one cell.
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
