//! Answers of a run of claims: its open questions while it measures, and what is kept of it.

use super::{kept, printed::Printed};
use crate::plan::Laboratory;
use crate::run::Questions;
use anyhow::Result;
use judge::{Circumstances, evidence::Evidence};
use record::claim::{Answers, ResolvedClaim};
use record::folder::{ANSWERS, ASKED, Damaged, RunFolder};
use record::{cell::Cell, kind::Kind, state::State, summary::Summary};
use schedule::Undecided;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Claims that a run measures, as its folder keeps them.
#[derive(Serialize, Deserialize)]
pub(super) struct Claimed {
    pub(super) claims: Vec<ResolvedClaim>,
}

record::read_from_json!(Claimed);
record::written_to_json!(Claimed);

impl Claimed {
    /// The claims of a kept run; `None` if it is of another kind.
    pub(super) fn read(folder: &RunFolder) -> Result<Option<Claimed>> {
        if folder.kind()? == Kind::Claims {
            folder.read_sealed(ASKED).map(Some)
        } else {
            Ok(None)
        }
    }

    pub(super) fn keep(&self, folder: &RunFolder) -> Result<()> {
        folder.write_sealed(ASKED, self)
    }

    /// The questions that its run asks while it measures.
    pub(super) fn questions(&self, margin: f64) -> OpenClaims<'_> {
        OpenClaims {
            claims: &self.claims,
            margin,
        }
    }

    /// The answers of its run, which was interrupted and is completed.
    pub(super) fn answers(&self, laboratory: &Laboratory, summary: &Summary) -> Answers {
        let mut kept = kept::summaries(laboratory, &experiments(&self.claims));
        kept.retain(|kept_run| kept_run.run != summary.run);
        let summaries: Vec<&Summary> = std::iter::once(summary).chain(&kept).collect();
        let (margin, run) = (summary.settings.margin, summary.run.clone());
        judge::questions::claims::report(&self.claims, &summaries, margin, Some(run))
    }
}

/// Claims as the questions of a run.
pub(super) struct OpenClaims<'a> {
    claims: &'a [ResolvedClaim],
    margin: f64,
}

impl Questions for OpenClaims<'_> {
    fn comparisons(&self) -> Vec<(Vec<Cell>, bool)> {
        let jobs = self
            .claims
            .iter()
            .flat_map(|claim| claim.jobs.iter().enumerate());
        jobs.map(|(number, job)| (job.cells().cloned().collect(), number == 0))
            .collect()
    }

    fn undecided(&self, state: &State, evidence: &Evidence) -> Result<Vec<Undecided>> {
        let summary = judge::summarise(state, evidence, Circumstances::default())?;
        let wanted = judge::questions::claims::wanted(self.claims, &summary, self.margin);
        let undecided = wanted.into_iter().map(|wanted| Undecided {
            cells: wanted.cells,
            launches: wanted.launches,
            decides: wanted.decides,
            likely: wanted.likely,
        });
        Ok(undecided.collect())
    }
}

/// Names of the experiments of claims.
pub(super) fn experiments(claims: &[ResolvedClaim]) -> Vec<&str> {
    let jobs = claims.iter().flat_map(|claim| &claim.jobs);
    let cells = jobs.flat_map(|job| job.cells());
    let names: BTreeSet<&str> = cells.map(|cell| cell.experiment.as_str()).collect();
    names.into_iter().collect()
}

/// Keeps the answers of a run in its folder, with their page.
pub(super) fn keep(folder: &RunFolder, answers: &Answers) -> Result<()> {
    folder.write_result(ANSWERS, answers)?;
    let printed = Printed::Claims {
        folder: Some(folder),
        answers,
    };
    printed.keep_page(folder);
    Ok(())
}

/// The answers of a kept run of claims; `None` if it is of another kind or did not come to its end.
pub(super) fn kept_answers(folder: &RunFolder, kind: Kind) -> Result<Option<Answers>> {
    if kind != Kind::Claims {
        return Ok(None);
    }
    // The seal of the answers covers the launches, whose own seals are looked at first.
    let (ended, launches) = (folder.state()?.ended.is_some(), folder.launches()?);
    if let Some(seen) = launches.damage.into_iter().next() {
        return Err(Damaged {
            path: folder.path().to_owned(),
            seen,
        }
        .into());
    }
    ended.then(|| folder.read_result(ANSWERS)).transpose()
}
