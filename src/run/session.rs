//! A session of a study: its folder and the right to measure into it, its beginning or going on, its measuring and its summary.

use super::{Alone, Questions, Runner, decide, lock};
use super::{progress::Progress, scores::scores, signals::Signals};
use crate::machine::threads::{MOST_READERS, side_by_side};
use crate::machine::{self, preflight};
use crate::plan::catalog;
use crate::worker::foreign;
use crate::worker::{self, Worker};
use anyhow::{Result, bail};
use files::File;
use judge::evidence::{PREFLIGHT, ReadOne};
use judge::{Circumstances, evidence::launch::LaunchEvidence};
use record::folder::{RunFolder, SUMMARY};
use record::{
    decision::DecisionKind, kind::Kind, machine::environment::Environment,
    machine::preflight::Preflight, plan::Plan, state::State, summary::Summary,
};
use std::path::Path;
use std::time::{Duration, Instant};

/// Budgets in seconds from which a run looks how far the caches reach where nobody did in this boot and a hypervisor tells: it
/// takes a second or few.
const LOOKS_FROM_S: f64 = 30.0;

/// A study that measures: its plan, its folder and the right to measure into it on this machine.
pub struct Session<P = Plan> {
    pub plan: P,
    pub folder: RunFolder,
    /// True if it goes on with an earlier session.
    pub resumed: bool,
    alone: Alone,
    _lock: File,
}

impl<P> Session<P> {
    /// Begins a new study. Nothing is written where another one measures or the temporary folder is not safe.
    pub fn begin(plan: P, path: &Path, forced: bool) -> Result<Session<P>> {
        files::temporary_place()?;
        let alone = Alone::on_this_machine(forced)?;
        let folder = RunFolder::create(path)?;
        let _lock = lock(&folder).inspect_err(|_| folder.discard())?;
        Ok(Session {
            plan,
            folder,
            resumed: false,
            alone,
            _lock,
        })
    }

    /// Goes on with a kept study, whose plan `confirmed` reads and checks while nobody else measures into the folder.
    /// Errors: it is not of this verb, it is finished, or it is in use.
    pub fn go_on(
        folder: RunFolder,
        verb: Kind,
        forced: bool,
        confirmed: impl FnOnce(&RunFolder) -> Result<P>,
    ) -> Result<Session<P>> {
        files::temporary_place()?;
        let _lock = lock(&folder)?;
        folder.check_resumable(verb)?;
        let alone = Alone::on_this_machine(forced)?;
        Ok(Session {
            plan: confirmed(&folder)?,
            folder,
            resumed: true,
            alone,
            _lock,
        })
    }
}

impl Session {
    /// Goes on with a kept run by the programs that began it; `resumed` confirms its plan and names its new limits.
    /// Errors: it is damaged or in use, its plan is not confirmed, or a worker has changed.
    pub fn resume(
        folder: RunFolder,
        verb: Kind,
        workers: &[Worker],
        forced: bool,
        resumed: impl FnOnce(&State) -> Result<DecisionKind>,
    ) -> Result<Session> {
        Session::go_on(folder, verb, forced, |folder| {
            let state = folder.state()?;
            let limits = resumed(&state)?;
            same_workers(&state, workers)?;
            decide(folder, "the user asked for it", limits)?;
            Ok(state.plan)
        })
    }

    /// Measures until ratios are precise or these questions are answered; `store` has the kept runs. Returns the summary, and
    /// the signal that stopped it.
    pub fn measure(
        &self,
        workers: &[Worker],
        store: &Path,
        questions: Option<&dyn Questions>,
    ) -> Result<(Summary, Option<i32>)> {
        let is_empty = || {
            self.folder
                .launches()
                .is_ok_and(|all| all.records.is_empty())
        };
        self.judged(workers, store, questions).inspect_err(|_| {
            // A new run that has measured nothing is taken back.
            if !self.resumed && is_empty() {
                self.folder.discard();
            }
        })
    }

    fn judged(
        &self,
        workers: &[Worker],
        store: &Path,
        questions: Option<&dyn Questions>,
    ) -> Result<(Summary, Option<i32>)> {
        let Session {
            plan,
            folder,
            resumed,
            alone,
            ..
        } = self;
        let begun = Instant::now();
        let resumed = *resumed;
        let environment: Environment = if resumed {
            folder.read_sealed("environment.json")?
        } else {
            described(plan)
        };
        if !resumed {
            folder.write_sealed("environment.json", &environment)?;
            folder.write_sealed("plan.json", plan)?;
            let kept_scores = scores(store, &environment.identity.labels());
            // A look that fails says nothing of the run; it has lasted no time then.
            let noise = preflight::look(Path::new("/"), preflight::SHORT_MS).unwrap_or_default();
            if let Some(words) = noise.starved()
                && std::io::IsTerminal::is_terminal(&std::io::stderr())
            {
                remark!("{words}; --wait-for-quiet 10min waits for a calmer time");
            }
            folder.write_sealed(
                PREFLIGHT,
                &Preflight {
                    kept_scores,
                    ..noise
                },
            )?;
            folder.reach_device()?;
        }
        let signals = Signals::watch()?;
        let runner = Runner::new(plan.clone(), folder, workers, &signals, Progress::new())?;
        let mut runner = runner.alone_by(alone).asking(questions);
        if !plan.articles.is_empty() {
            runner = runner.since(begun);
        }
        let (state, evidence) = runner.run()?;
        let around = Circumstances {
            kept_scores: judge::kept_scores(folder)?,
            offered: catalog::known_methods()?.offered().clone(),
            ..Circumstances::from_environment(&environment)
        };
        let summary = judge::summarise(&state, &evidence, around)?;
        folder.write_result(SUMMARY, &summary)?;
        if let Err(error) = folder.reach_device() {
            remark!("pagewise: a power cut now may take the run: {error:#}");
        }
        Ok((summary, state.ended.and_then(|ended| ended.stopped_by)))
    }
}

/// A run is completed by the programs that began it.
fn same_workers(state: &State, workers: &[Worker]) -> Result<()> {
    for (name, hash) in &state.workers {
        let started = worker::find(workers, name)?
            .start_and_say()
            .map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
        if started.hash != *hash {
            bail!("the worker {name} is not the one that this run began with; make a new run");
        }
    }
    Ok(())
}

/// This machine as a run finds it. The table of an article begins at once.
fn described(plan: &Plan) -> Environment {
    let mut environment = Environment {
        variables: foreign(),
        ..machine::capture(Path::new("/"))
    };
    environment.cpu.ladder = machine::kept_ladder(&environment.identity, Duration::MAX);
    if environment.cpu.ladder.is_none()
        && plan.articles.is_empty()
        && plan.budget_s >= LOOKS_FROM_S
        && environment.hypervisor.is_virtual() == Some(true)
    {
        // Where it cannot be looked, what is told has to do.
        environment.cpu.ladder = machine::look_at_caches(&environment).ok();
    }
    environment
}

/// A kept run, judged again from its plan, decisions and transcripts alone.
pub fn replay(folder: &RunFolder) -> Result<(State, Summary)> {
    judge::replay_by(folder, &shared_out, catalog::known_methods()?)
}

/// The summary of a kept run, judged again unless the one in its folder follows from its launches.
pub fn judged(folder: &RunFolder) -> Result<Summary> {
    judge::judged(folder, &shared_out, catalog::known_methods()?)
}

fn shared_out(launches: usize, read: ReadOne) -> Vec<Result<LaunchEvidence>> {
    side_by_side(&(0..launches).collect::<Vec<_>>(), MOST_READERS, |launch| {
        read(*launch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_launch_is_read_once_and_all_are_in_their_order() {
        for launches in [0, 1, 2, 3, 7, 64] {
            let read = |number: usize| anyhow::bail!("{number}");
            let all: Vec<String> = shared_out(launches, &read)
                .into_iter()
                .map(|r| r.unwrap_err().to_string())
                .collect();
            assert_eq!(
                all,
                (0..launches).map(|n| n.to_string()).collect::<Vec<_>>()
            );
        }
    }
}
