use std::fs;

use super::*;

#[test]
fn no_number_of_a_plan_is_too_large_for_a_duration() {
    for (seconds, kept) in [(f64::NAN, 0.0), (-1.0, 0.0), (1e300, LONGEST_S), (0.5, 0.5)] {
        assert_eq!(duration(seconds).as_secs_f64(), kept);
    }
}

#[test]
fn time_that_the_host_took_does_not_count() {
    let before = ticks("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3");
    let now = ticks("cpu  102 0 102 801 0 0 0 95 7 0\n");
    assert_eq!(
        (before, now.all),
        (
            Ticks {
                stolen: 0,
                all: 1000
            },
            1100
        )
    );
    assert_eq!(stolen_share(before, now), 0.95);
    assert_eq!(stolen_share(now, now), 0.0);
}

#[test]
fn the_thread_that_waited_longest_counts() {
    let place = tempfile::tempdir().unwrap();
    for (thread, text) in [
        ("7", "100 5000000000 3"),
        ("8", "1 9000000000 3"),
        ("9", ""),
    ] {
        let folder = place.path().join("7/task").join(thread);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("schedstat"), text).unwrap();
    }
    assert_eq!(waited(place.path(), 7), Duration::from_secs(9));
    assert_eq!(waited(place.path(), 8), Duration::ZERO);
}

#[test]
fn what_the_user_said_is_by_the_clock() {
    let begun = Begun {
        at: Instant::now(),
        ticks: Ticks::default(),
    };
    let limit = TimeLimit::Strict(Duration::from_secs(3));
    assert_eq!(
        begun.deadline(limit, [1].into_iter()),
        begun.at + Duration::from_secs(3)
    );
    assert!(
        begun.deadline(TimeLimit::Able(limit.duration()), std::iter::empty())
            >= begun.at + limit.duration()
    );
}
