//! Every doubt has a name, a test and advice. They flag; they never correct a figure. Notes are of a run as a whole.

use crate::contrast::groups::groups;
use crate::evidence::flags::{self, Flag, interrupted_share};
use crate::evidence::{CellEvidence, CellLaunch, Evidence};
use record::concern::{COLD, Concern, DROPPED};
use record::decision::{Ending, Reason, Width};
use record::summary::{
    CellSummary, EndedExperiment, LaunchCount, LeastPrecise, Note, NoteKind, Role, Summary,
    Warning, WarningKind,
};
use record::{
    cell::Cell, command::KeptCommand, experiment::Experiment, kind::Kind, outcome::Status,
    parameters::Parameters, plan::BATCH, state::State,
};
use stats::steady::Label;
use std::collections::{BTreeMap, BTreeSet};

/// The share of rounds with an involuntary switch above which a cell is flagged.
const INTERRUPTED_SHARE: f64 = 0.25;
/// Share of a cell's launches or samples that may be flagged without a warning: no median feels it.
const WARNED_SHARE: f64 = 0.05;
/// The share of a busy process's time that may be taken from it without a warning.
const TAKEN_SHARE: f64 = 0.02;
/// A clock read above this cost, in nanoseconds, asks the kernel or the hypervisor each time.
const SLOW_CLOCK_NS: f64 = 200.0;
/// CPUs that other processes may use without a warning.
const BUSY_CPUS: f64 = 0.2;
/// CPUs that the kernel's memory threads may use without a warning.
const MEMORY_THREAD_CPUS: f64 = 0.02;
/// The share of a launch in which something waited for memory.
const PRESSURE_SHARE: f64 = 0.02;

/// Busy processes that a warning names.
const MOST_NAMED: usize = 3;

type Test = fn(&State, &Evidence, &Summary) -> Vec<Warning>;

/// All tests, in the order in which their warnings are shown.
const TESTS: [Test; 12] = [
    damaged,
    another_run,
    aa_differs,
    beaten,
    below_floor,
    of_disturbed,
    unsteady,
    lost_states,
    levels,
    first_pass,
    before_the_run,
    absent_counters,
];

/// Runs every test.
pub fn of_run(state: &State, evidence: &Evidence, summary: &Summary) -> Vec<Warning> {
    TESTS
        .iter()
        .flat_map(|test| test(state, evidence, summary))
        .collect()
}

/// Another run at the same time takes CPUs and bandwidth from both, in one round more than in the next.
fn another_run(state: &State, _: &Evidence, _: &Summary) -> Vec<Warning> {
    state
        .had_contention
        .then(|| at("this machine", WarningKind::AnotherRun))
        .into_iter()
        .collect()
}

fn at(place: &str, kind: WarningKind) -> Warning {
    Warning {
        kind,
        at: place.to_owned(),
        cells: Vec::new(),
    }
}

fn of_cell(state: &State, cell: usize, kind: WarningKind) -> Warning {
    Warning {
        cells: vec![cell],
        ..at(&state.cells[cell].cell.name(), kind)
    }
}

fn damaged(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let damage = evidence
        .damage
        .iter()
        .map(|seen| WarningKind::Damaged { seen: seen.clone() });
    let lost = evidence
        .lost
        .map(|launch| WarningKind::LastLaunchLost { launch });
    damage
        .chain(lost)
        .map(|kind| at("the record", kind))
        .collect()
}

fn aa_differs(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let checks = summary.groups.iter().filter_map(|group| group.aa);
    checks
        .filter(|check| check.differs)
        .map(|check| {
            let kind = WarningKind::AaDiffers {
                low: check.ratio.low,
                high: check.ratio.high,
            };
            of_cell(state, check.cell, kind)
        })
        .collect()
}

fn beaten(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for group in &summary.groups {
        let Some(winner) = group.best_possible.map(|best| &summary.cells[best]) else {
            continue;
        };
        // That another limit took less is no surprise: they are candidates for one place.
        if winner.role == Role::Limit {
            continue;
        }
        for &cell in &group.cells {
            if summary.cells[cell].role == Role::Limit {
                let by = winner.cell.clone();
                warnings.push(of_cell(state, cell, WarningKind::BestPossibleBeaten { by }));
            }
        }
    }
    warnings
}

fn below_floor(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, cell) in shown(summary) {
        if cell.outcome.status != Status::Ok || cell.role != Role::Method {
            continue;
        }
        let Some(experiment) = state.plan.experiment(&cell.experiment) else {
            continue;
        };
        let phase = experiment.headline();
        if cell.phases.get(phase).is_some_and(|p| p.below_floor) {
            let kind = WarningKind::BelowFloor {
                phase: phase.to_owned(),
            };
            warnings.push(of_cell(state, index, kind));
        }
    }
    warnings
}

/// Cells of a summary but hidden duplicates, with their places.
fn shown(summary: &Summary) -> impl Iterator<Item = (usize, &CellSummary)> {
    summary
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| !cell.hidden)
}

/// The warnings of a test on every cell but hidden duplicates.
fn of_cells<D: IntoIterator<Item = WarningKind>>(
    state: &State,
    evidence: &Evidence,
    test: impl Fn(usize, &CellEvidence) -> D,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (&index, cell) in &evidence.cells {
        if !state.cells[index].twin {
            let kinds = test(index, cell).into_iter();
            warnings.extend(kinds.map(|kind| of_cell(state, index, kind)));
        }
    }
    warnings
}

fn of_disturbed(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    disturbances(state, evidence)
}

fn disturbances(state: &State, evidence: &Evidence) -> Vec<Warning> {
    let mut warnings = disturbed(state, evidence);
    warnings.extend(memory_pressure(state, evidence));
    warnings
}

/// Cells from whose launches something else took CPUs, memory or devices.
pub(crate) fn disturbed_cells(state: &State, evidence: &Evidence) -> BTreeSet<usize> {
    let warnings = disturbances(state, evidence).into_iter();
    let disturbing = warnings.filter(|warning| warning.kind.is_disturbance());
    disturbing.flat_map(|warning| warning.cells).collect()
}

/// Shares of a cell's time that others took, and launches that a counter flags. Steal is judged over a cell as a whole.
fn disturbed(state: &State, evidence: &Evidence) -> Vec<Warning> {
    of_cells(state, evidence, |index, cell| {
        // A long round meets other processes on any machine; a short one only on a crowded one.
        let interrupted = interrupted_share(cell).filter(|share| *share > INTERRUPTED_SHARE);
        let shares = [
            interrupted.map(|share| WarningKind::Interrupted { share }),
            flags::stolen(cell).map(|share| WarningKind::Steal { share }),
            flags::throttled(cell).map(|share| WarningKind::Throttled { share }),
        ];
        let experiment = state.plan.experiment(&state.cells[index].cell.experiment);
        let huge_pages = experiment.and_then(|e| e.huge_pages.as_deref());
        let mut counts: BTreeMap<Flag, usize> = BTreeMap::new();
        let flags = cell
            .launches
            .iter()
            .flat_map(|launch| flags::of_launch(cell, launch, huge_pages));
        flags.for_each(|flag| *counts.entry(flag).or_insert(0) += 1);
        let launched = cell.launches.len();
        counts.retain(|_, count| *count as f64 > WARNED_SHARE * launched as f64);
        let flagged = counts.into_iter().filter_map(move |(flag, launches)| {
            flag.warning(LaunchCount {
                launches,
                all: launched,
            })
        });
        shares.into_iter().flatten().chain(flagged)
    })
}

fn count(cell: &CellEvidence, holds: impl Fn(&CellLaunch) -> bool) -> LaunchCount {
    LaunchCount {
        launches: cell.launches.iter().filter(|launch| holds(launch)).count(),
        all: cell.launches.len(),
    }
}

fn memory_pressure(state: &State, evidence: &Evidence) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let count = count(cell, |l| {
            let waited_us = l
                .noise
                .as_ref()
                .and_then(|n| n.pressure_us.get("memory_some"))
                .copied()
                .unwrap_or(0);
            waited_us as f64 / 1e6 > PRESSURE_SHARE * l.wall_s
        });
        (2 * count.launches > count.all).then_some(WarningKind::MemoryPressure(count))
    })
}

fn unsteady(state: &State, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, cell) in shown(summary) {
        if let Some(steady) = &cell.steady
            && matches!(steady.label, Label::Drifting | Label::TwoLevel)
        {
            let kind = WarningKind::Unsteady {
                label: steady.label,
                shift: steady.shift,
            };
            warnings.push(of_cell(state, index, kind));
        }
    }
    warnings
}

fn lost_states(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (&index, (launches, proof)) in &evidence.lost_states {
        if state.cells[index].twin {
            continue;
        }
        let judged = evidence
            .cells
            .get(&index)
            .map_or(0, |cell| cell.launches.len());
        let kind = WarningKind::StateLost {
            count: LaunchCount {
                launches: *launches,
                all: launches + judged,
            },
            proof: proof.clone(),
        };
        warnings.push(of_cell(state, index, kind));
    }
    warnings
}

fn before_the_run(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let Some(seen) = &evidence.preflight else {
        return Vec::new();
    };
    let (share, read_ns, cpus) = (seen.lost_share(), seen.clock_read_ns(), seen.busy_cpus);
    let longest_ns = seen
        .gaps
        .iter()
        .map(|gaps| gaps.largest_gap_ns)
        .max()
        .unwrap_or(0);
    let memory_cpus = seen
        .memory_threads
        .iter()
        .map(|thread| thread.cpus)
        .sum::<f64>();
    let kinds = [
        (share > TAKEN_SHARE).then_some(WarningKind::CpuTaken { share, longest_ns }),
        (read_ns > SLOW_CLOCK_NS).then_some(WarningKind::SlowClock { read_ns }),
        (cpus > BUSY_CPUS).then(|| WarningKind::BusyProcesses {
            cpus,
            busiest: seen.busy.iter().take(MOST_NAMED).cloned().collect(),
        }),
        (memory_cpus > MEMORY_THREAD_CPUS).then(|| WarningKind::MemoryThreads {
            busiest: seen.memory_threads.clone(),
        }),
    ];
    kinds
        .into_iter()
        .flatten()
        .map(|kind| at("this machine", kind))
        .collect()
}

fn levels(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    of_cells(state, evidence, |_, cell| {
        let mut kinds = Vec::new();
        for law in cell.checks.laws.values() {
            let is_often_broken = law.broken as f64 > WARNED_SHARE * law.samples as f64;
            if law.level && law.broken > 0 && is_often_broken {
                kinds.push(WarningKind::Level {
                    broken: law.broken,
                    samples: law.samples,
                    first: law.first.clone(),
                });
            }
        }
        kinds
    })
}

/// A first pass that is so many times slower than the next ones found a cache cold that the next ones found warm.
const FIRST_PASS_FACTOR: f64 = 2.0;

/// Warm caches below the page cache: where it is emptied before every pass, a cache below it (the hypervisor's, the device's)
/// may stay warm. The first pass is the pilot's, which is kept apart from the figures in any case; this warns of the difference.
fn first_pass(state: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, first) in &evidence.first_pass_ns {
        let planned = &state.cells[*index];
        let cold = state
            .plan
            .value(&planned.cell, Concern::PageCache)
            .is_some_and(|c| [COLD, DROPPED].contains(&c));
        let Some(experiment) = state
            .plan
            .experiment(&planned.cell.experiment)
            .filter(|_| cold && !planned.twin)
        else {
            continue;
        };
        let Some(measure) = experiment
            .measures()
            .position(|m| m == experiment.headline())
        else {
            continue;
        };
        let launches = evidence.cells.get(index).map_or(&[][..], |c| &c.launches);
        let mut later: Vec<f64> = launches
            .iter()
            .flat_map(|l| l.measures[measure].wall_ns.iter().copied())
            .collect();
        if let Some(usual) = stats::quantile::median(&mut later)
            && *first > FIRST_PASS_FACTOR * usual
        {
            warnings.push(of_cell(
                state,
                *index,
                WarningKind::FirstPass {
                    first_ns: *first,
                    later_ns: usual,
                },
            ));
        }
    }
    warnings
}

fn absent_counters(_: &State, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let absent = evidence.absent.iter();
    absent
        .map(|(column, reason)| {
            at(
                column,
                WarningKind::CounterAbsent {
                    reason: reason.clone(),
                },
            )
        })
        .collect()
}

/// The notes of a run.
pub fn notes(state: &State) -> Vec<Note> {
    let mut notes = state
        .ended
        .as_ref()
        .map_or_else(Vec::new, |ended| ended.notes.clone());
    if state
        .ended
        .as_ref()
        .is_none_or(|ended| ended.stopped_by.is_some())
    {
        notes.push(
            NoteKind::Interrupted {
                kind: Kind::Run,
                run: state.plan.run.clone(),
            }
            .into(),
        );
    }
    // Experiments with less time than their default values need.
    let needed_s: f64 = state
        .plan
        .experiments
        .iter()
        .map(Experiment::needed_s)
        .sum();
    let short = state
        .plan
        .experiments
        .iter()
        .filter(|e| state.plan.short && (state.plan.usual_first || e.budget_s.is_some()));
    notes.extend(short.map(|e| Note {
        kind: NoteKind::ShortBudget { needed_s },
        experiment: e.name.clone(),
    }));
    notes
}

/// The notes of a run that ends, with the variables that its workers did not have.
pub fn ending_notes(state: &State, endings: &[Ending], cleared: &[String]) -> Vec<Note> {
    let mut notes = Vec::new();
    if !cleared.is_empty() {
        notes.push(
            NoteKind::EnvironmentCleared {
                names: cleared.to_vec(),
            }
            .into(),
        );
    }
    notes.extend(endings.iter().map(|ending| ending_note(state, ending)));
    notes
}

fn ending_note(state: &State, ending: &Ending) -> Note {
    match ending {
        Ending::Experiment {
            experiment,
            reason,
            launches,
            fewest,
            widest,
        } => {
            let fewest = fewest.map(|cell| condition(state, cell));
            let ended = EndedExperiment {
                launches: *launches,
                fewest: fewest.unwrap_or_default(),
                widest: widest.as_ref().map(|width| least_precise(state, width)),
            };
            Note {
                kind: match reason {
                    Reason::Precise => NoteKind::PrecisionReached(ended),
                    Reason::Settled => NoteKind::WordsSettled(ended),
                    Reason::BudgetSpent => NoteKind::BudgetEnded(ended),
                    Reason::NothingOpen => NoteKind::LaunchesEnded(ended),
                },
                experiment: experiment.clone(),
            }
        }
        &Ending::Claims {
            likely,
            near_edge,
            launches,
        } => NoteKind::QuestionsEnded {
            likely,
            near_edge,
            launches,
        }
        .into(),
    }
}

/// The parameters of a cell's group in which the groups of its experiment differ.
fn condition(state: &State, cell: usize) -> Parameters {
    let groups = groups(state, Some(&state.cells[cell].cell.experiment));
    let mut holding = groups
        .iter()
        .filter(|group| group.cells.contains(&cell) || group.twin == Some(cell));
    let mut condition = holding
        .next()
        .map_or_else(Parameters::default, |group| group.parameters.clone());
    condition.retain(|key, value| {
        let mut others = groups.iter().map(|group| group.parameters.get(key));
        *key != BATCH && others.any(|other| other != Some(&*value))
    });
    condition
}

/// Names of a ratio's methods, with their workers where those differ.
fn least_precise(state: &State, width: &Width) -> LeastPrecise {
    let [cell, base] = [width.cell, width.base].map(|cell| &state.cells[cell].cell);
    let name = |side: &Cell| {
        if cell.worker == base.worker {
            side.method.clone()
        } else {
            format!("{}@{}", side.method, side.worker)
        }
    };
    LeastPrecise {
        method: name(cell),
        base: name(base),
        condition: condition(state, width.cell),
        half_width: width.half_width,
        target: state.plan.precision,
    }
}

/// Notes on each damage of a kept study of a command, and on its early end.
pub(crate) fn of_command(kept: &KeptCommand) -> impl Iterator<Item = Note> {
    let damaged = kept
        .damage
        .iter()
        .map(|seen| NoteKind::Damaged { seen: seen.clone() }.into());
    let run = kept
        .path
        .file_name()
        .unwrap_or_default()
        .display()
        .to_string();
    damaged.chain(kept.interrupted.then(|| {
        NoteKind::Interrupted {
            kind: kept.plan.kind,
            run,
        }
        .into()
    }))
}
