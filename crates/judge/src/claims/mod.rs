//! Published statements checked against summaries: a verdict for each, with its figure and what the difference comes from.
//! Pure: the same claims and summaries give the same answers.

mod cause;
mod crossover;
pub(crate) mod figure;
mod regions;
mod wanted;

use record::claim::{
    Answer, Answers, Claim, ClaimKind, Difference, Job, JobAnswer, NoVerdict, ResolvedClaim,
    ResolvedJob, Word,
};
use record::outcome::{Cause, Status};
use record::summary::{CellSummary, Summary};
use stats::multiplicity::holm;

use figure::{ClaimFigure, ClaimSide};
use regions::Regions;
pub use regions::changes;
pub use wanted::{MissingLaunches, launch_s, wanted};

/// A word is said where it holds among all words of the selection at this level (one-sided, as the limits of a 95 % interval).
const FAMILY: f64 = 0.025;

/// A finding before adjustment for the number of questions.
struct JudgedJob {
    answer: JobAnswer,
    /// The probability of its word where it is wrong, one where it has none yet; absent where the figure is no estimate.
    p: Option<f64>,
    /// The coarse verdict with its probability, of a claim that has one.
    coarse: Option<(Word, f64)>,
    /// Deciding figures, each with its distance from the edge that it must not cross, as a logarithm.
    tests: Vec<FigureTest>,
}

struct FigureTest {
    point: usize,
    figure: ClaimFigure,
    distance: f64,
    /// The distance from the edge that decides its coarse verdict.
    to_coarse: f64,
}

impl JudgedJob {
    fn nothing(answer: JobAnswer) -> JudgedJob {
        JudgedJob {
            answer,
            p: None,
            coarse: None,
            tests: Vec::new(),
        }
    }
}

/// The answers to all claims, from the first summary that has the cells of a comparison; the most surprising first.
/// `margin` is the share below which two costs are called the same.
pub fn answers(claims: &[ResolvedClaim], summaries: &[&Summary], margin: f64) -> Vec<Answer> {
    let mut judged: Vec<Vec<JudgedJob>> = claims
        .iter()
        .map(|claim| jobs(claim, summaries, margin))
        .collect();
    adjust(&mut judged);
    let mut all: Vec<Answer> = claims
        .iter()
        .zip(judged)
        .map(|(claim, judged)| answer(&claim.claim, judged))
        .collect();
    all.sort_by(|a, b| {
        let key = |a: &Answer| (a.word, -surprise(a));
        key(a)
            .partial_cmp(&key(b))
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(a.id.cmp(&b.id))
    });
    all
}

/// Tells whether one run answers a comparison, so that it need not be measured again.
pub fn answers_already(
    resolved: &ResolvedClaim,
    job: usize,
    summary: &Summary,
    margin: f64,
) -> bool {
    let Some(asked_job) = resolved.jobs.get(job) else {
        return false;
    };
    let Some((_, stated)) = resolved
        .claim
        .jobs()
        .find(|(name, _)| *name == asked_job.job)
    else {
        return false;
    };
    judge(&resolved.claim, stated, asked_job, &[summary], margin)
        .answer
        .word
        .is_decided()
}

/// Everything that `claims --json` prints.
pub fn report(
    claims: &[ResolvedClaim],
    summaries: &[&Summary],
    margin: f64,
    run: Option<String>,
) -> Answers {
    let answers = answers(claims, summaries, margin);
    let runs = answers
        .iter()
        .flat_map(|a| &a.jobs)
        .map(|job| job.run.clone());
    let mut reused: Vec<String> = runs
        .filter(|r| !r.is_empty() && run.as_ref() != Some(r))
        .collect();
    reused.sort();
    reused.dedup();
    let environment = summaries
        .first()
        .map(|s| s.environment.clone())
        .unwrap_or_default();
    Answers {
        schema: record::claim::ANSWERS_SCHEMA,
        run,
        environment,
        margin,
        reused,
        answers,
    }
}

fn jobs(resolved: &ResolvedClaim, summaries: &[&Summary], margin: f64) -> Vec<JudgedJob> {
    let job = |wanted: &ResolvedJob| {
        let (_, job) = resolved
            .claim
            .jobs()
            .find(|(name, _)| *name == wanted.job)?;
        Some(judge(&resolved.claim, job, wanted, summaries, margin))
    };
    resolved.jobs.iter().filter_map(job).collect()
}

/// Takes back the words that do not hold among all questions of the selection (Holm 1979). Those that have no word yet count
/// too: which have one is chosen by their figures.
fn adjust(all: &mut [Vec<JudgedJob>]) {
    let values: Vec<f64> = all.iter().flatten().filter_map(|f| f.p).collect();
    let mut adjusted = holm(&values).into_iter();
    for entry in all.iter_mut().flatten().filter(|f| f.p.is_some()) {
        if adjusted.next().is_none_or(|p| p > FAMILY) && entry.answer.word.is_decided() {
            let alone = std::mem::replace(&mut entry.answer.word, Word::Undecided);
            entry.answer.cause = None;
            entry.answer.why = Some(NoVerdict::AmongAll {
                alone,
                questions: values.len(),
            });
        }
    }
    // A true null is either of the coarse verdict or of the exact one, and what Holm's steps left open counts for both.
    let open = |entry: &&mut JudgedJob| entry.p.is_some() && entry.answer.word == Word::Undecided;
    let left = all.iter_mut().flatten().filter(open).count() as f64;
    for entry in all.iter_mut().flatten().filter(open) {
        if let Some((word, _)) = entry.coarse.filter(|(_, p)| *p <= FAMILY / left) {
            entry.answer.word = word;
        }
    }
}

fn answer(claim: &Claim, judged: Vec<JudgedJob>) -> Answer {
    let jobs: Vec<JobAnswer> = judged.into_iter().map(|f| f.answer).collect();
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

/// Distance of the figure outside the range, as a logarithm.
fn surprise(answer: &Answer) -> f64 {
    let distance = |job: &JobAnswer| {
        let log = job.ratio?.ratio.ln();
        let (low, high) = job.holds;
        let below = low.map_or(0.0, |low| low.ln() - log);
        let above = high.map_or(0.0, |high| log - high.ln());
        Some(below.max(above).max(0.0))
    };
    answer
        .jobs
        .first()
        .and_then(distance)
        .filter(|d| d.is_finite())
        .unwrap_or(0.0)
}

fn judge(
    claim: &Claim,
    job: &Job,
    resolved: &ResolvedJob,
    summaries: &[&Summary],
    margin: f64,
) -> JudgedJob {
    let mut answer = blank(claim, job, resolved);
    if resolved.way.is_empty()
        || resolved.left_out.is_some() && summaries.iter().all(|s| sides(resolved, 0, s).is_none())
    {
        answer.word = if resolved.is_late() {
            Word::Undecided
        } else {
            Word::NotMeasurableHere
        };
        answer.why = resolved.left_out.clone();
        answer.late = resolved.is_late();
        return JudgedJob::nothing(answer);
    }
    match claim.kind {
        ClaimKind::Crossover => crossover::judge(claim, job, resolved, summaries, margin, answer),
        _ => single(claim, job, resolved, summaries, margin, answer),
    }
}

fn blank(claim: &Claim, job: &Job, resolved: &ResolvedJob) -> JobAnswer {
    let cost = job
        .fact
        .clone()
        .unwrap_or_else(|| job.cost.label().to_owned());
    let total = job
        .total
        .as_deref()
        .map_or_else(|| cost.clone(), |total| format!("{cost} of {total}"));
    let beside = job
        .other_total
        .as_ref()
        .map_or_else(String::new, |other| format!(" against that of {other}"));
    let cells = |cells: &[record::cell::Cell]| match (claim.kind, cells) {
        (ClaimKind::Crossover, [first, ..]) => Some(first.name()),
        (_, [first, ..]) => Some(first.to_string()),
        (_, []) => None,
    };
    JobAnswer {
        job: resolved.job.clone(),
        word: Word::Undecided,
        way: cells(&resolved.way).unwrap_or_else(|| format!("{}/{}", job.experiment, job.way)),
        other: cells(&resolved.other).or_else(|| {
            job.other
                .as_ref()
                .map(|o| format!("{}/{o}", job.experiment))
        }),
        figure: total + &beside,
        holds: claim.holds.as_ref().map_or((None, None), |h| h.edges()),
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

/// A comparison's cells in a summary, where it has them.
fn sides<'a>(
    resolved: &ResolvedJob,
    index: usize,
    summary: &'a Summary,
) -> Option<(&'a CellSummary, Option<&'a CellSummary>)> {
    let way = figure::cell(summary, resolved.way.get(index)?)?;
    let Some(other) = resolved.other.get(index) else {
        return Some((way, None));
    };
    Some((way, Some(figure::cell(summary, other)?)))
}

/// A claim of a ratio or of a cost by itself.
fn single(
    claim: &Claim,
    job: &Job,
    resolved: &ResolvedJob,
    summaries: &[&Summary],
    margin: f64,
    mut answer: JobAnswer,
) -> JudgedJob {
    let all: Vec<_> = summaries
        .iter()
        .filter_map(|s| Some((*s, sides(resolved, 0, s)?)))
        .collect();
    let ready = |s: &Summary, w: &CellSummary, o: Option<&CellSummary>| {
        figure::of_claim(claim, job, s, w, o)
    };
    let first = all
        .iter()
        .find_map(|(s, (w, o))| Some((*s, *w, *o, ready(s, w, *o)?)));
    let Some((summary, way, other, figure)) = first else {
        let (word, why) = all
            .first()
            .map_or((Word::Undecided, NoVerdict::NoRun), |(_, (way, other))| {
                unmeasured(way, *other)
            });
        let late = all
            .iter()
            .take(1)
            .any(|(_, (way, other))| is_late(way, *other));
        return JudgedJob::nothing(JobAnswer {
            word,
            why: Some(why),
            late,
            ..answer
        });
    };
    let regions = Regions::of_claim(claim, margin);
    answer.word = regions.word(figure.estimate.low, figure.estimate.high);
    answer.paired = figure.paired;
    answer.run.clone_from(&summary.run);
    answer.unit = figure.unit.clone();
    answer.ratio = Some(figure.estimate);
    if answer.word.is_decided() {
        if let Some(other) = other {
            let headline = || {
                summary
                    .experiment(&job.experiment)
                    .map_or("", |e| e.headline.as_str())
            };
            let first = job.total.as_deref().unwrap_or_else(headline);
            let second = job.other_total.as_deref().unwrap_or(first);
            let sides = (
                ClaimSide {
                    cell: way,
                    phase: first,
                },
                ClaimSide {
                    cell: other,
                    phase: second,
                },
            );
            answer.cause = cause::difference(job, sides.0, sides.1, answer.word)
                .or(Some(Difference::NotFound));
        }
    } else {
        answer.why = Some(NoVerdict::Interval {
            verdicts: regions.possible(&figure.estimate),
        });
    }
    let p = if answer.word.is_decided() {
        regions.p(answer.word, &figure)
    } else {
        figure.error.map(|_| 1.0)
    };
    let (distance, merged) = (regions.distance(figure.estimate.ratio), regions.coarse());
    let (coarse, to_coarse) = (
        merged.nearest(&figure),
        merged.distance(figure.estimate.ratio),
    );
    JudgedJob {
        answer,
        p,
        coarse,
        tests: vec![FigureTest {
            point: 0,
            figure,
            distance,
            to_coarse,
        }],
    }
}

/// Tells whether the budget did not reach one of the sides.
fn is_late(way: &CellSummary, other: Option<&CellSummary>) -> bool {
    [Some(way), other]
        .into_iter()
        .flatten()
        .any(|cell| cell.outcome.cause == Some(Cause::Budget))
}

fn unmeasured(way: &CellSummary, other: Option<&CellSummary>) -> (Word, NoVerdict) {
    let lacking = [Some(way), other]
        .into_iter()
        .flatten()
        .find(|c| c.outcome.status != Status::Ok);
    match lacking {
        // That the time was too short says nothing of the machine.
        Some(cell) if cell.outcome.cause == Some(Cause::Budget) => {
            (Word::Undecided, NoVerdict::Budget { needed_s: None })
        }
        Some(cell) => {
            let absent = matches!(cell.outcome.status, Status::Skipped | Status::Refused);
            let word = if absent {
                Word::NotMeasurableHere
            } else {
                Word::Undecided
            };
            (
                word,
                NoVerdict::Cell {
                    cell: cell.cell.clone(),
                    outcome: cell.outcome.clone(),
                },
            )
        }
        None => {
            let launches = [Some(way), other]
                .into_iter()
                .flatten()
                .map(|c| c.launches)
                .min()
                .unwrap_or(0);
            let least = stats::estimate::LEAST_POINTS;
            (
                Word::Undecided,
                if launches < least {
                    NoVerdict::Launches { launches, least }
                } else {
                    NoVerdict::NoFigure
                },
            )
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/claims/tests.rs"]
mod tests;
