//! One cell by itself: its outcome, figures, facts, laws and memory.

use crate::evidence::pairs::{PairedCost, column};
use crate::evidence::{CellEvidence, CellLaunch, Evidence, Figures};
use crate::{contrast::tails, evidence::checks::FactSeen, evidence::flags::distrust};
use anyhow::Result;
use record::outcome::{Cause, Outcome, Status};
use record::summary::{
    CacheFit, CellSummary, Distribution, FactProof, Footprint, LaunchValues, LawSummary, Levels,
    PhaseSummary, SteadySummary,
};
use record::{machine::environment::Environment, plan::PlannedCell, state::State};
use stats::steady::{Label, TOLERANCE, steadiness};
use stats::{absolute::absolute, interval::CONFIDENCE, quantile::median, steady::two_levels};
use std::collections::BTreeMap;

/// The fact by which a method says how many bytes its work goes over.
const FOOTPRINT: &str = "footprint_bytes";

/// Faults in the hidden duplicate of a cell: both are the same code, so neither can be believed then.
fn doubt_of_twin(state: &State, evidence: &Evidence, planned: &PlannedCell) -> Option<Cause> {
    let twin = state
        .cells
        .iter()
        .position(|p| p.twin && p.cell == planned.cell)?;
    let cause = evidence.cells.get(&twin)?.checks.exact_outcome()?.cause?;
    Some(Cause::Duplicate {
        cause: Box::new(cause),
    })
}

fn outcome(
    state: &State,
    evidence: &Evidence,
    index: usize,
    cell: &CellEvidence,
    doubt: Option<&Cause>,
) -> Outcome {
    let planned = &state.cells[index];
    let doubt = doubt
        .cloned()
        .or_else(|| doubt_of_twin(state, evidence, planned));
    planned
        .outcome
        .clone()
        .or_else(|| cell.checks.outcome())
        .or_else(|| doubt.map(|cause| Outcome::because(Status::Untrusted, cause)))
        .or_else(|| distrust(cell))
        .unwrap_or_else(|| outcome_by_launches(evidence, index, cell))
}

/// The outcome of a cell without doubt: it has launches, or a reason why it has none.
fn outcome_by_launches(evidence: &Evidence, index: usize, cell: &CellEvidence) -> Outcome {
    if !cell.launches.is_empty() {
        Outcome::OK
    } else if let Some((launches, proof)) = evidence.lost_states.get(&index) {
        Outcome::because(
            Status::Untrusted,
            Cause::StateLost {
                launches: *launches,
                proof: proof.clone(),
            },
        )
    } else if evidence.damaged_cells.contains(&index) {
        Outcome::because(Status::Damaged, Cause::Altered)
    } else {
        Outcome::because(Status::Refused, Cause::Budget)
    }
}

pub(crate) fn summary_of_cell(
    state: &State,
    evidence: &Evidence,
    index: usize,
    doubt: Option<&Cause>,
    cache: LastCache,
) -> Result<CellSummary> {
    let planned = &state.cells[index];
    let method = &planned.method;
    let unlaunched = CellEvidence::default();
    let cell = evidence.cells.get(&index).unwrap_or(&unlaunched);
    let measures: Vec<&str> = state
        .plan
        .experiment(&planned.cell.experiment)
        .map_or_else(Vec::new, |e| e.measures().collect());
    let mut phases = BTreeMap::new();
    for (measure, name) in measures.iter().enumerate() {
        if let Some(phase) = phase_summary(&cell.launches, measure) {
            phases.insert((*name).to_owned(), phase);
        }
    }
    let laws = cell.checks.laws.iter().map(|(law, seen)| {
        let summary = LawSummary {
            samples: seen.samples,
            broken: seen.broken,
        };
        (law.clone(), summary)
    });
    let proofs: BTreeMap<String, FactProof> = cell
        .checks
        .facts
        .iter()
        .map(|(name, fact)| (name.clone(), proof(fact)))
        .collect();
    Ok(CellSummary {
        cell: planned.cell.name(),
        experiment: planned.cell.experiment.clone(),
        method: planned.cell.method.clone(),
        worker: planned.cell.worker.clone(),
        role: method.role,
        group: method.group.clone(),
        parameters: planned.cell.parameters.clone(),
        hidden: planned.twin,
        outcome: outcome(state, evidence, index, cell, doubt),
        launches: cell.launches.len(),
        per_launch: cell
            .launches
            .iter()
            .map(|launch| launch_values(&measures, launch))
            .collect(),
        footprint: footprint(&proofs, cache),
        steady: steady(state, &planned.cell.experiment, &cell.launches),
        phases,
        counts: cell.counts.clone(),
        proofs,
        laws: laws.collect(),
        latency_ns: tails::latency(&cell.launches),
    })
}

fn launch_values(measures: &[&str], launch: &CellLaunch) -> LaunchValues {
    LaunchValues {
        launch: launch.launch,
        block: launch.block,
        rounds: launch.rounds.len(),
        wall_ns: medians(measures, launch, PairedCost::Wall),
        cpu_ns: medians(measures, launch, PairedCost::Cpu),
        tail_ns: tails::of_launch(launch),
    }
}

/// The median of a launch's rounds by measure.
fn medians(measures: &[&str], launch: &CellLaunch, cost: PairedCost) -> BTreeMap<String, f64> {
    measures
        .iter()
        .zip(&launch.measures)
        .filter_map(|(name, figures)| {
            let median = median(&mut column(figures, cost).to_vec())?;
            Some(((*name).to_owned(), median))
        })
        .collect()
}

/// The last-level cache by two accounts, which differ on virtual machines: others may fill most of what the hypervisor reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastCache {
    /// Size that the machine reports, in bytes.
    pub reported_bytes: Option<u64>,
    /// The largest working set that the caches held in a latency sweep.
    pub measured_bytes: Option<u64>,
}

impl LastCache {
    pub fn read(environment: &Environment) -> LastCache {
        let cpu = &environment.cpu;
        LastCache {
            reported_bytes: cpu.last_level_cache().and_then(|c| c.size_bytes),
            measured_bytes: cpu.ladder.as_ref().and_then(|l| Some(l.reach()?.bytes)),
        }
    }

    /// Half a cache is in it by the lesser account, four caches are beyond it by the greater one (McCalpin's rule for
    /// STREAM); in between some of both is measured.
    fn fit(self, bytes: u64) -> CacheFit {
        let [Some(least), Some(most)] = [
            self.reported_bytes
                .into_iter()
                .chain(self.measured_bytes)
                .min(),
            self.reported_bytes.max(self.measured_bytes),
        ] else {
            return CacheFit::Unknown;
        };
        if bytes <= least / 2 {
            CacheFit::InCache
        } else if bytes >= most.saturating_mul(4) {
            CacheFit::InMemory
        } else {
            CacheFit::Around
        }
    }
}

fn footprint(proofs: &BTreeMap<String, FactProof>, cache: LastCache) -> Option<Footprint> {
    let Some(FactProof::Number { max: bytes, .. }) = proofs.get(FOOTPRINT) else {
        return None;
    };
    Some(Footprint {
        bytes: *bytes,
        against_cache: cache.fit(*bytes),
    })
}

/// Launches of a cell that are asked whether they were steady, evenly chosen: more of them tell the same.
const MOST_LOOKED_AT: usize = 100;

/// Most frequent course of launches from round to round; where two labels are as frequent, the worse one.
fn steady(state: &State, experiment: &str, launches: &[CellLaunch]) -> Option<SteadySummary> {
    let experiment = state.plan.experiment(experiment)?;
    let measure = experiment
        .measures()
        .position(|m| m == experiment.headline())?;
    let few = launches
        .iter()
        .step_by(launches.len().div_ceil(MOST_LOOKED_AT).max(1));
    let rounds = few
        .map(|l| &l.measures[measure].wall_ns)
        .filter(|rounds| !rounds.is_empty());
    let judged: Vec<_> = rounds
        .filter_map(|rounds| steadiness(rounds, TOLERANCE, state.plan.seed).ok())
        .collect();
    let mut counts: BTreeMap<Label, usize> = BTreeMap::new();
    for launch in &judged {
        *counts.entry(launch.label).or_insert(0) += 1;
    }
    let (&label, _) = counts
        .iter()
        .max_by_key(|(label, count)| (**count, **label != Label::Short, **label))?;
    Some(SteadySummary {
        label,
        launches: counts
            .iter()
            .map(|(label, count)| (label.word().to_owned(), *count))
            .collect(),
        shift: median(&mut judged.iter().filter_map(|s| s.shift).collect::<Vec<_>>()),
    })
}

pub(super) fn proof(fact: &FactSeen) -> FactProof {
    match fact {
        FactSeen::Numbers(min, max, samples) => FactProof::Number {
            min: *min,
            max: *max,
            samples: *samples,
        },
        FactSeen::Words(words) => FactProof::Words(words.iter().cloned().collect()),
    }
}

fn distribution(
    launches: &[CellLaunch],
    measure: usize,
    which: PairedCost,
) -> Option<Distribution> {
    let values = launches
        .iter()
        .map(|l| column(&l.measures[measure], which))
        .filter(|v| !v.is_empty());
    let mut values: Vec<Vec<f64>> = values.map(<[f64]>::to_vec).collect();
    let figures = absolute(&mut values, CONFIDENCE).ok()?;
    let means = values
        .iter()
        .map(|launch| launch.iter().sum::<f64>() / launch.len() as f64);
    let mean = means.sum::<f64>() / values.len() as f64;
    Some(Distribution {
        median: figures.median.estimate,
        mean: Some(mean),
        low: figures.median.interval.map(|i| i.low),
        high: figures.median.interval.map(|i| i.high),
        p90: figures.p90.map(|q| q.estimate),
        p99: figures.p99.map(|q| q.estimate),
        min: figures.min,
    })
}

pub(super) fn phase_summary(launches: &[CellLaunch], measure: usize) -> Option<PhaseSummary> {
    let wall_ns = distribution(launches, measure, PairedCost::Wall)?;
    let figures: Vec<&Figures> = launches
        .iter()
        .map(|launch| &launch.measures[measure])
        .filter(|figures| !figures.wall_ns.is_empty())
        .collect();
    let (ops, bytes) = (mean(&figures, "ops"), mean(&figures, "bytes"));
    Some(PhaseSummary {
        wall_ns,
        cpu_ns: distribution(launches, measure, PairedCost::Cpu)?,
        per_unit_ns: wall_ns.map(|ns| ns / ops.max(1.0)),
        bytes_per_second: (bytes > 0.0 && wall_ns.median > 0.0)
            .then(|| bytes / (wall_ns.median / 1e9)),
        user_ns: mean(&figures, "user_ns"),
        system_ns: mean(&figures, "system_ns"),
        minor_faults: mean(&figures, "minor_faults"),
        major_faults: mean(&figures, "major_faults"),
        voluntary_switches: mean(&figures, "voluntary_switches"),
        involuntary_switches: mean(&figures, "involuntary_switches"),
        of_best_possible: None,
        levels: levels(&figures),
        below_floor: false,
        samples: figures.iter().map(|f| f.wall_ns.len()).sum(),
    })
}

/// The mean of a counter over launches.
fn mean(figures: &[&Figures], counter: &str) -> f64 {
    let sum: f64 = figures.iter().filter_map(|f| f.mean(counter)).sum();
    sum / figures.len() as f64
}

/// The two levels on which the medians of launches lie, if they do.
fn levels(figures: &[&Figures]) -> Option<Levels> {
    let logs: Vec<f64> = figures
        .iter()
        .filter_map(|f| Some(median(&mut f.wall_ns.clone())?.ln()))
        .collect();
    let levels = two_levels(&logs)?;
    Some(Levels {
        low: levels.low.exp(),
        high: levels.high.exp(),
        share: levels.share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_footprint_is_in_cache_by_the_lesser_account_and_in_memory_by_the_greater() {
        let reported = LastCache {
            reported_bytes: Some(32 * MIB),
            measured_bytes: None,
        };
        assert_eq!(
            [16, 17, 127, 128].map(|n| reported.fit(n * MIB)),
            [
                CacheFit::InCache,
                CacheFit::Around,
                CacheFit::Around,
                CacheFit::InMemory
            ]
        );
        // A hypervisor reports 32 MiB, and others leave 4 of them.
        let both = LastCache {
            measured_bytes: Some(4 * MIB),
            ..reported
        };
        assert_eq!(
            [2, 3, 16, 127, 128].map(|n| both.fit(n * MIB)),
            [
                CacheFit::InCache,
                CacheFit::Around,
                CacheFit::Around,
                CacheFit::Around,
                CacheFit::InMemory
            ]
        );
        assert_eq!(LastCache::default().fit(1), CacheFit::Unknown);
    }
}
