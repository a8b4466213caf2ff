//! Shared run: the one file of a run that its user hands to others. The types are an allow-list: whatever they do not name is not
//! in the file. They have no field for a host, a user, a path, a command or an address, and free text has few characters.
//!
//! A file is sealed JSON in gzip, because every browser unpacks gzip by itself. Readers trust nothing: [`SharedRun::open`] refuses
//! what [`SharedRun::packed`] would not have written.

use crate::experiment::{Experiment, Parameter};
use crate::folder::{one_a_line, opened_json, sealed_json};
use crate::json::{FromJson, ToJson};
use crate::machine_state::STATE;
use crate::method::Role;
use crate::outcome::Status;
use crate::parameters::Parameters;
use crate::summary::Verdict;
use anyhow::{Context, Result, ensure};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};
use stats::estimate::Ratio;
use std::collections::BTreeSet;
use std::io::{Read, Write};

crate::read_from_json!(SharedRun);
crate::written_to_json!(SharedRun);

/// Version of [`SharedRun`].
pub const SHARED_SCHEMA: u32 = 1;
/// End of a shared file's name.
pub const SHARED_END: &str = ".json.gz";
/// Bytes that a shared file may have.
pub const MOST_PACKED: u64 = 150_000;
/// Bytes of JSON that one may hold.
const MOST_UNPACKED: u64 = 2 << 20;
/// Text that the seal covers besides the file, so that no other sealed file passes for one.
const COVER: &str = "pagewise shared run";
/// Questions of a run, methods of a question, and launches of a method that a file may hold.
pub const MOST: [usize; 3] = [500, 100, 200];
/// Significant digits of a cost.
const DIGITS: usize = 5;

/// One run as it is shared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedRun {
    /// Version of this shape, raised when a reader of the old one would misread the new one.
    pub schema: u32,
    /// Version of Pagewise that measured.
    pub version: String,
    /// Day of the run in UTC: `2026-11-29`.
    pub day: String,
    /// The machine.
    pub machine: SharedMachine,
    /// True if it is the overview.
    pub overview: bool,
    /// Seconds that the run took.
    pub elapsed_s: f64,
    /// Differences below this share are called within the margin.
    pub margin: f64,
    /// Calibration of its intervals.
    pub controls: SharedControls,
    /// Comparison groups, in the order of the run.
    pub questions: Vec<SharedQuestion>,
}

/// Facts of a machine that bear on the cost of memory and name nobody.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedMachine {
    /// Model of the processor, in letters, digits, spaces and `()@.+-`.
    pub cpu: String,
    /// Maker of the processor.
    pub vendor: Vendor,
    /// Family and model number of the processor, which tell apart those that a hypervisor gives one name; absent in files of
    /// older versions and where no numbers are known.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub family_and_model: Option<[u64; 2]>,
    /// `x86_64`, `aarch64` or `other`.
    pub architecture: String,
    /// CPUs in use, and how many of them the run could use.
    pub cpus: [u64; 2],
    /// Caches of the first CPU, the nearest first.
    pub caches: Vec<SharedCache>,
    /// Largest working set that was seen to be read from the caches, in bytes.
    pub cache_reach_bytes: Option<u64>,
    /// Version of the kernel, in digits: `6.18.44`.
    pub kernel: String,
    /// True for a virtual machine; absent if nothing says so.
    pub is_virtual: Option<bool>,
    /// Name of the hypervisor, if it is a known one.
    pub hypervisor: Option<String>,
    /// Memory in GiB, to the nearest whole number.
    pub memory_gib: u64,
    /// NUMA nodes.
    pub nodes: usize,
    /// Size of a page in bytes.
    pub page_bytes: u64,
    /// Rule for transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// Effort of a fault to make a huge page.
    pub thp_defrag: Option<String>,
    /// Governor of the frequency, if it is a known one.
    pub governor: Option<String>,
    /// True if the machine has swap.
    pub has_swap: bool,
    /// True if free pages go back to the host.
    pub reports_free_pages: bool,
}

/// Maker of a processor.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::IntoStaticStr,
)]
#[allow(missing_docs, reason = "the names are those of the makers")]
pub enum Vendor {
    AMD,
    Ampere,
    Apple,
    Arm,
    Fujitsu,
    HiSilicon,
    IBM,
    Intel,
    #[default]
    Other,
}

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedCache {
    /// 1 is the nearest.
    pub level: u64,
    /// True for a cache of instructions alone.
    pub instructions: bool,
    /// Size in bytes.
    pub size_bytes: u64,
    /// CPUs that share it.
    pub shared_by: u64,
}

/// The A/A checks of a run together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedControls {
    /// Checks that were pooled.
    pub checks: usize,
    /// Spread of their z-scores; 1 where intervals are as wide as they should be.
    pub spread: Option<f64>,
    /// The factor by which all intervals were widened.
    pub widened: f64,
}

/// One comparison group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedQuestion {
    /// Name of a built-in experiment.
    pub experiment: String,
    /// The parameters that all its methods share, sizes in plain bytes.
    pub parameters: Parameters,
    /// The phase or total that is compared.
    pub phase: String,
    /// Unit of work.
    pub unit: String,
    /// The usual choice, as an index into `methods`.
    pub baseline: Option<usize>,
    /// The usual choice against its hidden duplicate.
    pub control: Option<SharedControl>,
    /// The answer.
    pub answer: SharedAnswer,
    /// Its methods, fastest first.
    pub methods: Vec<SharedMethod>,
}

/// An A/A check.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedControl {
    /// The duplicate relative to the usual choice.
    #[serde(flatten)]
    pub ratio: SharedRatio,
    /// True if it is too far off to be chance.
    pub differs: bool,
    /// True if its interval is so wide that it excludes little.
    pub weak: bool,
}

/// A ratio of costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedRatio {
    /// The estimate.
    pub ratio: f64,
    /// Lower bound at 95 %.
    pub low: f64,
    /// Upper bound at 95 %.
    pub high: f64,
    /// Launches that it rests on.
    pub launches: usize,
}

/// Answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedAnswer {
    /// Kind of answer.
    pub word: AnswerWord,
    /// The method that it is about, as an index into `methods`.
    pub method: Option<usize>,
}

/// Kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerWord {
    /// Take the method.
    Use,
    /// Keep the usual choice.
    Keep,
    /// Another condition contradicts the answer.
    Depends,
    /// No method is shown to be faster, but one may be.
    Inconclusive,
    /// There is nothing to say.
    Nothing,
}

/// One method of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SharedMethod {
    /// Name of a built-in method.
    pub method: String,
    /// Built-in worker; `a+b` for two sides.
    pub worker: String,
    /// Part of the method in its group.
    pub role: Role,
    /// True if it is ranked with the usual choice.
    pub ranked: bool,
    /// Settings of the method alone, by key.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub options: Parameters,
    /// Outcome.
    pub status: Status,
    /// Laws that were checked, counted by samples.
    pub laws_checked: u64,
    /// Samples that broke one.
    pub laws_broken: u64,
    /// Wall time of a unit in nanoseconds: the median launch.
    pub per_unit_ns: Option<f64>,
    /// The same of each launch.
    pub launches_ns: Vec<f64>,
    /// Cost relative to the usual choice.
    pub ratio: Option<SharedRatio>,
    /// Verdict among all comparisons of the run.
    pub verdict: SharedVerdict,
}

/// Verdict on a ratio.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SharedVerdict {
    /// The whole interval is below the margin.
    Faster,
    /// The whole interval is within the margin.
    Within,
    /// The whole interval is above the margin.
    Slower,
    /// No verdict.
    Open,
}

impl From<Verdict> for SharedVerdict {
    fn from(verdict: Verdict) -> SharedVerdict {
        match verdict {
            Verdict::Faster { .. } => SharedVerdict::Faster,
            Verdict::Within { .. } => SharedVerdict::Within,
            Verdict::Slower { .. } => SharedVerdict::Slower,
            Verdict::NotSettled => SharedVerdict::Open,
        }
    }
}

/// Names that a shared run may have: those that the program carries, and none of the user's own.
#[derive(Clone, Debug, Default)]
pub struct BuiltIn {
    /// Experiments.
    pub experiments: Vec<Experiment>,
    /// Methods with their experiment: `fault/touch`.
    pub methods: BTreeSet<String>,
    /// States of the machine, the plain one among them.
    pub states: BTreeSet<String>,
}

/// Words that begin the names of built-in workers.
const LANGUAGES: [&str; 5] = ["c", "go", "java", "python", "rust"];

impl BuiltIn {
    /// Experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// Tells whether a method of a worker is carried.
    pub fn has(&self, experiment: &str, method: &str, worker: &str) -> bool {
        self.methods.contains(&format!("{experiment}/{method}"))
            && worker.split('+').all(is_built_in_worker)
    }

    /// Tells whether a value may be shared: a number, or one that the experiment's file has.
    pub fn has_value(&self, experiment: &Experiment, key: &str, value: &str) -> bool {
        if key == STATE {
            return self.states.contains(value);
        }
        let known = |parameter: &Parameter| {
            let lists = [&parameter.values, &parameter.default, &parameter.look];
            lists.iter().any(|list| list.iter().any(|v| v == value))
        };
        let number = value.strip_prefix("high:").unwrap_or(value);
        is_plain(key, "_")
            && is_plain(value, ":_")
            && (number.chars().all(|c| c.is_ascii_digit())
                || experiment.parameters.get(key).is_some_and(known)
                || experiment
                    .parameters
                    .values()
                    .any(|parameter| parameter.option && known(parameter)))
    }
}

/// True for a language, with a version or a level of optimization: `c-O3`, `java-25`.
fn is_built_in_worker(name: &str) -> bool {
    let (language, version) = name.split_once('-').unwrap_or((name, ""));
    let digits = version.strip_prefix('O').unwrap_or(version);
    LANGUAGES.contains(&language)
        && version.len() <= 8
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
}

impl SharedMethod {
    /// `mmap@c-O3`.
    pub fn name(&self) -> String {
        format!("{}@{}", self.method, self.worker)
    }
}

impl SharedQuestion {
    /// The usual choice.
    pub fn usual(&self) -> Option<&SharedMethod> {
        self.methods.get(self.baseline?)
    }
}

impl SharedRun {
    /// The file.
    /// Errors: it would have more bytes than a shared file may have.
    pub fn packed(&self) -> Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(self.text()?.as_bytes())?;
        let packed = encoder.finish()?;
        ensure!(
            packed.len() as u64 <= MOST_PACKED,
            "this run would make a file of {} bytes, and a shared file has at most {MOST_PACKED}",
            packed.len()
        );
        Ok(packed)
    }

    /// Its sealed JSON.
    pub fn text(&self) -> Result<String> {
        Ok(sealed_json(COVER, &one_a_line(&self.to_json()?)?))
    }

    /// Reads a file that anybody may have written.
    /// Errors: a sentence without the file's name: too long, no gzip, a broken seal, another shape, text that no file of ours has.
    pub fn open(packed: &[u8]) -> Result<SharedRun> {
        ensure!(
            packed.len() as u64 <= MOST_PACKED,
            "it has more than {MOST_PACKED} bytes"
        );
        let mut text = Vec::new();
        let mut decoder = GzDecoder::new(packed);
        decoder
            .by_ref()
            .take(MOST_UNPACKED + 1)
            .read_to_end(&mut text)
            .ok()
            .context("it is no whole gzip file")?;
        ensure!(
            text.len() as u64 <= MOST_UNPACKED,
            "it unpacks to more than {MOST_UNPACKED} bytes"
        );
        ensure!(
            decoder.into_inner().is_empty(),
            "something follows its gzip data"
        );
        let mut sealed = text.clone();
        let json = opened_json(COVER, &mut sealed)
            .context("its seal is broken: it was changed, or is no shared run")?;
        let schema = serde_json::from_slice::<Schema>(json).map_or(0, |shape| shape.schema);
        ensure!(
            schema == SHARED_SCHEMA,
            "it has schema {schema}, and this version reads {SHARED_SCHEMA}"
        );
        let run = SharedRun::from_json(json).context("it has another shape than a shared run")?;
        run.check_shape()?;
        // A field that no type names, or a number that was written otherwise, is not in the same text.
        ensure!(
            run.text()?.as_bytes() == text,
            "it has fields that a shared run does not have"
        );
        Ok(run)
    }

    /// Refuses texts and numbers that no shared run of ours has.
    fn check_shape(&self) -> Result<()> {
        ensure!(is_plain(&self.version, "+"), "its version is none");
        ensure!(is_day(&self.day), "its day is none");
        self.machine.check()?;
        let seconds = [self.elapsed_s, self.margin, self.controls.widened];
        let spread = self.controls.spread.unwrap_or(1.0);
        ensure!(
            seconds
                .iter()
                .chain([&spread])
                .all(|number| (0.0..1e9).contains(number)),
            "a number of its run is out of range"
        );
        let [questions, ..] = MOST;
        ensure!(
            self.questions.len() <= questions,
            "it has more than {questions} questions"
        );
        self.questions.iter().try_for_each(SharedQuestion::check)
    }
}

#[derive(Deserialize)]
struct Schema {
    schema: u32,
}

impl SharedMachine {
    /// Name of the processor with its numbers: `AMD EPYC (family 25, model 17)`.
    pub fn processor(&self) -> String {
        match self.family_and_model {
            Some([family, model]) => format!("{} (family {family}, model {model})", self.cpu),
            None => self.cpu.clone(),
        }
    }

    fn check(&self) -> Result<()> {
        let names = [&self.architecture, &self.kernel].into_iter();
        let optional = [
            &self.hypervisor,
            &self.thp,
            &self.thp_defrag,
            &self.governor,
        ];
        let mut names = names.chain(optional.into_iter().flatten());
        ensure!(
            self.cpu == plain_model(&self.cpu) && names.all(|name| is_plain(name, "+_")),
            "a fact of its machine has characters that none has"
        );
        let most = u64::from(u32::MAX);
        let numbers = self.family_and_model.unwrap_or_default();
        let counts = [self.nodes as u64, self.memory_gib];
        let mut counts = counts.iter().chain(&self.cpus).chain(&numbers);
        ensure!(
            counts.all(|count| *count <= most) && self.caches.len() <= 16,
            "a number of its machine is out of range"
        );
        Ok(())
    }
}

impl SharedQuestion {
    fn check(&self) -> Result<()> {
        let [_, methods, launches] = MOST;
        let texts = [&self.experiment, &self.phase].into_iter();
        let methods_texts = self.methods.iter().flat_map(|m| [&m.method, &m.worker]);
        let options = self.methods.iter().flat_map(|m| &m.options);
        let parameters = self.parameters.iter().chain(options);
        let parameters = parameters.flat_map(|(key, value)| [key, value]);
        ensure!(
            texts
                .chain(methods_texts)
                .chain(parameters)
                .all(|text| is_plain(text, "+:_"))
                && is_plain(&self.unit, " "),
            "a name of its questions has characters that none has"
        );
        ensure!(
            self.methods.len() <= methods
                && self.parameters.len() <= methods
                && self.methods.iter().all(|m| m.launches_ns.len() <= launches)
                && self.methods.iter().all(|m| m.options.len() <= methods),
            "a question has more methods or launches than a shared run holds"
        );
        let mut indices = [self.baseline, self.answer.method].into_iter().flatten();
        ensure!(
            indices.all(|index| index < self.methods.len()),
            "a question names a method that it does not have"
        );
        let ratios = self.methods.iter().filter_map(|m| m.ratio);
        let mut ratios = ratios.chain(self.control.map(|control| control.ratio));
        ensure!(
            ratios.all(|ratio| ratio.is_ordered()),
            "an interval of its questions is none"
        );
        let costs = self.methods.iter();
        let mut costs = costs.flat_map(|m| m.launches_ns.iter().copied().chain(m.per_unit_ns));
        ensure!(
            costs.all(|ns| (0.0..1e15).contains(&ns)),
            "a cost of its questions is out of range"
        );
        Ok(())
    }
}

impl SharedRatio {
    /// The same as a ratio of the laboratory's, whose error is not known.
    pub fn as_ratio(&self) -> Ratio {
        Ratio {
            ratio: self.ratio,
            low: self.low,
            high: self.high,
            level: 0.95,
            launches: self.launches,
            error: 0.0,
            freedom: 0.0,
            drift: None,
        }
    }

    fn is_ordered(&self) -> bool {
        self.low > 0.0
            && self.low <= self.ratio
            && self.ratio <= self.high
            && self.high < 1e12
            && (1..10_000_000).contains(&self.launches)
    }
}

/// Version of a kernel without what somebody called it: `6.18.44` of `6.18.44-fc-v669`.
pub fn plain_release(release: &str) -> String {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.');
    let digits = &release[..end.unwrap_or(release.len())];
    let version = digits.trim_matches('.');
    if version.is_empty() || version.len() > 16 {
        "unknown".to_owned()
    } else {
        version.to_owned()
    }
}

/// True for a short text of letters, digits, dots, hyphens and these further characters.
fn is_plain(text: &str, further: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c) || further.contains(c);
    (1..=40).contains(&text.len()) && text.chars().all(fits)
}

/// True for `2026-11-29`.
fn is_day(text: &str) -> bool {
    let form = |(at, c): (usize, char)| {
        if at == 4 || at == 7 {
            c == '-'
        } else {
            c.is_ascii_digit()
        }
    };
    text.len() == 10 && text.chars().enumerate().all(form)
}

/// Model of a processor without characters that no model has.
pub fn plain_model(model: &str) -> String {
    let kept = |c: &char| c.is_ascii_alphanumeric() || " ()@.+-".contains(*c);
    let model: String = model.chars().filter(kept).take(64).collect();
    let parts: Vec<&str> = model.split_whitespace().collect();
    parts.join(" ")
}

/// A cost with the digits that a shared file has.
pub fn short(value: f64) -> f64 {
    let digits = DIGITS - 1;
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_and_a_model_keep_what_names_nobody() {
        assert_eq!(plain_release("6.18.44-fc-v669"), "6.18.44");
        assert_eq!(plain_release("6.8.0.alice+"), "6.8.0");
        assert_eq!(plain_release("alice"), "unknown");
        let model = "Intel(R)  Xeon(R) CPU @ 2.20GHz\n/home/x \u{202e}";
        assert_eq!(plain_model(model), "Intel(R) Xeon(R) CPU @ 2.20GHzhomex");
    }

    #[test]
    fn workers_of_the_user_are_not_built_in() {
        let known = ["c-O3", "go", "java-25", "python-3.12", "rust"];
        assert!(known.iter().all(|name| is_built_in_worker(name)));
        let unknown = ["c-alice", "mine", "c-O3x", "/bin/c", "", "java-1234567890"];
        assert!(!unknown.iter().any(|name| is_built_in_worker(name)));
    }
}
