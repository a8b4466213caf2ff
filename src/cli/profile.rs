//! `pagewise profile`: what memory costs somebody's own program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use record::profile::{KIND, Outcome, PROFILE_SCHEMA, ProfilePlan, ProfileRun, ProfileSummary};
use record::sizes;
use record::trial::Change;

use super::page::PageArgs;
use super::start::Start;
use super::{print, runs_folder};
use crate::machine::{self, memory};
use crate::run::Alone;
use crate::run::profile::{self, Kept};
use crate::run::signals::Signals;
use crate::run::trial::{arms, launch};

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    /// Time to spend, beyond the six blocks of runs that an interval needs.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    budget: String,
    /// So many blocks of runs, whatever the time.
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    blocks: Option<usize>,
    /// What each run reads as its standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A run that takes longer is ended.
    #[arg(long, value_name = "TIME", default_value = "10min")]
    time_limit: String,
    /// Measure a command that ends with another code than 0.
    #[arg(short, long)]
    ignore_failure: bool,
    /// Send the output to /dev/null instead of reading it.
    #[arg(long)]
    discard_output: bool,
    /// Count page faults in total only, without following each.
    #[arg(long)]
    totals: bool,
    /// Seed of the orders [default: from the clock; it is kept].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where to keep it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a profile that was interrupted.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["out", "command"])]
    resume: Option<String>,
    /// Profile beside a run that is measuring on this machine.
    #[arg(long)]
    force: bool,
    /// The summary as JSON instead (crates/record/schema/profile.schema.json).
    #[arg(long)]
    json: bool,
    /// The command and its arguments.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(super) fn run(arguments: &ProfileArgs) -> Result<u8> {
    let _alone = Alone::on_this_machine(arguments.force)?;
    let (plan, kept) = match &arguments.resume {
        Some(name) => {
            let kept = Kept::open(name, &runs_folder()).with_context(|| format!("there is no profile {name:?}"))?;
            (kept.plan()?, kept)
        }
        None => {
            let plan = new_plan(arguments)?;
            let path = arguments.out.clone().unwrap_or_else(|| runs_folder().join(&plan.run));
            let kept = Kept::create(&path, &plan)?;
            (plan, kept)
        }
    };
    let signals = Signals::watch()?;
    let runs = profile::run(&plan, &kept, &signals)?;
    let summary = judge::profile::judge(&plan, &runs);
    kept.finish(&summary, &report::html::profiled(&summary))?;
    show(&summary, &kept, arguments.json)?;
    Ok(match signals.arrived() {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(1),
        None => nothing_measured(&summary),
    })
}

/// 4 where nothing can be said of the command.
fn nothing_measured(summary: &ProfileSummary) -> u8 {
    4 * u8::from(summary.outcome != Outcome::Ok)
}

fn show(summary: &ProfileSummary, kept: &Kept, json: bool) -> Result<u8> {
    if json {
        return print(&(serde_json::to_string_pretty(summary)? + "\n"));
    }
    print(&(report::profile::render(summary) + &format!("The profile is kept in {}\n", kept.path().display())))
}

fn new_plan(arguments: &ProfileArgs) -> Result<ProfilePlan> {
    if arguments.command.is_empty() {
        bail!("nothing to profile; write the command behind --, as in pagewise profile -- sort FILE");
    }
    if arguments.blocks == Some(0) {
        bail!("--blocks 0 leaves nothing to measure");
    }
    let (shown, command) = arms::subject(&arguments.command)?;
    let start = Start::now();
    let seed = arguments.seed.unwrap_or_else(|| start.seed());
    let input = match &arguments.input {
        Some(path) => {
            let real = std::fs::canonicalize(path).with_context(|| format!("--input {}", path.display()))?;
            if !real.is_file() {
                bail!("--input {} is not a file", path.display());
            }
            Some(real)
        }
        None => None,
    };
    Ok(ProfilePlan {
        schema: PROFILE_SCHEMA,
        kind: KIND.to_owned(),
        run: start.name_of("profile", seed),
        created: start.created(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        shown,
        command,
        directory: std::env::current_dir().context("the current folder")?,
        input,
        budget_s: sizes::parse_seconds(&arguments.budget).context("--budget")?,
        blocks: arguments.blocks,
        time_limit_s: sizes::parse_seconds(&arguments.time_limit).context("--time-limit")?,
        ignore_failure: arguments.ignore_failure,
        discard_output: arguments.discard_output,
        totals_only: arguments.totals,
        page_bytes: rustix::param::page_size() as u64,
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(0),
        thp: launch::thp_rule(),
        environment: machine::capture(Path::new("/")).headline(),
    })
}

/// A kept profile; `None` where the name is not that of one.
pub(super) fn open(name: &str) -> Result<Option<(Kept, ProfilePlan, Vec<ProfileRun>)>> {
    let Some(kept) = Kept::open(name, &runs_folder()) else { return Ok(None) };
    let (plan, runs) = (kept.plan()?, kept.runs()?);
    Ok(Some((kept, plan, runs)))
}

/// Prints a kept profile again, and writes its page where one is asked for; `None` where the name is not that of a profile.
pub(super) fn report_profile(name: &str, json: bool, page: Option<&PageArgs>) -> Result<Option<u8>> {
    let Some((kept, plan, runs)) = open(name)? else { return Ok(None) };
    let summary = judge::profile::judge(&plan, &runs);
    page.map_or(Ok(()), |page| page.write(|| report::html::profiled(&summary)))?;
    show(&summary, &kept, json)?;
    Ok(Some(nothing_measured(&summary)))
}

/// A profile's line in the list of runs; `None` where it is something else.
pub(super) fn line_of_profile(name: &str) -> Result<Option<(String, String)>> {
    let Some(kept) = Kept::open(name, &runs_folder()) else { return Ok(None) };
    let plan = kept.plan()?;
    let words = format!("profile of {}", plan.shown);
    Ok(Some((plan.created, words)))
}

/// What the newest kept profile of the same command in the same folder predicts for each setting, and its name.
pub(super) fn predictions(
    command: &[String],
    directory: &Path,
    input: Option<&PathBuf>,
) -> Option<(String, std::collections::BTreeMap<String, Change>)> {
    let mut names: Vec<String> = std::fs::read_dir(runs_folder())
        .ok()?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("-profile-"))
        .collect();
    names.sort();
    names.into_iter().rev().find_map(|name| {
        let kept = Kept::open(&name, &runs_folder())?;
        // A profile that cannot be read predicts nothing, which is no reason not to try.
        let (plan, runs) = (kept.plan().ok()?, kept.runs().ok()?);
        let same = plan.command == command && plan.directory == directory && plan.input.as_ref() == input;
        let found = same.then(|| judge::profile::predictions(&judge::profile::judge(&plan, &runs)))?;
        (!found.is_empty()).then_some((plan.run, found))
    })
}
