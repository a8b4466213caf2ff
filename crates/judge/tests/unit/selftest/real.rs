use super::*;

/// A recorded run whose fastest cell is made one that does 5 % more of what the baseline does.
fn with_more_as_the_best() -> RealRun {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../report/tests/fixtures/fault.json"
    );
    let mut summary: Summary =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let group = &mut summary.groups[0];
    let (base, leader) = (group.baseline.unwrap(), group.best[0].leader);
    assert_ne!(base, leader);
    group.best.truncate(1);
    (group.best[0].within, group.best[0].unsettled) = (Vec::new(), Vec::new());
    group.recommendation = Recommendation::Nothing;
    summary.groups.truncate(1);
    summary.cells[leader].method = summary.cells[base].method.clone();
    let least: u64 = summary.cells[base].parameters["bytes"].parse().unwrap();
    summary.cells[leader]
        .parameters
        .insert("bytes".to_owned(), (least / 100 * 105).to_string());
    let amount = CellWork {
        parameter: "bytes".to_owned(),
        least,
        most: 1.06,
    };
    RealRun {
        worker: "c-O3".to_owned(),
        amounts: [("fault".to_owned(), amount)].into(),
        summary,
    }
}

#[test]
fn more_work_alone_in_the_best_set_is_a_wrong_sentence_where_the_lesser_was_ranked() {
    let mut run = with_more_as_the_best();
    assert_eq!(wrong_choices(&run, &run.summary.groups[0]), 1);
    let base = run.summary.groups[0].baseline.unwrap();
    run.summary.cells[base].outcome.status = Status::Untrusted;
    assert_eq!(wrong_choices(&run, &run.summary.groups[0]), 0);
}
