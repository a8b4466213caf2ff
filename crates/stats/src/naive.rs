//! The way it is usually done, kept for comparison only: all of A, then all of B, and a t test between them.

use super::interval::Undefined;
use super::t::welch;

/// What the usual way says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Naive {
    /// The mean of B divided by the mean of A.
    pub ratio: f64,
    /// The p value of Welch's test.
    pub p: f64,
}

impl Naive {
    /// Whether the usual way would announce a difference at this level, for example 0.05.
    pub fn announces(&self, level: f64) -> bool {
        self.p < level
    }
}

/// Welch's t test between two blocks of samples as though every sample were independent of its neighbours.
///
/// On a machine whose speed wanders it calls identical programs different half of the time, which is why nothing else in
/// the laboratory uses it. `TooFew` below two samples a side.
pub fn naive(a: &[f64], b: &[f64]) -> Result<Naive, Undefined> {
    let compared = welch(a, b)?;
    let mean = a.iter().sum::<f64>() / a.len() as f64;
    Ok(Naive { ratio: 1.0 + compared.difference / mean, p: compared.p() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_announces_what_lies_apart() {
        let judged = naive(&[10.0, 11.0, 9.0, 10.0], &[20.0, 22.0, 18.0, 20.0]).expect("samples");
        assert!((judged.ratio - 2.0).abs() < 1e-12);
        assert!(judged.announces(0.05) && !judged.announces(1e-9));
    }
}
