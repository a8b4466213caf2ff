use super::*;

#[test]
fn the_second_is_refused_or_both_know() {
    let place = tempfile::tempdir().unwrap();
    let take = |forced| {
        Alone::by(
            open(Some(place.path()), 0),
            open(Some(place.path()), 1),
            forced,
        )
    };
    let first = take(false).unwrap();
    assert!(!first.has_company());
    assert!(
        take(false)
            .unwrap_err()
            .to_string()
            .contains("--force marks both")
    );
    let second = take(true).unwrap();
    assert!(first.has_company() && second.has_company());
    drop(second);
    assert!(!first.has_company());
    drop(first);
    assert!(
        !take(true).unwrap().has_company(),
        "force alone is no company"
    );
    assert!(!Alone::by(None, None, false).unwrap().has_company());
}
