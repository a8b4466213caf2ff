//! The run folder: what was planned, where, what was asked and answered, and what came out. Written as it happens.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::launches::{LaunchRecord, SideRecord};
use crate::plan::{Plan, SCHEMA};
use crate::state::State;
use crate::transcript::{Read as Transcripts, Transcript};

/// The file of the launches.
const LAUNCHES: &str = "launches.jsonl";
/// The file of the decisions.
const DECISIONS: &str = "decisions.jsonl";

/// An open run folder.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
}

impl RunFolder {
    /// Makes the folder. Where something stands there already, or it cannot be written, nothing is changed.
    pub fn create(path: &Path) -> Result<RunFolder> {
        if path.exists() && fs::read_dir(path).with_context(|| cannot("read", path))?.next().is_some() {
            bail!("{} is not empty; a run needs a folder of its own", path.display());
        }
        let made: Vec<PathBuf> =
            path.ancestors().take_while(|p| !p.as_os_str().is_empty() && !p.exists()).map(Path::to_owned).collect();
        let result = fs::create_dir_all(path).with_context(|| cannot("make", path));
        let result = result.and_then(|()| fs::canonicalize(path).with_context(|| cannot("read", path)));
        let folder = RunFolder { path: result.as_ref().map_or_else(|_| path.to_owned(), Clone::clone), made };
        let tried = result.and_then(|_| folder.write_text("plan.json", "").with_context(|| cannot("write into", path)));
        match tried {
            Ok(()) => Ok(folder),
            Err(error) => {
                folder.discard();
                Err(error)
            }
        }
    }

    /// Takes back a run that has not brought anything: its files, and the folders that were made for it.
    pub fn discard(&self) {
        let ours = |name: &str| {
            let launch = [".request", ".transcript", ".messages"].iter().any(|end| name.ends_with(end));
            launch
                || ["plan.json", "environment.json", LAUNCHES, DECISIONS, "preflight.json", "summary.json"]
                    .contains(&name)
        };
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(ours) {
                let _ = fs::remove_file(entry.path());
            }
        }
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }

    /// Opens a kept run, named by its path or by its id below the folder of `kept` runs.
    pub fn open(name: &str, kept: &Path) -> Result<RunFolder> {
        let direct = PathBuf::from(name);
        let path = if direct.join("plan.json").is_file() { direct } else { kept.join(name) };
        if !path.join("plan.json").is_file() {
            bail!("there is no run {name:?}: neither a folder with a plan.json nor an id below {}", kept.display());
        }
        Ok(RunFolder { path: fs::canonicalize(&path).with_context(|| cannot("read", &path))?, made: Vec::new() })
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole or not at all.
    pub fn write_text(&self, name: &str, text: &str) -> Result<()> {
        let (path, temporary) = (self.file(name), self.file(&format!(".{name}.part")));
        let result = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result.with_context(|| cannot("write", &path))
    }

    /// The same for JSON.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write_text(name, &(serde_json::to_string_pretty(value)? + "\n"))
    }

    /// Reads one of its JSON files.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.file(name);
        let text = fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// The plan, if it is of this schema.
    pub fn plan(&self) -> Result<Plan> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        let head: Head = self.read_json("plan.json")?;
        if head.schema != SCHEMA {
            let path = self.path.display();
            bail!("{path} has schema {}, but this Pagewise reads {SCHEMA}; use the version that made it", head.schema);
        }
        self.read_json("plan.json")
    }

    /// What the run has become: its plan and all decisions.
    pub fn state(&self) -> Result<State> {
        State::after(self.plan()?, &self.decisions()?).with_context(|| format!("{} is damaged", self.path.display()))
    }

    /// Appends one line for a launch that has ended: the whole of it or, where there is no room, nothing.
    pub fn append_launch(&self, record: &LaunchRecord) -> Result<()> {
        self.append(LAUNCHES, record)
    }

    /// Appends one decision: the whole of it or, where there is no room, nothing.
    pub fn append_decision(&self, decision: &Decision) -> Result<()> {
        self.append(DECISIONS, decision)
    }

    fn append(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let path = self.file(name);
        let line = serde_json::to_string(value)? + "\n";
        let append = || {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            let whole = length_of_whole_lines(&mut file)?;
            file.set_len(whole)?;
            file.write_all(line.as_bytes()).inspect_err(|_| {
                let _ = file.set_len(whole);
            })
        };
        append().with_context(|| cannot("write", &path))
    }

    /// The number of the next launch. What a killed run left of one that was never recorded keeps its number.
    pub fn next_launch(&self) -> Result<usize> {
        let entries = fs::read_dir(&self.path).with_context(|| cannot("read", &self.path))?;
        let number = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.ends_with(".request").then(|| name.split('.').next()?.parse::<usize>().ok()).flatten()
        };
        Ok(entries.flatten().filter_map(number).max().map_or(0, |last| last + 1))
    }

    /// What the sides of a launch wrote.
    pub fn transcripts(&self, record: &LaunchRecord) -> Transcripts {
        let read = |side: &SideRecord| {
            let file = File::open(self.file(&side.transcript)).map_err(anyhow::Error::from);
            file.and_then(|file| Transcript::read(BufReader::new(file))).map_err(|error| format!("{error:#}"))
        };
        record.sides.iter().map(read).collect()
    }

    /// All launches so far.
    pub fn launches(&self) -> Result<Vec<LaunchRecord>> {
        self.lines(LAUNCHES)
    }

    /// All decisions so far.
    pub fn decisions(&self) -> Result<Vec<Decision>> {
        self.lines(DECISIONS)
    }

    /// The lines of a file. A last one that was cut short by a killed run is left out.
    fn lines<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>> {
        let path = self.file(name);
        let Ok(file) = File::open(&path) else { return Ok(Vec::new()) };
        let lines: Vec<String> =
            BufReader::new(file).lines().collect::<Result<_, _>>().with_context(|| cannot("read", &path))?;
        let mut values = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(value) => values.push(value),
                Err(_) if i + 1 == lines.len() => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("{} line {} is damaged", path.display(), i + 1));
                }
            }
        }
        Ok(values)
    }
}

/// Where the last whole line ends; what a run that was killed while writing left behind it is no line.
fn length_of_whole_lines(file: &mut File) -> std::io::Result<u64> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last as u64 + 1))
}

fn cannot(what: &str, path: &Path) -> String {
    format!("cannot {what} {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("mine"), "text").unwrap();
        assert!(RunFolder::create(place.path()).unwrap_err().to_string().contains("is not empty"));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_schema_is_refused_with_both_numbers() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("plan.json"), "{\"schema\": 99}").unwrap();
        let error =
            RunFolder::open(place.path().to_str().unwrap(), place.path()).unwrap().plan().unwrap_err().to_string();
        assert!(error.contains("schema 99") && error.contains("reads 2"), "{error}");
    }

    #[test]
    fn a_run_that_is_not_there_is_named() {
        assert!(
            RunFolder::open("no-such-run", Path::new("/nowhere"))
                .unwrap_err()
                .to_string()
                .contains("there is no run \"no-such-run\"")
        );
    }
}
