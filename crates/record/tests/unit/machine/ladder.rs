use super::*;

fn ladder(costs: &[u64]) -> Ladder {
    let step = |(i, ps): (usize, &u64)| Step {
        bytes: 1 << (14 + i),
        read_ps: *ps,
    };
    Ladder {
        steps: costs.iter().enumerate().map(step).collect(),
    }
}

#[test]
fn the_caches_reach_to_the_last_step_before_memory() {
    // One slow step in between, as where something else ran, changes nothing.
    let told = ladder(&[
        1200, 1300, 4000, 90_000, 4800, 12_000, 15_000, 145_000, 165_000, 170_000, 175_000,
    ]);
    assert_eq!(told.memory_ps(), Some(170_000));
    assert_eq!(
        told.reach().map(|s| (s.bytes, s.read_ps)),
        Some((1 << 20, 15_000))
    );
}

#[test]
fn a_ladder_that_never_leaves_the_caches_says_nothing() {
    assert_eq!(
        ladder(&[1200, 1300, 4000, 4100, 4200])
            .reach()
            .map(|s| s.bytes),
        Some(1 << 15)
    );
    assert!(
        ladder(&[1200, 4000, 4000, 4100, 4200, 4200, 6500])
            .reach()
            .is_none(),
        "it still grows"
    );
    assert!(ladder(&[1200, 1250, 1300]).reach().is_none());
    assert!(
        ladder(&[1200, 1200, 4000, 15_000, 15_100, 30_000])
            .reach()
            .is_none()
    );
    assert!(Ladder::default().reach().is_none());
}
