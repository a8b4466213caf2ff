//! Settings worth a try, with the kernel time they would save. Effects of the hardware (translation, caches) are not predicted.

use super::{ProfileBlock, amount, counts::Counted};
use record::command::MemoryEvent::{FreeBase, FreeHuge, Heap, Huge};
use record::command::{Amount, Candidate, CommandPlan};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;
/// Error that covers nine tenths of the measured savings (docs/validity.md): of `keep` as a share of the prediction, of huge
/// pages, whose price scatters, of what the removed faults cost.
const KEEP_ERROR: f64 = 0.5;
const HUGE_ERROR: f64 = 25.9;

/// Settings worth a try, the largest saving first; nothing where kinds are not known.
pub(super) fn candidates(
    plan: &CommandPlan,
    counted: &Counted<'_>,
    blocks: &[ProfileBlock],
) -> Vec<Candidate> {
    if counted.followed.is_empty() {
        return Vec::new();
    }
    let Some(pages) = &plan.pages else {
        return Vec::new();
    };
    let again = counted.foreseen(|f| f.again_malloc);
    // A setting, the faults that it would take away, and huge pages that would come instead.
    let mut changes = vec![("keep", again, 0.0)];
    // Where every mapping gets huge pages already, asking for them changes nothing.
    if pages.thp == "madvise" && pages.huge_page_bytes == 2 << 20 {
        let (faults, blocks) = (
            counted.foreseen(|f| f.other_faults),
            counted.foreseen(|f| f.other_blocks),
        );
        changes.push((
            "thp",
            counted.foreseen(|f| f.malloc_faults) + faults,
            counted.foreseen(|f| f.malloc_blocks) + blocks,
        ));
        if counted.followed.iter().any(|(_, faults)| faults.java) {
            changes.push(("java-thp", faults, blocks));
        }
    }
    // Beyond what was resident at once, huge pages are recycled ones.
    let resident = counted.shown.max_rss_bytes / pages.huge_page_bytes.max(1) as f64;
    // Whose memory a process that runs already has given back is not seen, so nothing is a figure.
    let candidate = |&change| candidate(change, resident, plan.attached.is_none(), blocks);
    let mut candidates: Vec<Candidate> = changes.iter().filter_map(candidate).collect();
    candidates.sort_by(|a, b| b.kernel_s.value.total_cmp(&a.kernel_s.value));
    candidates
}

fn candidate(
    change: (&str, f64, f64),
    resident: f64,
    is_seen: bool,
    blocks: &[ProfileBlock],
) -> Option<Candidate> {
    let (setting, faults_saved, huge_pages) = change;
    let unpriced = |b: &ProfileBlock| huge_pages > 0.0 && b.prices.price(Huge).is_none();
    if faults_saved < 1.0 || blocks.iter().any(unpriced) {
        return None;
    }
    let price_s = |b: &ProfileBlock, event| b.prices.of_kind_or_zero(event) * b.scale;
    let removed = |b: &ProfileBlock| faults_saved * (price_s(b, Heap) + price_s(b, FreeBase));
    let cheaper_s = |b: &ProfileBlock| {
        (huge_pages - resident).max(0.0) * (price_s(b, Huge) - b.prices.huge_again_s * b.scale)
    };
    let huge_s =
        |b: &ProfileBlock| huge_pages * (price_s(b, Huge) + price_s(b, FreeHuge)) - cheaper_s(b);
    let saved = |b: &ProfileBlock| removed(b) - huge_s(b);
    let kernel_s: Amount = amount(blocks.iter().map(saved))?;
    let share = amount(
        blocks
            .iter()
            .map(|block| saved(block) / block.plain.cpu_s().max(1e-6)),
    )?;
    let (cost_s, value) = (amount(blocks.iter().map(removed))?.value, kernel_s.value);
    let keep_s = KEEP_ERROR * value + Candidate::KEEP_SLACK * value / share.value;
    let error_s = if huge_pages > 0.0 || !is_seen {
        HUGE_ERROR * cost_s
    } else {
        keep_s
    };
    let (low, high) = (
        kernel_s.low.min(value - error_s),
        kernel_s.high.max(value + error_s),
    );
    let kernel_s = Amount {
        low,
        high,
        ..kernel_s
    };
    (share.value.abs() >= WORTH).then(|| Candidate {
        setting: setting.to_owned(),
        faults_saved,
        huge_pages,
        kernel_s,
    })
}
