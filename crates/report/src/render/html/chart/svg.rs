//! The few elements that charts are made of.

use super::Drawing;
use crate::render::escape;
use std::fmt::Write;

/// An SVG that is being written. Places along the page are shares of the width from 0 to 1, heights are pixels.
pub(super) struct Svg(String);

/// A place in a drawing: a share of its width, and pixels from its top.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    x: f64,
    y: f64,
}

/// Lines and dots of one class, in a drawing that is stretched: thousandths of its width, and pixels from its top. Their strokes
/// are not stretched.
#[derive(Default)]
pub(super) struct Strokes {
    path: String,
    /// The place where the path ends.
    end: (i32, i32),
}

/// A rectangle: shares of the width, and pixels from the top.
pub(super) struct Area {
    pub from: f64,
    pub to: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Spot {
    pub(super) fn new(x: f64, y: f64) -> Spot {
        Spot { x, y }
    }
}

/// A share as a percentage of the width; what is no number, or lies beyond all reason, is brought to an end.
pub(super) fn percent(share: f64) -> String {
    let share = if share.is_finite() {
        share.clamp(-1.0, 2.0)
    } else {
        0.0
    };
    format!("{}%", (share * 10_000.0).round() / 100.0)
}

/// A share in thousandths of the width; what is no number, or lies beyond all reason, is brought to an end.
fn thousandths(share: f64) -> i32 {
    if share.is_finite() {
        (share.clamp(-1.0, 2.0) * 1000.0).round() as i32
    } else {
        0
    }
}

impl Strokes {
    /// A dot, as large as the stroke is wide.
    pub(super) fn dot(&mut self, at: Spot) {
        self.go('m', at);
        self.path.push_str("h0");
    }

    /// Lines from one place to the next.
    pub(super) fn line(&mut self, spots: &[Spot]) {
        for (at, spot) in spots.iter().enumerate() {
            self.go(if at == 0 { 'm' } else { 'l' }, *spot);
        }
    }

    /// Goes on to a place: a step is written in fewer characters than a place.
    fn go(&mut self, step: char, to: Spot) {
        let to = (thousandths(to.x), to.y.round() as i32);
        let (right, down) = (to.0 - self.end.0, to.1 - self.end.1);
        let gap = if down < 0 { "" } else { " " };
        let _ = write!(self.path, "{step}{right}{gap}{down}");
        self.end = to;
    }
}

impl Svg {
    /// An SVG of strokes that is as wide as its place; the style knows its height.
    pub(super) fn stretched(class: &str, height: u32, label: &str) -> Svg {
        Svg(format!(
            "<svg class=\"{class}\" viewBox=\"0 0 1000 {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
            escape::html(label)
        ))
    }

    /// Strokes of one class, where there are any.
    pub(super) fn strokes(&mut self, class: &str, strokes: &Strokes) {
        let Strokes { path, .. } = strokes;
        if !path.is_empty() {
            let _ = write!(self.0, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// An SVG with a height in pixels; `label` is what is read out for it.
    pub(super) fn new(class: &str, height: u32, label: &str) -> Svg {
        let role = match label {
            "" => "aria-hidden=\"true\"".to_owned(),
            words => format!("role=\"img\" aria-label=\"{}\"", escape::html(words)),
        };
        Svg(format!(
            "<svg class=\"{class}\" height=\"{height}\" {role}>"
        ))
    }

    /// Adds numbers for the script of the page.
    pub(super) fn data(mut self, name: &str, numbers: &[f64]) -> Svg {
        let numbers: Vec<String> = numbers
            .iter()
            .map(|number| format!("{number:.6e}"))
            .collect();
        self.0.insert_str(
            "<svg".len(),
            &format!(" data-{name}=\"{}\"", numbers.join(" ")),
        );
        self
    }

    pub(super) fn line(&mut self, class: &str, from: Spot, to: Spot) {
        let [x1, x2] = [from.x, to.x].map(percent);
        let [y1, y2] = [from.y, to.y];
        let _ = write!(
            self.0,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1:.1}\" x2=\"{x2}\" y2=\"{y2:.1}\"/>"
        );
    }

    pub(super) fn area(&mut self, class: &str, area: &Area, title: &str) {
        let (x, width) = (percent(area.from), percent((area.to - area.from).max(0.0)));
        let (top, height) = (area.top, area.bottom - area.top);
        let _ = write!(
            self.0,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\""
        );
        self.titled("rect", title);
    }

    pub(super) fn shape(&mut self, class: &str, at: Spot, path: &str, title: &str) {
        let (x, y) = (percent(at.x), at.y);
        let _ = write!(
            self.0,
            "<svg x=\"{x}\" y=\"{y:.1}\" overflow=\"visible\"><path class=\"{class}\" d=\"{path}\""
        );
        self.titled("path", title);
        self.0.push_str("</svg>");
    }

    /// Words; `anchor` is start, middle or end.
    pub(super) fn text(&mut self, at: Spot, anchor: &str, text: &str) {
        let (x, y, text) = (percent(at.x), at.y, escape::html(text));
        let anchor = match anchor {
            "middle" => String::new(),
            end => format!(" class=\"{end}\""),
        };
        let _ = write!(self.0, "<text x=\"{x}\" y=\"{y:.0}\"{anchor}>{text}</text>");
    }

    /// Ends an element that was begun, with what is said when it is pointed at.
    fn titled(&mut self, element: &str, title: &str) {
        match title {
            "" => self.0.push_str("/>"),
            words => {
                let _ = write!(
                    self.0,
                    "><title>{}</title></{element}>",
                    escape::html(words)
                );
            }
        }
    }

    pub(super) fn done(mut self) -> Drawing {
        self.0.push_str("</svg>");
        Drawing(self.0)
    }
}

/// Labels below a scale, kept within its ends; of two that are too close, the later one is left out.
pub(super) fn ticks<'a>(
    svg: &mut Svg,
    ticks: impl Iterator<Item = (f64, &'a str)>,
    y: f64,
    apart: f64,
) {
    let mut taken: Vec<f64> = Vec::new();
    for (place, words) in ticks.filter(|(place, _)| (-1e-6..=1.0 + 1e-6).contains(place)) {
        if taken.iter().any(|other| (place - other).abs() < apart) {
            continue;
        }
        taken.push(place);
        let anchor = match place {
            p if p < 0.04 => "start",
            p if p > 0.96 => "end",
            _ => "middle",
        };
        svg.text(Spot::new(place, y), anchor, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_makes_no_broken_drawing() {
        assert_eq!(
            (percent(f64::NAN), percent(f64::INFINITY), percent(0.12345)),
            ("0%".into(), "0%".into(), "12.35%".into())
        );
        let mut svg = Svg::new("plot", 20, "<x>");
        let area = Area {
            from: 0.5,
            to: f64::NEG_INFINITY,
            top: 0.0,
            bottom: 10.0,
        };
        svg.area("c0", &area, "\"</title><script>");
        let Drawing(text) = svg.done();
        assert!(
            !text.contains("<script") && !text.contains("<x>") && text.contains("width=\"0%\""),
            "{text}"
        );
    }
}
