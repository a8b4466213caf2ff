//! Tries and profiles of somebody's own programs held against each other, as runs are: unpaired, each try or profile a run.

use std::collections::{BTreeMap, BTreeSet};

use record::across::{Compared, ComparedCell, ComparedRun, ComparedSide, FactDifference, MissingCell};
use record::folder::Kept;
use record::kind::Kind;
use record::outcome::Status;
use record::profile::{ProfilePlan, ProfileRun};
use record::summary::Verdict;
use record::trial::{TrialPlan, TriedRun};
use stats::across::{Side, ratio, side};
use stats::interval::CONFIDENCE;

use super::{CompareOptions, cost, say, told};
use crate::estimate::shown;
use crate::trial::Times;
use crate::{profile, trial};

/// A kept try or profile as it takes part.
#[derive(Clone, Debug)]
pub struct Program {
    kind: Kind,
    run: ComparedRun,
    version: String,
    environment: BTreeMap<String, String>,
    costs: Vec<Times>,
}

impl Program {
    /// A try.
    pub fn tried(kept: &Kept<TrialPlan, TriedRun>) -> Program {
        let plan = &kept.plan;
        Program {
            kind: Kind::Try,
            run: compared_run(kept, &plan.run, &plan.created),
            version: plan.version.clone(),
            environment: plan.environment.clone(),
            costs: trial::costs(plan, &kept.launches),
        }
    }

    /// A profile.
    pub fn profiled(kept: &Kept<ProfilePlan, ProfileRun>) -> Program {
        let plan = &kept.plan;
        Program {
            kind: Kind::Profile,
            run: compared_run(kept, &plan.run, &plan.created),
            version: plan.version.clone(),
            environment: plan.environment.clone(),
            costs: profile::costs(plan, &kept.launches),
        }
    }

    /// Names of the facts in which another try or profile may differ.
    pub fn fields(&self) -> BTreeSet<String> {
        self.facts().into_keys().map(str::to_owned).collect()
    }

    fn facts(&self) -> BTreeMap<&str, &str> {
        let own = self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        own.chain([("version", self.version.as_str())]).collect()
    }
}

fn compared_run<P, L>(kept: &Kept<P, L>, run: &str, created: &str) -> ComparedRun {
    let damage = kept.damage.clone();
    ComparedRun { run: run.to_owned(), created: created.to_owned(), interrupted: kept.interrupted, damage }
}

type Key<'a> = (&'a str, &'a str, &'a str, &'static str);

fn keys<'a>(of: &'a Program) -> impl Iterator<Item = (Key<'a>, &'a Times)> {
    of.costs.iter().map(|cost| ((of.kind.word(), cost.command.as_str(), cost.arm.as_str(), cost.time), cost))
}

/// The logarithms of each run of a side; `None` where a cost is zero, which has no ratio.
fn logs(side: &[Program], key: Key) -> Option<Vec<Vec<f64>>> {
    let own = side.iter().flat_map(|program| keys(program).filter(|(other, _)| *other == key));
    let logs: Vec<Vec<f64>> = own.map(|(_, cost)| cost.seconds.iter().map(|s| (1e9 * s).ln()).collect()).collect();
    logs.iter().flatten().all(|log| log.is_finite()).then_some(logs)
}

/// Compares `b` with `a`; each has one try or profile at least.
pub fn compare(a: &[Program], b: &[Program], asked: &CompareOptions) -> Compared {
    let (mut cells, mut estimates, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = std::collections::BTreeSet::new();
    for (key, _) in a.iter().chain(b).flat_map(keys) {
        if !seen.insert(key) {
            continue;
        }
        match compared(a, b, key) {
            Ok((cell, estimate)) => {
                cells.push(cell);
                estimates.push(estimate);
            }
            Err(reason) => {
                let cell = format!("{}/{} time={} of {}", key.0, key.2, key.3, key.1);
                let on = |side: &[Program]| {
                    side.iter().any(|program| keys(program).any(|(other, _)| other == key)).then_some(Status::Ok)
                };
                missing.push(MissingCell { cell, a: on(a), b: on(b), reason });
            }
        }
    }
    say(&mut cells, &estimates, asked);
    let differences = differences(&a[0], &b[0], &asked.expected);
    told(asked, [of_side(a), of_side(b)], differences, (cells, missing), Vec::new())
}

type Found = (ComparedCell, Option<stats::estimate::Estimate>);

fn compared(a: &[Program], b: &[Program], key: Key) -> Result<Found, String> {
    let (kind, command, arm, time) = key;
    let zero = || "it took no time that the kernel's clock shows, and zero has no ratio".to_owned();
    let (logs_a, logs_b) = (logs(a, key).ok_or_else(zero)?, logs(b, key).ok_or_else(zero)?);
    let sides = side(&logs_a).ok().zip(side(&logs_b).ok());
    let (side_a, side_b): (Side, Side) = sides.ok_or_else(|| "only one side has it".to_owned())?;
    let estimate = ratio(&side_a, &side_b, CONFIDENCE).ok();
    let cell = ComparedCell {
        cell: format!("{kind}/{arm}"),
        experiment: command.to_owned(),
        parameters: BTreeMap::from([("time".to_owned(), time.to_owned())]),
        phase: "time".to_owned(),
        unit: "run".to_owned(),
        a: cost(&side_a, &logs_a),
        b: cost(&side_b, &logs_b),
        ratio: (side_b.log - side_a.log).exp(),
        estimate: estimate.as_ref().map(shown),
        verdict: Verdict::NotSettled,
        holds_among_all: false,
        gate: None,
    };
    Ok((cell, estimate))
}

fn of_side(side: &[Program]) -> ComparedSide {
    let first = &side[0];
    let mut unlike: Vec<String> = side[1..].iter().flat_map(|other| unlike_in(first, other)).map(|d| d.field).collect();
    unlike.sort();
    unlike.dedup();
    let runs = side.iter().map(|program| program.run.clone()).collect();
    ComparedSide { runs, environment: first.environment.clone(), unlike }
}

fn unlike_in(a: &Program, b: &Program) -> Vec<FactDifference> {
    let (of_a, of_b) = (a.facts(), b.facts());
    let both = of_a.iter().filter_map(|(field, value)| Some((*field, *value, *of_b.get(field)?)));
    let told = |(field, a, b): (&str, &str, &str)| FactDifference {
        field: field.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        matters: true,
        expected: false,
    };
    both.filter(|(_, a, b)| a != b).map(told).collect()
}

fn differences(a: &Program, b: &Program, expected: &[String]) -> Vec<FactDifference> {
    let mut found = unlike_in(a, b);
    found.iter_mut().for_each(|difference| difference.expected = expected.contains(&difference.field));
    found
}

#[cfg(test)]
#[path = "../../tests/unit/across/programs.rs"]
mod tests;
