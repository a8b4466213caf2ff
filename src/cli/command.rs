//! `pagewise try` and `pagewise profile`: studies of a user's own program.

use super::damage::code_of_program;
use super::output::{ShownArgs, may_write, print_folded, write};
use super::{new_folder, printed::Printed, runs_folder};
use crate::machine::{self, memory};
use crate::plan::Start;
use crate::run::Session;
use crate::run::command::{self, FIRST_WINDOW, arms, thp_rule};
use anyhow::{Context, Result, bail};
use clap::Args;
use files::Folder;
use record::command::{
    Amount, Arm, ArmRole, Attached, COMMAND_SCHEMA, CommandPlan, CommandSummary, KeptCommand,
    MOST_ARMS, MOST_PLAN_BYTES, Pages, ProfileSummary, TrialSummary,
};
use record::folder::{RunFolder, SUMMARY, peek};
use record::{kind::Kind, sizes};
use report::escape::pretty_json;
use rustix::fs::FileType;
use schedule::command::MOST_PAIRS;
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, io::Read};

/// Half-width of the share of CPU time at which a profile ends.
const NARROW: f64 = 0.002;
/// Column of the titles of settings.
const SETTING: usize = 14;
/// Precision and margin of a try.
const USUAL_SHARE: f64 = 0.01;
/// Allocators of which one is tried after a profile.
const ALLOCATORS: [&str; 3] = ["mimalloc", "jemalloc", "tcmalloc"];
/// Name of kept standard input in the folder of a study.
const INPUT: &str = "input";
/// Limit of that, in bytes.
const MOST_INPUT: u64 = 4 << 30;
/// Limit of a library that is copied, in bytes.
const MOST_LIBRARY: u64 = 16 << 20;
/// Options of a command that a process which runs already has no use for.
const NOT_OF_A_PROCESS: [&str; 9] = [
    "budget", "blocks", "then_try", "totals", "resume", "prepare", "evict", "input", "command",
];
/// Options of a try that the list of settings has no use for.
const NOT_OF_A_LIST: [&str; 21] = [
    "with",
    "precision",
    "margin",
    "budget",
    "pairs",
    "warmup",
    "sample_kernel",
    "export_hyperfine",
    "emit",
    "input",
    "prepare",
    "evict",
    "time_limit",
    "ignore_failure",
    "discard_output",
    "seed",
    "out",
    "resume",
    "json",
    "force",
    "command",
];
/// Windows of a process that runs already, besides the first.
const WINDOWS: usize = 8;
const PROFILE_BUDGET_S: f64 = 20.0;

/// Options of both verbs.
#[derive(Clone, Debug, Default, Args)]
struct CommandArgs {
    /// Standard input of each run [default: nothing]; - keeps what is piped in here and gives it to each.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A shell command before every run, unmeasured.
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// A file to put out of the page cache before every run. May be repeated.
    #[arg(long, value_name = "FILE")]
    evict: Vec<PathBuf>,
    /// A run that takes longer is ended.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds, default_value = "10min")]
    time_limit: f64,
    /// Measure a command that ends with another code than 0.
    #[arg(short, long)]
    ignore_failure: bool,
    /// Send the output to /dev/null instead of reading it and comparing it.
    #[arg(long)]
    discard_output: bool,
    /// Seed of the orders [default: from the clock; it is kept].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep it in this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with an interrupted one: repeat the command, its settings, --prepare, --evict and --input.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["out", "time_limit", "ignore_failure", "discard_output", "seed"])]
    resume: Option<String>,
    /// Print the summary as JSON instead.
    #[arg(long)]
    json: bool,
    /// Measure beside a run that is measuring on this machine, and replace the file of --export-hyperfine.
    #[arg(long)]
    force: bool,
    /// The command and its arguments; or, for try without --with, several commands to compare, each in quotes.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

#[derive(Debug, Default, Args)]
pub(super) struct TryArgs {
    /// Try these settings: names of --list, env:NAME=VALUE, args:WORDS, or a setting's file. May be repeated.
    #[arg(long, value_name = "SETTING[,SETTING]")]
    with: Vec<String>,
    /// The settings there are.
    #[arg(long, conflicts_with_all = NOT_OF_A_LIST)]
    list: bool,
    /// Half-width at which the interval of total CPU time is narrow enough [default: 1%, or as soon as every arm differs].
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, conflicts_with = "resume")]
    precision: Option<f64>,
    /// Smaller differences are called the same.
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "1%", conflicts_with = "resume")]
    margin: f64,
    /// Time to spend [default: 1min, or what six blocks take].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    budget: Option<f64>,
    /// So many blocks of runs, whatever the precision.
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "resume"])]
    pairs: Option<usize>,
    /// Runs of each before the first that counts.
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "resume")]
    warmup: usize,
    /// Divide CPU time into user and kernel time by samples of 500 µs instead of the kernel's ticks, usually of 4 ms. Each
    /// sample takes some time itself, and commands that begin many processes are left to the ticks.
    #[arg(long, conflicts_with = "resume")]
    sample_kernel: bool,
    /// Also write the measured runs as hyperfine's JSON.
    #[arg(long, value_name = "FILE")]
    export_hyperfine: Option<PathBuf>,
    /// Write what deploys the setting that saves most into this new folder: shell, systemd and Dockerfile lines.
    #[arg(long, value_name = "DIR", requires = "with")]
    emit: Option<PathBuf>,
    #[command(flatten)]
    common: CommandArgs,
}

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    /// Time to spend, beyond the six blocks of runs that an interval needs [default: 20s].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds, conflicts_with = "resume")]
    budget: Option<f64>,
    /// So many blocks of runs, whatever the time.
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "resume"])]
    blocks: Option<usize>,
    /// Count page faults in total only, without following each.
    #[arg(long, conflicts_with = "resume")]
    totals: bool,
    /// Find the functions and lines that cause page faults: on, or off where it costs too much.
    #[arg(long, value_name = "WHEN", default_value = "on", value_parser = ["on", "off"], conflicts_with = "resume")]
    stacks: String,
    /// Then try the most promising settings and an allocator in one study: --budget and --blocks hold for each of the two.
    #[arg(long, conflicts_with_all = ["json", "resume"])]
    then_try: bool,
    /// Profile this process of yours, which runs already and is not stopped, instead of a command.
    #[arg(long, value_name = "N", conflicts_with_all = NOT_OF_A_PROCESS)]
    pid: Option<i32>,
    /// Time for which a process is followed.
    #[arg(long = "for", value_name = "TIME", value_parser = sizes::parse_seconds, default_value = "10s", requires = "pid", conflicts_with_all = NOT_OF_A_PROCESS)]
    duration: f64,
    #[command(flatten)]
    common: CommandArgs,
}

pub(super) fn try_settings(arguments: &TryArgs) -> Result<u8> {
    if arguments.list {
        return print_folded(&arms::list()?, SETTING);
    }
    let common = &arguments.common;
    if let Some(path) = &arguments.export_hyperfine {
        may_write(path, common.force)?;
    }
    if let Some(folder) = &arguments.emit {
        Folder::can_be_fresh(folder)?;
    }
    study(
        common,
        Kind::Try,
        || trial_plan(arguments),
        |kept, summary| {
            if let (Some(folder), CommandSummary::Try(summary)) = (&arguments.emit, summary) {
                emit(folder, summary)?;
            }
            let Some(path) = &arguments.export_hyperfine else {
                return Ok(());
            };
            let file = report::export::hyperfine::of_try(kept);
            write(path, common.force, |out| {
                Ok(out.write_all(pretty_json(&file)?.as_bytes())?)
            })
        },
    )
}

/// Writes the files that deploy the best setting into a new folder, with the library that they name.
fn emit(path: &Path, summary: &TrialSummary) -> Result<()> {
    let place = std::path::absolute(path)?;
    let Some(policy) = report::command::policy(summary, &place) else {
        remark!(
            "Nothing is written to {}: no setting is shown to save CPU time",
            path.display()
        );
        return Ok(());
    };
    let (folder, _) = Folder::fresh_shared(path)?;
    for (name, text) in &policy.files {
        let is_program = name.ends_with(".sh");
        if is_program {
            folder.write_program(name, text.as_bytes())?
        } else {
            folder.write_shared(name, text.as_bytes())?
        }
    }
    if let Some((library, name)) = &policy.preload {
        folder.write_shared(name, &files::read_input(Path::new(library), MOST_LIBRARY)?)?;
    }
    remark!("What deploys {} is in {}", policy.setting, path.display());
    Ok(())
}

pub(super) fn profile(arguments: &ProfileArgs) -> Result<u8> {
    let mut promising = Vec::new();
    let note_promising = |_: &KeptCommand, summary: &CommandSummary| {
        if let (true, CommandSummary::Profile(summary)) = (arguments.then_try, summary) {
            promising = worth_a_try(&arguments.common.command, summary)?;
        }
        Ok(())
    };
    let code = study(
        &arguments.common,
        Kind::Profile,
        || profile_plan(arguments),
        note_promising,
    )?;
    if code != 0 || promising.is_empty() {
        return Ok(code);
    }
    try_settings(&TryArgs {
        with: promising,
        precision: Some(USUAL_SHARE),
        margin: USUAL_SHARE,
        budget: arguments.budget,
        pairs: arguments.blocks,
        warmup: 1,
        common: CommandArgs {
            out: None,
            ..arguments.common.clone()
        },
        ..TryArgs::default()
    })
}

/// Huge pages, what the profile predicts to save most besides, settings of libraries that it met, and of its own allocator;
/// where that is the C library's, the first other one here.
fn worth_a_try(command: &[String], summary: &ProfileSummary) -> Result<Vec<String>> {
    let mut names = vec!["thp".to_owned()];
    names.extend(
        summary
            .worth_a_try()
            .map(|c| c.setting.clone())
            .find(|name| name != "thp"),
    );
    let frames = || summary.stacks.iter().flat_map(|stacks| &stacks.frames);
    let modules = || {
        frames()
            .map(|frame| frame.module.as_str())
            .chain([summary.allocator.as_str()])
    };
    let of_modules = arms::all()?.into_iter().filter(|setting| {
        setting
            .modules
            .iter()
            .any(|start| modules().any(|module| module.starts_with(start.as_str())))
    });
    names.extend(
        of_modules
            .map(|setting| setting.name)
            .filter(|name| !names.contains(name))
            .collect::<Vec<_>>(),
    );
    for allocator in ALLOCATORS.iter().filter(|_| summary.allocator.is_empty()) {
        let arms = arms::arms(command, &arms::of_words(&[(*allocator).to_owned()])?)?;
        if arms.iter().all(|arm| arm.skipped.is_none()) {
            names.push((*allocator).to_owned());
            break;
        }
    }
    Ok(names)
}

/// Makes a study or completes one, keeps its summary and prints it.
fn study(
    common: &CommandArgs,
    kind: Kind,
    plan: impl FnOnce() -> Result<CommandPlan>,
    export: impl FnOnce(&KeptCommand, &CommandSummary) -> Result<()>,
) -> Result<u8> {
    let resumed = common
        .resume
        .as_deref()
        .map(|name| super::named::resumable(name, kind))
        .transpose()?;
    let mut plan = plan()?;
    if plan.arms.len() > MOST_ARMS {
        bail!("a try has at most {MOST_ARMS} commands and settings");
    }
    if serde_json::to_vec(&plan)?.len() as u64 > MOST_PLAN_BYTES / 2 {
        bail!("the words of the command and its files are too long to be kept");
    }
    let is_spooled = common.input.as_deref() == Some(Path::new("-"));
    let path = match &resumed {
        Some(folder) => folder.path().to_owned(),
        None => std::path::absolute(new_folder(common.out.as_deref(), &plan.run))?,
    };
    plan.input = if is_spooled {
        Some(path.join(INPUT))
    } else {
        plan.input
    };
    let session = match resumed {
        Some(folder) => command::resume(folder, plan, common.force)?,
        None => Session::begin(plan, &path, common.force)?,
    };
    if is_spooled && !session.resumed {
        spool(&path).inspect_err(|_| session.folder.discard())?;
    }
    let (kept, stopped_by) = command::run(&session)?;
    let summary = judge::program::judge(&kept);
    session.folder.write_result(SUMMARY, &summary)?;
    let printed = Printed::Program {
        kept: &kept,
        summary: &summary,
    };
    printed.keep_page(&session.folder);
    session.folder.reach_device()?;
    export(&kept, &summary)?;
    printed.print(common.json, &ShownArgs::default())?;
    Ok(printed.exit_code(stopped_by, false))
}

/// Keeps standard input in the folder of a study.
fn spool(path: &Path) -> Result<()> {
    let mut input = std::io::stdin().lock().take(MOST_INPUT);
    let folder = Folder::open(path)?;
    folder.write_stream(INPUT, &mut input)?;
    if input.limit() == 0 {
        folder.remove(INPUT)?;
        bail!("--input - takes less than 4 GiB; name a file");
    }
    Ok(())
}

/// The plan of either kind, as far as the common options say.
fn base_plan(common: &CommandArgs, kind: Kind, arms: Vec<Arm>) -> Result<CommandPlan> {
    let start = Start::now();
    let seed = common.seed.unwrap_or_else(|| start.seed());
    let named = common
        .input
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let stdin =
        rustix::fs::fstat(std::io::stdin()).map(|about| FileType::from_raw_mode(about.st_mode));
    if common.input.is_none() && stdin == Ok(FileType::Fifo) {
        remark!("pagewise: what is piped in here is not read; --input - gives it to each run");
    }
    Ok(CommandPlan {
        schema: COMMAND_SCHEMA,
        kind,
        run: start.name_of(&kind.word(), seed),
        created: start.created(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        arms,
        directory: std::env::current_dir().context("the current folder")?,
        prepare: common.prepare.clone(),
        evict: common
            .evict
            .iter()
            .map(|path| user_file(path, "--evict"))
            .collect::<Result<_>>()?,
        input: named.map(|path| user_file(path, "--input")).transpose()?,
        precision: NARROW,
        warmups: 1,
        time_limit_s: common.time_limit,
        ignore_failure: common.ignore_failure,
        discard_output: common.discard_output,
        environment: machine::capture(Path::new("/")).headline(),
        ..CommandPlan::default()
    })
}

/// The real path of a file that can be read.
fn user_file(path: &Path, option: &str) -> Result<PathBuf> {
    files::open_input(path).with_context(|| option.to_owned())?;
    path.canonicalize()
        .with_context(|| format!("{option} {}", path.display()))
}

fn trial_plan(arguments: &TryArgs) -> Result<CommandPlan> {
    let settings = arms::of_words(&arguments.with)?;
    if arguments.pairs.is_some_and(|pairs| pairs > MOST_PAIRS) {
        bail!("--pairs takes {MOST_PAIRS} at most");
    }
    if arguments.pairs == Some(0) {
        bail!("--pairs 0 leaves nothing to measure");
    }
    if arguments.warmup == 0 {
        bail!(
            "--warmup must be at least 1: the first run of each is the one that proves what it does"
        );
    }
    let arms = arms::arms(&arguments.common.command, &settings)?;
    let mut plan = base_plan(&arguments.common, Kind::Try, arms)?;
    if let Some((profile, predicted)) = (!settings.is_empty()).then(|| predictions(&plan)).flatten()
    {
        (plan.profile, plan.predicted) = (Some(profile), predicted);
    }
    Ok(CommandPlan {
        precision: arguments.precision.unwrap_or(USUAL_SHARE),
        interim: arguments.precision.is_none() && arguments.pairs.is_none(),
        margin: arguments.margin,
        budget_s: arguments.budget,
        pairs: arguments.pairs,
        warmups: arguments.warmup,
        sample_kernel: arguments.sample_kernel,
        ..plan
    })
}

fn profile_plan(arguments: &ProfileArgs) -> Result<CommandPlan> {
    let common = &arguments.common;
    if let Some(pid) = arguments.pid {
        let window_s = arguments.duration / (WINDOWS as f64 + FIRST_WINDOW);
        let started_ticks = Some(started_ticks(pid)?);
        return Ok(CommandPlan {
            attached: Some(Attached {
                pid,
                started_ticks,
                window_s,
            }),
            budget_s: Some(arguments.duration),
            pairs: Some(WINDOWS),
            pages: Some(pages()),
            stacks: arguments.stacks == "on",
            ..base_plan(common, Kind::Profile, vec![running(pid)?])?
        });
    }
    if common.command.is_empty() {
        bail!(
            "nothing to profile; write the command behind --, as in pagewise profile -- sort FILE"
        );
    }
    if arguments.blocks == Some(0) {
        bail!("--blocks 0 leaves nothing to measure");
    }
    let (shown, command) = arms::subject(&common.command)?;
    let arm = arms::plain("as it is", ArmRole::Baseline, &shown, command);
    let budget_s = arguments.budget.unwrap_or(PROFILE_BUDGET_S);
    Ok(CommandPlan {
        budget_s: common.resume.is_none().then_some(budget_s),
        pairs: arguments.blocks,
        totals_only: arguments.totals,
        stacks: arguments.stacks == "on" && !arguments.totals,
        pages: Some(pages()),
        ..base_plan(common, Kind::Profile, vec![arm])?
    })
}

fn pages() -> Pages {
    Pages {
        page_bytes: rustix::param::page_size() as u64,
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(0),
        thp: thp_rule(),
    }
}

/// Start of a process, in clock ticks since the machine did (proc_pid_stat(5)).
fn started_ticks(pid: i32) -> Result<u64> {
    const FIELD_AFTER_NAME: usize = 19;
    let stat = files::kernel::read(format!("/proc/{pid}/stat"))
        .with_context(|| format!("there is no process {pid}"))?;
    // The name before the last parenthesis may hold anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().nth(FIELD_AFTER_NAME);
    ticks
        .and_then(|ticks| ticks.parse().ok())
        .with_context(|| format!("/proc/{pid}/stat says {stat:?}"))
}

/// The arm of a process of this user that runs already.
fn running(pid: i32) -> Result<Arm> {
    let status = files::kernel::read(format!("/proc/{pid}/status"))
        .with_context(|| format!("there is no process {pid}"))?;
    let user = status.lines().find_map(|line| {
        line.strip_prefix("Uid:")?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    });
    if user != Some(rustix::process::getuid().as_raw()) {
        bail!("process {pid} belongs to another user");
    }
    let command = files::kernel::read(format!("/proc/{pid}/cmdline"))?;
    let command: Vec<String> = command.split_terminator('\0').map(str::to_owned).collect();
    if command.is_empty() {
        bail!("process {pid} is the kernel's own");
    }
    Ok(arms::plain(
        "as it is",
        ArmRole::Baseline,
        &format!("process {pid}: {}", command.join(" ")),
        command,
    ))
}

/// Name of the newest kept profile of the same command in the same folder, and its prediction for each setting.
fn predictions(plan: &CommandPlan) -> Option<(String, BTreeMap<String, Amount>)> {
    let names = Folder::open(&runs_folder()).ok()?.names().ok()?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let names: Vec<String> = names.filter(|name| name.contains("-profile-")).collect();
    names.into_iter().rev().find_map(|name| {
        let other: CommandPlan = peek(&runs_folder().join(&name), "plan.json")?;
        let same = (
            &other.arms.first()?.command,
            &other.directory,
            &other.input,
            other.kind,
        ) == (
            &plan.arms[0].command,
            &plan.directory,
            &plan.input,
            Kind::Profile,
        );
        if !same {
            return None;
        }
        let opened =
            RunFolder::open(&name, &runs_folder()).and_then(|folder| folder.mine()?.whole());
        // A profile that cannot be read predicts nothing, which is no reason not to try.
        let kept: KeptCommand = opened
            .inspect_err(|error| remark!("pagewise: {error:#}; it predicts nothing"))
            .ok()?;
        if code_of_program(&kept, 0) != 0 {
            return None;
        }
        let predicted = judge::program::profile::predictions(&judge::program::profile::judge(
            &kept.plan,
            &kept.launches,
        ));
        (!predicted.is_empty()).then_some((kept.plan.run, predicted))
    })
}
