//! Topics of advice: a question with its obvious way and the others. One file a topic, `advice/*.toml`.

use crate::sizes;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};
use std::collections::BTreeMap;

/// A question that advice answers.
#[skip_serializing_none]
#[apply(BTreeMap => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// The word by which it is asked for, and by which programs know it.
    pub id: String,
    /// Task of the program, in a few words that follow `to`: "read a file that the page cache holds".
    pub does: String,
    /// Experiment whose methods are the possible answers.
    pub experiment: String,
    /// The method that most programs use.
    #[serde(rename = "obvious")]
    pub baseline: String,
    /// The worker that is asked unless languages are named.
    pub worker: String,
    /// The smallest size that the file of advice speaks of, such as `16KiB`.
    pub from: String,
    /// Largest size of the file of advice, such as `64MiB`.
    pub to: String,
    /// The size that is taken where none is named.
    pub bytes: String,
    /// True if its answer depends on the size at all.
    #[serde(default = "yes")]
    pub by_size: bool,
    /// True if the time grows with the bytes from `to` on: larger sizes are not measured, but told in proportion.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub proportional: bool,
    /// Seconds for one question, where they are not as many as usual.
    pub budget_s: Option<f64>,
    /// True if it stands in the file of advice.
    #[serde(default = "yes")]
    pub saved: bool,
    /// Fixed values of parameters, by key.
    pub set: BTreeMap<String, String>,
    /// Other cases that may have another answer, one after the other: `cache = ["cold"]`.
    pub also: BTreeMap<String, Vec<String>>,
    /// Parameter that counts the uses after a costly start; absent if there is no such start.
    pub uses: Option<Uses>,
    /// Facts whose values tell what a way costs elsewhere, with the words for them: `peak_rss_bytes = "resident memory"`.
    pub facts: BTreeMap<String, String>,
    /// The usual choice in languages besides that of `worker`: `go = "bufio"`.
    pub languages: BTreeMap<String, String>,
    /// Methods that may be the answer.
    pub ways: Vec<Way>,
}

/// The cost of using what is there already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uses {
    /// The phases of the first use, with everything that is done once.
    pub first: Vec<String>,
    /// The phase that each further use costs.
    pub again: String,
    /// Name of a further use, after a number: `passes`.
    #[serde(rename = "words")]
    pub noun: String,
}

/// One way.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Name of the method.
    pub method: String,
    /// Costs and needs that no figure here shows, in a sentence.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub costs: String,
    /// The method whose further uses cost what this one's do: a mapping that was touched once is like a populated one.
    pub again_as: Option<String>,
    /// True if it takes part only where its case is asked for at one size, and not in the file of advice.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub only_asked: bool,
}

fn yes() -> bool {
    true
}

impl Topic {
    /// Reads one file. An error names it.
    pub fn parse(path: &str, text: &str) -> Result<Topic> {
        let topic: Topic = toml::from_str(text).with_context(|| path.to_owned())?;
        let (from, to) = topic.range().with_context(|| path.to_owned())?;
        if from >= to && topic.by_size {
            bail!("{path}: from is not below to");
        }
        if topic.ways.is_empty() || topic.ways.iter().any(|w| w.method == topic.baseline) {
            bail!("{path}: ways are those besides the obvious one");
        }
        Ok(topic)
    }

    /// The smallest and the largest size of the file of advice, in bytes.
    pub fn range(&self) -> Result<(u64, u64)> {
        Ok((sizes::parse_size(&self.from)?, sizes::parse_size(&self.to)?))
    }

    /// Tells whether a way, named as METHOD or METHOD@WORKER, takes part only at one size ([`Way::only_asked`]).
    pub fn is_only_asked(&self, name: &str) -> bool {
        self.way(name.split('@').next().unwrap_or(name))
            .is_some_and(|way| way.only_asked)
    }

    /// Entry of a method; `None` if it is no answer.
    pub fn way(&self, method: &str) -> Option<&Way> {
        self.ways.iter().find(|way| way.method == method)
    }
}
