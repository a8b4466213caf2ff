//! Expected digests: an independent reference of the protocol's digest, computed without any of the measured memory.

use record::experiment::Content;

/// The odd number that the length is multiplied by: 2⁶⁴ divided by the golden ratio.
const LENGTH_WEIGHT: u64 = 0x9E37_79B9_7F4A_7C15;

/// Word `index` of the seeded pattern (SplitMix64; Steele, Lea and Flood 2014).
pub fn pattern_word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(LENGTH_WEIGHT));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn weighted(word: u64, index: u64) -> u64 {
    word.wrapping_mul(index.wrapping_mul(2).wrapping_add(1))
}

/// The digest of `words`, of which the last may be cut to the length in bytes.
fn digest(bytes: u64, word: impl Fn(u64) -> u64) -> u64 {
    let whole = bytes / 8;
    let mut sum = (0..whole).fold(0_u64, |sum, i| sum.wrapping_add(weighted(word(i), i)));
    let tail = bytes % 8;
    if tail > 0 {
        sum = sum.wrapping_add(weighted(word(whole) & ((1 << (8 * tail)) - 1), whole));
    }
    sum.wrapping_add(bytes.wrapping_mul(LENGTH_WEIGHT))
}

/// Content that can be predicted, where it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expected {
    /// Its kind.
    pub content: Content,
    /// Its length, of all processes together.
    pub bytes: u64,
    /// The seed of its pattern.
    pub seed: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Processes, each of which has a share of its own; their digests are added up.
    pub processes: u64,
}

impl Expected {
    /// Its digest; none where it cannot be predicted.
    pub fn digest(&self) -> Option<u64> {
        let mark = (self.seed | 1) & 0xFF;
        let share = self.bytes / self.processes.max(1);
        let digest = match self.content {
            Content::PageMarks => {
                let pages = share.div_ceil(self.page_bytes);
                let marks = (0..pages).fold(0_u64, |sum, page| {
                    sum.wrapping_add(weighted(mark, page * self.page_bytes / 8))
                });
                marks.wrapping_add(share.wrapping_mul(LENGTH_WEIGHT))
            }
            Content::Pattern => digest(share, |i| pattern_word(self.seed, i)),
            Content::Filled => digest(share, |_| mark * 0x0101_0101_0101_0101),
            Content::Agree | Content::None => return None,
        };
        Some(digest.wrapping_mul(self.processes.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_splitmix64() {
        // The first outputs of the reference implementation for state 1234567.
        assert_eq!(pattern_word(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(pattern_word(1_234_567, 1), 3_203_168_211_198_807_973);
    }

    /// The digest by its definition, byte by byte.
    fn plain(data: &[u8]) -> u64 {
        let mut sum = (data.len() as u64).wrapping_mul(LENGTH_WEIGHT);
        for (i, byte) in data.iter().enumerate() {
            let weight = (i as u64 / 8) * 2 + 1;
            sum = sum.wrapping_add((u64::from(*byte) << (8 * (i % 8))).wrapping_mul(weight));
        }
        sum
    }

    fn expected(
        content: Content,
        bytes: u64,
        seed: u64,
        page_bytes: u64,
        processes: u64,
    ) -> Option<u64> {
        let expected = Expected {
            content,
            bytes,
            seed,
            page_bytes,
            processes,
        };
        expected.digest()
    }

    #[test]
    fn digests_agree_with_a_plain_sum_over_bytes() {
        let mut marks = vec![0_u8; 8192];
        marks[0] = 7;
        marks[4096] = 7;
        assert_eq!(
            expected(Content::PageMarks, 8192, 7, 4096, 1),
            Some(plain(&marks))
        );
        assert_eq!(
            expected(Content::Filled, 13, 6, 4096, 1),
            Some(plain(&[7; 13]))
        );
        let pattern: Vec<u8> = (0..3)
            .flat_map(|i| pattern_word(9, i).to_le_bytes())
            .collect();
        assert_eq!(
            expected(Content::Pattern, 19, 9, 4096, 1),
            Some(plain(&pattern[..19]))
        );
        assert_eq!(
            expected(Content::PageMarks, 8192, 7, 4096, 2),
            Some(plain(&marks[..4096]).wrapping_mul(2))
        );
    }
}
