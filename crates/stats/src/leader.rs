//! The leader of a comparison group, and the standing of the others.

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

/// Terms of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingTerms {
    /// Differences below this share count as none.
    pub margin: f64,
    /// The probability that no word is wrong.
    pub confidence: f64,
    /// Factor of all standard errors, from a calibration.
    pub widening: f64,
}

/// Ranks methods from the launches of each pair, so that rounds are paired where two methods shared a process and not every
/// method has to have been launched everywhere. `contrast(a, b)` gives b relative to a; pairs with too few launches stay
/// without a word. `level(a, b)` is the confidence of a pair's interval: more than that of the terms where one of them left the
/// launches for its width.
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
    terms: RankingTerms,
) -> Result<Ranking, Undefined> {
    check_probability(terms.confidence)?;
    if methods == 0 {
        return Err(Undefined::TooFew { got: 0, needed: 1 });
    }
    let pairs: Vec<(usize, usize)> = (0..methods)
        .flat_map(|a| (a + 1..methods).map(move |b| (a, b)))
        .collect();
    let contrasts: Vec<Vec<Point>> = pairs.iter().map(|&(a, b)| contrast(a, b)).collect();
    let mut compared = ComparedPairs::default();
    let estimated = estimates(&contrasts, terms.confidence);
    for (ratio, (a, b)) in estimated.into_iter().zip(pairs) {
        let Ok(ratio) = ratio else { continue };
        if let Ok(ratio) = ratio.widened(terms.widening).at(level(a, b)) {
            compared.pairs.push((a, b));
            compared.ratios.push(ratio);
        }
    }
    let with_margin: Vec<(Ratio, f64)> = compared
        .ratios
        .iter()
        .map(|ratio| (*ratio, terms.margin))
        .collect();
    compared.verdicts = verdicts(&with_margin, terms.confidence);
    let leader = compared.leader(methods, baseline);
    Ok(Ranking {
        leader,
        standings: (0..methods)
            .map(|method| compared.standing(method, leader))
            .collect(),
        to_leader: (0..methods)
            .map(|method| compared.ratio(method, leader))
            .collect(),
    })
}

/// The confidence at which each of so many intervals must be, for all to hold together at `confidence` (Šidák 1967).
pub fn simultaneous(confidence: f64, intervals: usize) -> f64 {
    confidence.powf(1.0 / intervals.max(1) as f64)
}

/// The pairs of methods that have launches enough; of each, the ratio of the second to the first.
#[derive(Default)]
struct ComparedPairs {
    pairs: Vec<(usize, usize)>,
    ratios: Vec<Ratio>,
    verdicts: Vec<AdjustedVerdict>,
}

impl ComparedPairs {
    /// Index of the pair of two methods.
    fn pair(&self, a: usize, b: usize) -> Option<usize> {
        self.pairs
            .iter()
            .position(|&pair| pair == (a.min(b), a.max(b)))
    }

    /// The ratio of a method to another.
    fn ratio(&self, method: usize, base: usize) -> Option<Ratio> {
        let ratio = self.ratios[self.pair(method, base)?];
        Some(if method > base {
            ratio
        } else {
            ratio.inverse()
        })
    }

    /// The method that costs least relative to one common method; never one that is shown to cost more than another.
    fn leader(&self, methods: usize, baseline: Option<usize>) -> usize {
        let reference = baseline.filter(|&base| base < methods).unwrap_or(0);
        (0..methods)
            .min_by(|&a, &b| {
                let [log_a, log_b] = [a, b].map(|method| self.log(method, reference));
                self.costs_more(a)
                    .cmp(&self.costs_more(b))
                    .then(log_a.total_cmp(&log_b))
            })
            .unwrap_or(0)
    }

    fn log(&self, method: usize, reference: usize) -> f64 {
        if method == reference {
            0.0
        } else {
            self.ratio(method, reference)
                .map_or(f64::INFINITY, |ratio| ratio.log())
        }
    }

    /// Tells whether a method is shown to cost more than some other.
    fn costs_more(&self, method: usize) -> bool {
        self.pairs
            .iter()
            .zip(&self.verdicts)
            .any(|(&(a, b), word)| match word.verdict {
                Region::Slower => b == method,
                Region::Faster => a == method,
                _ => false,
            })
    }

    fn standing(&self, method: usize, leader: usize) -> Standing {
        let with_leader = self.pair(method, leader);
        if method == leader {
            Standing::Leader
        } else if self.costs_more(method) {
            Standing::Beaten
        } else if with_leader.is_some_and(|p| self.verdicts[p].verdict == Region::Equivalent) {
            Standing::Within
        } else {
            Standing::NotSettled
        }
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

    fn point(log: f64) -> Point {
        Point {
            log,
            rounds: 1,
            round_variance: 0.0,
        }
    }

    /// A ranking by one row of logarithms a launch.
    fn rank(rows: &[Vec<f64>], margin: f64, confidence: f64) -> Ranking {
        rank_contrasts(
            rows[0].len(),
            |a, b| rows.iter().map(|row| point(row[b] - row[a])).collect(),
            |_, _| confidence,
            Some(0),
            RankingTerms {
                margin,
                confidence,
                widening: 1.0,
            },
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

    fn without_launches(methods: usize, confidence: f64) -> Result<Ranking, Undefined> {
        let terms = RankingTerms {
            margin: 0.0,
            confidence,
            widening: 1.0,
        };
        rank_contrasts(methods, |_, _| Vec::new(), |_, _| 0.95, None, terms)
    }

    #[test]
    fn bad_input_is_named_and_too_few_launches_settle_nothing() {
        assert!(matches!(
            without_launches(0, 0.95),
            Err(Undefined::TooFew { got: 0, needed: 1 })
        ));
        assert!(matches!(
            without_launches(2, 1.5),
            Err(Undefined::NotAProbability(_))
        ));
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
