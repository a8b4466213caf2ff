//! A question with the cells that answer it here.

use record::summary::{CellSummary, Summary};
use record::{advice::Topic, cell::Cell, experiment::Experiment, plan::BATCH};
use std::collections::BTreeMap;

/// A topic as a user asked it.
#[derive(Clone, Debug)]
pub struct AdviceRequest {
    pub topic: Topic,
    /// Fixed parameters, as the experiment writes them.
    pub settings: BTreeMap<String, String>,
    pub experiment: Experiment,
    /// Conditions that the user left open, each with its values: the usual one first.
    pub open: BTreeMap<String, Vec<String>>,
    /// The phase or total that counts.
    pub measure: String,
    /// The usual choice's cell, at any size.
    pub obvious: Cell,
    /// The other ways' cells with their names: the method, and its worker where that is another than the usual choice's.
    pub ways: Vec<(String, Cell)>,
    pub bytes: u64,
}

impl AdviceRequest {
    /// Open conditions that do not have their usual value in a case.
    pub(super) fn unusual(&self, settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let is_unusual = |(key, value): &(&String, &String)| self.open.get(*key).is_some_and(|all| all.first() != Some(value));
        settings.iter().filter(is_unusual).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    pub fn under(&self, key: &str, value: &str) -> AdviceRequest {
        let mut settings = self.settings.clone();
        settings.insert(key.to_owned(), value.to_owned());
        AdviceRequest { settings, ..self.clone() }
    }
}

pub(super) const BYTES: &str = "bytes";

/// Tells whether a cell of a summary is this one at whatever size, and in the case that these settings say.
fn is(cell: &CellSummary, wanted: &Cell, settings: &BTreeMap<String, String>) -> bool {
    let setting = |key: &String| settings.get(key).or_else(|| wanted.parameters.get(key));
    let plain = |key: &&String| *key != BATCH && *key != BYTES;
    !cell.hidden
        && cell.cell == wanted.name()
        && cell.parameters.len() == wanted.parameters.len()
        && cell.parameters.keys().filter(plain).all(|key| setting(key) == cell.parameters.get(key))
}

/// The cells of a summary that are this one, by size.
pub(super) fn by_size<'a>(
    summary: &'a Summary,
    wanted: &Cell,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<u64, &'a CellSummary> {
    let mine = summary.cells.iter().filter(|c| is(c, wanted, settings));
    mine.filter_map(|c| Some((c.parameters.get(BYTES)?.parse().ok()?, c))).collect()
}
