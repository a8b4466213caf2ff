//! Memory need and working set of a cell.

use record::{expression::Values, plan::PlannedCell};
use std::collections::BTreeMap;

/// A cell's parameters as operands; pages are of the usual size, which is near enough to rank by.
struct Parameters<'a>(&'a BTreeMap<String, String>);

impl Values for Parameters<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        match name {
            "rounds" => Some(1),
            "page_bytes" => Some(4096),
            "huge_page_bytes" => Some(2 << 20),
            _ => self.0.get(name).and_then(|v| v.parse().ok()),
        }
    }

    fn word(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Bytes that a cell needs at its peak for one round, by its method's own word; the most there is where that cannot be told.
pub(crate) fn memory_bytes(planned: &PlannedCell) -> u64 {
    let bytes = planned.method.memory.value(&Parameters(&planned.cell.parameters)).ok();
    bytes.and_then(|b| u64::try_from(b.max(0)).ok()).unwrap_or(u64::MAX)
}
