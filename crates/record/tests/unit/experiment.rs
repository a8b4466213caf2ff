use super::*;

const TEXT: &str = r#"
name = "x"
title = "x"
question = "x?"
unit = "byte"
phases = ["send", "receive"]
baseline = "a"
content = "none"
[[tables]]
title = "each side"
needs = "send.calls"
columns = [
{ title = "send CPU", phase = "send", figure = "cpu-ns" },
{ title = "calls", fact = "send.calls", per = "MiB" },
]
"#;

#[test]
fn further_tables_are_read() {
    let experiment = Experiment::parse("x.toml", TEXT).unwrap();
    assert_eq!(
        experiment.tables[0].columns[1].fact.as_deref(),
        Some("send.calls")
    );
}

#[test]
fn what_is_wrong_in_a_table_is_named_with_line_and_column() {
    for (right, wrong, said) in [
        (
            "phase = \"send\"",
            "phase = \"sned\"",
            "column \"send CPU\" names \"sned\"",
        ),
        ("cpu-ns", "cpu", "unknown variant `cpu`"),
        (
            "fact = \"send.calls\", per = \"MiB\"",
            "per = \"MiB\"",
            "column \"calls\" needs a figure",
        ),
        ("per = \"MiB\"", "per = \"GiB\"", "unknown variant `GiB`"),
        ("needs =", "need =", "unknown field `need`"),
    ] {
        let error = Experiment::parse("x.toml", &TEXT.replace(right, wrong))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(said) && error.contains("line 1") && error.contains("column "),
            "{error}, not {said}"
        );
    }
}
