mod modes;

use super::*;

fn found(wrong: Option<&str>) -> BTreeMap<String, MethodResult> {
    let found = MethodResult {
        cells: 2,
        wrong: wrong.map(str::to_owned),
        ..MethodResult::default()
    };
    BTreeMap::from([("read/mmap@c-O3".to_owned(), found)])
}

#[test]
fn only_what_a_second_run_rejects_too_is_rejected() {
    for (again, stays) in [(Some("two faults for one"), true), (None, false)] {
        let mut first = found(Some("two faults for one"));
        confirm(&mut first, &found(again));
        let method = &first["read/mmap@c-O3"];
        assert_eq!(
            (method.wrong.is_some(), method.once.is_some()),
            (stays, !stays)
        );
    }
    let mut first = found(Some("two faults for one"));
    confirm(&mut first, &BTreeMap::new());
    assert!(
        first["read/mmap@c-O3"].wrong.is_some(),
        "a method that was not run again stays rejected"
    );
}
