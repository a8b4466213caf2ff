//! The capture files that a run reads: named and kept here, made by the helper (`make-capture`).

use super::guard::{Guard, Undo, Undoing, session};
use super::launch::{self, Side};
use super::signals::Signals;
use crate::{plan::input::CAPTURE, run::launch::TimeLimit, worker};
use anyhow::{Result, bail};
use files::Folder;
use record::concern::{Concern, DISK, TMPFS};
use record::outcome::{Cause, Outcome, Status};
use record::{
    cell::Cell, decision::DecisionKind, experiment::Experiment, folder::RunFolder, launches::End,
    plan::Plan, state::State,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Captures are the same in every run and on every machine, so that one is made once and figures are of the same packets.
const CAPTURE_SEED: &str = "1";
/// Files in the run's folder for what the helper says.
const SAID: &str = "capture.made";
const MESSAGES: &str = "capture.messages";
const MOST_BYTES: u64 = 1 << 16;
/// Name of a link to the user's own file in the folder of a launch.
const LINK: &str = "input";
/// Exit status of the helper where there is no room for a capture.
const REFUSED: End = End::Exit(4);
/// A capture is written at least this fast, in bytes per second; slower is given up.
const SLOWEST_BYTES_PER_S: u64 = 4 << 20;

fn captures_folder() -> Result<PathBuf> {
    Ok(worker::private_cache("captures")?.path().to_owned())
}

fn capture_name(bytes: &str) -> String {
    format!("{bytes}-{CAPTURE_SEED}.pcap")
}

/// The capture files of a run: each is made before the first launch that reads it.
#[derive(Debug, Default)]
pub struct Inputs {
    paths: BTreeMap<NeededCapture, PathBuf>,
}

/// A capture: its place, its size, and the folder of a machine's state that has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NeededCapture {
    place: String,
    bytes: String,
    files: Option<PathBuf>,
}

/// The capture that a cell reads, if it reads one.
fn wanted(
    experiment: Option<&Experiment>,
    cell: &Cell,
    files: Option<&Path>,
) -> Option<NeededCapture> {
    let experiment = experiment?;
    if experiment.value(cell, Concern::File)? != CAPTURE {
        return None;
    }
    let place = experiment.value(cell, Concern::FilePlace)?;
    let size = experiment.value(cell, Concern::FileSize)?;
    Some(NeededCapture {
        place: place.to_owned(),
        bytes: size.to_owned(),
        files: files.filter(|_| place == DISK).map(Path::to_owned),
    })
}

/// The capture that is made for a cell: a name that tells it from others, and its bytes.
pub fn made_for(plan: &Plan, cell: &Cell) -> Option<(String, u64)> {
    let NeededCapture { place, bytes, .. } = wanted(plan.experiment(&cell.experiment), cell, None)?;
    let length = bytes.parse().unwrap_or(0);
    Some((format!("{place} {bytes}"), length))
}

/// The cell as its worker is to be told: with the path of the file.
fn with_path(experiment: Option<&Experiment>, cell: &Cell, path: &Path) -> Cell {
    let mut cell = cell.clone();
    if let Some(key) = experiment.and_then(|e| e.key(Concern::File)) {
        cell.parameters
            .insert(key.to_owned(), path.to_string_lossy().into_owned());
    }
    cell
}

impl Inputs {
    /// Makes the captures that these cells read and that the run has not made yet, or finds them whole in the cache; what is to
    /// be decided of all cells whose capture cannot be made. Those in memory are removed with everything else that bears the
    /// run's name, those in a state's folder `files` with the state.
    pub fn make(
        &mut self,
        state: &State,
        cells: &[usize],
        guard: &mut Guard,
        (folder, files): (&RunFolder, Option<&Path>),
        signals: &Signals,
    ) -> Result<Vec<(String, DecisionKind)>> {
        let wanted_by = |cell: &usize| {
            let cell = &state.cells[*cell].cell;
            wanted(state.plan.experiment(&cell.experiment), cell, files)
        };
        let mut settled = Vec::new();
        let keys: BTreeSet<NeededCapture> = cells.iter().filter_map(wanted_by).collect();
        for key in keys {
            if signals.arrived().is_some() {
                break;
            }
            // A state that was made anew has an empty folder.
            let is_made = |path: &PathBuf| files.is_none() || path.exists();
            if self.paths.get(&key).is_some_and(is_made) {
                continue;
            }
            let path = path_of(&key, state, guard, folder)?;
            match make_one(&path, &key.bytes, &session(state), guard, folder, signals)? {
                None => {
                    self.paths.insert(key, path);
                }
                Some(outcome) => {
                    let cells = (0..state.cells.len()).filter(|cell| {
                        state.cells[*cell].outcome.is_none()
                            && wanted_by(cell).as_ref() == Some(&key)
                    });
                    let cells = cells.collect();
                    settled.push((
                        "its capture file was to be made".to_owned(),
                        DecisionKind::Settled { cells, outcome },
                    ));
                }
            }
        }
        Ok(settled)
    }

    /// The cell as its worker is to be told: with the path of its capture.
    pub fn resolved(&self, plan: &Plan, cell: &Cell, files: Option<&Path>) -> Cell {
        let experiment = plan.experiment(&cell.experiment);
        let path = wanted(experiment, cell, files).and_then(|key| self.paths.get(&key));
        path.map_or_else(|| cell.clone(), |path| with_path(experiment, cell, path))
    }
}

/// The path of a run's capture of a place and a size. On a disk it stays for later runs.
fn path_of(
    wanted: &NeededCapture,
    state: &State,
    guard: &mut Guard,
    folder: &RunFolder,
) -> Result<PathBuf> {
    let (run, bytes) = (&session(state), &wanted.bytes);
    if let Some(files) = &wanted.files {
        return Ok(files.join(capture_name(bytes)));
    }
    if wanted.place == TMPFS {
        return Ok(PathBuf::from(format!(
            "/dev/shm/pagewise-{run}-capture-{bytes}.pcap"
        )));
    }
    if let Ok(kept) = captures_folder() {
        return Ok(kept.join(capture_name(bytes)));
    }
    // Without a private cache it lies in the run's folder until the run ends.
    guard.undo(Undo::RemoveNamed {
        folder: folder.path(),
        lead: "",
        run,
    })?;
    Ok(folder.file(&format!("pagewise-{run}-capture-{bytes}.pcap")))
}

/// The cell as its worker is to be told where the path of the user's own file has a line break or a tab, which no line of a request
/// holds: with a link to the file in this folder.
/// Errors: the link cannot be made.
pub fn with_link(plan: &Plan, cell: Cell, folder: &Folder) -> Result<Cell> {
    let experiment = plan.experiment(&cell.experiment);
    let path = experiment.and_then(|e| e.value(&cell, Concern::File));
    let Some(path) = path.filter(|path| !fits_a_line(path)) else {
        return Ok(cell);
    };
    if !folder.names()?.iter().any(|name| name == LINK) {
        folder.link_to(LINK, Path::new(path))?;
    }
    Ok(with_path(experiment, &cell, &folder.path().join(LINK)))
}

/// True for a path that a line of a request can hold.
fn fits_a_line(path: &str) -> bool {
    !path.contains(['\n', '\t'])
}

/// The cell as a worker is told after the run, from captures in the cache; `None` where its own is gone.
pub fn kept(plan: &Plan, cell: &Cell) -> Option<Cell> {
    let experiment = plan.experiment(&cell.experiment);
    let Some(NeededCapture { place, bytes, .. }) = wanted(experiment, cell, None) else {
        let path = experiment.and_then(|e| e.value(cell, Concern::File));
        return path.is_none_or(fits_a_line).then(|| cell.clone());
    };
    let path = captures_folder().ok()?.join(capture_name(&bytes));
    (place == DISK && path.is_file()).then(|| with_path(experiment, cell, &path))
}

/// Cells of an experiment as a worker is to be told by hand, and comments that say how to make the captures that are not in the
/// cache yet.
pub fn by_hand(experiment: &Experiment, cells: &[&Cell]) -> Result<(Vec<Cell>, String)> {
    let mut missing = BTreeSet::new();
    let mut named = Vec::new();
    for cell in cells {
        let mut with_file = (*cell).clone();
        if let Some(path) = experiment
            .value(cell, Concern::File)
            .filter(|path| !fits_a_line(path))
        {
            bail!(
                "{path:?} has a line break or a tab, which no line of a request holds: give the file another name"
            );
        }
        if let Some(NeededCapture { bytes, .. }) = wanted(Some(experiment), cell, None) {
            let path = captures_folder()?.join(capture_name(&bytes));
            if !path.is_file() {
                // The path of its descriptor ends with this process.
                let helper = worker::helper()?
                    .canonicalize()
                    .unwrap_or_else(|_| "pagewise-helper".into());
                let path = path.display();
                let command = format!(
                    "{} make-capture {path} {bytes} {CAPTURE_SEED}",
                    helper.display()
                );
                missing.insert(format!("# first: {command}\n"));
            }
            with_file = with_path(Some(experiment), cell, &path);
        }
        named.push(with_file);
    }
    Ok((named, missing.into_iter().collect()))
}

/// `None` where the file is there now; otherwise why not.
fn make_one(
    path: &Path,
    bytes: &str,
    run: &str,
    guard: &mut Guard,
    folder: &RunFolder,
    signals: &Signals,
) -> Result<Option<Outcome>> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let part = format!(".pagewise-{run}.part");
    guard.undo(Undo::RemoveNamed {
        folder: parent,
        lead: ".",
        run,
    })?;
    let arguments = [
        path.as_os_str(),
        bytes.as_ref(),
        CAPTURE_SEED.as_ref(),
        parent.join(&part).as_os_str(),
    ]
    .map(ToOwned::to_owned);
    let command: Vec<_> = [worker::helper()?.into(), "make-capture".into()]
        .into_iter()
        .chain(arguments)
        .collect();
    let (said, messages) = (folder.file(SAID), folder.file(MESSAGES));
    let side = Side::new(&command, [Path::new("/dev/null"), &said, &messages]);
    let patience =
        Duration::from_secs(60 + bytes.parse::<u64>().unwrap_or(0) / SLOWEST_BYTES_PER_S);
    let ended = launch::launch(&[side], TimeLimit::Able(patience), signals)?;
    let text = files::read_input_text(&messages, MOST_BYTES).unwrap_or_default();
    let place = Folder::open(folder.path())?;
    [SAID, MESSAGES]
        .iter()
        .for_each(|name| drop(place.remove(name)));
    let text = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("make-capture: ")
        .to_owned();
    Ok(match &ended.ends[0] {
        end if end.is_clean() => None,
        end => {
            let status = if [REFUSED, End::Stopped].contains(end) {
                Status::Refused
            } else {
                Status::Failed
            };
            Some(Outcome::because(
                status,
                Cause::NoCapture {
                    end: end.clone(),
                    text,
                },
            ))
        }
    })
}
