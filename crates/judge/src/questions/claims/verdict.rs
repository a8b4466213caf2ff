//! The verdict on one comparison by itself, from its figure and the regions of its claim.

use super::comparison::{ClaimComparison, FigureTest, JobCells, JudgedJob};
use super::{cause, crossover, figure::ClaimFigure, regions::Regions};
use record::claim::{ClaimKind, Difference, JobAnswer, NoVerdict, Word};
use record::summary::Summary;

/// The answer from the first summary that has the cells of a comparison and a figure of them.
pub(super) fn judged(
    comparison: &ClaimComparison,
    summaries: &[&Summary],
    margin: f64,
) -> JudgedJob {
    let resolved = comparison.resolved;
    let left_out =
        resolved.left_out.is_some() && summaries.iter().all(|s| comparison.cells(s, 0).is_none());
    if resolved.way.is_empty() || left_out {
        let late = resolved.is_late();
        return JudgedJob::unmeasured(JobAnswer {
            word: if late {
                Word::Undecided
            } else {
                Word::NotMeasurableHere
            },
            why: resolved.left_out.clone(),
            late,
            ..comparison.blank()
        });
    }
    match comparison.claim.kind {
        ClaimKind::Crossover => crossover::judged(comparison, summaries, margin),
        ClaimKind::Ratio | ClaimKind::Absolute => judged_once(comparison, summaries, margin),
    }
}

/// The answer to a claim of a ratio or of a cost by itself.
fn judged_once(comparison: &ClaimComparison, summaries: &[&Summary], margin: f64) -> JudgedJob {
    let mut newest: Option<JobCells> = None;
    for summary in summaries {
        let Some(cells) = comparison.cells(summary, 0) else {
            continue;
        };
        if let Some(figure) = comparison.figure(summary, cells) {
            return judged_figure(comparison, summary, cells, figure, margin);
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
        ..comparison.blank()
    })
}

fn judged_figure(
    comparison: &ClaimComparison,
    summary: &Summary,
    cells: JobCells,
    figure: ClaimFigure,
    margin: f64,
) -> JudgedJob {
    let regions = Regions::of_claim(comparison.claim, margin);
    let estimate = figure.estimate;
    let mut answer = JobAnswer {
        word: regions.word(estimate.low, estimate.high),
        paired: figure.paired,
        run: summary.run.clone(),
        unit: figure.unit.clone(),
        ratio: Some(estimate),
        ..comparison.blank()
    };
    let p = if answer.word.is_decided() {
        answer.cause = cause(comparison, summary, cells, answer.word);
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
fn cause(
    comparison: &ClaimComparison,
    summary: &Summary,
    cells: JobCells,
    word: Word,
) -> Option<Difference> {
    let (method, baseline) = comparison.sides(summary, cells)?;
    let cause = cause::difference(comparison.stated, method, baseline?, word);
    cause.or(Some(Difference::NotFound))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::answers;
    use crate::questions::claims::tests::{MARGIN, claim, measured, resolved, summary};
    use record::outcome::{Cause, Outcome, Status};

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
        let answer = &answers(&[resolved(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
        assert_eq!(answer.word, Word::NotMeasurableHere);
        let why = answer.jobs[0].why.clone();
        assert!(
            matches!(&why, Some(NoVerdict::Cell { outcome, .. }) if *outcome == pool),
            "{why:?}"
        );
        let mut late = measured("a", "64", 1.0, 1);
        late.outcome = Outcome::because(Status::Refused, Cause::Budget);
        let made = summary("r", vec![late, measured("b", "64", 1.0, 2)]);
        let answer = &answers(&[resolved(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
        assert_eq!(
            (answer.word, &answer.jobs[0].why),
            (Word::Undecided, &Some(NoVerdict::Budget { needed_s: None }))
        );
        assert!(answer.jobs[0].late);
        let mut short = measured("a", "64", 1.0, 1);
        short.per_launch.truncate(3);
        short.launches = 3;
        let made = summary("r", vec![short, measured("b", "64", 1.0, 2)]);
        let answer = &answers(&[resolved(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0];
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
            answers(&[resolved(claim("ratio", "high = 0.9"))], &[], MARGIN)[0].word,
            Word::Undecided
        );
    }
}
