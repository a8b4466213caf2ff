//! The picture of the front page as a drawing of its own, for a README.

use super::Labels;
use super::front::{Mark, Panel, axis, panels, ticks};
use crate::render::escape;
use record::gallery::FrontPicture;
use record::shared::SharedRun;
use std::fmt::Write;

/// Width of a panel and the space between two, in pixels.
const PANEL: f64 = 340.0;
const GAP: f64 = 40.0;
/// Space above a panel's lines for its title, and below them for its axis.
const HEAD: f64 = 28.0;
const FOOT: f64 = 40.0;
const STYLE: &str = "text{fill:#333}.s{fill:#5b6168;font-size:12px}.g{stroke:#ddd}.one{stroke:#888}.l{stroke-width:3}.faster{stroke:#0a6b4f;fill:#0a6b4f}\
    .slower{stroke:#a8380a;fill:#a8380a}.open{stroke:#777;fill:#777}@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#a3abb3}.g{stroke:#444}\
    .faster{stroke:#4cc79b;fill:#4cc79b}.slower{stroke:#f08c5a;fill:#f08c5a}}";

/// The picture of a gallery as SVG; `None` where no machine has anything of it.
pub fn front_picture(
    labels: &Labels,
    runs: &[&SharedRun],
    picture: &FrontPicture,
) -> Option<String> {
    let axis = axis(runs, picture)?;
    let panels = panels(labels, runs, picture, &axis);
    let height = HEAD + panels.first()?.height + FOOT;
    let rows = panels.len().div_ceil(2) as f64;
    let (width, total_height) = (2.0 * PANEL + GAP, rows * height);
    let title = escape::html(&picture.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {total_height}\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"15\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n"
    );
    for (at, panel) in panels.iter().enumerate() {
        let (x, y) = ((at % 2) as f64 * (PANEL + GAP), (at / 2) as f64 * height);
        let title = escape::html(&panel.title);
        let _ = writeln!(
            svg,
            "<g transform=\"translate({x} {y})\"><text y=\"16\">{title}</text>"
        );
        for tick in ticks(&axis) {
            let (x, bottom) = (across(tick.at), HEAD + panel.height);
            let class = if tick.is_one { "one" } else { "g" };
            let (text, below) = (escape::html(&tick.text), bottom + 14.0);
            let anchor = match tick.at {
                at if at < 3.0 => "start",
                at if at > 97.0 => "end",
                _ => "middle",
            };
            let _ = writeln!(
                svg,
                "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{HEAD}\" y2=\"{bottom}\"/>\
                 <text class=\"s\" x=\"{x}\" y=\"{below}\" text-anchor=\"{anchor}\">{text}</text>"
            );
        }
        draw(&mut svg, panel);
        svg += "</g>\n";
    }
    svg += "</svg>\n";
    Some(svg)
}

/// Place of a percentage of the width, in pixels.
fn across(percent: f64) -> f64 {
    (percent * PANEL / 10.0).round() / 10.0
}

fn draw(svg: &mut String, panel: &Panel) {
    for mark in &panel.marks {
        let Mark {
            low, middle, high, ..
        } = *mark;
        let (y, tone) = (HEAD + mark.down, mark.tone);
        let [low, place, high] = [low, middle, high].map(across);
        let (name, line) = (escape::html(&mark.name), y - 11.0);
        let _ = writeln!(
            svg,
            "<g class=\"{tone}\"><line class=\"l\" x1=\"{low}\" x2=\"{high}\" y1=\"{y}\" y2=\"{y}\"/><circle cx=\"{place}\" cy=\"{y}\" r=\"5\"/></g>\
             <text class=\"s\" x=\"0\" y=\"{line}\">{name}</text>"
        );
    }
}
