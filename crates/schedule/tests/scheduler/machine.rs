//! A simulated machine: it carries actions out with made-up times on a clock of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use judge::evidence::Evidence;
use pagewise_schedule::lessons::lessons;
use pagewise_schedule::{
    Executor, Facts, Forecast, Launch, Moment, Purpose, Step, Undecided, conduct, limit_s, turns,
};
use record::cell::Cell;
use record::decision::{Decision, DecisionKind, LeftOut};
use record::decision::{Ending, Reason, Width};
use record::experiment::Content;
use record::folder::RunFolder;
use record::launches::End;
use record::launches::{Frame, LaunchRecord, SideRecord};
use record::plan::{LaunchGroup, Plan};
use record::state::State;
use record::transcript::{COLUMNS, Read, Transcript};
use stats::rng::Seeded;

/// Seconds of the start of a process.
const START_S: f64 = 2e-3;
/// More actions than any run of a test may take.
const MOST_ACTIONS: usize = 20_000;

/// The behavior of a method's cells.
#[derive(Clone, Copy, Debug)]
pub enum Manner {
    /// Nanoseconds of a phase, and the share by which they vary from launch to launch.
    Takes(f64, f64),
    /// Seconds before each sample, which then takes a millisecond.
    Prepares(f64),
    /// The process is killed.
    Dies,
    /// The machine lacks something.
    Skips,
}

/// A run that has ended.
pub struct Done {
    pub state: State,
    pub evidence: Evidence,
    pub records: Vec<LaunchRecord>,
    pub transcripts: Vec<Read>,
    pub decisions: Vec<Decision>,
    pub endings: Vec<Ending>,
    /// Seconds at which the last launch began, and at which it ended.
    pub last_s: (f64, f64),
}

impl Done {
    pub fn launches(&self, method: &str) -> usize {
        let cell = self
            .state
            .cells
            .iter()
            .position(|c| c.cell.method == method && !c.twin)
            .unwrap();
        self.evidence
            .cells
            .get(&cell)
            .map_or(0, |cell| cell.launches.len())
    }

    /// The reason why an experiment ended.
    pub fn reason(&self, name: &str) -> Option<Reason> {
        self.endings.iter().find_map(|ending| match ending {
            Ending::Experiment {
                experiment, reason, ..
            } if experiment == name => Some(*reason),
            _ => None,
        })
    }

    pub fn spent_s(&self) -> f64 {
        self.records.iter().map(|record| record.wall_s).sum()
    }
}

/// Undecided until some cells have been launched so often.
pub struct UntilLaunched(pub Vec<Cell>, pub usize);

struct Observed<'a> {
    evidence: Evidence,
    samples_ns: BTreeMap<usize, f64>,
    undecided: Option<&'a UntilLaunched>,
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

    fn clock_read_ns(&self, _: &str) -> Option<f64> {
        Some(25.0)
    }

    fn undecided(&self, state: &State) -> Result<Vec<Undecided>> {
        let Some(UntilLaunched(cells, launches)) = self.undecided else {
            return Ok(Vec::new());
        };
        let first = state
            .cells
            .iter()
            .position(|planned| planned.cell == cells[0])
            .unwrap();
        let open = self.launches(first) < *launches && state.cells[first].outcome.is_none();
        let one = Undecided {
            cells: cells.clone(),
            launches: *launches,
            decides: true,
            likely: true,
        };
        Ok(if open { vec![one] } else { Vec::new() })
    }
}

/// A simulated machine.
pub struct Machine<'a> {
    pub manners: BTreeMap<String, Manner>,
    random: Seeded,
    now_s: f64,
    undecided: Option<&'a UntilLaunched>,
    facts: Facts,
}

pub const STEADY: [(&str, Manner); 3] = [
    ("touch", Manner::Takes(1e6, 0.0)),
    ("populate-write", Manner::Takes(5e5, 0.0)),
    ("null", Manner::Takes(1e3, 0.0)),
];

impl<'a> Machine<'a> {
    /// Steady methods, and these.
    pub fn new(manners: &[(&str, Manner)]) -> Machine<'a> {
        let all = STEADY
            .iter()
            .chain(manners)
            .map(|(name, manner)| ((*name).to_owned(), *manner));
        Machine {
            manners: all.collect(),
            random: Seeded::new(3),
            now_s: 0.0,
            undecided: None,
            facts: Facts::default(),
        }
    }

    /// The same where cells read files that are made first.
    pub fn reading(self, inputs: Vec<Option<(String, u64)>>) -> Machine<'a> {
        let facts = Facts {
            inputs,
            ..Facts::default()
        };
        Machine { facts, ..self }
    }

    pub fn asking(self, undecided: &'a UntilLaunched) -> Machine<'a> {
        Machine {
            undecided: Some(undecided),
            ..self
        }
    }

    /// A whole run of a plan.
    pub fn run(self, plan: Plan) -> Done {
        self.go_on(plan, None)
    }

    /// The rest of a run that was interrupted.
    pub fn go_on(self, plan: Plan, before: Option<Done>) -> Done {
        let purpose = match self.undecided {
            None => Purpose::Precision,
            Some(UntilLaunched(cells, _)) => Purpose::Claims(vec![(cells.clone(), true)]),
        };
        let (decisions, records, transcripts) = before
            .map_or((Vec::new(), Vec::new(), Vec::new()), |done| {
                (done.decisions, done.records, done.transcripts)
            });
        let state = State::after(plan, &decisions).unwrap();
        let facts = self.facts.clone();
        let mut observed = Observed {
            evidence: Evidence::default(),
            samples_ns: BTreeMap::new(),
            undecided: self.undecided,
        };
        records
            .iter()
            .zip(&transcripts)
            .for_each(|(record, read)| observed.evidence.add(&state, record, read));
        let mut simulation = Simulation {
            machine: self,
            observed,
            actions: 0,
            done: Done {
                state,
                evidence: Evidence::default(),
                records,
                transcripts,
                decisions,
                endings: Vec::new(),
                last_s: (0.0, 0.0),
            },
        };
        let endings = conduct(&purpose, &facts, &mut simulation).unwrap();
        Done {
            evidence: simulation.observed.evidence,
            endings,
            ..simulation.done
        }
    }

    fn launch(
        &mut self,
        state: &State,
        launch: &Launch,
        cells: Vec<usize>,
        (number, limit_s): (usize, f64),
    ) -> (LaunchRecord, Read) {
        let turns = turns::of_launch(state, launch, &cells, true);
        let begun_s = self.now_s;
        self.now_s += START_S;
        let (mut text, mut end) = self.answer(state, &cells, &turns);
        if self.now_s - begun_s > limit_s {
            self.now_s = begun_s + limit_s;
            (text, end) = (String::new(), End::TimeLimit(limit_s as u64));
        }
        let read = vec![Transcript::read(text.as_bytes()).map_err(|error| format!("{error:#}"))];
        let side = SideRecord {
            worker: "c-O3".to_owned(),
            transcript: "transcript".to_owned(),
            end,
            message: String::new(),
        };
        let record = LaunchRecord {
            launch: number,
            launch_group: launch.launch_group,
            block: launch.block,
            rounds: launch.rounds,
            turns: turns.uneven(cells.len()),
            proofs: turns.proofs,
            wall_s: self.now_s - begun_s,
            laboratory_cpu_s: 0.0,
            sides: vec![side],
            decisions: state.decisions,
            frame: Frame::default(),
            oom_killed: false,
            state: None,
            noise: None,
            cells,
        };
        (record, read)
    }

    /// The transcript of a launch, and how its process ends.
    fn answer(&mut self, state: &State, cells: &[usize], turns: &turns::Turns) -> (String, End) {
        let mut text = format!(
            "pagewise\t1\tc-O3\ncolumns\tslot\tround\tcell\tphase\t{}\n",
            COLUMNS.join("\t")
        );
        let planned: Vec<_> = cells.iter().map(|&cell| &state.cells[cell]).collect();
        // Differences between processes are drawn once for each cell of a launch.
        let shifts: Vec<f64> = cells
            .iter()
            .map(|_| 2.0 * self.random.unit() - 1.0)
            .collect();
        let mut skipped = vec![false; cells.len()];
        let (mut slot, mut samples) = (0, 0);
        let warmup = (1..).map(|number: i32| -number).zip(&turns.warmup);
        for (round, order) in warmup.chain((0..).zip(&turns.rounds)) {
            for &cell in order {
                slot += 1;
                match self.manners[&planned[cell].cell.method] {
                    Manner::Dies => return (text, End::Signal(9)),
                    Manner::Skips if !skipped[cell] => {
                        skipped[cell] = true;
                        let _ = writeln!(text, "skip\t{cell}\tthere is no pool here");
                    }
                    Manner::Skips => {}
                    manner => {
                        let (before_s, ns, share) = match manner {
                            Manner::Takes(ns, share) => (0.0, ns, share),
                            Manner::Prepares(seconds) => (seconds, 1e6, 0.0),
                            _ => unreachable!("it takes no time"),
                        };
                        self.now_s += before_s;
                        let wall_ns = (ns * (1.0 + share * shifts[cell])) as u64;
                        for phase in &planned[cell].method.phases {
                            let start = (self.now_s * 1e9) as u64;
                            let _ = writeln!(
                                text,
                                "sample\t{slot}\t{round}\t{cell}\t{phase}\t1\t4096\t{start}\t{wall_ns}\t{wall_ns}\t0\t0\t0\t0\t0\t0"
                            );
                            samples += 1;
                            self.now_s += wall_ns as f64 / 1e9;
                        }
                    }
                }
            }
        }
        let _ = writeln!(text, "done\t{samples}");
        (text, End::Exit(0))
    }
}

/// A run on a simulated machine.
struct Simulation<'a> {
    machine: Machine<'a>,
    observed: Observed<'a>,
    actions: usize,
    done: Done,
}

impl Simulation<'_> {
    fn count(&mut self) {
        self.actions += 1;
        assert!(
            self.actions < MOST_ACTIONS,
            "the run has not ended after {MOST_ACTIONS} actions"
        );
    }

    fn keep(&mut self, why: &str, what: DecisionKind) {
        self.done.state.apply(&what).unwrap();
        self.done.decisions.push(Decision {
            time: String::new(),
            why: why.to_owned(),
            what,
        });
    }
}

impl Executor for Simulation<'_> {
    fn moment(&self) -> Moment<'_> {
        Moment {
            state: &self.done.state,
            forecast: &self.observed,
            spent_s: self.machine.now_s,
            launches: self.done.records.len(),
        }
    }

    fn decide(&mut self, why: &'static str, what: DecisionKind) -> Step {
        self.count();
        self.keep(why, what);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Step {
        self.count();
        let Done { state, records, .. } = &self.done;
        let is_open = |cell: &usize| state.cells[*cell].outcome.is_none();
        let cells: Vec<usize> = launch.cells.iter().copied().filter(is_open).collect();
        if cells.is_empty() {
            return Ok(());
        }
        let begun_s = self.machine.now_s;
        let limit_s = limit_s(state, launch);
        let (record, read) = self
            .machine
            .launch(state, launch, cells, (records.len(), limit_s));
        self.done.last_s = (begun_s, self.machine.now_s);
        if matches!(record.sides[0].end, End::TimeLimit(_)) && launch.at_most_s == Some(limit_s) {
            let launch_groups = vec![launch.launch_group];
            let reason = LeftOut::TooLong;
            self.keep(
                "",
                DecisionKind::LeftOut {
                    launch_groups,
                    reason,
                },
            );
        } else {
            if launch.block < 0 {
                self.observed.samples_ns = samples_ns(&record, &read);
            }
            let broken = read.iter().find_map(judge::evidence::launch::broken);
            for (why, what) in lessons(&self.done.state, &record, &read, launch, broken.as_deref())
            {
                self.keep(why, what);
            }
        }
        self.observed.evidence.add(&self.done.state, &record, &read);
        self.done.records.push(record);
        self.done.transcripts.push(read);
        Ok(())
    }
}

fn samples_ns(record: &LaunchRecord, read: &Read) -> BTreeMap<usize, f64> {
    let samples = read
        .iter()
        .flatten()
        .flat_map(|transcript| &transcript.samples)
        .filter(|s| s.round >= 0);
    let mut by_cell = BTreeMap::new();
    for sample in samples {
        *by_cell
            .entry(record.cells[sample.cell as usize])
            .or_insert(0.0) += sample.counts.wall_ns as f64;
    }
    by_cell
        .into_iter()
        .map(|(cell, sum)| (cell, sum / f64::from(record.rounds)))
        .collect()
}

/// The plan of a recorded run, whose methods only have to take time.
pub fn plan(change: impl Fn(&mut Plan)) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/runs/ordinary");
    let mut plan = RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere"))
        .unwrap()
        .plan()
        .unwrap();
    plan.experiments
        .iter_mut()
        .for_each(|e| e.content = Content::None);
    plan.cells
        .iter_mut()
        .for_each(|c| c.method.laws = Default::default());
    (
        plan.min_launches,
        plan.max_launches,
        plan.precision,
        plan.budget_s,
    ) = (6, 40, 0.01, 60.0);
    change(&mut plan);
    plan
}

/// Another method of the first launch group.
pub fn add_method(plan: &mut Plan, name: &str) {
    let mut cell = plan.cells[0].clone();
    (cell.cell.method, cell.twin) = (name.to_owned(), false);
    plan.launch_groups[0].cells.push(plan.cells.len());
    plan.cells.push(cell);
}

/// A cell of 1 GiB with a launch group of its own.
pub fn add_slow(plan: &mut Plan, experiment: &str, method: &str) {
    let mut cell = plan.cells[0].clone();
    (cell.cell.experiment, cell.cell.method, cell.twin) =
        (experiment.to_owned(), method.to_owned(), false);
    cell.cell
        .parameters
        .insert("bytes".to_owned(), (1_u64 << 30).to_string());
    let cells = vec![plan.cells.len()];
    plan.cells.push(cell);
    plan.launch_groups.push(LaunchGroup {
        experiment: experiment.to_owned(),
        cells,
        fresh: false,
    });
}

/// Another experiment before the others, with the cells of the first launch group.
pub fn add_experiment(plan: &mut Plan, name: &str) {
    let mut first = plan.experiments[plan.experiments.len() - 1].clone();
    first.name = name.to_owned();
    plan.experiments.insert(0, first);
    plan.baselines
        .insert(name.to_owned(), plan.baselines["fault"].clone());
    let from = plan.cells.len();
    for cell in plan.launch_groups[0].cells.clone() {
        let mut cell = plan.cells[cell].clone();
        cell.cell.experiment = name.to_owned();
        plan.cells.push(cell);
    }
    let cells = (from..plan.cells.len()).collect();
    plan.launch_groups.push(LaunchGroup {
        experiment: name.to_owned(),
        cells,
        fresh: false,
    });
}

/// The cells of the first launch group under a neighboring condition, where `populate-write` has another name.
pub fn add_condition(plan: &mut Plan, name: &str) {
    let experiment = &mut plan.experiments[0];
    let mut parameter = experiment.parameters["release"].clone();
    (parameter.condition, parameter.option) = (true, false);
    parameter.when = ["dontneed", "kept"]
        .map(|value| (value.to_owned(), format!("it is {value}")))
        .into();
    (parameter.default, parameter.look) = (vec!["dontneed".to_owned()], Vec::new());
    experiment
        .parameters
        .insert("release".to_owned(), parameter);
    let from = plan.cells.len();
    for cell in plan.launch_groups[0].cells.clone() {
        let mut cell = plan.cells[cell].clone();
        cell.cell
            .parameters
            .insert("release".to_owned(), "kept".to_owned());
        if cell.cell.method == "populate-write" {
            cell.cell.method = name.to_owned();
        }
        plan.cells.push(cell);
    }
    let (experiment, cells) = (
        plan.launch_groups[0].experiment.clone(),
        (from..plan.cells.len()).collect(),
    );
    plan.launch_groups.push(LaunchGroup {
        experiment,
        cells,
        fresh: false,
    });
}
