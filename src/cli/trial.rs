//! `pagewise try`: settings, or other commands, tried on somebody's own program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use record::sizes;
use record::trial::{ArmStatus, KIND, TRIAL_SCHEMA, TrialPlan, TrialSummary, TriedRun};

use super::page::PageArgs;
use super::start::Start;
use super::write::{may_write, write};
use super::{print, runs_folder};
use crate::machine;
use crate::run::Alone;
use crate::run::signals::Signals;
use crate::run::trial::{self, Kept, arms, settings};

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// What to try: names of --list, env:NAME=VALUE, args:WORDS, or a setting's file. May be repeated.
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
    /// What each run reads as its standard input [default: nothing].
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
    /// Where to keep it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with a try that was interrupted.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["with", "out"])]
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
    let (plan, kept) = match &arguments.resume {
        Some(name) => {
            let kept = Kept::open(name, &runs_folder()).with_context(|| format!("there is no try {name:?}"))?;
            let mut plan = kept.plan()?;
            if let Some(budget) = &arguments.budget {
                plan.budget_s = Some(sizes::parse_seconds(budget).context("--budget")?);
            }
            (plan, kept)
        }
        None => {
            let plan = new_plan(arguments)?;
            let path = arguments.out.clone().unwrap_or_else(|| runs_folder().join(&plan.run));
            let kept = Kept::create(&path, &plan)?;
            (plan, kept)
        }
    };
    let signals = Signals::watch()?;
    let runs = trial::run(&plan, &kept, &signals)?;
    let summary = judge::trial::judge(&plan, &runs);
    kept.finish(&summary, &report::html::tried(&summary))?;
    if let Some(path) = &arguments.export_hyperfine {
        let file = report::trial::hyperfine(&plan, &runs);
        write(path, arguments.force, |out| {
            serde_json::to_writer_pretty(&mut *out, &file)?;
            Ok(out.write_all(b"\n")?)
        })?;
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

fn show(summary: &TrialSummary, kept: &Kept, json: bool) -> Result<u8> {
    if json {
        return print(&(serde_json::to_string_pretty(summary)? + "\n"));
    }
    print(&(report::trial::render(summary) + &format!("The try is kept in {}\n", kept.path().display())))
}

fn new_plan(arguments: &TryArgs) -> Result<TrialPlan> {
    let settings = settings::of_words(&arguments.with)?;
    if arguments.pairs == Some(0) {
        bail!("--pairs 0 leaves nothing to measure");
    }
    if arguments.warmup == 0 {
        bail!("--warmup must be at least 1: the first run of each is the one that proves what it does");
    }
    let file = |path: &PathBuf, option: &str| {
        let real = std::fs::canonicalize(path).with_context(|| format!("{option} {}", path.display()))?;
        match real.is_file() {
            true => Ok(real),
            false => bail!("{option} {} is not a file", path.display()),
        }
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
        kind: KIND.to_owned(),
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

/// Prints a kept try again, and writes its page where one is asked for; `None` where the name is not that of a try.
pub(super) fn report_try(name: &str, json: bool, page: Option<&PageArgs>) -> Result<Option<u8>> {
    let Some((kept, plan, runs)) = open(name)? else { return Ok(None) };
    let summary = judge::trial::judge(&plan, &runs);
    page.map_or(Ok(()), |page| page.write(|| report::html::tried(&summary)))?;
    show(&summary, &kept, json)?;
    Ok(Some(nothing_measured(&summary)))
}

/// When a try was made and what it is, for the list of runs; `None` where it is something else.
pub(super) fn line_of_try(name: &str) -> Result<Option<(String, String)>> {
    let Some((_, plan, runs)) = open(name)? else { return Ok(None) };
    let names: Vec<&str> = plan.arms.iter().skip(1).rev().skip(1).rev().map(|a| a.name.as_str()).collect();
    let blocks = judge::trial::judge(&plan, &runs).blocks;
    let words = format!("try {} on {} ({blocks} blocks)", names.join(" "), plan.arms[0].shown);
    Ok(Some((plan.created, words)))
}

pub(super) fn open(name: &str) -> Result<Option<(Kept, TrialPlan, Vec<TriedRun>)>> {
    let Some(kept) = Kept::open(name, &runs_folder()) else { return Ok(None) };
    let (plan, runs) = (kept.plan()?, kept.runs()?);
    Ok(Some((kept, plan, runs)))
}
