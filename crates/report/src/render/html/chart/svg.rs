//! The few elements that charts are made of.

use super::Drawing;
use crate::render::escape;
use std::fmt::Write;

/// An SVG that is being written. Places along the page are shares of the width from 0 to 1, heights are pixels.
pub(super) struct Svg(String);

/// A share as a percentage of the width; what is no number, or lies beyond all reason, is brought to an end.
pub(super) fn percent(share: f64) -> String {
    let share = if share.is_finite() {
        share.clamp(-1.0, 2.0)
    } else {
        0.0
    };
    format!("{}%", (share * 10_000.0).round() / 100.0)
}

impl Svg {
    /// An SVG with a height in pixels; `label` is what is read out for it.
    pub(super) fn new(class: &str, height: u32, label: &str) -> Svg {
        let role = match label {
            "" => "aria-hidden=\"true\"".to_owned(),
            words => format!("role=\"img\" aria-label=\"{}\"", escape::html(words)),
        };
        Svg(format!(
            "<svg class=\"{class}\" width=\"100%\" height=\"{height}\" {role}>"
        ))
    }

    /// The same with numbers for the script of the page.
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

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let (x1, x2) = (percent(x1), percent(x2));
        let _ = write!(
            self.0,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1:.1}\" x2=\"{x2}\" y2=\"{y2:.1}\"/>"
        );
    }

    pub(super) fn area(
        &mut self,
        class: &str,
        (from, to): (f64, f64),
        (top, bottom): (f64, f64),
        title: &str,
    ) {
        let (x, width) = (percent(from), percent((to - from).max(0.0)));
        let height = bottom - top;
        let _ = write!(
            self.0,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\""
        );
        self.titled("rect", title);
    }

    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64)) {
        let _ = write!(
            self.0,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{y:.1}\" r=\"4.5\"/>",
            percent(x)
        );
    }

    /// Begins elements that share a class.
    pub(super) fn begin(&mut self, class: &str) {
        let _ = write!(self.0, "<g class=\"{class}\">");
    }

    pub(super) fn end(&mut self) {
        self.0.push_str("</g>");
    }

    /// A dot of those that were begun together, as large as the style makes it.
    pub(super) fn small_dot(&mut self, (x, y): (f64, f64)) {
        let _ = write!(self.0, "<circle cx=\"{}\" cy=\"{y:.0}\"/>", percent(x));
    }

    pub(super) fn shape(&mut self, class: &str, (x, y): (f64, f64), path: &str, title: &str) {
        let _ = write!(
            self.0,
            "<svg x=\"{}\" y=\"{y:.1}\" overflow=\"visible\"><path class=\"{class}\" d=\"{path}\"",
            percent(x)
        );
        self.titled("path", title);
        self.0.push_str("</svg>");
    }

    /// Words; `anchor` is start, middle or end.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let (x, text) = (percent(x), escape::html(text));
        let _ = write!(
            self.0,
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        );
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
        svg.text((place, y), anchor, words);
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
        svg.area(
            "c0",
            (0.5, f64::NEG_INFINITY),
            (0.0, 10.0),
            "\"</title><script>",
        );
        let Drawing(text) = svg.done();
        assert!(
            !text.contains("<script") && !text.contains("<x>") && text.contains("width=\"0%\""),
            "{text}"
        );
    }
}
