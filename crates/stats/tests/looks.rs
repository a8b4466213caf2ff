//! Who goes on where nothing is settled and stops where something is, looks at the same launches again and again: what the
//! price of looks must prevent.

use pagewise_stats::looks::{next_look, price};
use pagewise_stats::rng::Seeded;
use pagewise_stats::t::two_sided_p;

const ALLOWED: f64 = 0.025;
const RUNS: u64 = 4000;

fn normal(random: &mut Seeded) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Whether a run whose truth lies exactly on an edge ever says that it lies above, looking until 72 launches.
fn is_wrong(seed: u64, priced: bool) -> bool {
    let mut random = Seeded::new(seed);
    let mut launches: Vec<f64> = Vec::new();
    loop {
        let until = next_look(launches.len());
        if until > 72 {
            return false;
        }
        launches.extend((launches.len()..until).map(|_| normal(&mut random)));
        let n = launches.len() as f64;
        let mean = launches.iter().sum::<f64>() / n;
        let variance = launches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = mean / (variance / n).sqrt();
        let tail = if t > 0.0 {
            two_sided_p(t, n - 1.0) / 2.0
        } else {
            1.0
        };
        if tail * if priced { price(launches.len()) } else { 1.0 } <= ALLOWED {
            return true;
        }
    }
}

fn share_wrong(priced: bool) -> f64 {
    (0..RUNS).filter(|seed| is_wrong(*seed, priced)).count() as f64 / RUNS as f64
}

#[test]
fn all_looks_together_are_wrong_as_seldom_as_one_may_be() {
    let chance = 2.0 * (ALLOWED * (1.0 - ALLOWED) / RUNS as f64).sqrt();
    let share = share_wrong(true);
    assert!(share <= ALLOWED + chance, "{share}");
}

#[test]
fn looks_without_their_price_are_wrong_much_more_often() {
    let share = share_wrong(false);
    assert!(share > 2.0 * ALLOWED, "{share}");
}
