//! The kept folder of a run, try or profile: what was planned, where, what was asked and answered, and the result. Every
//! file is sealed and written as it happens; everything that reads one reads it here.

mod frames;
mod journal;
mod seal;

use crate::command::{CommandLaunch, CommandPlan, KeptCommand, MOST_PLAN_BYTES, schemas_of};
use crate::decision::{Decision, DecisionKind};
use crate::hash::keyed_sha256_hex;
pub use crate::hash::sha256_hex;
use crate::json::{FromJson, ToJson};
use crate::launches::{Frame, LaunchRecord};
use crate::plan::{Plan, SCHEMA};
use crate::transcript::{Read as Transcripts, Transcript};
use crate::{kind::Kind, state::State};
use anyhow::{Context, Result, bail};
use files::{Folder, Ownership};
pub use frames::FramePart;
pub use journal::{Damaged, Lines, peek};
pub use seal::one_a_line;
pub(crate) use seal::{opened_json, sealed_json};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::{cell::Cell, io::ErrorKind, ops::RangeInclusive};

const LAUNCHES: &str = "launches.jsonl";
const DECISIONS: &str = "decisions.jsonl";
/// The file of what launches were asked and answered.
const TRANSCRIPTS: &str = "transcripts.zst";
/// The sealed files that are written once, before the first launch. The journals' first lines are sealed with their content.
const SEALED: [&str; 4] = ["plan.json", "environment.json", "preflight.json", ASKED];
/// The claims that a run was made to answer.
pub const ASKED: &str = "asked.json";
/// Answers to the claims.
pub const ANSWERS: &str = "answers.json";
/// Judged run.
pub const SUMMARY: &str = "summary.json";
/// Page of the run.
pub const PAGE: &str = "report.html";
/// Names of the source of a user's functions in the folder of their run.
pub const KEPT_SOURCES: [&str; 10] = [
    "functions.c",
    "functions.cpp",
    "functions.cc",
    "functions.cxx",
    "functions.C",
    "functions.py",
    "functions.rs",
    "functions.go",
    "functions.java",
    "functions.zig",
];
/// The keyed seal of a run whose functions were saved as a baseline.
const BASELINE: &str = "baseline.seal";
/// Longest file of a user's functions, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// First fields of any plan.
#[derive(Deserialize)]
struct Head {
    schema: Option<u32>,
    kind: Option<Kind>,
}

/// The part of a launch's line that locates its transcripts. A launch of a user's program has none.
#[derive(Deserialize)]
struct Framed {
    frame: Option<Frame>,
}

/// Launches of a run, and the damage of their journal.
pub type Launches = Lines<LaunchRecord>;

/// Reader of the texts of a folder's launches, which several threads may share.
#[derive(Clone, Copy, Debug)]
pub struct LaunchReader<'a>(&'a Folder);

impl LaunchReader<'_> {
    /// The texts of a launch, in the order in which they were kept.
    pub fn parts(&self, record: &LaunchRecord) -> Result<Vec<FramePart>> {
        let text = frames::read(self.0, &record.frame)?;
        let parts = frames::parts(&text)?.into_iter();
        Ok(parts
            .map(|(name, bytes)| FramePart {
                name: name.to_owned(),
                bytes: bytes.to_vec(),
            })
            .collect())
    }

    /// The transcripts of a launch's sides; an error if its frame is damaged.
    pub fn transcripts(&self, record: &LaunchRecord) -> Result<Transcripts> {
        let text = frames::read(self.0, &record.frame)?;
        let parts = frames::parts(&text)?;
        let transcript = |name: &str| {
            let (_, bytes) = parts
                .iter()
                .find(|(n, _)| *n == name)
                .ok_or_else(|| format!("there is no {name}"))?;
            Transcript::read(*bytes).map_err(|error| format!("{error:#}"))
        };
        Ok(record
            .sides
            .iter()
            .map(|side| transcript(&side.transcript))
            .collect())
    }
}

/// A sentence if fewer lines of launches are there than the end of the run counted.
pub fn lost(lines: usize, counted: usize) -> Option<String> {
    (counted > lines)
        .then(|| format!("{LAUNCHES}: {counted} launches were kept and {lines} lines are there"))
}

fn refused(path: &Path, error: files::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::DirectoryNotEmpty {
        return anyhow::anyhow!(
            "{} is not empty; a run needs a folder of its own",
            path.display()
        );
    }
    error.into()
}

/// An open kept folder.
#[derive(Debug)]
pub struct RunFolder {
    folder: Folder,
    /// The folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
    /// End of the last launch's frame, once known.
    end: Cell<Option<u64>>,
}

impl RunFolder {
    /// Makes the folder. Nothing changes if it is in use or cannot be written.
    pub fn create(path: &Path) -> Result<RunFolder> {
        let (folder, made) = Folder::fresh(path).map_err(|error| refused(path, error))?;
        let folder = RunFolder {
            folder,
            made,
            end: Cell::new(None),
        };
        folder
            .write_text("plan.json", "")
            .inspect_err(|_| folder.discard())?;
        Ok(folder)
    }

    /// Checks whether [`RunFolder::create`] can succeed; changes nothing.
    /// Errors: the folder is in use, another user's, or cannot be made.
    pub fn can_create(path: &Path) -> Result<()> {
        Folder::can_be_fresh(path).map_err(|error| refused(path, error))
    }

    /// Takes back a run without a result: its files, and the folders that were made for it.
    pub fn discard(&self) {
        let others = [LAUNCHES, DECISIONS, TRANSCRIPTS, ANSWERS, SUMMARY, PAGE];
        for name in SEALED.into_iter().chain(others).chain(KEPT_SOURCES) {
            let _ = self.folder.remove(name);
        }
        for path in &self.made {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
                return;
            };
            if !Folder::open(path)
                .and_then(|folder| folder.names())
                .is_ok_and(|names| names.is_empty())
            {
                return;
            }
            let _ = Folder::open(above).and_then(|above| above.remove(name));
        }
    }

    /// Opens a kept folder, named by its path or by its id below the folder of `kept` runs.
    pub fn open(name: &str, kept: &Path) -> Result<RunFolder> {
        let open = |path: PathBuf| {
            Folder::open(&path)
                .ok()
                .filter(|folder| folder.entry("plan.json").is_ok())
        };
        let Some(folder) = open(PathBuf::from(name)).or_else(|| open(kept.join(name))) else {
            bail!(
                "there is no run {name:?}: neither a folder with a plan.json nor an id below {}",
                kept.display()
            );
        };
        Ok(RunFolder {
            folder,
            made: Vec::new(),
            end: Cell::new(None),
        })
    }

    /// The folder, if it and its files belong to this user and nobody else can change them.
    /// Errors: a sentence that names the other user.
    pub fn mine(self) -> Result<RunFolder> {
        let path = self.path().display();
        if let Some(user) = self.other_owner()? {
            bail!(
                "{path} belongs to user {user}; only pagewise report, runs and compare --outliers read it"
            );
        }
        if !self.folder.access()?.is_trusted() {
            bail!("{path} can be changed by other users; chmod go-w makes it yours");
        }
        let others = self.folder.entries()?.into_iter();
        if let Some(entry) = others
            .filter(|entry| entry.kind != files::EntryKind::Other)
            .find(|entry| !entry.access.is_trusted())
        {
            let file = self.path().join(entry.name);
            bail!(
                "{} can be changed by other users; chmod -R go-w {path} makes it yours",
                file.display()
            );
        }
        Ok(self)
    }

    /// User id of another owner of the folder or of a file in it.
    pub fn other_owner(&self) -> Result<Option<u32>> {
        let ownerships = self
            .folder
            .entries()?
            .into_iter()
            .map(|entry| entry.access.ownership())
            .chain([self.folder.ownership()?]);
        Ok(ownerships
            .into_iter()
            .find_map(|ownership| match ownership {
                Ownership::Foreign(user) => Some(user),
                Ownership::Own => None,
            }))
    }

    /// Path of the folder, for messages.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in it, for messages.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// True if it holds a file of this name, of whatever type.
    pub fn has(&self, name: &str) -> bool {
        self.folder.entry(name).is_ok()
    }

    /// Writes a file whole or not at all.
    pub fn write_text(&self, name: &str, text: &str) -> Result<()> {
        Ok(self.folder.write(name, text.as_bytes())?)
    }

    /// Writes JSON with a seal, so that a change of it shows.
    pub fn write_sealed(&self, name: &str, value: &impl ToJson) -> Result<()> {
        let text = seal::one_a_line(&value.to_json()?)?;
        self.write_text(name, &seal::sealed_json("", &text))
    }

    /// Writes a result: its seal covers the launches it follows from.
    pub fn write_result(&self, name: &str, value: &impl ToJson) -> Result<()> {
        let text = seal::one_a_line(&value.to_json()?)?;
        self.write_text(name, &seal::sealed_json(&self.cover(name)?, &text))
    }

    /// Digest of everything that a result follows from. A summary also follows from the version that judged.
    fn cover(&self, name: &str) -> Result<String> {
        let version = if name == SUMMARY {
            env!("CARGO_PKG_VERSION")
        } else {
            ""
        };
        let names = SEALED.into_iter().chain([LAUNCHES, DECISIONS]);
        let files: Vec<Vec<u8>> = names
            .map(|name| journal::bytes_if_there(&self.folder, name))
            .collect::<Result<_>>()?;
        let digests: Vec<String> = files.iter().map(|bytes| sha256_hex(&[bytes])).collect();
        Ok(format!("{version} {}", digests.join(" ")))
    }

    /// Waits until its files have reached their device, so that a power cut takes none. Only before and after the
    /// measuring: waiting for a device between launches disturbs them.
    pub fn reach_device(&self) -> Result<()> {
        for entry in self
            .folder
            .entries()?
            .into_iter()
            .filter(|entry| entry.kind == files::EntryKind::File)
        {
            let reached = self.folder.file(&entry.name)?.sync_all();
            reached.with_context(|| {
                format!("cannot write {}", self.path().join(&entry.name).display())
            })?;
        }
        // Some file systems know no such call for folders.
        let _ = self.folder.sync();
        let _ = self
            .path()
            .parent()
            .map(|above| Folder::open(above).and_then(|above| above.sync()));
        Ok(())
    }

    /// Reads one of its sealed JSON files.
    /// Errors: [`Damaged`] if it is missing or not as it was written.
    pub fn read_sealed<T: FromJson>(&self, name: &str) -> Result<T> {
        self.opened(name, "")
    }

    /// Reads a result.
    /// Errors: [`Damaged`] if it is missing or changed, or follows from other launches, from transcripts that are not as they
    /// were written, or from another version of the judging.
    pub fn read_result<T: FromJson>(&self, name: &str) -> Result<T> {
        let result = self.opened(name, &self.cover(name)?)?;
        // The result's seal covers the lines of the launches, which have the digests of their transcripts.
        let launches = journal::bytes_if_there(&self.folder, LAUNCHES)?;
        let lines = launches.split(|byte| *byte == b'\n');
        let frames: Vec<Frame> = lines
            .filter_map(|line| serde_json::from_slice::<Framed>(line).ok()?.frame)
            .collect();
        if !frames::are_whole(&self.folder, &frames) {
            return Err(Damaged::altered(self.file(TRANSCRIPTS)).into());
        }
        Ok(result)
    }

    fn opened<T: FromJson>(&self, name: &str, cover: &str) -> Result<T> {
        let mut bytes = journal::bytes(&self.folder, name)?;
        let json = seal::opened_json(cover, &mut bytes);
        let value = json.and_then(|json| T::from_json(json).ok());
        Ok(value.ok_or_else(|| Damaged::altered(self.file(name)))?)
    }

    /// Content that a journal's first line is sealed with: everything that was written before it.
    fn start(&self, journal: &str) -> String {
        // A file that a run does not have seals like an empty one.
        let contents =
            |name: &&str| journal::bytes_if_there(&self.folder, name).unwrap_or_default();
        let files: Vec<Vec<u8>> = SEALED.iter().map(contents).collect();
        let parts: Vec<&[u8]> = files
            .iter()
            .map(Vec::as_slice)
            .chain([journal.as_bytes()])
            .collect();
        sha256_hex(&parts)
    }

    /// The sealed file that was changed. The journals' first lines are sealed with it, so it shows there first.
    fn altered(&self) -> Option<String> {
        let sound = |name: &str| {
            let mut bytes = journal::bytes_if_there(&self.folder, name).unwrap_or_else(|_| vec![0]);
            bytes.is_empty() || seal::opened_json("", &mut bytes).is_some()
        };
        if let Some(name) = SEALED.iter().find(|name| !sound(name)) {
            return Some(format!("{name} is not as it was written"));
        }
        let begins =
            |journal: &str| journal::begins_sound(&self.folder, journal, &self.start(journal));
        let missing: Vec<&str> = SEALED
            .into_iter()
            .filter(|name| *name != ASKED && !self.has(name))
            .collect();
        let taken = !missing.is_empty() && !begins(DECISIONS) && !begins(LAUNCHES);
        taken.then(|| {
            format!(
                "{} was taken away after the first launch",
                missing.join(" or ")
            )
        })
    }

    fn damaged(&self, seen: String) -> anyhow::Error {
        Damaged {
            path: self.path().to_owned(),
            seen,
        }
        .into()
    }

    fn head(&self) -> Result<Head> {
        let head = serde_json::from_slice(&journal::bytes(&self.folder, "plan.json")?);
        Ok(head.map_err(|_| Damaged::altered(self.file("plan.json")))?)
    }

    /// Kind of the record. Errors: the plan cannot be read.
    pub fn kind(&self) -> Result<Kind> {
        Ok(self.head()?.kind.unwrap_or_default())
    }

    /// Checks that `verb --resume` may go on with it: a finished record is never changed.
    /// Errors: another verb made it, it has its result, or it is damaged.
    pub fn check_resumable(&self, verb: Kind) -> Result<()> {
        let (kind, path) = (self.kind()?, self.path().display());
        if kind.resumed_by() != verb {
            let (kind, by) = (kind.word(), kind.resumed_by().word());
            bail!(
                "there is no {} {path}: it is a {kind}, which pagewise {by} --resume completes",
                verb.word()
            );
        }
        let last = self.decisions()?.pop().map(|decision| decision.what);
        let has_ended = matches!(
            last,
            Some(DecisionKind::Ended {
                stopped_by: None,
                ..
            })
        );
        // A kill between the end and the result leaves a run that can be completed.
        let has_answers = kind != Kind::Claims || self.has(ANSWERS);
        if has_ended && self.has(SUMMARY) && has_answers {
            bail!(
                "{path} is finished, and a finished {} is never changed; make a new one",
                kind.word()
            );
        }
        Ok(())
    }

    /// A file of the user's functions, as the plan lists it.
    /// Errors: [`Damaged`] if it is not the listed one, or none is listed.
    pub fn user_file(&self, name: &str) -> Result<Vec<u8>> {
        let bytes = self.folder.read(name, MOST_BYTES)?;
        let listed = self.plan()?.files.remove(name);
        if listed.is_some_and(|hash| hash == sha256_hex(&[&bytes])) {
            Ok(bytes)
        } else {
            Err(Damaged::altered(self.file(name)).into())
        }
    }

    /// Seals it as a baseline of this key's user. The seal covers the plan, which lists the files that are executed.
    pub fn seal_baseline(&self, key: &[u8]) -> Result<()> {
        self.write_text(BASELINE, &(self.baseline_seal(key)? + "\n"))
    }

    /// True if the user of this key sealed it as a baseline.
    pub fn is_baseline_of(&self, key: &[u8]) -> Result<bool> {
        let seal = journal::bytes_if_there(&self.folder, BASELINE)?;
        Ok(seal == (self.baseline_seal(key)? + "\n").as_bytes())
    }

    fn baseline_seal(&self, key: &[u8]) -> Result<String> {
        let plan = journal::bytes(&self.folder, "plan.json")?;
        let text = [b"pagewise baseline\n", &plan[..]].concat();
        Ok(keyed_sha256_hex(key, &text))
    }

    /// The plan of a run, if it is of this schema.
    pub fn plan(&self) -> Result<Plan> {
        self.plan_of(2..=SCHEMA)
    }

    fn plan_of<P: FromJson>(&self, reads: RangeInclusive<u32>) -> Result<P> {
        // Another version's plan is named by its schema, whatever its seals are.
        if let Some(schema) = self.head()?.schema.filter(|schema| !reads.contains(schema)) {
            let (path, newest) = (self.path().display(), reads.end());
            bail!(
                "{path} has schema {schema}, but this Pagewise reads {newest}; use the version that made it"
            );
        }
        self.read_sealed("plan.json")
    }

    /// True if its run has only begun: the folder is made with an empty plan, which shows that it can be written.
    pub fn is_only_begun(&self) -> bool {
        self.folder
            .entry("plan.json")
            .is_ok_and(|plan| plan.kind == files::EntryKind::File && plan.bytes == 0)
    }

    /// The state of a run: its plan and all decisions.
    pub fn state(&self) -> Result<State> {
        State::after(self.plan()?, &self.decisions()?)
            .map_err(|error| self.damaged(format!("{error:#}")))
    }

    /// Reads a try or profile whole, if its plan is of a schema that this version reads.
    pub fn whole(&self) -> Result<KeptCommand> {
        // What has the right seals may still have been made to fill the memory.
        if self.folder.entry("plan.json")?.bytes > MOST_PLAN_BYTES {
            return Err(Damaged::altered(self.file("plan.json")).into());
        }
        let plan: CommandPlan = self.plan_of(schemas_of(self.kind()?))?;
        if !plan.is_whole() {
            return Err(Damaged::altered(self.file("plan.json")).into());
        }
        let last = self.decisions()?.pop().map(|decision| decision.what);
        let Lines {
            mut records,
            mut damage,
        } = journal::read::<CommandLaunch>(&self.folder, LAUNCHES, &self.start(LAUNCHES))?;
        // Seals are no secret: what another program wrote may refer to arms that there are not.
        let read = records.len();
        records.retain(|launch| launch.belongs_to(&plan));
        if records.len() < read {
            damage.push(format!("{LAUNCHES} has launches of no arm of the plan"));
        }
        if let Some(DecisionKind::Ended { launches, .. }) = last {
            damage.extend(lost(records.len() + damage.len(), launches));
        }
        let interrupted = !matches!(
            last,
            Some(DecisionKind::Ended {
                stopped_by: None,
                ..
            })
        );
        Ok(KeptCommand {
            path: self.path().to_owned(),
            plan,
            launches: records,
            interrupted,
            damage,
        })
    }

    /// Keeps a launch of a run: its texts as a frame, then the line that locates it. Without room, neither stays.
    pub fn keep_launch(&self, record: &mut LaunchRecord, parts: &[FramePart]) -> Result<()> {
        let end = match self.end.get() {
            Some(end) => end,
            None => self
                .launches()?
                .records
                .iter()
                .map(|r| r.frame.offset + r.frame.length)
                .max()
                .unwrap_or(0),
        };
        record.frame = frames::append(&self.folder, end, record.launch, parts)?;
        self.end.set(Some(end));
        self.append_launch(record)?;
        self.end.set(Some(end + record.frame.length));
        Ok(())
    }

    /// Appends the line of a launch: the whole of it or, without room, nothing.
    pub fn append_launch(&self, record: &impl ToJson) -> Result<()> {
        journal::append(&self.folder, LAUNCHES, || self.start(LAUNCHES), record)
    }

    /// Appends one decision: the whole of it or, without room, nothing.
    pub fn append_decision(&self, decision: &Decision) -> Result<()> {
        journal::append(&self.folder, DECISIONS, || self.start(DECISIONS), decision)
    }

    /// Number of the next launch, from 0. Errors: the journal cannot be read.
    pub fn next_launch(&self) -> Result<usize> {
        Ok(self
            .launches()?
            .records
            .iter()
            .map(|r| r.launch + 1)
            .max()
            .unwrap_or(0))
    }

    /// The transcripts of a launch's sides; an error if its frame is damaged.
    pub fn transcripts(&self, record: &LaunchRecord) -> Result<Transcripts> {
        self.reader().transcripts(record)
    }

    /// A reader of its launches, which several threads may share.
    pub fn reader(&self) -> LaunchReader<'_> {
        LaunchReader(&self.folder)
    }

    /// All launches of a run so far, and their damage.
    pub fn launches(&self) -> Result<Launches> {
        journal::read(&self.folder, LAUNCHES, &self.start(LAUNCHES))
    }

    /// Numbers of the launches whose frames lie behind the last one that has a line. A killed run leaves one at most.
    pub fn unlisted(&self, launches: &Launches) -> Vec<usize> {
        let end = launches
            .records
            .iter()
            .map(|r| r.frame.offset.saturating_add(r.frame.length))
            .max()
            .unwrap_or(0);
        let mut numbers = frames::behind(&self.folder, end);
        numbers.retain(|number| launches.records.iter().all(|r| r.launch != *number));
        numbers
    }

    /// All decisions so far. The state of a run needs each of them, so damage is an error.
    pub fn decisions(&self) -> Result<Vec<Decision>> {
        let lines = journal::read(&self.folder, DECISIONS, &self.start(DECISIONS))?;
        match lines.damage.into_iter().next() {
            Some(first) => Err(self.damaged(self.altered().unwrap_or(first))),
            None => Ok(lines.records),
        }
    }
}
