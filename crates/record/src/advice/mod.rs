//! Advice: which way to use at which size, as programs load it. The committed JSON Schema describes the file
//! (crates/record/schema/advice.schema.json); `consumers/c` reads it.

mod answer;
#[cfg(test)]
mod schema {
    //! The JSON Schemas of the file of advice and of an answer are made from the types that are written, and committed:
    //! programs load the one, and a change of its shape shows.

    use schemars::JsonSchema;
    use serde_json::{Map, Value, json};

    use super::{ADVICE_SCHEMA, ANSWER_SCHEMA, Advice, AdviceAnswer, SEAL, is_sealed};
    use crate::summary::schema::{assert_committed, tighten};

    const FILE: &str = "schema/advice.schema.json";
    const ANSWER: &str = "schema/advice-answer.schema.json";

    fn made<T: JsonSchema>(name: &str, version: u32, about: &str) -> Value {
        let mut schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
        tighten(&mut schema);
        schema["title"] = json!(format!("Pagewise {name}"));
        schema["description"] = json!(about);
        schema["properties"]["schema"] =
            json!({ "description": "Version of this shape.", "const": version });
        if name == "advice" {
            schema["properties"]["seal"] = json!({
                "description": "SHA-256, in hex, of the file's bytes with zeros in place of these 64 digits.",
                "type": "string", "pattern": "^[0-9a-f]{64}$"
            });
            schema["required"]
                .as_array_mut()
                .unwrap()
                .push(json!("seal"));
        }
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
    fn the_committed_schemas_of_advice_are_those_of_the_types() {
        for (path, schema) in all() {
            assert_committed(path, &schema);
        }
    }

    fn advice() -> Value {
        json!({
            "schema": ADVICE_SCHEMA, "created": "2026-11-21T20:00:00Z", "version": "0.1.0", "margin": 0.02, "seal": "0".repeat(64),
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
                    "cost": { "ratio": 1.25, "low": 1.1, "high": 1.4, "level": 0.95, "launches": 8, "error": 0.05, "freedom": 7.0 } }],
                "runs": ["one"]
            } }
        })
    }

    /// A text by hand, read as such and sealed.
    fn sealed(advice: &Value) -> String {
        let advice = Advice::parse_changed(&advice.to_string()).unwrap();
        advice.canonical().unwrap()
    }

    #[test]
    fn every_changed_byte_of_advice_shows() {
        let text = sealed(&advice());
        assert!(is_sealed(&text));
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let changed = String::from_utf8_lossy(&bytes);
                assert!(Advice::parse(&changed).is_err(), "bit {bit} of byte {at}");
            }
            assert!(Advice::parse(&text[..at]).is_err(), "cut at {at}");
        }
        // By hand, without a seal, in another layout, with another file's seal.
        let error = Advice::parse(&advice().to_string()).unwrap_err();
        assert!(error.to_string().contains("advise --merge"), "{error}");
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&text).unwrap());
        assert!(Advice::parse(&pretty.unwrap()).is_err());
        let mut other = advice();
        other["margin"] = json!(0.03);
        let theirs = sealed(&other);
        let digits = |text: &str| text[text.rfind(SEAL).unwrap() + SEAL.len()..][..64].to_owned();
        assert!(Advice::parse(&text.replace(&digits(&text), &digits(&theirs))).is_err());
        assert!(Advice::parse(&text).is_ok() && Advice::parse(&theirs).is_ok());
    }

    #[test]
    fn figures_that_no_measurement_gives_are_refused_also_where_they_are_sealed() {
        let cost = "/questions/read/points/0/cost";
        let segment = "/questions/read/segments/0";
        for (pointer, wrong) in [
            (format!("{segment}/ratio"), json!(-1.0)),
            (format!("{segment}/at_most"), json!(1e20)),
            (format!("{segment}/at_most"), json!(1.5)),
            (format!("{segment}/at_least"), json!(0.85)),
            (format!("{segment}/at_least"), json!(0.0)),
            (format!("{cost}/ratio"), json!(1e20)),
            (format!("{cost}/low"), json!(1.3)),
            (format!("{cost}/high"), json!(1.2)),
            (format!("{cost}/level"), json!(1.0)),
            (format!("{cost}/launches"), json!(0)),
            (format!("{cost}/launches"), json!(1u64 << 63)),
            (format!("{cost}/freedom"), json!(1e300)),
            (format!("{cost}/freedom"), json!(0.0)),
            (format!("{cost}/freedom"), json!(1e-320)),
            (format!("{cost}/freedom"), json!(1e-300)),
            (format!("{cost}/error"), json!(-0.1)),
            (format!("{cost}/moved"), json!([2.0, -1.0])),
            ("/margin".to_owned(), json!(-0.5)),
            ("/machine/page_bytes".to_owned(), json!(0)),
        ] {
            let mut value = advice();
            value.as_object_mut().unwrap().remove("seal");
            match value.pointer_mut(&pointer) {
                Some(figure) => *figure = wrong.clone(),
                None => value.pointer_mut(cost).unwrap()["moved"] = wrong.clone(),
            }
            let other: Advice = serde_json::from_value(value).unwrap();
            let text = other.canonical().unwrap();
            assert!(is_sealed(&text));
            let error = Advice::parse(&text).expect_err(&pointer).to_string();
            assert!(
                error.contains("no measurement gives") || error.contains("margin"),
                "{error}"
            );
            assert!(Advice::parse_changed(&text).is_err());
        }
    }

    #[test]
    fn advice_is_read_written_the_same_and_asked() {
        let text = sealed(&advice());
        assert_eq!(Advice::parse(&text).unwrap().canonical().unwrap(), text);
        assert!(
            text.starts_with("{\"created\":") && text.ends_with("}\n") && text.lines().count() == 1
        );
        let validator = jsonschema::validator_for(&all()[0].1).unwrap();
        assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
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

use crate::{hash::sha256_hex, json::FromJson, json::ToJson, summary::Ratio};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use stats::t::LEAST_FREEDOM;
use std::collections::BTreeMap;

pub use answer::{
    ANSWER_SCHEMA, AdviceAnswer, AdviceTime, Case, Flip, Repeated, Snippet, TradeOff,
};
pub use topic::{Topic, Uses, Way};

crate::read_from_json!(Advice, AdviceAnswer, Question);
crate::written_to_json!(Advice, AdviceAnswer, Question);

/// Version of the file. Version 1, without conditions, is read too.
pub const ADVICE_SCHEMA: u32 = 3;

/// A machine's advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// When it was made, RFC 3339.
    pub created: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The machine it is for; on any other a program keeps its default.
    pub machine: Fingerprint,
    /// Gains below this share are no advice.
    pub margin: f64,
    /// Answers by the question's id.
    pub questions: BTreeMap<String, Question>,
}

/// Facts that must be the same for advice to hold. A word that is not known is `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// Size of a base page in bytes.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Task of the program, in words that follow `to`.
    pub does: String,
    /// Name of the experiment.
    pub experiment: String,
    /// Fixed values of parameters, by key.
    pub settings: BTreeMap<String, String>,
    /// The way that most programs use, which all others are compared with.
    #[serde(rename = "obvious")]
    pub baseline: String,
    /// From which size to which one way is shown to cost less, ascending; between them nothing is shown.
    pub segments: Vec<Segment>,
    /// The same under each condition of the program, by `KEY=VALUE`. Where two of them differ the answer depends.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub conditions: BTreeMap<String, Vec<Segment>>,
    /// Measured sizes, the smallest first.
    pub points: Vec<AdvicePoint>,
    /// Runs on which the answer rests.
    pub runs: Vec<String>,
}

impl Question {
    /// Its first figure that no measurement gives.
    fn impossible(&self) -> Option<String> {
        let segment = self
            .segments
            .iter()
            .chain(self.conditions.values().flatten())
            .find(|segment| !segment.makes_sense());
        let point = self.points.iter().find(|point| !point.makes_sense());
        segment
            .map(|s| {
                format!(
                    "{} from {} bytes: {} ({}–{})",
                    s.way, s.from, s.ratio, s.at_least, s.at_most
                )
            })
            .or_else(|| {
                point.map(|p| {
                    format!(
                        "{} at {} bytes: {} ({}–{})",
                        p.way, p.bytes, p.cost.ratio, p.cost.low, p.cost.high
                    )
                })
            })
    }
}

/// One way from one size to another, both measured and included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The smallest size at which it was shown, in bytes.
    pub from: u64,
    /// Largest size at which it was shown, in bytes.
    pub to: u64,
    /// Method that is shown to be faster.
    #[serde(rename = "use")]
    pub way: String,
    /// Usual choice that it replaces.
    pub over: String,
    /// The most that it costs relative to that, anywhere in the segment: the highest upper limit.
    pub at_most: f64,
    /// Its cost relative to that, at the sizes measured: the median of the ratios.
    pub ratio: f64,
    /// The least: the lowest lower limit.
    pub at_least: f64,
}

/// One way's cost relative to the usual choice's at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvicePoint {
    /// Size in bytes.
    pub bytes: u64,
    /// Method that was measured.
    pub way: String,
    /// Cost relative to the usual choice.
    pub cost: Ratio,
}

/// Start of the field of the seal.
const SEAL: &str = "\"seal\":\"";
/// Place of the seal's digits while it is made.
const NO_DIGITS: &[u8; 64] = &[b'0'; 64];
/// Ratios of two costs lie below this, and above its inverse.
const MOST_RATIO: f64 = 1e9;
/// Launches that nobody could have made.
const MOST_LAUNCHES: usize = 1 << 40;

/// True if a text of advice is byte for byte as it was written: its seal is the SHA-256 of the text in which the digits of the
/// seal are zeros.
pub fn is_sealed(text: &str) -> bool {
    has_its_seal(text).unwrap_or(false)
}

/// `None` where a text has no seal.
fn has_its_seal(text: &str) -> Option<bool> {
    let (before, rest) = text.split_at(text.rfind(SEAL)? + SEAL.len());
    let (digits, after) = rest.split_at_checked(NO_DIGITS.len())?;
    Some(digits == sha256_hex(&[before.as_bytes(), NO_DIGITS, after.as_bytes()]))
}

impl Advice {
    /// Reads an advice file that is as it was written.
    /// Errors: it is no JSON of this shape, of another version, or not as its seal says.
    pub fn parse(text: &str) -> Result<Advice> {
        let advice = Advice::parse_changed(text)?;
        if !is_sealed(text) {
            bail!(
                "it is not as it was written: changed by hand, damaged, or of an older version; \
                 after a look at it, advise --merge FILE --out FILE seals it"
            );
        }
        Ok(advice)
    }

    /// Reads a file of advice that somebody may have changed.
    pub fn parse_changed(text: &str) -> Result<Advice> {
        let mut version: serde_json::Value = serde_json::from_str(text).context("it is no JSON")?;
        if let Some(fields) = version.as_object_mut() {
            fields.remove("seal");
        }
        match version.get("schema").and_then(serde_json::Value::as_u64) {
            Some(schema) if schema == u64::from(ADVICE_SCHEMA) => {}
            Some(other) => {
                bail!("it is advice of version {other}; this program reads version {ADVICE_SCHEMA}")
            }
            None => bail!("it is no file of advice: it has no \"schema\""),
        }
        let unsealed = version.to_string();
        let advice = Advice::from_json(unsealed.as_bytes()).context("it is no file of advice")?;
        for (name, question) in &advice.questions {
            let ascends = |segments: &Vec<Segment>| {
                segments.windows(2).all(|two| two[0].to < two[1].from)
                    && segments.iter().all(|s| s.from <= s.to)
            };
            if !ascends(&question.segments) || !question.conditions.values().all(ascends) {
                bail!("the segments of {name} overlap or are not ascending");
            }
            if let Some(figure) = question.impossible() {
                bail!("{name} has a figure that no measurement gives: {figure}");
            }
        }
        if !(0.0..1.0).contains(&advice.margin) || !advice.machine.page_bytes.is_power_of_two() {
            bail!("its margin is no share of a cost, or its page size no power of two");
        }
        Ok(advice)
    }

    /// Its canonical text with its seal: one line, keys in the order of their bytes, the shortest form of every number.
    pub fn canonical(&self) -> Result<String> {
        let mut value = self.to_json()?;
        let digits = String::from_utf8_lossy(NO_DIGITS);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("seal".to_owned(), digits.as_ref().into());
        }
        let mut text = serde_json::to_string(&sorted(value))? + "\n";
        let seal = sha256_hex(&[text.as_bytes()]);
        if let Some(at) = text.rfind(SEAL) {
            let from = at + SEAL.len();
            text.replace_range(from..from + NO_DIGITS.len(), &seal);
        }
        Ok(text)
    }
}

fn is_ratio(ratio: f64) -> bool {
    (1.0 / MOST_RATIO..MOST_RATIO).contains(&ratio)
}

fn ascend(low: f64, ratio: f64, high: f64) -> bool {
    [low, ratio, high].into_iter().all(is_ratio) && low <= ratio && ratio <= high
}

impl Segment {
    /// True if its figures can be those of a way that costs less.
    fn makes_sense(&self) -> bool {
        ascend(self.at_least, self.ratio, self.at_most) && self.at_most <= 1.0
    }
}

impl AdvicePoint {
    /// True if its figures can be those of a measured ratio.
    fn makes_sense(&self) -> bool {
        let cost = &self.cost;
        ascend(cost.low, cost.ratio, cost.high)
            && cost.level > 0.0
            && cost.level < 1.0
            && (1..MOST_LAUNCHES).contains(&cost.launches)
            && (0.0..MOST_RATIO.ln()).contains(&cost.error)
            && cost.freedom >= LEAST_FREEDOM
            && cost.freedom < MOST_LAUNCHES as f64
            && cost
                .drift
                .is_none_or(|d| is_ratio(d.low) && is_ratio(d.high) && d.low <= d.high)
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
