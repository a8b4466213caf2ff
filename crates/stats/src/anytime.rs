//! Evidence that may be looked at after every launch, and acted on at any moment.
//!
//! An e-value is what a fair bet against a hypothesis has grown to: under the hypothesis the bet ever reaches 1/α with
//! probability at most α, however often one looks and whatever decides when to stop (Ville's inequality; Grünwald, de Heide
//! and Koolen, "Safe Testing", Journal of the Royal Statistical Society B 86, 2024). The bet here is that of the t test with a
//! normal prior on the effect (Rouder et al., Psychonomic Bulletin & Review 16, 2009).

use super::estimate::Ratio;
use super::verdicts::{Region, likeliest};

/// Variance of the effect that the bet expects, in units of a launch's variance: an effect of about twice its standard
/// deviation.
const EFFECT: f64 = 4.0;
/// Factor of the launches so far beyond which nothing is foretold.
const AHEAD: usize = 64;

/// Logarithm of the e-value against "the true ratio is `edge`". Zero where the bounds are extremes, whose error is unknown.
///
/// With `n` launches whose mean lies `t` standard errors from the edge and `f` degrees of freedom it is
/// `(1 + nτ)^(-1/2) · (1 - nτ / (1 + nτ) · t² / (f + t²))^(-(f + 1) / 2)`, where τ is [`EFFECT`].
pub fn log_e_value(ratio: &Ratio, edge: f64) -> f64 {
    if ratio.is_of_extremes() || ratio.launches == 0 {
        return 0.0;
    }
    let weight = ratio.launches as f64 * EFFECT;
    let t = (ratio.log() - edge.ln()) / ratio.error;
    let explained = if t.is_finite() {
        t * t / (ratio.freedom + t * t)
    } else {
        1.0
    };
    let kept = 1.0 - weight / (1.0 + weight) * explained;
    -0.5 * weight.ln_1p() - (ratio.freedom + 1.0) / 2.0 * kept.ln()
}

/// Logarithms of the e-values among many, each adjusted so that calling those of at least 1/α makes any false call with
/// probability at most α, whatever their dependence: e-Holm (Vovk and Wang, "E-values: Calibration, combination and
/// applications", Annals of Statistics 49, 2021, section 4). In the order of the input.
pub fn e_holm(logs: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..logs.len()).collect();
    order.sort_by(|&a, &b| logs[b].total_cmp(&logs[a]));
    let mut adjusted = vec![0.0; logs.len()];
    let mut least = f64::INFINITY;
    for (place, &index) in order.iter().enumerate() {
        let remaining = (logs.len() - place) as f64;
        least = least.min(logs[index] - remaining.ln());
        adjusted[index] = least;
    }
    adjusted
}

/// The words for comparisons, each with its margin (a fraction), that may be said at any moment: the probability that any of
/// them is ever wrong is at most `1 - confidence`, whatever ends the launches.
pub fn spoken(comparisons: &[(Ratio, f64)], confidence: f64) -> Vec<Region> {
    let claims: Vec<(Region, f64)> = comparisons
        .iter()
        .map(|(ratio, margin)| claim(ratio, *margin))
        .collect();
    let evidence: Vec<f64> = claims.iter().map(|(_, log)| *log).collect();
    let least = -(1.0 - confidence).ln();
    claims
        .iter()
        .zip(e_holm(&evidence))
        .map(|((region, _), log)| {
            if log >= least {
                *region
            } else {
                Region::Undecided
            }
        })
        .collect()
}

/// Launches in all after which the likeliest word of a ratio has its evidence among so many comparisons, if its amount and its
/// scatter stay as they are; `None` where [`AHEAD`] times its launches do not suffice.
pub fn launches_to_word(
    ratio: &Ratio,
    margin: f64,
    comparisons: usize,
    confidence: f64,
) -> Option<usize> {
    let least = (comparisons.max(1) as f64).ln() - (1.0 - confidence).ln();
    let evidence = |launches: usize| -> Option<f64> {
        let more = launches as f64 / ratio.launches as f64;
        let freedom = ratio.freedom + (launches - ratio.launches) as f64;
        let error = ratio.error / more.sqrt();
        let later = Ratio::of_log(ratio.log(), error, freedom, launches, confidence).ok()?;
        Some(claim(&later, margin).1)
    };
    if ratio.is_of_extremes() || ratio.launches == 0 {
        return None;
    }
    let mut most = ratio.launches + 1;
    while evidence(most)? < least {
        most *= 2;
        if most > AHEAD * ratio.launches {
            return None;
        }
    }
    let (mut low, mut high) = (ratio.launches, most);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if evidence(middle)? < least {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// The likeliest word, and the evidence at the edge of its claim: against both edges where the claim lies between them.
fn claim(ratio: &Ratio, margin: f64) -> (Region, f64) {
    let (below, above) = (1.0 / (1.0 + margin), 1.0 + margin);
    let (region, _) = likeliest(ratio, margin);
    let evidence = match region {
        Region::Faster if ratio.ratio < below => log_e_value(ratio, below),
        Region::Slower if ratio.ratio > above => log_e_value(ratio, above),
        Region::Equivalent if ratio.ratio > below && ratio.ratio < above => {
            log_e_value(ratio, below).min(log_e_value(ratio, above))
        }
        _ => 0.0,
    };
    (region, evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(log: f64, error: f64, freedom: f64, launches: usize) -> Ratio {
        Ratio::of_log(log, error, freedom, launches, 0.95).unwrap()
    }

    /// The bet as it is defined: the mean over the prior of the likelihood ratio, the scale integrated out (Gauss–Legendre is
    /// not needed; the integrand is smooth and a fine sum suffices).
    fn by_integration(logs: &[f64]) -> f64 {
        let n = logs.len() as f64;
        // Marginal of x under effect d·σ and the right Haar prior 1/σ: ∫ σ^(-n-1) exp(-Σ(x - dσ)² / 2σ²) dσ.
        let marginal = |effect: f64| -> f64 {
            let steps = 4000;
            (0..steps)
                .map(|step| {
                    let log_scale = -8.0 + 16.0 * (f64::from(step) + 0.5) / f64::from(steps);
                    let scale = log_scale.exp();
                    let squares: f64 = logs.iter().map(|x| (x / scale - effect).powi(2)).sum();
                    (-n * log_scale - squares / 2.0).exp() * 16.0 / f64::from(steps)
                })
                .sum()
        };
        let steps = 2000;
        let mean: f64 = (0..steps)
            .map(|step| {
                let effect = -20.0 + 40.0 * (f64::from(step) + 0.5) / f64::from(steps);
                let density = (-effect * effect / (2.0 * EFFECT)).exp()
                    / (std::f64::consts::TAU * EFFECT).sqrt();
                density * marginal(effect) * 40.0 / f64::from(steps)
            })
            .sum();
        (mean / marginal(0.0)).ln()
    }

    #[test]
    fn the_value_is_the_bet_integrated() {
        let logs: [f64; 5] = [0.31, 0.12, 0.25, 0.4, 0.18];
        let mean = logs.iter().sum::<f64>() / 5.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 4.0;
        let closed = log_e_value(&ratio(mean, (variance / 5.0).sqrt(), 4.0, 5), 1.0);
        let integrated = by_integration(&logs);
        assert!((closed - integrated).abs() < 0.01, "{closed} {integrated}");
    }

    #[test]
    fn the_launches_that_a_word_needs_are_those_at_which_it_is_spoken() {
        let after = |launches: usize| {
            let error = 0.1 / (launches as f64).sqrt();
            ratio(0.1, error, launches as f64 - 1.0, launches)
        };
        let spoken_alone = |launches| spoken(&[(after(launches), 0.02)], 0.95)[0];
        let needed = launches_to_word(&after(4), 0.02, 1, 0.95).unwrap();
        assert_eq!(spoken_alone(needed), Region::Slower);
        assert_eq!(spoken_alone(needed - 1), Region::Undecided);
        assert!(launches_to_word(&after(4), 0.02, 10, 0.95).unwrap() > needed);
        let none = ratio(0.02f64.ln_1p(), 0.05, 3.0, 4);
        assert_eq!(launches_to_word(&none, 0.02, 1, 0.95), None, "at the edge");
    }

    #[test]
    fn many_asked_together_need_more_each() {
        let logs = [5.0, 1.0, 4.0];
        let adjusted = e_holm(&logs);
        assert_eq!(adjusted[0], 5.0 - 3f64.ln());
        assert_eq!(adjusted[2], 4.0 - 2f64.ln());
        assert_eq!(adjusted[1], 1.0);
    }

    #[test]
    fn a_word_is_that_of_its_side_and_extremes_have_none() {
        let words = spoken(
            &[
                (ratio(-0.7, 0.02, 5.0, 6), 0.02),
                (ratio(0.7, 0.02, 5.0, 6), 0.02),
                (ratio(0.0, 0.0005, 20.0, 21), 0.02),
                (ratio(0.03, 0.05, 5.0, 6), 0.02),
                (Ratio::of_extremes(0.5, 0.4, 0.6, 3), 0.02),
            ],
            0.95,
        );
        use Region::{Equivalent, Faster, Slower, Undecided};
        assert_eq!(words, [Faster, Slower, Equivalent, Undecided, Undecided]);
    }
}
