use super::*;

#[test]
fn a_bound_refuses_or_slows() {
    assert_eq!(
        Bound::parse("4096"),
        Some(Bound {
            bytes: 4096,
            slows: false
        })
    );
    assert_eq!(
        Bound::parse("high:4096"),
        Some(Bound {
            bytes: 4096,
            slows: true
        })
    );
    assert_eq!(
        (Bound::parse("unbounded"), Bound::parse("high:")),
        (None, None)
    );
}
use crate::cell::Cell;
use crate::experiment::Experiment;

const TEXT: &str = r#"
name = "x"
title = "x"
question = "x?"
unit = "byte"
phases = ["go"]
baseline = "a"
content = "none"
[parameters.input]
kind = "text"
meaning = "the file"
concerns = "file"
default = ["capture"]
[parameters.warmth]
kind = "choice"
meaning = "the cache"
concerns = "page-cache"
default = ["hot"]
"#;

#[test]
fn a_key_of_any_name_can_concern_a_file() {
    let experiment = Experiment::parse("x.toml", TEXT).unwrap();
    assert_eq!(
        (
            experiment.key(Concern::File),
            experiment.key(Concern::FileSize)
        ),
        (Some("input"), None)
    );
    assert_eq!(experiment.concern_of("warmth"), Some(Concern::PageCache));
    assert_eq!(
        (
            experiment.concern_of("nothing"),
            experiment.concern_of("go")
        ),
        (None, None)
    );
    let parameters = [("warmth".to_owned(), "cold".to_owned())].into();
    let cell = Cell {
        experiment: "x".into(),
        method: "a".into(),
        worker: "c".into(),
        parameters,
    };
    assert_eq!(experiment.value(&cell, Concern::PageCache), Some("cold"));
    assert_eq!(experiment.value(&cell, Concern::File), None);
}

#[test]
fn a_wrong_concern_is_named_with_line_and_column() {
    for (right, wrong, said) in [
        (
            "\"page-cache\"",
            "\"page-cahce\"",
            "line 17, column 12: unknown variant `page-cahce`, expected one of `file`",
        ),
        (
            "\"page-cache\"",
            "\"file-size\"",
            "line 14, column 1: parameter warmth concerns what a size says, and is a choice",
        ),
        (
            "kind = \"choice\"\nmeaning = \"the cache\"\nconcerns = \"page-cache\"",
            "kind = \"text\"\nmeaning = \"the cache\"\nconcerns = \"file\"",
            "line 14, column 1: parameter warmth concerns the same as input",
        ),
    ] {
        let error = Experiment::parse("x.toml", &TEXT.replace(right, wrong))
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{error}, not {said}");
    }
}
