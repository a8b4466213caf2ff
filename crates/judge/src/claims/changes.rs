//! Two runs of claims side by side: which verdicts are not the same.

use record::claim::{AnswerChange, Answers, JobAnswer};
use std::collections::BTreeSet;

/// Claims whose verdict is another in the second run, or that only one of them asked.
pub fn changes(first: &Answers, second: &Answers) -> Vec<AnswerChange> {
    let keys = |answers: &Answers| -> BTreeSet<(String, String)> {
        answers.answers.iter().flat_map(|a| a.jobs.iter().map(|j| (a.id.clone(), j.job.clone()))).collect()
    };
    let all: BTreeSet<_> = keys(first).union(&keys(second)).cloned().collect();
    let mut changes = Vec::new();
    for (id, job) in all {
        let (a, b) = (find(first, &id, &job), find(second, &id, &job));
        if a.map(|(_, j)| j.word) == b.map(|(_, j)| j.word) {
            continue;
        }
        let statement = a.or(b).map_or_else(String::new, |(statement, _)| statement.to_owned());
        changes.push(AnswerChange {
            id,
            statement,
            job,
            first: a.map(|(_, j)| j.word),
            second: b.map(|(_, j)| j.word),
            ratios: (a.and_then(|(_, j)| j.ratio), b.and_then(|(_, j)| j.ratio)),
            unit: a.or(b).map_or_else(String::new, |(_, j)| j.unit.clone()),
        });
    }
    changes
}

fn find<'a>(answers: &'a Answers, id: &str, job: &str) -> Option<(&'a str, &'a JobAnswer)> {
    let answer = answers.answers.iter().find(|a| a.id == id)?;
    Some((&answer.statement, answer.jobs.iter().find(|j| j.job == job)?))
}
