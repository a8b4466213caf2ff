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
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A whole number from 0 to `bound - 1`, each equally likely (Lemire 2019, with rejection).
    ///
    /// # Panics
    /// Draws a number below `bound`, which is not zero.
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
