//! From evidence to a summary.

use std::collections::BTreeMap;

use anyhow::Result;
use record::method::{Method, Role};
use record::outcome::{Outcome, Status};
use record::plan::{Plan, PlannedCell, SCHEMA, compatible};
use record::summary::{CellSummary, LawSummary, SteadySummary, Summary, TwinSummary};
use stats::quantile::median;
use stats::steady::{Label, TOLERANCE, steadiness};
use stats::verdict::{Twin, effective_margin};

use crate::agreement::disagreements;
use crate::best::best_of;
use crate::compared::comparisons_of;
use crate::evidence::{CellEvidence, CellLaunch, Evidence};
use crate::figures::{latency, phase_summary, proof};
use crate::flags::distrust;
use crate::groups::groups;
use crate::pairs::headline_twin;
use crate::warnings;

/// Judges a whole run.
pub fn summarise(
    plan: &Plan,
    evidence: &Evidence,
    environment: BTreeMap<String, String>,
    remarks: Vec<String>,
) -> Result<Summary> {
    let mut cells = Vec::new();
    let disagreeing: BTreeMap<usize, String> = disagreements(plan, evidence).into_iter().collect();
    for (index, planned) in plan.cells.iter().enumerate().filter(|(_, p)| !p.twin) {
        let doubt = disagreeing.get(&index).cloned().or_else(|| doubt_of_twin(plan, evidence, planned));
        cells.push(cell_summary(plan, evidence, index, planned, doubt.as_ref())?);
    }
    let (mut comparisons, mut best, mut twins) = (Vec::new(), Vec::new(), Vec::new());
    for group in groups(plan, None) {
        let twin_ratio = headline_twin(plan, evidence, &group);
        let margin = twin_ratio.as_ref().map_or(plan.margin, |t| effective_margin(plan.margin, &t.ratio));
        comparisons.extend(comparisons_of(plan, evidence, &group, margin));
        best.extend(best_of(plan, evidence, &group, margin)?);
        twins.extend(twin_ratio);
    }
    limits(plan, &mut cells);
    let differs = twins.iter().any(|t| t.verdict == Twin::Differs);
    let trusted = !differs && cells.iter().all(|c| c.status != Status::Untrusted);
    let distance = |t: &TwinSummary| (t.verdict == Twin::Differs, t.ratio.estimate.ln().abs());
    twins.sort_by(|a, b| distance(b).partial_cmp(&distance(a)).unwrap_or(std::cmp::Ordering::Equal));
    let mut summary = Summary {
        schema: SCHEMA,
        run: plan.run.clone(),
        environment,
        cells,
        comparisons,
        best,
        twin: twins.into_iter().next(),
        trusted,
        warnings: Vec::new(),
        remarks,
    };
    summary.warnings = warnings::all(plan, evidence, &summary);
    Ok(summary)
}

/// What is broken in the hidden twin of a cell: both are the same code, so neither can be believed then.
fn doubt_of_twin(plan: &Plan, evidence: &Evidence, planned: &PlannedCell) -> Option<String> {
    let twin = plan.cells.iter().position(|p| p.twin && p.cell == planned.cell)?;
    let outcome = evidence.cells.get(&twin)?.checks.exact_outcome()?;
    Some(format!("in its hidden twin: {}", outcome.reason))
}

fn cell_summary(
    plan: &Plan,
    evidence: &Evidence,
    index: usize,
    planned: &PlannedCell,
    doubt: Option<&String>,
) -> Result<CellSummary> {
    let method = Method::parse(&planned.method)?;
    let nothing = CellEvidence::default();
    let mine = evidence.cells.get(&index).unwrap_or(&nothing);
    let outcome = planned.outcome.clone().or_else(|| mine.checks.outcome());
    let outcome = outcome.or_else(|| doubt.map(|reason| Outcome::of(Status::Untrusted, reason)));
    let outcome = outcome.or_else(|| distrust(mine).map(|reason| Outcome::of(Status::Untrusted, reason)));
    let outcome = outcome.unwrap_or_else(|| match mine.launches.is_empty() {
        true => Outcome::of(Status::Refused, "the time budget ended before it was measured; raise --budget"),
        false => Outcome::of(Status::Ok, ""),
    });
    let mut phases = BTreeMap::new();
    if let Some(experiment) = plan.experiment(&planned.cell.experiment) {
        for (measure, name) in experiment.measures().enumerate() {
            if let Some(phase) = phase_summary(&mine.launches, measure) {
                phases.insert(name.to_owned(), phase);
            }
        }
    }
    let laws = mine.checks.laws.iter().map(|(t, s)| (t.clone(), LawSummary { asked: s.asked, broken: s.broken }));
    let role = match method.role {
        Role::Method => "method",
        Role::Limit => "limit",
        Role::Null => "null",
        Role::Published => "published",
    };
    Ok(CellSummary {
        cell: planned.cell.name(),
        experiment: planned.cell.experiment.clone(),
        method: planned.cell.method.clone(),
        worker: planned.cell.worker.clone(),
        role: role.to_owned(),
        group: method.group,
        parameters: planned.cell.parameters.clone(),
        status: outcome.status,
        reason: outcome.reason,
        launches: mine.launches.len(),
        steady: steady(plan, &planned.cell.experiment, &mine.launches),
        phases,
        proofs: mine.checks.facts.iter().map(|(name, fact)| (name.clone(), proof(fact))).collect(),
        laws: laws.collect(),
        latency_ns: latency(&mine.launches),
    })
}

/// What most launches were like from round to round; where two labels are as frequent, the worse one.
fn steady(plan: &Plan, experiment: &str, launches: &[CellLaunch]) -> Option<SteadySummary> {
    let experiment = plan.experiment(experiment)?;
    let measure = experiment.measures().position(|m| m == experiment.headline())?;
    let rounds = launches.iter().map(|l| &l.measures[measure].wall_ns).filter(|rounds| !rounds.is_empty());
    let judged: Vec<_> = rounds.filter_map(|rounds| steadiness(rounds, TOLERANCE, plan.seed).ok()).collect();
    let mut counts: BTreeMap<Label, usize> = BTreeMap::new();
    judged.iter().for_each(|s| *counts.entry(s.label).or_insert(0) += 1);
    let (&label, _) = counts.iter().max_by_key(|(label, count)| (**count, **label != Label::Short, **label))?;
    Some(SteadySummary {
        label,
        launches: counts.iter().map(|(label, count)| (label.word().to_owned(), *count)).collect(),
        shift: median(&mut judged.iter().filter_map(|s| s.shift).collect::<Vec<_>>()),
    })
}

/// Puts each figure beside the limit's and the floor's of its group.
fn limits(plan: &Plan, cells: &mut [CellSummary]) {
    let snapshot = cells.to_vec();
    for cell in cells.iter_mut() {
        let Some(experiment) = plan.experiment(&cell.experiment) else { continue };
        let grouping = |c: &CellSummary| -> BTreeMap<String, String> {
            let kept = c.parameters.iter().filter(|(key, _)| experiment.groups_by(key));
            kept.map(|(k, v)| (k.clone(), v.clone())).collect()
        };
        let mine = grouping(cell);
        let other = |role: &str| {
            let fits =
                |o: &&CellSummary| o.experiment == cell.experiment && o.role == role && compatible(&mine, &grouping(o));
            let of_worker = |o: &&CellSummary| o.worker == cell.worker;
            snapshot.iter().filter(fits).find(of_worker).or_else(|| snapshot.iter().find(fits))
        };
        // A way that does something else (passes a descriptor, throws bytes away) is no share of what the limit does.
        let same_kind = |l: &&CellSummary| l.group == cell.group && l.status == Status::Ok;
        let (limit, null) = (other("limit").filter(same_kind), other("null"));
        for (name, phase) in &mut cell.phases {
            let of_limit = limit.and_then(|l| l.phases.get(name));
            phase.limit_fraction =
                of_limit.map(|l| l.per_unit_ns.median / phase.per_unit_ns.median).filter(|f| f.is_finite());
            let floor = null.and_then(|n| n.phases.get(name)).map(|n| n.wall_ns.median);
            phase.below_floor = cell.role != "null" && floor.is_some_and(|f| phase.wall_ns.median < 2.0 * f);
        }
    }
}
