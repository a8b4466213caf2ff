//! Verdicts of all comparisons of a run at once: words are adjusted for their number, intervals are not.

use super::estimate::Estimate;
use super::multiplicity::holm;
use super::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// What may be said of one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The word that holds together with all others of the run.
    pub verdict: Verdict,
    /// The word that its interval alone would carry; where it differs, "not settled among so many comparisons" is the
    /// sentence that does not contradict the interval.
    pub alone: Verdict,
    /// The adjusted probability of saying something wrong by the word `alone`, or by the likeliest where that is none.
    pub p: f64,
}

/// The words for comparisons, each against its margin (a fraction, 0.02 for 2 %).
///
/// A comparison alone is decided where its interval at `confidence` lies on one side of an edge, or between both
/// (Schuirmann 1987): of three one-sided tests, each at half of `1 - confidence`, at most two can err at once. Holm's
/// adjustment of these then bounds the chance of *any* wrong word in the run by `1 - confidence`. An interval at a higher
/// confidence was chosen for being short ([`super::stopping`]): its tests count as so much less sure, so that it decides where
/// that interval does and is right as often as the others.
pub fn words(comparisons: &[(Estimate, f64)], confidence: f64) -> Vec<Word> {
    let tests: Vec<(Verdict, f64)> = comparisons.iter().map(|(one, margin)| likeliest(one, *margin)).collect();
    let chosen = |one: &Estimate| ((1.0 - confidence) / (1.0 - one.confidence)).max(1.0);
    let p: Vec<f64> =
        tests.iter().zip(comparisons).map(|((_, p), (one, _))| (2.0 * p * chosen(one)).min(1.0)).collect();
    let decided = |verdict: Verdict, p: f64| if p <= 1.0 - confidence { verdict } else { Verdict::Undecided };
    let word = |((verdict, _), (p, adjusted)): (&(Verdict, f64), (&f64, f64))| Word {
        verdict: decided(*verdict, adjusted),
        alone: decided(*verdict, *p),
        p: adjusted,
    };
    tests.iter().zip(p.iter().zip(holm(&p))).map(word).collect()
}

/// The word with the smallest probability of being wrong, and that probability at the edge of its claim.
pub(crate) fn likeliest(one: &Estimate, margin: f64) -> (Verdict, f64) {
    let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
    let within = one.p_above(below).max(one.p_below(above));
    let tests =
        [(Verdict::Faster, one.p_below(below)), (Verdict::Slower, one.p_above(above)), (Verdict::Equivalent, within)];
    tests.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((Verdict::Undecided, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::estimate::{Point, estimate};
    use super::super::moderated::Prior;
    use super::*;
    use proptest::prelude::*;

    fn from(logs: &[f64]) -> Estimate {
        let points: Vec<Point> = logs.iter().map(|log| Point { log: *log, rounds: 5, round_variance: 0.0 }).collect();
        estimate(&points, &Prior::NONE, 0.95).expect("enough launches")
    }

    #[test]
    fn company_makes_words_rarer() {
        let one = from(&[-0.05, -0.09, -0.06, -0.1, -0.07, -0.095]);
        let alone = words(&[(one, 0.02)], 0.95);
        assert_eq!((alone[0].verdict, alone[0].alone), (Verdict::Faster, Verdict::Faster));
        let many = words(&[(one, 0.02); 200], 0.95);
        assert_eq!((many[0].verdict, many[0].alone), (Verdict::Undecided, Verdict::Faster));
    }

    #[test]
    fn a_chosen_interval_needs_more() {
        let one = from(&[-0.05, -0.09, -0.06, -0.1, -0.07, -0.095]);
        let [usual, chosen] = [0.95, 0.968].map(|level| words(&[(one.at(level).expect("a level"), 0.02)], 0.95)[0]);
        assert!((chosen.p / usual.p - 0.05 / 0.032).abs() < 1e-9, "{chosen:?} {usual:?}");
        // At an edge that its interval just holds nothing is said, though the interval at 95 % would not hold it.
        let margin = (-one.limits(0.96).expect("limits").1.ln()).exp_m1();
        let said = [0.95, 0.968].map(|level| words(&[(one.at(level).expect("a level"), margin)], 0.95)[0].alone);
        assert_eq!(said, [Verdict::Faster, Verdict::Undecided]);
    }

    #[test]
    fn exact_counts_are_decided() {
        for (log, expected) in [(-0.5, Verdict::Faster), (0.5, Verdict::Slower), (0.0, Verdict::Equivalent)] {
            assert_eq!(words(&[(from(&[log; 4]), 0.02)], 0.95)[0].verdict, expected);
        }
    }

    proptest! {
        #[test]
        fn a_word_alone_is_where_the_interval_lies(logs in prop::collection::vec(-0.1..0.1, 4..7), margin in 0.001..0.1_f64) {
            let one = from(&logs);
            let alone = words(&[(one, margin)], 0.95)[0].alone;
            let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
            let place = if one.high < below { Verdict::Faster }
                else if one.low > above { Verdict::Slower }
                else if one.low >= below && one.high <= above { Verdict::Equivalent }
                else { Verdict::Undecided };
            let near = [one.low, one.high].iter().any(|l| (l / below - 1.0).abs() < 1e-9 || (l / above - 1.0).abs() < 1e-9);
            prop_assert!(near || alone == place, "{alone:?} {place:?} {one:?}");
        }
    }
}
