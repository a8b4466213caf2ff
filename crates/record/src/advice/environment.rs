//! Lines for the environment of programs that nobody changes, each with the paired check that it must pass here before it is
//! emitted. One file a line, `advice/environment/*.toml`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::summary::Estimate;

/// A line with its check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineCheck {
    /// Its name.
    pub name: String,
    /// What is put into a shell's script; `BYTES` stands for the size that `from` finds.
    pub line: String,
    /// The setting that the check tries, as `try --with` takes it.
    pub setting: String,
    /// Which programs it helps.
    pub helps: String,
    /// What it costs.
    pub costs: String,
    /// A size of the saved advice that the line rests on.
    #[serde(default)]
    pub from: Option<FromAdvice>,
    /// A library that is loaded before both sides of the check.
    #[serde(default)]
    pub preload: Option<String>,
    /// The program of the check, unless it is a worker with a method.
    #[serde(default)]
    pub command: Vec<String>,
    /// The experiment of the worker's method.
    #[serde(default)]
    pub experiment: String,
    /// The method, which the native worker does `rounds` times in one process.
    #[serde(default)]
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// How often.
    #[serde(default)]
    pub rounds: usize,
}

/// The smallest size from which a way is advised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FromAdvice {
    /// The question.
    pub question: String,
    /// The way.
    pub way: String,
}

impl LineCheck {
    /// Reads one file. An error names it.
    pub fn parse(path: &str, text: &str) -> Result<LineCheck> {
        let check: LineCheck = toml::from_str(text).with_context(|| path.to_owned())?;
        if check.command.is_empty() == check.method.is_empty() || !check.method.is_empty() && check.rounds == 0 {
            bail!("{path}: a check has either a command or a method with its rounds");
        }
        Ok(check)
    }

    /// The same with a size in place of `BYTES`.
    pub fn with_bytes(&self, bytes: u64) -> LineCheck {
        let put = |text: &String| text.replace("BYTES", &bytes.to_string());
        // What is measured is copied twice the size at least, well beyond the threshold.
        let set = self.set.iter().map(|(k, v)| (k.clone(), v.replace("BYTES", &(bytes * 2).to_string()))).collect();
        LineCheck { line: put(&self.line), setting: put(&self.setting), set, ..self.clone() }
    }
}

/// A line after its check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckedLine {
    /// The line's name.
    pub name: String,
    /// What is emitted.
    pub line: String,
    /// The setting, as `try --with` takes it.
    pub setting: String,
    /// Which programs it helps.
    pub helps: String,
    /// What it costs.
    pub costs: String,
    /// What was run with and without it.
    pub program: String,
    /// Wall time with it relative to that without.
    pub ratio: Option<Estimate>,
    /// Whether it is shown to gain, so that it is emitted.
    pub gains: bool,
    /// Why it is not, in words.
    pub why: String,
    /// The try that says so.
    pub run: String,
}
