use super::*;

#[test]
fn the_ladder_goes_beyond_what_is_told_and_leaves_memory_to_others() {
    let much = 1 << 40;
    assert_eq!(top(None, much), 64 << 20);
    assert_eq!(top(Some(32 << 20), much), 64 << 20);
    assert_eq!(top(Some(105 << 20), much), 256 << 20);
    assert_eq!(top(Some(u64::MAX), much), 1 << 30);
    assert_eq!(top(Some(32 << 20), 100 << 20), 25 << 20);
}
