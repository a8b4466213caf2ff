//! What a run does next, as a plain sequence of launches and decisions.
//!
//! [`conduct`] measures what a plan asks on an [`Executor`], which carries launches and decisions out, keeps them, and shows the
//! run as it is after each. There are three policies: an ordinary run (`tour.rs`), a run of claims (`claims.rs`) and the search
//! for the sizes at which an answer changes ([`crossover`]).
//!
//! Invariants: nothing is started here and no clock is read. No policy sees where a ratio lies: a [`Forecast`] has widths and,
//! in a run of claims, the undecided comparisons by the rule for interim analyses. So no difference can end a run, but one that
//! ends on words, whose evidence holds whatever ends it. All constants are in `constants.rs`.
//!
//! Begin with [`conduct`]; then `tour.rs`, the course of a run through its experiments, `visit.rs`, one visit, and
//! `block.rs`, one launch of everything that is compared. [`command`] is the policy of `try` and `profile`. Reasons:
//! docs/decisions/0040-a-policy-is-a-plain-sequence.md.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod batch;
mod block;
mod claims;
pub mod command;
mod constants;
pub mod crossover;
mod first_launches;
mod launch;
pub mod lessons;
mod neighbors;
mod precision;
pub mod rounds;
mod run;
mod shares;
mod tour;
pub mod turns;
mod view;
mod visit;

use anyhow::Result;
use record::{cell::Cell, decision::Ending, state::State};
use std::collections::BTreeSet;

pub use constants::LONGER;
pub use launch::{Launch, PILOT};
pub use run::{Executor, Halt, Step};
pub use view::{Forecast, Undecided, guess_s};

use run::ActiveRun;

/// The purpose of a run.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// Ratios as narrow as the plan requests.
    Precision,
    /// A verdict for each claim: the cells of each comparison, and true if the claim's own verdict rests on it.
    Claims(Vec<(Vec<Cell>, bool)>),
}

/// Facts about workers and cells that a plan does not have.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Workers that compile their code while they run.
    pub compiling: BTreeSet<String>,
    /// Peak memory by cell of the plan, in bytes.
    pub memory: Vec<f64>,
    /// The file that is made before the first launch which reads it, by cell of the plan: its name and its bytes.
    pub inputs: Vec<Option<(String, u64)>>,
}

/// The state of the run at one moment, with the clock of its executor.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Plan, groups and decisions of the run.
    pub state: &'a State,
    /// Results of launches, as far as they may decide.
    pub forecast: &'a dyn Forecast,
    /// Time that has passed, in seconds.
    pub spent_s: f64,
    /// Launches that have ended.
    pub launches: usize,
}

/// Conducts a new or resumed run to its end, or until the user stops it: the ends of its experiments, fewer in that case.
/// Errors: a launch or a decision cannot be carried out, or the forecast cannot be made.
pub fn conduct(
    purpose: &Purpose,
    facts: &Facts,
    executor: &mut dyn Executor,
) -> Result<Vec<Ending>> {
    loop {
        let mut run = ActiveRun::new(executor, facts);
        let end = match purpose {
            Purpose::Precision => tour::tour(&mut run),
            Purpose::Claims(comparisons) => claims::decide_claims(&mut run, comparisons),
        };
        match end {
            Ok(()) | Err(Halt::Stopped) => return Ok(run.endings),
            Err(Halt::Changed) => {}
            Err(Halt::Failed(error)) => return Err(error),
        }
    }
}

/// The seconds after which a launch counts as hung.
pub fn limit_s(state: &State, launch: &Launch) -> f64 {
    let (factor, least_s, _) = constants::PATIENCE;
    let cost = state.launch_groups[launch.launch_group].stage.cost();
    let expected_s = cost.map_or(0.0, |cost| {
        cost.launch_s(launch.rounds + launch.warmup_rounds)
    });
    (factor * expected_s)
        .max(least_s)
        .min(launch.at_most_s.unwrap_or(f64::INFINITY))
}
