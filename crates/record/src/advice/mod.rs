//! Advice: which way to use at which size, as programs load it. The committed JSON Schema describes the file
//! (crates/record/schema/advice.schema.json); `consumers/c` reads it.

mod answer;
#[cfg(test)]
mod schema {
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
            let kept: Value =
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let differs = difference("", &kept, &schema);
            let hint =
                "write_the_advice_schemas -- --ignored writes it; a new shape is a new version";
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
}
mod topic;

use crate::summary::Ratio;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use answer::{ANSWER_SCHEMA, AdviceAnswer, Case, Flip, Repeated, Snippet};
pub use topic::{Topic, Uses, Way};

/// Version of the file. Version 1, without conditions, is read too.
pub const ADVICE_SCHEMA: u32 = 2;

/// A machine's advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Advice {
    pub schema: u32,
    /// When it was made, RFC 3339.
    pub created: String,
    pub version: String,
    /// The machine it is for; on any other a program keeps its default.
    pub machine: Fingerprint,
    /// Gains below this share are no advice.
    pub margin: f64,
    pub questions: BTreeMap<String, Question>,
}

/// Facts that must be the same for advice to hold. A word that is not known is `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// The processor: `model name` or `CPU part` in /proc/cpuinfo.
    pub cpu: String,
    /// Its microcode: `microcode` there.
    pub microcode: String,
    /// The kernel: /proc/sys/kernel/osrelease.
    pub kernel: String,
    /// The word in brackets of /sys/kernel/mm/transparent_hugepage/enabled.
    pub thp: String,
    /// The C library's version by its own word, as `2.36`.
    pub glibc: String,
    pub page_bytes: u64,
}

impl Fingerprint {
    /// In what another machine differs, as `kernel (6.1 here, 6.12 there)`; empty where it is one kind of machine.
    pub fn differences(&self, other: &Fingerprint) -> Vec<String> {
        let page = |f: &Fingerprint| f.page_bytes.to_string();
        let all = [
            ("processor", self.cpu.clone(), other.cpu.clone()),
            ("microcode", self.microcode.clone(), other.microcode.clone()),
            ("kernel", self.kernel.clone(), other.kernel.clone()),
            (
                "transparent huge pages",
                self.thp.clone(),
                other.thp.clone(),
            ),
            ("glibc", self.glibc.clone(), other.glibc.clone()),
            ("page size", page(self), page(other)),
        ];
        let differs = all.into_iter().filter(|(_, here, there)| here != there);
        differs
            .map(|(name, here, there)| format!("{name} ({here} here, {there} there)"))
            .collect()
    }
}

/// The answer to one question. Where no segment holds a size, nothing is advised: a program keeps its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub does: String,
    pub experiment: String,
    pub settings: BTreeMap<String, String>,
    /// The way that most programs use, which all others are compared with.
    pub obvious: String,
    /// From which size to which one way is shown to cost less, ascending; between them nothing is shown.
    pub segments: Vec<Segment>,
    /// The same under each condition of the program, by `KEY=VALUE`. Where two of them differ the answer depends.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, Vec<Segment>>,
    pub points: Vec<AdvicePoint>,
    pub runs: Vec<String>,
}

impl Question {
    /// The segments that no condition contradicts at any of their sizes.
    pub fn agreed(&self) -> impl Iterator<Item = &Segment> {
        let others = || self.conditions.values().flatten();
        self.segments
            .iter()
            .filter(move |s| !others().any(|o| o.way != s.way && o.from <= s.to && s.from <= o.to))
    }
}

/// One way from one size to another, both measured and included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The smallest size at which it was shown, in bytes.
    pub from: u64,
    pub to: u64,
    #[serde(rename = "use")]
    pub way: String,
    pub over: String,
    /// The most that it costs relative to that, anywhere in the segment: the highest upper limit.
    pub at_most: f64,
    /// Its cost relative to that, at the sizes measured: the median of the ratios.
    pub ratio: f64,
    /// The least: the lowest lower limit.
    pub at_least: f64,
}

/// One way's cost relative to the usual choice's at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AdvicePoint {
    pub bytes: u64,
    pub way: String,
    pub cost: Ratio,
}

impl Advice {
    pub fn parse(text: &str) -> Result<Advice> {
        let version: serde_json::Value = serde_json::from_str(text).context("it is no JSON")?;
        match version.get("schema").and_then(serde_json::Value::as_u64) {
            Some(schema) if schema == 1 || schema == u64::from(ADVICE_SCHEMA) => {}
            Some(other) => {
                bail!("it is advice of version {other}; this program reads version {ADVICE_SCHEMA}")
            }
            None => bail!("it is no file of advice: it has no \"schema\""),
        }
        let advice: Advice = serde_json::from_value(version).context("it is no file of advice")?;
        for (name, question) in &advice.questions {
            let ascends = |segments: &Vec<Segment>| {
                segments.windows(2).all(|two| two[0].to < two[1].from)
                    && segments.iter().all(|s| s.from <= s.to)
            };
            if !ascends(&question.segments) || !question.conditions.values().all(ascends) {
                bail!("the segments of {name} overlap or are not ascending");
            }
        }
        Ok(advice)
    }

    /// Its canonical text: one line, keys in the order of their bytes, the shortest form of every number.
    pub fn canonical(&self) -> Result<String> {
        Ok(serde_json::to_string(&sorted(serde_json::to_value(self)?))? + "\n")
    }
}

fn sorted(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Object(object) => {
            let ordered: BTreeMap<String, Value> =
                object.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            Value::Object(ordered.into_iter().collect())
        }
        Value::Array(all) => Value::Array(all.into_iter().map(sorted).collect()),
        other => other,
    }
}
