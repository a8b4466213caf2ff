//! Verdicts: each method of a group against its baseline.

use record::plan::Plan;
use record::summary::Comparison;
use stats::ratio::Ratio;
use stats::verdict::{Verdict, verdict};

use crate::evidence::{CellEvidence, Evidence};
use crate::flags::distrust;
use crate::groups::Group;
use crate::pairs::{Column, ratio};

/// A difference must reach beyond what the twin shows; sameness must lie within what was asked for, however coarse the run.
fn believed_verdict(ratio: &Ratio, asked: f64, effective: f64) -> Verdict {
    match verdict(ratio, effective) {
        Verdict::Equivalent if verdict(ratio, asked) != Verdict::Equivalent => Verdict::Undecided,
        other => other,
    }
}

pub(crate) fn comparisons_of(plan: &Plan, evidence: &Evidence, group: &Group, margin: f64) -> Vec<Comparison> {
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
