//! One comparison of a claim: its cells in a summary, its figure, and the verdict on it by itself.

use super::figure::{self, ClaimFigure, ClaimSide};
use super::{cause, crossover, regions::Regions};
use record::cell::Cell;
use record::claim::{
    Claim, ClaimKind, Difference, Job, JobAnswer, NoVerdict, ResolvedClaim, ResolvedJob, Word,
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
    fn unmeasured(answer: JobAnswer) -> JudgedJob {
        JudgedJob {
            answer,
            p: None,
            coarse: None,
            tests: Vec::new(),
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

    /// The answer from the first summary that has its cells and a figure of them.
    pub fn judged(&self, summaries: &[&Summary], margin: f64) -> JudgedJob {
        let left_out = self.resolved.left_out.is_some()
            && summaries.iter().all(|s| self.cells(s, 0).is_none());
        if self.resolved.way.is_empty() || left_out {
            let late = self.resolved.is_late();
            return JudgedJob::unmeasured(JobAnswer {
                word: if late {
                    Word::Undecided
                } else {
                    Word::NotMeasurableHere
                },
                why: self.resolved.left_out.clone(),
                late,
                ..self.blank()
            });
        }
        match self.claim.kind {
            ClaimKind::Crossover => crossover::judged(self, summaries, margin),
            ClaimKind::Ratio | ClaimKind::Absolute => self.judged_once(summaries, margin),
        }
    }

    /// The answer to a claim of a ratio or of a cost by itself.
    fn judged_once(&self, summaries: &[&Summary], margin: f64) -> JudgedJob {
        let mut newest: Option<JobCells> = None;
        for summary in summaries {
            let Some(cells) = self.cells(summary, 0) else {
                continue;
            };
            if let Some(figure) = figure::of_claim(self, summary, cells) {
                return self.judged_figure(summary, cells, figure, margin);
            }
            newest.get_or_insert(cells);
        }
        let (word, why) = newest.map_or((Word::Undecided, NoVerdict::NoRun), |cells| {
            cells.why_unmeasured()
        });
        JudgedJob::unmeasured(JobAnswer {
            word,
            why: Some(why),
            late: newest.is_some_and(|cells| cells.is_late()),
            ..self.blank()
        })
    }

    fn judged_figure(
        &self,
        summary: &Summary,
        cells: JobCells,
        figure: ClaimFigure,
        margin: f64,
    ) -> JudgedJob {
        let regions = Regions::of_claim(self.claim, margin);
        let estimate = figure.estimate;
        let mut answer = JobAnswer {
            word: regions.word(estimate.low, estimate.high),
            paired: figure.paired,
            run: summary.run.clone(),
            unit: figure.unit.clone(),
            ratio: Some(estimate),
            ..self.blank()
        };
        let p = if answer.word.is_decided() {
            answer.cause = self.cause(summary, cells, answer.word);
            regions.p(answer.word, &figure)
        } else {
            answer.why = Some(NoVerdict::Interval {
                verdicts: regions.possible(&estimate),
            });
            (!estimate.is_of_extremes()).then_some(1.0)
        };
        let merged = regions.coarse();
        JudgedJob {
            answer,
            p,
            coarse: merged.nearest(&figure),
            tests: vec![FigureTest {
                point: 0,
                distance: regions.distance(estimate.ratio),
                to_coarse: merged.distance(estimate.ratio),
                figure,
            }],
        }
    }

    /// The cause of a difference between two methods; an absolute claim has none.
    fn cause(&self, summary: &Summary, cells: JobCells, word: Word) -> Option<Difference> {
        let (method, baseline) = self.sides(summary, cells)?;
        cause::difference(self.stated, method, baseline?, word).or(Some(Difference::NotFound))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::answers;
    use crate::questions::claims::tests::{MARGIN, asked, claim, measured, summary};
    use record::outcome::Outcome;

    #[test]
    fn what_was_not_measured_says_why() {
        let mut skipped = measured("a", "64", 1.0, 1);
        let pool = Outcome::because(
            Status::Skipped,
            Cause::Lacks {
                text: "no reserved huge pages".to_owned(),
            },
        );
        skipped.outcome = pool.clone();
        let made = summary("r", vec![skipped, measured("b", "64", 1.0, 2)]);
        let answer = &answers(&[asked(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
        assert_eq!(answer.word, Word::NotMeasurableHere);
        let why = answer.jobs[0].why.clone();
        assert!(
            matches!(&why, Some(NoVerdict::Cell { outcome, .. }) if *outcome == pool),
            "{why:?}"
        );
        let mut late = measured("a", "64", 1.0, 1);
        late.outcome = Outcome::because(Status::Refused, Cause::Budget);
        let made = summary("r", vec![late, measured("b", "64", 1.0, 2)]);
        let answer = &answers(&[asked(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
        assert_eq!(
            (answer.word, &answer.jobs[0].why),
            (Word::Undecided, &Some(NoVerdict::Budget { needed_s: None }))
        );
        assert!(answer.jobs[0].late);
        let mut short = measured("a", "64", 1.0, 1);
        short.per_launch.truncate(3);
        short.launches = 3;
        let made = summary("r", vec![short, measured("b", "64", 1.0, 2)]);
        let answer = &answers(&[asked(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
        assert_eq!(
            (answer.word, &answer.jobs[0].why),
            (
                Word::Undecided,
                &Some(NoVerdict::Launches {
                    launches: 3,
                    least: 4
                })
            )
        );
        assert_eq!(
            answers(&[asked(claim("ratio", "high = 0.9"))], &[], MARGIN)[0].word,
            Word::Undecided
        );
    }
}
