use super::*;

#[test]
fn rounds_pay_for_the_start_and_short_ones_are_several() {
    let worth = |round_s, start_s| worth(LaunchCost { round_s, start_s }, 2, PRECISION_ROUNDS);
    assert_eq!(
        [worth(0.5, 1.0), worth(0.01, 0.01), worth(1e-5, 10.0)],
        [12.0, 9.0, MOST_ROUNDS]
    );
    assert_eq!(
        super::worth(
            LaunchCost {
                round_s: 0.01,
                start_s: 0.01
            },
            0,
            PRECISION_ROUNDS
        ),
        8.0
    );
    assert_eq!(between(0.1, 20.0, 0.0, 10.0), 20);
    assert_eq!(
        between(0.1, 20.0, 5.0, 10.0),
        51,
        "the most launches fill the budget"
    );
    assert_eq!(between(0.1, 20.0, 0.0, 0.5), 6, "ten launches fit");
    assert_eq!(between(0.1, 20.0, -3.0, -1.0), 1);
    let cheap = |start_s, share| {
        cheap(
            LaunchCost {
                round_s: 0.01,
                start_s,
            },
            2,
            share,
        )
    };
    assert_eq!(
        [
            cheap(0.5, 1.0),
            cheap(0.04, CHEAP),
            cheap(0.04, CHEAP_BESIDE)
        ],
        [8, 6, 1],
        "of 0.52 s, and of 0.06 s"
    );
}
