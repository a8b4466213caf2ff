//! Settings worth a try, with the kernel time they would save. What the hardware does besides
//! (translation, caches) is not predicted.

use record::profile::{Amount, Candidate, Kind, ProfilePlan};

use super::counts::Counted;
use super::{Block, amount};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;

/// Faults that a change would take away, and huge pages that would come instead.
struct Change {
    setting: &'static str,
    faults: f64,
    huge_pages: f64,
}

/// Settings worth a try, the largest saving first; nothing where kinds are not known.
pub(super) fn candidates(plan: &ProfilePlan, counted: &Counted, blocks: &[Block]) -> Vec<Candidate> {
    if !counted.by_kind {
        return Vec::new();
    }
    let of = |name: &str| counted.faults.get(name).copied().unwrap_or(0.0);
    let mut changes = vec![Change { setting: "keep", faults: kept_pages(plan, counted), huge_pages: 0.0 }];
    // Where every mapping gets huge pages already, asking for them changes nothing.
    if plan.thp == "madvise" && plan.huge_page_bytes == 2 << 20 {
        let mut change = |setting, faults: f64, huge_pages| {
            changes.push(Change { setting, faults: faults + in_calls(counted, faults), huge_pages });
        };
        let (faults, blocks) = (of("other_faults"), of("other_blocks"));
        change("thp", of("malloc_faults") + faults, of("malloc_blocks") + blocks);
        if counted.java {
            change("java-thp", faults, blocks);
        }
    }
    let at_once = counted.shown.max_rss_bytes / plan.huge_page_bytes.max(1) as f64;
    let mut found: Vec<Candidate> = changes.iter().filter_map(|change| candidate(change, at_once, blocks)).collect();
    found.sort_by(|a, b| b.kernel_s.value.total_cmp(&a.kernel_s.value));
    found
}

/// Pages of malloc's that were given back and asked for once more. A page that came again at its old address is seen; of one
/// process it is also known how much memory it had at most, and whatever malloc got beyond that it must have given back.
fn kept_pages(plan: &ProfilePlan, counted: &Counted) -> f64 {
    let of = |name: &str| counted.faults.get(name).copied().unwrap_or(0.0);
    let (seen, page) = (of("again_malloc"), plan.page_bytes.max(1) as f64);
    let shown = &counted.shown;
    if of("processes") > 1.0 || shown.end_rss_bytes <= 0.0 || counted.of(Kind::Huge) > 0.0 {
        return seen;
    }
    let files = shown.end_rss_bytes - shown.end_base_bytes - shown.end_huge_bytes;
    let others = counted.of(Kind::FreeBase) - of("malloc_writes");
    let peak = ((shown.max_rss_bytes - files) / page - others).max(0.0);
    seen.max(of("malloc_writes") - peak)
}

/// Faults inside system calls that a change takes away with the others: in the same proportion, where they have no addresses.
fn in_calls(counted: &Counted, faults: f64) -> f64 {
    if counted.in_kernel_seen {
        return 0.0;
    }
    let touched = [Kind::Heap, Kind::Anonymous, Kind::Again, Kind::ZeroRead, Kind::ZeroWrite, Kind::Elsewhere];
    let all: f64 = touched.iter().map(|kind| counted.of(*kind)).sum();
    if all > 0.0 { counted.of(Kind::InCalls) * (faults / all).min(1.0) } else { 0.0 }
}

/// Huge pages that a process can have at once get frames that lay free, which a host may have to find first; what it asks for
/// beyond that comes from frames that it has given back itself.
fn saved_s(change: &Change, at_once: f64, block: &Block) -> f64 {
    let price = |kind| block.prices.of_kind_or_zero(kind);
    let base = change.faults * (price(Kind::Heap) + price(Kind::FreeBase));
    let first = change.huge_pages.min(at_once);
    let huge = first * price(Kind::Huge)
        + (change.huge_pages - first) * block.prices.huge_again()
        + change.huge_pages * price(Kind::FreeHuge);
    (base - huge) * block.scale
}

fn candidate(change: &Change, at_once: f64, blocks: &[Block]) -> Option<Candidate> {
    let unpriced = |b: &Block| change.huge_pages > 0.0 && b.prices.of(Kind::Huge).is_none();
    if change.faults < 1.0 || blocks.iter().any(unpriced) {
        return None;
    }
    let saved = |b: &Block| saved_s(change, at_once, b);
    let kernel_s: Amount = amount(&blocks.iter().map(saved).collect::<Vec<_>>())?;
    let share = amount(&blocks.iter().map(|b| saved(b) / b.cpu_s().max(1e-6)).collect::<Vec<_>>())?;
    (share.value.abs() >= WORTH).then_some(Candidate {
        setting: change.setting.to_owned(),
        faults_saved: change.faults,
        huge_pages: change.huge_pages,
        kernel_s,
    })
}
