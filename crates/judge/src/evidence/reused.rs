//! Phases of a user's function whose blocks were there already, from an earlier turn of the same process.

use record::summary::{CellSummary, FactProof};

/// Least size of a block that malloc(3) takes from the kernel by itself; smaller ones are reused within any program.
const LEAST_BLOCK_BYTES: u64 = 128 << 10;

/// A phase that found its memory there. A program that does this once pays for the first touch of each page.
#[derive(Clone, Debug, PartialEq)]
pub struct ReusedPhase<'a> {
    pub phase: &'a str,
    /// Pages that were there: the most faults that such a program has more.
    pub pages: u64,
    /// Blocks that were allocated; of several, some may be others again.
    pub blocks: u64,
    /// Time of so many first touches here, in nanoseconds.
    pub ns: f64,
}

/// Phases of a cell that found at least half of their memory there. None where its passes were not counted.
pub fn reused_phases(cell: &CellSummary) -> Vec<ReusedPhase<'_>> {
    let [page_bytes, page_ps] = ["page_bytes", "new_page_ps"].map(|fact| least_fact(cell, fact));
    let (Some(page_bytes), Some(page_ps)) = (page_bytes, page_ps) else {
        return Vec::new();
    };
    let mut phases = Vec::new();
    for (phase, counts) in &cell.counts {
        let least = |name: &str| counts.get(name).map_or(0, |count| count.min);
        let (bytes, blocks) = (least("allocated_bytes"), least("allocations"));
        let faults = counts.get("minor_faults").map_or(0, |count| count.max);
        let pages = (bytes / page_bytes.max(1)).saturating_sub(faults);
        if blocks == 0 || bytes / blocks < LEAST_BLOCK_BYTES || 2 * pages * page_bytes < bytes {
            continue;
        }
        phases.push(ReusedPhase {
            phase,
            pages,
            blocks,
            ns: pages as f64 * page_ps as f64 / 1e3,
        });
    }
    phases
}

/// The least number that a fact of a cell had.
fn least_fact(cell: &CellSummary, name: &str) -> Option<u64> {
    match cell.proofs.get(name)? {
        FactProof::Number { min, .. } => Some(*min),
        FactProof::Words(_) => None,
    }
}
