//! Figures of one cell by itself: distributions of its phases, and its facts.

use crate::checks::FactSeen;
use crate::evidence::{CellLaunch, Figures};
use crate::pairs::{PairedCost, column};
use record::summary::{Distribution, FactProof, Levels, PhaseSummary};
use stats::{absolute::absolute, interval::CONFIDENCE, levels::two_levels, quantile::median};

pub(super) fn proof(fact: &FactSeen) -> FactProof {
    match fact {
        FactSeen::Numbers(min, max, samples) => FactProof::Number { min: *min, max: *max, samples: *samples },
        FactSeen::Words(words) => FactProof::Words(words.iter().cloned().collect()),
    }
}

fn distribution(launches: &[CellLaunch], measure: usize, which: PairedCost) -> Option<Distribution> {
    let values = launches.iter().map(|l| column(&l.measures[measure], which)).filter(|v| !v.is_empty());
    let mut values: Vec<Vec<f64>> = values.map(<[f64]>::to_vec).collect();
    let figures = absolute(&mut values, CONFIDENCE).ok()?;
    let means = values.iter().map(|launch| launch.iter().sum::<f64>() / launch.len() as f64);
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

/// The same of so many units each.
fn per_unit(all: &Distribution, units: f64) -> Distribution {
    let each = |value: Option<f64>| value.map(|v| v / units);
    let (low, high, p90, p99) = (each(all.low), each(all.high), each(all.p90), each(all.p99));
    Distribution { median: all.median / units, mean: each(all.mean), low, high, p90, p99, min: all.min / units }
}

pub(super) fn phase_summary(launches: &[CellLaunch], measure: usize) -> Option<PhaseSummary> {
    let wall_ns = distribution(launches, measure, PairedCost::Wall)?;
    let with: Vec<&Figures> = launches.iter().map(|l| &l.measures[measure]).filter(|f| !f.wall_ns.is_empty()).collect();
    let mean = |name: &str| with.iter().filter_map(|f| f.mean(name)).sum::<f64>() / with.len() as f64;
    let (ops, bytes) = (mean("ops"), mean("bytes"));
    Some(PhaseSummary {
        wall_ns,
        cpu_ns: distribution(launches, measure, PairedCost::Cpu)?,
        per_unit_ns: per_unit(&wall_ns, ops.max(1.0)),
        bytes_per_second: (bytes > 0.0 && wall_ns.median > 0.0).then(|| bytes / (wall_ns.median / 1e9)),
        user_ns: mean("user_ns"),
        system_ns: mean("system_ns"),
        minor_faults: mean("minor_faults"),
        major_faults: mean("major_faults"),
        voluntary_switches: mean("voluntary_switches"),
        involuntary_switches: mean("involuntary_switches"),
        of_best_possible: None,
        levels: two_levels(&with.iter().filter_map(|f| Some(median(&mut f.wall_ns.clone())?.ln())).collect::<Vec<_>>())
            .map(|levels| Levels { low: levels.low.exp(), high: levels.high.exp(), share: levels.share }),
        below_floor: false,
        samples: with.iter().map(|f| f.wall_ns.len()).sum(),
    })
}
