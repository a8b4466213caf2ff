use super::*;

fn cell(method: &str, bytes: &str) -> Cell {
    Cell {
        experiment: "copy".into(),
        method: method.into(),
        worker: "c-O3".into(),
        parameters: BTreeMap::from([("bytes".to_owned(), bytes.to_owned())]),
    }
}

fn asked(id: &str, cells: [Cell; 2]) -> ResolvedClaim {
    let mut claim = all().unwrap()[0].clone();
    claim.id = id.to_owned();
    let [way, other] = cells;
    let job = ResolvedJob {
        job: "corrected".into(),
        way: vec![way],
        other: vec![other],
        ..ResolvedJob::default()
    };
    ResolvedClaim {
        claim,
        jobs: vec![job],
    }
}

#[test]
fn what_answers_most_in_its_time_is_measured_first_and_shared_cells_are_counted_once() {
    let (small, other, large) = (
        cell("a", "4096"),
        cell("b", "4096"),
        cell("a", "1073741824"),
    );
    let mut all = [
        asked("dear", [large.clone(), cell("b", "1073741824")]),
        asked("cheap", [small.clone(), other.clone()]),
        asked("shares", [other, small]),
    ];
    let chosen = affordable(&mut all, &BTreeMap::new(), 4.0, |_, _| false);
    assert_eq!(chosen.len(), 2);
    let why = |i: usize| all[i].jobs[0].left_out.as_ref();
    assert!(
        matches!(why(0), Some(NoVerdict::Budget { needed_s: Some(_) }))
            && why(1).is_none()
            && why(2).is_none()
    );
    assert!(
        affordable(&mut all, &BTreeMap::new(), 4.0, |_, _| true).is_empty(),
        "what kept runs answer is not measured again"
    );
}

#[test]
fn what_a_cell_took_before_decides_whether_it_is_affordable() {
    let pair = [cell("a", "1073741824"), cell("b", "1073741824")];
    let mut all = [asked("dear", pair.clone())];
    let known = pair.into_iter().map(|cell| (cell, 0.1)).collect();
    assert_eq!(affordable(&mut all, &known, 4.0, |_, _| false).len(), 2);
    assert_eq!(affordable(&mut all, &known, 1.3, |_, _| false).len(), 0);
}

#[test]
fn ids_are_unique_and_unknown_ones_get_a_hint() {
    let claims = all().unwrap();
    let ids: BTreeSet<String> = claims.iter().map(|c| c.id.to_lowercase()).collect();
    assert_eq!(ids.len(), claims.len());
    let error = find(claims, &["P5-aa".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("did you mean \"P5-a\"?"), "{error}");
}
