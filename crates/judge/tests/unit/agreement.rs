use super::*;

fn witnesses(digests: &[&str], baseline: usize) -> Vec<Witness> {
    let witness = |(cell, digest): (usize, &&str)| Witness {
        cell,
        is_baseline: cell == baseline,
        is_own: digest.starts_with("own"),
        digest: (*digest).trim_start_matches("own ").to_owned(),
    };
    digests.iter().enumerate().map(witness).collect()
}

#[test]
fn one_liar_accuses_nobody() {
    for (digests, baseline, right) in [
        (&["a", "b", "b"][..], 1, "b"),
        (&["a", "b", "b"], 0, "b"),
        (&["a", "b"], 1, "b"),
        (&["a", "b"], 0, "a"),
        (&["a", "b"], 9, "a"),
        (&["a"], 0, "a"),
        (&["own b", "own b", "a"], 2, "a"),
        (&["own b", "own b", "a"], 0, "a"),
    ] {
        let all = witnesses(digests, baseline);
        let all: Vec<&Witness> = all.iter().collect();
        assert_eq!(
            reference(&all).map(|w| w.digest.as_str()),
            Some(right),
            "{digests:?}, baseline {baseline}"
        );
    }
    assert!(reference(&[]).is_none());
}
