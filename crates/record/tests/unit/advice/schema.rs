//! The JSON Schemas of the file of advice and of an answer are made from the types that are written, and committed:
//! programs load the one, and a change of its shape shows.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{ADVICE_SCHEMA, ANSWER_SCHEMA, Advice, AdviceAnswer};
use crate::summary::schema::{difference, tighten};

const FILE: &str = "schema/advice.schema.json";
const ANSWER: &str = "schema/advice-answer.schema.json";

fn made<T: JsonSchema>(name: &str, version: u32, about: &str) -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
    tighten(&mut schema);
    schema["title"] = json!(format!("Pagewise {name}"));
    schema["description"] = json!(about);
    let versions = if version == ADVICE_SCHEMA && name == "advice" {
        vec![1, version]
    } else {
        vec![version]
    };
    schema["properties"]["schema"] =
        json!({ "description": "Version of this shape.", "enum": versions });
    let mut ordered = Map::new();
    ordered.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    ordered.insert(
        "$id".to_owned(),
        json!(format!("urn:pagewise:{name}:{version}")),
    );
    ordered.extend(schema.as_object().cloned().unwrap_or_default());
    Value::Object(ordered)
}

fn all() -> [(&'static str, Value); 2] {
    let file = "Which way to use at which size on one kind of machine, as programs load it: `pagewise advise --save`.";
    let answer = "The answer to one question: `pagewise advise QUESTION --json`.";
    [
        (FILE, made::<Advice>("advice", ADVICE_SCHEMA, file)),
        (
            ANSWER,
            made::<AdviceAnswer>("advice-answer", ANSWER_SCHEMA, answer),
        ),
    ]
}

#[test]
#[ignore = "writes the schemas: cargo test -p pagewise-record write_the_advice_schemas -- --ignored"]
fn write_the_advice_schemas() {
    for (path, schema) in all() {
        std::fs::write(path, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
    }
}

#[test]
fn the_committed_schemas_of_advice_are_those_of_the_types() {
    for (path, schema) in all() {
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let differs = difference("", &kept, &schema);
        let hint = "write_the_advice_schemas -- --ignored writes it; a new shape is a new version";
        assert!(
            differs.is_none(),
            "{path}: {} differs; {hint}",
            differs.unwrap_or_default()
        );
        jsonschema::meta::validate(&kept).unwrap();
    }
}

fn advice() -> Value {
    json!({
        "schema": 1, "created": "2026-11-21T20:00:00Z", "version": "0.1.0", "margin": 0.02,
        "machine": {
            "cpu": "A processor", "microcode": "0x1", "kernel": "6.18.0", "thp": "madvise", "glibc": "2.36", "page_bytes": 4096
        },
        "questions": { "read": {
            "does": "go through a file", "experiment": "read", "settings": { "cache": "hot" }, "obvious": "read",
            "segments": [
                { "from": 4096, "to": 65536, "use": "read", "over": "mmap", "at_most": 0.9, "ratio": 0.8, "at_least": 0.7 },
                { "from": 131072, "to": 1048576, "use": "mmap", "over": "read", "at_most": 0.9, "ratio": 0.8, "at_least": 0.7 }
            ],
            "points": [{ "bytes": 4096, "way": "mmap",
                "cost": { "ratio": 1.25, "low": 1.1, "high": 1.4, "level": 0.95, "launches": 8 } }],
            "runs": ["one"]
        } }
    })
}

#[test]
fn advice_is_read_written_the_same_and_asked() {
    let advice = Advice::parse(&advice().to_string()).unwrap();
    let text = advice.canonical().unwrap();
    assert_eq!(Advice::parse(&text).unwrap().canonical().unwrap(), text);
    assert!(
        text.starts_with("{\"created\":") && text.ends_with("}\n") && text.lines().count() == 1
    );
    let validator = jsonschema::validator_for(&all()[0].1).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn a_program_that_names_no_condition_gets_what_none_contradicts() {
    let segment = |way: &str| {
        json!([{
            "from": 4096, "to": 65536, "use": way, "over": "x", "at_most": 0.9, "ratio": 0.8, "at_least": 0.7
        }])
    };
    let mut json = advice();
    json["schema"] = json!(ADVICE_SCHEMA);
    json["questions"]["read"]["conditions"] =
        json!({ "cache=hot": segment("read"), "cache=mapped": segment("mmap") });
    let advice = Advice::parse(&json.to_string()).unwrap();
    let agreed: Vec<_> = advice.questions["read"]
        .agreed()
        .map(|s| (s.way.as_str(), s.from))
        .collect();
    assert_eq!(agreed, [("mmap", 131_072)], "it depends at 4 KiB only");
    let validator = jsonschema::validator_for(&all()[0].1).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&advice.canonical().unwrap()).unwrap()));
}

#[test]
fn what_is_no_advice_is_refused_in_a_sentence() {
    let validator = jsonschema::validator_for(&all()[0].1).unwrap();
    for (pointer, wrong, words) in [
        ("/schema", json!(7), "version 7"),
        ("/margin", json!("much"), "invalid type"),
        (
            "/questions/read/segments/0/from",
            json!(-1),
            "invalid value",
        ),
        ("/questions/read/segments/1/from", json!(5), "overlap"),
        ("/machine/page_bytes", Value::Null, "invalid type"),
    ] {
        let mut other = advice();
        *other.pointer_mut(pointer).unwrap() = wrong;
        let error = format!("{:#}", Advice::parse(&other.to_string()).unwrap_err());
        assert!(
            error.contains(words) && !error.contains('\n'),
            "{pointer}: {error}"
        );
        // What a schema cannot say is that segments ascend.
        assert!(
            !validator.is_valid(&other) || words == "overlap",
            "{pointer}"
        );
    }
    assert!(
        Advice::parse("{}")
            .unwrap_err()
            .to_string()
            .contains("no \"schema\"")
    );
    assert!(
        Advice::parse("advice")
            .unwrap_err()
            .to_string()
            .contains("no JSON")
    );
}
