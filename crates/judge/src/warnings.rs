//! Every doubt has a name, a test and advice. They flag; they never correct a figure. Notes are of a run as a whole.

use crate::checks::LawSeen;
use crate::evidence::{CellEvidence, CellLaunch, Evidence};
use crate::flags::{self, Flag, interrupted_share};
use record::concern::{COLD, Concern, DROPPED};
use record::machine_state::{LostProof, ProofMoment};
use record::summary::{AaCheck, CellSummary, Note, Role, Summary, Warning};
use record::{command::KeptCommand, experiment::Experiment, outcome::Status, sizes::format_ns, state::State};
use stats::steady::Label;
use std::collections::BTreeMap;

/// The share of rounds with an involuntary switch above which a cell is flagged.
const INTERRUPTED_SHARE: f64 = 0.25;
/// Share of a cell's launches or samples that may be flagged without a warning: no median feels it.
const TOLD_SHARE: f64 = 0.05;
/// The share of a busy process's time that may be taken from it before it is told.
const TAKEN_SHARE: f64 = 0.02;
/// A clock read above this cost, in nanoseconds, asks the kernel or the hypervisor each time.
const SLOW_CLOCK_NS: f64 = 200.0;
/// CPUs that other processes may use before it is told.
const BUSY_CPUS: f64 = 0.2;
/// CPUs that the kernel's memory threads may use before it is told.
const MEMORY_THREAD_CPUS: f64 = 0.02;
/// The share of a launch in which something waited for memory.
const PRESSURE_SHARE: f64 = 0.02;
/// The laboratory itself should take no more of a launch than this share.
const LABORATORY_SHARE: f64 = 0.01;
/// Shorter launches than this, in seconds, are mostly the start of a process.
const SHORT_LAUNCH_S: f64 = 0.1;

type Test = fn(&State, &Evidence, &Summary) -> Vec<Warning>;

/// All tests, in the order in which their warnings are shown.
const TESTS: [Test; 17] = [
    damaged, company, aa_differs, beaten, below_floor, interrupted, stolen, throttled, disturbed, laboratory, memory_pressure,
    unsteady, lost_states, levels, first_pass, before_the_run, absent_counters,
];

pub const THROTTLED: &str = "throttled";
pub const DAMAGED: &str = "damaged";

/// Runs every test.
pub fn all(state: &State, evidence: &Evidence, summary: &Summary) -> Vec<Warning> {
    TESTS.iter().flat_map(|test| test(state, evidence, summary)).collect()
}

/// Another run at the same time takes CPUs and bandwidth from both, in one round more than in the next.
fn company(state: &State, _: &Evidence, _: &Summary) -> Vec<Warning> {
    let seen = "another run was measuring on this machine at the same time".to_owned();
    let hint = "measure again, one run at a time";
    state.had_company.then(|| warning("another-run", "this machine", seen, hint)).into_iter().collect()
}

fn warning(code: &str, at: &str, seen: String, hint: &str) -> Warning {
    Warning { code: code.to_owned(), at: at.to_owned(), cells: Vec::new(), seen, hint: hint.to_owned() }
}

fn of_cell(state: &State, cell: usize, code: &str, seen: String, hint: &str) -> Warning {
    Warning { cells: vec![cell], ..warning(code, &state.cells[cell].cell.name(), seen, hint) }
}

fn damaged(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let hint = "these launches are left out; restore the folder from a copy, or measure again";
    let mut warnings: Vec<Warning> =
        evidence.damage.iter().map(|seen| warning(DAMAGED, "the record", seen.clone(), hint)).collect();
    warnings.extend(evidence.lost.map(|launch| {
        let seen = format!("launch {launch} was being written down when the run was killed, and is left out");
        warning("last-launch-lost", "the record", seen, "pagewise run --resume makes it again")
    }));
    warnings
}

fn aa_differs(_: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let differing = summary.groups.iter().filter_map(|g| g.aa.filter(|aa| aa.differs));
    let warning_of = |aa: AaCheck| {
        let seen = format!(
            "the baseline differs from its own duplicate ({:.3} to {:.3}), beyond chance among all A/A checks of the run",
            aa.ratio.low, aa.ratio.high
        );
        let at = summary.cells[aa.cell].cell.clone();
        let hint = "believe no ratio of this run; see pagewise doctor for what disturbs this machine, and raise --budget";
        Warning { cells: vec![aa.cell], ..warning("aa-differs", &at, seen, hint) }
    };
    differing.map(warning_of).collect()
}

fn beaten(_: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for group in &summary.groups {
        for &cell in group.cells.iter().filter(|c| summary.cells[**c].role == Role::Limit && Some(**c) != group.best_possible) {
            // That another limit took less is no surprise: they are candidates for one place.
            let winner = group.best_possible.map(|b| &summary.cells[b]).filter(|by| by.role != Role::Limit);
            let Some(by) = winner.map(|by| by.cell.clone()) else { continue };
            let seen = format!("it was meant as the least that this machine can take, but {by} took less");
            let at = summary.cells[cell].cell.clone();
            warnings.push(Warning {
                cells: vec![cell],
                ..warning("best-possible-beaten", &at, seen, "shares are of the faster one")
            });
        }
    }
    warnings
}

fn below_floor(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let is_method = |c: &CellSummary| c.status == Status::Ok && c.role == Role::Method && !c.hidden;
    let warning_of = |(index, cell): (usize, &CellSummary)| {
        let headline = state.plan.experiment(&cell.experiment).map_or("", |e| e.headline());
        cell.phases.get(headline).filter(|phase| phase.below_floor)?;
        let seen = format!("{headline} is below twice the floor (the null method), so it is not resolved");
        Some(of_cell(state, index, "below-floor", seen, "take larger sizes"))
    };
    summary.cells.iter().enumerate().filter(|(_, c)| is_method(c)).filter_map(warning_of).collect()
}

/// A warning of a test on cells: its name, observation and remedy.
type Doubt = (&'static str, String, &'static str);

/// The warnings of a test on every cell but hidden duplicates.
fn of_cells<D: IntoIterator<Item = Doubt>>(
    state: &State,
    evidence: &Evidence,
    test: impl Fn(usize, &CellEvidence) -> D,
) -> Vec<Warning> {
    let cells = evidence.cells.iter().filter(|(index, _)| !state.cells[**index].twin);
    let doubts = cells.flat_map(|(&index, cell)| test(index, cell).into_iter().map(move |doubt| (index, doubt)));
    doubts.map(|(index, (code, seen, hint))| of_cell(state, index, code, seen, hint)).collect()
}

fn interrupted(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        // A long round meets other processes on any machine; a short one only on a crowded one.
        let share = interrupted_share(cell).filter(|share| *share > INTERRUPTED_SHARE)?;
        let seen = format!("{:.0} % of its rounds were switched out: other processes want these CPUs", share * 100.0);
        Some(("interrupted", seen, "stop them; pagewise doctor --noise names them"))
    })
}

/// Cells whose absolute times are others' too.
fn stolen(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let seen = format!(
            "the hypervisor gave {:.0} % of the CPU time of its launches to others: its absolute times are theirs too, its ratios hold while the A/A check does",
            flags::stolen(cell)? * 100.0
        );
        Some((Flag::Steal.word(), seen, Flag::Steal.hint()))
    })
}

fn throttled(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let seen = format!(
            "a CPU quota of its control group kept it waiting for {:.0} % of its launches: its times are the quota's too",
            flags::throttled(cell)? * 100.0
        );
        Some((THROTTLED, seen, "measure in a group without a quota (cpu.max)"))
    })
}

/// Launches that a counter flags, by what it shows. Steal is told of a cell as a whole.
fn disturbed(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |index, cell| {
        let experiment = state.plan.experiment(&state.cells[index].cell.experiment);
        let huge_pages = experiment.and_then(|e| e.huge_pages.as_deref());
        let flags = cell.launches.iter().flat_map(|launch| flags::of_launch(cell, launch, huge_pages));
        let mut counts: BTreeMap<Flag, usize> = BTreeMap::new();
        flags.filter(|flag| *flag != Flag::Steal).for_each(|flag| *counts.entry(flag).or_insert(0) += 1);
        let launches = cell.launches.len();
        counts.retain(|_, count| *count as f64 > TOLD_SHARE * launches as f64);
        let doubt = move |(flag, count): (Flag, usize)| {
            (flag.word(), format!("in {count} of {launches} launches {}", flag.seen()), flag.hint())
        };
        counts.into_iter().map(doubt)
    })
}

/// Launches in which the laboratory itself took CPU time that belonged to the worker.
fn laboratory(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        // Starting and ending a worker costs a millisecond or two whatever the launch does, and disturbs nothing.
        let disturbs = |l: &&CellLaunch| l.wall_s > SHORT_LAUNCH_S && l.laboratory_cpu_s > LABORATORY_SHARE * l.wall_s;
        let (count, all) = (cell.launches.iter().filter(disturbs).count(), cell.launches.len());
        let share = LABORATORY_SHARE * 100.0;
        let seen = format!("in {count} of {all} launches Pagewise itself used more than {share:.0} % of a CPU");
        let hint = "close what makes it work, such as a slow terminal";
        (count as f64 > TOLD_SHARE * all as f64).then_some(("laboratory", seen, hint))
    })
}

fn memory_pressure(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let waited = |l: &&CellLaunch| {
            let waited_us = l.noise.as_ref().and_then(|n| n.pressure_us.get("memory_some")).copied().unwrap_or(0);
            waited_us as f64 / 1e6 > PRESSURE_SHARE * l.wall_s
        };
        let (count, all) = (cell.launches.iter().filter(waited).count(), cell.launches.len());
        let seen =
            format!("in {count} of {all} launches something waited for memory for more than 2 % of the time (memory pressure)");
        (2 * count > all).then_some(("memory-pressure", seen, "free some, or take smaller sizes"))
    })
}

fn unsteady(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let warning_of = |(index, cell): (usize, &CellSummary)| {
        let steady = cell.steady.as_ref()?;
        let how = match steady.label {
            Label::Drifting => "its level moved during most launches",
            Label::TwoLevel => "it jumped between two levels during most launches",
            Label::Steady | Label::Short => return None,
        };
        let shift = steady.shift.map_or_else(String::new, |s| format!(" (last third / first third: {s:.2})"));
        let seen = format!("{how}{shift}: ratios are paired round by round and hold, single figures are an average of it");
        Some(of_cell(state, index, "unsteady", seen, ""))
    };
    summary.cells.iter().enumerate().filter(|(_, c)| !c.hidden).filter_map(warning_of).collect()
}

/// A broken proof of a state: `pswpout rose by 0, at least 1 is due`.
pub(crate) fn broken_proof(lost: &LostProof) -> String {
    let LostProof { proof, value } = lost;
    let seen = match (value, proof.at) {
        (None, _) => "was not reported".to_owned(),
        (Some(value), ProofMoment::Rise) => format!("rose by {value}"),
        (Some(value), _) => format!("was {value}"),
    };
    let bounds = [("at least", proof.at_least), ("at most", proof.at_most)];
    let due = bounds.iter().filter_map(|(words, bound)| Some(format!("{words} {}", (*bound)?))).collect::<Vec<_>>();
    format!("{} {seen}, {} is due", proof.counter, due.join(" and "))
}

fn lost_states(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, (lost, proof)) in evidence.lost_states.iter().filter(|(index, _)| !state.cells[**index].twin) {
        let judged = evidence.cells.get(index).map_or(0, |cell| cell.launches.len());
        let seen = format!("the machine lost the state in {lost} of {} launches: {}", lost + judged, broken_proof(proof));
        warnings.push(of_cell(state, *index, "state-lost", seen, "these launches are left out"));
    }
    warnings
}

fn before_the_run(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let Some(seen) = &evidence.preflight else { return Vec::new() };
    let mut warnings = Vec::new();
    let mut doubt = |code: &str, seen: String, hint: &str| warnings.push(warning(code, "this machine", seen, hint));
    if seen.lost_share() > TAKEN_SHARE {
        doubt(
            "cpu-taken",
            format!(
                "{:.1} % of a busy process's time was taken from it before the run, at most {} at a time: ratios are paired and hold, tails (p99) are the machine's",
                seen.lost_share() * 100.0,
                format_ns(seen.gaps.iter().map(|gaps| gaps.largest_gap_ns).max().unwrap_or(0) as f64)
            ),
            "stop other work; see pagewise doctor --noise",
        );
    }
    if seen.clock_read_ns() > SLOW_CLOCK_NS {
        doubt(
            "slow-clock",
            format!("one clock read costs {}, so short phases are mostly that", format_ns(seen.clock_read_ns())),
            "choose a faster clocksource, such as tsc",
        );
    }
    if seen.busy_cpus > BUSY_CPUS {
        let names: Vec<String> = seen.busy.iter().take(3).map(|b| format!("{} {:.1}", b.name, b.cpus)).collect();
        doubt(
            "busy-processes",
            format!("other processes used {:.1} CPUs before the run ({})", seen.busy_cpus, names.join(", ")),
            "stop them",
        );
    }
    if seen.memory_threads.iter().map(|thread| thread.cpus).sum::<f64>() > MEMORY_THREAD_CPUS {
        let names: Vec<String> = seen.memory_threads.iter().map(|t| format!("{} {:.2}", t.name, t.cpus)).collect();
        doubt(
            "memory-threads",
            format!(
                "the kernel's own memory threads ran before the run ({} CPUs); they move or take back pages that are measured",
                names.join(", ")
            ),
            "",
        );
    }
    warnings
}

fn levels(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let laws = cell.checks.laws.values().filter(|law| law.level && law.broken > 0);
        let doubt = |law: &LawSeen| {
            let (broken, samples) = (law.broken, law.samples);
            ("level", format!("{broken} of {samples} samples were off the expected level ({})", law.first), "")
        };
        laws.filter(|law| law.broken as f64 > TOLD_SHARE * law.samples as f64).map(doubt).collect::<Vec<_>>()
    })
}

/// A first pass that is so many times slower than the next ones found a cache cold that the next ones found warm.
const FIRST_PASS_FACTOR: f64 = 2.0;

/// Warm caches below the page cache: where it is emptied before every pass, a cache below it (the hypervisor's, the device's)
/// may stay warm. The first pass is the pilot's, which is kept apart from the figures in any case; here the difference is told.
fn first_pass(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, first) in &evidence.first_pass_ns {
        let planned = &state.cells[*index];
        let cold = state.plan.value(&planned.cell, Concern::PageCache).is_some_and(|c| [COLD, DROPPED].contains(&c));
        let Some(experiment) = state.plan.experiment(&planned.cell.experiment).filter(|_| cold && !planned.twin) else {
            continue;
        };
        let Some(measure) = experiment.measures().position(|m| m == experiment.headline()) else { continue };
        let launches = evidence.cells.get(index).map_or(&[][..], |c| &c.launches);
        let mut later: Vec<f64> = launches.iter().flat_map(|l| l.measures[measure].wall_ns.iter().copied()).collect();
        if let Some(usual) = stats::quantile::median(&mut later)
            && *first > FIRST_PASS_FACTOR * usual
        {
            let seen = format!(
                "its first pass took {}, the later ones {}: a cache below the page cache (hypervisor, device) stays warm; the figures are those of the later passes",
                format_ns(*first),
                format_ns(usual)
            );
            warnings.push(of_cell(state, *index, "first-pass", seen, ""));
        }
    }
    warnings
}

fn absent_counters(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    evidence.absent.iter().map(|(column, reason)| warning("counter-absent", column, reason.clone(), "")).collect()
}

const INTERRUPTED: &str = "interrupted";

/// The notes of a run.
pub fn notes(state: &State) -> Vec<Note> {
    let mut notes = state.ended.as_ref().map_or_else(Vec::new, |ended| ended.notes.clone());
    if state.ended.as_ref().is_none_or(|ended| ended.stopped_by.is_some()) {
        let text = format!("this run was interrupted; pagewise run --resume {} completes it", state.plan.run);
        notes.push(Note { code: INTERRUPTED.to_owned(), experiment: String::new(), text });
    }
    notes.extend(short(state));
    notes
}

/// Notes on each damage of a kept study of a command, and on its early end.
pub(crate) fn of_command(kept: &KeptCommand) -> impl Iterator<Item = Note> {
    let note = |code: &str, text| Note { code: code.to_owned(), experiment: String::new(), text };
    let damaged = kept.damage.iter().map(move |seen| note("damaged", format!("the record is damaged: {seen}")));
    let (kind, name) = (kept.plan.kind.word(), kept.path.file_name().unwrap_or_default().display());
    let text = format!("this {kind} was interrupted; pagewise {kind} --resume {name} with its command completes it");
    damaged.chain(kept.interrupted.then(|| note(INTERRUPTED, text)))
}

/// Experiments with less time than their default values need.
fn short(state: &State) -> impl Iterator<Item = Note> {
    let needed_s: f64 = state.plan.experiments.iter().map(Experiment::needed_s).sum();
    let short = state.plan.experiments.iter().filter(|e| state.plan.short && e.budget_s.is_some());
    short.map(move |e| {
        let text =
            format!("full grid: --budget {needed_s:.0}s; without it, and without --set, the overview's values are taken");
        Note { code: "short-budget".to_owned(), experiment: e.name.clone(), text }
    })
}
