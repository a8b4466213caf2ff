//! Claims as cells: which cells test them here, and which of them a budget is enough for.

use super::{select, states, wish::Wish};
use crate::worker::{self, Language, Worker, carried};
use anyhow::{Context, Result, anyhow};
use record::cell::{Cell, Selector};
use record::claim::{Claim, ClaimKind, Job, NoVerdict, ResolvedClaim, ResolvedJob};
use record::experiment::Experiment;
use record::plan::PlannedCell;
use record::sizes::BYTES;
use record::{machine_state::STATE, sizes::did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Launches that the time of a cell is foretold for, the pilot's among them.
const LAUNCHES: f64 = 7.0;
/// Time of starting one side, in seconds, with what it does before and after its samples.
const START_S: f64 = 0.04;
/// Time of starting an interpreted side, in seconds.
const INTERPRETED_START_S: f64 = 0.4;
/// Time of starting a side that compiles while it runs, in seconds.
const COMPILING_START_S: f64 = 1.0;

/// Claims with their cells, each cell once.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub claims: Vec<ResolvedClaim>,
    pub planned: Vec<PlannedCell>,
    /// Time of one launch of a cell in a kept run, in seconds.
    pub known_s: BTreeMap<Cell, f64>,
}

/// All claims that the binary carries.
pub fn all() -> Result<&'static [Claim]> {
    static ALL: LazyLock<Result<Vec<Claim>>> = LazyLock::new(|| {
        carried::CLAIMS
            .iter()
            .map(|(path, text)| Claim::parse(path, text))
            .collect()
    });
    ALL.as_deref().map_err(|error| anyhow!("{error:#}"))
}

/// The claims of some ids, in either case.
pub fn find<'a>(claims: &'a [Claim], ids: &[String]) -> Result<Vec<&'a Claim>> {
    ids.iter().map(|id| find_one(claims, id)).collect()
}

fn find_one<'a>(claims: &'a [Claim], id: &str) -> Result<&'a Claim> {
    let claim = claims.iter().find(|c| c.id.eq_ignore_ascii_case(id));
    claim.with_context(|| {
        let hint = did_you_mean(id, claims.iter().map(|c| c.id.as_str()));
        format!("there is no claim {id:?}{hint} (pagewise claims list shows them)")
    })
}

/// Finds the cells of claims. What needs a worker that is not here has the reason instead.
pub fn resolve(
    claims: &[&Claim],
    experiments: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<Resolved> {
    let mut resolver = Resolver {
        experiments,
        workers,
        wish,
        planned: Vec::new(),
    };
    let mut resolved = Vec::new();
    for claim in claims {
        let mut jobs = Vec::new();
        for (name, job) in claim.jobs() {
            let job = resolver.job(claim, name, job);
            jobs.push(job.with_context(|| format!("claim {}, {name}", claim.id))?);
        }
        resolved.push(ResolvedClaim {
            claim: (*claim).clone(),
            jobs,
        });
    }
    Ok(Resolved {
        claims: resolved,
        planned: resolver.planned,
        known_s: BTreeMap::new(),
    })
}

/// Search for the cells of claims, with those that were found.
struct Resolver<'a> {
    experiments: &'a [Experiment],
    workers: &'a [Worker],
    wish: &'a Wish,
    planned: Vec<PlannedCell>,
}

/// One side of a job at one point.
struct JobSide<'a> {
    /// `METHOD@WORKER`.
    method: &'a str,
    /// Parameters of this side alone.
    set: &'a BTreeMap<String, String>,
    /// The parameter that is varied, with its value.
    point: Option<(&'a str, u64)>,
}

impl JobSide<'_> {
    /// Parameters of the side, its own last.
    fn settings(&self, job: &Job) -> Vec<(String, Vec<String>)> {
        let shared = job
            .set
            .iter()
            .filter(|(key, _)| !self.set.contains_key(*key));
        let mut settings: Vec<(String, Vec<String>)> = shared
            .chain(self.set)
            .map(|(key, value)| (key.clone(), vec![value.clone()]))
            .collect();
        let point = self.point.iter();
        settings.extend(point.map(|(key, value)| ((*key).to_owned(), vec![value.to_string()])));
        settings
    }
}

impl Resolver<'_> {
    fn job(&mut self, claim: &Claim, name: &str, job: &Job) -> Result<ResolvedJob> {
        let mut resolved = ResolvedJob {
            job: name.to_owned(),
            points: points(claim),
            ..ResolvedJob::default()
        };
        let parameter = claim.holds.as_ref().map_or(BYTES, |h| h.parameter());
        let mut points: Vec<Option<(&str, u64)>> = resolved
            .points
            .iter()
            .map(|value| Some((parameter, *value)))
            .collect();
        if points.is_empty() {
            points.push(None);
        }
        for point in points {
            let side = JobSide {
                method: &job.way,
                set: &job.way_set,
                point,
            };
            resolved.way.extend(self.cell(job, &side)?);
            if let Some(method) = &job.other {
                let side = JobSide {
                    method,
                    set: &job.other_set,
                    point,
                };
                resolved.other.extend(self.cell(job, &side)?);
            }
        }
        note_missing(&mut resolved, job);
        Ok(resolved)
    }

    /// The cell of a side; `None` if its family of workers is not here.
    fn cell(&mut self, job: &Job, side: &JobSide) -> Result<Option<Cell>> {
        let name = format!("{}/{}", job.experiment, side.method);
        let selector = Selector::parse(&name)?;
        if select::is_absent(&selector, self.workers) {
            return Ok(None);
        }
        let planned = select::first_cell(
            self.experiments,
            self.workers,
            self.wish,
            selector,
            side.settings(job),
        )?;
        let cell = planned.cell.clone();
        let needs_proofs = self.needs_proofs(job);
        match self.planned.iter_mut().find(|p| p.cell == cell) {
            Some(known) => known.proves |= needs_proofs,
            None => self.planned.push(PlannedCell {
                proves: planned.proves || needs_proofs,
                ..planned
            }),
        }
        Ok(Some(cell))
    }

    fn needs_proofs(&self, job: &Job) -> bool {
        let experiment = self.experiments.iter().find(|e| e.name == job.experiment);
        experiment.is_some_and(|e| {
            let totals = job.total.iter().chain(&job.other_total);
            totals.into_iter().any(|name| e.is_sampled(name))
        })
    }
}

fn points(claim: &Claim) -> Vec<u64> {
    let holds = claim.holds.iter();
    holds
        .filter(|_| claim.kind == ClaimKind::Crossover)
        .flat_map(|holds| holds.points())
        .collect()
}

/// Notes what cannot be compared here.
fn note_missing(resolved: &mut ResolvedJob, job: &Job) {
    let needed = resolved.points.len().max(1);
    if resolved.way.len() < needed || job.other.is_some() && resolved.other.len() < needed {
        let missing = if resolved.way.len() < needed {
            &job.way
        } else {
            job.other.as_ref().unwrap_or(&job.way)
        };
        let worker = missing.rsplit('@').next().unwrap_or(missing).to_owned();
        resolved.left_out = Some(NoVerdict::NoWorker { worker });
    } else if resolved.way == resolved.other && job.other_total.is_none() {
        resolved.left_out = Some(NoVerdict::SameSides);
    }
    if resolved.left_out.is_some() {
        resolved.way.clear();
        resolved.other.clear();
    }
}

/// Times of cells: what they took before, or what cells of their size take.
#[derive(Clone, Copy, Debug)]
pub struct Costs<'a> {
    /// Time of one launch of a cell in a kept run, in seconds.
    pub known_s: &'a BTreeMap<Cell, f64>,
    pub workers: &'a [Worker],
}

impl Costs<'_> {
    /// About how long it takes to measure a cell, in seconds.
    fn cost_s(&self, cell: &Cell) -> f64 {
        if let Some(launch_s) = self.known_s.get(cell) {
            return LAUNCHES * launch_s;
        }
        let bytes = cell.parameters.bytes().unwrap_or(0) as f64;
        let starts_s = cell.sides().map(|side| self.start_s(side)).sum();
        LAUNCHES * schedule::guess_s(starts_s, bytes)
    }

    fn start_s(&self, worker: &str) -> f64 {
        match worker::language_of(self.workers, worker) {
            Some(Language::Java) => COMPILING_START_S,
            Some(Language::Python) => INTERPRETED_START_S,
            Some(Language::C | Language::Go | Language::Rust) | None => START_S,
        }
    }

    /// Time of those cells of a job that are not chosen yet, in seconds.
    fn further_s(&self, job: &ResolvedJob, chosen: &[Cell]) -> f64 {
        let new: BTreeSet<&Cell> = job.cells().filter(|c| !chosen.contains(*c)).collect();
        new.into_iter().map(|cell| self.cost_s(cell)).sum()
    }
}

/// One job of one claim, by their places.
#[derive(Clone, Copy)]
struct OpenJob {
    claim: usize,
    job: usize,
}

/// Leaves out what the budget is not enough for: what costs least for a further answer is taken first. `is_answered` tells
/// which comparisons need not be measured. The cells to measure are returned, those first that answer most in their time.
pub fn affordable(
    claims: &mut [ResolvedClaim],
    costs: &Costs,
    budget_s: f64,
    is_answered: impl Fn(&ResolvedClaim, usize) -> bool,
) -> Vec<Cell> {
    let mut open: Vec<OpenJob> = Vec::new();
    for (claim, resolved) in claims.iter().enumerate() {
        for (job, resolved_job) in resolved.jobs.iter().enumerate() {
            if resolved_job.left_out.is_none() && !is_answered(resolved, job) {
                open.push(OpenJob { claim, job });
            }
        }
    }
    let mut chosen: Vec<Cell> = Vec::new();
    let mut spent_s = 0.0;
    while !open.is_empty() {
        let costs_s: Vec<f64> = open
            .iter()
            .map(|open| costs.further_s(&claims[open.claim].jobs[open.job], &chosen))
            .collect();
        // The first job of a claim is the word on it; others come with what is left.
        let cheapest = (0..open.len()).min_by(|&a, &b| {
            let by_job = open[a].job.cmp(&open[b].job);
            by_job.then(costs_s[a].total_cmp(&costs_s[b]))
        });
        let Some(next) = cheapest else { break };
        let (next, needed_s) = (open.remove(next), costs_s[next]);
        let job = &mut claims[next.claim].jobs[next.job];
        if spent_s + needed_s > budget_s {
            job.left_out = Some(NoVerdict::Budget {
                needed_s: Some(needed_s),
            });
            continue;
        }
        spent_s += needed_s;
        for cell in job.cells() {
            if !chosen.contains(cell) {
                chosen.push(cell.clone());
            }
        }
    }
    chosen
}

/// The chosen cells, in their order, with their experiments: those that answer most in their time come first, and each says how
/// much of the time it is to be given.
pub(super) fn cells(
    resolved: &Resolved,
    chosen: &[Cell],
    experiments: &[Experiment],
    workers: &[Worker],
) -> (Vec<PlannedCell>, Vec<Experiment>) {
    let planned: Vec<PlannedCell> = chosen
        .iter()
        .filter_map(|cell| resolved.planned.iter().find(|p| p.cell == *cell))
        .cloned()
        .collect();
    let costs = Costs {
        known_s: &resolved.known_s,
        workers,
    };
    let mut involved: Vec<(f64, Experiment)> = Vec::new();
    for experiment in experiments {
        let name = experiment.name.as_str();
        let cells: Vec<&Cell> = planned
            .iter()
            .map(|p| &p.cell)
            .filter(|c| c.experiment == name)
            .collect();
        if cells.is_empty() {
            continue;
        }
        let budget_s: f64 = cells.iter().map(|cell| costs.cost_s(cell)).sum();
        let answers = answers(resolved, chosen, name);
        let with_states = if cells.iter().any(|c| c.parameters.contains_key(STATE)) {
            states::with_states(experiment)
        } else {
            experiment.clone()
        };
        let with_budget = Experiment {
            budget_s: Some(budget_s),
            ..with_states
        };
        involved.push((answers as f64 / budget_s, with_budget));
    }
    involved.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let involved = involved.into_iter().map(|(_, experiment)| experiment);
    (planned, involved.collect())
}

/// Number of jobs that the chosen cells of one experiment answer.
fn answers(resolved: &Resolved, chosen: &[Cell], experiment: &str) -> usize {
    let jobs = resolved.claims.iter().flat_map(|claim| &claim.jobs);
    jobs.filter(|job| {
        !job.way.is_empty()
            && job
                .cells()
                .all(|c| chosen.contains(c) && c.experiment == experiment)
    })
    .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_COSTS: Costs = Costs {
        known_s: &BTreeMap::new(),
        workers: &[],
    };

    fn cell(method: &str, bytes: &str) -> Cell {
        Cell {
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            parameters: [("bytes", bytes)].into(),
        }
    }

    fn asked(id: &str, cells: [Cell; 2]) -> ResolvedClaim {
        let mut claim = all().unwrap()[0].clone();
        claim.id = id.to_owned();
        let [way, other] = cells;
        let job = ResolvedJob {
            job: "corrected".into(),
            way: vec![way],
            other: vec![other],
            ..ResolvedJob::default()
        };
        ResolvedClaim {
            claim,
            jobs: vec![job],
        }
    }

    #[test]
    fn what_answers_most_in_its_time_is_measured_first_and_shared_cells_are_counted_once() {
        let (small, other, large) = (
            cell("a", "4096"),
            cell("b", "4096"),
            cell("a", "1073741824"),
        );
        let mut all = [
            asked("dear", [large.clone(), cell("b", "1073741824")]),
            asked("cheap", [small.clone(), other.clone()]),
            asked("shares", [other, small]),
        ];
        let chosen = affordable(&mut all, &NO_COSTS, 4.0, |_, _| false);
        assert_eq!(chosen.len(), 2);
        let why = |i: usize| all[i].jobs[0].left_out.as_ref();
        assert!(
            matches!(why(0), Some(NoVerdict::Budget { needed_s: Some(_) }))
                && why(1).is_none()
                && why(2).is_none()
        );
        assert!(
            affordable(&mut all, &NO_COSTS, 4.0, |_, _| true).is_empty(),
            "what kept runs answer is not measured again"
        );
    }

    #[test]
    fn what_a_cell_took_before_decides_whether_it_is_affordable() {
        let pair = [cell("a", "1073741824"), cell("b", "1073741824")];
        let mut all = [asked("dear", pair.clone())];
        let costs = Costs {
            known_s: &pair.into_iter().map(|cell| (cell, 0.1)).collect(),
            workers: &[],
        };
        assert_eq!(affordable(&mut all, &costs, 4.0, |_, _| false).len(), 2);
        assert_eq!(affordable(&mut all, &costs, 1.3, |_, _| false).len(), 0);
    }

    #[test]
    fn ids_are_unique_and_unknown_ones_get_a_hint() {
        let claims = all().unwrap();
        let ids: BTreeSet<String> = claims.iter().map(|c| c.id.to_lowercase()).collect();
        assert_eq!(ids.len(), claims.len());
        let error = find(claims, &["P5-aa".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"P5-a\"?"), "{error}");
    }
}
