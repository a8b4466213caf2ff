//! The verbs, and nothing but the verbs: each checks its words, calls one part of the laboratory and prints.

use crate::plan::{Laboratory, catalog, published, select};
use crate::run::guard::{Scratch, put_back};
use crate::worker::{self, Worker, carried};
use crate::{run::captures, run::signals};
use anyhow::{Context, Result, bail};
use clap::{Args, ColorChoice, Parser, Subcommand};
use output::{print, print_document, print_json};
use record::experiment::{Experiment, ParameterList};
use record::{cell, cell::Selector, method::Method, sizes, transcript, transcript::LaunchKeys};
use reported::ReportArgs;
use run::RunArgs;
use std::path::{Path, PathBuf};

mod advise;
mod answers;
mod bench;
mod changed;
mod claims;
mod command;
mod compare;
mod damage;
mod doctor;
mod export;
mod gallery;
pub mod help;
mod kept;
mod manuals;
mod named;
mod opened;
mod outliers;
pub mod output;
mod printed;
mod reported;
mod run;
mod runs;
mod share;
mod tags;

/// Measures on this machine what memory costs, proves how, and says which way to use.
#[derive(Debug, Parser)]
#[command(name = "pagewise", version, max_term_width = 80, help_template = help::TEMPLATE,
          after_help = "Example: pagewise run, then pagewise report last --full")]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// A folder with further experiments (*.toml).
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    experiments: Option<PathBuf>,
    /// A further worker, by its path (see workers/PROTOCOL.md). May be repeated.
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    worker: Vec<PathBuf>,
    /// A JDK to measure Java with, by its folder or its java. May be repeated.
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    java: Vec<PathBuf>,
    /// A CPython to measure Python with, by its folder (such as a virtual environment) or its program. May be repeated.
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    python: Vec<PathBuf>,
    /// Show no progress.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Use colors: on a terminal without NO_COLOR, always, or never.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto,
          hide_short_help = true, hide_possible_values = true)]
    color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Experiments, or the methods and parameters of one.
    #[command(after_help = "Example: pagewise list fault")]
    List {
        /// Name.
        experiment: Option<String>,
        /// List the articles that run --published repeats, with their questions and the time that they take.
        #[arg(long, conflicts_with = "experiment")]
        published: bool,
    },
    /// Explain an experiment, or print the source that is measured: show fault, show fault/thp, show mine.c, show RUN; show words
    /// explains the words of screens.
    #[command(after_help = "Example: pagewise show fault/thp")]
    Show(ShowArgs),
    /// Describe this machine: obstacles, causes and remedies.
    #[command(after_help = "Example: pagewise doctor --noise")]
    Doctor(doctor::DoctorArgs),
    /// Measures. Without a name: an overview of every experiment.
    #[command(after_help = "Example: pagewise run fault --set bytes=64MiB --budget 1min")]
    Run(Box<RunArgs>),
    /// Measure your own C functions, or those of a shared library, as built-in methods are measured.
    #[command(after_help = "Example: pagewise bench --new mine.c, then pagewise bench mine.c", mut_arg("what", |what| {
        what.value_name("FUNCTION").help("Functions to measure [default: all]")
    }), mut_arg("published", |published| published.help("Compare a changed copy of an article's program with the original: \
        bench --published P4 mine.c")))]
    Bench(Box<bench::BenchArgs>),
    /// Recommend a method for this machine, with its gain, by size: advise read --file F, or advise --save for programs.
    #[command(after_help = "Example: pagewise advise read --file access.log")]
    Advise(Box<advise::AdviseArgs>),
    /// Other people's claims about the cost of memory, tested on this machine.
    #[command(after_help = "Example: pagewise claims --about mmap --budget 5min")]
    Claims(Box<claims::ClaimsArgs>),
    /// Proves that every method does what it says, at tiny sizes; with --selftest, that the judging does.
    #[command(after_help = "Example: pagewise check fault/touch")]
    Check(CheckArgs),
    /// Tries settings, or other commands, on your own program: try --with SETTING -- CMD, or try -- 'CMD A' 'CMD B'.
    #[command(
        after_help = "Example: pagewise try --with thp,tcmalloc -- ./my-program --input data"
    )]
    Try(Box<command::TryArgs>),
    /// Measure the cost of page faults, reads and copies in your own program, and name settings worth a try.
    #[command(after_help = "Example: pagewise profile -- ./my-program --input data")]
    Profile(Box<command::ProfileArgs>),
    /// Kept runs: which there are, what one is, tags, removing.
    #[command(after_help = "Example: pagewise runs --experiment fault --since 2026-11")]
    Runs(runs::RunsArgs),
    /// Prints a kept run again, or writes it for other programs with --format.
    #[command(after_help = "Example: pagewise report 20261121T171805Z-1a2b3c4d fault --full")]
    Report(ReportArgs),
    /// Holds two runs, or two sets of runs, against each other: kernels, machines, settings.
    #[command(
        after_help = "Example: pagewise compare tag:before tag:after --gate 3% --expect kernel"
    )]
    Compare(compare::CompareArgs),
    /// Write one file of a run for other people: no name of a host or a user, no path, no command, no address.
    #[command(after_help = "Example: pagewise share last")]
    Share(share::ShareArgs),
    /// Make a site of shared runs that compares machines, or check files that others send.
    #[command(after_help = "Example: pagewise gallery shared/ --html site")]
    Gallery(gallery::GalleryArgs),
    /// Prints the completions of a shell.
    #[command(
        hide = true,
        after_help = "Example: pagewise completions bash > ~/.local/share/bash-completion/completions/pagewise"
    )]
    Completions(manuals::CompletionsArgs),
    /// Writes the man pages.
    #[command(
        hide = true,
        after_help = "Example: pagewise man --out ~/.local/share/man/man1"
    )]
    Man(manuals::ManArgs),
}

#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Print a request instead: pagewise show --request fault/touch | $(pagewise show --worker c-O3).
    #[arg(long)]
    request: bool,
    /// Of an experiment also the traps, the laws of every method and the parameters.
    #[arg(long, conflicts_with = "request")]
    laws: bool,
    /// Print the program that does what an article did, with its build line: P1 … P5, P2b, P2c, P1.java.
    #[arg(long, value_name = "ID", conflicts_with_all = ["what", "set", "request", "laws"])]
    published: Option<String>,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// EXPERIMENT[/METHOD[@WORKER]]; everything where left out.
    what: Vec<String>,
    /// Also break every law once, by changing one number at a time in what was recorded, and name those that never break.
    #[arg(long)]
    laws: bool,
    /// Run the suite under every setting of transparent huge pages, and with 64 KiB folios; the settings are put back.
    #[arg(long)]
    allow_system_changes: bool,
    /// Test the judging instead: identical cells, effects of known size, and the usual way beside it.
    #[arg(long, conflicts_with_all = ["what", "laws", "allow_system_changes"])]
    selftest: bool,
    #[command(flatten)]
    judging: SelftestArgs,
}

#[derive(Debug, Args)]
struct SelftestArgs {
    /// Time of the self-test; half of it gives half the comparisons [default: 3min].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    budget: Option<f64>,
    /// Seed of all orders of the self-test [default: from the clock; it is printed].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The self-test's results as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, Args)]
struct SelectArgs {
    /// EXPERIMENT[/METHOD[@WORKER]].
    what: Vec<String>,
    /// Parameter values; KEY=all takes the whole grid. 16M, 16k are binary as in fio, 16MB decimal. May be repeated.
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    set: Vec<String>,
}

impl Cli {
    /// Refuses experiments, workers and runtimes where the verb uses none.
    fn check_places(&self) -> Result<()> {
        let given = [
            (self.experiments.is_some(), "--experiments"),
            (!self.worker.is_empty(), "--worker"),
            (!self.java.is_empty(), "--java"),
            (!self.python.is_empty(), "--python"),
        ];
        match first_given(&given) {
            Some(option) if !self.verb.uses_places() => {
                bail!("{option} has no effect here: this command uses no experiment and no worker")
            }
            _ => Ok(()),
        }
    }
}

impl Verb {
    /// True if it launches what is measured.
    fn measures(&self) -> bool {
        match self {
            Verb::Bench(arguments) => arguments.measures(),
            Verb::Advise(arguments) => arguments.measures(),
            Verb::Claims(arguments) => arguments.measures(),
            Verb::Run(_) | Verb::Check(_) | Verb::Try(_) | Verb::Profile(_) => true,
            Verb::List { .. }
            | Verb::Show(_)
            | Verb::Doctor(_)
            | Verb::Runs(_)
            | Verb::Report(_)
            | Verb::Compare(_)
            | Verb::Share(_)
            | Verb::Gallery(_)
            | Verb::Completions(_)
            | Verb::Man(_) => false,
        }
    }

    /// True if it uses experiments or workers.
    fn uses_places(&self) -> bool {
        match self {
            Verb::Bench(arguments) => arguments.measures(),
            Verb::Advise(arguments) => arguments.measures(),
            Verb::Claims(arguments) => arguments.measures(),
            Verb::List { .. }
            | Verb::Show(_)
            | Verb::Doctor(_)
            | Verb::Run(_)
            | Verb::Check(_)
            | Verb::Completions(_) => true,
            Verb::Try(_)
            | Verb::Profile(_)
            | Verb::Runs(_)
            | Verb::Report(_)
            | Verb::Compare(_)
            | Verb::Share(_)
            | Verb::Gallery(_)
            | Verb::Man(_) => false,
        }
    }
}

/// Opens the laboratory: its experiments, its workers and those that the command line names.
fn open(cli: &Cli) -> Result<Laboratory> {
    worker::sweep();
    Ok(Laboratory {
        experiments: catalog::experiments(cli.experiments.as_deref())?,
        workers: workers(cli)?,
    })
}

/// The first of these options that is given.
fn first_given(options: &[(bool, &'static str)]) -> Option<&'static str> {
    let given = options.iter().find(|(is_given, _)| *is_given);
    given.map(|(_, option)| *option)
}

fn workers(cli: &Cli) -> Result<Vec<Worker>> {
    let external = cli.worker.iter().map(|path| Worker::external(path.clone()));
    worker::all(&cli.java, &cli.python)?
        .into_iter()
        .map(Ok)
        .chain(external)
        .collect()
}

/// Runs one verb; the result is the exit code.
pub fn main(cli: &Cli) -> Result<u8> {
    cli.check_places()?;
    if cli.verb.measures() {
        doctor::check_place()?;
    }
    worker::check_home()?;
    signals::settle()?;
    put_back();
    match cli.color {
        ColorChoice::Auto => {}
        ColorChoice::Always => console::set_colors_enabled(true),
        ColorChoice::Never => console::set_colors_enabled(false),
    }
    if cli.quiet {
        crate::run::progress::silence();
    }
    // Opened by the verbs that need it; even they start no worker that was not given by its path.
    let laboratory = || open(cli);
    match &cli.verb {
        Verb::List {
            published: true, ..
        } => list_published(),
        Verb::List {
            experiment: Some(name),
            ..
        } => list_one(&laboratory()?, name),
        Verb::List {
            experiment: None, ..
        } => list(cli),
        Verb::Show(ShowArgs {
            published: Some(id),
            ..
        }) => print(published::program(id)?),
        Verb::Show(arguments) if arguments.request => request(&laboratory()?, &arguments.select),
        Verb::Show(arguments) if arguments.select.what.is_empty() && !cli.worker.is_empty() => {
            worker_command(cli)
        }
        Verb::Show(arguments) if is_glossary(arguments) => {
            print_document(&report::explain::glossary())
        }
        Verb::Show(arguments) => show(&laboratory()?, arguments),
        Verb::Doctor(arguments) => doctor::doctor(&laboratory()?, arguments),
        Verb::Run(arguments) => run::run(&laboratory()?, arguments),
        Verb::Bench(arguments) => bench::bench(cli, arguments),
        Verb::Advise(arguments) => advise::advise(laboratory, arguments),
        Verb::Claims(arguments) => claims::claims(laboratory, arguments),
        Verb::Check(arguments) if arguments.selftest => {
            selftest(&laboratory()?, &arguments.judging)
        }
        Verb::Check(arguments) => check(&laboratory()?, arguments, &cli.worker),
        Verb::Try(arguments) => command::try_settings(arguments),
        Verb::Profile(arguments) => command::profile(arguments),
        Verb::Runs(arguments) => runs::runs(arguments),
        Verb::Compare(arguments) => compare::run(arguments),
        Verb::Share(arguments) => share::share(arguments),
        Verb::Gallery(arguments) => gallery::gallery(arguments),
        Verb::Completions(arguments) => manuals::completions(cli, arguments),
        Verb::Man(arguments) => manuals::man(arguments),
        Verb::Report(arguments) => reported::report(arguments),
    }
}

/// Prints the list with the least work.
fn list(cli: &Cli) -> Result<u8> {
    let (titles, mut workers) = (catalog::titles(cli.experiments.as_deref())?, workers(cli)?);
    // Workers of one language mostly have the same methods.
    workers.dedup_by(|worker, before| {
        worker.has_methods_of(before) && worker.language() == before.language()
    });
    let listed = workers
        .iter()
        .map(|worker| Ok((worker.name.as_str(), worker.headings()?)));
    print_document(&report::explain::list(
        &titles,
        &listed.collect::<Result<Vec<_>>>()?,
    ))
}

/// Prints the articles.
fn list_published() -> Result<u8> {
    print_document(&report::published::list(&published::named(published::ALL)?))
}

fn list_one(laboratory: &Laboratory, experiment: &str) -> Result<u8> {
    let experiment = catalog::find(&laboratory.experiments, experiment)?;
    print_document(&report::explain::list_one(experiment, &laboratory.offers()))
}

fn check(laboratory: &Laboratory, arguments: &CheckArgs, external: &[PathBuf]) -> Result<u8> {
    let SelftestArgs { budget, seed, json } = &arguments.judging;
    if budget.is_some() || seed.is_some() || *json {
        bail!("--budget, --seed and --json belong to check --selftest");
    }
    let options = crate::check::CheckOptions {
        laws: arguments.laws,
        system_changes: arguments.allow_system_changes,
    };
    crate::check::check(laboratory, &arguments.what, external, options)
}

/// Folder of kept runs: `$XDG_DATA_HOME/pagewise/runs`, or below `~/.local/share`.
fn runs_folder() -> PathBuf {
    let data_home = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    data_home
        .unwrap_or_else(|| worker::home().join(".local/share"))
        .join("pagewise/runs")
}

fn new_folder(out: Option<&Path>, run: &str) -> PathBuf {
    out.map_or_else(|| runs_folder().join(run), Path::to_owned)
}

/// Prints the command that starts a worker, for a shell: a request is its standard input.
fn worker_command(cli: &Cli) -> Result<u8> {
    let [name] = &cli.worker[..] else {
        bail!("show --worker takes one worker; pagewise doctor lists them")
    };
    let name = name.to_str().context("--worker: no name of a worker")?;
    let workers = worker::all(&cli.java, &cli.python)?;
    let started = worker::find(&workers, name)?
        .start()
        .map_err(|reason| anyhow::anyhow!("{name}: {reason}"))?;
    let mut parts = Vec::new();
    for word in &started.command {
        let path = Path::new(word);
        // The path of a descriptor ends with this process.
        let path = if path.starts_with("/proc") {
            path.canonicalize()?
        } else {
            path.to_owned()
        };
        parts.push(path.to_str().context("a path is not UTF-8")?.to_owned());
    }
    print(&(parts.join(" ") + "\n"))
}

/// Tells whether `show words` is typed, and no option.
fn is_glossary(arguments: &ShowArgs) -> bool {
    let select = &arguments.select;
    select.what == ["words"] && select.set.is_empty() && !arguments.laws
}

fn show(laboratory: &Laboratory, arguments: &ShowArgs) -> Result<u8> {
    let select = &arguments.select;
    if !select.set.is_empty() {
        bail!("--set belongs to show --request: the source of a method is the same for all values");
    }
    let [text] = &select.what[..] else {
        bail!(
            "show takes one EXPERIMENT, EXPERIMENT/METHOD, FILE or RUN; pagewise list and pagewise runs have them"
        )
    };
    if let Some(source) = bench::source(text)? {
        return print(&source);
    }
    // A kept run without functions of the user has no source: it is described. `last` stands for none where none is kept.
    let is_experiment = laboratory.experiments.iter().any(|e| e.name == *text);
    if !is_experiment && named::named(text).map(|_| named::folder(text).is_ok())? {
        remark!("pagewise report {text} prints its results");
        return runs::show(text, false);
    }
    let mut selector = Selector::parse(text)?;
    match methods_named(laboratory, &selector).as_slice() {
        [] => {}
        [only] => {
            selector.method = Some(only.name.clone());
            selector.experiment.clone_from(&only.experiment);
        }
        several => return print_document(&report::explain::namesakes(several)),
    }
    let experiment = catalog::find(&laboratory.experiments, &selector.experiment)?;
    let Some(name) = &selector.method else {
        if selector.worker.is_some() {
            bail!("show takes EXPERIMENT or EXPERIMENT/METHOD@WORKER; {text} names no method");
        }
        return print_document(&report::explain::explain(
            experiment,
            &laboratory.offers(),
            arguments.laws,
        ));
    };
    if arguments.laws {
        bail!(
            "--laws belongs to an experiment: pagewise show {} --laws",
            selector.experiment
        );
    }
    if let Some(worker) = &selector.worker {
        worker::find(&laboratory.workers, worker)?;
    }
    let having = laboratory
        .workers
        .iter()
        .filter(|w| selector.worker.as_ref().is_none_or(|name| *name == w.name))
        .filter_map(|w| Some((w.method(&experiment.name, name)?, w)));
    // The worker that is measured first is shown where none is named.
    match having.min_by_key(|(_, worker)| place_among_usual(experiment, worker)) {
        Some((method, worker)) => print(&report::explain::show(
            method,
            &worker.name,
            &carried::all_sources(),
        )),
        None => bail!(
            "{:#}",
            select::nothing_selected(experiment, &laboratory.workers, &selector)
        ),
    }
}

/// The methods whose name is typed in place of an experiment's, one for each experiment that has it.
fn methods_named<'a>(laboratory: &'a Laboratory, selector: &Selector) -> Vec<&'a Method> {
    let name = &selector.experiment;
    let experiments = &laboratory.experiments;
    if selector.method.is_some() || experiments.iter().any(|e| e.name == *name) {
        return Vec::new();
    }
    let visible = experiments.iter().filter(|experiment| !experiment.hidden);
    let methods = visible.filter_map(|experiment| {
        let mut workers = laboratory.workers.iter();
        workers.find_map(|worker| worker.method(&experiment.name, name))
    });
    methods.collect()
}

/// Place of a worker among the usual ones of an experiment.
fn place_among_usual(experiment: &Experiment, worker: &Worker) -> usize {
    let mut usual = experiment.workers.iter();
    usual
        .position(|pattern| pattern.split('+').next() == Some(&worker.name))
        .unwrap_or(usize::MAX)
}

fn selftest(laboratory: &Laboratory, arguments: &SelftestArgs) -> Result<u8> {
    let budget_s = arguments.budget.unwrap_or(180.0);
    let seed = arguments
        .seed
        .unwrap_or_else(|| jiff::Timestamp::now().as_nanosecond() as u64 >> 16);
    let place = Scratch::new("self")?;
    let (result, signal) =
        crate::check::selftest::selftest(place.path(), laboratory, budget_s, seed)?;
    if arguments.json {
        print_json(&result)?
    } else {
        print_document(&report::selftest::document(&result))?
    };
    Ok(signal.map_or_else(|| result.exit_code(), signals::exit_code))
}

fn request(laboratory: &Laboratory, select: &SelectArgs) -> Result<u8> {
    if select.what.is_empty() {
        bail!("a request takes at least one EXPERIMENT/METHOD");
    }
    let wish = laboratory.wish(&select.what, &select.set, ParameterList::Check)?;
    let (cells, experiments) = select::cells(&laboratory.experiments, &laboratory.workers, &wish)?;
    if experiments.len() > 1 {
        bail!("a request holds cells of one experiment");
    }
    // The same method may take other keys in another worker: a request is for one, by itself for the one measured first.
    let worker = &cells[0].cell.worker;
    if let Some(other) = wish
        .selectors
        .iter()
        .filter_map(|s| s.worker.as_ref())
        .find(|w| *w != worker)
    {
        bail!("a request is for one worker, not for {worker} and {other}");
    }
    let plain: Vec<&cell::Cell> = cells
        .iter()
        .map(|p| &p.cell)
        .filter(|c| c.worker == *worker)
        .collect();
    let (cells, how_to_make) = captures::by_hand(&experiments[0], &plain)?;
    let order: Vec<usize> = (0..plain.len()).collect();
    let keys = LaunchKeys {
        experiment: &experiments[0].name,
        seed: 1,
        ..LaunchKeys::default()
    };
    let cells: Vec<&cell::Cell> = cells.iter().collect();
    let text = transcript::request(
        &keys,
        &cells,
        std::slice::from_ref(&order),
        std::slice::from_ref(&order),
    );
    print(&(how_to_make + &text))
}
