//! Settings worth a try, with the kernel time they would save. Effects of the hardware
//! (translation, caches) are not predicted.

use record::command::{Amount, Candidate, CommandPlan, MemoryEvent, Pages};

use super::counts::Counted;
use super::{ProfileBlock, amount};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;

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
    let mut changes = vec![Change { setting: "keep", faults: kept_pages(pages, counted), huge_pages: 0.0 }];
    // Where every mapping gets huge pages already, asking for them changes nothing.
    if pages.thp == "madvise" && pages.huge_page_bytes == 2 << 20 {
        let mut change = |setting, faults: f64, huge_pages| {
            changes.push(Change { setting, faults: faults + in_calls(counted, faults), huge_pages });
        };
        let (faults, blocks) = (counted.mean(|f| f.other_faults), counted.mean(|f| f.other_blocks));
        change("thp", counted.mean(|f| f.malloc_faults) + faults, counted.mean(|f| f.malloc_blocks) + blocks);
        if counted.followed.iter().any(|(_, faults)| faults.java) {
            change("java-thp", faults, blocks);
        }
    }
    let at_once = counted.shown.max_rss_bytes / pages.huge_page_bytes.max(1) as f64;
    let mut candidates: Vec<Candidate> =
        changes.iter().filter_map(|change| candidate(change, at_once, blocks)).collect();
    candidates.sort_by(|a, b| b.kernel_s.value.total_cmp(&a.kernel_s.value));
    candidates
}

/// Pages of malloc's that were given back and asked for once more. A page that came again at its old address is seen; of one
/// process it is also known how much memory it had at most, and whatever malloc got beyond that it must have given back.
fn kept_pages(pages: &Pages, counted: &Counted) -> f64 {
    let writes = counted.mean(|f| f.malloc_writes);
    let (seen, page) = (counted.mean(|f| f.again_malloc), pages.page_bytes.max(1) as f64);
    let shown = &counted.shown;
    if shown.processes > 1.0 || shown.end_rss_bytes <= 0.0 || counted.count(MemoryEvent::Huge) > 0.0 {
        return seen;
    }
    let files = shown.end_rss_bytes - shown.end_base_bytes - shown.end_huge_bytes;
    let others = counted.count(MemoryEvent::FreeBase) - writes;
    let peak = ((shown.max_rss_bytes - files) / page - others).max(0.0);
    seen.max(writes - peak)
}

/// Faults inside system calls that a change takes away with the others: in the same proportion, where they have no addresses.
fn in_calls(counted: &Counted, faults: f64) -> f64 {
    if counted.followed.first().is_some_and(|(_, faults)| faults.in_kernel_seen) {
        return 0.0;
    }
    let touched = [
        MemoryEvent::Heap,
        MemoryEvent::Anonymous,
        MemoryEvent::Again,
        MemoryEvent::ZeroRead,
        MemoryEvent::ZeroWrite,
        MemoryEvent::Elsewhere,
    ];
    let all: f64 = touched.iter().map(|kind| counted.count(*kind)).sum();
    if all > 0.0 { counted.count(MemoryEvent::InCalls) * (faults / all).min(1.0) } else { 0.0 }
}

/// Huge pages that a process can have at once get frames that lay free, which a host may have to find first; what it asks for
/// beyond that comes from frames that it has given back itself.
fn saved_s(change: &Change, at_once: f64, block: &ProfileBlock) -> f64 {
    let price = |kind| block.prices.of_kind_or_zero(kind);
    let base = change.faults * (price(MemoryEvent::Heap) + price(MemoryEvent::FreeBase));
    let first = change.huge_pages.min(at_once);
    let huge = first * price(MemoryEvent::Huge)
        + (change.huge_pages - first) * block.prices.huge_again()
        + change.huge_pages * price(MemoryEvent::FreeHuge);
    (base - huge) * block.scale
}

fn candidate(change: &Change, at_once: f64, blocks: &[ProfileBlock]) -> Option<Candidate> {
    let unpriced = |b: &ProfileBlock| change.huge_pages > 0.0 && b.prices.price(MemoryEvent::Huge).is_none();
    if change.faults < 1.0 || blocks.iter().any(unpriced) {
        return None;
    }
    let saved = |b: &ProfileBlock| saved_s(change, at_once, b);
    let kernel_s: Amount = amount(blocks.iter().map(saved))?;
    let share = amount(blocks.iter().map(|block| saved(block) / block.plain.cpu_s().max(1e-6)))?;
    (share.value.abs() >= WORTH).then_some(Candidate {
        setting: change.setting.to_owned(),
        faults_saved: change.faults,
        huge_pages: change.huge_pages,
        kernel_s,
    })
}
