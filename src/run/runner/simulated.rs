//! The runner and its strategy, driven by a worker that is none: it reads requests and answers with transcripts whose times are
//! made up, on a clock of its own. Nothing is timed, so nothing depends on how busy the machine is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use judge::claims::Wanted;
use judge::evidence::Evidence;
use record::cell::Cell;
use record::end::End;
use record::experiment::Content;
use record::folder::RunFolder;
use record::method::Role;
use record::outcome::Status;
use record::plan::Plan;
use record::state::State;
use record::transcript::COLUMNS;
use stats::rng::Seeded;

use super::{Questions, Runner};
use crate::run::launch::{Ended, Launcher, Side};
use crate::run::patience::TimeLimit;
use crate::run::progress::Progress;
use crate::run::signals::Signals;
use crate::worker::Worker;

/// What starting a process takes, in nanoseconds.
const START_NS: f64 = 2e6;

/// How the cells of a method behave.
#[derive(Clone, Copy)]
enum Manner {
    /// A phase takes so many nanoseconds, give or take this share from launch to launch.
    Takes(f64, f64),
    /// The whole process is killed when its turn comes.
    Dies,
    /// It says that the machine lacks something.
    Skips,
}

/// A worker that only answers.
struct Simulated {
    manners: BTreeMap<String, Manner>,
    phases: Vec<String>,
    random: Seeded,
    now_ns: f64,
}

impl Launcher for Simulated {
    fn begin(&mut self) {}

    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.now_ns / 1e9)
    }

    fn launch(&mut self, sides: &[Side], limit: TimeLimit, _: &Signals) -> Result<Ended> {
        let (begun, mut ends) = (self.now_ns, Vec::new());
        self.now_ns += START_NS;
        for side in sides {
            let (mut transcript, mut end) = self.answer(&fs::read_to_string(side.request)?);
            if self.now_ns - begun > limit.duration().as_secs_f64() * 1e9 {
                self.now_ns = begun + limit.duration().as_secs_f64() * 1e9;
                (transcript, end) = (String::new(), End::TimeLimit(limit.duration().as_secs()));
            }
            fs::write(side.transcript, transcript)?;
            fs::write(side.messages, "")?;
            ends.push(end);
        }
        Ok(Ended { ends, wall: Duration::from_secs_f64((self.now_ns - begun) / 1e9) })
    }
}

impl Simulated {
    fn answer(&mut self, request: &str) -> (String, End) {
        let value = |key: &'static str| values(request, key);
        let methods: Vec<String> = value("method").map(str::to_owned).collect();
        let mut text = format!("pagewise\t1\tc-O3\ncolumns\tslot\tround\tcell\tphase\t{}\n", COLUMNS.join("\t"));
        // What differs from process to process is drawn once for each cell of a launch.
        let shifts: Vec<f64> = methods.iter().map(|_| 2.0 * self.random.unit() - 1.0).collect();
        let mut skipped = vec![false; methods.len()];
        let (mut slot, mut samples) = (0, 0);
        let warmup = value("warmup").map(|l| (true, l.to_owned()));
        let rounds: Vec<_> = warmup.chain(value("round").map(|l| (false, l.to_owned()))).collect();
        for (is_warmup, line) in rounds {
            let Some((number, order)) = line.split_once(' ') else { continue };
            let round = number.parse::<i32>().unwrap() * if is_warmup { -1 } else { 1 };
            for cell in order.split(',').filter_map(|c| c.parse::<usize>().ok()) {
                slot += 1;
                match self.manners[&methods[cell]] {
                    Manner::Dies => return (text, End::Signal(9)),
                    Manner::Skips if !skipped[cell] => {
                        skipped[cell] = true;
                        let _ = writeln!(text, "skip\t{cell}\tthere is no pool here");
                    }
                    Manner::Skips => {}
                    Manner::Takes(ns, share) => {
                        let wall_ns = (ns * (1.0 + share * shifts[cell])) as u64;
                        for phase in self.phases.clone() {
                            let start = self.now_ns as u64;
                            let _ = writeln!(
                                text,
                                "sample\t{slot}\t{round}\t{cell}\t{phase}\t1\t4096\t{start}\t{wall_ns}\t{wall_ns}\t0\t0\t0\t0\t0\t0"
                            );
                            samples += 1;
                            self.now_ns += wall_ns as f64;
                        }
                    }
                }
            }
        }
        let _ = writeln!(text, "done\t{samples}");
        (text, End::Exit(0))
    }
}

/// What a request says of a key, line by line.
fn values<'a>(request: &'a str, key: &'static str) -> impl Iterator<Item = &'a str> {
    request.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix('='))
}

/// The plan of a recorded run, whose methods only have to take time.
fn plan(change: impl Fn(&mut Plan)) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary");
    let mut plan = RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere")).unwrap().plan().unwrap();
    plan.run = format!("simulated-{}", std::process::id());
    plan.experiments.iter_mut().for_each(|e| e.content = Content::None);
    plan.cells.iter_mut().for_each(|c| c.method.laws = Default::default());
    (plan.min_launches, plan.max_launches, plan.precision, plan.budget_s) = (6, 40, 0.01, 60.0);
    change(&mut plan);
    plan
}

const STEADY: [(&str, Manner); 3] = [
    ("touch", Manner::Takes(1e6, 0.0)),
    ("populate-write", Manner::Takes(5e5, 0.0)),
    ("null", Manner::Takes(1e3, 0.0)),
];

/// A whole run of a plan in a folder of its own, which is there for as long as the result.
fn run(plan: Plan, manners: &[(&str, Manner)]) -> (State, Evidence, RunFolder, tempfile::TempDir) {
    run_asking(plan, manners, None)
}

/// The same, made to answer these questions.
fn run_asking(
    plan: Plan,
    manners: &[(&str, Manner)],
    questions: Option<&dyn Questions>,
) -> (State, Evidence, RunFolder, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(&place.path().join("run")).unwrap();
    let mut all: BTreeMap<String, Manner> = STEADY.map(|(name, manner)| (name.to_owned(), manner)).into();
    all.extend(manners.iter().map(|(name, manner)| ((*name).to_owned(), *manner)));
    let phases = plan.cells[0].method.phases.clone();
    let launcher = Simulated { manners: all, phases, random: Seeded::new(3), now_ns: 0.0 };
    let (workers, signals) = ([Worker::simulated("c-O3")], Signals::watch().unwrap());
    folder.write_sealed("plan.json", &plan).unwrap();
    let runner = Runner::driving(plan, &folder, &workers, &signals, Progress::new(), Box::new(launcher)).unwrap();
    let (state, evidence) = runner.asking(questions).run().unwrap();
    (state, evidence, folder, place)
}

/// Has no word on two methods before they have been launched so often.
struct UntilLaunched(Vec<Cell>, usize);

impl Questions for UntilLaunched {
    fn comparisons(&self) -> Vec<(Vec<Cell>, bool)> {
        vec![(self.0.clone(), true)]
    }

    fn open(&self, state: &State, evidence: &Evidence) -> Result<Vec<Wanted>> {
        let open = launches_of(state, evidence, &self.0[0].method) < self.1;
        let wanted = Wanted { cells: self.0.clone(), launches: self.1, decides: true, likely: true };
        Ok(if open { vec![wanted] } else { Vec::new() })
    }
}

/// The code of the note by which an experiment ended.
fn ending(state: &State) -> String {
    let notes = &state.ended.as_ref().unwrap().notes;
    notes.iter().find(|n| n.experiment == "fault").map_or_else(String::new, |n| n.code.clone())
}

fn launches_of(state: &State, evidence: &Evidence, method: &str) -> usize {
    let cell = state.cells.iter().position(|c| c.cell.method == method && !c.twin).unwrap();
    evidence.cells.get(&cell).map_or(0, |c| c.launches.len())
}

#[test]
fn what_is_precise_at_once_has_the_least_launches() {
    let (state, evidence, folder, _place) = run(plan(|_| ()), &[]);
    assert_eq!((ending(&state).as_str(), launches_of(&state, &evidence, "touch")), ("precision-reached", 6));
    // The run can be told again from its folder, and nothing of it is damaged.
    let again = folder.state().unwrap();
    let read = Evidence::read(&again, &folder).unwrap();
    assert_eq!((read.damage.len(), launches_of(&again, &read, "touch")), (0, 6));
    assert_eq!(again.ended, state.ended);
}

#[test]
fn what_varies_is_launched_until_the_budget_ends_and_nothing_is_begun_that_it_has_no_time_for() {
    let wild = [("touch", Manner::Takes(1e6, 0.4)), ("populate-write", Manner::Takes(5e5, 0.4))];
    let (state, evidence, folder, _place) = run(plan(|p| (p.budget_s, p.max_launches) = (2.0, 400)), &wild);
    assert_eq!(ending(&state), "budget-ended");
    assert!(launches_of(&state, &evidence, "touch") > 6);
    // A launch may take longer than its like did, but each was begun with time left for the shortest of them.
    let took: Vec<f64> = folder.launches().unwrap().records.iter().map(|r| r.wall_s).collect();
    let shortest = took.iter().copied().fold(f64::MAX, f64::min);
    let before_last: f64 = took[..took.len() - 1].iter().sum();
    assert!(before_last + shortest <= 2.0, "the last launch was begun {before_last} s into a budget of 2 s");
}

#[test]
fn the_most_launches_end_a_run_that_is_not_precise() {
    let wild = [("touch", Manner::Takes(1e6, 0.4)), ("populate-write", Manner::Takes(5e5, 0.4))];
    let (state, evidence, ..) = run(plan(|p| p.max_launches = 9), &wild);
    assert_eq!((ending(&state).as_str(), launches_of(&state, &evidence, "touch")), ("launches-ended", 9));
}

#[test]
fn what_is_precise_leaves_the_launches_and_what_it_is_held_against_stays() {
    let third = plan(|p| {
        let mut cell = p.cells[0].clone();
        (cell.cell.method, cell.twin) = ("wild".to_owned(), false);
        p.cells.push(cell);
        let number = p.cells.len() - 1;
        p.launch_groups[0].cells.push(number);
        p.max_launches = 20;
    });
    let (state, evidence, folder, _place) = run(third, &[("wild", Manner::Takes(7e5, 0.4))]);
    let launches = ["populate-write", "wild", "touch"].map(|method| launches_of(&state, &evidence, method));
    assert_eq!(launches, [6, 20, 20]);
    let last = folder.launches().unwrap().records.pop().unwrap();
    let twin = state.cells.iter().position(|c| c.twin).unwrap();
    assert!(last.cells.contains(&twin), "the A/A check goes on: {:?}", last.cells);
    // Its interval was chosen for being short, so it has the level of what precision ends, though the run ended otherwise.
    assert_eq!(ending(&state), "launches-ended");
    let summary = judge::summarise(&state, &evidence, judge::Circumstances::default()).unwrap();
    let levels = ["populate-write", "wild"].map(|method| {
        let cell = summary.cells.iter().position(|c| c.method == method && !c.hidden).unwrap();
        let mut all = summary.groups.iter().flat_map(|group| &group.comparisons);
        all.find(|c| c.cell == cell).and_then(|c| c.ratio.as_ref()).unwrap().level
    });
    assert_eq!(levels, [0.968, 0.95]);
    // What is claimed of it among the two methods rests on the same launches.
    let best = &summary.groups[0].best[0];
    let claim = best.over_baseline.unwrap();
    assert_eq!(
        (best.leader, best.ranked),
        (state.cells.iter().position(|c| c.cell.method == "populate-write").unwrap(), 3)
    );
    assert!((claim.level - 0.968_f64.sqrt()).abs() < 1e-9, "{claim:?}");
}

/// A run with such best possibles; which cell is it in the end, the warnings, and the largest share of it.
fn with_limits(manners: &[(&str, Manner)]) -> (String, Vec<String>, f64) {
    let limited = plan(|p| {
        for (name, _) in manners.iter().filter(|(name, _)| name.starts_with("limit")) {
            let mut cell = p.cells[0].clone();
            (cell.cell.method, cell.twin, cell.method.role) = ((*name).to_owned(), false, Role::Limit);
            p.cells.push(cell);
            let number = p.cells.len() - 1;
            p.launch_groups[0].cells.push(number);
        }
    });
    let (state, evidence, ..) = run(limited, manners);
    let summary = judge::summarise(&state, &evidence, judge::Circumstances::default()).unwrap();
    let best = summary.groups.iter().find_map(|g| g.best_possible).unwrap();
    let told = summary.warnings.iter().filter(|w| w.code == "best-possible-beaten").map(|w| w.seen.clone());
    let headline = &summary.experiments[0].headline;
    let shares = summary.cells.iter().filter_map(|c| c.phases.get(headline)?.of_best_possible);
    (summary.cells[best].method.clone(), told.collect(), shares.map(|s| s.ratio).fold(0.0, f64::max))
}

#[test]
fn a_best_possible_that_is_beaten_gives_its_place_to_the_winner_and_is_told() {
    let (best, told, largest) = with_limits(&[("limit", Manner::Takes(1e5, 0.0))]);
    assert_eq!((best.as_str(), told.len()), ("limit", 0));
    assert!((0.1..=1.0).contains(&largest), "{largest}");
    let (best, told, largest) = with_limits(&[("limit", Manner::Takes(7e5, 0.0))]);
    assert_eq!(best, "populate-write");
    assert!(told.len() == 1 && told[0].contains("populate-write"), "{told:?}");
    assert!((0.5..=1.0).contains(&largest), "nothing takes less than what is called the least: {largest}");
}

#[test]
fn what_has_no_word_goes_on_alone_until_it_has_one() {
    let more = || {
        plan(|p| {
            let mut cell = p.cells[0].clone();
            (cell.cell.method, cell.twin) = ("wild".to_owned(), false);
            p.cells.push(cell);
            let number = p.cells.len() - 1;
            p.launch_groups[0].cells.push(number);
            p.max_launches = 100;
        })
    };
    let cells = ["touch", "wild"].map(|m| more().cells.into_iter().map(|p| p.cell).find(|c| c.method == m).unwrap());
    let asked = UntilLaunched(cells.to_vec(), 17);
    let wild = [("wild", Manner::Takes(7e5, 0.4))];
    let (state, evidence, ..) = run_asking(more(), &wild, Some(&asked));
    let launches = ["populate-write", "wild", "touch"].map(|method| launches_of(&state, &evidence, method));
    assert_eq!(launches, [6, 17, 17]);
    let notes = &state.ended.as_ref().unwrap().notes;
    assert!(notes.iter().any(|n| n.code == "questions-ended" && n.text.starts_with("every comparison")), "{notes:?}");
    // A look that the time does not hold is not begun.
    let short = || Plan { budget_s: 0.4, ..more() };
    let (state, evidence, folder, _place) = run_asking(short(), &wild, Some(&UntilLaunched(cells.to_vec(), 90)));
    let spent_s: f64 = folder.launches().unwrap().records.iter().map(|r| r.wall_s).sum();
    assert!(spent_s <= 0.4 && launches_of(&state, &evidence, "wild") < 90, "{spent_s} s");
}

#[test]
fn of_two_limits_the_lesser_is_the_best_possible_however_few_launches_they_have() {
    // A launch has one round, and a limit takes part in one of four: there is no interval.
    let slow = [("touch", 1e8), ("populate-write", 8e7), ("limit-first", 7e7), ("limit-second", 5e7)];
    let (best, told, _) = with_limits(&slow.map(|(name, ns)| (name, Manner::Takes(ns, 0.0))));
    assert_eq!((best.as_str(), told.len()), ("limit-second", 0));
}

#[test]
fn a_cell_that_kills_its_process_is_found_by_trying_each_alone() {
    let (state, evidence, folder, _place) = run(plan(|_| ()), &[("populate-write", Manner::Dies)]);
    let dead = state.cells.iter().find(|c| c.cell.method == "populate-write").unwrap();
    let outcome = dead.outcome.as_ref().unwrap();
    assert!(outcome.status == Status::Failed && outcome.reason.contains("SIGKILL"), "{outcome:?}");
    assert!(state.cells.iter().filter(|c| c.cell.method == "touch").all(|c| c.outcome.is_none()));
    assert_eq!(launches_of(&state, &evidence, "touch"), 6);
    let splits = fs::read_to_string(folder.file("decisions.jsonl")).unwrap().matches("\"decision\":\"split\"").count();
    assert_eq!(splits, 1);
}

#[test]
fn a_skipped_cell_has_its_reason_and_the_rest_goes_on() {
    let (state, evidence, ..) = run(plan(|_| ()), &[("populate-write", Manner::Skips)]);
    let skipped = state.cells.iter().find(|c| c.cell.method == "populate-write").unwrap();
    assert_eq!(
        skipped.outcome.as_ref().map(|o| (o.status, o.reason.as_str())),
        Some((Status::Skipped, "there is no pool here"))
    );
    assert_eq!(launches_of(&state, &evidence, "touch"), 6);
}

#[test]
fn where_nothing_that_is_ranked_can_run_the_end_says_so() {
    let skips = [("touch", Manner::Skips), ("populate-write", Manner::Skips)];
    let (state, ..) = run(plan(|_| {}), &skips);
    let notes = &state.ended.as_ref().unwrap().notes;
    assert!(notes.iter().any(|note| note.text == "nothing that is ranked could be measured"), "{notes:?}");
}

#[test]
fn a_comparison_that_the_budget_does_not_hold_is_left_to_a_longer_one() {
    let slow = |budget_s: f64| {
        plan(move |p| {
            add_slow(p, "fault", "slow");
            p.budget_s = budget_s;
        })
    };
    let manner = [("slow", Manner::Takes(3e9, 0.0))];
    let (state, evidence, folder, _place) = run(slow(60.0), &manner);
    assert_eq!((launches_of(&state, &evidence, "slow"), launches_of(&state, &evidence, "touch")), (0, 6));
    // Its pilot was cut, and nothing was concluded from that.
    assert!(state.cells.iter().all(|c| c.outcome.is_none()));
    let spent_s: f64 = folder.launches().unwrap().records.iter().map(|r| r.wall_s).sum();
    assert!(spent_s < 30.0, "{spent_s} s");
    let (state, evidence, ..) = run(slow(6000.0), &manner);
    assert!(launches_of(&state, &evidence, "slow") >= 6);
}

#[test]
fn where_the_time_holds_few_launches_of_a_long_job_its_pilot_is_one_of_them() {
    let long = |budget_s: f64| {
        plan(move |p| {
            p.budget_s = budget_s;
            add_slow(p, "fault", "slow");
        })
    };
    let blocks = |folder: &RunFolder| -> Vec<i32> {
        let of_slow = |r: &record::launches::LaunchRecord| r.launch_group == 1;
        folder.launches().unwrap().records.iter().filter(|r| of_slow(r)).map(|r| r.block).collect()
    };
    let phases = long(40.0).cells[0].method.phases.len() as f64;
    let manner = [("slow", Manner::Takes(2e9 / phases, 0.0))];
    let (state, evidence, folder, _place) = run(long(40.0), &manner);
    let made = blocks(&folder);
    assert_eq!(made, (0..made.len() as i32).collect::<Vec<_>>(), "no pilot beside the launches");
    assert!(made.len() >= 6 && launches_of(&state, &evidence, "slow") == made.len(), "{made:?}");
    let records = folder.launches().unwrap().records;
    assert!(records.iter().filter(|r| r.launch_group == 1).all(|r| r.rounds == 1), "all are of one kind");
    // Where there is time for as many as one likes, what they hold is chosen by a pilot.
    let (_, _, folder, _place) = run(long(600.0), &manner);
    assert_eq!(blocks(&folder)[0], -1);
}

/// A cell of 1 GiB with a launch group of its own.
fn add_slow(p: &mut Plan, experiment: &str, method: &str) {
    let mut cell = p.cells[0].clone();
    (cell.cell.experiment, cell.cell.method, cell.twin) = (experiment.to_owned(), method.to_owned(), false);
    cell.cell.parameters.insert("bytes".to_owned(), (1_u64 << 30).to_string());
    p.cells.push(cell);
    let cells = vec![p.cells.len() - 1];
    p.launch_groups.push(record::plan::LaunchGroup { experiment: experiment.to_owned(), cells, fresh: false });
}

/// Another experiment before the others, with the cells of the first launch group.
fn add_experiment(p: &mut Plan, name: &str) {
    let mut first = p.experiments[p.experiments.len() - 1].clone();
    first.name = name.to_owned();
    p.experiments.insert(0, first);
    p.baselines.insert(name.to_owned(), p.baselines["fault"].clone());
    for cell in p.launch_groups[0].cells.clone() {
        let mut cell = p.cells[cell].clone();
        cell.cell.experiment = name.to_owned();
        p.cells.push(cell);
    }
    let cells = (p.cells.len() - p.launch_groups[0].cells.len()..p.cells.len()).collect();
    p.launch_groups.push(record::plan::LaunchGroup { experiment: name.to_owned(), cells, fresh: false });
}

#[test]
fn what_was_left_out_is_tried_again_and_what_is_through_soonest_comes_first_whosever_it_is() {
    let three = plan(|p| {
        p.experiments[0].budget_s = Some(10.0);
        add_experiment(p, "second");
        add_experiment(p, "first");
        add_slow(p, "first", "slower");
        add_slow(p, "second", "slow");
        p.budget_s = 100.0;
    });
    let phases = three.cells[0].method.phases.len() as f64;
    // Neither fits into a third of the time, and both together do not fit into all of it.
    let manners = [("slower", Manner::Takes(14e9 / phases, 0.0)), ("slow", Manner::Takes(9e9 / phases, 0.0))];
    let (state, evidence, folder, _place) = run(three, &manners);
    let launches = |method: &str| launches_of(&state, &evidence, method);
    assert!(launches("slow") >= 4 && launches("slower") < 4, "{} and {}", launches("slow"), launches("slower"));
    let spent_s: f64 = folder.launches().unwrap().records.iter().map(|r| r.wall_s).sum();
    assert!(spent_s <= 100.0, "{spent_s} s");
}

#[test]
fn what_one_experiment_leaves_over_goes_to_what_another_had_no_room_for() {
    let two = plan(|p| {
        p.experiments[0].budget_s = Some(10.0);
        add_experiment(p, "other");
        add_slow(p, "other", "slow");
        p.budget_s = 100.0;
    });
    let phases = two.cells[0].method.phases.len() as f64;
    // A launch takes 12 s: half of the time does not hold what an interval needs, and nearly all of it does.
    let (state, evidence, folder, _place) = run(two, &[("slow", Manner::Takes(12e9 / phases, 0.0))]);
    assert!(launches_of(&state, &evidence, "slow") >= 4, "{}", launches_of(&state, &evidence, "slow"));
    let spent_s: f64 = folder.launches().unwrap().records.iter().map(|r| r.wall_s).sum();
    assert!(spent_s <= 100.0, "{spent_s} s");
    let of_other = state.ended.as_ref().unwrap().notes.iter().filter(|n| n.experiment == "other").count();
    assert_eq!(of_other, 1, "an experiment has one end");
}

#[test]
fn several_experiments_take_turns_and_all_have_their_least_before_one_has_more() {
    let two = plan(|p| {
        add_experiment(p, "other");
        (p.budget_s, p.max_launches) = (6.0, 400);
    });
    let wild = [("touch", Manner::Takes(1e6, 0.4)), ("populate-write", Manner::Takes(5e5, 0.4))];
    let (state, _, folder, _place) = run(two, &wild);
    let judged: Vec<usize> =
        folder.launches().unwrap().records.iter().filter(|r| r.block >= 0).map(|r| r.launch_group).collect();
    let visits: Vec<usize> = judged.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    assert_eq!(visits.len(), 6, "the least of both, then two visits each: {visits:?}");
    assert_eq!(visits[..2], [4, 4]);
    assert!(visits[2..].iter().all(|launches| *launches > 1), "{visits:?}");
    assert_eq!(state.ended.as_ref().unwrap().notes.iter().filter(|n| n.code == "budget-ended").count(), 2);
}

#[test]
fn a_run_is_gone_on_with_where_it_was_left() {
    let first = plan(|p| p.max_launches = 3);
    let (_, _, folder, _place) = run(first.clone(), &[]);
    let before = folder.launches().unwrap().records.len();
    let more = Plan { max_launches: 8, ..first };
    let phases = more.cells[0].method.phases.clone();
    let manners = STEADY.map(|(name, manner)| (name.to_owned(), manner)).into();
    let launcher = Simulated { manners, phases, random: Seeded::new(4), now_ns: 0.0 };
    let (workers, signals) = ([Worker::simulated("c-O3")], Signals::watch().unwrap());
    let runner = Runner::driving(more, &folder, &workers, &signals, Progress::new(), Box::new(launcher)).unwrap();
    let (state, evidence) = runner.run().unwrap();
    let all = folder.launches().unwrap();
    assert!(all.damage.is_empty() && all.records.len() > before);
    let numbers: Vec<usize> = all.records.iter().map(|r| r.launch).collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    assert!(launches_of(&state, &evidence, "touch") >= 6);
}
