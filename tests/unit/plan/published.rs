use super::*;

#[test]
fn what_a_figure_leaves_open_is_settled_by_what_the_user_allows() {
    assert_eq!(permitted("dropped|cold", true), "dropped");
    assert_eq!(permitted("dropped|cold", false), "cold");
    assert_eq!(
        (permitted("1GiB", true), permitted("1GiB", false)),
        ("1GiB", "1GiB")
    );
}

#[test]
fn p3_is_asked_both_ways_and_without_permission_nobodys_cache_is_dropped() {
    let table = find("p3").unwrap();
    for job in ["as published", "corrected"] {
        for claim in ["claim (a)", "claim (b)", "claim (c)", "claim (d)"] {
            let found = table
                .figures
                .iter()
                .filter(|f| f.job == job && f.label.starts_with(claim));
            assert!(found.count() == 1, "{claim}, {job}");
        }
    }
    let caches: Vec<_> = table
        .figures
        .iter()
        .map(|f| permitted(&f.parameters["cache"], false))
        .collect();
    assert!(caches.contains(&"cold") && !caches.contains(&"dropped"));
    assert!(
        table
            .figures
            .iter()
            .all(|f| f.parameters["consume"] == "payload")
    );
}

#[test]
fn only_the_long_forms_take_minutes_and_the_short_one_says_what_it_cannot_show() {
    let all = all().unwrap();
    for table in all {
        assert_eq!(table.once, table.id.ends_with(LONG), "{}", table.id);
    }
    let note = |id: &str| find(id).unwrap().note.clone().unwrap_or_default();
    assert!(note("P1").contains("claim (e)") && note("P1").contains("--long"));
    assert!(note("P1-long").contains("redirtied"));
}
