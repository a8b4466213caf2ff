//! The machine as a run finds and prepares it: the guard, what was made for the run, and its states.

use crate::run::bound::{self, Bounds};
use crate::run::captures::Inputs;
use crate::run::guard::{Guard, Undo, Undoing, session};
use crate::run::states::States;
use crate::run::{Alone, decide};
use crate::worker::foreign;
use anyhow::Result;
use record::decision::DecisionKind;
use record::folder::RunFolder;
use record::state::State;
use std::os::fd::AsRawFd;
use std::{ffi::OsString, fs::File, path::Path};

/// The machine as it was prepared for the run; put back when this is dropped.
pub(super) struct Site<'a> {
    pub guard: Guard,
    pub inputs: Inputs,
    pub bounds: Bounds,
    pub states: States,
    /// Memory with which workers sweep the caches, unless files in memory are refused: it stays from launch to launch.
    pub swept: Option<File>,
    /// Variables that workers do not have.
    pub cleared: Vec<String>,
    pub alone: Option<&'a Alone>,
}

impl Site<'_> {
    /// Prepares the machine for a run, and settles what cannot be had.
    pub fn prepare(state: &mut State, folder: &RunFolder) -> Result<Self> {
        let mut guard = Guard::start()?;
        // Sockets are in /tmp where TMPDIR is too long for their path.
        let temporary = files::temporary_place()?;
        let run = &session(state);
        for folder in [
            Path::new("/dev/shm"),
            Path::new("/dev/mqueue"),
            Path::new("/tmp"),
            &temporary,
        ] {
            guard.undo(Undo::RemoveNamed {
                folder,
                lead: "",
                run,
            })?;
        }
        guard.undo(Undo::RemoveNamed {
            folder: folder.path(),
            lead: "scratch-",
            run,
        })?;
        bound::prepare(state, &mut guard)?;
        let (bounds, settled) = Bounds::make(state, &mut guard)?;
        follow(folder, state, settled)?;
        let cleared = if state.plan.keep_environment {
            Vec::new()
        } else {
            foreign().into_keys().collect()
        };
        let states = States::new(folder.path(), run);
        let swept = files::empty_memory_file("pagewise-swept").ok();
        Ok(Site {
            guard,
            inputs: Inputs::default(),
            bounds,
            states,
            swept,
            cleared,
            alone: None,
        })
    }

    /// Options of the helper's `exec`. In a state of the machine no memory of the laboratory's is in a worker's way.
    pub fn options(&self) -> Vec<OsString> {
        let of_state = self.states.options();
        let Some(swept) = self.swept.as_ref().filter(|_| of_state.is_empty()) else {
            return of_state;
        };
        let path = format!(
            "PAGEWISE_SWEPT=/proc/{}/fd/{}",
            std::process::id(),
            swept.as_raw_fd()
        );
        vec!["--set".into(), path.into()]
    }
}

/// Keeps decisions on the disk, then follows each.
pub(super) fn follow(
    folder: &RunFolder,
    state: &mut State,
    decisions: Vec<(String, DecisionKind)>,
) -> Result<()> {
    for (why, what) in decisions {
        decide(folder, &why, what.clone())?;
        state.apply(&what)?;
    }
    Ok(())
}
