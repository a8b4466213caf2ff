//! `pagewise fleet check`: this node compared with what its fleet has learnt, in one line, for a node health check.

use crate::cli::{Laboratory, SelectArgs, print, run};
use crate::plan::{self, Choice, Terms};
use crate::{
    cli::start::Start, machine, run::Session, run::alone::Check, run::guard::Scratch, run::signals,
};
use anyhow::{Context, Result, bail};
use clap::Args;
use judge::fleet::{Gathered, check, read};
use record::{experiment::ParameterList, fleet::Criteria, folder::RunFolder, kind::Kind, sizes};
use std::{path::PathBuf, time::Duration};

/// Half-width at which a check is done before its budget ends: finer than any limit that is learnt.
const PRECISION: f64 = 0.02;

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckNodeArgs {
    /// Criteria file, made by pagewise fleet learn.
    #[arg(long, value_name = "FILE")]
    criteria: PathBuf,
    /// Time to spend at most.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds, default_value = "20s")]
    budget: f64,
    /// Keep the run in this folder [default: it is removed].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure at once beside another run that is measuring on this machine, instead of waiting for it.
    #[arg(long)]
    force: bool,
}

/// 0 where the node is like its kind, 3 where it is odd, 4 where its kind is not known or no launch ended in time. Costs beside
/// another run are no fault of the node.
pub(in crate::cli) fn check_node(
    laboratory: impl FnOnce() -> Result<Laboratory>,
    arguments: &CheckNodeArgs,
) -> Result<u8> {
    let criteria = criteria(&arguments.criteria)?;
    arguments
        .out
        .as_deref()
        .map_or(Ok(()), RunFolder::can_create)?;
    let here = machine::capture(std::path::Path::new("/"));
    let identity = &here.identity;
    let _check = Check::begin(arguments.force, Duration::from_secs_f64(arguments.budget))?;
    let name = identity
        .node
        .clone()
        .or_else(|| identity.name.clone())
        .unwrap_or_else(|| "this node".to_owned());
    let scratch = arguments
        .out
        .is_none()
        .then(|| Scratch::new("node"))
        .transpose()?;
    let place = match &scratch {
        Some(scratch) => scratch.path().join("run"),
        None => arguments.out.clone().context("a folder")?,
    };
    let measured = measure(&laboratory()?, &criteria, &place, arguments.budget);
    if measured
        .as_ref()
        .is_ok_and(|(any, stopped_by)| !any && stopped_by.is_none())
    {
        print(&report::fleet::unmeasured(&name))?;
        return Ok(4);
    }
    let checked = measured.and_then(|(_, stopped_by)| {
        let mut gathered = Gathered::default();
        read(&mut gathered, &place, false);
        match gathered.runs.first() {
            Some(run) => {
                let had_company = RunFolder::open(&place.display().to_string(), &place)?
                    .mine()?
                    .state()?
                    .had_company;
                Ok((check(&criteria, &gathered, run), stopped_by, had_company))
            }
            None => bail!(
                "{}",
                gathered
                    .unread
                    .first()
                    .map_or("nothing was measured".to_owned(), report::fleet::unread)
            ),
        }
    });
    let (checked, stopped_by, had_company) = checked?;
    if let Some(signal) = stopped_by {
        return Ok(signals::exit_code(signal));
    }
    if had_company && checked.nodes.is_some() && !checked.missed.is_empty() {
        // Another user's load must not take a node out of service.
        print(&report::fleet::disturbed(&name))?;
        return Ok(0);
    }
    print(&report::fleet::checked(&name, &checked))?;
    Ok(match (checked.nodes, checked.missed.is_empty()) {
        (None, _) => 4,
        (Some(_), true) => 0,
        (Some(_), false) => 3,
    })
}

fn criteria(path: &std::path::Path) -> Result<Criteria> {
    let text = plan::text_of(path)?;
    Criteria::parse(&text).with_context(|| format!("{} is no criteria file", path.display()))
}

/// Tells whether any launch ended, and the signal that stopped it.
fn measure(
    laboratory: &Laboratory,
    criteria: &Criteria,
    place: &std::path::Path,
    budget_s: f64,
) -> Result<(bool, Option<i32>)> {
    let select = SelectArgs {
        what: criteria.what.clone(),
        set: criteria.set.clone(),
    };
    let wish = laboratory.wish(&select, None, ParameterList::Short)?;
    let start = Start::now();
    let usual = Terms::usual(
        start.run_id(),
        start.seed(),
        budget_s,
        (PRECISION, PRECISION),
    );
    let terms = Terms {
        kind: Kind::CheckNode,
        created: start.created(),
        short: true,
        ..usual
    };
    let plan = plan::build(
        &laboratory.experiments,
        &laboratory.workers,
        Choice::Wished(&wish),
        terms,
    )?;
    let session = Session::begin(plan, place, true)?;
    let (summary, stopped_by) = run::made(laboratory, &session, None)?;
    Ok((
        summary.cells.iter().any(|cell| !cell.per_launch.is_empty()),
        stopped_by,
    ))
}
