mod folders;

use serde_json::{Value, json};

use super::*;
use crate::summary::schema::tighten;

const FLEET: &str = "schema/fleet.schema.json";
const CRITERIA: &str = "schema/criteria.schema.json";

fn dressed(mut schema: Value, name: &str, version: u32, about: &str) -> Value {
    tighten(&mut schema);
    schema["$id"] = json!(format!("urn:pagewise:{name}:{version}"));
    schema["title"] = json!(format!("Pagewise {name}"));
    schema["description"] = json!(about);
    schema["properties"]["schema"] =
        json!({ "description": "Version of this shape.", "const": version });
    schema
}

fn made() -> [(&'static str, Value); 2] {
    let fleet = serde_json::to_value(schemars::schema_for!(Fleet)).unwrap();
    let criteria = serde_json::to_value(schemars::schema_for!(Criteria)).unwrap();
    let of_fleet = "Many machines' runs together: what `pagewise fleet --json` prints.";
    let of_criteria = "What nodes of a fleet may cost: what `pagewise fleet learn` writes and `pagewise check-node` reads.";
    [
        (FLEET, dressed(fleet, "fleet", FLEET_SCHEMA, of_fleet)),
        (
            CRITERIA,
            dressed(criteria, "criteria", CRITERIA_SCHEMA, of_criteria),
        ),
    ]
}

#[test]
#[ignore = "writes the schemas: cargo test -p pagewise-record write_the_schema -- --ignored"]
fn write_the_schema() {
    for (path, value) in made() {
        std::fs::write(path, serde_json::to_string_pretty(&value).unwrap() + "\n").unwrap();
    }
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for (path, value) in made() {
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let hint = "cargo test -p pagewise-record write_the_schema -- --ignored writes it; a new shape has a new number";
        assert!(kept == value, "{path}: {hint}");
        jsonschema::meta::validate(&kept).unwrap();
    }
}
