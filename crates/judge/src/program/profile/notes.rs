//! Notes on a profile.

use super::candidates::{sparse_blocks, sparse_huge};
use super::counts::{Counted, ended};
use super::launches::windows;
use crate::program::costs_in;
use record::command::{CommandCost, CommandLaunch, CommandPlan, LaunchMode, has_ended};
use record::summary::NoteKind;

/// Bytes written from which on the output is worth a remark.
const MUCH_BYTES: u64 = 1 << 30;
/// Pages that a setting would clear, or faults that it would spare, from which on it is worth a remark that it is not proposed.
const MANY_FAULTS: f64 = 5000.0;

pub(super) fn notes(
    plan: &CommandPlan,
    launches: &[CommandLaunch],
    counted: Option<&Counted>,
) -> Vec<NoteKind> {
    let mut notes = Vec::new();
    let followed: Vec<&CommandCost> = costs_in(launches, LaunchMode::Followed).collect();
    if let Some(reason) = followed.iter().find_map(|cost| cost.faults_unseen.clone()) {
        notes.push(NoteKind::FaultsUnseen { reason });
    } else if let Some(reason) = followed.iter().find_map(|cost| cost.stacks_unseen.clone()) {
        notes.push(NoteKind::NoStacks { reason });
    } else if let Some(doubt) = counted.and_then(|counted| counted.doubt_of_kinds.clone()) {
        notes.push(doubt);
    } else if plan.totals_only {
        notes.push(NoteKind::TotalsOnly);
    }
    // The first window of a process that runs already only shows how many faults to expect.
    let faults = ended(launches, LaunchMode::Followed).filter_map(|cost| cost.faults.as_ref());
    let period = faults.map(|faults| faults.period).max().unwrap_or(0);
    notes.extend((period > 1).then_some(NoteKind::FaultsSampled { period }));
    if has_ended(launches) {
        let wall_ns: u64 = windows(launches)
            .filter_map(|window| Some(window.cost.as_ref()?.wall_ns))
            .sum();
        notes.push(NoteKind::ProcessEnded {
            windows: windows(launches).count(),
            followed_s: wall_ns as f64 * 1e-9,
        });
    }
    let unseen = costs_in(launches, LaunchMode::Sampled).find_map(|c| c.kernel_unseen.clone());
    notes.extend(unseen.map(|reason| NoteKind::KernelUnseen { reason }));
    if let Some(counted) = counted {
        let huge_faults = counted.foreseen(|f| f.malloc_faults.saturating_add(f.other_faults));
        let blocks = sparse_blocks(counted).filter(|pages| *pages >= MANY_FAULTS);
        let huge = sparse_huge(counted).filter(|_| huge_faults >= MANY_FAULTS);
        notes.extend(blocks.map(|pages| NoteKind::SparseBlocks { pages }));
        notes.extend(huge.map(|pages| NoteKind::SparseHuge { pages }));
    }
    let plain = costs_in(launches, LaunchMode::Plain).next();
    if let Some(traced) = costs_in(launches, LaunchMode::Traced).next() {
        let processes = traced.proof.as_ref().map_or(0, |seen| seen.setuid);
        notes.extend((processes > 0).then_some(NoteKind::Setuid { processes }));
        notes.extend(
            plain
                .filter(|plain| plain.code != traced.code)
                .map(|_| NoteKind::NotWatched),
        );
    }
    let major = counted
        .map(|c| c.shown.major_faults)
        .filter(|major| *major >= 1.0);
    notes.extend(major.map(|faults| NoteKind::MajorFaults { faults }));
    let much = plain
        .map(|plain| plain.output_bytes)
        .filter(|bytes| *bytes >= MUCH_BYTES);
    notes.extend(much.map(|bytes| NoteKind::MuchOutput { bytes }));
    let unpriced = launches.iter().find_map(|launch| launch.failed.clone());
    notes.extend(unpriced.map(|cause| NoteKind::NoPrice { cause }));
    notes
}
