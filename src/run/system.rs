//! Changes of the system, made only where the user allowed them, and noted with the guard before they are made.

use super::guard::{Guard, Undo, Undoing};
use super::need::memory_needed;
use crate::machine::memory::huge_page_bytes;
use anyhow::{Context, Result, bail};
use files::kernel;
use record::state::State;
use std::path::Path;

/// The pool of huge pages of the default size (Documentation/admin-guide/mm/hugetlbpage.rst).
const POOL: &str = "/proc/sys/vm/nr_hugepages";

/// Prepares the system for the methods that say they need something of it, where that is allowed.
pub fn prepare(state: &State, guard: &mut Guard) -> Result<()> {
    if state.plan.allow_system_changes {
        huge_page_pool(state, guard)?;
    }
    Ok(())
}

/// Enlarges the pool for the largest cell that draws from it; the guard restores the old size however the run ends.
fn huge_page_pool(state: &State, guard: &mut Guard) -> Result<()> {
    let mut needed = 0;
    for planned in state.cells.iter().filter(|p| p.outcome.is_none()) {
        if planned.method.needs.as_deref() == Some("huge-pages") {
            let sides = planned.cell.sides().count() as u64;
            needed = needed.max(memory_needed(planned, 1)?.saturating_mul(sides));
        }
    }
    let Some(page_bytes) = huge_page_bytes().filter(|_| needed > 0) else { return Ok(()) };
    let wanted = needed.div_ceil(page_bytes);
    let old = kernel::read(POOL).with_context(|| format!("cannot read {POOL}"))?;
    if old.trim().parse::<u64>().is_ok_and(|pages| pages >= wanted) {
        return Ok(());
    }
    guard.undo(Undo::Restore { setting: Path::new(POOL), text: old.trim() })?;
    write(Path::new(POOL), &wanted.to_string())?;
    let now = kernel::read(POOL)?;
    if now.trim() != wanted.to_string() {
        bail!("the kernel could gather only {} of {wanted} huge pages; memory is too fragmented or too full", now.trim());
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    kernel::write(path, text).with_context(|| format!("cannot write {text} to {}; this needs root", path.display()))
}
