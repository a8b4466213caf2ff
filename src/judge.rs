//! From evidence to a summary: figures with intervals, ratios, verdicts, the best set, the twin. Pure: no clock, no files.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::catalog::Experiment;
use crate::evidence::{CellEvidence, CellLaunch, Evidence, Figures};
use crate::expression::{Expression, Values};
use crate::flags::distrust;
use crate::method::{Method, Role};
use crate::outcome::{Outcome, Status};
use crate::plan::{Plan, PlannedCell, compatible, group_of};
use crate::stats::best::best_set;
use crate::stats::quantile::median;
use crate::stats::ratio::{Paired, Ratio, log_ratios, ratio_of_logs};
use crate::stats::steady::{Label, TOLERANCE, steadiness};
use crate::stats::stopping::STOPPED_CONFIDENCE;
use crate::stats::variance::{Components, components};
use crate::stats::verdict::{Twin, Verdict, effective_margin, twin, verdict};
use crate::summary::{BestSet, CellSummary, Comparison, LawSummary, SteadySummary, Summary, TwinSummary};
use crate::warnings;

mod figures;
use figures::{latency, phase_summary, proof};

/// The bytes that a cell needs at its peak, by its method's own word.
pub fn memory_needed(planned: &PlannedCell, rounds: u32) -> Result<u64> {
    let method = Method::parse(&planned.method)?;
    bytes_of(&method.memory, planned, rounds)
}

/// The heap that a launch of these cells is to be given; `None` where none of them asks for one.
pub fn heap_needed<'a>(cells: impl Iterator<Item = &'a PlannedCell>, rounds: u32) -> Result<Option<u64>> {
    let mut most = None;
    for planned in cells {
        if let Some(heap) = Method::parse(&planned.method)?.heap {
            most = most.max(Some(bytes_of(&heap, planned, rounds)?));
        }
    }
    Ok(most)
}

fn bytes_of(expression: &Expression, planned: &PlannedCell, rounds: u32) -> Result<u64> {
    struct Needs<'a>(&'a BTreeMap<String, String>, u32);
    impl Values for Needs<'_> {
        fn number(&self, name: &str) -> Option<i128> {
            match name {
                "rounds" => Some(i128::from(self.1)),
                "page_bytes" => i128::try_from(rustix::param::page_size()).ok(),
                "huge_page_bytes" => crate::system::huge_page_bytes().map(i128::from),
                _ => self.0.get(name).and_then(|v| v.parse().ok()),
            }
        }
        fn word(&self, name: &str) -> Option<&str> {
            self.0.get(name).map(String::as_str)
        }
    }
    let value = expression.value(&Needs(&planned.cell.parameters, rounds));
    let value = value.map_err(|name| anyhow::anyhow!("{}: memory needs {name}", planned.cell.name()))?;
    Ok(u64::try_from(value.max(0)).unwrap_or(u64::MAX))
}

/// What a column costs in each round.
#[derive(Clone, Copy)]
enum Column {
    Wall,
    Cpu,
    Faults,
}

fn column(figures: &Figures, column: Column) -> &[f64] {
    match column {
        Column::Wall => &figures.wall_ns,
        Column::Cpu => &figures.cpu_ns,
        Column::Faults => &figures.minor_faults,
    }
}

/// One logarithm per block in which both cells were launched, or why there is none.
fn logs(
    a: &CellEvidence,
    b: &CellEvidence,
    measure: usize,
    which: Column,
) -> Option<(Vec<f64>, Vec<i32>, crate::stats::ratio::Basis)> {
    let mut rows: Vec<(i32, Vec<f64>, Vec<f64>)> = Vec::new();
    for mine in &b.launches {
        let Some(base) = a.launches.iter().find(|l| l.block == mine.block) else { continue };
        let (x, y) = (column(&base.measures[measure], which), column(&mine.measures[measure], which));
        if x.is_empty() || y.is_empty() {
            continue;
        }
        // Within one process rounds are paired; across processes only the launches are.
        let paired = base.launch == mine.launch && base.rounds == mine.rounds && x.len() == y.len();
        let (x, y) = if paired { (x.to_vec(), y.to_vec()) } else { (vec![middle(x)?], vec![middle(y)?]) };
        rows.push((mine.block, x, y));
    }
    let pairs: Vec<Paired> = rows.iter().map(|(_, x, y)| Paired { baseline: x, method: y }).collect();
    let (logs, basis) = log_ratios(&pairs).ok()?;
    Some((logs, rows.iter().map(|r| r.0).collect(), basis))
}

fn middle(values: &[f64]) -> Option<f64> {
    median(&mut values.to_vec())
}

fn ratio(a: &CellEvidence, b: &CellEvidence, measure: usize, which: Column) -> Option<Ratio> {
    let (logs, _, basis) = logs(a, b, measure, which)?;
    ratio_of_logs(&logs, basis, STOPPED_CONFIDENCE).ok()
}

/// A group of an experiment: cells that differ in method and worker only.
struct Group<'a> {
    experiment: &'a Experiment,
    parameters: BTreeMap<String, String>,
    cells: Vec<usize>,
    baseline: Option<usize>,
    twin: Option<usize>,
}

fn groups<'a>(plan: &'a Plan, only: Option<&str>) -> Vec<Group<'a>> {
    let mut found: Vec<Group> = Vec::new();
    for experiment in plan.experiments.iter().filter(|e| only.is_none_or(|name| e.name == name)) {
        let mine: Vec<usize> =
            (0..plan.cells.len()).filter(|&c| plan.cells[c].cell.experiment == experiment.name).collect();
        let all: BTreeSet<_> = mine.iter().map(|&c| group_of(experiment, &plan.cells[c].cell)).collect();
        let most = |g: &&BTreeMap<String, String>| !all.iter().any(|h| h.len() > g.len() && compatible(g, h));
        for parameters in all.iter().filter(most) {
            let inside = |c: &&usize| compatible(parameters, &group_of(experiment, &plan.cells[**c].cell));
            let cells: Vec<usize> = mine.iter().filter(inside).copied().collect();
            let name = plan.baselines.get(&experiment.name);
            let is_baseline = |c: &&usize| Some(&plan.cells[**c].cell.method) == name;
            let baseline = cells.iter().filter(is_baseline).find(|&&c| !plan.cells[c].twin).copied();
            let same = |c: &usize| baseline.is_some_and(|b| plan.cells[b].cell == plan.cells[*c].cell);
            let twin = cells.iter().copied().find(|c| plan.cells[*c].twin && same(c));
            let cells = cells.into_iter().filter(|&c| !plan.cells[c].twin).collect();
            found.push(Group { experiment, parameters: parameters.clone(), cells, baseline, twin });
        }
    }
    found
}

/// The half-widths of all headline ratios of an experiment that have one, with the parameters of their group.
pub fn half_widths(plan: &Plan, evidence: &Evidence, experiment: &str) -> Vec<(BTreeMap<String, String>, f64)> {
    let mut widths = Vec::new();
    for group in groups(plan, Some(experiment)) {
        let Some(measure) = group.experiment.measures().position(|m| m == group.experiment.headline()) else {
            continue;
        };
        let Some(base) = group.baseline.and_then(|b| evidence.cells.get(&b)) else { continue };
        // How wide the floor's ratio is does not matter: nobody chooses it.
        let is_null = |c: &usize| Method::parse(&plan.cells[*c].method).is_ok_and(|m| m.role == Role::Null);
        let others = group.cells.iter().copied().chain(group.twin).filter(|c| Some(*c) != group.baseline);
        for cell in others.filter(|c| !is_null(c)) {
            if let Some(mine) = evidence.cells.get(&cell)
                && let Some(ratio) = ratio(base, mine, measure, Column::Wall)
            {
                widths.push((group.parameters.clone(), ratio.half_width()));
            }
        }
    }
    widths
}

/// The two components of variance of the comparison that varies most among cells of one process, by the headline.
pub fn components_within(plan: &Plan, evidence: &Evidence, cells: &[usize]) -> Option<Components> {
    let experiment = plan.experiment(&plan.cells[*cells.first()?].cell.experiment)?;
    let measure = experiment.measures().position(|m| m == experiment.headline())?;
    let mut found = Vec::new();
    for group in groups(plan, Some(&experiment.name)) {
        let Some(base) = group.baseline.filter(|b| cells.contains(b)).and_then(|b| evidence.cells.get(&b)) else {
            continue;
        };
        let is_null = |c: &usize| Method::parse(&plan.cells[*c].method).is_ok_and(|m| m.role == Role::Null);
        let others = group.cells.iter().copied().chain(group.twin);
        for cell in others.filter(|c| cells.contains(c) && Some(*c) != group.baseline && !is_null(c)) {
            let Some(mine) = evidence.cells.get(&cell) else { continue };
            let rounds: Vec<Vec<f64>> = mine.launches.iter().filter_map(|l| round_logs(base, l, measure)).collect();
            let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
            found.extend(components(&slices).ok());
        }
    }
    let variance = |c: &Components| c.variance_of(1, 10);
    found.into_iter().max_by(|a, b| variance(a).total_cmp(&variance(b)))
}

/// The log ratio of each round of one launch, where the baseline took turns with it in the same process.
fn round_logs(base: &CellEvidence, launch: &CellLaunch, measure: usize) -> Option<Vec<f64>> {
    let other = base.launches.iter().find(|l| l.launch == launch.launch)?;
    let (x, y) = (&other.measures[measure].wall_ns, &launch.measures[measure].wall_ns);
    let all = x.len() == y.len() && x.iter().chain(y).all(|ns| *ns > 0.0);
    all.then(|| x.iter().zip(y).map(|(x, y)| (y / x).ln()).collect())
}

/// Judges a whole run.
pub fn summarise(
    plan: &Plan,
    evidence: &Evidence,
    environment: BTreeMap<String, String>,
    remarks: Vec<String>,
) -> Result<Summary> {
    let mut cells = Vec::new();
    let disagreements: BTreeMap<usize, String> = crate::verify::disagreements(plan, evidence).into_iter().collect();
    for (index, planned) in plan.cells.iter().enumerate().filter(|(_, p)| !p.twin) {
        let doubt = disagreements.get(&index).cloned().or_else(|| doubt_of_twin(plan, evidence, planned));
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
        schema: crate::plan::SCHEMA,
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

fn headline_twin(plan: &Plan, evidence: &Evidence, group: &Group) -> Option<TwinSummary> {
    let (base, other) = (group.baseline?, group.twin?);
    let measure = group.experiment.measures().position(|m| m == group.experiment.headline())?;
    let ratio = ratio(evidence.cells.get(&base)?, evidence.cells.get(&other)?, measure, Column::Wall)?;
    Some(TwinSummary {
        cell: plan.cells[base].cell.name(),
        parameters: group.parameters.clone(),
        ratio,
        verdict: twin(&ratio, plan.margin),
    })
}

/// Every group's baseline against its twin, and the logarithm of each launch's ratio.
pub fn twins(plan: &Plan, evidence: &Evidence) -> Vec<(TwinSummary, Vec<f64>)> {
    let mut found = Vec::new();
    for group in groups(plan, None) {
        let Some(summary) = headline_twin(plan, evidence, &group) else { continue };
        let measure = group.experiment.measures().position(|m| m == group.experiment.headline());
        let cells = group.baseline.zip(group.twin).zip(measure);
        let launches = cells.and_then(|((base, twin), measure)| {
            logs(evidence.cells.get(&base)?, evidence.cells.get(&twin)?, measure, Column::Wall)
        });
        found.push((summary, launches.map_or_else(Vec::new, |(logs, _, _)| logs)));
    }
    found
}

/// A difference must reach beyond what the twin shows; sameness must lie within what was asked for, however coarse the run.
fn believed_verdict(ratio: &Ratio, asked: f64, effective: f64) -> Verdict {
    match verdict(ratio, effective) {
        Verdict::Equivalent if verdict(ratio, asked) != Verdict::Equivalent => Verdict::Undecided,
        other => other,
    }
}

fn comparisons_of(plan: &Plan, evidence: &Evidence, group: &Group, margin: f64) -> Vec<Comparison> {
    let Some((baseline, base)) = group.baseline.and_then(|b| Some((b, evidence.cells.get(&b)?))) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for &cell in group.cells.iter().filter(|c| **c != baseline) {
        let Some(mine) = evidence.cells.get(&cell) else { continue };
        let planned = &plan.cells[cell].cell;
        let sound = |e: &CellEvidence| e.checks.outcome().is_none() && distrust(e).is_none();
        let believable = sound(mine) && sound(base);
        for (measure, name) in group.experiment.measures().enumerate() {
            let has = |e: &CellEvidence| e.launches.iter().any(|l| !l.measures[measure].wall_ns.is_empty());
            if !has(base) || !has(mine) {
                continue;
            }
            let wall = ratio(base, mine, measure, Column::Wall).filter(|_| believable);
            let options = planned.parameters.iter().filter(|(key, _)| !group.experiment.groups_by(key));
            found.push(Comparison {
                experiment: group.experiment.name.clone(),
                parameters: group.parameters.clone(),
                phase: name.to_owned(),
                baseline: format!("{}@{}", plan.cells[baseline].cell.method, plan.cells[baseline].cell.worker),
                method: planned.method.clone(),
                worker: planned.worker.clone(),
                options: options.map(|(k, v)| (k.clone(), v.clone())).collect(),
                cpu_ratio: ratio(base, mine, measure, Column::Cpu).filter(|_| believable),
                faults_ratio: ratio(base, mine, measure, Column::Faults).filter(|_| believable),
                verdict: wall.as_ref().map_or(Verdict::Undecided, |r| believed_verdict(r, plan.margin, margin)),
                ratio: wall,
            });
        }
    }
    found
}

fn best_of(plan: &Plan, evidence: &Evidence, group: &Group, margin: f64) -> Result<Vec<BestSet>> {
    let mut by_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for &cell in &group.cells {
        let method = Method::parse(&plan.cells[cell].method)?;
        let good = plan.cells[cell].outcome.is_none()
            && evidence.cells.get(&cell).is_some_and(|e| e.checks.outcome().is_none() && distrust(e).is_none());
        if method.role == Role::Method && good {
            by_word.entry(method.group).or_default().push(cell);
        }
    }
    let headline = group.experiment.headline();
    let Some(measure) = group.experiment.measures().position(|m| m == headline) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (word, cells) in by_word.into_iter().filter(|(_, cells)| cells.len() > 1) {
        let reference = group.baseline.filter(|b| cells.contains(b)).unwrap_or(cells[0]);
        let rows = rows(evidence, reference, &cells, measure);
        let Ok(best) = best_set(&rows, margin, STOPPED_CONFIDENCE, plan.seed) else { continue };
        let name = |i: usize| format!("{}@{}", plan.cells[cells[i]].cell.method, plan.cells[cells[i]].cell.worker);
        let others = best.members.iter().filter(|&&m| m != best.leader).map(|&m| name(m));
        found.push(BestSet {
            experiment: group.experiment.name.clone(),
            parameters: group.parameters.clone(),
            phase: headline.to_owned(),
            group: word,
            set: std::iter::once(name(best.leader)).chain(others).collect(),
            compared: cells.len(),
        });
    }
    Ok(found)
}

/// One row per block that has every cell: the logarithm of each cell's cost relative to the reference.
fn rows(evidence: &Evidence, reference: usize, cells: &[usize], measure: usize) -> Vec<Vec<f64>> {
    let Some(base) = evidence.cells.get(&reference) else { return Vec::new() };
    let columns: Vec<BTreeMap<i32, f64>> = cells
        .iter()
        .map(|cell| match evidence.cells.get(cell).and_then(|mine| logs(base, mine, measure, Column::Wall)) {
            Some((logs, blocks, _)) => blocks.into_iter().zip(logs).collect(),
            None => BTreeMap::new(),
        })
        .collect();
    let blocks: BTreeSet<i32> = columns.iter().flat_map(|c| c.keys().copied()).collect();
    blocks.iter().filter_map(|b| columns.iter().map(|c| c.get(b).copied()).collect::<Option<Vec<f64>>>()).collect()
}
