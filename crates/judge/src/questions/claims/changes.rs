//! Verdicts on the same claims in two runs, compared.

use record::claim::{AnswerChange, Answers, JobAnswer};
use std::collections::BTreeSet;

/// Claims whose verdicts contradict each other, or that only one of the runs decided.
pub fn changes(first: &Answers, second: &Answers) -> Vec<AnswerChange> {
    let keys: BTreeSet<(&str, &str)> = job_keys(first).chain(job_keys(second)).collect();
    keys.into_iter()
        .filter_map(|(id, job)| change(first, second, id, job))
        .collect()
}

/// Every comparison of the answers, by claim and job.
fn job_keys(answers: &Answers) -> impl Iterator<Item = (&str, &str)> {
    answers.answers.iter().flat_map(|answer| {
        answer
            .jobs
            .iter()
            .map(|job| (answer.id.as_str(), job.job.as_str()))
    })
}

/// The change of one comparison's verdict; `None` where both may be true.
fn change(first: &Answers, second: &Answers, id: &str, job: &str) -> Option<AnswerChange> {
    let (statement, before) = find(first, id, job).unzip();
    let (statement_after, after) = find(second, id, job).unzip();
    let (word, word_after) = (before.map(|j| j.word), after.map(|j| j.word));
    let decided = [word, word_after]
        .into_iter()
        .flatten()
        .filter(|word| word.is_decided())
        .count();
    let contradict = word
        .zip(word_after)
        .is_some_and(|(before, after)| before.contradicts(after));
    if decided != 1 && !contradict {
        return None;
    }
    Some(AnswerChange {
        id: id.to_owned(),
        statement: statement.or(statement_after)?.to_owned(),
        job: job.to_owned(),
        first: word,
        second: word_after,
        ratios: (before.and_then(|j| j.ratio), after.and_then(|j| j.ratio)),
        unit: before.or(after)?.unit.clone(),
    })
}

/// The statement of a claim and the answer of one of its comparisons.
fn find<'a>(answers: &'a Answers, id: &str, job: &str) -> Option<(&'a str, &'a JobAnswer)> {
    let answer = answers.answers.iter().find(|answer| answer.id == id)?;
    let job = answer.jobs.iter().find(|answer| answer.job == job)?;
    Some((&answer.statement, job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::report;
    use crate::questions::claims::tests::{MARGIN, claim, pair, resolved};
    use record::claim::Word;

    /// The answers of a run in which the claim's ratio is this one.
    fn answers_at(ratio: f64) -> Answers {
        let claim = resolved(claim("ratio", "low = 0.4\nhigh = 0.6"));
        report(&[claim], &[&pair(ratio)], MARGIN, None)
    }

    /// The answers of a run that came to this verdict.
    fn answered(word: Word) -> Answers {
        let mut answers = answers_at(0.5);
        answers.answers[0].jobs[0].word = word;
        answers
    }

    #[test]
    fn two_runs_are_told_apart_by_their_verdicts() {
        assert!(changes(&answers_at(0.5), &answers_at(0.52)).is_empty());
        let found = changes(&answers_at(0.5), &answers_at(1.5));
        assert_eq!(
            (found[0].first, found[0].second),
            (Some(Word::Holds), Some(Word::Reversed))
        );
        // A coarse verdict leaves open which exact one is true, and an open one contradicts none.
        for (a, b, is_change) in [
            (Word::DoesNotHold, Word::Reversed, false),
            (Word::Stronger, Word::HoldsOrStronger, false),
            (Word::Undecided, Word::NotMeasurableHere, false),
            (Word::DoesNotHold, Word::HoldsOrStronger, true),
            (Word::HoldsOrStronger, Word::Weaker, true),
            (Word::Weaker, Word::Reversed, true),
            (Word::Undecided, Word::Holds, true),
        ] {
            assert_eq!(
                changes(&answered(a), &answered(b)).len(),
                usize::from(is_change),
                "{a:?} {b:?}"
            );
            assert_eq!(
                changes(&answered(b), &answered(a)).len(),
                usize::from(is_change),
                "{b:?} {a:?}"
            );
        }
    }
}
