//! Settings worth a try, with the kernel time they would save. Effects of the hardware (translation, caches) are not predicted.

use super::{ProfileBlock, amount, counts::Counted};
use record::command::{Amount, Candidate, CommandPlan, MemoryEvent};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;
/// Error that covers nine tenths of the measured savings (docs/validity.md): of `keep` as a share of the prediction and of CPU
/// time, of settings for huge pages, whose price scatters, as a share of what the removed faults cost.
const KEEP_ERROR: (f64, f64) = (0.5, 0.02);
const HUGE_ERROR: f64 = 25.9;

/// Faults that a change would take away, and huge pages that would come instead.
struct Change {
    setting: &'static str,
    faults: f64,
    huge_pages: f64,
}

/// Settings worth a try, the largest saving first; nothing where kinds are not known.
pub(super) fn candidates(plan: &CommandPlan, counted: &Counted<'_>, blocks: &[ProfileBlock]) -> Vec<Candidate> {
    if counted.followed.is_empty() {
        return Vec::new();
    }
    let Some(pages) = &plan.pages else { return Vec::new() };
    let again = counted.foreseen(|f| f.again_malloc);
    let mut changes = vec![Change { setting: "keep", faults: again, huge_pages: 0.0 }];
    // Where every mapping gets huge pages already, asking for them changes nothing.
    if pages.thp == "madvise" && pages.huge_page_bytes == 2 << 20 {
        let mut change = |setting, faults, huge_pages| changes.push(Change { setting, faults, huge_pages });
        let (faults, blocks) = (counted.foreseen(|f| f.other_faults), counted.foreseen(|f| f.other_blocks));
        change("thp", counted.foreseen(|f| f.malloc_faults) + faults, counted.foreseen(|f| f.malloc_blocks) + blocks);
        if counted.followed.iter().any(|(_, faults)| faults.java) {
            change("java-thp", faults, blocks);
        }
    }
    let mut candidates: Vec<Candidate> = changes.iter().filter_map(|change| candidate(change, blocks)).collect();
    candidates.sort_by(|a, b| b.kernel_s.value.total_cmp(&a.kernel_s.value));
    candidates
}

/// Cost of so many pages: their faults, and giving them back.
fn pages_s(pages: f64, fault: MemoryEvent, free: MemoryEvent, block: &ProfileBlock) -> f64 {
    pages * (block.prices.of_kind_or_zero(fault) + block.prices.of_kind_or_zero(free)) * block.scale
}

fn candidate(change: &Change, blocks: &[ProfileBlock]) -> Option<Candidate> {
    let unpriced = |b: &ProfileBlock| change.huge_pages > 0.0 && b.prices.price(MemoryEvent::Huge).is_none();
    if change.faults < 1.0 || blocks.iter().any(unpriced) {
        return None;
    }
    let removed = |b: &ProfileBlock| pages_s(change.faults, MemoryEvent::Heap, MemoryEvent::FreeBase, b);
    let saved = |b: &ProfileBlock| removed(b) - pages_s(change.huge_pages, MemoryEvent::Huge, MemoryEvent::FreeHuge, b);
    let kernel_s: Amount = amount(blocks.iter().map(saved))?;
    let share = amount(blocks.iter().map(|block| saved(block) / block.plain.cpu_s().max(1e-6)))?;
    let (cost_s, value) = (amount(blocks.iter().map(removed))?.value, kernel_s.value);
    let keep_s = KEEP_ERROR.0 * value + KEEP_ERROR.1 * value / share.value;
    let error_s = if change.huge_pages > 0.0 { HUGE_ERROR * cost_s } else { keep_s };
    let (low, high) = (kernel_s.low.min(value - error_s), kernel_s.high.max(value + error_s));
    (share.value.abs() >= WORTH).then_some(Candidate {
        setting: change.setting.to_owned(),
        faults_saved: change.faults,
        huge_pages: change.huge_pages,
        kernel_s: Amount { low, high, ..kernel_s },
    })
}
