//! Cells of one group whose content must agree with each other's.

use record::experiment::Content;
use record::method::Role;
use record::plan::{compatible, group_of};
use record::state::State;

use crate::evidence::Evidence;

/// Cells of one experiment and group whose digests must agree but do not, each with a sentence.
pub fn disagreements(state: &State, evidence: &Evidence) -> Vec<(usize, String)> {
    let mut disagreements = Vec::new();
    let with_digest = |cell: usize| {
        let digests = &evidence.cells.get(&cell)?.checks.digests;
        let method = &state.cells[cell].method;
        let judged = matches!(method.role, Role::Method | Role::Published);
        (judged && digests.len() == 1).then(|| Some((method.group.clone(), digests.first().cloned()?))).flatten()
    };
    for (i, planned) in state.cells.iter().enumerate() {
        let Some(experiment) = state.plan.experiment(&planned.cell.experiment) else { continue };
        if experiment.content != Content::Agree {
            continue;
        }
        let Some((kind, mine)) = with_digest(i) else { continue };
        let group = group_of(experiment, &planned.cell);
        let first = (0..i).find(|&j| {
            let other = &state.cells[j].cell;
            other.experiment == planned.cell.experiment
                && compatible(&group, &group_of(experiment, other))
                && with_digest(j).is_some_and(|(theirs, _)| theirs == kind)
        });
        if let Some(j) = first
            && let Some((_, theirs)) = with_digest(j)
            && theirs != mine
        {
            disagreements.push((i, format!("digest {mine} differs from {theirs} of {}", state.cells[j].cell.name())));
        }
    }
    disagreements
}
