//! The one source of chance: seeded, portable, and pinned by tests so that a recorded seed replays for ever.

use rand::Rng as _;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;

/// xoshiro256++ (Blackman & Vigna 2021) behind the few operations that are needed here.
///
/// The generator's stream is fixed by its publication. How numbers become ranges and shuffles is written here and not
/// taken from the `rand` crate, because that crate changes it between versions and recorded seeds would lose their meaning.
#[derive(Debug, Clone)]
pub struct Seeded {
    generator: Xoshiro256PlusPlus,
}

impl Seeded {
    /// A generator whose 256 bits of state come from `seed` by SplitMix64, as the authors of xoshiro advise.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut bytes = [0_u8; 32];
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&split_mix(&mut state).to_le_bytes());
        }
        Self { generator: Xoshiro256PlusPlus::from_seed(bytes) }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A whole number from 0 to `bound - 1`, each equally likely (Lemire 2019, with rejection).
    ///
    /// # Panics
    /// Where `bound` is zero: there is no such number.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "a range without numbers");
        let bound = bound as u64;
        let rejected = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= rejected {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts the items in an order chosen uniformly among all orders (Fisher & Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// One step of SplitMix64 (Steele, Lea & Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_the_published_numbers() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_is_even_and_never_reaches_its_bound() {
        let mut rng = Seeded::new(1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        // Each count has standard deviation 93; five of them leave one false alarm in a million.
        assert!(counts.iter().all(|&c| (9_535..=10_465).contains(&c)), "{counts:?}");
    }

    #[test]
    fn a_shuffle_reaches_every_order_equally_often() {
        let mut rng = Seeded::new(2);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [0, 1, 2, 3];
            rng.shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|c| (845..=1_155).contains(c)), "{counts:?}");
    }

    #[test]
    fn unit_stays_in_its_range() {
        let mut rng = Seeded::new(3);
        let mean = (0..10_000).map(|_| rng.unit()).inspect(|u| assert!((0.0..1.0).contains(u))).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }
}
