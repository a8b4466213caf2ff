//! The folder in which a try is kept: its plan, its runs line by line as they end, and what came out.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use record::trial::{KIND, TRIAL_SCHEMA, TrialPlan, TrialSummary, TriedRun};
use serde::Serialize;
use serde_json::Value;

const RUNS: &str = "runs.jsonl";

/// A kept try.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
}

impl Kept {
    /// Makes the folder and writes the plan into it.
    pub fn create(path: &Path, plan: &TrialPlan) -> Result<Kept> {
        if path.exists() && fs::read_dir(path).with_context(|| cannot("read", path))?.next().is_some() {
            bail!("{} is not empty; a try needs a folder of its own", path.display());
        }
        fs::create_dir_all(path).with_context(|| cannot("make", path))?;
        let kept = Kept { path: fs::canonicalize(path).with_context(|| cannot("read", path))? };
        kept.write("plan.json", plan)?;
        Ok(kept)
    }

    /// The try of this name or path; `None` where it is something else or nothing.
    pub fn open(name: &str, below: &Path) -> Option<Kept> {
        let direct = PathBuf::from(name);
        let path = if direct.join("plan.json").is_file() { direct } else { below.join(name) };
        let text = fs::read_to_string(path.join("plan.json")).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        (value.get("kind")? == KIND).then_some(Kept { path })
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was planned, if it is of this schema.
    pub fn plan(&self) -> Result<TrialPlan> {
        let path = self.path.join("plan.json");
        let text = fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        let plan: TrialPlan = serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
        if plan.schema != TRIAL_SCHEMA {
            bail!("{} has schema {}, but this Pagewise reads {TRIAL_SCHEMA}", path.display(), plan.schema);
        }
        Ok(plan)
    }

    /// All runs so far. A last line that was cut short by a kill is left out.
    pub fn runs(&self) -> Result<Vec<TriedRun>> {
        let path = self.path.join(RUNS);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let mut runs = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(run) => runs.push(run),
                Err(_) if i + 1 == lines.len() && !text.ends_with('\n') => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("{} line {} is damaged", path.display(), i + 1));
                }
            }
        }
        Ok(runs)
    }

    /// Adds a run that has ended.
    pub fn append(&self, run: &TriedRun) -> Result<()> {
        let path = self.path.join(RUNS);
        let line = serde_json::to_string(run)? + "\n";
        let mut file =
            OpenOptions::new().append(true).create(true).open(&path).with_context(|| cannot("write", &path))?;
        file.write_all(line.as_bytes()).with_context(|| cannot("write", &path))
    }

    /// Writes what came out.
    pub fn finish(&self, summary: &TrialSummary) -> Result<()> {
        self.write("summary.json", summary)
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let (path, part) = (self.path.join(name), self.path.join(format!(".{name}.part")));
        let text = serde_json::to_string_pretty(value)? + "\n";
        fs::write(&part, text).and_then(|()| fs::rename(&part, &path)).with_context(|| cannot("write", &path))
    }
}

fn cannot(what: &str, path: &Path) -> String {
    format!("cannot {what} {}", path.display())
}
