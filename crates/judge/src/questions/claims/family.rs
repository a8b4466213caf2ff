//! Verdicts of all questions of a selection together: how sure each must be that so many are hardly ever wrong.

use super::comparison::{ClaimComparison, JudgedJob};
use super::verdict;
use record::claim::{NoVerdict, ResolvedClaim, Word};
use record::summary::Summary;
use stats::multiplicity::holm;

/// A verdict is given where it holds among all questions at this level (one-sided, as the bounds of a 95 % interval).
pub(super) const FAMILY: f64 = 0.025;

/// Every comparison of every claim judged, and adjusted for the number of questions.
pub(super) fn judged(
    claims: &[ResolvedClaim],
    summaries: &[&Summary],
    margin: f64,
) -> Vec<Vec<JudgedJob>> {
    let mut judged: Vec<Vec<JudgedJob>> = claims
        .iter()
        .map(|claim| {
            claim
                .jobs
                .iter()
                .filter_map(|job| ClaimComparison::new(claim, job))
                .map(|comparison| verdict::judged(&comparison, summaries, margin))
                .collect()
        })
        .collect();
    adjust(&mut judged);
    judged
}

/// Takes back the verdicts that do not hold among all questions of the selection (Holm 1979). Those that have no verdict yet
/// count too: their figures decide which have one.
fn adjust(judged: &mut [Vec<JudgedJob>]) {
    let values: Vec<f64> = judged.iter().flatten().filter_map(|job| job.p).collect();
    let mut adjusted = holm(&values).into_iter();
    for job in judged.iter_mut().flatten().filter(|job| job.p.is_some()) {
        if adjusted.next().is_none_or(|p| p > FAMILY) && job.answer.word.is_decided() {
            let alone = std::mem::replace(&mut job.answer.word, Word::Undecided);
            job.answer.cause = None;
            job.answer.why = Some(NoVerdict::AmongAll {
                alone,
                questions: values.len(),
            });
        }
    }
    // A true null is either of the coarse verdict or of the exact one, and what Holm's steps left open counts for both.
    let open = judged.iter().flatten().filter(|job| job.is_open()).count() as f64;
    for job in judged.iter_mut().flatten().filter(|job| job.is_open()) {
        if let Some((word, _)) = job.coarse.filter(|(_, p)| *p <= FAMILY / open) {
            job.answer.word = word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::answers;
    use crate::questions::claims::tests::{MARGIN, cell, claim, measured, resolved, summary};

    /// The verdict on a claim about `a` among so many about `c`, which are open.
    fn word_of_first(made: &Summary, open_claims: usize) -> Word {
        let first = resolved(claim("ratio", "low = 0.4\nhigh = 0.6"));
        let mut open = first.clone();
        open.jobs[0].way = vec![cell("c", "64")];
        let mut claims = vec![first];
        claims.extend(std::iter::repeat_n(open, open_claims));
        answers(&claims, &[made], MARGIN)
            .iter()
            .flat_map(|answer| &answer.jobs)
            .find(|job| job.way.starts_with("copy/a"))
            .unwrap()
            .word
    }

    #[test]
    fn questions_without_a_word_count_among_all() {
        let made = summary(
            "r",
            vec![
                measured("a", "64", 597.0, 1),
                measured("b", "64", 1000.0, 2),
                measured("c", "64", 600.0, 3),
            ],
        );
        assert_eq!(
            (word_of_first(&made, 0), word_of_first(&made, 3000)),
            (Word::Holds, Word::Undecided)
        );
    }

    #[test]
    fn many_words_need_stronger_evidence_than_one() {
        let (mut a, b) = (
            measured("a", "64", 1000.0, 1),
            measured("b", "64", 1000.0, 1),
        );
        for (i, launch) in a.per_launch.iter_mut().enumerate() {
            let wall_ns = 845.0 + 11.0 * (7 * i % 10) as f64;
            launch.wall_ns.insert("copy".into(), wall_ns);
        }
        let made = summary("r", vec![a, b]);
        let alone = resolved(claim("ratio", "high = 0.95"));
        assert_eq!(
            answers(std::slice::from_ref(&alone), &[&made], MARGIN)[0].word,
            Word::Holds
        );
        let many: Vec<ResolvedClaim> = (0..100).map(|_| alone.clone()).collect();
        let answers = answers(&many, &[&made], MARGIN);
        assert!(answers.iter().all(|a| a.word == Word::Undecided
            && matches!(
                a.jobs[0].why,
                Some(NoVerdict::AmongAll { questions: 100, .. })
            )));
    }
}
