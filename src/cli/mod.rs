//! The verbs, and nothing but the verbs: each checks its words, calls one part of the laboratory and prints.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use record::cell::{self, Selector};
use record::concern::Concern;
use record::experiment::{Experiment, ParameterList};
use record::method::Offer;
use record::request::{self, LaunchKeys};
use record::sizes;
use report::doctor::obstacles;
use run::{ReportArgs, RunArgs, explain_verdict, report_run};

use crate::machine::{self, preflight};
use crate::plan::{Wish, catalog, input, select};
use crate::run::captures;
use crate::run::signals::survive_file_size_limit;
use crate::worker::{self, Worker, carried};

mod advise;
mod claims;
mod compare;
mod export;
mod fleet;
mod kept;
mod long;
mod manuals;
mod page;
mod profile;
mod run;
mod runs;
mod screen;
mod start;
mod trial;
mod write;

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
    /// A CPython to measure Python with, by its folder (such as a virtual environment) or its program. May be repeated.
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    python: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Experiments, or the methods and parameters of one.
    #[command(after_help = "Example: pagewise list fault")]
    List {
        /// Which.
        experiment: Option<String>,
    },
    /// The very source that is measured: EXPERIMENT/METHOD[@WORKER].
    #[command(after_help = "Example: pagewise show fault/thp")]
    Show {
        /// Which.
        method: String,
    },
    /// What an experiment asks, and how to read the answer.
    #[command(after_help = "Example: pagewise explain message")]
    Explain {
        /// Which.
        experiment: String,
    },
    /// What this machine is, what cannot be measured here, why, and what would change it.
    #[command(after_help = "Example: pagewise doctor --noise")]
    Doctor(DoctorArgs),
    /// Measures. Without a name: a first look at every experiment.
    #[command(after_help = "Example: pagewise run fault --set bytes=64MiB --budget 1min")]
    Run(Box<RunArgs>),
    /// Which way to use here, what it gains, and from which size on: advise read --file F, or advise --save for programs.
    #[command(after_help = "Example: pagewise advise read --file access.log")]
    Advise(Box<advise::AdviseArgs>),
    /// Other people's claims about the cost of memory, tested on this machine.
    #[command(after_help = "Example: pagewise claims --about mmap --budget 5min")]
    Claims(Box<claims::ClaimsArgs>),
    /// Proves that every method does what it says, at tiny sizes.
    #[command(after_help = "Example: pagewise check fault/touch")]
    Check {
        /// EXPERIMENT[/METHOD[@WORKER]]; everything where left out.
        what: Vec<String>,
        /// Also break every law once, by changing one number at a time in what was recorded, and name those that never break.
        #[arg(long)]
        laws: bool,
        /// Run the suite under every setting of transparent huge pages, and with 64 KiB folios; the settings are put back.
        #[arg(long)]
        allow_system_changes: bool,
    },
    /// Tests the judging on this machine: identical cells, effects of known size, and the usual way beside it.
    #[command(after_help = "Example: pagewise selftest --budget 1min")]
    Selftest(SelftestArgs),
    /// Prints a request, to drive a worker by hand: pagewise request fault/touch | WORKER.
    #[command(after_help = "Example: pagewise request fault/touch --set bytes=1MiB")]
    Request(SelectArgs),
    /// Tries settings, or other commands, on your own program: try --with SETTING -- CMD, or try -- 'CMD A' 'CMD B'.
    #[command(after_help = "Example: pagewise try --with thp,tcmalloc -- ./my-program --input data")]
    Try(Box<trial::TryArgs>),
    /// What page faults, reads and copies cost your own program, and what might be worth a try.
    #[command(after_help = "Example: pagewise profile -- ./my-program --input data")]
    Profile(Box<profile::ProfileArgs>),
    /// Kept runs: which there are, what one is, tags, removing.
    #[command(after_help = "Example: pagewise runs --experiment fault --since 2026-11")]
    Runs(runs::RunsArgs),
    /// Prints the answers and tables of a kept run again.
    #[command(after_help = "Example: pagewise report 20261121T171805Z-1a2b3c4d fault --full")]
    Report(ReportArgs),
    /// Writes a kept run in a format that other programs read.
    #[command(after_help = "Example: pagewise export 20261121T171805Z-1a2b3c4d --format csv --out run.csv")]
    Export(export::ExportArgs),
    /// Holds two runs, or two sets of runs, against each other: kernels, machines, settings.
    #[command(after_help = "Example: pagewise compare tag:before tag:after --gate 3% --expect kernel")]
    Compare(compare::CompareArgs),
    /// Holds the run folders of many machines against each other: kinds of node, and which node is unlike its kind.
    #[command(after_help = "Example: pagewise fleet /shared/pagewise")]
    Fleet(Box<fleet::FleetArgs>),
    /// Measures this node and says in one line whether it is as others of its kind: a node health check.
    #[command(after_help = "Example: pagewise check-node --criteria criteria.json --budget 20s")]
    CheckNode(fleet::CheckNodeArgs),
    /// Prints the completions of a shell.
    #[command(after_help = "Example: pagewise completions bash > ~/.local/share/bash-completion/completions/pagewise")]
    Completions(manuals::CompletionsArgs),
    /// Writes the man pages.
    #[command(after_help = "Example: pagewise man --out ~/.local/share/man/man1")]
    Man(manuals::ManArgs),
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
    #[arg(long, value_name = "TIME", default_value = "3min")]
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

/// What every verb needs.
struct Laboratory {
    experiments: Vec<Experiment>,
    workers: Vec<Worker>,
}

impl Laboratory {
    fn open(cli: &Cli) -> Result<Laboratory> {
        Ok(Laboratory { experiments: catalog::experiments(cli.experiments.as_deref())?, workers: workers(cli)? })
    }

    fn offers(&self) -> Vec<Offer<'_>> {
        self.workers.iter().map(Worker::offer).collect()
    }

    /// Parses one `--set`.
    fn setting(&self, text: &str) -> Result<(String, Vec<String>)> {
        let is_path = |key: &str| self.experiments.iter().any(|e| e.concern_of(key) == Some(Concern::File));
        cell::parse_setting(text, is_path)
    }

    fn wish(&self, select: &SelectArgs, baseline: Option<String>, list: ParameterList) -> Result<Wish> {
        let mut wish = Wish {
            selectors: select.what.iter().map(|w| Selector::parse(w)).collect::<Result<_>>()?,
            settings: select.set.iter().map(|s| self.setting(s)).collect::<Result<_>>()?,
            baseline,
            sizes: list,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            page_bytes: rustix::param::page_size() as u64,
        };
        input::complete(&mut wish, &self.experiments)?;
        Ok(wish)
    }
}

/// Every worker that there is and that was given.
fn workers(cli: &Cli) -> Result<Vec<Worker>> {
    let mut workers = worker::all(&cli.java, &cli.python)?;
    for path in &cli.worker {
        workers.push(Worker::external(path.clone())?);
    }
    Ok(workers)
}

/// Runs one verb; the result is the exit code.
pub fn main(cli: &Cli) -> Result<u8> {
    survive_file_size_limit()?;
    // Opened by the verbs that need it; even they start no worker that was not given by its path.
    let laboratory = || Laboratory::open(cli);
    match &cli.verb {
        Verb::List { experiment: Some(name) } => list_one(&laboratory()?, name),
        Verb::List { experiment: None } => list(cli),
        Verb::Show { method } => show(&laboratory()?, method),
        Verb::Explain { experiment } => explain(&laboratory()?, experiment),
        Verb::Doctor(arguments) => doctor(&laboratory()?, arguments),
        Verb::Run(arguments) => {
            let opened = laboratory()?;
            run::run(&opened, arguments, &claims::Completed { laboratory: &opened, arguments })
        }
        Verb::Advise(arguments) => advise::advise(laboratory, arguments),
        Verb::Claims(arguments) => claims::claims(laboratory, arguments),
        Verb::Check { what, laws, allow_system_changes } => {
            let asked = crate::check::Asked { laws: *laws, system_changes: *allow_system_changes };
            check(&laboratory()?, what, &cli.worker, asked)
        }
        Verb::Selftest(arguments) => selftest(&laboratory()?, arguments),
        Verb::Request(select) => request(&laboratory()?, select),
        Verb::Try(arguments) => trial::run(arguments),
        Verb::Profile(arguments) => profile::run(arguments),
        Verb::Runs(arguments) => runs::runs(arguments),
        Verb::Export(arguments) => export::export(arguments),
        Verb::Compare(arguments) => compare::run(arguments),
        Verb::Fleet(arguments) => fleet::fleet(arguments),
        Verb::CheckNode(arguments) => fleet::check_node(laboratory, arguments),
        Verb::Completions(arguments) => manuals::completions(arguments),
        Verb::Man(arguments) => manuals::man(arguments),
        Verb::Report(arguments) if arguments.explain_verdict.is_some() => {
            explain_verdict(&arguments.run, arguments.explain_verdict.as_deref().unwrap_or_default())
        }
        Verb::Report(arguments) => report_of(arguments),
    }
}

/// Whatever kind of work was kept under this name, printed again.
fn report_of(arguments: &ReportArgs) -> Result<u8> {
    if let Some(code) = trial::report_try(&arguments.run, arguments.json, Some(&arguments.shown.page))? {
        return Ok(code);
    }
    if let Some(code) = profile::report_profile(&arguments.run, arguments.json, Some(&arguments.shown.page))? {
        return Ok(code);
    }
    match &arguments.published {
        None => claims::report_again(arguments)?.map_or_else(|| report_run(arguments), Ok),
        Some(_) => report_run(arguments),
    }
}

/// What most people type first, with what it takes and no more.
fn list(cli: &Cli) -> Result<u8> {
    let (titles, workers) = (catalog::titles(cli.experiments.as_deref())?, workers(cli)?);
    let listed = workers.iter().map(|worker| Ok((worker.name.as_str(), worker.headings()?)));
    print(&report::explain::list(&titles, &listed.collect::<Result<Vec<_>>>()?))
}

fn list_one(laboratory: &Laboratory, experiment: &str) -> Result<u8> {
    let experiment = catalog::find(&laboratory.experiments, experiment)?;
    print(&report::explain::list_one(experiment, &laboratory.offers()))
}

fn explain(laboratory: &Laboratory, experiment: &str) -> Result<u8> {
    let experiment = catalog::find(&laboratory.experiments, experiment)?;
    print(&report::explain::explain(experiment, &laboratory.offers()))
}

fn check(laboratory: &Laboratory, what: &[String], external: &[PathBuf], asked: crate::check::Asked) -> Result<u8> {
    crate::check::check(&laboratory.experiments, &laboratory.workers, what, external, asked)
}

/// Where runs are kept: `$XDG_DATA_HOME/pagewise/runs`, or below `~/.local/share`.
fn runs_folder() -> PathBuf {
    let own = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".local/share"));
    own.or_else(home).unwrap_or_else(std::env::temp_dir).join("pagewise/runs")
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
        worker::find(&laboratory.workers, worker)?;
    }
    let of = |w: &&Worker| selector.worker.as_ref().is_none_or(|name| *name == w.name);
    // The worker that is measured first is shown where none is named.
    let usual = |w: &Worker| experiment.workers.iter().position(|p| p.split('+').next() == Some(&w.name));
    let having = laboratory.workers.iter().filter(of).filter_map(|w| Some((w.method(&experiment.name, name)?, w)));
    match having.min_by_key(|(_, w)| usual(w).unwrap_or(usize::MAX)) {
        Some((method, worker)) => print(&report::explain::show(method, &worker.name, carried::SOURCES)),
        None => {
            let all =
                laboratory.workers.iter().flat_map(|w| w.methods().iter()).filter(|m| m.experiment == experiment.name);
            let hint = sizes::did_you_mean(name, all.map(|m| m.name.as_str()));
            bail!("experiment {} has no method \"{name}\"{hint}", experiment.name)
        }
    }
}

fn doctor(laboratory: &Laboratory, arguments: &DoctorArgs) -> Result<u8> {
    if arguments.noise {
        let seen = preflight::look(Path::new("/"), preflight::LONG_MS)?;
        return match arguments.json {
            true => print(&(serde_json::to_string_pretty(&seen)? + "\n")),
            false => print(&report::noise::render(&seen)),
        };
    }
    let mut environment = machine::capture(Path::new("/"));
    match machine::ladder::look(&environment) {
        Ok(ladder) => environment.cpu.ladder = Some(ladder),
        Err(error) => eprintln!("pagewise: how far the caches reach was not measured: {error:#}"),
    }
    let obstacles = obstacles::obstacles(&environment);
    let workers: Vec<(String, String)> = laboratory.workers.iter().map(|w| (w.name.clone(), w.standing())).collect();
    if arguments.json {
        let workers: BTreeMap<&str, &str> =
            workers.iter().map(|(name, words)| (name.as_str(), words.as_str())).collect();
        let value = serde_json::json!({ "environment": environment, "obstacles": obstacles, "workers": workers });
        return print(&(serde_json::to_string_pretty(&value)? + "\n"));
    }
    print(&(report::doctor::render(&environment, &obstacles) + &report::doctor::workers(&workers)))
}

fn selftest(laboratory: &Laboratory, arguments: &SelftestArgs) -> Result<u8> {
    let budget_s = sizes::parse_seconds(&arguments.budget).context("--budget")?;
    let seed = arguments.seed.unwrap_or_else(|| jiff::Timestamp::now().as_nanosecond() as u64 >> 16);
    let place = std::env::temp_dir().join(format!("pagewise-selftest-{}", std::process::id()));
    let found = crate::check::selftest::selftest(&place, &laboratory.experiments, &laboratory.workers, budget_s, seed);
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
    let (cells, experiments) = select::cells(&laboratory.experiments, &laboratory.workers, &wish)?;
    if experiments.len() > 1 {
        bail!("a request holds cells of one experiment");
    }
    // The same method may take other keys in another worker: a request is for one, by itself for the one measured first.
    let worker = &cells[0].cell.worker;
    if let Some(other) = wish.selectors.iter().filter_map(|s| s.worker.as_ref()).find(|w| *w != worker) {
        bail!("a request is for one worker, not for {worker} and {other}");
    }
    let plain: Vec<&cell::Cell> = cells.iter().map(|p| &p.cell).filter(|c| c.worker == *worker).collect();
    let (told, how_to_make) = captures::by_hand(&experiments[0], &plain)?;
    let order: Vec<usize> = (0..plain.len()).collect();
    let keys = LaunchKeys { experiment: &experiments[0].name, seed: 1, ..LaunchKeys::default() };
    let told: Vec<&cell::Cell> = told.iter().collect();
    let text = request::request(&keys, &told, std::slice::from_ref(&order), std::slice::from_ref(&order));
    print(&(how_to_make + &text))
}
