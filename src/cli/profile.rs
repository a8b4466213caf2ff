//! `pagewise profile`: what memory costs somebody's own program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use files::Folder;
use record::folder::{RunFolder, peek};
use record::kind::Kind;
use record::profile::{Outcome, PROFILE_SCHEMA, ProfilePlan, ProfileSummary};
use record::sizes;
use record::trial::Change;

use super::opened::{Profiled, code_of};
use super::page::PageArgs;
use super::start::Start;
use super::{new_folder, print, print_json, runs_folder};
use crate::machine::{self, memory};
use crate::run::signals::Signals;
use crate::run::trial::{arms, launch};
use crate::run::{Alone, kept, profile};

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    /// Time to spend, beyond the six blocks of runs that an interval needs.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    budget: String,
    /// So many blocks of runs, whatever the time.
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    blocks: Option<usize>,
    /// Standard input of each run [default: nothing].
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
    /// Keep it in this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a profile that was interrupted.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["out", "command", "budget", "blocks", "input", "time_limit",
        "ignore_failure", "discard_output", "totals", "seed"])]
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
    let (mut kept, _lock): (Profiled, _) = match &arguments.resume {
        Some(name) => kept::resume(name, &runs_folder(), Kind::Profile, PROFILE_SCHEMA)?,
        None => {
            let plan = new_plan(arguments)?;
            let path = new_folder(arguments.out.as_deref(), &plan.run);
            kept::create(&path, plan)?
        }
    };
    let signals = Signals::watch()?;
    profile::run(&mut kept, &signals)?;
    let summary = judge::profile::judge_kept(&kept);
    kept::finish(&kept, &summary, &page_of(&summary))?;
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

/// The page of a profile.
fn page_of(summary: &ProfileSummary) -> String {
    report::html::page(&report::profile::document(summary), report::html::rounded(summary))
}

fn show(summary: &ProfileSummary, kept: &Profiled, json: bool) -> Result<u8> {
    if json {
        return print_json(summary);
    }
    print(
        &(super::screen::text(&report::profile::document(summary), false, false)
            + &format!("The profile is kept in {}\n", kept.folder.path().display())),
    )
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
            files::open_input(path).context("--input")?;
            Some(path.canonicalize().with_context(|| format!("--input {}", path.display()))?)
        }
        None => None,
    };
    Ok(ProfilePlan {
        schema: PROFILE_SCHEMA,
        kind: Kind::Profile,
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

/// Prints a kept profile again, and writes its page where one is asked for.
pub(super) fn report_profile(kept: &Profiled, json: bool, page: Option<&PageArgs>) -> Result<u8> {
    let summary = judge::profile::judge_kept(kept);
    page.map_or(Ok(()), |page| page.write(|| page_of(&summary)))?;
    show(&summary, kept, json)?;
    Ok(code_of(kept, nothing_measured(&summary)))
}

/// Name of the newest kept profile of the same command in the same folder, and its prediction for each setting.
pub(super) fn predictions(
    command: &[String],
    directory: &Path,
    input: Option<&PathBuf>,
) -> Option<(String, std::collections::BTreeMap<String, Change>)> {
    let names = Folder::open(&runs_folder()).ok()?.names().ok()?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let names: Vec<String> = names.filter(|name| name.contains("-profile-")).collect();
    names.into_iter().rev().find_map(|name| {
        let plan: ProfilePlan = peek(&runs_folder().join(&name), "plan.json")?;
        if plan.command != command || plan.directory != directory || plan.input.as_ref() != input {
            return None;
        }
        let opened = RunFolder::open(&name, &runs_folder()).and_then(|folder| folder.mine()?.whole(PROFILE_SCHEMA));
        // A profile that cannot be read predicts nothing, which is no reason not to try.
        let kept: Profiled = opened.inspect_err(|error| remark!("pagewise: {error:#}; it predicts nothing")).ok()?;
        if code_of(&kept, 0) != 0 {
            return None;
        }
        let predicted = judge::profile::predictions(&judge::profile::judge(&kept.plan, &kept.launches));
        (!predicted.is_empty()).then_some((kept.plan.run, predicted))
    })
}
