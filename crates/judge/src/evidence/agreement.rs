//! Cells of one group whose content must agree with each other's.

use crate::evidence::Evidence;
use record::plan::{compatible, group_of};
use record::{experiment::Content, kind::OWN_WORKER, method::Role, outcome::Cause, state::State};
use std::collections::BTreeMap;

/// One digest of a cell, with all that decides whom it must agree with.
struct Witness {
    cell: usize,
    is_baseline: bool,
    /// It is a user's function, which accuses no built-in method and no saved function.
    is_own: bool,
    digest: String,
}

/// Content that most cells came to; the baseline's where as many came to another, then that of the first cell. Where there are
/// others than a user's functions, it is one of theirs.
fn reference<'a>(witnesses: &[&'a Witness]) -> Option<&'a Witness> {
    let agreeing = |w: &Witness| {
        witnesses
            .iter()
            .filter(|other| other.digest == w.digest)
            .count()
    };
    let baseline_agrees = |w: &Witness| {
        witnesses
            .iter()
            .any(|other| other.is_baseline && other.digest == w.digest)
    };
    witnesses.iter().copied().max_by_key(|w| {
        (
            !w.is_own,
            agreeing(w),
            baseline_agrees(w),
            std::cmp::Reverse(w.cell),
        )
    })
}

/// Cells of one experiment and group whose digests must agree but do not.
pub fn disagreements(state: &State, evidence: &Evidence) -> BTreeMap<usize, Cause> {
    let witness = |cell: usize| {
        let digests = &evidence.cells.get(&cell)?.checks.digests;
        let planned = &state.cells[cell];
        let judged = matches!(planned.method.role, Role::Method | Role::Published);
        let is_baseline =
            state.plan.baselines.get(&planned.cell.experiment) == Some(&planned.method.name);
        let digest = digests
            .first()
            .filter(|_| judged && digests.len() == 1)?
            .clone();
        Some(Witness {
            cell,
            is_baseline,
            is_own: planned.cell.worker == OWN_WORKER,
            digest,
        })
    };
    // A cell's group is asked for once: a run has hundreds of cells.
    let known: Vec<_> = (0..state.cells.len())
        .filter_map(|i| {
            let planned = &state.cells[i];
            let experiment = state.plan.experiment(&planned.cell.experiment)?;
            let witness = (experiment.content == Content::Agree)
                .then(|| witness(i))
                .flatten()?;
            Some((
                witness,
                (&experiment.name, &planned.method.group),
                group_of(experiment, &planned.cell),
            ))
        })
        .collect();
    let mut disagreements = BTreeMap::new();
    for (mine, kind, group) in &known {
        let peers = known
            .iter()
            .filter(|(_, other, theirs)| other == kind && compatible(group, theirs));
        let witnesses: Vec<&Witness> = peers.map(|(witness, ..)| witness).collect();
        if let Some(right) = reference(&witnesses).filter(|right| right.digest != mine.digest) {
            let (digest, cell) = (mine.digest.clone(), state.cells[right.cell].cell.name());
            disagreements.insert(
                mine.cell,
                Cause::Disagrees {
                    digest,
                    right: right.digest.clone(),
                    cell,
                },
            );
        }
    }
    disagreements
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witnesses(digests: &[&str], baseline: usize) -> Vec<Witness> {
        let witness = |(cell, digest): (usize, &&str)| Witness {
            cell,
            is_baseline: cell == baseline,
            is_own: digest.starts_with("own"),
            digest: (*digest).trim_start_matches("own ").to_owned(),
        };
        digests.iter().enumerate().map(witness).collect()
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
            let all = witnesses(digests, baseline);
            let all: Vec<&Witness> = all.iter().collect();
            assert_eq!(
                reference(&all).map(|w| w.digest.as_str()),
                Some(right),
                "{digests:?}, baseline {baseline}"
            );
        }
        assert!(reference(&[]).is_none());
    }
}
