use super::*;

#[test]
fn every_launch_is_read_once_and_all_are_in_their_order() {
    for launches in [0, 1, 2, 3, 7, 64] {
        let read = |number: usize| anyhow::bail!("{number}");
        let all: Vec<String> = shared_out(launches, &read)
            .into_iter()
            .map(|r| r.unwrap_err().to_string())
            .collect();
        assert_eq!(
            all,
            (0..launches).map(|n| n.to_string()).collect::<Vec<_>>()
        );
    }
}
