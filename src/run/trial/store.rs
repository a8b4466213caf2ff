//! The folder in which a try is kept.

use std::path::Path;

use anyhow::Result;
use record::trial::{KIND, TRIAL_SCHEMA, TrialPlan, TrialSummary, TriedRun};

use crate::run::kept::{KeptFolder, PAGE};

/// A kept try.
#[derive(Debug)]
pub struct Kept(KeptFolder);

impl Kept {
    /// Makes the folder and writes the plan into it.
    pub fn create(path: &Path, plan: &TrialPlan) -> Result<Kept> {
        KeptFolder::create(path, plan, KIND).map(Kept)
    }

    /// The try of this name or path; `None` where it is something else or nothing.
    pub fn open(name: &str, below: &Path) -> Option<Kept> {
        KeptFolder::open(name, below, KIND).map(Kept)
    }

    /// Where it is kept.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// What was planned, if it is of this schema.
    pub fn plan(&self) -> Result<TrialPlan> {
        self.0.plan(TRIAL_SCHEMA)
    }

    /// All runs so far.
    pub fn runs(&self) -> Result<Vec<TriedRun>> {
        self.0.runs()
    }

    /// Adds a run that has ended.
    pub fn append(&self, run: &TriedRun) -> Result<()> {
        self.0.append(run)
    }

    /// Writes what came out, and its page.
    pub fn finish(&self, summary: &TrialSummary, page: &str) -> Result<()> {
        self.0.finish(summary)?;
        self.0.write_text(PAGE, page)
    }
}
