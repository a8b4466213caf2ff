//! Methods of the version that judges: a cell of an older run in which a method has no part any more is withdrawn.

use crate::evidence::Evidence;
use record::method::{KeyKind, Offer, Role};
use record::outcome::{Cause, Outcome, Status};
use record::{parameters::Parameters, state::State, summary::CellSummary};
use std::collections::{BTreeMap, BTreeSet};

/// Methods of a version of Pagewise with the values that each takes, and their number.
#[derive(Clone, Debug, Default)]
pub struct KnownMethods {
    /// Keys by worker and experiment, then by method.
    keys: BTreeMap<(String, String), MethodKeys>,
    /// Number of ranked methods of the usual worker by experiment, of those that users see.
    offered: BTreeMap<String, usize>,
}

/// Keys of an experiment's methods, each with its values.
type MethodKeys = BTreeMap<String, Vec<(String, KeyKind)>>;

impl KnownMethods {
    /// The methods that these workers declare. Those of `usual` are counted, of experiments that are `visible`.
    pub fn new(offers: &[Offer], usual: &str, visible: &BTreeSet<&str>) -> KnownMethods {
        let mut known = KnownMethods::default();
        let mut ranked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for offer in offers {
            for method in offer.methods {
                let place = (offer.worker.to_owned(), method.experiment.clone());
                let methods = known.keys.entry(place).or_default();
                methods.insert(method.name.clone(), method.keys.clone());
                let is_ranked = method.role == Role::Method && method.group.is_empty();
                if is_ranked
                    && offer.worker == usual
                    && visible.contains(method.experiment.as_str())
                {
                    let names = ranked.entry(&method.experiment).or_default();
                    names.insert(&method.name);
                }
            }
        }
        let counts = ranked.into_iter();
        known.offered = counts
            .map(|(experiment, names)| (experiment.to_owned(), names.len()))
            .collect();
        known
    }

    /// Number of ranked methods of the usual worker by experiment, of those that users see.
    pub fn offered(&self) -> &BTreeMap<String, usize> {
        &self.offered
    }

    /// The reason why a method has no part in a cell: a value that it does not take, although another method of its experiment does.
    fn untaken(
        &self,
        worker: &str,
        experiment: &str,
        method: &str,
        parameters: &Parameters,
    ) -> Option<Cause> {
        let side = worker.split('+').next().unwrap_or_default();
        let methods = self.keys.get(&(side.to_owned(), experiment.to_owned()))?;
        methods.get(method)?.iter().find_map(|(key, kind)| {
            let value = parameters.word(key)?;
            let known = kind.lacks(value)?;
            let mut all = methods.values().flatten();
            let is_value = all.any(|(other, kind)| other == key && kind.lacks(value).is_none());
            is_value.then(|| Cause::OtherValues {
                key: key.clone(),
                value: value.to_owned(),
                known: known.to_vec(),
            })
        })
    }

    /// Tells whether a summary has a cell in which its method has no part.
    pub(crate) fn contradicts(&self, cells: &[CellSummary]) -> bool {
        let mut judged = cells.iter().filter(|c| c.outcome.status != Status::Skipped);
        judged.any(|c| {
            let cause = self.untaken(&c.worker, &c.experiment, &c.method, &c.parameters);
            cause.is_some()
        })
    }

    /// Withdraws the cells in which their methods have no part: they are skipped, and their launches are not judged.
    pub(crate) fn withdraw(&self, state: &mut State, evidence: &mut Evidence) {
        for (index, planned) in state.cells.iter_mut().enumerate() {
            let cell = &planned.cell;
            let cause = self.untaken(
                &cell.worker,
                &cell.experiment,
                &cell.method,
                &cell.parameters,
            );
            if let Some(cause) = cause {
                planned.outcome = Some(Outcome::because(Status::Skipped, cause));
                evidence.leave_out(index);
            }
        }
    }
}
