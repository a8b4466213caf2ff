//! One comparison of a claim: as it is stated, its cells in a summary, their figure, and its answer.

use super::figure::{self, ClaimFigure, ClaimSide};
use crate::sureness;
use record::cell::Cell;
use record::claim::{
    Claim, ClaimKind, Job, JobAnswer, NoVerdict, Of, ResolvedClaim, ResolvedJob, Word,
};
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Summary};
use stats::estimate::LEAST_POINTS;

/// A comparison of a claim as it is stated, and with its cells on this machine.
#[derive(Clone, Copy)]
pub(super) struct ClaimComparison<'a> {
    pub claim: &'a Claim,
    pub stated: &'a Job,
    pub resolved: &'a ResolvedJob,
}

/// The cells of a comparison in a summary. An absolute claim has no baseline.
#[derive(Clone, Copy)]
pub(super) struct JobCells<'a> {
    pub method: &'a CellSummary,
    pub baseline: Option<&'a CellSummary>,
}

/// A comparison's answer before it is adjusted for the number of questions.
pub(super) struct JudgedJob {
    pub answer: JobAnswer,
    /// The probability of its verdict where that is wrong, 1 where it has none yet; absent where the figure is no estimate.
    pub p: Option<f64>,
    /// The coarse verdict with its probability, of a claim that has one.
    pub coarse: Option<(Word, f64)>,
    /// Deciding figures, each with its distance from the edge that it must not cross, as a logarithm.
    pub tests: Vec<FigureTest>,
    /// True where other work disturbed the launches behind its time, so that it has no verdict.
    pub is_noisy: bool,
}

/// A figure that decides, with its distances from the nearest edges, as logarithms.
pub(super) struct FigureTest {
    /// Its place among the points of a crossover.
    pub point: usize,
    pub figure: ClaimFigure,
    /// The distance from the edge that decides its exact verdict.
    pub distance: f64,
    /// The distance from the edge that decides its coarse verdict.
    pub to_coarse: f64,
}

impl JudgedJob {
    /// A comparison without a figure.
    pub fn unmeasured(answer: JobAnswer) -> JudgedJob {
        JudgedJob {
            answer,
            p: None,
            coarse: None,
            tests: Vec::new(),
            is_noisy: false,
        }
    }

    /// The same without a verdict: other work disturbed its launches.
    pub fn withheld(mut self) -> JudgedJob {
        let alone = std::mem::replace(&mut self.answer.word, Word::Undecided);
        if alone.is_decided() {
            self.answer.why = Some(NoVerdict::Disturbed { alone });
            self.answer.cause = None;
        }
        JudgedJob {
            p: Some(1.0),
            coarse: None,
            is_noisy: true,
            ..self
        }
    }

    /// Tells whether it is an estimate without a verdict.
    pub fn is_open(&self) -> bool {
        self.p.is_some() && self.answer.word == Word::Undecided
    }
}

impl<'a> ClaimComparison<'a> {
    /// The comparison of these cells; `None` where the claim states no such one.
    pub fn new(claim: &'a ResolvedClaim, resolved: &'a ResolvedJob) -> Option<ClaimComparison<'a>> {
        let (_, stated) = claim.claim.jobs().find(|(name, _)| *name == resolved.job)?;
        Some(ClaimComparison {
            claim: &claim.claim,
            stated,
            resolved,
        })
    }

    /// The figure of its cells, where they bring one.
    pub fn figure(&self, summary: &Summary, cells: JobCells) -> Option<ClaimFigure> {
        let (method, baseline) = self.sides(summary, cells)?;
        figure::of_claim(self.claim, self.stated, summary, method, baseline)
    }

    /// Tells whether other work disturbed launches of these cells, and the figure is of time: what is counted is as it was counted.
    pub fn is_disturbed(&self, summary: &Summary, cells: JobCells) -> bool {
        let is_counted = self.stated.fact.is_some() || self.stated.cost == Of::Faults;
        let disturbed = sureness::disturbed(summary);
        let mut places = cells.iter().filter_map(|c| figure::index_of(summary, c));
        !is_counted && places.any(|cell| disturbed.contains(&cell))
    }

    /// The answer before anything is known of its figure.
    pub fn blank(&self) -> JobAnswer {
        let (stated, resolved) = (self.stated, self.resolved);
        JobAnswer {
            job: resolved.job.clone(),
            word: Word::Undecided,
            way: self
                .cells_name(&resolved.way)
                .unwrap_or_else(|| format!("{}/{}", stated.experiment, stated.way)),
            other: self.cells_name(&resolved.other).or_else(|| {
                let baseline = stated.other.as_ref()?;
                Some(format!("{}/{baseline}", stated.experiment))
            }),
            figure: figure_name(stated),
            holds: self
                .claim
                .holds
                .as_ref()
                .map_or((None, None), |holds| holds.edges()),
            ratio: None,
            unit: String::new(),
            paired: true,
            band: None,
            points: Vec::new(),
            run: String::new(),
            cause: None,
            late: false,
            why: None,
        }
    }

    /// The name of one side's cells. Those of a crossover differ in the size, which is not in it.
    fn cells_name(&self, cells: &[Cell]) -> Option<String> {
        let first = cells.first()?;
        Some(if self.claim.kind == ClaimKind::Crossover {
            first.name()
        } else {
            first.to_string()
        })
    }

    /// The cells at one of its points in a summary that has them.
    pub fn cells<'s>(&self, summary: &'s Summary, point: usize) -> Option<JobCells<'s>> {
        let method = figure::cell(summary, self.resolved.way.get(point)?)?;
        let baseline = match self.resolved.other.get(point) {
            Some(baseline) => Some(figure::cell(summary, baseline)?),
            None => None,
        };
        Some(JobCells { method, baseline })
    }

    /// The cells with the phase or total of each that counts.
    pub fn sides<'s>(
        &'s self,
        summary: &'s Summary,
        cells: JobCells<'s>,
    ) -> Option<(ClaimSide<'s>, Option<ClaimSide<'s>>)> {
        let headline = summary
            .experiment(&self.stated.experiment)?
            .headline
            .as_str();
        let phase = self.stated.total.as_deref().unwrap_or(headline);
        let method = ClaimSide {
            cell: cells.method,
            phase,
        };
        let baseline = cells.baseline.map(|cell| ClaimSide {
            cell,
            phase: self.stated.other_total.as_deref().unwrap_or(phase),
        });
        Some((method, baseline))
    }
}

/// The name of the figure that decides: the cost, and the phase or total that it is of.
fn figure_name(stated: &Job) -> String {
    let mut name = stated
        .fact
        .clone()
        .unwrap_or_else(|| stated.cost.label().to_owned());
    if let Some(total) = &stated.total {
        name += &format!(" of {total}");
    }
    if let Some(total) = &stated.other_total {
        name += &format!(" against that of {total}");
    }
    name
}

impl<'a> JobCells<'a> {
    pub fn iter(self) -> impl Iterator<Item = &'a CellSummary> {
        std::iter::once(self.method).chain(self.baseline)
    }

    /// Tells whether the budget did not reach one of the cells.
    pub fn is_late(self) -> bool {
        self.iter()
            .any(|cell| cell.outcome.cause == Some(Cause::Budget))
    }

    /// The reason why there is no figure of the cells.
    pub fn why_unmeasured(self) -> (Word, NoVerdict) {
        let Some(cell) = self.iter().find(|c| c.outcome.status != Status::Ok) else {
            return (Word::Undecided, self.why_no_figure());
        };
        // That the time was too short says nothing of the machine.
        if cell.outcome.cause == Some(Cause::Budget) {
            return (Word::Undecided, NoVerdict::Budget { needed_s: None });
        }
        let word = if matches!(cell.outcome.status, Status::Skipped | Status::Refused) {
            Word::NotMeasurableHere
        } else {
            Word::Undecided
        };
        let why = NoVerdict::Cell {
            cell: cell.cell.clone(),
            outcome: cell.outcome.clone(),
        };
        (word, why)
    }

    /// The reason where both cells ran well.
    fn why_no_figure(self) -> NoVerdict {
        let launches = self.iter().map(|cell| cell.launches).min().unwrap_or(0);
        if launches < LEAST_POINTS {
            NoVerdict::Launches {
                launches,
                least: LEAST_POINTS,
            }
        } else {
            NoVerdict::NoFigure
        }
    }
}
