//! Carries out the launches and decisions of a run's policy ([`schedule::conduct`]), and follows what each launch shows. It
//! decides nothing itself.

use crate::plan::{published, states};
use crate::run::benching::{self, Counting};
use crate::run::bound::memory_needed;
use crate::run::facts::{facts, measured_by, samples_ns};
use crate::run::launch::{Adopting, Ended, Side, TimeLimit, duration};
use crate::run::prepared::{Made, Order, Prepared};
use crate::run::site::{Site, follow};
use crate::run::{Alone, launch, prepared};
use crate::worker::{self, Worker};
use crate::{
    machine::memory,
    machine::noise::Snapshot,
    run::lines::screen,
    run::progress::{Progress, ResultsSoFar},
    run::signals::Signals,
};
use anyhow::{Result, bail};
use judge::evidence::Evidence;
use record::decision::{DecisionKind, LeftOut};
use record::folder::{FramePart, RunFolder};
use record::launches::{COUNTED, Frame, LaunchRecord, SideRecord};
use record::machine::preflight::NoiseDelta;
use record::machine_state::{Counters, STATE, StateSeen};
use record::outcome::{Outcome, Status};
use record::plan::Plan;
use record::sizes::format_ns;
use record::{cell::Cell, decision::Width, kind::Kind, launches::End, state::State};
use schedule::lessons::{lessons, with_twin};
use schedule::{Executor, Forecast, Halt, Launch, Moment, Purpose, Step, Undecided, turns};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Growth of the time that functions need from which it is said again.
const SAID_AGAIN: f64 = 1.5;

/// The comparisons of a run of claims.
pub trait Questions {
    /// All comparisons: their cells, and whether the verdict on a claim rests on each.
    fn comparisons(&self) -> Vec<(Vec<Cell>, bool)>;

    /// Those without a verdict that more launches may decide.
    fn undecided(&self, state: &State, evidence: &Evidence) -> Result<Vec<Undecided>>;
}

/// A run under way.
pub struct Runner<'a> {
    state: State,
    folder: &'a RunFolder,
    workers: &'a [Worker],
    signals: &'a Signals,
    progress: Progress,
    site: Site<'a>,
    clock: Clock,
    observed: Observed<'a>,
    purpose: Purpose,
}

/// The clock of the run, and its launches so far.
struct Clock {
    /// Enter, for the first run of a process; none where launches were made before.
    started: Option<Instant>,
    begun: Instant,
    /// Seconds of the launches before a run was resumed.
    spent_before_s: f64,
    next_launch: usize,
}

impl Clock {
    fn spent_s(&self) -> f64 {
        self.spent_before_s + self.begun.elapsed().as_secs_f64()
    }

    /// Seconds from the start to now; unknown where a part of the run was made before.
    fn wall_s(&self) -> Option<f64> {
        Some(self.started?.elapsed().as_secs_f64())
    }
}

/// A launch that came to its end.
struct Launched {
    ended: Ended,
    sides: Vec<SideRecord>,
    parts: Vec<FramePart>,
    /// CPU time of the laboratory itself.
    laboratory_cpu: Duration,
    noise: NoiseDelta,
}

struct Observed<'a> {
    evidence: Evidence,
    /// The median sample of each cell in the last launch that is not judged, in nanoseconds.
    samples_ns: BTreeMap<usize, f64>,
    questions: Option<&'a dyn Questions>,
}

impl Forecast for Observed<'_> {
    fn has_launch(&self, launch_group: usize, block: u32) -> bool {
        self.evidence.has(launch_group, block)
    }

    fn launches(&self, cell: usize) -> usize {
        self.evidence
            .cells
            .get(&cell)
            .map_or(0, |cell| cell.launches.len())
    }

    fn widths(&self, state: &State, experiment: &str) -> Vec<Width> {
        judge::half_widths(state, &self.evidence, experiment)
    }

    fn sample_ns(&self, cell: usize) -> Option<f64> {
        self.samples_ns.get(&cell).copied()
    }

    fn clock_read_ns(&self, worker: &str) -> Option<f64> {
        self.evidence
            .about
            .get(worker)?
            .get("clock_read_ns")?
            .parse()
            .ok()
    }

    fn undecided(&self, state: &State) -> Result<Vec<Undecided>> {
        self.questions.map_or(Ok(Vec::new()), |questions| {
            questions.undecided(state, &self.evidence)
        })
    }
}

impl<'a> Runner<'a> {
    /// Prepares a run in its folder; launches that the folder has are taken over.
    /// Errors: the machine cannot be prepared, or the folder is damaged.
    pub fn new(
        plan: Plan,
        folder: &'a RunFolder,
        workers: &'a [Worker],
        signals: &'a Signals,
        progress: Progress,
    ) -> Result<Runner<'a>> {
        let mut state = State::after(plan, &folder.decisions()?)?;
        let site = Site::prepare(&mut state, folder)?;
        let launches = folder.launches()?;
        if let Some(first) = launches.damage.first() {
            bail!(
                "{} is damaged and cannot be resumed: {first}",
                folder.path().display()
            );
        }
        let evidence = Evidence::read(&state, folder)?;
        // Work for the whole run, such as building a worker, is no part of the budget.
        let spent_before_s = launches.records.iter().map(|record| record.wall_s).sum();
        let clock = Clock {
            started: launches.records.is_empty().then(super::begin),
            begun: Instant::now(),
            spent_before_s,
            next_launch: folder.next_launch()?,
        };
        let observed = Observed {
            evidence,
            samples_ns: BTreeMap::new(),
            questions: None,
        };
        Ok(Runner {
            state,
            folder,
            workers,
            signals,
            progress,
            site,
            clock,
            observed,
            purpose: Purpose::Precision,
        })
    }

    /// The same with a time that began then.
    pub fn since(mut self, begun: Instant) -> Runner<'a> {
        self.clock.begun = begun;
        self
    }

    /// The same; every launch checks for contention with another run.
    pub fn alone_by(mut self, alone: &'a Alone) -> Runner<'a> {
        self.site.alone = Some(alone);
        self
    }

    /// The same as a run of claims, if there are questions.
    pub fn asking(mut self, questions: Option<&'a dyn Questions>) -> Runner<'a> {
        if let Some(questions) = questions {
            self.purpose = Purpose::Claims(questions.comparisons());
            self.observed.questions = Some(questions);
        }
        self
    }

    /// Conducts the run until its end, or until a signal arrives; the run as it then is.
    pub fn run(mut self) -> Result<(State, Evidence)> {
        let (purpose, facts) = (self.purpose.clone(), facts(&self.state, self.workers));
        let endings = schedule::conduct(&purpose, &facts, &mut self)?;
        if self.state.plan.kind == Kind::Bench {
            self.count()?;
        }
        self.progress.finish();
        let stopped_by = self.signals.arrived();
        let why = if stopped_by.is_some() {
            "a signal arrived"
        } else {
            "precision, budget or --launches is reached"
        };
        let notes = judge::ending_notes(&self.state, &endings, &self.site.cleared);
        self.decide(
            why,
            DecisionKind::Ended {
                stopped_by,
                launches: self.clock.next_launch,
                notes,
                wall_s: self.clock.wall_s(),
            },
        )?;
        Ok((self.state, self.observed.evidence))
    }

    /// Keeps a decision on the disk, then follows it.
    fn decide(&mut self, why: &str, what: DecisionKind) -> Result<()> {
        follow(self.folder, &mut self.state, vec![(why.to_owned(), what)])
    }

    /// Draws the progress line before a launch.
    fn show(&mut self, launch: &Launch) -> Result<()> {
        let name = &self.state.launch_groups[launch.launch_group].experiment;
        let left_s = self.state.budget_s - self.clock.spent_s();
        let has_launches = self.clock.next_launch > 0;
        if has_launches && self.observed.questions.is_none() && self.progress.is_due() {
            let begun = Instant::now();
            let known = self.known()?;
            self.progress.learn(known, begun.elapsed());
        }
        self.progress.step(name, left_s);
        Ok(())
    }

    /// Results so far.
    fn known(&self) -> Result<ResultsSoFar> {
        let summary = judge::summarise(
            &self.state,
            &self.observed.evidence,
            judge::Circumstances::default(),
        )?;
        let articles = published::of_plan(&self.state.plan);
        let document = if articles.is_empty() {
            report::view::live(&summary)
        } else {
            report::published::live(&articles, &summary)
        };
        let text = report::terminal::render(&document, &screen(false), false);
        Ok(ResultsSoFar {
            briefly: report::view::briefly(&summary),
            table: text
                .shown(console::colors_enabled_stderr())
                .lines()
                .map(str::to_owned)
                .collect(),
        })
    }

    /// Builds the workers of a launch that were left to it, which is no part of any budget.
    fn build_workers(&mut self, launch: &Launch) -> Result<()> {
        let cells = self.state.alive(launch.launch_group).into_iter();
        let sides = cells.flat_map(|cell| self.state.cells[cell].cell.sides());
        let unknown = sides.filter(|side| !self.state.workers.contains_key(*side));
        let unbuilt: BTreeSet<String> = unknown.map(str::to_owned).collect();
        for name in unbuilt {
            let begun = Instant::now();
            let worker = worker::find(self.workers, &name)?;
            if let Some(sentence) = worker.building() {
                self.progress.note(&sentence);
            }
            let what = match worker.start() {
                Ok(started) => DecisionKind::Built {
                    worker: name,
                    hash: started.hash.clone(),
                },
                Err(error) => DecisionKind::Settled {
                    cells: measured_by(&self.state, &name),
                    outcome: Outcome::because(Status::Skipped, worker.absence(error)),
                },
            };
            self.decide("its first launch is next", what)?;
            self.clock.spent_before_s -= begun.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Makes the captures of a launch. They are no part of the budget, but of an article's time, and of a state's whose folder has
    /// them: then they are made anew each time.
    fn make_inputs(&mut self, launch: &Launch, files: Option<&Path>) -> Result<()> {
        let (begun, site) = (Instant::now(), &mut self.site);
        let cells = self.state.alive(launch.launch_group);
        let (guard, signals) = (&mut site.guard, self.signals);
        let place = (self.folder, files);
        let settled = site
            .inputs
            .make(&self.state, &cells, guard, place, signals)?;
        follow(self.folder, &mut self.state, settled)?;
        if self.state.plan.articles.is_empty() && files.is_none() {
            self.clock.spent_before_s -= begun.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Refuses the cells that do not fit into memory, with both figures.
    fn refuse(&mut self, launch: &Launch) -> Result<()> {
        for cell in self.state.alive(launch.launch_group) {
            let planned = &self.state.cells[cell];
            let needed = memory_needed(planned, launch.rounds + launch.warmup_rounds)?;
            let sides = planned.cell.sides().count() as u64;
            if let Err(cause) = memory::fits(Path::new("/"), needed.saturating_mul(sides)) {
                let outcome = Outcome::because(Status::Refused, cause);
                let cells = with_twin(&self.state, cell);
                self.decide(
                    "a launch showed it",
                    DecisionKind::Settled { cells, outcome },
                )?;
            }
        }
        Ok(())
    }

    /// Counts the calls, allocations and faults of a few passes, which no clock times.
    fn count(&mut self) -> Result<()> {
        let mut counting = Counting::new(&self.state, self.clock.spent_s());
        let mut last_s = 0.0;
        while let Some(launch_group) = counting.next(last_s) {
            let [rounds, warmup_rounds] = Counting::rounds(&self.state, launch_group);
            let launch = Launch {
                launch_group,
                block: COUNTED,
                rounds,
                warmup_rounds,
                at_most_s: None,
                cells: self.state.alive(launch_group),
            };
            let begun = Instant::now();
            if self.signals.arrived().is_none()
                && let Some(record) = self.perform(&launch)?
            {
                self.observed.evidence.add(
                    &self.state,
                    &record,
                    &self.folder.transcripts(&record)?,
                );
            }
            last_s = begun.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Gives a run for which no budget was given the time that its functions need, and says so. True if it did.
    fn lengthen(&mut self) -> Result<bool> {
        let launches: Vec<usize> = (0..self.state.launch_groups.len())
            .map(|group| {
                let cells = self.state.alive(group).into_iter();
                cells
                    .map(|cell| self.observed.launches(cell))
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let spent_s = self.clock.spent_s();
        let Some(budget_s) = benching::needed_s(&self.state, &launches, spent_s) else {
            return Ok(false);
        };
        let [turn_s, start_s] = benching::known_s(&self.state);
        let is_first = self.state.budget_s <= self.state.plan.budget_s;
        if is_first || budget_s > SAID_AGAIN * self.state.budget_s {
            // A process for each turn starts within it.
            let start = Some(start_s).filter(|start_s| *start_s > 0.0);
            let start = start.map_or_else(
                || "with the start of their processes".to_owned(),
                |start_s| format!("their processes {} to start", format_ns(start_s * 1e9)),
            );
            remark!(
                "pagewise: measuring takes about {}: one round of all functions takes {}, {start} (--budget sets another time)",
                report::wording::duration(budget_s),
                format_ns(turn_s * 1e9),
            );
        }
        self.decide(
            "its functions need more than the usual time",
            DecisionKind::Lengthened { budget_s },
        )?;
        Ok(true)
    }

    /// Carries a launch out and keeps it; nothing where no cell is left.
    fn perform(&mut self, launch: &Launch) -> Result<Option<LaunchRecord>> {
        self.build_workers(launch)?;
        let group = self.state.alive(launch.launch_group);
        let first = group.first().map(|&cell| &self.state.cells[cell].cell);
        let is_given = first.is_some_and(states::gives_files);
        if !is_given {
            self.make_inputs(launch, None)?;
        }
        self.refuse(launch)?;
        let Some(mut seen) = self.enter_state(launch)? else {
            return Ok(None);
        };
        let files = self.site.states.files().map(Path::to_owned);
        if let Some(seen) = seen.as_mut().filter(|_| is_given) {
            let begun = Instant::now();
            self.make_inputs(launch, files.as_deref())?;
            seen.made_s += begun.elapsed().as_secs_f64();
        }
        let cells = self.open(launch);
        let Some(&first) = cells.first() else {
            return Ok(None);
        };
        let proves_by_round = self.state.cells[first]
            .cell
            .sides()
            .all(|side| worker::find(self.workers, side).is_ok_and(Worker::proves_by_round));
        let turns = turns::of_launch(&self.state, launch, &cells, proves_by_round);
        let number = self.clock.next_launch;
        self.clock.next_launch += 1;
        let order = Order {
            number,
            launch,
            cells: &cells,
            turns: &turns,
            options: self.site.options(),
            files,
        };
        let launched = self.start(&order, seen.as_mut())?;
        let made_s = seen.as_ref().map_or(0.0, |seen| seen.made_s);
        let Launched {
            ended,
            sides,
            parts,
            laboratory_cpu,
            noise,
        } = launched;
        let mut record = LaunchRecord {
            launch: number,
            launch_group: launch.launch_group,
            block: launch.block,
            rounds: launch.rounds,
            turns: turns.uneven(cells.len()),
            proofs: turns.proofs.clone(),
            // The budget has to hold the making of the state, too.
            wall_s: ended.wall.as_secs_f64() + made_s,
            laboratory_cpu_s: laboratory_cpu.as_secs_f64(),
            sides,
            decisions: self.state.decisions,
            frame: Frame::default(),
            oom_killed: noise.counter("oom_kill") > 0,
            noise: Some(noise),
            state: seen,
            cells,
        };
        self.folder.keep_launch(&mut record, &parts)?;
        if !self.state.had_contention && self.site.alone.is_some_and(Alone::has_contention) {
            self.decide(
                "the machine's lock was not this run's alone",
                DecisionKind::Contention,
            )?;
        }
        Ok(Some(record))
    }

    /// Starts the processes of a launch and waits for their ends.
    fn start(&mut self, order: &Order, seen: Option<&mut StateSeen>) -> Result<Launched> {
        let site = &self.site;
        let made = Made {
            inputs: &site.inputs,
            bounds: &site.bounds,
        };
        let prepared = prepared::all(&self.state, self.folder, self.workers, made, order)?;
        let sides: Vec<Side> = prepared
            .iter()
            .map(|side| side.side(&site.cleared))
            .collect();
        let (before, cpu_before) = (Snapshot::take(Path::new("/")), prepared::laboratory_cpu());
        // A user's function may fork a process of another session, which outlives its group.
        let is_bench = self.state.plan.kind == Kind::Bench;
        let adopting = is_bench.then(Adopting::begin);
        let ended = launch::launch(&sides, self.time_limit(order.launch), self.signals);
        drop(adopting);
        if let Some(seen) = seen {
            let within: Counters = prepared.iter().flat_map(Prepared::about_state).collect();
            self.site.states.prove(seen, within)?;
        }
        let parts: Vec<FramePart> = prepared.iter().flat_map(Prepared::parts).collect();
        let messages: Vec<String> = prepared.iter().map(Prepared::first_message).collect();
        let is_full = prepared::remove_scratch(self.folder, &self.state, order.files.as_deref());
        let ended = ended?;
        // Nor does one that does not end take time from the others.
        if is_bench
            && ended
                .ends
                .iter()
                .any(|end| matches!(end, End::TimeLimit(_) | End::Deaf(_)))
        {
            self.clock.spent_before_s -= ended.wall.as_secs_f64();
        }
        if is_full && !ended.ends.iter().all(End::is_clean) {
            bail!(
                "cannot write into {}: No space left on device",
                self.folder.path().display()
            );
        }
        Ok(Launched {
            noise: Snapshot::take(Path::new("/")).delta(&before),
            laboratory_cpu: prepared::laboratory_cpu().saturating_sub(cpu_before),
            sides: sides_of(&prepared, &ended, messages),
            ended,
            parts,
        })
    }

    /// The cells of a launch that have no outcome yet.
    fn open(&self, launch: &Launch) -> Vec<usize> {
        let is_open = |cell: &usize| self.state.cells[*cell].outcome.is_none();
        launch.cells.iter().copied().filter(is_open).collect()
    }

    /// Has the machine in the state of a launch. `None`: it cannot be, which is decided, or no cell is left.
    fn enter_state(&mut self, launch: &Launch) -> Result<Option<Option<StateSeen>>> {
        let cells = self.open(launch);
        let rounds = launch.rounds + launch.warmup_rounds;
        let planned = cells.iter().map(|&cell| &self.state.cells[cell]);
        let needs = planned
            .map(|planned| memory_needed(planned, rounds))
            .collect::<Result<Vec<u64>>>()?;
        let Some(first) = cells.first().map(|&cell| &self.state.cells[cell].cell) else {
            return Ok(None);
        };
        let (name, needed) = (
            first.parameters.get(STATE).cloned(),
            needs.into_iter().max().unwrap_or(0),
        );
        match self
            .site
            .states
            .enter(name.as_deref(), &first.experiment, needed)?
        {
            Ok(seen) => Ok(Some(seen)),
            Err(cause) => {
                let cells = (0..self.state.cells.len())
                    .filter(|&cell| {
                        let planned = &self.state.cells[cell];
                        planned.outcome.is_none()
                            && planned.cell.parameters.get(STATE) == name.as_ref()
                    })
                    .collect();
                let outcome = Outcome::because(Status::Skipped, cause);
                self.decide(
                    "the state was tried",
                    DecisionKind::Settled { cells, outcome },
                )?;
                Ok(None)
            }
        }
    }

    fn time_limit(&self, launch: &Launch) -> TimeLimit {
        if launch.block == COUNTED {
            return Counting::limit(&self.state, launch);
        }
        let able = duration(schedule::limit_s(&self.state, launch));
        let is_due = !self.state.plan.articles.is_empty() && launch.at_most_s.is_some();
        match self.state.time_limit_s {
            // The table is due by the clock, however busy the machine is.
            None if is_due => TimeLimit::Strict(able),
            Some(seconds) => TimeLimit::Strict(duration(seconds)),
            None => TimeLimit::Able(able),
        }
    }

    /// Follows what a launch showed, and adds it to the evidence.
    fn learn(&mut self, launch: &Launch, record: &LaunchRecord) -> Result<()> {
        let transcripts = self.folder.transcripts(record)?;
        let too_long = record
            .sides
            .iter()
            .any(|side| matches!(side.end, End::TimeLimit(_) | End::Deaf(_)));
        let group = launch.launch_group;
        if too_long
            && launch
                .at_most_s
                .is_some_and(|most_s| most_s <= schedule::limit_s(&self.state, launch))
        {
            // One slow cell is no reason to leave out the claims about the others.
            let what = if self.state.plan.kind == Kind::Claims && record.cells.len() > 1 {
                DecisionKind::Split {
                    launch_group: group,
                    cells: record.cells.clone(),
                }
            } else {
                DecisionKind::LeftOut {
                    launch_groups: vec![group],
                    reason: LeftOut::TooLong,
                }
            };
            self.decide("its pilot takes longer than the budget allows", what)?;
        } else {
            if launch.block < 0 || self.state.launch_groups[group].stage.cost().is_none() {
                self.observed.samples_ns = samples_ns(record, &transcripts);
            }
            let broken = transcripts.iter().find_map(judge::evidence::launch::broken);
            for (why, what) in lessons(&self.state, record, &transcripts, launch, broken.as_deref())
            {
                self.decide(why, what)?;
            }
        }
        self.observed
            .evidence
            .add(&self.state, record, &transcripts);
        Ok(())
    }
}

impl Executor for Runner<'_> {
    fn moment(&self) -> Moment<'_> {
        Moment {
            state: &self.state,
            forecast: &self.observed,
            spent_s: self.clock.spent_s(),
            launches: self.clock.next_launch,
        }
    }

    fn launch(&mut self, launch: &Launch) -> Step {
        if self.signals.arrived().is_some() {
            return Err(Halt::Stopped);
        }
        self.show(launch)?;
        if let Some(record) = self.perform(launch)? {
            self.learn(launch, &record)?;
        }
        if self.lengthen()? {
            return Err(Halt::Changed);
        }
        Ok(())
    }

    fn decide(&mut self, why: &'static str, what: DecisionKind) -> Step {
        if self.signals.arrived().is_some() {
            return Err(Halt::Stopped);
        }
        Ok(Runner::decide(self, why, what)?)
    }
}

fn sides_of(prepared: &[Prepared], ended: &Ended, messages: Vec<String>) -> Vec<SideRecord> {
    let mut sides = Vec::new();
    for ((side, end), message) in prepared.iter().zip(&ended.ends).zip(messages) {
        sides.push(SideRecord {
            worker: side.worker.clone(),
            transcript: side.name.clone(),
            end: end.clone(),
            message: if end.is_clean() {
                String::new()
            } else {
                message
            },
        });
    }
    sides
}
