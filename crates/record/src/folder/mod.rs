//! The run folder: what was planned, where, what was asked and answered, and what came out. Written as it happens.

mod frames;
mod journal;
mod layout;
mod read;
mod seal;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::decision::Decision;
pub use frames::Part;
pub use layout::one_a_line;
pub use read::bytes;
pub use seal::sha256_hex;

use crate::launches::LaunchRecord;
use crate::plan::{Plan, SCHEMA};
use crate::state::State;
use crate::transcript::{Read as Transcripts, Transcript};

/// The file of the launches.
const LAUNCHES: &str = "launches.jsonl";
/// The file of the decisions.
const DECISIONS: &str = "decisions.jsonl";
/// The file of what launches were asked and answered.
const TRANSCRIPTS: &str = "transcripts.zst";
/// The sealed files; the journals' first lines are sealed with what these hold.
const SEALED: [&str; 4] = ["plan.json", "environment.json", "preflight.json", "kept.json"];

/// The launches of a run that are as they were written, and a sentence for each that is not.
#[derive(Debug, Default)]
pub struct Launches {
    /// In the order in which they ended.
    pub records: Vec<LaunchRecord>,
    /// What is damaged.
    pub damage: Vec<String>,
}

/// What reads the texts of a folder's launches.
#[derive(Clone, Debug)]
pub struct LaunchReader {
    frames: PathBuf,
}

impl LaunchReader {
    /// The texts of a launch, in the order in which they were kept.
    pub fn parts(&self, record: &LaunchRecord) -> Result<Vec<Part>> {
        let text = frames::read(&self.frames, &record.frame)?;
        let parts = frames::parts(&text)?.into_iter();
        Ok(parts.map(|(name, bytes)| Part { name: name.to_owned(), bytes: bytes.to_vec() }).collect())
    }

    /// What the sides of a launch wrote; an error where its frame is damaged.
    pub fn transcripts(&self, record: &LaunchRecord) -> Result<Transcripts> {
        let text = frames::read(&self.frames, &record.frame)?;
        let parts = frames::parts(&text)?;
        let of = |name: &str| {
            let (_, bytes) = parts.iter().find(|(n, _)| *n == name).ok_or_else(|| format!("there is no {name}"))?;
            Transcript::read(*bytes).map_err(|error| format!("{error:#}"))
        };
        Ok(record.sides.iter().map(|side| of(&side.transcript)).collect())
    }
}

/// An open run folder.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
    /// Where the last launch's frame ends, once that is known.
    end: Cell<Option<u64>>,
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
        let folder = RunFolder {
            path: result.as_ref().map_or_else(|_| path.to_owned(), Clone::clone),
            made,
            end: Cell::new(None),
        };
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
            SEALED.contains(&name)
                || [LAUNCHES, DECISIONS, TRANSCRIPTS, "claims.json", "answers.json", "summary.json", "report.html"]
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
        Ok(RunFolder {
            path: fs::canonicalize(&path).with_context(|| cannot("read", &path))?,
            made: Vec::new(),
            end: Cell::new(None),
        })
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
        self.write_text(name, &layout::one_a_line(value)?)
    }

    /// The same for one that is sealed, so that a change of it is noticed.
    pub fn write_sealed(&self, name: &str, value: &impl Serialize) -> Result<()> {
        self.write_text(name, &seal::sealed_json(&layout::one_a_line(value)?))
    }

    /// Waits until everything in it has reached its device, so that a power cut takes none of it. Only before and after the
    /// measuring: whoever waits for a device between launches disturbs them.
    pub fn reach_device(&self) -> Result<()> {
        for entry in fs::read_dir(&self.path).with_context(|| cannot("read", &self.path))?.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let path = entry.path();
                let reached = fs::File::open(&path).and_then(|file| file.sync_all());
                reached.with_context(|| cannot("write", &path))?;
            }
        }
        // Some file systems know no such call for folders.
        for folder in [Some(self.path.as_path()), self.path.parent()].into_iter().flatten() {
            let _ = fs::File::open(folder).and_then(|file| file.sync_all());
        }
        Ok(())
    }

    /// Reads one of its JSON files that carry no seal.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.file(name);
        serde_json::from_slice(&bytes(&path)?).with_context(|| format!("{} is damaged", path.display()))
    }

    /// Reads one of its sealed JSON files.
    pub fn read_sealed<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let path = self.file(name);
        let text = String::from_utf8(bytes(&path)?).ok().and_then(|text| seal::opened_json(&text));
        let text = text.with_context(|| format!("{} is damaged: it is not as it was written", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// What a journal's first line is sealed with: all that was written before it.
    fn start(&self, journal: &str) -> String {
        let files: Vec<Vec<u8>> = SEALED.iter().map(|name| bytes(&self.file(name)).unwrap_or_default()).collect();
        let parts: Vec<&[u8]> = files.iter().map(Vec::as_slice).chain([journal.as_bytes()]).collect();
        sha256_hex(&parts)
    }

    /// Which of the sealed files is not as it was written. The journals' first lines are sealed with what these hold, so that a
    /// change of one shows there first.
    fn altered(&self) -> Option<String> {
        let is_altered = |name: &&&str| {
            let bytes = bytes(&self.file(name));
            bytes.is_ok_and(|b| String::from_utf8(b).ok().and_then(|text| seal::opened_json(&text)).is_none())
        };
        let altered = SEALED.iter().find(is_altered).map(|name| format!("{name} is not as it was written"));
        altered.or_else(|| {
            let sound = |journal: &str| journal::begins_sound(&self.file(journal), &self.start(journal));
            let missing: Vec<&str> = SEALED.into_iter().filter(|name| !self.file(name).exists()).collect();
            let taken = !missing.is_empty() && !sound(DECISIONS) && !sound(LAUNCHES);
            taken.then(|| format!("{} was taken away after the first launch", missing.join(" or ")))
        })
    }

    /// The plan, if it is of this schema.
    pub fn plan(&self) -> Result<Plan> {
        #[derive(Deserialize)]
        struct Head {
            schema: u32,
        }
        // What another version wrote is told by its number, whatever its seals are.
        let head: Result<Head> = self.read_json("plan.json");
        if let Ok(head) = head
            && head.schema != SCHEMA
        {
            let path = self.path.display();
            bail!("{path} has schema {}, but this Pagewise reads {SCHEMA}; use the version that made it", head.schema);
        }
        self.read_sealed("plan.json")
    }

    /// Whether its run has only begun: the folder is made with an empty plan, to see that it can be written.
    pub fn is_only_begun(&self) -> bool {
        fs::metadata(self.file("plan.json")).is_ok_and(|plan| plan.len() == 0)
    }

    /// What the run has become: its plan and all decisions.
    pub fn state(&self) -> Result<State> {
        State::after(self.plan()?, &self.decisions()?).with_context(|| format!("{} is damaged", self.path.display()))
    }

    /// Keeps a launch that has ended: its texts as a frame, then its line, which says where the frame lies. Where
    /// there is no room,
    /// neither stays.
    pub fn keep_launch(&self, record: &mut LaunchRecord, parts: &[Part]) -> Result<()> {
        let end = match self.end.get() {
            Some(end) => end,
            None => self.launches()?.records.iter().map(|r| r.frame.offset + r.frame.length).max().unwrap_or(0),
        };
        record.frame = frames::append(&self.file(TRANSCRIPTS), end, record.launch, parts)?;
        self.end.set(Some(end));
        journal::append(&self.file(LAUNCHES), || self.start(LAUNCHES), record)?;
        self.end.set(Some(end + record.frame.length));
        Ok(())
    }

    /// Appends one decision: the whole of it or, where there is no room, nothing.
    pub fn append_decision(&self, decision: &Decision) -> Result<()> {
        journal::append(&self.file(DECISIONS), || self.start(DECISIONS), decision)
    }

    /// The number of the next launch.
    pub fn next_launch(&self) -> Result<usize> {
        Ok(self.launches()?.records.iter().map(|r| r.launch + 1).max().unwrap_or(0))
    }

    /// The texts of a launch, in the order in which they were kept.
    pub fn parts(&self, record: &LaunchRecord) -> Result<Vec<Part>> {
        self.reader().parts(record)
    }

    /// What the sides of a launch wrote; an error where its frame is damaged.
    pub fn transcripts(&self, record: &LaunchRecord) -> Result<Transcripts> {
        self.reader().transcripts(record)
    }

    /// A reader of its launches, which several threads may share.
    pub fn reader(&self) -> LaunchReader {
        LaunchReader { frames: self.file(TRANSCRIPTS) }
    }

    /// All launches so far, and what of them is damaged.
    pub fn launches(&self) -> Result<Launches> {
        let lines = journal::read(&self.file(LAUNCHES), &self.start(LAUNCHES))?;
        Ok(Launches { records: lines.values.into_iter().map(|(_, record)| record).collect(), damage: lines.damage })
    }

    /// The launches whose frames lie behind the last one that has a line, by their numbers. A run that is killed
    /// leaves one at most.
    pub fn unlisted(&self, launches: &Launches) -> Vec<usize> {
        let end = launches.records.iter().map(|r| r.frame.offset.saturating_add(r.frame.length)).max().unwrap_or(0);
        let mut found = frames::behind(&self.file(TRANSCRIPTS), end);
        found.retain(|number| launches.records.iter().all(|r| r.launch != *number));
        found
    }

    /// All decisions so far. What a run has become cannot be told without one of them, so damage is an error.
    pub fn decisions(&self) -> Result<Vec<Decision>> {
        let lines = journal::read(&self.file(DECISIONS), &self.start(DECISIONS))?;
        if let Some(first) = lines.damage.into_iter().next() {
            bail!("{} is damaged: {}", self.path.display(), self.altered().unwrap_or(first));
        }
        Ok(lines.values.into_iter().map(|(_, decision)| decision).collect())
    }
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
