//! Settings worth a try, with the kernel time they would save. Effects of the hardware (translation, caches) are not predicted.

use super::{ProfileBlock, amount, counts::Counted};
use record::command::{Amount, Candidate, CommandPlan, MemoryEvent};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;
/// Share of the predicted saving by which nine tenths of the measured ones were off (docs/validity.md).
const KEEP_ERROR: f64 = 0.85;
/// The same of settings for huge pages, whose price scatters from process to process.
const HUGE_ERROR: f64 = 13.0;

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

fn saved_s(change: &Change, block: &ProfileBlock) -> f64 {
    let price = |kind| block.prices.of_kind_or_zero(kind);
    let base = change.faults * (price(MemoryEvent::Heap) + price(MemoryEvent::FreeBase));
    let huge = change.huge_pages * (price(MemoryEvent::Huge) + price(MemoryEvent::FreeHuge));
    (base - huge) * block.scale
}

fn candidate(change: &Change, blocks: &[ProfileBlock]) -> Option<Candidate> {
    let unpriced = |b: &ProfileBlock| change.huge_pages > 0.0 && b.prices.price(MemoryEvent::Huge).is_none();
    if change.faults < 1.0 || blocks.iter().any(unpriced) {
        return None;
    }
    let saved = |b: &ProfileBlock| saved_s(change, b);
    let kernel_s: Amount = amount(blocks.iter().map(saved))?;
    let share = amount(blocks.iter().map(|block| saved(block) / block.plain.cpu_s().max(1e-6)))?;
    let error = if change.huge_pages > 0.0 { HUGE_ERROR } else { KEEP_ERROR } * kernel_s.value.abs();
    let (low, high) = (kernel_s.low.min(kernel_s.value - error), kernel_s.high.max(kernel_s.value + error));
    (share.value.abs() >= WORTH).then_some(Candidate {
        setting: change.setting.to_owned(),
        faults_saved: change.faults,
        huge_pages: change.huge_pages,
        kernel_s: Amount { low, high, ..kernel_s },
    })
}
