//! Needs of a cell, declared by its method.

use crate::machine::memory::huge_page_bytes;
use anyhow::Result;
use record::expression::{Expression, Values};
use record::plan::PlannedCell;
use std::collections::BTreeMap;

/// The bytes that a cell needs at its peak, by its method's own word.
pub fn memory_needed(planned: &PlannedCell, rounds: u32) -> Result<u64> {
    bytes_of(&planned.method.memory, planned, rounds)
}

/// The heap that a launch of these cells is to be given; `None` where none of them asks for one.
pub fn heap_needed<'a>(cells: impl Iterator<Item = &'a PlannedCell>, rounds: u32) -> Result<Option<u64>> {
    let mut most = None;
    for planned in cells {
        if let Some(heap) = &planned.method.heap {
            most = most.max(Some(bytes_of(heap, planned, rounds)?));
        }
    }
    Ok(most)
}

fn bytes_of(expression: &Expression, planned: &PlannedCell, rounds: u32) -> Result<u64> {
    struct Needs<'a>(&'a BTreeMap<String, String>, u32);
    impl Values for Needs<'_> {
        fn number(&self, name: &str) -> Option<i128> {
            match name {
                "rounds" => Some(i128::from(self.1)),
                "page_bytes" => i128::try_from(rustix::param::page_size()).ok(),
                "huge_page_bytes" => huge_page_bytes().map(i128::from),
                _ => self.0.get(name).and_then(|v| v.parse().ok()),
            }
        }
        fn word(&self, name: &str) -> Option<&str> {
            self.0.get(name).map(String::as_str)
        }
    }
    let value = expression.value(&Needs(&planned.cell.parameters, rounds));
    let value = value.map_err(|name| anyhow::anyhow!("{}: memory needs {name}", planned.cell.name()))?;
    Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}
