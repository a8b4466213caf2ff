//! `pagewise check-node`: this node held against what its fleet has learnt, in one line, for a node health check.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use judge::fleet::{Gathered, check, read};
use record::experiment::ParameterList;
use record::fleet::Criteria;
use record::folder::RunFolder;
use record::sizes;

use crate::cli::start::Start;
use crate::cli::{Laboratory, SelectArgs, print, run};
use crate::machine;
use crate::plan::{self, Choice, Terms};

/// Half-width at which a check is done before its budget ends: finer than any limit that is learnt.
const PRECISION: f64 = 0.02;

/// The words after `check-node`.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckNodeArgs {
    /// What the fleet has learnt: pagewise fleet learn.
    #[arg(long, value_name = "FILE")]
    criteria: PathBuf,
    /// Time to spend at most.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    budget: String,
    /// Keep the run in this folder [default: it is removed].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure beside another run that is measuring on this machine.
    #[arg(long)]
    force: bool,
}

/// 0 where the node is as others of its kind, 3 where it is odd, 4 where its kind is not known.
pub(in crate::cli) fn check_node(
    laboratory: impl FnOnce() -> Result<Laboratory>,
    arguments: &CheckNodeArgs,
) -> Result<u8> {
    let budget_s = sizes::parse_seconds(&arguments.budget).context("--budget")?;
    let criteria = criteria(&arguments.criteria)?;
    let here = machine::capture(std::path::Path::new("/"));
    let identity = &here.identity;
    let name = identity.node.clone().or_else(|| identity.name.clone()).unwrap_or_else(|| "this node".to_owned());
    let own =
        arguments.out.is_none().then(|| std::env::temp_dir().join(format!("pagewise-node-{}", std::process::id())));
    let place = arguments.out.clone().or_else(|| own.clone()).context("a folder")?;
    let measured = measure(&laboratory()?, arguments, &criteria, &place, budget_s);
    let checked = measured.and_then(|stopped_by| {
        let mut gathered = Gathered::default();
        read(&mut gathered, &place, false);
        match gathered.runs.first() {
            Some(run) => Ok((check(&criteria, &gathered, run), stopped_by)),
            None => bail!("{}", gathered.unread.first().map_or("nothing was measured", |u| u.reason.as_str())),
        }
    });
    if let Some(own) = &own {
        let _ = std::fs::remove_dir_all(own);
    }
    let (checked, stopped_by) = checked?;
    if let Some(signal) = stopped_by {
        return Ok(128 + u8::try_from(signal).unwrap_or(1));
    }
    print(&report::terminal::checked(&name, &checked))?;
    Ok(match (checked.nodes, checked.missed.is_empty()) {
        (None, _) => 4,
        (Some(_), true) => 0,
        (Some(_), false) => 3,
    })
}

fn criteria(path: &std::path::Path) -> Result<Criteria> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Criteria::parse(&text).with_context(|| format!("{} is no criteria file", path.display()))
}

fn measure(
    laboratory: &Laboratory,
    arguments: &CheckNodeArgs,
    criteria: &Criteria,
    place: &std::path::Path,
    budget_s: f64,
) -> Result<Option<i32>> {
    let select = SelectArgs { what: criteria.what.clone(), set: criteria.set.clone() };
    let wish = laboratory.wish(&select, None, ParameterList::Short)?;
    let start = Start::now();
    let usual = Terms::usual(start.run_id(), start.seed(), budget_s, (PRECISION, PRECISION));
    let terms = Terms { created: start.created(), short: true, ..usual };
    let plan = plan::build(&laboratory.experiments, &laboratory.workers, Choice::Wished(&wish), terms)?;
    let folder = RunFolder::create(place)?;
    let made = run::made(laboratory, false, plan, &folder, arguments.force, None);
    if made.is_err() {
        folder.discard();
    }
    made.map(|(_, stopped_by)| stopped_by)
}
