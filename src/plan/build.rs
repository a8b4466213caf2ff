//! The one place where a plan is made: for a run, a published article, the conformance suite and the self-test alike.

use super::{claims, groups, groups::Twins, input, published, select, states, wish::Wish};
use crate::worker::Worker;
use anyhow::Result;
use record::plan::{LAUNCHES, LaunchGroup, Plan, PlannedCell, SCHEMA};
use record::{
    cell::Cell, experiment::Experiment, kind::Kind, outcome::Status, published::Published,
};
use std::collections::BTreeMap;

/// Cells to measure.
#[derive(Debug)]
pub enum Choice<'a> {
    Wished(&'a Wish),
    /// The cells that repeat the figures of articles.
    Published(&'a [&'a Published], &'a Wish),
    Claimed(&'a claims::Resolved, &'a [Cell], &'a Wish),
    /// Every cell that can be, so many rounds once, compared with nothing: for the conformance suite.
    Checked(&'a Wish, u32),
    /// These cells and hidden twins, which take turns in one process, with the method that others are compared with.
    Given(&'a Experiment, Vec<PlannedCell>, &'a str),
}

/// Terms of a plan besides its cells; see [`Plan`] for each.
#[derive(Clone, Debug)]
pub struct Terms {
    pub kind: Kind,
    pub run: String,
    /// When it was made, RFC 3339.
    pub created: String,
    pub seed: u64,
    pub budget_s: f64,
    /// Half-width at which an experiment is done.
    pub precision: f64,
    /// Differences below this share are called equivalent.
    pub margin: f64,
    pub time_limit_s: Option<f64>,
    /// Fewest and most launches of a launch group.
    pub launches: (u32, u32),
    pub first_look: bool,
    /// True if the budget is less than the default values need.
    pub short: bool,
    pub allow_system_changes: bool,
    /// True if the user's variables are left to the workers.
    pub keep_environment: bool,
    /// SHA-256 of each file of the user's functions.
    pub files: BTreeMap<String, String>,
}

impl Terms {
    /// Those of an ordinary run, which may change nothing on the machine: as many launches as usual, each as long as it
    /// needs. `goal`: the half-width at which an experiment is done, and the margin, both as shares.
    pub fn usual(run: String, seed: u64, budget_s: f64, goal: (f64, f64)) -> Terms {
        Terms {
            kind: Kind::Run,
            run,
            created: String::new(),
            seed,
            budget_s,
            precision: goal.0,
            margin: goal.1,
            time_limit_s: None,
            launches: LAUNCHES,
            first_look: false,
            short: false,
            allow_system_changes: false,
            keep_environment: false,
            files: BTreeMap::new(),
        }
    }
}

/// Makes the plan. Cells that cannot be measured here are in it with the reason.
pub fn build(all: &[Experiment], workers: &[Worker], choice: Choice, terms: Terms) -> Result<Plan> {
    let (mut cells, experiments) = match &choice {
        Choice::Wished(wish) | Choice::Checked(wish, _) => select::cells(all, workers, wish)?,
        Choice::Published(tables, wish) => {
            published::cells(tables, all, workers, wish, terms.allow_system_changes)?
        }
        Choice::Claimed(resolved, chosen, _) => claims::cells(resolved, chosen, all, workers),
        Choice::Given(experiment, cells, _) => (cells.clone(), vec![(*experiment).clone()]),
    };
    let hashes = groups::settle_missing(&mut cells, workers)?;
    input::settle(&mut cells, &experiments, terms.allow_system_changes);
    states::settle(&mut cells)?;
    let once =
        matches!(&choice, Choice::Published(tables, _) if tables.iter().all(|table| table.once));
    let baselines = match &choice {
        Choice::Published(_, wish) if once => {
            input::settle_unbounded(&mut cells, &experiments, wish);
            BTreeMap::new()
        }
        Choice::Wished(wish) | Choice::Published(_, wish) | Choice::Claimed(_, _, wish) => {
            input::settle_unbounded(&mut cells, &experiments, wish);
            groups::baselines(&experiments, &cells, wish)?
        }
        Choice::Checked(..) => {
            // Combinations of parameters that cannot be, such as a cold file in tmpfs, are no part of what a method claims.
            cells.retain(|p| {
                p.outcome
                    .as_ref()
                    .is_none_or(|o| o.status != Status::Refused)
            });
            BTreeMap::new()
        }
        Choice::Given(experiment, _, baseline) => {
            BTreeMap::from([(experiment.name.clone(), (*baseline).to_owned())])
        }
    };
    let launch_groups = match &choice {
        Choice::Given(experiment, ..) => {
            let all = (0..cells.len()).collect();
            vec![LaunchGroup {
                experiment: experiment.name.clone(),
                cells: all,
                fresh: false,
            }]
        }
        Choice::Claimed(..) => {
            groups::launch_groups(&mut cells, &experiments, &baselines, Twins::OneOfEach)?
        }
        _ => groups::launch_groups(&mut cells, &experiments, &baselines, Twins::All)?,
    };
    // A process that makes one pass has nothing before it.
    let fresh = |group: LaunchGroup| LaunchGroup {
        fresh: group.fresh || once,
        ..group
    };
    let launch_groups = launch_groups.into_iter().map(fresh).collect();
    let rounds = match choice {
        Choice::Checked(_, rounds) => Some(rounds),
        _ => once.then_some(1),
    };
    Ok(Plan {
        schema: SCHEMA,
        kind: terms.kind,
        run: terms.run,
        created: terms.created,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: terms.seed,
        budget_s: terms.budget_s,
        precision: terms.precision,
        margin: terms.margin,
        time_limit_s: terms.time_limit_s,
        min_launches: terms.launches.0,
        max_launches: terms.launches.1,
        rounds,
        first_look: terms.first_look,
        short: terms.short,
        allow_system_changes: terms.allow_system_changes,
        keep_environment: terms.keep_environment,
        baselines,
        workers: hashes,
        files: terms.files,
        experiments,
        cells,
        launch_groups,
    })
}
