use crate::plan::published;

#[test]
fn only_the_long_forms_take_minutes_and_the_short_one_says_what_it_cannot_show() {
    let all = published::all().unwrap();
    for table in all {
        assert_eq!(table.once, table.id.ends_with(published::LONG), "{}", table.id);
    }
    let note = |id: &str| published::find(id).unwrap().note.clone().unwrap_or_default();
    assert!(note("P1").contains("claim (e)") && note("P1").contains("--long"));
    assert!(note("P1-long").contains("redirtied"));
}
