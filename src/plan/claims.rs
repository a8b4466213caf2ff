//! Claims as cells: which cells test them here, and which of them a budget is enough for.

use super::{select, states, wish::Wish};
use crate::worker::{Worker, carried};
use anyhow::{Context, Result, anyhow, bail};
use record::cell::{Cell, Selector};
use record::claim::{Claim, ClaimKind, Job, NoVerdict, ResolvedClaim, ResolvedJob};
use record::experiment::{Experiment, ParameterList};
use record::{machine_state::STATE, plan::PlannedCell, sizes::did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Launches that the time of a cell is foretold for, the pilot's among them.
const LAUNCHES: f64 = 7.0;
/// Time of starting one side, in seconds, with what it does before and after its samples.
const START_S: f64 = 0.04;
/// The same of a worker that is interpreted, and of one that compiles while it runs.
const INTERPRETED_START_S: f64 = 0.4;
const COMPILING_START_S: f64 = 1.0;

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
pub fn find<'a>(all: &'a [Claim], ids: &[String]) -> Result<Vec<&'a Claim>> {
    let claim = |id: &String| {
        all.iter()
            .find(|c| c.id.eq_ignore_ascii_case(id))
            .with_context(|| {
                let hint = did_you_mean(id, all.iter().map(|c| c.id.as_str()));
                format!("there is no claim {id:?}{hint} (pagewise claims list shows them)")
            })
    };
    ids.iter().map(claim).collect()
}

/// Claims with their cells, each cell once.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub claims: Vec<ResolvedClaim>,
    pub planned: Vec<PlannedCell>,
    /// Time of one launch of a cell in a kept run, in seconds.
    pub known_s: BTreeMap<Cell, f64>,
}

/// Finds the cells of claims. What needs a worker that is not here has the reason instead.
pub fn resolve(
    claims: &[&Claim],
    experiments: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<Resolved> {
    let mut resolved = Resolved::default();
    for claim in claims {
        let mut jobs = Vec::new();
        for (name, job) in claim.jobs() {
            let mut resolved_job = ResolvedJob {
                job: name.to_owned(),
                points: points(claim),
                ..ResolvedJob::default()
            };
            let mine = experiments.iter().find(|e| e.name == job.experiment);
            let needs_proofs = mine.is_some_and(|e| {
                job.total
                    .iter()
                    .chain(&job.other_total)
                    .any(|name| e.is_sampled(name))
            });
            let mut cells = |way: &str,
                             further: &[(String, String)],
                             point: Option<u64>|
             -> Result<Option<Cell>> {
                let mut settings = settings(job, further);
                let parameter = claim.holds.as_ref().map_or("bytes", |h| h.parameter());
                settings.extend(point.map(|value| (parameter.to_owned(), vec![value.to_string()])));
                let name = format!("{}/{way}", job.experiment);
                let Some(planned) = one_cell(&name, settings, experiments, workers, wish)? else {
                    return Ok(None);
                };
                let (cell, all) = (planned.cell.clone(), &mut resolved.planned);
                let place = all.iter().position(|p| p.cell == cell).unwrap_or(all.len());
                if place == all.len() {
                    all.push(planned);
                }
                all[place].proves |= needs_proofs;
                Ok(Some(cell))
            };
            let at: Vec<Option<u64>> = if resolved_job.points.is_empty() {
                vec![None]
            } else {
                resolved_job.points.iter().map(|p| Some(*p)).collect()
            };
            let context = || format!("claim {}, {name}", claim.id);
            for point in at {
                resolved_job
                    .way
                    .extend(cells(&job.way, &pairs(&job.way_set), point).with_context(context)?);
                if let Some(other) = &job.other {
                    resolved_job
                        .other
                        .extend(cells(other, &pairs(&job.other_set), point).with_context(context)?);
                }
            }
            settle(&mut resolved_job, job);
            jobs.push(resolved_job);
        }
        resolved.claims.push(ResolvedClaim {
            claim: (*claim).clone(),
            jobs,
        });
    }
    Ok(resolved)
}

fn points(claim: &Claim) -> Vec<u64> {
    let holds = claim
        .holds
        .as_ref()
        .filter(|_| claim.kind == ClaimKind::Crossover);
    holds.map_or_else(Vec::new, |holds| holds.points())
}

fn pairs(set: &std::collections::BTreeMap<String, String>) -> Vec<(String, String)> {
    set.iter().map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Parameters of one side of a job, the side's own last.
fn settings(job: &Job, further: &[(String, String)]) -> Vec<(String, Vec<String>)> {
    let is_further = |key: &String| further.iter().any(|(k, _)| k == key);
    let both = job
        .set
        .iter()
        .filter(|(key, _)| !is_further(key))
        .map(|(k, v)| (k.clone(), vec![v.clone()]));
    both.chain(further.iter().map(|(k, v)| (k.clone(), vec![v.clone()])))
        .collect()
}

/// The first cell of these settings. `None` if its family of workers is not here.
fn one_cell(
    name: &str,
    settings: Vec<(String, Vec<String>)>,
    experiments: &[Experiment],
    workers: &[Worker],
    wish: &Wish,
) -> Result<Option<PlannedCell>> {
    let selector = Selector::parse(name)?;
    let family = |pattern: &str| pattern.strip_suffix('*').map(str::to_owned);
    let absent = |start: String| !workers.iter().any(|w| w.name.starts_with(&start));
    let sides = selector.worker.iter().flat_map(|w| w.split('+'));
    if sides.filter_map(family).any(absent) {
        return Ok(None);
    }
    let wish = Wish {
        selectors: vec![selector],
        settings,
        baseline: None,
        sizes: ParameterList::Default,
        ..wish.clone()
    };
    let (found, _) = select::cells(experiments, workers, &wish)?;
    match found.into_iter().next() {
        Some(planned) => Ok(Some(planned)),
        None => bail!("{name} has no cell with these parameters"),
    }
}

/// Notes what cannot be compared here.
fn settle(resolved: &mut ResolvedJob, job: &Job) {
    let needed = resolved.points.len().max(1);
    if resolved.way.len() < needed || job.other.is_some() && resolved.other.len() < needed {
        let lacking = if resolved.way.len() < needed {
            &job.way
        } else {
            job.other.as_ref().unwrap_or(&job.way)
        };
        let worker = lacking.rsplit('@').next().unwrap_or(lacking).to_owned();
        resolved.left_out = Some(NoVerdict::NoWorker { worker });
    } else if resolved.way == resolved.other && job.other_total.is_none() {
        resolved.left_out = Some(NoVerdict::SameSides);
    }
    if resolved.left_out.is_some() {
        resolved.way.clear();
        resolved.other.clear();
    }
}

/// About how long it takes to measure a cell, in seconds: what it took before, or what cells of its size take.
fn cost_s(cell: &Cell, known_s: &BTreeMap<Cell, f64>) -> f64 {
    if let Some(launch_s) = known_s.get(cell) {
        return LAUNCHES * launch_s;
    }
    let start_s = |side: &str| match side.split('-').next() {
        Some("java") => COMPILING_START_S,
        Some("python") => INTERPRETED_START_S,
        _ => START_S,
    };
    let bytes: f64 = cell
        .parameters
        .get("bytes")
        .and_then(|b| b.parse().ok())
        .unwrap_or(0.0);
    LAUNCHES * schedule::guess_s(cell.sides().map(start_s).sum(), bytes)
}

/// Leaves out what the budget is not enough for: what costs least for a further answer is taken first. `is_answered` tells
/// which comparisons need not be measured. The cells to measure are returned, those first that answer most in their time.
pub fn affordable(
    claims: &mut [ResolvedClaim],
    known_s: &BTreeMap<Cell, f64>,
    budget_s: f64,
    is_answered: impl Fn(&ResolvedClaim, usize) -> bool,
) -> Vec<Cell> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (i, one) in claims.iter().enumerate() {
        let wanted = |j: &usize| one.jobs[*j].left_out.is_none() && !is_answered(one, *j);
        open.extend((0..one.jobs.len()).filter(wanted).map(|j| (i, j)));
    }
    let mut chosen: Vec<Cell> = Vec::new();
    let mut spent_s = 0.0;
    while !open.is_empty() {
        let more_s = |&(i, j): &(usize, usize)| -> f64 {
            let new: BTreeSet<&Cell> = claims[i].jobs[j]
                .cells()
                .filter(|c| !chosen.contains(*c))
                .collect();
            new.into_iter().map(|cell| cost_s(cell, known_s)).sum()
        };
        let costs: Vec<f64> = open.iter().map(more_s).collect();
        // The first job of a claim is the word on it; others come with what is left.
        let cheapest = (0..open.len()).min_by(|&a, &b| {
            open[a]
                .1
                .cmp(&open[b].1)
                .then(costs[a].total_cmp(&costs[b]))
        });
        let Some(next) = cheapest else { break };
        let ((i, j), more_s) = (open.remove(next), costs[next]);
        if spent_s + more_s > budget_s {
            claims[i].jobs[j].left_out = Some(NoVerdict::Budget {
                needed_s: Some(more_s),
            });
            continue;
        }
        spent_s += more_s;
        for cell in claims[i].jobs[j].cells() {
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
) -> (Vec<PlannedCell>, Vec<Experiment>) {
    let planned_cell = |cell: &Cell| resolved.planned.iter().find(|p| p.cell == *cell).cloned();
    let planned: Vec<PlannedCell> = chosen.iter().filter_map(planned_cell).collect();
    let time_s = |name: &str| {
        chosen
            .iter()
            .filter(|c| c.experiment == name)
            .map(|c| cost_s(c, &resolved.known_s))
            .sum::<f64>()
    };
    let jobs = || resolved.claims.iter().flat_map(|a| &a.jobs);
    let answers = |name: &str| {
        let here = |job: &&ResolvedJob| {
            !job.way.is_empty()
                && job
                    .cells()
                    .all(|c| chosen.contains(c) && c.experiment == name)
        };
        jobs().filter(here).count() as f64
    };
    let has_states = |e: &Experiment| {
        planned
            .iter()
            .any(|p| p.cell.experiment == e.name && p.cell.parameters.contains_key(STATE))
    };
    let with_states = |e: &Experiment| {
        if has_states(e) {
            states::with_states(e)
        } else {
            e.clone()
        }
    };
    let mut involved: Vec<Experiment> = experiments
        .iter()
        .filter(|e| planned.iter().any(|p| p.cell.experiment == e.name))
        .map(|e| Experiment {
            budget_s: Some(time_s(&e.name)),
            ..with_states(e)
        })
        .collect();
    let rate = |e: &Experiment| answers(&e.name) / time_s(&e.name);
    involved.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    (planned, involved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(method: &str, bytes: &str) -> Cell {
        Cell {
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            parameters: BTreeMap::from([("bytes".to_owned(), bytes.to_owned())]),
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
        let chosen = affordable(&mut all, &BTreeMap::new(), 4.0, |_, _| false);
        assert_eq!(chosen.len(), 2);
        let why = |i: usize| all[i].jobs[0].left_out.as_ref();
        assert!(
            matches!(why(0), Some(NoVerdict::Budget { needed_s: Some(_) }))
                && why(1).is_none()
                && why(2).is_none()
        );
        assert!(
            affordable(&mut all, &BTreeMap::new(), 4.0, |_, _| true).is_empty(),
            "what kept runs answer is not measured again"
        );
    }

    #[test]
    fn what_a_cell_took_before_decides_whether_it_is_affordable() {
        let pair = [cell("a", "1073741824"), cell("b", "1073741824")];
        let mut all = [asked("dear", pair.clone())];
        let known = pair.into_iter().map(|cell| (cell, 0.1)).collect();
        assert_eq!(affordable(&mut all, &known, 4.0, |_, _| false).len(), 2);
        assert_eq!(affordable(&mut all, &known, 1.3, |_, _| false).len(), 0);
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
