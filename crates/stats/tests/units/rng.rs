use pagewise_stats::rng::Seeded;

#[test]
fn a_seed_gives_the_published_numbers() {
    // State by SplitMix64, whose reference prints 6457827717110365317 first from this seed; then xoshiro256++.
    assert_eq!(Seeded::new(1_234_567).bits(), 437_095_814_655_224_680);
}

#[test]
fn below_is_even_and_never_reaches_its_bound() {
    let mut rng = Seeded::new(1);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        counts[rng.below(7)] += 1;
    }
    // Each count has standard deviation 93; five of them leave one false alarm in a million.
    assert!(
        counts.iter().all(|&c| (9_535..=10_465).contains(&c)),
        "{counts:?}"
    );
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
    assert!(
        counts.values().all(|c| (845..=1_155).contains(c)),
        "{counts:?}"
    );
}

#[test]
fn unit_stays_in_its_range() {
    let mut rng = Seeded::new(3);
    let mean = (0..10_000)
        .map(|_| rng.unit())
        .inspect(|u| assert!((0.0..1.0).contains(u)))
        .sum::<f64>()
        / 1e4;
    assert!((mean - 0.5).abs() < 0.015, "{mean}");
}
