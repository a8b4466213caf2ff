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
    pub usual_first: bool,
    /// True if the budget is less than the default values need.
    pub short: bool,
    /// True if launches end as soon as words are known.
    pub ends_on_words: bool,
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
            usual_first: false,
            short: false,
            ends_on_words: false,
            allow_system_changes: false,
            keep_environment: false,
            files: BTreeMap::new(),
        }
    }
}

impl Choice<'_> {
    /// The cells and their experiments.
    fn cells(
        &self,
        experiments: &[Experiment],
        workers: &[Worker],
        allow_system_changes: bool,
    ) -> Result<(Vec<PlannedCell>, Vec<Experiment>)> {
        match self {
            Choice::Wished(wish) | Choice::Checked(wish, _) => {
                select::cells(experiments, workers, wish)
            }
            Choice::Published(articles, wish) => {
                published::cells(articles, experiments, workers, wish, allow_system_changes)
            }
            Choice::Claimed(resolved, chosen, _) => {
                Ok(claims::cells(resolved, chosen, experiments, workers))
            }
            Choice::Given(experiment, cells, _) => Ok((cells.clone(), vec![(*experiment).clone()])),
        }
    }

    /// Ids of the articles whose rows come in sweeps; jobs of minutes have an order of their own.
    fn articles(&self) -> Vec<String> {
        match self {
            Choice::Published(articles, _) if !self.is_once() => {
                articles.iter().map(|article| article.id.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// True if each job takes minutes and is done once a launch.
    fn is_once(&self) -> bool {
        matches!(self, Choice::Published(articles, _) if articles.iter().all(|a| a.once))
    }

    /// Settles the cells that are no part of the choice; the baseline of each experiment.
    fn baselines(
        &self,
        cells: &mut Vec<PlannedCell>,
        experiments: &[Experiment],
    ) -> Result<BTreeMap<String, String>> {
        match self {
            Choice::Published(_, wish) if self.is_once() => {
                input::settle_unbounded(cells, experiments, wish);
                Ok(BTreeMap::new())
            }
            Choice::Wished(wish) | Choice::Published(_, wish) | Choice::Claimed(_, _, wish) => {
                input::settle_unbounded(cells, experiments, wish);
                groups::baselines(experiments, cells, wish)
            }
            Choice::Checked(..) => {
                // Combinations of parameters that cannot be, such as a cold file in tmpfs, are no part of what a method claims.
                cells.retain(|planned| {
                    let outcome = planned.outcome.as_ref();
                    outcome.is_none_or(|o| o.status != Status::Refused)
                });
                Ok(BTreeMap::new())
            }
            Choice::Given(experiment, _, baseline) => Ok(BTreeMap::from([(
                experiment.name.clone(),
                (*baseline).to_owned(),
            )])),
        }
    }

    /// The cells that share processes; adds the hidden twins.
    fn launch_groups(
        &self,
        cells: &mut Vec<PlannedCell>,
        experiments: &[Experiment],
        baselines: &BTreeMap<String, String>,
    ) -> Result<Vec<LaunchGroup>> {
        let twins = match self {
            Choice::Given(experiment, ..) => {
                return Ok(vec![LaunchGroup {
                    experiment: experiment.name.clone(),
                    cells: (0..cells.len()).collect(),
                    fresh: false,
                }]);
            }
            Choice::Claimed(..) | Choice::Published(..) => Twins::OneOfEach,
            Choice::Wished(_) | Choice::Checked(..) => Twins::All,
        };
        let mut launch_groups = groups::launch_groups(cells, experiments, baselines, twins)?;
        // A process that makes one pass has nothing before it.
        for group in &mut launch_groups {
            group.fresh |= self.is_once();
        }
        Ok(launch_groups)
    }

    /// Rounds of each launch, where they are fixed.
    fn rounds(&self) -> Option<u32> {
        match self {
            Choice::Checked(_, rounds) => Some(*rounds),
            _ => self.is_once().then_some(1),
        }
    }
}

/// Makes the plan. Cells that cannot be measured here are in it with the reason.
pub fn build(
    experiments: &[Experiment],
    workers: &[Worker],
    choice: Choice,
    terms: Terms,
) -> Result<Plan> {
    let (mut cells, experiments) =
        choice.cells(experiments, workers, terms.allow_system_changes)?;
    // The first figures of an article come before its other workers are built.
    let later = matches!(choice, Choice::Published(..));
    let hashes = groups::settle_missing(&mut cells, workers, later)?;
    input::settle(&mut cells, &experiments, terms.allow_system_changes);
    states::settle(&mut cells, &experiments)?;
    let baselines = choice.baselines(&mut cells, &experiments)?;
    let launch_groups = choice.launch_groups(&mut cells, &experiments, &baselines)?;
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
        rounds: choice.rounds(),
        usual_first: terms.usual_first,
        short: terms.short,
        ends_on_words: terms.ends_on_words,
        articles: choice.articles(),
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
