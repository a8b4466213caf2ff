//! The line of all possible figures, cut into regions with a word each. A word is said where the whole interval lies in one.

use super::figure::ClaimFigure;
use record::claim::{AnswerChange, Answers, Claim, ClaimKind, JobAnswer, Word};
use record::summary::Ratio;
use std::collections::BTreeSet;

/// Regions in ascending order; each ends where the next begins, and the last has no end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Regions {
    edges: Vec<f64>,
    verdicts: Vec<Word>,
}

impl Regions {
    /// The regions of a claim. Below one the praised way costs less.
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
            // That two ways cost the same is either so or not so.
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

    /// A claim that the praised way is cheaper: its cost lies between `low`, where one is given, and `high`, at most one.
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

    /// The word of an interval: undecided where it reaches across an edge.
    pub fn word(&self, low: f64, high: f64) -> Word {
        let sound = low.is_finite() && high.is_finite() && low <= high;
        match (self.index(low), self.index(high)) {
            (first, last) if sound && first == last => self.verdicts[first],
            _ => Word::Undecided,
        }
    }

    /// The one-sided probability of a word where the truth lies at the nearer edge of its region.
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

/// Claims whose verdicts contradict each other, or that only one of the runs decided.
pub fn changes(first: &Answers, second: &Answers) -> Vec<AnswerChange> {
    let keys = |answers: &Answers| -> BTreeSet<(String, String)> {
        answers
            .answers
            .iter()
            .flat_map(|a| a.jobs.iter().map(|j| (a.id.clone(), j.job.clone())))
            .collect()
    };
    let all: BTreeSet<_> = keys(first).union(&keys(second)).cloned().collect();
    let mut changes = Vec::new();
    for (id, job) in all {
        let (a, b) = (find(first, &id, &job), find(second, &id, &job));
        let (first, second) = (a.map(|(_, j)| j.word), b.map(|(_, j)| j.word));
        let decided = first
            .into_iter()
            .chain(second)
            .filter(|word| word.is_decided())
            .count();
        if decided != 1 && !first.zip(second).is_some_and(|(a, b)| a.contradicts(b)) {
            continue;
        }
        let statement = a
            .or(b)
            .map_or_else(String::new, |(statement, _)| statement.to_owned());
        changes.push(AnswerChange {
            id,
            statement,
            job,
            first,
            second,
            ratios: (a.and_then(|(_, j)| j.ratio), b.and_then(|(_, j)| j.ratio)),
            unit: a.or(b).map_or_else(String::new, |(_, j)| j.unit.clone()),
        });
    }
    changes
}

fn find<'a>(answers: &'a Answers, id: &str, job: &str) -> Option<(&'a str, &'a JobAnswer)> {
    let answer = answers.answers.iter().find(|a| a.id == id)?;
    Some((
        &answer.statement,
        answer.jobs.iter().find(|j| j.job == job)?,
    ))
}
