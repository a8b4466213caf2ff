//! The verbs, and nothing but the verbs: each checks its words, calls one part of the laboratory and prints.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};

use crate::catalog::{self, Experiment};
use crate::cell::{self, Selector};
use crate::evidence::{Evidence, PREFLIGHT};
use crate::folder::{RunFolder, runs_folder};
use crate::input;
use crate::judge;
use crate::machine;
use crate::machine::environment::Environment;
use crate::machine::preflight;
use crate::outcome::Status;
use crate::plan::{self, ParameterList, Plan, SCHEMA, Wish};
use crate::progress::Progress;
use crate::report;
use crate::runner::{self, RunEnd, Runner};
use crate::signals::{Signals, survive_file_size_limit};
use crate::sizes;
use crate::summary::Summary;
use crate::transcript::{self, LaunchKeys};
use crate::workers::{self, Worker};

/// The budget of the first look at everything, in seconds.
const LOOK_BUDGET_S: f64 = 150.0;

/// Measures on this machine what memory costs, proves how, and says which way to use.
#[derive(Debug, Parser)]
#[command(name = "pagewise", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// A folder with further experiments (*.toml).
    #[arg(long, global = true, value_name = "DIR")]
    experiments: Option<PathBuf>,
    /// A further worker, by its path (see workers/PROTOCOL.md). May be repeated.
    #[arg(long, global = true, value_name = "PATH")]
    worker: Vec<PathBuf>,
    /// A JDK to measure Java with, by its folder or its java. May be repeated.
    #[arg(long, global = true, value_name = "PATH")]
    java: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Experiments, or the methods and parameters of one.
    List {
        /// Which.
        experiment: Option<String>,
    },
    /// The very source that is measured: EXPERIMENT/METHOD[@WORKER].
    Show {
        /// Which.
        method: String,
    },
    /// What an experiment asks, and how to read the answer.
    Explain {
        /// Which.
        experiment: String,
    },
    /// What this machine is, what cannot be measured here, why, and what would change it.
    Doctor(DoctorArgs),
    /// Measures. Without a name: a first look at every experiment.
    Run(Box<RunArgs>),
    /// Proves that every method does what it says, at tiny sizes.
    Check {
        /// EXPERIMENT[/METHOD[@WORKER]]; everything where left out.
        what: Vec<String>,
    },
    /// Tests the judging on this machine: identical cells, effects of known size, and the usual way beside it.
    Selftest(SelftestArgs),
    /// Prints a request, to drive a worker by hand: pagewise request fault/touch | WORKER.
    Request(SelectArgs),
    /// Kept runs.
    Runs,
    /// Prints the tables of a kept run again.
    Report {
        /// An id, or a folder's path.
        run: String,
        /// Print its summary as JSON instead.
        #[arg(long)]
        json: bool,
        /// Put the published figures of one write-up (P1 … P5) beside it.
        #[arg(long, value_name = "ID")]
        published: Option<String>,
    },
}

#[derive(Debug, Args)]
struct DoctorArgs {
    /// What disturbs the machine at the moment instead: a look of three seconds.
    #[arg(long)]
    noise: bool,
    /// Everything as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct SelftestArgs {
    /// Time to spend; half of it gives half the comparisons.
    #[arg(long, value_name = "TIME", default_value = "2min")]
    budget: String,
    /// Seed of all orders [default: from the clock; it is printed].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Everything as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct SelectArgs {
    /// EXPERIMENT[/METHOD[@WORKER]].
    what: Vec<String>,
    /// Parameter values; KEY=all takes the whole grid. May be repeated.
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    set: Vec<String>,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// The method that others are compared with.
    #[arg(long, value_name = "METHOD")]
    baseline: Option<String>,
    /// Time to spend in all [default: 150s for the first look, 10min for --published, otherwise what the experiments
    /// named need, mostly 60s each].
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// Half-width of a ratio's interval at which an experiment is done.
    #[arg(long, value_name = "SHARE", default_value = "1%")]
    precision: String,
    /// Differences below this share are called equivalent.
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    margin: String,
    /// Exactly this many launches, budget permitting [default: 6 to 40].
    #[arg(long, value_name = "N")]
    launches: Option<u32>,
    /// Longest time of one launch; a worker that takes longer is ended [default: 10 times what the pilot took, at least 60s].
    #[arg(long, value_name = "TIME")]
    time_limit: Option<String>,
    /// Seed of all orders and data [default: from the clock; it is kept in the plan].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The run folder itself [default: a new one among the kept runs].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Completes a run that was interrupted, by id or path.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["out", "seed", "launches", "baseline"])]
    resume: Option<String>,
    /// Measure the cells of one published write-up (P1 … P5) and print its figures beside.
    #[arg(long, value_name = "ID")]
    published: Option<String>,
    /// Print summary.json to standard output instead of tables.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where anything is undecided or untrusted.
    #[arg(long)]
    strict: bool,
    /// Allow changes such as a larger huge page pool; everything is put back.
    #[arg(long)]
    allow_system_changes: bool,
}

/// The budget of a published write-up, whose grids of sizes are long, in seconds.
const PUBLISHED_BUDGET_S: f64 = 600.0;

/// What every verb needs.
struct Laboratory {
    experiments: Vec<Experiment>,
    workers: Vec<Worker>,
}

impl Laboratory {
    fn open(cli: &Cli) -> Result<Laboratory> {
        let experiments = catalog::experiments(cli.experiments.as_deref())?;
        let mut workers = workers::all(&cli.java)?;
        for path in &cli.worker {
            workers.push(Worker::external(path.clone())?);
        }
        Ok(Laboratory { experiments, workers })
    }

    fn wish(&self, select: &SelectArgs, baseline: Option<String>, list: ParameterList) -> Result<Wish> {
        let mut wish = Wish {
            selectors: select.what.iter().map(|w| Selector::parse(w)).collect::<Result<_>>()?,
            settings: select.set.iter().map(|s| cell::parse_setting(s)).collect::<Result<_>>()?,
            baseline,
            sizes: list,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            page_bytes: rustix::param::page_size() as u64,
        };
        input::complete(&mut wish, &self.experiments)?;
        Ok(wish)
    }
}

/// Runs one verb; the result is the exit code.
pub fn main(cli: &Cli) -> Result<u8> {
    survive_file_size_limit()?;
    let laboratory = Laboratory::open(cli)?;
    match &cli.verb {
        Verb::List { experiment } => {
            let only = experiment.as_ref().map(|name| catalog::find(&laboratory.experiments, name)).transpose()?;
            print(&report::explain::list(&laboratory.experiments, only, &laboratory.workers))
        }
        Verb::Show { method } => show(&laboratory, method),
        Verb::Explain { experiment } => {
            let experiment = catalog::find(&laboratory.experiments, experiment)?;
            print(&report::explain::explain(experiment, &laboratory.workers))
        }
        Verb::Doctor(arguments) => doctor(arguments),
        Verb::Run(arguments) => run(&laboratory, arguments),
        Verb::Check { what } => crate::check::check(&laboratory.experiments, &laboratory.workers, what, &cli.worker),
        Verb::Selftest(arguments) => selftest(&laboratory, arguments),
        Verb::Request(select) => request(&laboratory, select),
        Verb::Runs => runs(),
        Verb::Report { run, json, published } => report_run(run, *json, published.as_deref()),
    }
}

fn print(text: &str) -> Result<u8> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough, such as head, is no error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
        other => other.map(|()| 0).context("cannot write to standard output"),
    }
}

fn show(laboratory: &Laboratory, words: &str) -> Result<u8> {
    let selector = Selector::parse(words)?;
    let experiment = catalog::find(&laboratory.experiments, &selector.experiment)?;
    let Some(name) = &selector.method else { bail!("show takes EXPERIMENT/METHOD; pagewise list {words} shows them") };
    if let Some(worker) = &selector.worker {
        workers::find(&laboratory.workers, worker)?;
    }
    let of = |w: &&Worker| selector.worker.as_ref().is_none_or(|name| *name == w.name);
    // The worker that is measured first is shown where none is named.
    let usual = |w: &Worker| experiment.workers.iter().position(|p| p.split('+').next() == Some(&w.name));
    let having = laboratory.workers.iter().filter(of).filter_map(|w| Some((w.method(&experiment.name, name)?, w)));
    match having.min_by_key(|(_, w)| usual(w).unwrap_or(usize::MAX)) {
        Some((method, worker)) => print(&report::explain::show(method, worker)),
        None => {
            let all = laboratory.workers.iter().flat_map(|w| &w.methods).filter(|m| m.experiment == experiment.name);
            let hint = sizes::did_you_mean(name, all.map(|m| m.name.as_str()));
            bail!("experiment {} has no method \"{name}\"{hint}", experiment.name)
        }
    }
}

fn doctor(arguments: &DoctorArgs) -> Result<u8> {
    if arguments.noise {
        let seen = preflight::look(Path::new("/"), preflight::LONG_MS)?;
        return match arguments.json {
            true => print(&(serde_json::to_string_pretty(&seen)? + "\n")),
            false => print(&report::noise::render(&seen)),
        };
    }
    let environment = Environment::capture(Path::new("/"));
    let obstacles = machine::obstacles::obstacles(&environment);
    if arguments.json {
        let value = serde_json::json!({ "environment": environment, "obstacles": obstacles });
        return print(&(serde_json::to_string_pretty(&value)? + "\n"));
    }
    print(&report::doctor::render(&environment, &obstacles))
}

fn selftest(laboratory: &Laboratory, arguments: &SelftestArgs) -> Result<u8> {
    let budget_s = sizes::parse_seconds(&arguments.budget).context("--budget")?;
    let seed = arguments.seed.unwrap_or_else(|| jiff::Timestamp::now().as_nanosecond() as u64 >> 16);
    let place = std::env::temp_dir().join(format!("pagewise-selftest-{}", std::process::id()));
    let found = crate::selftest::selftest(&place, &laboratory.experiments, &laboratory.workers, budget_s, seed);
    let _ = std::fs::remove_dir_all(&place);
    let found = found?;
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&found)? + "\n",
        false => report::selftest::render(&found),
    };
    print(&text)?;
    Ok(found.exit_code())
}

fn request(laboratory: &Laboratory, select: &SelectArgs) -> Result<u8> {
    if select.what.is_empty() {
        bail!("request takes at least one EXPERIMENT/METHOD");
    }
    let wish = laboratory.wish(select, None, ParameterList::Check)?;
    let (cells, experiments) = plan::cells(&laboratory.experiments, &laboratory.workers, &wish)?;
    if experiments.len() > 1 {
        bail!("a request holds cells of one experiment");
    }
    // The same method may take other keys in another worker: a request is for one, by itself for the one measured first.
    let worker = &cells[0].cell.worker;
    if let Some(other) = wish.selectors.iter().filter_map(|s| s.worker.as_ref()).find(|w| *w != worker) {
        bail!("a request is for one worker, not for {worker} and {other}");
    }
    let plain: Vec<&cell::Cell> = cells.iter().map(|p| &p.cell).filter(|c| c.worker == *worker).collect();
    let (told, how_to_make) = input::by_hand(&plain)?;
    let order: Vec<usize> = (0..plain.len()).collect();
    let keys = LaunchKeys { experiment: &experiments[0].name, seed: 1, ..LaunchKeys::default() };
    let told: Vec<&cell::Cell> = told.iter().collect();
    let request = transcript::request(&keys, &told, std::slice::from_ref(&order), std::slice::from_ref(&order));
    print(&(how_to_make + &request))
}

fn runs() -> Result<u8> {
    let folder = runs_folder();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return print(&format!("no runs are kept yet below {}\n", folder.display()));
    };
    let mut names: Vec<_> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let mut text = String::new();
    for name in names {
        let state =
            match RunFolder::open(&name).and_then(|f| Ok((f.plan()?, f.read_json::<Summary>("summary.json").ok()))) {
                Ok((plan, summary)) => {
                    let what: Vec<_> = plan.experiments.iter().map(|e| e.name.as_str()).collect();
                    let done = summary.is_some_and(|s| !s.remarks.contains(&runner::interrupted(&plan.run)));
                    format!("{}  {}{}", plan.created, what.join(" "), if done { "" } else { "  (interrupted)" })
                }
                Err(error) => format!("{error:#}"),
            };
        text += &format!("{name}  {state}\n");
    }
    print(&text)
}

/// What may be spent, and which values of the parameters that is enough for.
fn budget(laboratory: &Laboratory, arguments: &RunArgs, given: Option<f64>) -> Result<(f64, ParameterList)> {
    let what: Vec<Selector> = arguments.select.what.iter().map(|w| Selector::parse(w)).collect::<Result<_>>()?;
    let named = |e: &&Experiment| what.iter().any(|s| s.experiment == e.name);
    let needed_s: f64 = laboratory.experiments.iter().filter(named).map(Experiment::needed_s).sum();
    Ok(match given {
        None if arguments.published.is_some() => (PUBLISHED_BUDGET_S, ParameterList::Default),
        Some(budget_s) if arguments.published.is_some() => (budget_s, ParameterList::Default),
        None if what.is_empty() => (LOOK_BUDGET_S, ParameterList::Look),
        Some(budget_s) if what.is_empty() => (budget_s, ParameterList::Look),
        Some(budget_s) if budget_s < needed_s => (budget_s, ParameterList::Short),
        Some(budget_s) => (budget_s, ParameterList::Default),
        None => (needed_s, ParameterList::Default),
    })
}

/// Says which experiments were given less than their default values need.
fn short_remarks(plan: &Plan) -> Vec<String> {
    let needed_s: f64 = plan.experiments.iter().map(Experiment::needed_s).sum();
    let short = plan.experiments.iter().filter(|e| plan.short && e.budget_s.is_some());
    let words = |e: &Experiment| {
        let (name, enough) = (&e.name, needed_s);
        format!(
            "{name}: its usual values need --budget {enough:.0}s; those of the first look were taken where --set says nothing"
        )
    };
    short.map(words).collect()
}

/// The numbers that the command line gives for a whole run.
struct Goal {
    budget_s: Option<f64>,
    precision: f64,
    margin: f64,
    time_limit_s: Option<f64>,
}

impl Goal {
    fn of(arguments: &RunArgs) -> Result<Goal> {
        let seconds = |text: &Option<String>, name| text.as_deref().map(sizes::parse_seconds).transpose().context(name);
        if arguments.launches == Some(0) {
            bail!("--launches 0 leaves nothing to measure");
        }
        let time_limit_s = seconds(&arguments.time_limit, "--time-limit")?;
        if time_limit_s.is_some_and(|limit| limit < 1.0) {
            bail!("--time-limit must be at least 1s: a worker takes that long to start on a busy machine");
        }
        Ok(Goal {
            budget_s: seconds(&arguments.budget, "--budget")?,
            precision: sizes::parse_share(&arguments.precision).context("--precision")?,
            margin: sizes::parse_share(&arguments.margin).context("--margin")?,
            time_limit_s,
        })
    }
}

/// Makes the plan of a new run.
fn new_plan(laboratory: &Laboratory, arguments: &RunArgs) -> Result<Plan> {
    let mut select = SelectArgs { what: arguments.select.what.clone(), set: arguments.select.set.clone() };
    let goal = Goal::of(arguments)?;
    let published = arguments.published.as_deref().map(report::published::find).transpose()?;
    let look = select.what.is_empty() && published.is_none();
    let (budget_s, list) = budget(laboratory, arguments, goal.budget_s)?;
    let (mut cells, experiments) = match &published {
        Some(table) => {
            select.what = table.selectors();
            let wish = laboratory.wish(&select, arguments.baseline.clone(), list)?;
            report::published::cells(table, &laboratory.experiments, &laboratory.workers, &wish)?
        }
        None => {
            let wish = laboratory.wish(&select, arguments.baseline.clone(), list)?;
            plan::cells(&laboratory.experiments, &laboratory.workers, &wish)?
        }
    };
    let wish = laboratory.wish(&select, arguments.baseline.clone(), list)?;
    let workers = plan::settle_missing(&mut cells, &laboratory.workers)?;
    input::settle(&mut cells, arguments.allow_system_changes);
    let baselines = plan::baselines(&experiments, &cells, &wish)?;
    let units = plan::units(&mut cells, &experiments, &baselines)?;
    let now = jiff::Timestamp::now();
    let seed = arguments.seed.unwrap_or_else(|| (now.as_nanosecond() as u64) ^ (u64::from(std::process::id()) << 32));
    Ok(Plan {
        schema: SCHEMA,
        run: format!("{}-{:04x}", now.strftime("%Y%m%dT%H%M%SZ"), seed & 0xFFFF),
        created: now.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        budget_s,
        precision: goal.precision,
        margin: goal.margin,
        time_limit_s: goal.time_limit_s,
        min_launches: arguments.launches.unwrap_or(plan::LAUNCHES.0),
        max_launches: arguments.launches.unwrap_or(plan::LAUNCHES.1),
        first_look: look,
        short: list == ParameterList::Short,
        allow_system_changes: arguments.allow_system_changes,
        baselines,
        workers,
        experiments,
        cells,
        units,
    })
}

fn run(laboratory: &Laboratory, arguments: &RunArgs) -> Result<u8> {
    let (plan, folder) = match &arguments.resume {
        Some(name) => {
            let folder = RunFolder::open(name)?;
            let mut plan = folder.plan()?;
            same_workers(&plan, &laboratory.workers)?;
            let goal = Goal::of(arguments)?;
            plan.budget_s = goal.budget_s.unwrap_or(plan.budget_s);
            plan.time_limit_s = goal.time_limit_s.or(plan.time_limit_s);
            (plan, folder)
        }
        None => {
            let plan = new_plan(laboratory, arguments)?;
            let path = arguments.out.clone().unwrap_or_else(|| runs_folder().join(&plan.run));
            (plan, RunFolder::create(&path)?)
        }
    };
    let result = measure(laboratory, arguments, plan, &folder);
    if result.is_err() && arguments.resume.is_none() && folder.launches().is_ok_and(|all| all.is_empty()) {
        folder.discard();
    }
    result
}

/// A run is completed by the programs that began it.
fn same_workers(plan: &Plan, all: &[Worker]) -> Result<()> {
    for (name, hash) in &plan.workers {
        let started = workers::find(all, name)?.start().map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
        if started.hash != *hash {
            bail!("the worker {name} is not the one that this run began with; make a new run");
        }
    }
    Ok(())
}

fn measure(laboratory: &Laboratory, arguments: &RunArgs, plan: Plan, folder: &RunFolder) -> Result<u8> {
    let _lock = folder.lock()?;
    let environment: Environment = match arguments.resume {
        Some(_) => folder.read_json("environment.json")?,
        None => Environment::capture(Path::new("/")),
    };
    if arguments.resume.is_none() {
        folder.write_json("environment.json", &environment)?;
        folder.write_json("plan.json", &plan)?;
        // A look that fails says nothing of the run; its absence from the folder says that it failed.
        if let Ok(seen) = preflight::look(Path::new("/"), preflight::SHORT_MS) {
            folder.write_json(PREFLIGHT, &seen)?;
        }
    }
    let signals = Signals::watch()?;
    let runner = Runner::new(plan, folder, &laboratory.workers, &signals, Progress::new())?;
    let (plan, evidence, mut end) = runner.run()?;
    end.remarks.extend(short_remarks(&plan));
    let summary = judge::summarise(&plan, &evidence, environment.headline(), end.remarks.clone())?;
    folder.write_json("summary.json", &summary)?;
    print_run(&plan, &summary, folder, arguments.json, arguments.published.as_deref())?;
    Ok(exit_code(&summary, &end, arguments.strict))
}

fn print_run(plan: &Plan, summary: &Summary, folder: &RunFolder, json: bool, published: Option<&str>) -> Result<u8> {
    if json {
        return print(&(serde_json::to_string_pretty(summary)? + "\n"));
    }
    let mut text = report::terminal::render(plan, summary);
    if let Some(id) = published {
        text += &report::published::render(report::published::find(id)?, summary)?;
    }
    text += &format!("\nThe run is kept in {}\n", folder.path().display());
    print(&text)
}

fn exit_code(summary: &Summary, end: &RunEnd, strict: bool) -> u8 {
    let decided = |c: &crate::summary::Comparison| c.verdict != crate::stats::verdict::Verdict::Undecided;
    match end.stopped_by {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(1),
        None if strict && !(summary.trusted && summary.comparisons.iter().all(decided)) => 3,
        None => nothing_measured(summary),
    }
}

/// 4 where no cell could be measured.
fn nothing_measured(summary: &Summary) -> u8 {
    u8::from(summary.cells.iter().all(|c| c.status != Status::Ok) && !summary.cells.is_empty()) * 4
}

fn report_run(name: &str, json: bool, published: Option<&str>) -> Result<u8> {
    let folder = RunFolder::open(name)?;
    let plan = folder.plan()?;
    let records = folder.launches()?;
    let evidence = Evidence::read(&plan, &folder, &records)?;
    let environment: Environment = folder.read_json("environment.json")?;
    let kept: Option<Summary> = folder.read_json("summary.json").ok();
    let remarks = kept.map_or_else(|| vec![runner::interrupted(&plan.run)], |s| s.remarks);
    let summary = judge::summarise(&plan, &evidence, environment.headline(), remarks)?;
    print_run(&plan, &summary, &folder, json, published)?;
    Ok(nothing_measured(&summary))
}
