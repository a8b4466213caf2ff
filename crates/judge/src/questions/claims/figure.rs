//! The figure of a claim: a ratio of two cells' costs, or a cost by itself, with its interval.

use crate::contrast::estimate::{LEVEL, logs_by_block, of_series};
use crate::contrast::tails::{P99, P999};
use record::cell::Cell;
use record::claim::{Claim, ClaimKind, Job, Of, Per};
use record::outcome::Status;
use record::parameters::Parameters;
use record::plan::BATCH;
use record::summary::{CellSummary, FactProof, LaunchValues, PhaseSummary, Ratio, Summary};
use stats::t::{Welch, two_sided_p, welch};
use stats::{estimate::LEAST_POINTS, looks::price, quantile::median};

/// Degrees of freedom of an error that is known and not estimated.
const MANY: f64 = 1e6;

/// A figure with what tests need of it.
#[derive(Clone, Debug)]
pub(crate) struct ClaimFigure {
    pub estimate: Ratio,
    pub paired: bool,
    pub unit: String,
}

impl ClaimFigure {
    /// A ratio of two methods, or of one method's two phases.
    fn ratio(estimate: Ratio, paired: bool) -> ClaimFigure {
        ClaimFigure {
            estimate,
            paired,
            unit: String::new(),
        }
    }

    /// The one-sided probability of a figure this far from the truth, times the interim analyses until now.
    pub fn tail(&self, distance: f64) -> Option<f64> {
        if self.estimate.is_of_extremes() {
            return None;
        }
        let Ratio { error, freedom, .. } = self.estimate;
        if !(error > 0.0 && distance.is_finite()) {
            return Some(0.0);
        }
        let once = two_sided_p(distance / error, freedom) / 2.0;
        Some((once * price(self.estimate.launches)).min(1.0))
    }

    /// The same, were there so many launches of the same spread.
    pub fn tail_after(&self, distance: f64, launches: usize) -> Option<f64> {
        let (have, then) = (self.estimate.launches as f64, launches as f64);
        let estimate = Ratio {
            launches,
            error: self.estimate.error * (have / then).sqrt(),
            freedom: self.estimate.freedom * (then - 1.0) / (have - 1.0).max(1.0),
            ..self.estimate
        };
        ClaimFigure {
            estimate,
            ..self.clone()
        }
        .tail(distance)
    }
}

/// A cell with the phase or total of it that counts.
#[derive(Clone, Copy)]
pub(crate) struct ClaimSide<'a> {
    pub cell: &'a CellSummary,
    pub phase: &'a str,
}

impl<'a> ClaimSide<'a> {
    pub fn summary(self) -> Option<&'a PhaseSummary> {
        self.cell.phases.get(self.phase)
    }

    /// Tells whether its cell has enough launches for an interval.
    fn is_measured(self) -> bool {
        self.cell.outcome.status == Status::Ok && self.cell.launches >= LEAST_POINTS
    }

    /// Cost of each launch that has one, with its block.
    fn costs(self, cost: Of) -> impl Iterator<Item = (i32, f64)> + 'a {
        self.cell
            .per_launch
            .iter()
            .filter_map(move |launch| Some((launch.block, value(cost, launch, self.phase)?)))
    }

    fn logs(self, cost: Of) -> Vec<f64> {
        self.costs(cost).map(|(_, value)| value.ln()).collect()
    }
}

/// A cell of a summary. Its batch is the pilot's and not the plan's, so it does not tell cells apart.
pub(super) fn cell<'a>(summary: &'a Summary, wanted: &Cell) -> Option<&'a CellSummary> {
    let name = wanted.name();
    summary.cells.iter().find(|cell| {
        !cell.hidden
            && cell.cell == name
            && without_batch(&cell.parameters).eq(without_batch(&wanted.parameters))
    })
}

fn without_batch(parameters: &Parameters) -> impl Iterator<Item = (&String, &String)> {
    parameters.iter().filter(|(key, _)| *key != BATCH)
}

/// The figure of a claim from its cells, where they bring one.
pub(super) fn of_claim(
    claim: &Claim,
    job: &Job,
    summary: &Summary,
    method: ClaimSide,
    baseline: Option<ClaimSide>,
) -> Option<ClaimFigure> {
    if !method.is_measured() || baseline.is_some_and(|side| !side.is_measured()) {
        return None;
    }
    let figure = match claim.kind {
        ClaimKind::Absolute => absolute(job, claim.holds.as_ref()?.per?, method, summary)?,
        ClaimKind::Ratio | ClaimKind::Crossover => ratio(job, summary, method, baseline?)?,
    };
    is_positive(&figure.estimate).then_some(figure)
}

/// Tells whether a ratio and its interval are finite and above zero.
pub(crate) fn is_positive(ratio: &Ratio) -> bool {
    [ratio.low, ratio.ratio, ratio.high]
        .iter()
        .all(|value| value.is_finite() && *value > 0.0)
}

fn ratio(
    job: &Job,
    summary: &Summary,
    method: ClaimSide,
    baseline: ClaimSide,
) -> Option<ClaimFigure> {
    let launches = method.cell.launches.min(baseline.cell.launches);
    if let Some(fact) = &job.fact {
        let (low, high) = extremes(method.cell, fact)?;
        let (least, most) = extremes(baseline.cell, fact)?;
        let ratio = ((low * high) / (least * most)).sqrt();
        let estimate = Ratio::of_extremes(ratio, low / most, high / least, launches);
        return Some(ClaimFigure::ratio(estimate, true));
    }
    match job.cost {
        Of::Faults => {
            let (events, samples) = counted(method)?;
            let (baseline_events, baseline_samples) = counted(baseline)?;
            let per_sample = events / samples;
            let baseline_per_sample = baseline_events / baseline_samples;
            let error = (1.0 / events + 1.0 / baseline_events).sqrt();
            counts(per_sample / baseline_per_sample, error, launches)
        }
        Of::Spread => Some(ClaimFigure::ratio(spread(method, baseline)?, false)),
        Of::Wall | Of::Cpu | Of::P99 | Of::Tail => timed(job.cost, summary, method, baseline),
    }
}

/// Launches of both, paired where they are of the same blocks: a comparison group launches its cells together.
pub(crate) fn timed(
    cost: Of,
    summary: &Summary,
    method: ClaimSide,
    baseline: ClaimSide,
) -> Option<ClaimFigure> {
    if let Some(figure) = compared(cost, summary, method, baseline) {
        return Some(figure);
    }
    // Launches of two groups take turns too, block by block; what the machine did meanwhile falls on both.
    let logs = logs_by_block(baseline.costs(cost), method.costs(cost));
    if logs.len() >= LEAST_POINTS {
        let paired = share_group(summary, method.cell, baseline.cell)
            || std::ptr::eq(method.cell, baseline.cell);
        return Some(widened(of_series(&logs, LEVEL)?, summary, paired));
    }
    let (logs, baseline_logs) = (method.logs(cost), baseline.logs(cost));
    if logs.len().min(baseline_logs.len()) < LEAST_POINTS {
        return None;
    }
    Some(widened(unpaired(&logs, &baseline_logs)?, summary, false))
}

/// The place of a cell among those of its summary.
pub(crate) fn index_of(summary: &Summary, cell: &CellSummary) -> Option<usize> {
    summary
        .cells
        .iter()
        .position(|other| std::ptr::eq(other, cell))
}

fn share_group(summary: &Summary, a: &CellSummary, b: &CellSummary) -> bool {
    index_of(summary, a)
        .zip(index_of(summary, b))
        .is_some_and(|(a, b)| {
            let mut groups = summary.groups.iter();
            groups.any(|group| group.cells.contains(&a) && group.cells.contains(&b))
        })
}

/// Verdict of the run itself, where one side is the baseline of a group: its ratios are paired round by round.
fn compared(
    cost: Of,
    summary: &Summary,
    method: ClaimSide,
    baseline: ClaimSide,
) -> Option<ClaimFigure> {
    if method.phase != baseline.phase || matches!(cost, Of::P99 | Of::Tail) {
        return None;
    }
    let phase = method.phase;
    let method = index_of(summary, method.cell)?;
    let baseline = index_of(summary, baseline.cell)?;
    let estimate = recorded_ratio(summary, cost, phase, method, baseline).or_else(|| {
        let turned = recorded_ratio(summary, cost, phase, baseline, method)?;
        Some(turned.inverse())
    })?;
    Some(ClaimFigure::ratio(estimate, true))
}

/// The ratio that a summary has of a cell to its group's baseline.
fn recorded_ratio(
    summary: &Summary,
    cost: Of,
    phase: &str,
    cell: usize,
    baseline: usize,
) -> Option<Ratio> {
    let mut groups = summary
        .groups
        .iter()
        .filter(|group| group.baseline == Some(baseline));
    groups.find_map(|group| {
        let comparison = group.comparison(cell, phase)?;
        if cost == Of::Cpu {
            comparison.cpu_ratio
        } else {
            comparison.contrast.ratio
        }
    })
}

fn value(cost: Of, launch: &LaunchValues, phase: &str) -> Option<f64> {
    let (values, name) = match cost {
        Of::P99 => (&launch.tail_ns, P99),
        Of::Tail => (&launch.tail_ns, P999),
        Of::Cpu => (&launch.cpu_ns, phase),
        _ => (&launch.wall_ns, phase),
    };
    values.get(name).copied().filter(|v| *v > 0.0)
}

/// A figure whose interval is as much wider as the run's A/A checks ask for.
fn widened(ratio: Ratio, summary: &Summary, paired: bool) -> ClaimFigure {
    ClaimFigure::ratio(ratio.widened(summary.calibration.widened), paired)
}

/// The ratio of two sides whose launches are of different blocks.
fn unpaired(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let Welch {
        difference,
        error,
        freedom,
        ..
    } = welch(b, a).ok()?;
    Ratio::of_log(difference, error, freedom, a.len().min(b.len()), LEVEL).ok()
}

/// The ratio of the spreads of two sides' launches.
pub(crate) fn spread(method: ClaimSide, baseline: ClaimSide) -> Option<Ratio> {
    unpaired(&distances(method)?, &distances(baseline)?)
}

/// Distance of each launch from the median launch, as logarithms of those distances; Levene's method for spreads.
/// A launch at the median itself has no logarithm and is left out, on both sides alike.
fn distances(side: ClaimSide) -> Option<Vec<f64>> {
    let walls = side.logs(Of::Wall);
    let middle = median(&mut walls.clone())?;
    let logs: Vec<f64> = walls
        .iter()
        .map(|log| (log - middle).abs())
        .filter(|d| *d > 0.0)
        .map(f64::ln)
        .collect();
    (logs.len() + 1 >= LEAST_POINTS).then_some(logs)
}

/// Events of all samples together, with half an event more so that none has a logarithm too, and the samples.
fn counted(side: ClaimSide) -> Option<(f64, f64)> {
    let phase = side.summary()?;
    let samples = phase.samples as f64;
    (samples > 0.0).then_some((phase.minor_faults * samples + 0.5, samples))
}

/// An interval of counted events as if each came by chance (Poisson): wider than what is counted exactly alike each time needs.
fn counts(ratio: f64, error: f64, launches: usize) -> Option<ClaimFigure> {
    let estimate = Ratio::of_log(ratio.ln(), error, MANY, launches, LEVEL).ok()?;
    Some(ClaimFigure::ratio(estimate, true))
}

fn extremes(cell: &CellSummary, fact: &str) -> Option<(f64, f64)> {
    match cell.proofs.get(fact)? {
        FactProof::Number { min, max, .. } => Some((*min as f64, *max as f64)),
        FactProof::Words(_) => None,
    }
}

fn absolute(job: &Job, per: Per, side: ClaimSide, summary: &Summary) -> Option<ClaimFigure> {
    let divisor = divisor(per, side, summary)?;
    let launches = side.cell.launches;
    let (noun, figure) = if let Some(fact) = &job.fact {
        let (low, high) = extremes(side.cell, fact)?;
        let ratio = (low * high).sqrt() / divisor;
        let estimate = Ratio::of_extremes(ratio, low / divisor, high / divisor, launches);
        (fact.as_str(), ClaimFigure::ratio(estimate, true))
    } else if job.cost == Of::Faults {
        let (events, samples) = counted(side)?;
        let per_sample = events / samples / divisor;
        ("faults", counts(per_sample, 1.0 / events.sqrt(), launches)?)
    } else {
        let mut logs = side.logs(job.cost);
        for log in &mut logs {
            *log -= divisor.ln();
        }
        ("ns", widened(of_series(&logs, LEVEL)?, summary, true))
    };
    Some(ClaimFigure {
        unit: format!("{noun} {}", per.label()),
        ..figure
    })
}

/// The number of units in one sample.
fn divisor(per: Per, side: ClaimSide, summary: &Summary) -> Option<f64> {
    let phase = side.summary()?;
    let bytes = side.cell.parameters.bytes().map(|bytes| bytes as f64);
    Some(match per {
        Per::Sample => 1.0,
        Per::Unit => phase.wall_ns.median / phase.per_unit_ns.median,
        Per::Byte => bytes?,
        Per::Page => bytes? / page_bytes(summary),
        Per::Gib => bytes? / f64::from(1 << 30),
    })
}

/// The size of a base page of the machine, 4096 where the summary does not tell.
fn page_bytes(summary: &Summary) -> f64 {
    let bytes = summary
        .environment
        .get("page")
        .and_then(|text| record::sizes::parse_size(&text.replace(' ', "")).ok());
    bytes.unwrap_or(4096) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::answers;
    use crate::questions::claims::tests::{MARGIN, claim, measured, resolved, summary, text};
    use record::claim::Word;

    #[test]
    fn an_absolute_claim_holds_within_a_factor_of_two() {
        let holds = "value = 1.0\nper = \"unit\"";
        for (wall_ns, expected) in [
            (400.0, Word::Weaker),
            (600.0, Word::Holds),
            (1900.0, Word::Holds),
            (2100.0, Word::Stronger),
        ] {
            let made = summary("r", vec![measured("a", "64", wall_ns, 3)]);
            let mut claim = resolved(claim("absolute", holds));
            claim.jobs[0].other.clear();
            let answer = &answers(&[claim], &[&made], MARGIN)[0];
            assert_eq!(
                (answer.word, answer.jobs[0].unit.as_str()),
                (expected, "ns each"),
                "{wall_ns}"
            );
        }
    }

    /// A cell whose samples recorded that much memory.
    fn of_memory(method: &str, min: u64, max: u64) -> CellSummary {
        let mut cell = measured(method, "64", 1.0, 1);
        cell.proofs.insert(
            "memory_bytes".into(),
            FactProof::Number {
                min,
                max,
                samples: 9,
            },
        );
        cell
    }

    /// A cell whose launches lie so many nanoseconds apart.
    fn spread(method: &str, apart_ns: f64) -> CellSummary {
        let mut cell = measured(method, "64", 1000.0, 1);
        for (i, launch) in cell.per_launch.iter_mut().enumerate() {
            let wall_ns = 1000.0 + apart_ns * (i as f64 - 4.5);
            launch.wall_ns.insert("copy".into(), wall_ns);
        }
        cell
    }

    #[test]
    fn facts_are_compared_by_the_extremes_that_were_seen() {
        let claim = Claim::parse(
            "x.toml",
            &text("ratio", "low = 0.6\nhigh = 0.75", "fact = \"memory_bytes\""),
        )
        .unwrap();
        for (min, max, expected) in [
            (66, 67, Word::Holds),
            (50, 67, Word::Undecided),
            (99, 100, Word::NoDifferenceHere),
        ] {
            let made = summary(
                "r",
                vec![of_memory("a", min, max), of_memory("b", 100, 100)],
            );
            assert_eq!(
                answers(&[resolved(claim.clone())], &[&made], MARGIN)[0].word,
                expected,
                "{min}–{max}"
            );
        }
    }

    #[test]
    fn a_spread_is_compared_by_the_distances_from_the_median() {
        let claim = Claim::parse("x.toml", &text("ratio", "low = 1.5", "of = \"spread\"")).unwrap();
        let made = summary("r", vec![spread("a", 40.0), spread("b", 2.0)]);
        assert_eq!(
            answers(&[resolved(claim)], &[&made], MARGIN)[0].word,
            Word::Holds
        );
    }
}
