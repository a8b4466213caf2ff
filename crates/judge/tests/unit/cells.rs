use super::*;

#[test]
fn a_footprint_is_in_cache_by_the_lesser_account_and_in_memory_by_the_greater() {
    let mib = |n: u64| n << 20;
    let told = LastCache {
        told_bytes: Some(mib(32)),
        seen_bytes: None,
    };
    assert_eq!(
        [16, 17, 127, 128].map(|n| told.word(mib(n))),
        ["in cache", "around", "around", "in memory"]
    );
    // A hypervisor tells 32 MiB, and others leave 4 of them.
    let both = LastCache {
        seen_bytes: Some(mib(4)),
        ..told
    };
    assert_eq!(
        [2, 3, 16, 127, 128].map(|n| both.word(mib(n))),
        ["in cache", "around", "around", "around", "in memory"]
    );
    assert_eq!(LastCache::default().word(1), "unknown");
}
