//! `pagewise try` and `pagewise profile`: studies of a user's own program.

use super::output::{ShownArgs, may_write, print_folded, write};
use super::{kept, new_folder, printed::Printed};
use crate::machine;
use crate::plan::Start;
use crate::run::Session;
use crate::run::command::{self, arms, changing, pages, running};
use crate::run::progress::announce;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use files::Folder;
use record::command::{
    Arm, ArmRole, Attached, COMMAND_SCHEMA, CommandPlan, CommandSummary, KeptCommand, MOST_ARMS,
    MOST_PLAN_BYTES, TrialSummary, Watching,
};
use record::folder::{RunFolder, SUMMARY};
use record::json::ToJson;
use record::{kind::Kind, sizes};
use report::escape::pretty_json;
use rustix::fs::FileType;
use schedule::command::{MOST_PAIRS, SAMPLED_WINDOWS};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Half-width of the cost of page faults, relative to it, at which a profile ends.
const NARROW: f64 = 0.05;
/// Column of the titles of settings.
const SETTING: usize = 14;
/// Precision and margin of a try.
const USUAL_SHARE: f64 = 0.01;
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
const NOT_OF_A_LIST: [&str; 24] = [
    "with",
    "watch",
    "duration",
    "allow_system_changes",
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
/// Windows of a process that runs already, besides the first and those that sample the kernel's time.
const WINDOWS: usize = 8;
const PROFILE_BUDGET_S: f64 = 10.0;
/// Milliseconds between two samples of a watched command, at first.
const WATCH_MS: u64 = 50;

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
    /// Try these settings, in any order: names of --list, env:NAME=VALUE, args:WORDS, or a setting's file. May be repeated.
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
    /// Watch memory beside time: what each setting saves of the one and costs of the other, also of a service, which is ended
    /// after --for. It goes on for --budget, or until Ctrl-C.
    #[arg(long, conflicts_with_all = ["precision", "resume", "sample_kernel"])]
    watch: bool,
    /// Time after which a watched run that has not ended by itself is ended.
    #[arg(long = "for", value_name = "TIME", value_parser = sizes::parse_seconds, default_value = "5s", requires = "watch")]
    duration: f64,
    /// Allow settings that change the machine meanwhile, such as memory cgroups and merging of pages; everything is put back.
    #[arg(long)]
    allow_system_changes: bool,
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

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Stacks {
    On,
    Off,
}

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    /// Time to spend; a command that takes long is run six times in any case [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds, conflicts_with = "resume")]
    budget: Option<f64>,
    /// So many blocks of runs, whatever the time.
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "resume"])]
    blocks: Option<usize>,
    /// Count page faults in total only, without following each.
    #[arg(long, conflicts_with = "resume")]
    totals: bool,
    /// Find the functions and lines that cause page faults: on, or off where it costs too much.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Stacks::On, conflicts_with = "resume")]
    stacks: Stacks,
    /// Then try the settings that the answer names in one study: --budget and --blocks hold for each of the two.
    #[arg(long, conflicts_with_all = ["json", "resume"])]
    then_try: bool,
    /// Also print the tables behind the answer: kernel time by call, events with their costs, agreement.
    #[arg(long, conflicts_with = "json")]
    full: bool,
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
    let resumed = resumed(common, Kind::Try)?;
    let studied = study(common, resumed, trial_plan(arguments)?)?;
    if let (Some(folder), CommandSummary::Try(summary)) = (&arguments.emit, &studied.summary) {
        emit(folder, summary)?;
    }
    if let Some(path) = &arguments.export_hyperfine {
        let file = pretty_json(&report::export::hyperfine::of_try(&studied.kept))?;
        write(
            path,
            common.force,
            |out| Ok(out.write_all(file.as_bytes())?),
        )?;
    }
    studied.print(common.json, false)
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
    let common = &arguments.common;
    let resumed = resumed(common, Kind::Profile)?;
    let studied = study(common, resumed, profile_plan(arguments)?)?;
    let named: Vec<String> = match &studied.summary {
        CommandSummary::Profile(summary) if arguments.then_try => {
            let named = summary.named_settings().into_iter();
            named.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    let code = studied.print(common.json, arguments.full)?;
    if arguments.then_try && code == 0 && named.is_empty() {
        remark!("Nothing is tried: the answer names no setting");
    }
    if code != 0 || named.is_empty() {
        return Ok(code);
    }
    announce(&format!(
        "now, with a budget of its own: pagewise try --with {}",
        named.join(",")
    ));
    try_settings(&TryArgs {
        with: named,
        precision: None,
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

/// A study that was measured and kept.
struct Studied {
    folder: RunFolder,
    kept: KeptCommand,
    summary: CommandSummary,
    /// The signal that stopped it.
    stopped_by: Option<i32>,
}

impl Studied {
    /// Prints it, and then sees to it that it reaches the device, which may take long; the result is the exit code.
    fn print(&self, json: bool, full: bool) -> Result<u8> {
        let printed = Printed::Program {
            kept: &self.kept,
            summary: &self.summary,
        };
        let shown = ShownArgs {
            full,
            ..ShownArgs::default()
        };
        printed.print(json, &shown)?;
        if let Err(error) = self.folder.reach_device() {
            remark!("pagewise: a power cut now may take it: {error:#}");
        }
        Ok(printed.exit_code(self.stopped_by, false))
    }
}

/// The kept study that is to be completed, if one is.
fn resumed(common: &CommandArgs, kind: Kind) -> Result<Option<RunFolder>> {
    let name = common.resume.as_deref();
    name.map(|name| super::named::resumable(name, kind))
        .transpose()
}

/// Makes a study or completes one, and keeps its summary and its page.
fn study(
    common: &CommandArgs,
    resumed: Option<RunFolder>,
    mut plan: CommandPlan,
) -> Result<Studied> {
    if plan.arms.len() > MOST_ARMS {
        bail!("a try has at most {MOST_ARMS} commands and settings");
    }
    if plan.to_json()?.to_string().len() as u64 > MOST_PLAN_BYTES / 2 {
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
    let changes = changing::Changes::make(&mut plan)?;
    let session = match resumed {
        Some(folder) => command::resume(folder, plan, common.force)?,
        None => Session::begin(plan, &path, common.force)?,
    };
    if is_spooled && !session.resumed {
        spool(&path).inspect_err(|_| session.folder.discard())?;
    }
    let (kept, stopped_by) = command::run(&session, &changes)?;
    let summary = judge::program::judge(&kept);
    session.folder.write_result(SUMMARY, &summary)?;
    let printed = Printed::Program {
        kept: &kept,
        summary: &summary,
    };
    printed.keep_page(&session.folder);
    Ok(Studied {
        folder: session.folder,
        kept,
        summary,
        stopped_by,
    })
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
        run: start.name_of(kind.word(), seed),
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

/// Programs that are compared as commands are, with the terms of that.
pub(super) struct ProgramStudy {
    /// The original, the other, and the original once more.
    pub arms: Vec<Arm>,
    pub budget_s: Option<f64>,
    pub precision: Option<f64>,
    pub margin: f64,
    pub time_limit_s: f64,
    pub seed: Option<u64>,
    pub out: Option<PathBuf>,
    pub json: bool,
    pub force: bool,
}

/// Compares programs and prints what their processes took: the kept study, and the exit code.
pub(super) fn compare_programs(study_of: ProgramStudy) -> Result<(KeptCommand, u8)> {
    let arguments = TryArgs {
        // An end by CPU time of whole processes would be one by chance for what they print.
        precision: study_of.precision.or(Some(USUAL_SHARE)),
        margin: study_of.margin,
        budget: study_of.budget_s,
        warmup: 1,
        common: CommandArgs {
            time_limit: study_of.time_limit_s,
            seed: study_of.seed,
            out: study_of.out,
            json: study_of.json,
            force: study_of.force,
            ..CommandArgs::default()
        },
        ..TryArgs::default()
    };
    let plan = plan_of_arms(&arguments, study_of.arms, false)?;
    let studied = study(&arguments.common, None, plan)?;
    let code = studied.print(study_of.json, false)?;
    Ok((studied.kept, code))
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
    plan_of_arms(arguments, arms, !settings.is_empty())
}

/// The plan of a try of these arms, of which a kept profile may have predicted the settings.
fn plan_of_arms(
    arguments: &TryArgs,
    mut arms: Vec<Arm>,
    has_settings: bool,
) -> Result<CommandPlan> {
    if !arguments.allow_system_changes {
        changing::forbid(&mut arms);
    }
    let watch = arguments.watch.then_some(Watching {
        every_ms: WATCH_MS,
        window_s: arguments.duration,
    });
    let mut plan = base_plan(&arguments.common, Kind::Try, arms)?;
    if let Some((profile, predicted)) = has_settings.then(|| kept::predictions(&plan)).flatten() {
        (plan.profile, plan.predicted) = (Some(profile), predicted);
    }
    Ok(CommandPlan {
        precision: if arguments.watch {
            0.0
        } else {
            arguments.precision.unwrap_or(USUAL_SHARE)
        },
        interim: arguments.precision.is_none() && arguments.pairs.is_none() && !arguments.watch,
        watch,
        allow_system_changes: arguments.allow_system_changes,
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
        let window_s =
            arguments.duration / ((WINDOWS + SAMPLED_WINDOWS) as f64 + running::FIRST_WINDOW);
        let started_ticks = Some(running::started_ticks(pid)?);
        return Ok(CommandPlan {
            attached: Some(Attached {
                pid,
                started_ticks,
                window_s,
            }),
            budget_s: Some(arguments.duration),
            pairs: Some(WINDOWS),
            pages: Some(pages()),
            stacks: arguments.stacks == Stacks::On,
            ..base_plan(common, Kind::Profile, vec![running::arm(pid)?])?
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
    let arm = arms::plain("unchanged", ArmRole::Baseline, &shown, command);
    let budget_s = arguments.budget.unwrap_or(PROFILE_BUDGET_S);
    Ok(CommandPlan {
        budget_s: common.resume.is_none().then_some(budget_s),
        pairs: arguments.blocks,
        totals_only: arguments.totals,
        stacks: arguments.stacks == Stacks::On && !arguments.totals,
        pages: Some(pages()),
        ..base_plan(common, Kind::Profile, vec![arm])?
    })
}
