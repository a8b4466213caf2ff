//! Kept folders that are refused: in use, of another schema, missing.

use std::path::Path;

use pagewise_record::folder::RunFolder;

#[test]
fn a_folder_in_use_is_left_alone() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("mine"), "text").unwrap();
    assert!(
        RunFolder::create(place.path())
            .unwrap_err()
            .to_string()
            .contains("is not empty")
    );
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn another_schema_is_refused_with_both_numbers() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("plan.json"), "{\"schema\": 99}").unwrap();
    let error = RunFolder::open(place.path().to_str().unwrap(), place.path())
        .unwrap()
        .plan()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("schema 99") && error.contains("reads 3"),
        "{error}"
    );
}

#[test]
fn a_run_that_is_not_there_is_named() {
    assert!(
        RunFolder::open("no-such-run", Path::new("/nowhere"))
            .unwrap_err()
            .to_string()
            .contains("there is no run \"no-such-run\"")
    );
}
