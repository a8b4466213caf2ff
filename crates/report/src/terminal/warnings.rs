//! Warnings: counted in one line, or listed.

use super::layout::wrap;
use super::screen::Screen;
use crate::view::View;

/// One line that says how many there are and where they stand.
pub(super) fn counted(view: &View, screen: &Screen) -> Vec<String> {
    if view.warnings.is_empty() {
        return Vec::new();
    }
    let codes: Vec<&str> = view.warnings.iter().map(|w| w.code.as_str()).collect();
    let cells = match view.warned_cells {
        0 => String::new(),
        1 => " of 1 cell".to_owned(),
        n => format!(" of {n} cells"),
    };
    wrap(&format!("Warnings{cells} ({}): pagewise report {} --warnings", codes.join(", "), view.run), 0, screen)
}

/// All of them, by kind; the same words are said once, with the cells that they are said of.
pub(super) fn render(view: &View, screen: &Screen) -> String {
    let mut lines = Vec::new();
    for kind in &view.warnings {
        lines.extend(wrap(&kind.code, 0, screen));
        for (said, places) in &kind.said {
            lines.extend(wrap(&format!("{said}: {}", places.join(", ")), 2, screen));
        }
    }
    if lines.is_empty() {
        lines.push("no warnings".to_owned());
    }
    lines.join("\n") + "\n"
}
