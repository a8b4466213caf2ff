//! `pagewise try`: settings, or other commands, tried on somebody's own program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use record::kind::Kind;
use record::sizes;
use record::trial::{ArmStatus, TRIAL_SCHEMA, TrialPlan, TrialSummary};
use report::escape::pretty_json;

use super::opened::{Tried, code_of};
use super::page::PageArgs;
use super::start::Start;
use super::write::{may_write, write};
use super::{new_folder, print, print_json, runs_folder};
use crate::machine;
use crate::run::signals::Signals;
use crate::run::trial::{self, arms, settings};
use crate::run::{Alone, kept};

/// The most blocks that are drawn before the first is run.
const MOST_PAIRS: usize = 100_000;

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// Try these settings: names of --list, env:NAME=VALUE, args:WORDS, or a setting's file. May be repeated.
    #[arg(long, value_name = "SETTING[,SETTING]")]
    with: Vec<String>,
    /// The settings there are.
    #[arg(long)]
    list: bool,
    /// Half-width at which the interval of total CPU time is narrow enough.
    #[arg(long, value_name = "SHARE", default_value = "1%")]
    precision: String,
    /// Smaller differences are called the same.
    #[arg(long, value_name = "SHARE", default_value = "1%")]
    margin: String,
    /// Time to spend [default: 1min, or what six blocks take].
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// So many blocks of runs, whatever the precision.
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    pairs: Option<usize>,
    /// Runs of each before the first that counts.
    #[arg(long, value_name = "N", default_value = "1")]
    warmup: usize,
    /// A shell command before every run, unmeasured.
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// A file to put out of the page cache before every run. May be repeated.
    #[arg(long, value_name = "FILE")]
    evict: Vec<PathBuf>,
    /// Standard input of each run [default: nothing].
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A run that takes longer is ended.
    #[arg(long, value_name = "TIME", default_value = "10min")]
    time_limit: String,
    /// Measure a command that ends with another code than 0.
    #[arg(short, long)]
    ignore_failure: bool,
    /// Send the output to /dev/null instead of comparing it.
    #[arg(long)]
    discard_output: bool,
    /// Divide CPU time into user and kernel time by samples of 500 µs instead of the kernel's ticks, usually of 4 ms. Each
    /// sample takes some time itself, and commands that begin many processes are left to the ticks.
    #[arg(long)]
    sample_kernel: bool,
    /// Seed of the orders [default: from the clock; it is kept].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep it in this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a try that was interrupted.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["with", "out", "command", "precision", "margin", "pairs",
        "warmup", "prepare", "evict", "input", "time_limit", "ignore_failure", "discard_output", "sample_kernel", "seed"])]
    resume: Option<String>,
    /// The summary as JSON instead.
    #[arg(long)]
    json: bool,
    /// Also write the measured runs as hyperfine's JSON.
    #[arg(long, value_name = "FILE")]
    export_hyperfine: Option<PathBuf>,
    /// Try beside a run that is measuring on this machine, and replace the file of --export-hyperfine.
    #[arg(long)]
    force: bool,
    /// The command and its arguments; or, without --with, several commands to compare, each in quotes.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(super) fn run(arguments: &TryArgs) -> Result<u8> {
    if arguments.list {
        return print(&settings::list()?);
    }
    if let Some(path) = &arguments.export_hyperfine {
        may_write(path, arguments.force)?;
    }
    let _alone = Alone::on_this_machine(arguments.force)?;
    let (mut kept, _lock) = match &arguments.resume {
        Some(name) => {
            let budget_s = arguments.budget.as_deref().map(sizes::parse_seconds).transpose().context("--budget")?;
            let mut resumed: (Tried, _) = kept::resume(name, &runs_folder(), Kind::Try, TRIAL_SCHEMA)?;
            resumed.0.plan.budget_s = budget_s.or(resumed.0.plan.budget_s);
            resumed
        }
        None => {
            let plan = new_plan(arguments)?;
            let path = new_folder(arguments.out.as_deref(), &plan.run);
            kept::create(&path, plan)?
        }
    };
    let signals = Signals::watch()?;
    trial::run(&mut kept, &signals)?;
    let summary = judge::trial::judge_kept(&kept);
    kept::finish(&kept, &summary, &page_of(&summary))?;
    if let Some(path) = &arguments.export_hyperfine {
        let file = report::trial::hyperfine(&kept.plan, &kept.launches);
        write(path, arguments.force, |out| Ok(out.write_all(pretty_json(&file)?.as_bytes())?))?;
    }
    show(&summary, &kept, arguments.json)?;
    Ok(match signals.arrived() {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(1),
        None => nothing_measured(&summary),
    })
}

/// 4 where the command could not be measured.
fn nothing_measured(summary: &TrialSummary) -> u8 {
    4 * u8::from(summary.arms[0].status != ArmStatus::Ok)
}

/// The page of a try.
fn page_of(summary: &TrialSummary) -> String {
    report::html::page(&report::trial::document(summary), report::html::rounded(summary))
}

fn show(summary: &TrialSummary, kept: &Tried, json: bool) -> Result<u8> {
    if json {
        return print_json(summary);
    }
    print(
        &(super::screen::text(&report::trial::document(summary), false, false)
            + &format!("The try is kept in {}\n", kept.folder.path().display())),
    )
}

fn new_plan(arguments: &TryArgs) -> Result<TrialPlan> {
    let settings = settings::of_words(&arguments.with)?;
    if arguments.pairs.is_some_and(|pairs| pairs > MOST_PAIRS) {
        bail!("--pairs takes {MOST_PAIRS} at most");
    }
    if arguments.pairs == Some(0) {
        bail!("--pairs 0 leaves nothing to measure");
    }
    if arguments.warmup == 0 {
        bail!("--warmup must be at least 1: the first run of each is the one that proves what it does");
    }
    let file = |path: &PathBuf, option: &str| {
        files::open_input(path).with_context(|| option.to_owned())?;
        path.canonicalize().with_context(|| format!("{option} {}", path.display()))
    };
    let arms = arms::arms(&arguments.command, &settings)?;
    let directory = std::env::current_dir().context("the current folder")?;
    let input = arguments.input.as_ref().map(|p| file(p, "--input")).transpose()?;
    let known =
        super::profile::predictions(&arms[0].command, &directory, input.as_ref()).filter(|_| !settings.is_empty());
    let (profile, predicted) = known.map_or_else(Default::default, |(profile, predicted)| (Some(profile), predicted));
    let start = Start::now();
    let seed = arguments.seed.unwrap_or_else(|| start.seed());
    Ok(TrialPlan {
        schema: TRIAL_SCHEMA,
        kind: Kind::Try,
        run: start.name_of("try", seed),
        created: start.created(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        arms,
        directory,
        prepare: arguments.prepare.clone(),
        evict: arguments.evict.iter().map(|p| file(p, "--evict")).collect::<Result<_>>()?,
        input,
        precision: sizes::parse_share(&arguments.precision).context("--precision")?,
        margin: sizes::parse_share(&arguments.margin).context("--margin")?,
        budget_s: arguments.budget.as_deref().map(sizes::parse_seconds).transpose().context("--budget")?,
        pairs: arguments.pairs,
        warmups: arguments.warmup,
        time_limit_s: sizes::parse_seconds(&arguments.time_limit).context("--time-limit")?,
        ignore_failure: arguments.ignore_failure,
        discard_output: arguments.discard_output,
        sample_kernel: arguments.sample_kernel,
        environment: machine::capture(Path::new("/")).headline(),
        profile,
        predicted,
    })
}

/// Prints a kept try again, and writes its page where one is asked for.
pub(super) fn report_try(kept: &Tried, json: bool, page: Option<&PageArgs>) -> Result<u8> {
    let summary = judge::trial::judge_kept(kept);
    page.map_or(Ok(()), |page| page.write(|| page_of(&summary)))?;
    show(&summary, kept, json)?;
    Ok(code_of(kept, nothing_measured(&summary)))
}

/// A try's line in the list of runs.
pub(super) fn line_of_try(kept: &Tried) -> String {
    let plan = &kept.plan;
    let names: Vec<&str> = plan.arms.iter().skip(1).rev().skip(1).rev().map(|a| a.name.as_str()).collect();
    let blocks = judge::trial::judge(plan, &kept.launches).blocks;
    format!("try {} on {} ({blocks} blocks)", names.join(" "), plan.arms[0].shown)
}
