//! From which size on one way is cheaper than another: a band between two sizes, never a point.

use super::{FigureTest, JudgedJob, figure, figure::ClaimFigure, sides, unmeasured};
use record::claim::{Band, Claim, ClaimPoint, Job, JobAnswer, NoVerdict, ResolvedJob, Word};
use record::summary::{Ratio, Summary};

/// Position of one point's interval for the praised way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sign {
    Dearer,
    Cheaper,
    Open,
}

fn sign(estimate: Option<&Ratio>) -> Sign {
    match estimate {
        Some(e) if e.low > 1.0 => Sign::Dearer,
        Some(e) if e.high < 1.0 => Sign::Cheaper,
        _ => Sign::Open,
    }
}

/// The word of a crossover by the ratios at its points (ascending), with the band it lies in and the points that decide.
pub(super) fn word(
    points: &[ClaimPoint],
    (low, high): (f64, f64),
    margin: f64,
) -> (Word, Option<Band>, Vec<usize>, Option<NoVerdict>) {
    let signs: Vec<Sign> = points.iter().map(|p| sign(p.ratio.as_ref())).collect();
    let at = |wanted: Sign| {
        (0..points.len())
            .filter(|&i| signs[i] == wanted)
            .collect::<Vec<_>>()
    };
    let (dearer, cheaper) = (at(Sign::Dearer), at(Sign::Cheaper));
    let value = |index: usize| points[index].value;
    match (&dearer[..], &cheaper[..]) {
        ([], []) => {
            let same = |p: &ClaimPoint| {
                p.ratio
                    .is_some_and(|e| e.low >= 1.0 / (1.0 + margin) && e.high <= 1.0 + margin)
            };
            if points.iter().all(same) && !points.is_empty() {
                (Word::NoDifferenceHere, None, Vec::new(), None)
            } else {
                (Word::Undecided, None, Vec::new(), Some(NoVerdict::NoSize))
            }
        }
        (dearer, cheaper) if dearer.iter().min() > cheaper.iter().max() && !cheaper.is_empty() => {
            let deciding = vec![cheaper[cheaper.len() - 1], dearer[0]];
            (Word::Reversed, None, deciding, None)
        }
        (dearer, cheaper) if !cheaper.is_empty() && dearer.iter().max() > cheaper.iter().min() => (
            Word::Undecided,
            None,
            Vec::new(),
            Some(NoVerdict::CrossesOften),
        ),
        (dearer, cheaper) => {
            let (last, first) = (dearer.iter().max().copied(), cheaper.iter().min().copied());
            let band = Some(Band {
                above: last.map(value),
                up_to: first.map(value),
            });
            let (above, up_to) = (
                last.map(|i| value(i) as f64),
                first.map(|i| value(i) as f64),
            );
            let never = dearer.len() == points.len();
            let (word, deciding) = match (above, up_to) {
                (_, Some(up_to)) if up_to <= low => (Word::Stronger, vec![first]),
                (Some(above), None) if never && above >= high => (Word::Reversed, vec![last]),
                (Some(above), _) if above >= high => (Word::Weaker, vec![last]),
                (Some(above), Some(up_to)) if above >= low && up_to <= high => {
                    (Word::Holds, vec![last, first])
                }
                _ => (Word::Undecided, Vec::new()),
            };
            let why = (word == Word::Undecided).then_some(NoVerdict::BeyondRange);
            (word, band, deciding.into_iter().flatten().collect(), why)
        }
    }
}

pub(super) fn judge(
    claim: &Claim,
    job: &Job,
    resolved: &ResolvedJob,
    summaries: &[&Summary],
    margin: f64,
    mut answer: JobAnswer,
) -> JudgedJob {
    let mut figures: Vec<Option<ClaimFigure>> = Vec::new();
    let mut lacking = None;
    // All sizes are of one run: the first that has any of them.
    let run = summaries
        .iter()
        .find(|s| (0..resolved.points.len()).any(|i| sides(resolved, i, s).is_some()));
    for index in 0..resolved.points.len() {
        let cells = run.and_then(|s| Some((*s, sides(resolved, index, s)?)));
        let figure =
            cells.and_then(|(s, (way, other))| figure::of_claim(claim, job, s, way, other));
        if let (None, Some((_, (way, other)))) = (&figure, cells) {
            lacking = lacking.or(Some(unmeasured(way, other)));
            answer.late |= super::is_late(way, other);
        }
        figures.push(figure);
    }
    answer.run = run.map_or_else(String::new, |s| s.run.clone());
    let points = resolved.points.iter().zip(&figures);
    answer.points = points
        .map(|(&value, f)| ClaimPoint {
            value,
            ratio: f.as_ref().map(|f| f.estimate),
        })
        .collect();
    answer.paired = figures.iter().flatten().all(|f| f.paired);
    let edges = answer
        .holds
        .0
        .zip(answer.holds.1)
        .unwrap_or((0.0, f64::MAX));
    let (word, band, deciding, why) = word(&answer.points, edges, margin);
    (answer.word, answer.band, answer.why) = (word, band, why);
    if figures.iter().all(Option::is_none) {
        let (word, why) = lacking.unwrap_or((Word::Undecided, NoVerdict::NoRun));
        (answer.word, answer.why) = (word, Some(why));
    }
    // Each deciding sign may be wrong; together no more often than the sum.
    let tails = deciding
        .iter()
        .filter_map(|&i| figures[i].as_ref().and_then(|f| f.tail(from_one(f))));
    let p = match (word.is_decided(), deciding.is_empty()) {
        (true, true) => None,
        (true, false) => Some(tails.sum::<f64>().min(1.0)),
        (false, _) => figures.iter().any(Option::is_some).then_some(1.0),
    };
    let tests = figures
        .into_iter()
        .enumerate()
        .filter_map(|(point, figure)| {
            let figure = figure?;
            let distance = from_one(&figure);
            Some(FigureTest {
                point,
                figure,
                distance,
                to_coarse: distance,
            })
        });
    JudgedJob {
        answer,
        p,
        coarse: None,
        tests: tests.collect(),
    }
}

/// Distance of a figure from one, where neither way is cheaper.
fn from_one(figure: &ClaimFigure) -> f64 {
    figure.estimate.ratio.ln().abs()
}
