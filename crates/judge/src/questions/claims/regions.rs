//! The line of all possible figures, cut into regions with a verdict each: it is given where the whole interval lies in one.

use super::figure::ClaimFigure;
use record::claim::{Claim, ClaimKind, Word};
use record::summary::Ratio;

/// Regions in ascending order; each ends where the next begins, and the last has no end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regions {
    edges: Vec<f64>,
    verdicts: Vec<Word>,
}

impl Regions {
    /// The regions of a claim. Below one the praised method costs less.
    pub fn of_claim(claim: &Claim, margin: f64) -> Regions {
        let (low, high) = claim.holds.as_ref().map_or((None, None), |h| h.edges());
        if claim.kind == ClaimKind::Absolute {
            return Regions::around(low, high, Word::Weaker, Word::Stronger);
        }
        match (low, high) {
            (_, Some(high)) if high <= 1.0 => Regions::cheaper(low, high, margin),
            (Some(low), _) if low >= 1.0 => {
                let mirrored = Regions::cheaper(high.map(|h| 1.0 / h), 1.0 / low, margin);
                let edges = mirrored.edges.iter().rev().map(|edge| 1.0 / edge).collect();
                Regions {
                    edges,
                    verdicts: mirrored.verdicts.into_iter().rev().collect(),
                }
            }
            // That two methods cost the same is either so or not so.
            _ => Regions::around(low, high, Word::Reversed, Word::Reversed),
        }
    }

    fn around(low: Option<f64>, high: Option<f64>, below: Word, above: Word) -> Regions {
        let mut regions = Regions {
            edges: Vec::new(),
            verdicts: Vec::new(),
        };
        if let Some(low) = low {
            regions.push(below, low);
        }
        if let Some(high) = high {
            regions.push(Word::Holds, high);
            regions.verdicts.push(above);
        } else {
            regions.verdicts.push(Word::Holds);
        }
        regions
    }

    /// A claim that the praised method is cheaper: its cost lies between `low`, where one is given, and `high`, at most one.
    fn cheaper(low: Option<f64>, high: f64, margin: f64) -> Regions {
        let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
        let mut regions = Regions {
            edges: Vec::new(),
            verdicts: Vec::new(),
        };
        if let Some(low) = low {
            regions.push(Word::Stronger, low);
        }
        regions.push(Word::Holds, high);
        if high < below {
            regions.push(Word::Weaker, below);
        }
        regions.push(Word::NoDifferenceHere, above);
        regions.verdicts.push(Word::Reversed);
        regions
    }

    fn push(&mut self, word: Word, up_to: f64) {
        self.verdicts.push(word);
        self.edges.push(up_to);
    }

    fn index(&self, value: f64) -> usize {
        self.edges.iter().take_while(|edge| value > **edge).count()
    }

    /// The verdict on an interval: undecided where it reaches across an edge.
    pub fn word(&self, low: f64, high: f64) -> Word {
        let sound = low.is_finite() && high.is_finite() && low <= high;
        match (self.index(low), self.index(high)) {
            (first, last) if sound && first == last => self.verdicts[first],
            _ => Word::Undecided,
        }
    }

    /// The one-sided probability of a verdict where the truth lies at the nearer edge of its region.
    pub fn p(&self, word: Word, figure: &ClaimFigure) -> Option<f64> {
        if self.verdicts.get(self.index(figure.estimate.ratio)) != Some(&word) {
            return (!figure.estimate.is_of_extremes()).then_some(1.0);
        }
        figure.tail(self.distance(figure.estimate.ratio))
    }

    /// The same line in regions of coarse verdicts: neighbors that have the same one are merged.
    pub fn coarse(&self) -> Regions {
        let verdicts: Vec<Word> = self.verdicts.iter().map(|word| word.coarse()).collect();
        let kept: Vec<usize> = (0..self.edges.len())
            .filter(|&i| verdicts[i] != verdicts[i + 1])
            .collect();
        let regions = kept.iter().copied().chain([self.edges.len()]);
        Regions {
            edges: kept.iter().map(|&i| self.edges[i]).collect(),
            verdicts: regions.map(|i| verdicts[i]).collect(),
        }
    }

    /// The verdict of the region that a figure lies in, with its probability where the truth lies at the nearer edge.
    pub fn nearest(&self, figure: &ClaimFigure) -> Option<(Word, f64)> {
        let word = self.verdicts[self.index(figure.estimate.ratio)];
        Some((word, self.p(word, figure)?))
    }

    /// Distance of a figure from the nearer edge of its region, as a logarithm; without end where no edge is near it.
    pub fn distance(&self, ratio: f64) -> f64 {
        let (log, region) = (ratio.ln(), self.index(ratio));
        let below = region
            .checked_sub(1)
            .and_then(|i| self.edges.get(i))
            .map(|edge| log - edge.ln());
        let above = self.edges.get(region).map(|edge| edge.ln() - log);
        [below, above]
            .into_iter()
            .flatten()
            .filter(|d| d.is_finite())
            .fold(f64::INFINITY, f64::min)
    }

    /// Verdicts that an undecided interval leaves open.
    pub fn possible(&self, estimate: &Ratio) -> Vec<Word> {
        let (first, last) = (self.index(estimate.low), self.index(estimate.high));
        self.verdicts[first..=last.max(first)].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::claims::tests::{claim, word};
    use stats::rng::Seeded;

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

    fn within(random: &mut Seeded, low: f64, high: f64) -> f64 {
        low + (high - low) * random.unit()
    }

    /// Every value in an interval that has a verdict, taken by itself, must get the same one.
    #[test]
    fn no_word_is_said_across_an_edge() {
        let mut random = Seeded::new(20_261_121);
        for _ in 0..4000 {
            let (a, b) = (
                within(&mut random, -2.0, 2.0).exp(),
                within(&mut random, 0.01, 1.5).exp(),
            );
            let holds = match within(&mut random, 0.0, 4.0) as u32 {
                0 => format!("low = {a}"),
                1 => format!("high = {a}"),
                _ => format!("low = {a}\nhigh = {}", a * b),
            };
            let kind = if within(&mut random, 0.0, 1.0) < 0.2 {
                "absolute"
            } else {
                "ratio"
            };
            let per = if kind == "absolute" {
                "\nper = \"unit\""
            } else {
                ""
            };
            let margin = within(&mut random, 0.01, 0.2);
            let regions = Regions::of_claim(&claim(kind, &(holds.clone() + per)), margin);
            let (low, width) = (
                within(&mut random, -3.0, 3.0).exp(),
                within(&mut random, 0.0, 0.8).exp(),
            );
            let verdict = regions.word(low, low * width);
            if verdict != Word::Undecided {
                for step in 0..=50 {
                    let inside = low * width.powf(f64::from(step) / 50.0);
                    assert_eq!(
                        regions.word(inside, inside),
                        verdict,
                        "{holds} {low} {width} {margin}"
                    );
                }
            }
        }
    }
}
