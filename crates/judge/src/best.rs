//! The methods of a group that cannot be told from the best.

use std::collections::BTreeMap;

use anyhow::Result;
use record::method::{Method, Role};
use record::plan::Plan;
use record::summary::BestSet;
use stats::best::best_set;
use stats::stopping::STOPPED_CONFIDENCE;

use crate::evidence::Evidence;
use crate::flags::distrust;
use crate::groups::Group;
use crate::pairs::rows;

pub(crate) fn best_of(plan: &Plan, evidence: &Evidence, group: &Group, margin: f64) -> Result<Vec<BestSet>> {
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
