//! A study of a user's program under way: the launches of its scheduler, carried out and kept.

pub mod arms;
pub mod changing;
mod launch;
pub mod running;
mod stacks;

use super::progress::{Progress, ResultsSoFar};
use super::{Session, decide, guard::Scratch, lines::screen, signals::Signals};
use crate::machine::memory;
use anyhow::{Context, Result, bail};
use changing::Changes;
use judge::program::profile::footprint_bytes;
use judge::program::{given_up, half_width, is_settled, so_far};
use launch::StudyPlace;
pub use launch::thp_rule;
use record::command::{CommandEnd, CommandLaunch, CommandPlan, KeptCommand, LaunchMode, Pages};
use record::{decision::DecisionKind, folder::RunFolder, kind::Kind};
use schedule::command::{CommandMoment, CommandPart, CommandScheduler, least_launches};
use std::time::Instant;

/// Seconds for all launches of a try without a budget.
const USUAL_BUDGET_S: f64 = 60.0;
/// An answer that takes so many times the budget is announced.
const MUCH_LONGER: f64 = 1.5;

/// Sizes of pages, and the rule for transparent huge ones, as a profile begins.
pub fn pages() -> Pages {
    Pages {
        page_bytes: rustix::param::page_size() as u64,
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(0),
        thp: thp_rule(),
    }
}

struct Study<'a> {
    session: &'a Session<CommandPlan>,
    changes: &'a Changes,
    launches: Vec<CommandLaunch>,
    signals: &'a Signals,
    scratch: Scratch,
    callers: stacks::Callers,
}

/// Goes on with a kept study. What is executed and opened is that of `request`, the plan of this command line; a kept plan that
/// has other commands, settings or files is refused.
/// Errors: it is of another kind or command, damaged, or in use.
pub fn resume(
    folder: RunFolder,
    request: CommandPlan,
    forced: bool,
) -> Result<Session<CommandPlan>> {
    Session::go_on(folder, request.kind, forced, |folder| {
        let KeptCommand { plan, damage, .. } = folder.whole()?;
        if let Some(first) = damage.first() {
            bail!(
                "{} is damaged and cannot be resumed: {first}",
                folder.path().display()
            );
        }
        let same = [
            ("command, setting or environment", plan.arms == request.arms),
            ("current folder", plan.directory == request.directory),
            ("--prepare", plan.prepare == request.prepare),
            ("--evict", plan.evict == request.evict),
            ("--input", plan.input == request.input),
        ];
        if let Some((other, _)) = same.iter().find(|(_, same)| !same) {
            bail!(
                "{} was begun with another {other}; repeat the words of its first call",
                folder.path().display()
            );
        }
        Ok(CommandPlan {
            budget_s: request.budget_s.or(plan.budget_s),
            ..plan
        })
    })
}

/// Launches what the plan requests and the folder does not have yet. Returns the whole record, and the signal that stopped it.
pub fn run(
    session: &Session<CommandPlan>,
    changes: &Changes,
) -> Result<(KeptCommand, Option<i32>)> {
    let (plan, folder) = (&session.plan, &session.folder);
    let budget_s = plan.budget_s.unwrap_or(USUAL_BUDGET_S);
    // A study that has no place for its files leaves nothing.
    let scratch = Scratch::new("command").inspect_err(|_| {
        if !session.resumed {
            folder.discard();
        }
    })?;
    if !session.resumed {
        folder.write_sealed("plan.json", plan)?;
    }
    let KeptCommand { launches, .. } = folder.whole()?;
    if !launches.is_empty() {
        decide(
            folder,
            "the user asked for it",
            DecisionKind::Resumed {
                budget_s,
                time_limit_s: None,
            },
        )?;
    }
    let signals = &Signals::watch()?;
    let mut study = Study {
        session,
        changes,
        launches,
        signals,
        scratch,
        callers: <_>::default(),
    };
    if let Err(error) = study.measure(budget_s) {
        // A session without a launch leaves nothing.
        if study.launches.is_empty() {
            folder.discard();
        }
        return Err(error);
    }
    let stopped_by = signals.arrived();
    let end = DecisionKind::Ended {
        stopped_by,
        launches: study.launches.len(),
        notes: Vec::new(),
        wall_s: None,
    };
    decide(folder, "nothing more is measured", end)?;
    Ok((folder.whole()?, stopped_by))
}

impl Study<'_> {
    fn measure(&mut self, budget_s: f64) -> Result<()> {
        let (plan, begun) = (&self.session.plan, Instant::now());
        let (mut scheduler, mut progress) = (CommandScheduler::default(), Progress::new());
        while self.signals.arrived().is_none() {
            let moment = CommandMoment {
                plan,
                launches: &self.launches,
                budget_s,
                spent_s: begun.elapsed().as_secs_f64(),
                given_up: &|arm| given_up(plan, &self.launches, arm).is_some(),
                half_width: &|| half_width(plan, &self.launches),
                is_settled: &|| is_settled(plan, &self.launches),
            };
            let Some(part) = scheduler.next(moment) else {
                break;
            };
            match scheduler.reached {
                Some((blocks, half_width, left_s)) => {
                    if progress.is_due() {
                        let begun = Instant::now();
                        progress.learn(self.known(), begun.elapsed());
                    }
                    let known = half_width
                        .filter(|half_width| *half_width < 1.0)
                        .map_or_else(String::new, |half_width| {
                            format!(", known to ±{:.1} %", half_width * 100.0)
                        });
                    let kind = plan.kind.word();
                    progress.step(
                        &format!("{kind}: launch {} of each{known}", blocks + 1),
                        left_s,
                    );
                }
                None => {
                    let left_s =
                        budget_s.max(self.least_s(LaunchMode::is_command).unwrap_or_default());
                    progress.step(&format!("warm-up: {}", plan.arms[part.arm].name), left_s);
                }
            }
            self.launch(part)?;
            let mut plain = self.launches.iter().filter(|l| l.mode == LaunchMode::Plain);
            let is_first = plain.next().is_some() && plain.next().is_none();
            if is_first
                && part.mode == LaunchMode::Plain
                && let Some(sentence) = self.length(budget_s)
            {
                progress.announce(&sentence);
            }
        }
        progress.finish();
        Ok(())
    }

    /// Seconds of the fewest launches of the command that give an answer, by those so far in some modes.
    fn least_s(&self, is_counted: fn(LaunchMode) -> bool) -> Option<f64> {
        let costs = self
            .launches
            .iter()
            .filter(|launch| is_counted(launch.mode))
            .filter_map(|launch| launch.cost.as_ref());
        let (count, wall_ns) =
            costs.fold((0, 0), |(count, sum), cost| (count + 1, sum + cost.wall_ns));
        let each_s = 1e-9 * wall_ns as f64 / f64::from(count);
        (count > 0).then(|| each_s * least_launches(&self.session.plan) as f64)
    }

    /// A sentence on the time of the study, where it takes much longer than its budget, or that budget leaves no answer.
    fn length(&self, budget_s: f64) -> Option<String> {
        let plan = &self.session.plan;
        // Tracing makes a launch longer.
        let least_s = self.least_s(|mode| mode == LaunchMode::Plain)?;
        let runs = least_launches(plan);
        let takes = report::wording::duration(least_s);
        // A try keeps to its user's budget; a profile has its three blocks.
        let is_bounded = plan.kind == Kind::Try && plan.budget_s.is_some() && plan.pairs.is_none();
        if is_bounded && least_s > budget_s {
            return Some(format!(
                "nothing will be settled: that takes {runs} runs, about {takes}, and the budget ends before"
            ));
        }
        (!is_bounded && least_s > MUCH_LONGER * budget_s)
            .then(|| format!("{runs} runs of the command take about {takes}"))
    }

    /// Results so far.
    fn known(&self) -> ResultsSoFar {
        let summary = so_far(&self.session.plan, &self.launches);
        let document = report::command::live(&summary);
        let text = report::terminal::render(&document, &screen(false), false);
        let shown = text.shown(console::colors_enabled_stderr());
        ResultsSoFar {
            briefly: report::command::briefly(&summary),
            table: shown.lines().map(str::to_owned).collect(),
        }
    }

    /// Makes one launch and keeps it, unless a signal ends it.
    fn launch(&mut self, part: CommandPart) -> Result<()> {
        let CommandPart { block, mode, .. } = part;
        let plan = &self.session.plan;
        let launch = if mode.is_command() {
            let Some(launch) = self.launch_command(part)? else {
                return Ok(());
            };
            launch
        } else {
            let bytes = footprint_bytes(plan, &self.launches)
                .context("no launch of the command has ended")?;
            launch::price(mode, block, bytes, self.scratch.path(), self.signals)?
        };
        // A launch that the user's signal ended says nothing of the command.
        let is_stopped = launch
            .cost
            .as_ref()
            .map_or(self.signals.arrived().is_some(), |c| {
                c.end == CommandEnd::Stopped
            });
        let window = plan
            .attached
            .as_ref()
            .and_then(|_| running::plain_window(&launch));
        if plan.attached.is_some()
            && window.is_none()
            && mode.is_command()
            && self.launches.is_empty()
        {
            bail!("the process has ended");
        }
        for launch in [Some(launch), window]
            .into_iter()
            .flatten()
            .filter(|_| !is_stopped)
        {
            self.session.folder.append_launch(&launch)?;
            self.launches.push(launch);
        }
        Ok(())
    }

    /// Runs the command once, or follows the process that runs already, with stacks where they are wanted. `None` if a signal
    /// came before.
    fn launch_command(&mut self, part: CommandPart) -> Result<Option<CommandLaunch>> {
        let CommandPart { block, mode, .. } = part;
        let plan = &self.session.plan;
        let scratch = self.scratch.path();
        let place = StudyPlace {
            plan,
            changes: self.changes,
            scratch,
            signals: self.signals,
        };
        launch::prepare(place)?;
        if self.signals.arrived().is_some() {
            return Ok(None);
        }
        // Before the first window it is not known which part of the faults is enough.
        let is_wanted = mode == LaunchMode::Sampled
            || (plan.stacks && mode == LaunchMode::Followed && block >= 0);
        let is_attached = plan.attached.is_some();
        let stacks = is_wanted.then(|| stacks::wanted(&self.launches, block, scratch, is_attached));
        let mut launch = match &plan.attached {
            Some(process) => {
                running::window(process, &self.launches, part, stacks, scratch, self.signals)?
            }
            None => launch::launch(place, part, stacks)?,
        };
        if launch
            .cost
            .as_ref()
            .is_some_and(|cost| is_wanted && cost.has_stacks())
        {
            launch.stacks = Some(self.callers.read(scratch)?).filter(|_| plan.stacks);
        }
        Ok(Some(launch))
    }
}
