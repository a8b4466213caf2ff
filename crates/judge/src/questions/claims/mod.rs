//! Published statements checked against summaries: a verdict for each, with its figure and what the difference comes from.
//! Pure: the same claims and summaries give the same answers.

mod cause;
mod changes;
mod comparison;
mod crossover;
mod family;
pub(crate) mod figure;
mod regions;
mod verdict;
mod wanted;

use record::claim::{Answer, Answers, Claim, JobAnswer, NoVerdict, ResolvedClaim, Word};
use record::summary::Summary;
use std::cmp::Ordering;

use crate::summarise::rounded;
pub use changes::changes;
use comparison::{ClaimComparison, JudgedJob};
pub use wanted::{MissingLaunches, launch_s, wanted};

/// Share below which two costs are called the same, where none is given. An article's sentences are judged by it, too, so that
/// the same figure has one verdict.
pub const MARGIN: f64 = 0.05;

/// Everything that `claims --json` prints.
pub fn report(
    claims: &[ResolvedClaim],
    summaries: &[&Summary],
    margin: f64,
    run: Option<String>,
) -> Answers {
    let answers = answers(claims, summaries, margin);
    let mut reused: Vec<String> = answers
        .iter()
        .flat_map(|answer| &answer.jobs)
        .map(|job| &job.run)
        .filter(|reused| !reused.is_empty() && run.as_ref() != Some(*reused))
        .cloned()
        .collect();
    reused.sort();
    reused.dedup();
    let environment = summaries
        .first()
        .map(|s| s.environment.clone())
        .unwrap_or_default();
    rounded(Answers {
        schema: record::claim::ANSWERS_SCHEMA,
        run,
        environment,
        margin,
        reused,
        answers,
    })
}

/// The answers to all claims, from the first summary that has the cells of a comparison; the most surprising first.
/// `margin` is the share below which two costs are called the same.
pub fn answers(claims: &[ResolvedClaim], summaries: &[&Summary], margin: f64) -> Vec<Answer> {
    let judged = family::judged(claims, summaries, margin);
    let mut answers: Vec<Answer> = claims
        .iter()
        .zip(judged)
        .map(|(claim, judged)| answer(&claim.claim, judged))
        .collect();
    answers.sort_by(most_surprising_first);
    answers
}

/// Tells whether one run answers a comparison, so that it need not be measured again.
pub fn answers_already(
    resolved: &ResolvedClaim,
    job: usize,
    summary: &Summary,
    margin: f64,
) -> bool {
    resolved
        .jobs
        .get(job)
        .and_then(|job| ClaimComparison::new(resolved, job))
        .is_some_and(|comparison| {
            let judged = verdict::judged(&comparison, &[summary], margin);
            judged.answer.word.is_decided()
        })
}

/// The verdict on a claim where its figure lies in this interval, by itself: no other question is corrected for.
pub(crate) fn word(claim: &Claim, margin: f64, low: f64, high: f64) -> Word {
    regions::Regions::of_claim(claim, margin).word(low, high)
}

fn answer(claim: &Claim, judged: Vec<JudgedJob>) -> Answer {
    let jobs: Vec<JobAnswer> = judged.into_iter().map(|job| job.answer).collect();
    let measurable = jobs
        .iter()
        .find(|job| job.word != Word::NotMeasurableHere)
        .or(jobs.first());
    Answer {
        id: claim.id.clone(),
        statement: claim.statement.clone(),
        kind: claim.kind,
        question: claim
            .corrected
            .as_ref()
            .or(claim.published.as_ref())
            .map_or_else(String::new, |job| job.experiment.clone()),
        table: claim.table.clone(),
        source: claim.source.clone(),
        confuses: claim.confuses.clone(),
        word: measurable.map_or(Word::NotMeasurableHere, |job| job.word),
        why: claim.missing.as_ref().map(|needs| NoVerdict::Missing {
            needs: needs.clone(),
        }),
        jobs,
    }
}

/// The order of answers: by verdict, then the figure farthest outside the claimed range first, then by id.
fn most_surprising_first(a: &Answer, b: &Answer) -> Ordering {
    let by_surprise = surprise(b).partial_cmp(&surprise(a));
    a.word
        .cmp(&b.word)
        .then(by_surprise.unwrap_or(Ordering::Equal))
        .then_with(|| a.id.cmp(&b.id))
}

/// Distance of an answer's figure outside the range, as a logarithm.
fn surprise(answer: &Answer) -> f64 {
    answer
        .jobs
        .first()
        .and_then(distance_outside)
        .filter(|distance| distance.is_finite())
        .unwrap_or(0.0)
}

fn distance_outside(job: &JobAnswer) -> Option<f64> {
    let log = job.ratio?.ratio.ln();
    let (low, high) = job.holds;
    let below = low.map_or(0.0, |low| low.ln() - log);
    let above = high.map_or(0.0, |high| log - high.ln());
    Some(below.max(above).max(0.0))
}

#[cfg(test)]
mod tests {
    //! Claims and summaries made by hand, for the tests of all rooms.

    pub(super) use super::MARGIN;
    use super::*;
    use record::cell::Cell;
    use record::claim::ResolvedJob;
    use record::outcome::Outcome;
    use record::summary::{
        Calibration, CellSummary, Distribution, GroupSummary, LaunchValues, PhaseSummary,
        Recommendation, SUMMARY_SCHEMA, Settings,
    };
    use serde_json::json;
    use stats::rng::Seeded;
    use std::collections::BTreeMap;

    /// The text of a claim about `a` and `b`.
    pub(super) fn text(kind: &str, holds: &str, of: &str) -> String {
        let other = if kind == "absolute" {
            ""
        } else {
            "other = \"b\"\n"
        };
        format!(
            "id = \"x\"\nstatement = \"A is cheaper.\"\nkind = \"{kind}\"\nabout = [\"copy\"]\n[source]\ntitle = \"T\"\n\
         author = \"N\"\naddress = \"https://example.org/a\"\nfigure = \"half\"\nread = \"2026-11-21\"\n[holds]\n{holds}\n\
         [corrected]\nexperiment = \"copy\"\nway = \"a\"\n{other}{of}\n"
        )
    }

    pub(super) fn claim(kind: &str, holds: &str) -> Claim {
        Claim::parse("x.toml", &text(kind, holds, "")).unwrap()
    }

    pub(super) fn cell(method: &str, bytes: &str) -> Cell {
        Cell {
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            parameters: [("bytes", bytes)].into(),
        }
    }

    pub(super) fn distribution(median: f64) -> Distribution {
        Distribution {
            median,
            mean: None,
            low: None,
            high: None,
            p90: None,
            p99: None,
            min: median,
        }
    }

    /// A cell of ten launches around `wall_ns`, a quarter of a percent apart.
    pub(super) fn measured(method: &str, bytes: &str, wall_ns: f64, wobble: u64) -> CellSummary {
        let mut random = Seeded::new(wobble);
        let mut per_launch = Vec::new();
        for block in 0..10 {
            let value = wall_ns * (1.0 + 0.005 * (random.unit() - 0.5));
            let values = BTreeMap::from([("copy".to_owned(), value)]);
            per_launch.push(LaunchValues {
                launch: block,
                block: block as i32,
                rounds: 5,
                wall_ns: values.clone(),
                cpu_ns: values,
                tail_ns: BTreeMap::new(),
            });
        }
        let phase: PhaseSummary = serde_json::from_value(json!({
            "wall_ns": distribution(wall_ns),
            "cpu_ns": distribution(wall_ns),
            "per_unit_ns": distribution(wall_ns / 1000.0),
            "user_ns": wall_ns,
            "system_ns": 0.0,
            "minor_faults": 0.0,
            "major_faults": 0.0,
            "voluntary_switches": 0.0,
            "involuntary_switches": 0.0,
            "below_floor": false,
            "samples": 50,
        }))
        .unwrap();
        CellSummary {
            cell: format!("copy/{method}@c-O3"),
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            role: record::summary::Role::Method,
            group: String::new(),
            parameters: [("bytes", bytes)].into(),
            hidden: false,
            outcome: Outcome::OK,
            launches: 10,
            per_launch,
            footprint: None,
            steady: None,
            phases: BTreeMap::from([("copy".to_owned(), phase)]),
            counts: BTreeMap::new(),
            proofs: BTreeMap::new(),
            laws: BTreeMap::new(),
            latency_ns: None,
        }
    }

    pub(super) fn summary(run: &str, cells: Vec<CellSummary>) -> Summary {
        let definition = record::experiment::Experiment::parse(
            "copy.toml",
            "name = \"copy\"\ntitle = \"t\"\nquestion = \"q\"\nunit = \"byte\"\nphases = [\"copy\"]\nbaseline = \"b\"\n\
         content = \"none\"\n",
        );
        let experiment = record::summary::ExperimentSummary {
            definition: definition.unwrap(),
            headline: "copy".into(),
            launch_s: 1.0,
            headline_s: 1.0,
        };
        let mut groups: Vec<GroupSummary> = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            match groups.iter_mut().find(|g| g.parameters == cell.parameters) {
                Some(group) => group.cells.push(index),
                None => groups.push(GroupSummary {
                    experiment: "copy".into(),
                    parameters: cell.parameters.clone(),
                    cells: vec![index],
                    baseline: None,
                    best_possible: None,
                    floor: None,
                    aa: None,
                    comparisons: Vec::new(),
                    best: Vec::new(),
                    recommendation: Recommendation::Nothing,
                    conditions: Vec::new(),
                    alike: Vec::new(),
                    faster: Vec::new(),
                    maybe_faster: Vec::new(),
                    elsewhere: Vec::new(),
                    unmeasured: Vec::new(),
                    unsettled: Vec::new(),
                    absent: Vec::new(),
                    sureness: None,
                    further_s: None,
                    state: None,
                    frontier: Vec::new(),
                }),
            }
        }
        Summary {
            schema: SUMMARY_SCHEMA,
            run: run.into(),
            created: String::new(),
            version: String::new(),
            host: BTreeMap::new(),
            environment: BTreeMap::new(),
            settings: Settings::default(),
            elapsed_s: 1.0,
            experiments: vec![experiment],
            offered: BTreeMap::new(),
            groups,
            cells,
            calibration: Calibration {
                checks: 0,
                spread: None,
                p: None,
                widened: 1.0,
            },
            trusted: true,
            warnings: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn resolved(claim: Claim) -> ResolvedClaim {
        let job = ResolvedJob {
            job: "corrected".into(),
            way: vec![cell("a", "64")],
            other: vec![cell("b", "64")],
            ..ResolvedJob::default()
        };
        ResolvedClaim {
            claim,
            jobs: vec![job],
        }
    }

    /// A run in which `a` costs `ratio` times what `b` does.
    pub(super) fn pair(ratio: f64) -> Summary {
        summary(
            "r",
            vec![
                measured("a", "64", 1000.0 * ratio, 1),
                measured("b", "64", 1000.0, 2),
            ],
        )
    }

    /// The verdict on a claim where `a` costs `ratio` times what `b` does.
    pub(super) fn word(holds: &str, ratio: f64) -> Word {
        answers(&[resolved(claim("ratio", holds))], &[&pair(ratio)], MARGIN)[0].word
    }

    #[test]
    fn the_newest_run_that_has_both_cells_answers_and_others_are_named() {
        let newer = summary("newer", vec![measured("a", "64", 500.0, 1)]);
        let older = summary(
            "older",
            vec![
                measured("a", "64", 500.0, 1),
                measured("b", "64", 1000.0, 2),
            ],
        );
        let claim = resolved(claim("ratio", "low = 0.4\nhigh = 0.6"));
        let answers = report(
            std::slice::from_ref(&claim),
            &[&newer, &older],
            MARGIN,
            Some("newer".into()),
        );
        assert_eq!(
            (answers.answers[0].word, answers.reused.as_slice()),
            (Word::Holds, &["older".to_owned()][..])
        );
        assert!(
            answers_already(&claim, 0, &older, MARGIN)
                && !answers_already(&claim, 0, &newer, MARGIN)
        );
    }
}
