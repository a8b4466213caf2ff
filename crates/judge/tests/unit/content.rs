use super::*;

#[test]
fn the_pattern_is_splitmix64() {
    // The first outputs of the reference implementation for state 1234567.
    assert_eq!(pattern_word(1_234_567, 0), 6_457_827_717_110_365_317);
    assert_eq!(pattern_word(1_234_567, 1), 3_203_168_211_198_807_973);
}

#[test]
fn digests_agree_with_a_plain_sum_over_bytes() {
    let plain = |data: &[u8]| {
        let mut sum = (data.len() as u64).wrapping_mul(LENGTH_WEIGHT);
        for (i, byte) in data.iter().enumerate() {
            let weight = (i as u64 / 8) * 2 + 1;
            sum = sum.wrapping_add((u64::from(*byte) << (8 * (i % 8))).wrapping_mul(weight));
        }
        sum
    };
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
