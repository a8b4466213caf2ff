//! A folder in which work on somebody's own program is kept: its plan, its runs line by line as they end, and what came out.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

const RUNS: &str = "runs.jsonl";
/// The page of what came out.
pub const PAGE: &str = "report.html";

/// A kept folder of one kind.
#[derive(Debug)]
pub struct KeptFolder {
    path: PathBuf,
}

impl KeptFolder {
    /// Makes the folder and writes the plan into it.
    pub fn create(path: &Path, plan: &impl Serialize, what: &str) -> Result<KeptFolder> {
        if path.exists() && fs::read_dir(path).with_context(|| cannot("read", path))?.next().is_some() {
            bail!("{} is not empty; a {what} needs a folder of its own", path.display());
        }
        fs::create_dir_all(path).with_context(|| cannot("make", path))?;
        let kept = KeptFolder { path: fs::canonicalize(path).with_context(|| cannot("read", path))? };
        kept.write("plan.json", plan)?;
        Ok(kept)
    }

    /// The folder of this name or path; `None` where it is of another kind or nothing.
    pub fn open(name: &str, below: &Path, kind: &str) -> Option<KeptFolder> {
        let direct = PathBuf::from(name);
        let path = if direct.join("plan.json").is_file() { direct } else { below.join(name) };
        let value: Value = serde_json::from_slice(&record::folder::bytes(&path.join("plan.json")).ok()?).ok()?;
        (value.get("kind")? == kind).then_some(KeptFolder { path })
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was planned, if it is of this schema.
    pub fn plan<P: DeserializeOwned>(&self, schema: u32) -> Result<P> {
        let path = self.path.join("plan.json");
        let text = fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        let damaged = || format!("{} is damaged", path.display());
        let value: Value = serde_json::from_str(&text).with_context(damaged)?;
        let found = value.get("schema").and_then(Value::as_u64);
        if found != Some(u64::from(schema)) {
            let found = found.map_or_else(|| "no schema".to_owned(), |n| format!("schema {n}"));
            bail!("{} has {found}, but this Pagewise reads {schema}", path.display());
        }
        serde_json::from_value(value).with_context(damaged)
    }

    /// All runs so far. A last line that was cut short by a kill is left out.
    pub fn runs<R: DeserializeOwned>(&self) -> Result<Vec<R>> {
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

    /// Adds a run that has ended. What a kill left of a line before is taken away first.
    pub fn append(&self, run: &impl Serialize) -> Result<()> {
        let path = self.path.join(RUNS);
        let line = serde_json::to_string(run)? + "\n";
        if let Ok(text) = fs::read(&path)
            && text.last().is_some_and(|b| *b != b'\n')
        {
            let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let file = OpenOptions::new().write(true).open(&path).with_context(|| cannot("write", &path))?;
            file.set_len(whole as u64).with_context(|| cannot("write", &path))?;
        }
        let mut file =
            OpenOptions::new().append(true).create(true).open(&path).with_context(|| cannot("write", &path))?;
        file.write_all(line.as_bytes()).with_context(|| cannot("write", &path))
    }

    /// Writes what came out.
    pub fn finish(&self, summary: &impl Serialize) -> Result<()> {
        self.write("summary.json", summary)
    }

    /// Writes a text beside them.
    pub fn write_text(&self, name: &str, text: &str) -> Result<()> {
        let (path, part) = (self.path.join(name), self.path.join(format!(".{name}.part")));
        fs::write(&part, text).and_then(|()| fs::rename(&part, &path)).with_context(|| cannot("write", &path))
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write_text(name, &(serde_json::to_string_pretty(value)? + "\n"))
    }
}

fn cannot(what: &str, path: &Path) -> String {
    format!("cannot {what} {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_a_kill_cut_short_is_replaced() {
        let place = tempfile::tempdir().unwrap();
        let kept = KeptFolder::create(&place.path().join("a"), &serde_json::json!({"schema": 1}), "try").unwrap();
        kept.append(&1).unwrap();
        let path = kept.path().join(RUNS);
        let mut text = fs::read_to_string(&path).unwrap();
        text += "[2, 3";
        fs::write(&path, text).unwrap();
        assert_eq!(kept.runs::<u32>().unwrap(), [1]);
        kept.append(&4).unwrap();
        assert_eq!(kept.runs::<u32>().unwrap(), [1, 4]);
        assert!(kept.plan::<Value>(2).unwrap_err().to_string().contains("schema 1"));
    }
}
