use std::collections::BTreeMap;
fn main() {
    let mut tree = BTreeMap::new();
    let mut key = 1u64;
    for i in 0..600_000u64 {
        key = key.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        tree.insert(key, [i; 4]);
    }
    println!("{}", tree.len());
}
