//! The verdict on one comparison by itself, from its figure and the regions of its claim.

use super::comparison::{ClaimComparison, FigureTest, JobCells, JudgedJob};
use super::{cause, crossover, figure::ClaimFigure, regions::Regions};
use record::claim::{ClaimKind, Difference, JobAnswer, NoVerdict, Word};
use record::summary::Summary;

/// The answer from the first summary that has the cells of a comparison and a figure of them. Where that is noisy, a later one
/// that has a verdict answers.
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
    let judge = |summaries: &[&Summary]| match comparison.claim.kind {
        ClaimKind::Crossover => crossover::judged(comparison, summaries, margin),
        ClaimKind::Ratio | ClaimKind::Absolute => judged_once(comparison, summaries, margin),
    };
    let first = judge(summaries);
    if !first.is_noisy {
        return first;
    }
    let mut each = summaries.chunks(1).map(judge);
    each.find(|judged| judged.answer.word.is_decided())
        .unwrap_or(first)
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
    let judged = JudgedJob {
        answer,
        p,
        coarse: merged.nearest(&figure),
        tests: vec![FigureTest {
            point: 0,
            distance: regions.distance(estimate.ratio),
            to_coarse: merged.distance(estimate.ratio),
            figure,
        }],
        is_noisy: false,
    };
    if comparison.is_disturbed(summary, cells) {
        judged.withheld()
    } else {
        judged
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
    use crate::questions::claims::tests::{
        MARGIN, cell, claim, measured, pair, resolved, summary, text,
    };
    use proptest::prelude::*;
    use record::claim::{Answer, Claim, ResolvedClaim};
    use record::outcome::{Cause, Outcome, Status};
    use record::summary::{FactProof, Warning, WarningKind};

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

    const SIZES: [&str; 3] = ["64", "128", "256"];

    /// A run in which `a` costs these multiples of `b` at each size, with other work in the launches of these cells.
    fn disturbed_run(ratios: [f64; 3], cells: &[usize]) -> Summary {
        let sides = SIZES.iter().zip(ratios).flat_map(|(bytes, ratio)| {
            let mut sides = [
                measured("a", bytes, 1000.0 * ratio, 1),
                measured("b", bytes, 1000.0, 2),
            ];
            for side in &mut sides {
                let (min, max, samples) = (90, 91, 9);
                let memory = FactProof::Number { min, max, samples };
                side.proofs.insert("memory_bytes".into(), memory);
            }
            sides
        });
        let mut made = summary("newer", sides.collect());
        made.warnings = Vec::from_iter((!cells.is_empty()).then(|| Warning {
            kind: WarningKind::Steal { share: 0.3 },
            at: String::new(),
            cells: cells.to_vec(),
        }));
        made
    }

    /// Claims of each kind about the first size, and one about all sizes.
    fn claims() -> Vec<ResolvedClaim> {
        let mut all: Vec<ResolvedClaim> = ["", "of = \"cpu\"", "of = \"spread\""]
            .map(|of| text("ratio", "low = 0.4\nhigh = 0.6", of))
            .map(|text| resolved(Claim::parse("x.toml", &text).unwrap()))
            .into();
        all.push(resolved(claim("absolute", "value = 0.5\nper = \"unit\"")));
        all[3].jobs[0].other.clear();
        let sizes = "low = \"64\"\nhigh = \"256\"\nsizes = [\"64\", \"128\", \"256\"]";
        all.push(resolved(claim("crossover", sizes)));
        let job = &mut all[4].jobs[0];
        (job.way, job.other) = SIZES
            .map(|s| (cell("a", s), cell("b", s)))
            .into_iter()
            .unzip();
        job.points = vec![64, 128, 256];
        all
    }

    fn answer_to(claim: &ResolvedClaim, summaries: &[&Summary]) -> Answer {
        answers(std::slice::from_ref(claim), summaries, MARGIN).remove(0)
    }

    /// The word that the first comparison has by itself.
    fn alone(answer: &Answer) -> Word {
        match answer.jobs[0].why {
            Some(NoVerdict::Disturbed { alone } | NoVerdict::AmongAll { alone, .. }) => alone,
            _ => answer.word,
        }
    }

    proptest! {
        /// The law: no claim on a time has a verdict from launches that other work disturbed; any other claim has the one that it
        /// would have without.
        #[test]
        fn what_is_noisy_neither_holds_nor_fails(
            ratio in 0.2f64..3.0,
            mask in prop::collection::vec(any::<bool>(), 6),
        ) {
            let cells: Vec<usize> = (0..6).filter(|cell| mask[*cell]).collect();
            let ratios = [2.0 * ratio, ratio, 0.5 * ratio];
            let [quiet, noisy] = [&[][..], &cells].map(|cells| disturbed_run(ratios, cells));
            for (number, claim) in claims().iter().enumerate() {
                let [before, after] = [&quiet, &noisy].map(|made| answer_to(claim, &[made]));
                let is_met = match number {
                    3 => mask[0],
                    4 => mask.iter().all(|met| *met),
                    _ => mask[0] || mask[1],
                };
                let is_untouched = cells.is_empty() || number < 4 && !is_met;
                if is_met {
                    prop_assert!(!after.word.is_decided(), "{after:?}");
                }
                if is_untouched {
                    prop_assert_eq!(&after, &before);
                }
                prop_assert!(alone(&after) == alone(&before) || before.word.is_coarse());
            }
        }
    }

    #[test]
    fn a_noisy_run_yields_to_an_older_quiet_one_and_what_is_counted_is_never_noisy() {
        let ratios = [0.5, 0.5, 0.5];
        let (noisy, quiet) = (disturbed_run(ratios, &[0]), pair(0.5));
        let wall = &claims()[0];
        let alone = Word::Holds;
        assert_eq!(
            answer_to(wall, &[&noisy]).jobs[0].why,
            Some(NoVerdict::Disturbed { alone })
        );
        let answer = answer_to(wall, &[&noisy, &quiet]);
        assert_eq!(
            (answer.word, answer.jobs[0].run.as_str()),
            (Word::Holds, "r")
        );
        let counted = text("ratio", "low = 0.9\nhigh = 1.1", "fact = \"memory_bytes\"");
        let counted = resolved(Claim::parse("x.toml", &counted).unwrap());
        assert_eq!(answer_to(&counted, &[&noisy]).word, Word::Holds);
    }
}
