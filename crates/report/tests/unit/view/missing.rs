use super::*;

#[test]
fn a_remedy_is_the_command_behind_the_reason() {
    let pool = "the huge page pool holds fewer than 32 free pages: sudo sysctl vm.nr_hugepages=32";
    assert_eq!(remedy(pool), "sysctl vm.nr_hugepages=32");
    assert_eq!(remedy("the time budget ended before it was measured; raise --budget"), "raise --budget");
    assert_eq!(remedy("mmap: Cannot allocate memory"), "mmap: Cannot allocate memory");
}

#[test]
fn a_way_that_has_figures_with_other_parameters_is_not_missing() {
    let mut summary: Summary = serde_json::from_str(include_str!("../../fixtures/look.json")).unwrap();
    let of = |status, reason: &str, method: &str| Absent {
        status,
        reason: reason.to_owned(),
        names: vec![method.to_owned()],
        methods: vec![method.to_owned()],
        cells: 1,
    };
    let other = "a futex is there to sleep";
    assert!(!is_missing(&summary, "message", &of(Status::Skipped, other, "pipe")));
    assert!(is_missing(&summary, "message", &of(Status::Refused, other, "pipe")));
    let helped = "the pool is empty: sudo sysctl vm.nr_hugepages=32";
    assert!(is_missing(&summary, "message", &of(Status::Skipped, helped, "pipe")));
    summary.cells.retain(|c| c.method != "pipe");
    assert!(is_missing(&summary, "message", &of(Status::Skipped, other, "pipe")));
}
