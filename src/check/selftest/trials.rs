//! One run of the self-test: a plan like any other, carried out by the same runner and judged by the same judge.

use super::{EXPERIMENT, NAIVE_COMPARISONS};
use crate::plan::{self, Choice, Laboratory, Terms, catalog};
use crate::run::launch::{Side, TimeLimit};
use crate::run::{Runner, launch};
use crate::worker::{self, NATIVE, Worker};
use crate::{run::progress::Progress, run::signals::Signals};
use anyhow::{Context, Result, bail};
use files::Folder;
use judge::Circumstances;
use judge::selftest::{Done, Effect, LEVEL, PRECISION, Usual, WorkKind};
use record::parameters::Parameters;
use record::plan::{BATCH, Plan, PlannedCell};
use record::transcript::{LaunchKeys, Transcript};
use record::{
    cell::Cell, experiment::Experiment, folder::RunFolder, kind::Kind, launches::End,
    outcome::Status, state::Stage, summary::CellSummary, summary::Summary, summary::WarningCode,
    transcript,
};
use stats::{t::naive, verdicts::MARGIN};
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

/// Needs of every run.
pub struct TestBench<'a> {
    experiment: &'a Experiment,
    workers: &'a [Worker],
    worker: &'a Worker,
    pub signals: &'a Signals,
}

/// Plan of one run.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub work: WorkKind,
    /// Their batch; `None` where the pilot is to choose it.
    pub batch: Option<u64>,
    /// One group for each: thousandths of extra work of its third cell.
    pub extras: &'a [u64],
}

impl<'a> TestBench<'a> {
    /// Finds experiment and worker.
    pub fn new(laboratory: &'a Laboratory, signals: &'a Signals) -> Result<TestBench<'a>> {
        let Laboratory {
            experiments,
            workers,
        } = laboratory;
        Ok(TestBench {
            experiment: catalog::find(experiments, EXPERIMENT)?,
            workers,
            worker: worker::find(workers, NATIVE)?,
            signals,
        })
    }

    pub fn command(&self) -> Result<&[std::ffi::OsString]> {
        Ok(&self
            .worker
            .start()
            .map_err(|reason| anyhow::anyhow!("{reason}"))?
            .command)
    }

    pub fn cell(
        &self,
        method: &str,
        pair: usize,
        batch: Option<u64>,
        extra_permille: u64,
    ) -> Result<PlannedCell> {
        let described = self.worker.method(EXPERIMENT, method);
        let described =
            described.with_context(|| format!("worker {NATIVE} has no {EXPERIMENT}/{method}"))?;
        let mut parameters = Parameters::default();
        for (key, _) in &described.keys {
            let value = match key.as_str() {
                BATCH => batch.unwrap_or(1).to_string(),
                "pair" => pair.to_string(),
                "extra_permille" => extra_permille.to_string(),
                "pieces" => self.experiment.parameters["pieces"].default[0].clone(),
                other => bail!(
                    "{EXPERIMENT}/{method} has the key {other}, which the self-test does not know"
                ),
            };
            parameters.insert(key.clone(), value);
        }
        let free_batch = batch.is_none() && parameters.contains_key(BATCH);
        let cell = Cell {
            experiment: EXPERIMENT.to_owned(),
            method: method.to_owned(),
            worker: self.worker.name.clone(),
            parameters,
        };
        Ok(PlannedCell {
            cell,
            method: described.clone(),
            twin: false,
            free_batch,
            proves: false,
            outcome: None,
        })
    }

    fn plan(&self, trial: &Trial, budget_s: f64, seed: u64) -> Result<Plan> {
        let Trial { work, batch, .. } = *trial;
        let mut cells = Vec::new();
        for (pair, &extra_permille) in (1..).zip(trial.extras) {
            let base = self.cell(work.method(), pair, batch, 0)?;
            cells.push(PlannedCell {
                twin: true,
                ..base.clone()
            });
            cells.push(base);
            cells.push(self.cell(
                &format!("{}-extra", work.method()),
                pair,
                batch,
                extra_permille,
            )?);
        }
        cells.push(self.cell("null", 1, batch, 0)?);
        let run = format!("selftest-{}-{seed:x}", std::process::id());
        let terms = Terms {
            kind: Kind::Selftest,
            ..Terms::usual(run, seed, budget_s, (PRECISION, MARGIN))
        };
        plan::build(
            &[],
            self.workers,
            Choice::Given(self.experiment, cells, work.method()),
            terms,
        )
    }

    /// Plans, measures and judges one run in a folder of its own.
    pub fn run(&self, folder: &Path, trial: &Trial, budget_s: f64, seed: u64) -> Result<Done> {
        let folder = RunFolder::create(folder)?;
        let plan = self.plan(trial, budget_s, seed)?;
        folder.write_sealed("plan.json", &plan)?;
        let started = Instant::now();
        let runner = Runner::new(plan, &folder, self.workers, self.signals, Progress::new())?;
        let (state, evidence) = runner.run()?;
        let seconds = started.elapsed().as_secs_f64();
        let summary = judge::summarise(&state, &evidence, Circumstances::default())?;
        let dead = summary
            .cells
            .iter()
            .find(|c| matches!(c.outcome.status, Status::Failed | Status::Skipped));
        if let Some(cell) = dead {
            let reason = report::phrases::reason(&cell.outcome);
            bail!(
                "the self-test's own {} is {}: {reason}",
                cell.cell,
                cell.outcome.status.word()
            );
        }
        let twins = judge::twins(&state, &evidence);
        let first = &summary.cells[0];
        let phase = first.phases.values().next();
        let null = summary
            .cells
            .iter()
            .find(|c| c.role == record::summary::Role::Null)
            .and_then(|c| c.phases.values().next());
        let stage = state.launch_groups[0].stage;
        let rounds = if let Stage::Sized { rounds, .. } = stage {
            rounds
        } else {
            0
        };
        Ok(Done {
            work: trial.work,
            twins,
            planned: trial.extras.len(),
            effects: effects(&summary),
            launches: first.launches,
            rounds,
            samples_each: phase.map_or(0, |p| p.samples),
            sample_ns: phase.map_or(0.0, |p| p.wall_ns.median),
            floor_ns: null.map_or(0.0, |p| p.wall_ns.median),
            clock_read_ns: evidence
                .about
                .get(NATIVE)
                .and_then(|about| about.get("clock_read_ns")?.parse().ok())
                .unwrap_or(0.0),
            slot_s: stage.cost().map_or(0.0, |cost| cost.round_s) / state.cells.len() as f64,
            batch: state.cells[0].cell.parameters.number(BATCH),
            cells: state.cells.len() - 1,
            seconds,
            warnings: summary
                .warnings
                .iter()
                .fold(BTreeMap::new(), |mut counts, w| {
                    *counts.entry(WarningCode::from(&w.kind)).or_insert(0) += 1;
                    counts
                }),
        })
    }
}

fn effects(summary: &Summary) -> Vec<Effect> {
    let judged = summary.comparisons().filter_map(|(_, c)| {
        Some(Effect {
            extra_permille: extra_permille(&summary.cells[c.cell])?,
            ratio: c.contrast.ratio,
            verdict: c.contrast.verdict,
        })
    });
    judged.collect()
}

/// Thousandths of extra work of a cell.
fn extra_permille(cell: &CellSummary) -> Option<u64> {
    cell.parameters.number("extra_permille")
}

// The usual way: all samples of A, then all of B, in one process, and a t test; nothing is regrouped.

/// Comparisons one after another in one launch: A, B, A, B …; each block of samples is used once.
const PER_LAUNCH: usize = 4;
/// Discarded at the start of a launch, as everywhere.
const WARMUP_ROUNDS: usize = 5;

/// Launches identical cells one after the other and judges them by [`naive`].
pub fn naive_trials(
    place: &Path,
    laboratory: &TestBench,
    work: WorkKind,
    batch: Option<u64>,
    samples: usize,
    seed: u64,
) -> Result<Usual> {
    let mut trials = Usual {
        work: work.method().to_owned(),
        comparisons: 0,
        samples,
        announced: 0,
        beyond_margin: 0,
    };
    for number in 0..NAIVE_COMPARISONS / PER_LAUNCH {
        if laboratory.signals.arrived().is_some() {
            break;
        }
        let blocks = sequence(
            place,
            laboratory,
            work,
            batch,
            samples,
            seed.wrapping_add(number as u64),
        )?;
        for pair in blocks.chunks_exact(2) {
            let judged = naive(&pair[0], &pair[1])?;
            trials.comparisons += 1;
            trials.announced += usize::from(judged.announces(LEVEL));
            let far = (judged.ratio.ln()).abs() > MARGIN.ln_1p();
            trials.beyond_margin += usize::from(judged.announces(LEVEL) && far);
        }
    }
    Ok(trials)
}

/// The samples of A, B, A, B … in the order in which one process took them.
fn sequence(
    place: &Path,
    laboratory: &TestBench,
    work: WorkKind,
    batch: Option<u64>,
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>> {
    let a = laboratory.cell(work.method(), 1, batch, 0)?.cell;
    let b = a.clone();
    let rounds: Vec<Vec<usize>> = (0..2 * PER_LAUNCH * samples)
        .map(|i| vec![i / samples % 2])
        .collect();
    let warmup = vec![vec![0, 1]; WARMUP_ROUNDS];
    let keys = LaunchKeys {
        experiment: EXPERIMENT,
        seed,
        ..LaunchKeys::default()
    };
    let [request, transcript, messages] =
        ["naive.request", "naive.transcript", "naive.messages"].map(|name| place.join(name));
    Folder::make(place)?.write(
        "naive.request",
        transcript::request(&keys, &[&a, &b], &warmup, &rounds).as_bytes(),
    )?;
    let side = Side::new(laboratory.command()?, [&request, &transcript, &messages]);
    let ended = launch::launch(
        &[side],
        TimeLimit::Able(Duration::from_secs(300)),
        laboratory.signals,
    )?;
    if laboratory.signals.arrived().is_some() {
        return Ok(Vec::new());
    }
    if !ended.ends.iter().all(End::is_clean) {
        bail!(
            "the naive comparison's worker: {}",
            report::phrases::end(&ended.ends[0], false)
        );
    }
    let read = Transcript::read(BufReader::new(files::open_input(&transcript)?))?;
    let measured = read
        .samples
        .iter()
        .filter(|s| s.round >= 0)
        .map(|s| s.counts.wall_ns as f64);
    let samples_ns: Vec<f64> = measured.collect();
    Ok(samples_ns
        .chunks_exact(samples)
        .map(<[f64]>::to_vec)
        .collect())
}
