//! Claims: what somebody said about the cost of memory, and the cells of ours that test it. One file a claim,
//! `claims/*.toml`; docs/claims-format.md explains every key.

mod answer;
mod parse;

use crate::sizes::BYTES;
use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};
use std::collections::BTreeMap;

pub use answer::{
    ANSWERS_SCHEMA, Answer, AnswerChange, Answers, Band, ClaimPoint, Counter, Difference,
    DifferencePart, JobAnswer, NoVerdict, ResolvedClaim, ResolvedJob, Word,
};

/// One claim.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The word by which it is asked for, such as `P5-a`.
    pub id: String,
    /// Claim in one sentence.
    pub statement: String,
    /// Form of the figure that decides.
    pub kind: ClaimKind,
    /// Words that it is found by, such as `mmap`.
    pub about: Vec<String>,
    /// The published article that it belongs to, such as `P5`.
    pub table: Option<String>,
    /// Circumstance that a reader of the claim may overlook; shown after `beware`.
    pub confuses: Option<String>,
    /// Reason why no machine can answer it with what Pagewise has; there are no jobs then.
    pub missing: Option<String>,
    /// Place where the claim was made.
    pub source: Source,
    /// Range of the figure in which the claim holds; absent where the kind's own range is used.
    pub holds: Option<Holds>,
    /// The comparison as a careful engineer would make it.
    pub corrected: Option<Job>,
    /// The comparison as it was made for the claim, with its flaws, where that is another one.
    pub published: Option<Job>,
}

/// Kind of figure that answers a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ClaimKind {
    /// The cost of one way divided by another's.
    Ratio,
    /// The size from which one way is cheaper than another.
    Crossover,
    /// A cost with a unit, compared with nothing.
    Absolute,
}

/// Source: author and place.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Title of the publication.
    pub title: String,
    /// Author or authors.
    pub author: String,
    /// Year of publication, if it is known.
    pub year: Option<u16>,
    /// URL, DOI or book reference, if there is one.
    pub address: Option<String>,
    /// Reason for a missing address.
    pub unlocated: Option<String>,
    /// Machine of the published figure, if it is named.
    pub machine: Option<String>,
    /// Kernel of the published figure, if it is named.
    pub kernel: Option<String>,
    /// State of program and machine of which it was said.
    pub condition: Option<String>,
    /// The published figure in its own words.
    pub figure: String,
    /// Published figure as a ratio, if it is one.
    pub ratio: Option<f64>,
    /// When it was read, as 2026-11-21.
    pub read: String,
}

/// A number, or a size with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Edge {
    /// A ratio, or a cost in the unit of `per`.
    Number(f64),
    /// Such as `32KiB`.
    Size(String),
}

/// The figures with which a claim holds. A range without a low or a high edge is open there.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holds {
    /// Lower edge; absent where any lower figure holds.
    pub low: Option<Edge>,
    /// Upper edge; absent where any higher figure holds.
    pub high: Option<Edge>,
    /// Of an absolute claim: what was said; half of it and twice it are the edges where none are given.
    pub value: Option<f64>,
    /// Of an absolute claim: what the cost is divided by.
    pub per: Option<Per>,
    /// Of a crossover: the parameter that decides; `bytes` where left out.
    pub parameter: Option<String>,
    /// Of a crossover: its values to measure at; both edges and what lies around them where left out.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub sizes: Vec<String>,
}

/// Divisor of an absolute cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// The experiment's own unit.
    Unit,
    /// One sample.
    Sample,
    /// The cell's parameter `bytes`.
    Byte,
    /// The same in pages of this machine.
    Page,
    /// One GiB.
    Gib,
}

impl Per {
    /// As it stands behind a figure: `a page`.
    pub fn label(self) -> &'static str {
        match self {
            Per::Unit => "each",
            Per::Sample => "in all",
            Per::Byte => "a byte",
            Per::Page => "a page",
            Per::Gib => "a GiB",
        }
    }
}

/// Compared cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Wall time in nanoseconds.
    #[default]
    Wall,
    /// CPU time of all sides and threads in nanoseconds.
    Cpu,
    /// Minor page faults.
    Faults,
    /// Scatter of wall time over launches: the mean distance of the logarithms from their median.
    Spread,
    /// The p99 of single operations of a launch, in nanoseconds.
    #[serde(rename = "p99")]
    P99,
    /// The p99.9 of single operations of a launch, in nanoseconds.
    #[serde(rename = "p99.9")]
    Tail,
}

impl Of {
    /// Label of the figure in a table.
    pub fn label(self) -> &'static str {
        match self {
            Of::Wall => "wall time",
            Of::Cpu => "CPU time",
            Of::Faults => "minor faults",
            Of::Spread => "spread of wall time",
            Of::P99 => "p99 of single operations",
            Of::Tail => "p99.9 of single operations",
        }
    }
}

/// One comparison: the cost of `way` divided by the cost of `other`.
#[skip_serializing_none]
#[apply(BTreeMap => #[serde(default, skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the experiment.
    pub experiment: String,
    /// The way that the statement is about: `METHOD[@WORKER]`.
    pub way: String,
    /// Cell that it is compared with; an absolute claim has none.
    pub other: Option<String>,
    /// Phase or total; the experiment's headline where left out.
    pub total: Option<String>,
    /// The other's phase or total, where that is another one.
    pub other_total: Option<String>,
    /// Figure that is compared.
    #[serde(default, rename = "of", skip_serializing_if = "crate::is_default")]
    pub cost: Of,
    /// Instead: a recorded fact, such as `memory_bytes`.
    pub fact: Option<String>,
    /// Parameters of both; the first default of the experiment where nothing is said.
    pub set: BTreeMap<String, String>,
    /// Values of parameters of the praised method alone.
    pub way_set: BTreeMap<String, String>,
    /// Values of parameters of the other method alone.
    pub other_set: BTreeMap<String, String>,
}

impl Claim {
    /// Its comparisons with their names, the corrected one first.
    pub fn jobs(&self) -> impl Iterator<Item = (&'static str, &Job)> {
        let corrected = self.corrected.iter().map(|job| (CORRECTED, job));
        corrected.chain(self.published.iter().map(|job| (AS_PUBLISHED, job)))
    }

    /// Tells whether a word of the user's stands for it: an id, or with `about` one of its words.
    pub fn is_about(&self, word: &str) -> bool {
        let same = |id: &String| id.eq_ignore_ascii_case(word);
        self.about.iter().any(same)
            || self.jobs().any(|(_, job)| same(&job.experiment))
            || self.mentions(word)
    }

    /// Tells whether its sentences, its source or its methods have words that begin so: `posix_spawn` and `posix-spawn` are one.
    fn mentions(&self, phrase: &str) -> bool {
        let plain = |text: &str| text.to_lowercase().replace('_', "-");
        let phrase = plain(phrase);
        let source = &self.source;
        let mut texts = vec![
            plain(&self.id),
            plain(&self.statement),
            plain(&source.title),
            plain(&source.author),
        ];
        texts.extend(self.confuses.as_deref().map(plain));
        for (_, job) in self.jobs() {
            texts.push(plain(&job.way));
            texts.extend(job.other.as_deref().map(plain));
        }
        let is_in = |text: &String, word: &str| {
            text.match_indices(word)
                .any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
        };
        let mut phrase_words = phrase.split_whitespace().peekable();
        phrase_words.peek().is_some()
            && phrase_words.all(|word| texts.iter().any(|text| is_in(text, word)))
    }
}

/// Name of the comparison that a good engineer would make.
pub const CORRECTED: &str = "corrected";
/// Name of the comparison with the original's flaws.
pub const AS_PUBLISHED: &str = "as published";

impl Edge {
    /// As a number; sizes in bytes.
    pub fn number(&self) -> Option<f64> {
        match self {
            Edge::Number(value) => Some(*value),
            Edge::Size(text) => crate::sizes::parse_size(text)
                .ok()
                .map(|bytes| bytes as f64),
        }
    }
}

impl Holds {
    /// Both edges as numbers; infinite where the range is open.
    pub fn edges(&self) -> (Option<f64>, Option<f64>) {
        let open = |times: f64| self.value.map(|value| value * times);
        let edge = |edge: &Option<Edge>, times: f64| {
            edge.as_ref().map_or_else(|| open(times), Edge::number)
        };
        (edge(&self.low, 0.5), edge(&self.high, 2.0))
    }

    /// Parameter that varies in a crossover; `bytes` unless the job names another.
    pub fn parameter(&self) -> &str {
        self.parameter.as_deref().unwrap_or(BYTES)
    }

    /// The values of a crossover, ascending: the file's, or both edges, those between, an eighth and eight times.
    pub fn points(&self) -> Vec<u64> {
        let mut points: Vec<u64> = match (self.sizes.is_empty(), self.edges()) {
            (false, _) => self
                .sizes
                .iter()
                .filter_map(|s| crate::sizes::parse_size(s).ok())
                .collect(),
            (true, (Some(low), Some(high))) => {
                let between = (low * high).sqrt();
                let power_of_two =
                    |value: f64| 1_u64 << (value.log2().round() as u32).clamp(12, 62);
                [low / 8.0, low, between, high, high * 8.0]
                    .map(power_of_two)
                    .to_vec()
            }
            _ => Vec::new(),
        };
        points.sort_unstable();
        points.dedup();
        points
    }
}
