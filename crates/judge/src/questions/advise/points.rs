//! A question with its cells here, ratios to the usual choice, and the number of uses from which another method pays.

use super::pool::pooled;
use crate::contrast::estimate::{LEVEL, of_series};
use crate::questions::claims::figure::{ClaimSide, timed};
use record::advice::{AdvicePoint, Repeated, Topic, Uses};
use record::summary::{CellSummary, LaunchValues, Ratio, Summary, Verdict};
use record::{cell::Cell, claim::Of, experiment::Experiment, outcome::Status, plan::BATCH};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// One way's cost relative to another's in a summary.
pub(super) fn ratio(
    summary: &Summary,
    (way, other): (&CellSummary, &CellSummary),
    measure: &str,
    cost: Of,
) -> Option<Ratio> {
    let measured = |c: &CellSummary| c.outcome.status == Status::Ok && c.launches >= LEAST_LAUNCHES;
    if !measured(way) || !measured(other) {
        return None;
    }
    let side = |cell| ClaimSide {
        cell,
        phase: measure,
    };
    let figure = timed(cost, summary, side(way), side(other))?;
    let sound = |e: &Ratio| {
        [e.low, e.ratio, e.high]
            .iter()
            .all(|v| v.is_finite() && *v > 0.0)
    };
    Some(figure.estimate).filter(|e| figure.paired && sound(e))
}

fn of_one(
    request: &AdviceRequest,
    settings: &BTreeMap<String, String>,
    summary: &Summary,
) -> Vec<AdvicePoint> {
    let obvious = by_size(summary, &request.obvious, settings);
    let mut points = Vec::new();
    for (name, cell) in &request.ways {
        for (bytes, way) in by_size(summary, cell, settings) {
            let Some(base) = obvious.get(&bytes) else {
                continue;
            };
            if let Some(cost) = ratio(summary, (way, base), &request.measure, Of::Wall) {
                points.push(AdvicePoint {
                    bytes,
                    way: name.clone(),
                    cost,
                });
            }
        }
    }
    points
}

/// Points of all summaries, ascending by size, with the runs that said anything. Several runs of one size are pooled.
pub fn points(request: &AdviceRequest, summaries: &[&Summary]) -> (Vec<AdvicePoint>, Vec<String>) {
    let mut all = Vec::new();
    let mut runs = Vec::new();
    for summary in summaries {
        let mine = of_one(request, &request.settings, summary);
        if !mine.is_empty() && !runs.contains(&summary.run) {
            runs.push(summary.run.clone());
        }
        all.extend(mine);
    }
    (pooled(all), runs)
}

/// Tells whether a summary already answers the question at this size: every way that can be measured is shown to be
/// better, worse or the same as the obvious one.
pub fn has(
    request: &AdviceRequest,
    settings: &BTreeMap<String, String>,
    bytes: u64,
    summary: &Summary,
    margin: f64,
) -> bool {
    let cell = |wanted| by_size(summary, wanted, settings).get(&bytes).copied();
    let Some(base) = cell(&request.obvious) else {
        return false;
    };
    request.ways.iter().all(|(_, wanted)| {
        cell(wanted).is_some_and(|way| {
            let settled =
                |e: Ratio| Verdict::from_interval(e.low, e.high, margin) != Verdict::NotSettled;
            let cost = || ratio(summary, (way, base), &request.measure, Of::Wall);
            way.outcome.status == Status::Skipped || cost().is_some_and(settled)
        })
    })
}

/// A topic as a user asked it.
#[derive(Clone, Debug)]
pub struct AdviceRequest {
    pub topic: Topic,
    /// Fixed parameters, as the experiment writes them.
    pub settings: BTreeMap<String, String>,
    pub experiment: Experiment,
    /// Conditions that the user left open, each with its values: the usual one first.
    pub open: BTreeMap<String, Vec<String>>,
    /// The phase or total that counts.
    pub measure: String,
    /// The usual choice's cell, at any size.
    pub obvious: Cell,
    /// The other ways' cells with their names: the method, and its worker where that is another than the usual choice's.
    pub ways: Vec<(String, Cell)>,
    pub bytes: u64,
}

impl AdviceRequest {
    /// Open conditions that do not have their usual value in a case.
    pub(super) fn unusual(&self, settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let is_unusual = |(key, value): &(&String, &String)| {
            self.open
                .get(*key)
                .is_some_and(|all| all.first() != Some(value))
        };
        settings
            .iter()
            .filter(is_unusual)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    pub fn under(&self, key: &str, value: &str) -> AdviceRequest {
        let mut settings = self.settings.clone();
        settings.insert(key.to_owned(), value.to_owned());
        AdviceRequest {
            settings,
            ..self.clone()
        }
    }
}

pub(super) const BYTES: &str = "bytes";

/// Tells whether a cell of a summary is this one at whatever size, and in the case that these settings say.
fn is(cell: &CellSummary, wanted: &Cell, settings: &BTreeMap<String, String>) -> bool {
    let setting = |key: &String| settings.get(key).or_else(|| wanted.parameters.get(key));
    let plain = |key: &&String| *key != BATCH && *key != BYTES;
    !cell.hidden
        && cell.cell == wanted.name()
        && cell.parameters.len() == wanted.parameters.len()
        && cell
            .parameters
            .keys()
            .filter(plain)
            .all(|key| setting(key) == cell.parameters.get(key))
}

/// The cells of a summary that are this one, by size.
pub(super) fn by_size<'a>(
    summary: &'a Summary,
    wanted: &Cell,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<u64, &'a CellSummary> {
    let mine = summary.cells.iter().filter(|c| is(c, wanted, settings));
    mine.filter_map(|c| Some((c.parameters.get(BYTES)?.parse().ok()?, c)))
        .collect()
}

/// Cost of a method the first time and each time after, in nanoseconds, in each block of launches.
type Costs = BTreeMap<i32, (f64, f64)>;

fn costs(uses: &Uses, way: &CellSummary, again: &CellSummary) -> Costs {
    let costs = |launch: &LaunchValues| {
        let later = again
            .per_launch
            .iter()
            .find(|other| other.block == launch.block)?;
        let first = uses
            .first
            .iter()
            .filter_map(|phase| launch.wall_ns.get(phase))
            .sum();
        Some((launch.block, (first, *later.wall_ns.get(&uses.again)?)))
    };
    way.per_launch.iter().filter_map(costs).collect()
}

/// The number of uses from which one way costs less than another, where there is one: each block of launches says its own.
fn crossing(few: &Costs, many: &Costs) -> Option<(Vec<f64>, bool)> {
    let crossing = |(block, (first, again)): (&i32, &(f64, f64))| {
        let (other_first, other_again) = many.get(block)?;
        Some(1.0 + (other_first - first) / (again - other_again))
    };
    let all: Vec<f64> = few.iter().filter_map(crossing).collect();
    let shared = few.keys().filter(|block| many.contains_key(block));
    // Each block must say that it costs more at first and less later; otherwise there is no such number, or it is not settled.
    let agree = shared
        .clone()
        .all(|b| many[b].0 > few[b].0 && many[b].1 < few[b].1);
    Some((all, agree)).filter(|(all, _)| all.len() >= LEAST_LAUNCHES)
}

/// For each way and the obvious one, the number of uses at which the cheaper of the two changes.
pub(super) fn repeated(request: &AdviceRequest, summary: &Summary) -> Vec<Repeated> {
    let Some(uses) = &request.topic.uses else {
        return Vec::new();
    };
    let cell = |wanted| {
        by_size(summary, wanted, &request.settings)
            .get(&request.bytes)
            .copied()
    };
    let named = |name: &str| {
        if name == request.topic.obvious {
            cell(&request.obvious)
        } else {
            request
                .ways
                .iter()
                .find(|(other, _)| other == name)
                .and_then(|(_, wanted)| cell(wanted))
        }
    };
    let costs_of = |name: &str| {
        let again = request
            .topic
            .way(name)
            .and_then(|w| w.again_as.as_deref())
            .unwrap_or(name);
        Some(costs(uses, named(name)?, named(again)?))
    };
    let Some(obvious) = costs_of(&request.topic.obvious) else {
        return Vec::new();
    };
    let mut crossings = Vec::new();
    for (name, _) in &request.ways {
        let Some(way) = costs_of(name) else { continue };
        let pairs = [
            (&obvious, &way, name, &request.topic.obvious),
            (&way, &obvious, &request.topic.obvious, name),
        ];
        for (few, many, way, than) in pairs {
            let Some((counts, true)) = crossing(few, many) else {
                continue;
            };
            let logs: Vec<f64> = counts.iter().map(|n| n.ln()).collect();
            if let Some(count) = of_series(&logs, LEVEL) {
                let (way, than, noun) = (way.clone(), than.clone(), uses.noun.clone());
                crossings.push(Repeated {
                    way,
                    than,
                    noun,
                    count,
                });
            }
        }
    }
    crossings.sort_by(|a, b| a.count.ratio.total_cmp(&b.count.ratio));
    crossings
}
