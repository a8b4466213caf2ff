//! `pagewise try` and `pagewise profile`: studies of a user's own program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use files::Folder;
use record::command::{Amount, Arm, ArmRole, CommandPlan, CommandSummary, KeptCommand, Pages, schema_of};
use record::folder::{RunFolder, peek};
use record::kind::Kind;
use record::sizes;
use report::escape::pretty_json;

use super::opened::code_of;
use super::page::PageArgs;
use super::start::Start;
use super::write::{may_write, write};
use super::{new_folder, print, print_json, runs_folder};
use crate::machine::{self, memory};
use crate::run::Alone;
use crate::run::command::{self, MOST_PAIRS, arms, kept, settings, thp_rule};
use crate::run::signals::Signals;

/// Half-width of the share of CPU time at which a profile ends.
const NARROW: f64 = 0.002;
/// Seconds of a profile without a budget.
const PROFILE_BUDGET_S: f64 = 20.0;

/// Options of both verbs.
#[derive(Debug, Args)]
struct CommandArgs {
    /// Standard input of each run [default: nothing].
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A run that takes longer is ended.
    #[arg(long, value_name = "TIME", default_value = "10min")]
    time_limit: String,
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

#[derive(Debug, Args)]
pub(super) struct TryArgs {
    /// Try these settings: names of --list, env:NAME=VALUE, args:WORDS, or a setting's file. May be repeated.
    #[arg(long, value_name = "SETTING[,SETTING]")]
    with: Vec<String>,
    /// The settings there are.
    #[arg(long)]
    list: bool,
    /// Half-width at which the interval of total CPU time is narrow enough.
    #[arg(long, value_name = "SHARE", default_value = "1%", conflicts_with = "resume")]
    precision: String,
    /// Smaller differences are called the same.
    #[arg(long, value_name = "SHARE", default_value = "1%", conflicts_with = "resume")]
    margin: String,
    /// Time to spend [default: 1min, or what six blocks take].
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// So many blocks of runs, whatever the precision.
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "resume"])]
    pairs: Option<usize>,
    /// Runs of each before the first that counts.
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "resume")]
    warmup: usize,
    /// A shell command before every run, unmeasured.
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// A file to put out of the page cache before every run. May be repeated.
    #[arg(long, value_name = "FILE")]
    evict: Vec<PathBuf>,
    /// Divide CPU time into user and kernel time by samples of 500 µs instead of the kernel's ticks, usually of 4 ms. Each
    /// sample takes some time itself, and commands that begin many processes are left to the ticks.
    #[arg(long, conflicts_with = "resume")]
    sample_kernel: bool,
    /// Also write the measured runs as hyperfine's JSON.
    #[arg(long, value_name = "FILE")]
    export_hyperfine: Option<PathBuf>,
    #[command(flatten)]
    common: CommandArgs,
}

#[derive(Debug, Args)]
pub(super) struct ProfileArgs {
    /// Time to spend, beyond the six blocks of runs that an interval needs [default: 20s].
    #[arg(long, value_name = "TIME", conflicts_with = "resume")]
    budget: Option<String>,
    /// So many blocks of runs, whatever the time.
    #[arg(long, value_name = "N", conflicts_with_all = ["budget", "resume"])]
    blocks: Option<usize>,
    /// Count page faults in total only, without following each.
    #[arg(long, conflicts_with = "resume")]
    totals: bool,
    #[command(flatten)]
    common: CommandArgs,
}

/// The verb `try`.
pub(super) fn try_settings(arguments: &TryArgs) -> Result<u8> {
    if arguments.list {
        return print(&settings::list()?);
    }
    let common = &arguments.common;
    if let Some(path) = &arguments.export_hyperfine {
        may_write(path, common.force)?;
    }
    study(
        common,
        || trial_plan(arguments),
        |kept| {
            let Some(path) = &arguments.export_hyperfine else { return Ok(()) };
            let file = report::command::hyperfine(kept);
            write(path, common.force, |out| Ok(out.write_all(pretty_json(&file)?.as_bytes())?))
        },
    )
}

/// The verb `profile`.
pub(super) fn profile(arguments: &ProfileArgs) -> Result<u8> {
    study(&arguments.common, || profile_plan(arguments), |_| Ok(()))
}

/// Makes a study or completes one, keeps its summary and prints it.
fn study(
    common: &CommandArgs,
    plan: impl FnOnce() -> Result<CommandPlan>,
    export: impl FnOnce(&KeptCommand) -> Result<()>,
) -> Result<u8> {
    let _alone = Alone::on_this_machine(common.force)?;
    let plan = plan()?;
    let (mut kept, _lock) = match &common.resume {
        Some(name) => kept::resume(name, super::named::folder(name)?, &plan)?,
        None => kept::create(&new_folder(common.out.as_deref(), &plan.run), plan)?,
    };
    let signals = Signals::watch()?;
    command::run(&mut kept, &signals)?;
    let summary = judge::command::judge(&kept);
    kept::finish(&kept, &summary, &page_of(&summary))?;
    export(&kept)?;
    show(&summary, &kept, common.json)?;
    Ok(match signals.arrived() {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(1),
        None => not_measured(&summary),
    })
}

/// 4 if the command could not be measured.
fn not_measured(summary: &CommandSummary) -> u8 {
    4 * u8::from(!summary.is_measured())
}

fn page_of(summary: &CommandSummary) -> String {
    report::html::page(&report::command::document(summary), report::html::rounded(summary))
}

fn show(summary: &CommandSummary, kept: &KeptCommand, json: bool) -> Result<u8> {
    if json {
        return print_json(summary);
    }
    let text = super::screen::text(&report::command::document(summary), false, false);
    print(&(text + &format!("The {} is kept in {}\n", kept.plan.kind.word(), kept.folder.path().display())))
}

/// Prints a kept study again, and writes its page if one is requested.
pub(super) fn report_command(kept: &KeptCommand, json: bool, page: Option<&PageArgs>) -> Result<u8> {
    let summary = judge::command::judge(kept);
    page.map_or(Ok(()), |page| page.write(|| page_of(&summary)))?;
    show(&summary, kept, json)?;
    Ok(code_of(kept, not_measured(&summary)))
}

/// The plan of either kind, as far as the common options say.
fn base_plan(common: &CommandArgs, kind: Kind, arms: Vec<Arm>) -> Result<CommandPlan> {
    let start = Start::now();
    let seed = common.seed.unwrap_or_else(|| start.seed());
    Ok(CommandPlan {
        schema: schema_of(kind),
        kind,
        run: start.name_of(kind.word(), seed),
        created: start.created(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        arms,
        directory: std::env::current_dir().context("the current folder")?,
        prepare: None,
        evict: Vec::new(),
        input: common.input.as_ref().map(|path| user_file(path, "--input")).transpose()?,
        precision: NARROW,
        margin: 0.0,
        budget_s: None,
        pairs: None,
        warmups: 1,
        time_limit_s: sizes::parse_seconds(&common.time_limit).context("--time-limit")?,
        ignore_failure: common.ignore_failure,
        discard_output: common.discard_output,
        sample_kernel: false,
        totals_only: false,
        pages: None,
        environment: machine::capture(Path::new("/")).headline(),
        profile: None,
        predicted: BTreeMap::new(),
    })
}

/// The real path of a file that can be read.
fn user_file(path: &Path, option: &str) -> Result<PathBuf> {
    files::open_input(path).with_context(|| option.to_owned())?;
    path.canonicalize().with_context(|| format!("{option} {}", path.display()))
}

fn seconds(text: Option<&str>) -> Result<Option<f64>> {
    text.map(sizes::parse_seconds).transpose().context("--budget")
}

fn trial_plan(arguments: &TryArgs) -> Result<CommandPlan> {
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
    let arms = arms::arms(&arguments.common.command, &settings)?;
    let mut plan = base_plan(&arguments.common, Kind::Try, arms)?;
    plan.evict = arguments.evict.iter().map(|path| user_file(path, "--evict")).collect::<Result<_>>()?;
    if let Some((profile, predicted)) = (!settings.is_empty()).then(|| predictions(&plan)).flatten() {
        (plan.profile, plan.predicted) = (Some(profile), predicted);
    }
    Ok(CommandPlan {
        prepare: arguments.prepare.clone(),
        precision: sizes::parse_share(&arguments.precision).context("--precision")?,
        margin: sizes::parse_share(&arguments.margin).context("--margin")?,
        budget_s: seconds(arguments.budget.as_deref())?,
        pairs: arguments.pairs,
        warmups: arguments.warmup,
        sample_kernel: arguments.sample_kernel,
        ..plan
    })
}

fn profile_plan(arguments: &ProfileArgs) -> Result<CommandPlan> {
    let common = &arguments.common;
    if common.command.is_empty() {
        bail!("nothing to profile; write the command behind --, as in pagewise profile -- sort FILE");
    }
    if arguments.blocks == Some(0) {
        bail!("--blocks 0 leaves nothing to measure");
    }
    let (shown, command) = arms::subject(&common.command)?;
    let arm = arms::plain("as it is", ArmRole::Baseline, &shown, command);
    let pages = Pages {
        page_bytes: rustix::param::page_size() as u64,
        huge_page_bytes: memory::transparent_huge_page_bytes().unwrap_or(0),
        thp: thp_rule(),
    };
    let budget_s = seconds(arguments.budget.as_deref())?.unwrap_or(PROFILE_BUDGET_S);
    Ok(CommandPlan {
        budget_s: common.resume.is_none().then_some(budget_s),
        pairs: arguments.blocks,
        totals_only: arguments.totals,
        pages: Some(pages),
        ..base_plan(common, Kind::Profile, vec![arm])?
    })
}

/// Name of the newest kept profile of the same command in the same folder, and its prediction for each setting.
fn predictions(plan: &CommandPlan) -> Option<(String, BTreeMap<String, Amount>)> {
    let names = Folder::open(&runs_folder()).ok()?.names().ok()?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let names: Vec<String> = names.filter(|name| name.contains("-profile-")).collect();
    names.into_iter().rev().find_map(|name| {
        let other: CommandPlan = peek(&runs_folder().join(&name), "plan.json")?;
        let same = (&other.arms.first()?.command, &other.directory, &other.input)
            == (&plan.arms[0].command, &plan.directory, &plan.input);
        if !same {
            return None;
        }
        let opened =
            RunFolder::open(&name, &runs_folder()).and_then(|folder| folder.mine()?.whole(schema_of(Kind::Profile)));
        // A profile that cannot be read predicts nothing, which is no reason not to try.
        let kept: KeptCommand = opened.inspect_err(|error| remark!("pagewise: {error:#}; it predicts nothing")).ok()?;
        if code_of(&kept, 0) != 0 {
            return None;
        }
        let predicted =
            judge::command::profile::predictions(&judge::command::profile::judge(&kept.plan, &kept.launches));
        (!predicted.is_empty()).then_some((kept.plan.run, predicted))
    })
}
