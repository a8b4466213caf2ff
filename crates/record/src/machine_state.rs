//! States of the machine under which an experiment is measured: making, proof and undo. One file each in `states/`.

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::collections::BTreeMap;

/// The parameter of every experiment that names the state.
pub const STATE: &str = "state";
/// The state of a machine to which nothing was done.
pub const PLAIN: &str = "plain";

/// Kernel counters and facts of the helper, by name.
pub type Counters = BTreeMap<String, u64>;

/// One state, as its file says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MachineState {
    /// Name by which it is selected.
    pub name: String,
    /// Title, as lists and headings have it.
    pub title: String,
    /// Clause that follows "if": `no free block of a huge page is left`.
    pub when: String,
    /// Words of the maker. `{folder}` is a folder of the run, `{device}` its device's numbers, `{zram}` an unused device.
    pub make: Vec<String>,
    /// True if a native worker has the state renewed before each slot: its own work uses the state up.
    pub renewed_by_slot: bool,
    /// Request to the native worker, in whose process the state is: `maps:60000`.
    pub inside: Option<String>,
    /// Share of the worker's need that its memory cgroup holds, by experiment: only these can be measured in it.
    pub bound: BTreeMap<String, f64>,
    /// Reason why only some experiments can be in it, or only files that are made for it.
    pub only_reason: String,
    /// Swap area that the maker uses: `/dev/{zram}` or `{folder}/swap`.
    pub swap: Option<String>,
    /// Mount that the maker makes, `{folder}/storage`: the files of launches lie there.
    pub files: Option<String>,
    /// Files of the kernel and the texts written there; an empty text is written by the maker. All are put back.
    pub settings: Vec<(String, String)>,
    /// Files of the kernel and the texts written there when the state has ended.
    pub after: Vec<(String, String)>,
    /// Files without which the state cannot be had, and the reason then given; behind "!" those with which it cannot.
    pub needs: Vec<(String, String)>,
    /// Experiments to which the state matters: those of `run --states`.
    pub experiments: Vec<String>,
    /// Facts that the state takes from methods, whose laws are not asked; counters that it moves, no disturbance.
    pub relieves: Vec<String>,
    /// Conditions on counters. A launch that breaks one is not judged.
    pub proofs: Vec<StateProof>,
}

/// Condition on one counter.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateProof {
    /// A fact of the helper, a line of `/proc/vmstat`, or `bound_hits`: failures to charge the cgroup.
    pub counter: String,
    /// Moment at which it must hold.
    pub at: ProofMoment,
    /// Least value that proves the state.
    pub at_least: Option<u64>,
    /// Largest value that proves the state.
    pub at_most: Option<u64>,
}

/// Moment at which a counter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProofMoment {
    /// Before the launch.
    Before,
    /// After the launch.
    After,
    /// Before and after the launch.
    Both,
    /// The difference of the two.
    Rise,
}

/// A broken proof of one launch.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LostProof {
    /// Proof that did not hold.
    #[serde(flatten)]
    pub proof: StateProof,
    /// The value read; absent where the machine does not report the counter.
    pub value: Option<u64>,
}

/// State of the machine during one launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateSeen {
    /// Name of the state.
    pub name: String,
    /// Time to make or renew it before the launch, in seconds.
    pub made_s: f64,
    /// Counters of its proofs before the launch.
    pub before: Counters,
    /// Counters of its proofs after the launch.
    pub after: Counters,
    /// Facts that the state takes from methods, and counters that it moves itself.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub relieves: Vec<String>,
    /// Broken proofs. A launch with any is not judged.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lost: Vec<LostProof>,
}

impl MachineState {
    /// Reads a state's file; errors name the path, the line and the column.
    pub fn parse(path: &str, text: &str) -> Result<MachineState> {
        let state: MachineState =
            toml::from_str(text).map_err(|error| anyhow!("{path}: {error}"))?;
        if [&state.name, &state.title, &state.when]
            .iter()
            .any(|text| text.is_empty())
            || state.proofs.is_empty()
            || state
                .proofs
                .iter()
                .any(|p| p.at_least.is_none() && p.at_most.is_none())
        {
            bail!(
                "{path}: a state needs name, title, when, and proofs, each with at_least or at_most"
            );
        }
        Ok(state)
    }

    /// Proofs that the counters before and after a launch break.
    pub fn lost(&self, before: &Counters, after: &Counters) -> Vec<LostProof> {
        self.proofs
            .iter()
            .flat_map(|proof| proof.lost(before, after))
            .collect()
    }
}

impl StateProof {
    fn lost(&self, before: &Counters, after: &Counters) -> Option<LostProof> {
        let [before, after] = [before, after].map(|counters| counters.get(&self.counter).copied());
        let values = match self.at {
            ProofMoment::Before => vec![before],
            ProofMoment::After => vec![after],
            ProofMoment::Both => vec![before, after],
            ProofMoment::Rise => vec![
                before
                    .zip(after)
                    .map(|(before, after)| after.saturating_sub(before)),
            ],
        };
        let keeps = |value: u64| {
            self.at_least.is_none_or(|least| value >= least)
                && self.at_most.is_none_or(|most| value <= most)
        };
        let broken = values.into_iter().find(|value| !value.is_some_and(keeps))?;
        Some(LostProof {
            proof: self.clone(),
            value: broken,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
name = "x"
title = "t"
when = "w"
make = ["nothing"]

[[proofs]]
counter = "low"
at = "both"
at_most = 10

[[proofs]]
counter = "moved"
at = "rise"
at_least = 5
"#;

    fn counters(low: u64, moved: u64) -> Counters {
        Counters::from([("low".to_owned(), low), ("moved".to_owned(), moved)])
    }

    #[test]
    fn a_proof_holds_at_its_moments_only() {
        let state = MachineState::parse("x", FILE).expect("a state");
        assert_eq!(state.lost(&counters(10, 3), &counters(0, 8)), []);
        let lost = state.lost(&counters(10, 3), &counters(11, 7));
        let broken: Vec<_> = lost
            .iter()
            .map(|l| (l.proof.counter.as_str(), l.value))
            .collect();
        assert_eq!(broken, [("low", Some(11)), ("moved", Some(4))]);
        let lost = state.lost(&counters(11, 3), &counters(0, 8));
        assert_eq!(lost[0].value, Some(11));
    }

    #[test]
    fn a_counter_that_nobody_reports_proves_nothing() {
        let state = MachineState::parse("x", FILE).expect("a state");
        let lost = state.lost(&Counters::new(), &counters(0, 8));
        assert_eq!(
            lost.iter().map(|l| l.value).collect::<Vec<_>>(),
            [None, None]
        );
    }

    #[test]
    fn a_state_without_a_condition_is_refused() {
        let without = FILE.replace("at_most = 10", "");
        assert!(MachineState::parse("x", &without).is_err());
        assert!(
            MachineState::parse("x", FILE.split("[[proofs]]").next().expect("a start")).is_err()
        );
    }
}
