//! Cells of one group whose content must agree with each other's.

use crate::evidence::Evidence;
use record::parameters::Parameters;
use record::plan::{compatible, group_of};
use record::{experiment::Content, kind::OWN_WORKER, method::Role, outcome::Cause, state::State};
use std::collections::BTreeMap;

/// One digest of a cell.
struct Witness {
    cell: usize,
    is_baseline: bool,
    /// True if it is a user's function, which accuses no built-in method and no saved function.
    is_own: bool,
    digest: String,
}

/// A witness with all that decides whom it must agree with.
struct GroupedWitness<'a> {
    witness: Witness,
    experiment: &'a str,
    method_group: &'a str,
    parameters: Parameters,
}

/// Cells of one experiment and group whose digests must agree but do not.
pub fn disagreements(state: &State, evidence: &Evidence) -> BTreeMap<usize, Cause> {
    // A cell's group is asked for once: a run has hundreds of cells.
    let witnesses: Vec<GroupedWitness> = (0..state.cells.len())
        .filter_map(|cell| GroupedWitness::new(state, evidence, cell))
        .collect();
    let mut disagreements = BTreeMap::new();
    for grouped in &witnesses {
        let witness = &grouped.witness;
        let peers: Vec<&Witness> = witnesses
            .iter()
            .filter(|peer| grouped.must_agree_with(peer))
            .map(|peer| &peer.witness)
            .collect();
        if let Some(right) = reference(&peers).filter(|right| right.digest != witness.digest) {
            disagreements.insert(
                witness.cell,
                Cause::Disagrees {
                    digest: witness.digest.clone(),
                    right: right.digest.clone(),
                    cell: state.cells[right.cell].cell.name(),
                },
            );
        }
    }
    disagreements
}

impl Witness {
    /// The digest of a cell; `None` where it has none, or several.
    fn new(state: &State, evidence: &Evidence, cell: usize) -> Option<Witness> {
        let planned = &state.cells[cell];
        if !matches!(planned.method.role, Role::Method | Role::Published) {
            return None;
        }
        let digests = &evidence.cells.get(&cell)?.checks.digests;
        let digest = digests.first().filter(|_| digests.len() == 1)?;
        let baseline = state.plan.baselines.get(&planned.cell.experiment);
        Some(Witness {
            cell,
            is_baseline: baseline == Some(&planned.method.name),
            is_own: planned.cell.worker == OWN_WORKER,
            digest: digest.clone(),
        })
    }

    fn agrees(&self, other: &Witness) -> bool {
        self.digest == other.digest
    }
}

impl<'a> GroupedWitness<'a> {
    fn new(state: &'a State, evidence: &Evidence, cell: usize) -> Option<GroupedWitness<'a>> {
        let planned = &state.cells[cell];
        let experiment = state.plan.experiment(&planned.cell.experiment)?;
        if experiment.content != Content::Agree {
            return None;
        }
        Some(GroupedWitness {
            witness: Witness::new(state, evidence, cell)?,
            experiment: &experiment.name,
            method_group: &planned.method.group,
            parameters: group_of(experiment, &planned.cell),
        })
    }

    fn must_agree_with(&self, peer: &GroupedWitness) -> bool {
        self.experiment == peer.experiment
            && self.method_group == peer.method_group
            && compatible(&self.parameters, &peer.parameters)
    }
}

/// Content that most cells came to; the baseline's where as many came to another, then that of the first cell. Where there are
/// others than a user's functions, it is one of theirs.
fn reference<'a>(witnesses: &[&'a Witness]) -> Option<&'a Witness> {
    witnesses.iter().copied().max_by_key(|witness| {
        let agreeing = witnesses.iter().filter(|other| witness.agrees(other));
        let baseline_agrees = agreeing.clone().any(|other| other.is_baseline);
        (
            !witness.is_own,
            agreeing.count(),
            baseline_agrees,
            std::cmp::Reverse(witness.cell),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witnesses(digests: &[&str], baseline: usize) -> Vec<Witness> {
        digests
            .iter()
            .enumerate()
            .map(|(cell, digest)| Witness {
                cell,
                is_baseline: cell == baseline,
                is_own: digest.starts_with("own"),
                digest: digest.trim_start_matches("own ").to_owned(),
            })
            .collect()
    }

    #[test]
    fn one_liar_accuses_nobody() {
        for (digests, baseline, right) in [
            (&["a", "b", "b"][..], 1, "b"),
            (&["a", "b", "b"], 0, "b"),
            (&["a", "b"], 1, "b"),
            (&["a", "b"], 0, "a"),
            (&["a", "b"], 9, "a"),
            (&["a"], 0, "a"),
            (&["own b", "own b", "a"], 2, "a"),
            (&["own b", "own b", "a"], 0, "a"),
        ] {
            let witnesses = witnesses(digests, baseline);
            let peers: Vec<&Witness> = witnesses.iter().collect();
            assert_eq!(
                reference(&peers).map(|w| w.digest.as_str()),
                Some(right),
                "{digests:?}, baseline {baseline}"
            );
        }
        assert!(reference(&[]).is_none());
    }
}
