//! A question with its cells here, ratios to the usual choice, and the number of uses from which another method pays.

use super::pool::pooled;
use crate::contrast::estimate::{LEVEL, of_series};
use crate::questions::claims::figure::{ClaimSide, index_of, is_positive, timed};
use record::advice::{AdvicePoint, Repeated, Topic, Uses};
use record::cell::Cell;
use record::outcome::{Cause, Outcome, Status};
use record::plan::BATCH;
use record::sizes::BYTES;
use record::summary::{CellSummary, LaunchValues, Ratio, Summary, Sureness, Verdict};
use record::{claim::Of, experiment::Experiment};
use stats::interval::LEAST_LAUNCHES;
use std::collections::BTreeMap;

/// A value of a parameter that a method of a topic does not take.
#[derive(Clone, Debug)]
pub struct UntakenValue {
    pub method: String,
    pub key: String,
    pub value: String,
    /// Values that it takes.
    pub known: Vec<String>,
}

impl UntakenValue {
    /// Outcome of the method where the value is set.
    pub(super) fn outcome(&self) -> Outcome {
        let cause = Cause::OtherValues {
            key: self.key.clone(),
            value: self.value.clone(),
            known: self.known.clone(),
        };
        Outcome::because(Status::Skipped, cause)
    }
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
    pub baseline: Cell,
    /// The other methods' cells with their names: the method, and its worker where that is another than the usual choice's.
    pub methods: Vec<(String, Cell)>,
    /// Values of the experiment that single methods do not take.
    pub untaken: Vec<UntakenValue>,
    /// Size that is measured.
    pub bytes: u64,
    /// Size that the user asked about; a larger one where the topic is in proportion to the size.
    pub asked_bytes: u64,
}

impl AdviceRequest {
    /// Open conditions that do not have their usual value in a case.
    pub(super) fn unusual(&self, settings: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let mut unusual = settings.clone();
        unusual.retain(|key, value| {
            self.open
                .get(key)
                .is_some_and(|values| values.first() != Some(value))
        });
        unusual
    }

    /// The methods that cannot be measured with these settings, each with the value that it does not take.
    pub fn untaken<'a>(
        &'a self,
        settings: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a UntakenValue> {
        self.untaken
            .iter()
            .filter(|untaken| settings.get(&untaken.key) == Some(&untaken.value))
    }

    pub fn under(&self, key: &str, value: &str) -> AdviceRequest {
        let mut settings = self.settings.clone();
        settings.insert(key.to_owned(), value.to_owned());
        AdviceRequest {
            settings,
            ..self.clone()
        }
    }

    /// The cell of a method, or of the usual choice, by its name.
    fn cell(&self, name: &str) -> Option<&Cell> {
        if name == self.topic.baseline {
            return Some(&self.baseline);
        }
        let (_, cell) = self.methods.iter().find(|(method, _)| method == name)?;
        Some(cell)
    }
}

/// Points of all summaries, ascending by size, with the runs that said anything. Several runs of one size are pooled.
pub fn points(request: &AdviceRequest, summaries: &[&Summary]) -> (Vec<AdvicePoint>, Vec<String>) {
    let mut points = Vec::new();
    let mut runs = Vec::new();
    for summary in summaries {
        let of_run = points_of_run(request, summary);
        if !of_run.is_empty() && !runs.contains(&summary.run) {
            runs.push(summary.run.clone());
        }
        points.extend(of_run);
    }
    (pooled(points), runs)
}

fn points_of_run(request: &AdviceRequest, summary: &Summary) -> Vec<AdvicePoint> {
    let baseline = by_size(summary, &request.baseline, &request.settings);
    let mut points = Vec::new();
    for (name, cell) in &request.methods {
        for (bytes, method) in by_size(summary, cell, &request.settings) {
            let Some(baseline) = baseline.get(&bytes) else {
                continue;
            };
            if let Some(cost) = ratio(summary, method, baseline, &request.measure, Of::Wall) {
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

/// A method's cost relative to the usual choice's in a summary; none where it looks lower and noise is behind that.
pub(super) fn ratio(
    summary: &Summary,
    method: &CellSummary,
    baseline: &CellSummary,
    measure: &str,
    cost: Of,
) -> Option<Ratio> {
    if !is_measured(method) || !is_measured(baseline) {
        return None;
    }
    let sides = [method, baseline].map(|cell| ClaimSide {
        cell,
        phase: measure,
    });
    let figure = timed(cost, summary, sides[0], sides[1])?;
    let is_noise = figure.estimate.ratio < 1.0 && is_noisy(summary, method, baseline);
    (figure.paired && is_positive(&figure.estimate) && !is_noise).then_some(figure.estimate)
}

/// Tells whether noise is behind the comparison of a method with the usual choice.
fn is_noisy(summary: &Summary, method: &CellSummary, baseline: &CellSummary) -> bool {
    let (method, baseline) = (index_of(summary, method), index_of(summary, baseline));
    let mut groups = summary.groups.iter();
    let Some((group, method)) = groups.find(|g| g.baseline == baseline).zip(method) else {
        return false;
    };
    let mut compared = group.comparisons.iter().filter(|c| c.cell == method);
    group.sureness == Some(Sureness::Noisy)
        || compared.any(|c| c.doubt.is_some_and(|doubt| doubt.is_noise()))
}

fn is_measured(cell: &CellSummary) -> bool {
    cell.outcome.status == Status::Ok && cell.launches >= LEAST_LAUNCHES
}

/// Tells whether a summary already answers the question at this size: every method that can be measured is shown to be
/// better, worse or the same as the usual choice.
pub fn has(
    request: &AdviceRequest,
    settings: &BTreeMap<String, String>,
    bytes: u64,
    summary: &Summary,
    margin: f64,
) -> bool {
    let Some(baseline) = at_size(summary, &request.baseline, settings, bytes) else {
        return false;
    };
    request.methods.iter().all(|(_, wanted)| {
        at_size(summary, wanted, settings, bytes).is_some_and(|method| {
            method.outcome.status == Status::Skipped
                || ratio(summary, method, baseline, &request.measure, Of::Wall)
                    .is_some_and(|ratio| is_settled(&ratio, margin))
        })
    })
}

fn is_settled(ratio: &Ratio, margin: f64) -> bool {
    Verdict::from_interval(ratio.low, ratio.high, margin) != Verdict::NotSettled
}

/// The cells of a summary that are this one, by size.
fn by_size<'a>(
    summary: &'a Summary,
    wanted: &Cell,
    settings: &BTreeMap<String, String>,
) -> BTreeMap<u64, &'a CellSummary> {
    summary
        .cells
        .iter()
        .filter(|cell| is_variant(cell, wanted, settings))
        .filter_map(|cell| Some((cell.parameters.bytes()?, cell)))
        .collect()
}

/// The cell of a summary that is this one at a size.
pub(super) fn at_size<'a>(
    summary: &'a Summary,
    wanted: &Cell,
    settings: &BTreeMap<String, String>,
    bytes: u64,
) -> Option<&'a CellSummary> {
    by_size(summary, wanted, settings).get(&bytes).copied()
}

/// Tells whether a cell of a summary is this one at whatever size, and in the case that these settings say.
fn is_variant(cell: &CellSummary, wanted: &Cell, settings: &BTreeMap<String, String>) -> bool {
    if cell.hidden || cell.cell != wanted.name() || cell.parameters.len() != wanted.parameters.len()
    {
        return false;
    }
    cell.parameters.iter().all(|(key, value)| {
        let expected = settings.get(key).or_else(|| wanted.parameters.get(key));
        key == BATCH || key == BYTES || expected == Some(value)
    })
}

/// Cost of a method in one block of launches, in nanoseconds.
struct UseCost {
    first: f64,
    /// Each time after.
    again: f64,
}

type CostsByBlock = BTreeMap<i32, UseCost>;

/// The number of uses at which the cheaper of a method and the usual choice changes, for each method.
pub(super) fn repeated(request: &AdviceRequest, summary: &Summary) -> Vec<Repeated> {
    let Some(uses) = &request.topic.uses else {
        return Vec::new();
    };
    let usual = &request.topic.baseline;
    let Some(baseline) = use_costs(request, summary, uses, usual) else {
        return Vec::new();
    };
    let mut crossings = Vec::new();
    for (name, _) in &request.methods {
        let Some(method) = use_costs(request, summary, uses, name) else {
            continue;
        };
        if let Some(count) = crossing(&baseline, &method) {
            crossings.push(Repeated {
                way: name.clone(),
                than: usual.clone(),
                noun: uses.noun.clone(),
                count,
            });
        }
        if let Some(count) = crossing(&method, &baseline) {
            crossings.push(Repeated {
                way: usual.clone(),
                than: name.clone(),
                noun: uses.noun.clone(),
                count,
            });
        }
    }
    crossings.sort_by(|a, b| a.count.ratio.total_cmp(&b.count.ratio));
    crossings
}

/// The costs of a method's first use and of each further one, which is another method's where it says so.
fn use_costs(
    request: &AdviceRequest,
    summary: &Summary,
    uses: &Uses,
    name: &str,
) -> Option<CostsByBlock> {
    let again = request
        .topic
        .way(name)
        .and_then(|method| method.again_as.as_deref())
        .unwrap_or(name);
    let (settings, bytes) = (&request.settings, request.bytes);
    let first = at_size(summary, request.cell(name)?, settings, bytes)?;
    let again = at_size(summary, request.cell(again)?, settings, bytes)?;
    let mut costs = CostsByBlock::new();
    for launch in &first.per_launch {
        if let Some(again) = again_ns(uses, again, launch.block) {
            let first = first_ns(uses, launch);
            costs.insert(launch.block, UseCost { first, again });
        }
    }
    Some(costs)
}

fn first_ns(uses: &Uses, launch: &LaunchValues) -> f64 {
    uses.first
        .iter()
        .filter_map(|phase| launch.wall_ns.get(phase))
        .sum()
}

fn again_ns(uses: &Uses, cell: &CellSummary, block: i32) -> Option<f64> {
    let launch = cell
        .per_launch
        .iter()
        .find(|launch| launch.block == block)?;
    launch.wall_ns.get(&uses.again).copied()
}

/// The number of uses from which the second method costs less than the first: each block of launches says its own. Where one
/// does not say that it costs more at first and less later, there is no such number, or it is not settled.
fn crossing(few: &CostsByBlock, many: &CostsByBlock) -> Option<Ratio> {
    let mut logs = Vec::new();
    for (block, few) in few {
        let Some(many) = many.get(block) else {
            continue;
        };
        let dearer_first = many.first > few.first;
        let cheaper_again = many.again < few.again;
        if !dearer_first || !cheaper_again {
            return None;
        }
        let count = 1.0 + (many.first - few.first) / (few.again - many.again);
        logs.push(count.ln());
    }
    if logs.len() < LEAST_LAUNCHES {
        return None;
    }
    of_series(&logs, LEVEL)
}
