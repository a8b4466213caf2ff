use super::{SetNeed, level_s};

const NEW: SetNeed = SetNeed {
    lacking_s: 6.0,
    beyond_s: 0.0,
    launch_s: 1.0,
    share: 1.0,
    wide: true,
};

#[test]
fn every_comparison_has_its_least_launches_and_the_rest_goes_by_share() {
    let neighbor = SetNeed {
        share: 0.1,
        lacking_s: 2.0,
        ..NEW
    };
    let level = level_s([NEW, neighbor].iter(), 6, 30.0);
    assert!((level - 20.0).abs() < 1e-6, "{level}");
    assert!(
        (NEW.due_s(level, 6) - 26.0).abs() < 1e-6 && (neighbor.due_s(level, 6) - 4.0).abs() < 1e-6
    );
}

#[test]
fn what_is_narrow_has_a_launch_in_each_visit_and_what_had_more_waits() {
    let narrow = SetNeed {
        lacking_s: 0.0,
        beyond_s: 3.0,
        wide: false,
        ..NEW
    };
    let [ahead, behind] = [8.0, 1.0].map(|beyond_s| SetNeed {
        lacking_s: 0.0,
        beyond_s,
        ..NEW
    });
    let needs = [narrow, ahead, behind];
    let level = level_s(needs.iter(), 2, 6.5);
    assert_eq!(
        needs.map(|need| need.due_s(level, 2).round()),
        [3.0, 0.0, 4.0]
    );
    let level = level_s(needs.iter(), 2, 19.5);
    assert_eq!(
        needs.map(|need| need.due_s(level, 2).round()),
        [3.0, 5.0, 12.0]
    );
}

#[test]
fn without_time_nobody_has_more_than_the_least() {
    assert!(level_s([NEW].iter(), 6, 3.0) < 1e-6);
}
