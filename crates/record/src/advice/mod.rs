//! Advice: which way to use at which size, as programs load it. The committed JSON Schema describes the file
//! (crates/record/schema/advice.schema.json); `consumers/c` reads it.

mod answer;
#[cfg(test)]
#[path = "../../tests/unit/advice/schema.rs"]
mod schema;
mod topic;

use crate::summary::Estimate;
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
    pub cost: Estimate,
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
