//! The leader of a comparison group, and how the others stand to it.

use super::estimate::{Point, Ratio, estimates};
use super::interval::{Undefined, check_probability};
use super::verdicts::{AdjustedVerdict, Region, verdicts};
use serde::{Deserialize, Serialize};

/// Position of a method relative to the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It has the lowest mean logarithm.
    Leader,
    /// It is shown to cost the same within the margin.
    Within,
    /// It is shown to cost more than some method by more than the margin.
    Beaten,
    /// Neither is shown.
    NotSettled,
}

/// The answer for a group of methods, named by their index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Index of the leader.
    pub leader: usize,
    /// Standing of each method, by index.
    pub standings: Vec<Standing>,
    /// Each method's ratio to the leader, at the confidence of the pair: for a sentence's figures and the time it would take.
    pub to_leader: Vec<Option<Ratio>>,
}

/// Ranks methods from the launches of each pair, so that rounds are paired where two methods shared a process and not every
/// method has to have been launched everywhere. `contrast(a, b)` gives b relative to a; pairs with too few launches stay
/// without a word. `level(a, b)` is the confidence of a pair's interval: more than `confidence` where one of them left the
/// launches for its width. All standard errors are widened by a calibration's factor.
///
/// All pairs are compared and their words adjusted together (Holm), so that with the confidence asked for *no* word on a
/// standing is wrong, whichever method leads.
///
/// `TooFew` without methods, `NotAProbability`.
pub fn rank_contrasts(
    methods: usize,
    contrast: impl Fn(usize, usize) -> Vec<Point>,
    level: impl Fn(usize, usize) -> f64,
    baseline: Option<usize>,
    (margin, confidence): (f64, f64),
    widening: f64,
) -> Result<Ranking, Undefined> {
    check_probability(confidence)?;
    if methods == 0 {
        return Err(Undefined::TooFew { got: 0, needed: 1 });
    }
    let pairs: Vec<(usize, usize)> = (0..methods)
        .flat_map(|a| (a + 1..methods).map(move |b| (a, b)))
        .collect();
    let contrasts: Vec<Vec<Point>> = pairs.iter().map(|&(a, b)| contrast(a, b)).collect();
    let estimated = estimates(&contrasts, confidence).into_iter().zip(pairs);
    let at =
        |estimate: Ratio, (a, b): (usize, usize)| estimate.widened(widening).at(level(a, b)).ok();
    let (pairs, compared): (Vec<_>, Vec<_>) = estimated
        .filter_map(|(estimate, pair)| Some((pair, at(estimate.ok()?, pair)?)))
        .unzip();
    let verdicts = verdicts(
        &compared
            .iter()
            .map(|estimate| (*estimate, margin))
            .collect::<Vec<_>>(),
        confidence,
    );
    let to = |method: usize, other: usize| {
        let pair = pairs
            .iter()
            .position(|&pair| pair == (method.min(other), method.max(other)))?;
        Some(if method > other {
            compared[pair]
        } else {
            compared[pair].inverse()
        })
    };
    let leader = leader(methods, baseline, &pairs, &verdicts, to);
    Ok(Ranking {
        leader,
        standings: (0..methods)
            .map(|method| standing(method, leader, &pairs, &verdicts))
            .collect(),
        to_leader: (0..methods).map(|method| to(method, leader)).collect(),
    })
}

/// The confidence at which each of so many intervals must be, for all to hold together at `confidence` (Šidák 1967).
pub fn simultaneous(confidence: f64, intervals: usize) -> f64 {
    confidence.powf(1.0 / intervals.max(1) as f64)
}

/// The method that costs least relative to one common method; never one that is shown to cost more than another.
fn leader(
    methods: usize,
    baseline: Option<usize>,
    pairs: &[(usize, usize)],
    verdicts: &[AdjustedVerdict],
    to: impl Fn(usize, usize) -> Option<Ratio>,
) -> usize {
    let reference = baseline.filter(|&base| base < methods).unwrap_or(0);
    let log = |method: usize| {
        if method == reference {
            0.0
        } else {
            to(method, reference).map_or(f64::INFINITY, |ratio| ratio.log())
        }
    };
    let beaten = |method: usize| costs_more(method, pairs, verdicts);
    (0..methods)
        .min_by(|&a, &b| beaten(a).cmp(&beaten(b)).then(log(a).total_cmp(&log(b))))
        .unwrap_or(0)
}

/// Tells whether a method is shown to cost more than some other.
fn costs_more(method: usize, pairs: &[(usize, usize)], verdicts: &[AdjustedVerdict]) -> bool {
    pairs
        .iter()
        .zip(verdicts)
        .any(|(&(a, b), word)| match word.verdict {
            Region::Slower => b == method,
            Region::Faster => a == method,
            _ => false,
        })
}

fn standing(
    method: usize,
    leader: usize,
    pairs: &[(usize, usize)],
    verdicts: &[AdjustedVerdict],
) -> Standing {
    let with_leader = pairs
        .iter()
        .zip(verdicts)
        .find(|((a, b), _)| (*a.min(b), *a.max(b)) == (method.min(leader), method.max(leader)));
    match with_leader {
        _ if method == leader => Standing::Leader,
        _ if costs_more(method, pairs, verdicts) => Standing::Beaten,
        Some((_, word)) if word.verdict == Region::Equivalent => Standing::Within,
        _ => Standing::NotSettled,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rng::Seeded;
    use super::*;

    fn rows(n: usize, levels: &[f64]) -> Vec<Vec<f64>> {
        let mut rng = Seeded::new(5);
        (0..n)
            .map(|_| {
                levels
                    .iter()
                    .map(|level| level + 0.01 * (rng.unit() - 0.5))
                    .collect()
            })
            .collect()
    }

    /// A ranking by one row of logarithms a launch.
    fn rank(rows: &[Vec<f64>], margin: f64, confidence: f64) -> Ranking {
        let log = |a: usize, b: usize| {
            move |row: &Vec<f64>| Point {
                log: row[b] - row[a],
                rounds: 1,
                round_variance: 0.0,
            }
        };
        let contrast = |a, b| rows.iter().map(log(a, b)).collect();
        rank_contrasts(
            rows[0].len(),
            contrast,
            |_, _| confidence,
            Some(0),
            (margin, confidence),
            1.0,
        )
        .expect("methods")
    }

    #[test]
    fn each_has_its_standing() {
        let ranking = rank(&rows(16, &[0.30, 0.0, 0.001, 0.021]), 0.02, 0.95);
        use Standing::{Beaten, Leader, NotSettled, Within};
        assert_eq!(ranking.standings, [Beaten, Leader, Within, NotSettled]);
        assert_eq!(ranking.leader, 1);
        assert!(
            ranking.to_leader[0].expect("a pair").ratio > 1.3 && ranking.to_leader[1].is_none()
        );
    }

    #[test]
    fn bad_input_is_named_and_too_few_launches_settle_nothing() {
        let none = |_, _| Vec::new();
        let ranked = |methods, confidence| {
            rank_contrasts(methods, none, |_, _| 0.95, None, (0.0, confidence), 1.0)
        };
        assert!(matches!(
            ranked(0, 0.95),
            Err(Undefined::TooFew { got: 0, needed: 1 })
        ));
        assert!(matches!(ranked(2, 1.5), Err(Undefined::NotAProbability(_))));
        assert_eq!(
            rank(&rows(3, &[0.0, 0.3]), 0.0, 0.95).standings,
            [Standing::Leader, Standing::NotSettled]
        );
        assert_eq!(
            rank(&rows(6, &[0.3]), 0.0, 0.95).standings,
            [Standing::Leader]
        );
    }
}
