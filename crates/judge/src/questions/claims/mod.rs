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

use crate::summarise::rounded;
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
    rounded(Answers {
        schema: record::claim::ANSWERS_SCHEMA,
        run,
        environment,
        margin,
        reused,
        answers,
    })
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
        (!figure.estimate.is_of_extremes()).then_some(1.0)
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
mod tests {
    //! Words on both sides of each threshold, from summaries made by hand, and what must hold of all of them.

    use std::collections::BTreeMap;

    use record::cell::Cell;
    use record::claim::{
        Claim, ClaimPoint, Counter, Difference, NoVerdict, ResolvedClaim, ResolvedJob, Word,
    };
    use record::outcome::{Cause, Outcome, Status};
    use record::summary::{
        Calibration, CellSummary, Distribution, FactProof, GroupSummary, LaunchValues,
        PhaseSummary, Ratio, Recommendation, SUMMARY_SCHEMA, Settings, Summary,
    };
    use serde_json::json;
    use stats::rng::Seeded;

    use super::regions::Regions;
    use super::{answers, answers_already, changes, crossover, report, wanted};

    const MARGIN: f64 = 0.05;

    /// The text of a claim about `a` and `b`.
    fn text(kind: &str, holds: &str, of: &str) -> String {
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

    fn claim(kind: &str, holds: &str) -> Claim {
        Claim::parse("x.toml", &text(kind, holds, "")).unwrap()
    }

    fn cell(method: &str, bytes: &str) -> Cell {
        let parameters = BTreeMap::from([("bytes".to_owned(), bytes.to_owned())]);
        Cell {
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            parameters,
        }
    }

    fn distribution(median: f64) -> Distribution {
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
    fn measured(method: &str, bytes: &str, wall_ns: f64, wobble: u64) -> CellSummary {
        let mut random = Seeded::new(wobble);
        let mut launch = |block: usize| {
            let value = wall_ns * (1.0 + 0.005 * (random.unit() - 0.5));
            let values = BTreeMap::from([("copy".to_owned(), value)]);
            LaunchValues {
                launch: block,
                block: block as i32,
                rounds: 5,
                wall_ns: values.clone(),
                cpu_ns: values,
                tail_ns: BTreeMap::new(),
            }
        };
        let per_launch: Vec<LaunchValues> = (0..10).map(&mut launch).collect();
        let phase: PhaseSummary = serde_json::from_value(json!({
        "wall_ns": distribution(wall_ns), "cpu_ns": distribution(wall_ns), "per_unit_ns": distribution(wall_ns / 1000.0),
        "user_ns": wall_ns, "system_ns": 0.0, "minor_faults": 0.0, "major_faults": 0.0,
        "voluntary_switches": 0.0, "involuntary_switches": 0.0, "below_floor": false, "samples": 50,
    }))
    .unwrap();
        CellSummary {
            cell: format!("copy/{method}@c-O3"),
            experiment: "copy".into(),
            method: method.into(),
            worker: "c-O3".into(),
            role: record::summary::Role::Method,
            group: String::new(),
            parameters: BTreeMap::from([("bytes".to_owned(), bytes.to_owned())]),
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

    fn summary(run: &str, cells: Vec<CellSummary>) -> Summary {
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
                    state: None,
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

    fn asked(claim: Claim) -> ResolvedClaim {
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

    /// The word on a claim where `a` costs `ratio` times what `b` does.
    fn word(holds: &str, ratio: f64) -> Word {
        let made = summary(
            "r",
            vec![
                measured("a", "64", 1000.0 * ratio, 1),
                measured("b", "64", 1000.0, 2),
            ],
        );
        answers(&[asked(claim("ratio", holds))], &[&made], MARGIN)[0].word
    }

    #[test]
    fn a_claim_that_it_is_cheaper_has_its_word_on_both_sides_of_each_edge() {
        let holds = "low = 0.4\nhigh = 0.6";
        for (ratio, expected) in [
            (0.38, Word::Stronger),
            (0.4, Word::HoldsOrStronger),
            (0.42, Word::Holds),
            (0.58, Word::Holds),
            (0.6, Word::Undecided),
            (0.62, Word::Weaker),
            (0.93, Word::Weaker),
            (1.0 / 1.05, Word::DoesNotHold),
            (0.97, Word::NoDifferenceHere),
            (1.03, Word::NoDifferenceHere),
            (1.05, Word::DoesNotHold),
            (1.07, Word::Reversed),
        ] {
            assert_eq!(word(holds, ratio), expected, "{ratio}");
        }
    }

    #[test]
    fn a_claim_that_it_is_dearer_is_the_mirror_of_that() {
        let holds = "low = 2.0\nhigh = 3.0";
        let expected = [
            (3.1, Word::Stronger),
            (2.9, Word::Holds),
            (2.0, Word::Undecided),
            (1.9, Word::Weaker),
            (1.02, Word::NoDifferenceHere),
            (0.9, Word::Reversed),
        ];
        for (ratio, expected) in expected {
            assert_eq!(word(holds, ratio), expected, "{ratio}");
        }
    }

    #[test]
    fn open_ranges_and_claims_that_nothing_differs() {
        assert_eq!(
            (word("high = 0.95", 0.001), word("high = 0.95", 1.0)),
            (Word::Holds, Word::NoDifferenceHere)
        );
        assert_eq!(
            (word("low = 1.05", 9.0), word("low = 1.05", 0.8)),
            (Word::Holds, Word::Reversed)
        );
        let same = "low = 0.9\nhigh = 1.1";
        assert_eq!(
            (word(same, 1.0), word(same, 1.2), word(same, 0.8)),
            (Word::Holds, Word::Reversed, Word::Reversed)
        );
        assert_eq!(
            (word("high = 1.1", 0.2), word("high = 1.1", 1.3)),
            (Word::Holds, Word::Reversed)
        );
    }

    #[test]
    fn what_has_no_word_wants_launches() {
        let claim = || asked(claim("ratio", "low = 0.4\nhigh = 0.6"));
        let wanted_at = |ratio: f64| {
            let made = summary(
                "r",
                vec![
                    measured("a", "64", 1000.0 * ratio, 1),
                    measured("b", "64", 1000.0, 2),
                ],
            );
            wanted(&[claim()], &made, MARGIN)
        };
        assert!(wanted_at(0.5).is_empty(), "it has its word");
        let near = wanted_at(0.599);
        assert_eq!(near.len(), 1);
        assert!(
            near[0].launches > 10 && near[0].launches <= 110 && near[0].decides,
            "{near:?}"
        );
        assert_eq!(near[0].cells, [cell("a", "64"), cell("b", "64")]);
        let coarse = wanted_at(0.4);
        assert!(
            coarse.len() == 1 && !coarse[0].decides,
            "the exact word comes after all claims have one: {coarse:?}"
        );
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
        let claims = |others: usize| {
            let one = asked(claim("ratio", "low = 0.4\nhigh = 0.6"));
            let mut open = one.clone();
            open.jobs[0].way = vec![cell("c", "64")];
            let mut all = vec![one];
            all.extend(std::iter::repeat_n(open, others));
            all
        };
        let word_of_first = |others: usize| {
            let all = answers(&claims(others), &[&made], MARGIN);
            all.iter()
                .flat_map(|a| &a.jobs)
                .find(|j| j.way.starts_with("copy/a"))
                .unwrap()
                .word
        };
        assert_eq!(
            (word_of_first(0), word_of_first(3000)),
            (Word::Holds, Word::Undecided)
        );
    }

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
            let mut asked = asked(claim("absolute", holds));
            asked.jobs[0].other.clear();
            let answer = &answers(&[asked], &[&made], MARGIN)[0];
            assert_eq!(
                (answer.word, answer.jobs[0].unit.as_str()),
                (expected, "ns each"),
                "{wall_ns}"
            );
        }
    }

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

    #[test]
    fn facts_are_compared_by_the_extremes_that_were_seen() {
        let with = |method: &str, min: u64, max: u64| {
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
        };
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
            let made = summary("r", vec![with("a", min, max), with("b", 100, 100)]);
            assert_eq!(
                answers(&[asked(claim.clone())], &[&made], MARGIN)[0].word,
                expected,
                "{min}–{max}"
            );
        }
    }

    #[test]
    fn a_spread_is_compared_by_the_distances_from_the_median() {
        let spread = |method: &str, factor: f64| {
            let mut cell = measured(method, "64", 1000.0, 1);
            for (i, launch) in cell.per_launch.iter_mut().enumerate() {
                launch
                    .wall_ns
                    .insert("copy".into(), 1000.0 + factor * (i as f64 - 4.5));
            }
            cell
        };
        let claim = Claim::parse("x.toml", &text("ratio", "low = 1.5", "of = \"spread\"")).unwrap();
        let made = summary("r", vec![spread("a", 40.0), spread("b", 2.0)]);
        assert_eq!(
            answers(&[asked(claim)], &[&made], MARGIN)[0].word,
            Word::Holds
        );
    }

    #[test]
    fn many_words_need_stronger_evidence_than_one() {
        let just = |id: u64| {
            let (mut a, b) = (
                measured("a", "64", 1000.0, id),
                measured("b", "64", 1000.0, id),
            );
            for (i, launch) in a.per_launch.iter_mut().enumerate() {
                launch
                    .wall_ns
                    .insert("copy".into(), 845.0 + 11.0 * (7 * i % 10) as f64);
            }
            summary("r", vec![a, b])
        };
        let one = just(1);
        let alone = asked(claim("ratio", "high = 0.95"));
        assert_eq!(
            answers(std::slice::from_ref(&alone), &[&one], MARGIN)[0].word,
            Word::Holds
        );
        let many: Vec<ResolvedClaim> = (0..100).map(|_| alone.clone()).collect();
        let all = answers(&many, &[&one], MARGIN);
        assert!(all.iter().all(|a| a.word == Word::Undecided
            && matches!(
                a.jobs[0].why,
                Some(NoVerdict::AmongAll { questions: 100, .. })
            )));
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
        let asked = asked(claim("ratio", "low = 0.4\nhigh = 0.6"));
        let answers = report(
            std::slice::from_ref(&asked),
            &[&newer, &older],
            MARGIN,
            Some("newer".into()),
        );
        assert_eq!(
            (answers.answers[0].word, answers.reused.as_slice()),
            (Word::Holds, &["older".to_owned()][..])
        );
        assert!(
            answers_already(&asked, 0, &older, MARGIN)
                && !answers_already(&asked, 0, &newer, MARGIN)
        );
    }

    #[test]
    fn two_runs_are_told_apart_by_their_verdicts() {
        let of = |ratio: f64| {
            let made = summary(
                "r",
                vec![
                    measured("a", "64", 1000.0 * ratio, 1),
                    measured("b", "64", 1000.0, 2),
                ],
            );
            report(
                &[asked(claim("ratio", "low = 0.4\nhigh = 0.6"))],
                &[&made],
                MARGIN,
                None,
            )
        };
        assert!(changes(&of(0.5), &of(0.52)).is_empty());
        let found = changes(&of(0.5), &of(1.5));
        assert_eq!(
            (found[0].first, found[0].second),
            (Some(Word::Holds), Some(Word::Reversed))
        );
        // A coarse verdict leaves open which exact one is true, and an open one contradicts none.
        let with = |word: Word| {
            let mut answers = of(0.5);
            answers.answers[0].jobs[0].word = word;
            answers
        };
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
                changes(&with(a), &with(b)).len(),
                usize::from(is_change),
                "{a:?} {b:?}"
            );
            assert_eq!(
                changes(&with(b), &with(a)).len(),
                usize::from(is_change),
                "{b:?} {a:?}"
            );
        }
    }

    /// No word but "undecided" where the interval crosses an edge that decides it: every value in the interval, taken by itself,
    /// must get the same word.
    #[test]
    fn no_word_is_said_across_an_edge() {
        let mut random = Seeded::new(20_261_121);
        for _ in 0..4000 {
            let mut within = |low: f64, high: f64| low + (high - low) * random.unit();
            let (a, b) = (within(-2.0, 2.0).exp(), within(0.01, 1.5).exp());
            let holds = match within(0.0, 4.0) as u32 {
                0 => format!("low = {a}"),
                1 => format!("high = {a}"),
                _ => format!("low = {a}\nhigh = {}", a * b),
            };
            let kind = if within(0.0, 1.0) < 0.2 {
                "absolute"
            } else {
                "ratio"
            };
            let per = if kind == "absolute" {
                "\nper = \"unit\""
            } else {
                ""
            };
            let margin = within(0.01, 0.2);
            let regions = Regions::of_claim(&claim(kind, &(holds.clone() + per)), margin);
            let (low, width) = (within(-3.0, 3.0).exp(), within(0.0, 0.8).exp());
            let said = regions.word(low, low * width);
            if said != Word::Undecided {
                for step in 0..=50 {
                    let inside = low * width.powf(f64::from(step) / 50.0);
                    assert_eq!(
                        regions.word(inside, inside),
                        said,
                        "{holds} {low} {width} {margin}"
                    );
                }
            }
        }
    }

    fn point(value: u64, low: f64, high: f64) -> ClaimPoint {
        let ratio = (low * high).sqrt();
        ClaimPoint {
            value,
            ratio: Some(Ratio {
                ratio,
                low,
                high,
                level: 0.95,
                launches: 9,
                error: (high / low).ln() / 4.6,
                freedom: 8.0,
                drift: None,
            }),
        }
    }

    #[test]
    fn a_crossover_has_its_word_by_the_signs_of_the_sizes() {
        let sizes = [4_u64 << 10, 16 << 10, 64 << 10, 256 << 10];
        let range = (16384.0, 65536.0);
        let of = |ratios: [f64; 4]| {
            let points: Vec<ClaimPoint> = sizes
                .iter()
                .zip(ratios)
                .map(|(size, ratio)| point(*size, ratio * 0.98, ratio * 1.02))
                .collect();
            crossover::word(&points, range, MARGIN).0
        };
        for (ratios, expected) in [
            ([2.0, 1.5, 0.8, 0.5], Word::Holds),
            ([2.0, 0.8, 0.7, 0.5], Word::Stronger),
            ([0.9, 0.8, 0.7, 0.5], Word::Stronger),
            ([2.0, 1.8, 1.5, 0.5], Word::Weaker),
            ([2.0, 1.8, 1.5, 1.0], Word::Weaker),
            ([2.0, 1.8, 1.5, 1.2], Word::Reversed),
            ([0.5, 0.8, 1.2, 1.5], Word::Reversed),
            ([2.0, 1.0, 0.8, 0.5], Word::Undecided),
            ([2.0, 1.5, 1.0, 0.5], Word::Undecided),
            ([2.0, 0.5, 2.0, 0.5], Word::Undecided),
            ([1.0, 1.0, 1.0, 1.0], Word::NoDifferenceHere),
        ] {
            assert_eq!(of(ratios), expected, "{ratios:?}");
        }
    }

    /// Seeded simulations of a cost that crosses at a known size: the band must contain it in 95 % of them at least.
    #[test]
    fn bands_contain_the_crossover() {
        let mut random = Seeded::new(7);
        let (mut bands, mut right) = (0, 0);
        for _ in 0..400 {
            let truth = (64.0 * 1024.0) * (2.0 * random.unit() - 1.0).exp();
            let sizes: Vec<u64> = (12..22).map(|power| 1_u64 << power).collect();
            let points: Vec<ClaimPoint> = sizes
                .iter()
                .map(|size| {
                    // The true log ratio is a line through zero at the crossover; ten launches with noise of 10 %.
                    let centre = -0.15 * (*size as f64 / truth).ln();
                    let logs: Vec<f64> = (0..10)
                        .map(|_| centre + 0.1 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0))
                        .collect();
                    ClaimPoint {
                        value: *size,
                        ratio: crate::contrast::estimate::of_series(&logs, 0.95),
                    }
                })
                .collect();
            let (_, band, _, _) = crossover::word(&points, (32768.0, 131_072.0), MARGIN);
            if let Some(band) = band {
                bands += 1;
                let above = band.above.is_none_or(|size| (size as f64) <= truth);
                let below = band.up_to.is_none_or(|size| (size as f64) >= truth);
                right += u32::from(above && below);
            }
        }
        assert!(
            bands > 350 && f64::from(right) >= 0.95 * f64::from(bands),
            "{right} of {bands}"
        );
    }

    #[test]
    fn the_cause_is_said_where_a_part_carries_the_difference_and_not_otherwise() {
        let with = |method: &str, wall: f64, system: f64, user: f64, faults: f64| {
            let mut cell = measured(method, "64", wall, 5);
            let phase = cell.phases.get_mut("copy").unwrap();
            (phase.system_ns, phase.user_ns, phase.minor_faults) = (system, user, faults);
            phase.cpu_ns = distribution(system + user);
            cell
        };
        let cause = |a: CellSummary, b: CellSummary| {
            let made = summary("r", vec![a, b]);
            answers(&[asked(claim("ratio", "high = 0.9"))], &[&made], MARGIN)[0].jobs[0]
                .cause
                .clone()
        };
        let faults = cause(
            with("a", 1000.0, 100.0, 900.0, 10.0),
            with("b", 3000.0, 2000.0, 1000.0, 5120.0),
        );
        let Some(Difference::Kernel(part)) = faults else {
            panic!("{faults:?}")
        };
        assert_eq!(
            (part.counter, part.dear.as_str(), part.cheap.as_str()),
            (Counter::Faults, "b", "a")
        );
        assert_eq!((part.dear_count, part.cheap_count), (5120.0, 10.0));
        let waiting = cause(
            with("a", 1000.0, 100.0, 900.0, 0.0),
            with("b", 9000.0, 100.0, 900.0, 0.0),
        );
        assert!(
            matches!(waiting, Some(Difference::Waiting(_))),
            "{waiting:?}"
        );
        let program = cause(
            with("a", 1000.0, 0.0, 1000.0, 0.0),
            with("b", 3000.0, 0.0, 3000.0, 0.0),
        );
        assert!(
            matches!(program, Some(Difference::Program(_))),
            "{program:?}"
        );
        let unknown = cause(
            with("a", 1000.0, 300.0, 700.0, 0.0),
            with("b", 3000.0, 1100.0, 1500.0, 0.0),
        );
        assert_eq!(unknown, Some(Difference::NotFound));
    }
}
