use serde_json::{Value, json};

use super::*;
use crate::summary::schema::tighten;

const PATH: &str = "schema/compare.schema.json";

fn made() -> Value {
    let mut schema = serde_json::to_value(schemars::schema_for!(Compared)).unwrap();
    tighten(&mut schema);
    schema["$id"] = json!(format!("urn:pagewise:compare:{COMPARED_SCHEMA}"));
    schema["title"] = json!("Pagewise comparison");
    schema["description"] =
        json!("Two sets of runs compared with each other: what `pagewise compare --json` prints.");
    schema["properties"]["schema"] =
        json!({ "description": "Version of this shape.", "const": COMPARED_SCHEMA });
    schema
}

#[test]
#[ignore = "writes the schema: cargo test -p pagewise-record write_the_schema -- --ignored"]
fn write_the_schema() {
    std::fs::write(PATH, serde_json::to_string_pretty(&made()).unwrap() + "\n").unwrap();
}

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(PATH).unwrap()).unwrap();
    let hint = "cargo test -p pagewise-record write_the_schema -- --ignored writes it; a new shape has a new number";
    assert!(kept == made(), "{hint}");
    jsonschema::meta::validate(&kept).unwrap();
}
