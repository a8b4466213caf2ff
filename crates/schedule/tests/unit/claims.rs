use super::*;

fn at(launches: usize, next_s: f64) -> SetProgress {
    SetProgress {
        launches,
        next_s,
        open: true,
    }
}

fn open(sets: &[usize], launches: usize) -> Open {
    Open {
        sets: sets.to_vec(),
        launches,
        weight: 1.0,
    }
}

#[test]
fn the_cheapest_comparison_goes_first_and_only_to_its_next_analysis() {
    let (sets, all) = ([at(6, 1.0), at(6, 0.1)], [open(&[0], 14), open(&[1], 21)]);
    assert_eq!(batch(&sets, &all, 100.0, 0.1), [(1, 9)]);
    assert_eq!(batch(&sets, &all, 100.0, 5.0), [(1, 9), (0, 9)]);
    let weighted = [
        Open {
            weight: BESIDE,
            ..open(&[0], 9)
        },
        open(&[1], 9),
    ];
    assert_eq!(
        batch(&[at(6, 1.0), at(6, 2.0)], &weighted, 100.0, 1.0),
        [(1, 9)]
    );
    assert_eq!(
        batch(
            &[at(6, 1.0)],
            &[Open {
                weight: UNLIKELY,
                ..open(&[0], 9)
            }],
            100.0,
            1.0
        ),
        [(0, 9)]
    );
}

#[test]
fn a_comparison_that_cannot_be_decided_in_the_time_left_is_not_begun() {
    let sets = [at(6, 10.0)];
    assert!(batch(&sets, &[open(&[0], 48)], 60.0, 5.0).is_empty());
    assert!(
        batch(&sets, &[open(&[0], 9)], 20.0, 5.0).is_empty(),
        "an analysis that does not fit"
    );
    assert!(batch(&sets, &[], 60.0, 5.0).is_empty());
    assert!(
        batch(
            &[SetProgress {
                open: false,
                ..sets[0]
            }],
            &[open(&[0], 9)],
            600.0,
            5.0
        )
        .is_empty()
    );
}

#[test]
fn a_comparison_of_two_sets_has_both_at_the_same_analysis() {
    let comparison = [open(&[0, 1], 14)];
    assert_eq!(
        batch(&[at(6, 0.1), at(9, 0.1)], &comparison, 100.0, 0.1),
        [(0, 9)]
    );
    assert_eq!(
        batch(&[at(9, 0.1), at(9, 0.1)], &comparison, 100.0, 0.1),
        [(0, 14), (1, 14)]
    );
}
