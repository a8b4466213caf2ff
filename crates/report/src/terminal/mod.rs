//! What a terminal shows of a run: the answer on one screen, the tables of experiments, the warnings. Everything comes from the
//! view; here it is only put into lines that are no wider than the terminal.

mod across;
mod bars;
mod fleet;
mod layout;
mod look;
mod screen;
mod tables;
mod warnings;

use record::summary::Summary;

use crate::view::View;
pub use across::compared;
pub use fleet::{checked, fleet};
pub use screen::Screen;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Tables of these experiments only; empty for all.
    pub experiments: Vec<String>,
    /// With phases, resources, latency, best possible and floor.
    pub full: bool,
    /// The warnings instead.
    pub warnings: bool,
    /// How the run is called on the command line, where its name alone would not find it.
    pub run: Option<String>,
    /// Where its page lies, if it has one.
    pub page: Option<String>,
}

/// The report of a run: the warnings where they are asked for; one screen for a first look; else the tables.
pub fn render(summary: &Summary, screen: &Screen, wanted: &Wanted) -> String {
    let mut view = View::of(summary);
    if let Some(run) = &wanted.run {
        view.called(run);
    }
    if let Some(page) = &wanted.page {
        view.look.next.push(format!("page: {page}"));
    }
    if wanted.warnings {
        warnings::render(&view, screen)
    } else if view.first_look && !wanted.full && wanted.experiments.is_empty() {
        look::render(&view, screen)
    } else {
        tables::render(&view, screen, wanted)
    }
}
