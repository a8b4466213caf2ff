//! The verb `bench`: the user's own functions, compared with each other as built-in methods are.

use super::{
    Cli, changed, first_given, named, output, output::write, print, print_json, run::RunArgs,
    run::RunJob, runs_folder, tags,
};
use crate::plan::request::{Request, Subject};
use crate::plan::{Laboratory, catalog};
use crate::run::guard::Scratch;
use crate::worker::functions::{self, Built, BuiltFiles, Described, FunctionTerms, Peer, Worktree};
use crate::worker::{self, Worker, carried};
use anyhow::{Context, Result, bail};
use clap::Args;
use files::{Folder, Secret};
use judge::{evidence::reused::reused_phases, sets::gate::GateTerms};
use record::folder::{RunFolder, SUMMARY};
use record::json::ToJson;
use record::{cell::Selector, kind::Kind, method::Role, sizes, summary::Summary};
use std::path::{Path, PathBuf};

/// Options that nothing but a measurement uses.
const NOT_MEASURED: [&str; 19] = [
    "with",
    "fresh",
    "save_baseline",
    "gate",
    "base",
    "what",
    "set",
    "baseline",
    "budget",
    "precision",
    "launches",
    "time_limit",
    "seed",
    "out",
    "resume",
    "json",
    "full",
    "html",
    "dry_run",
];
const COUNTS: &str = "counts";
/// Name of the worker of another revision.
const BASE: &str = "base";
/// Longest time of one launch where none is given, in seconds.
const TIME_LIMIT_S: f64 = 30.0;
/// Seconds of a run for a gate on time, and for one on counts, which are counted when it is over.
const GATE_BUDGETS_S: [f64; 2] = [20.0, 0.1];
/// Exit codes from here on say which signal stopped a run.
const STOPPED: u8 = 128;

#[derive(Clone, Debug, Args)]
pub(super) struct BenchArgs {
    /// A file in C or C++ with BENCH functions, or in Rust, Go, Java, Zig or Python with functions that are marked in the
    /// language's own manner; a shared library with its functions (libmine.so:f,g); or a program that speaks the workers'
    /// protocol, such as a target of cargo bench.
    #[arg(
        value_name = "FILE|LIB.so:F|PROGRAM",
        required_unless_present = "header"
    )]
    file: Option<String>,
    /// Write a commented file to start from, and measure nothing.
    #[arg(long, conflicts_with_all = NOT_MEASURED)]
    new: bool,
    /// Print pagewise.h, which says all that a file can use.
    #[arg(long, conflicts_with_all = ["file", "new"], conflicts_with_all = NOT_MEASURED)]
    header: bool,
    /// Compare the functions with a built-in method that does the same; they take its parameters and must come to the same.
    #[arg(long, value_name = "EXPERIMENT/METHOD")]
    with: Option<String>,
    /// Run each turn in a process of its own, whose start is not timed, as in a program that does this once.
    #[arg(long)]
    fresh: bool,
    /// Keep the compiled functions with this run, under a name that --against takes.
    #[arg(long, value_name = "NAME", value_parser = tags::checked, conflicts_with = "dry_run")]
    save_baseline: Option<String>,
    /// Measure a saved baseline in turn with these functions. Exit with 2 where a count is larger (counts: faults, calls,
    /// bytes, allocations) or a time is longer by a SHARE, and with 3 where that is open. May be repeated.
    #[arg(
        long,
        value_name = "counts|SHARE",
        value_delimiter = ',',
        conflicts_with_all = ["resume", "dry_run"]
    )]
    gate: Vec<String>,
    /// The saved baseline, by name or run.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "main",
        requires = "gate",
        conflicts_with = "resume"
    )]
    against: String,
    /// Compile the file of another revision of its git repository as the baseline, in a worktree that is removed afterwards.
    #[arg(long, value_name = "REF", requires = "gate", conflicts_with_all = ["against", "rebuild", "resume"])]
    base: Option<String>,
    /// Compile the kept source of the baseline anew instead of executing its kept program, which must have been saved by
    /// this user on this machine.
    #[arg(long, requires = "gate", conflicts_with = "resume")]
    rebuild: bool,
    /// Print the gate's result as Markdown, for a comment on a pull request.
    #[arg(long, requires = "gate", conflicts_with_all = ["json", "resume"])]
    markdown: bool,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) fn bench(cli: &Cli, arguments: &BenchArgs) -> Result<u8> {
    let Some(file) = &arguments.file else {
        return print(carried::source("workers/c/bench/pagewise.h").unwrap_or_default());
    };
    if arguments.new {
        return start(file, arguments.run.shown.page.force);
    }
    if let Some(name) = &arguments.run.published {
        arguments.refuse_beside_program()?;
        return changed::compare(cli, &arguments.run, name, file);
    }
    arguments.refuse_choice_of_experiments(file)?;
    let terms = arguments.terms()?;
    let mut laboratory = super::open(cli)?;
    arguments.run.check(&laboratory, Kind::Bench)?;
    let key = arguments
        .save_baseline
        .as_deref()
        .map(|name| can_save(&laboratory, name))
        .transpose()?;
    let scratch = Scratch::new("bench")?;
    let folder = Folder::open(scratch.path())?;
    let with = arguments.with.as_deref();
    let peer = with.map(|with| peer(&laboratory, with)).transpose()?;
    let build_terms = FunctionTerms {
        peer,
        is_fresh: arguments.fresh,
        settings: &arguments.run.select.set,
    };
    let worktree = arguments.worktree(file, &scratch)?;
    let baseline = match &worktree {
        Some(worktree) => Some(revision(
            worktree,
            build_terms,
            &folder,
            &laboratory.workers,
        )?),
        None if terms.is_some() => Some(saved_baseline(
            &laboratory,
            arguments,
            build_terms,
            &folder,
        )?),
        None => None,
    };
    let mut built = functions::build(file, build_terms, &folder, &laboratory.workers)?;
    check_same_processes(&built, baseline.as_ref())?;
    let request = arguments.request(
        &built,
        peer,
        baseline.as_ref().map(|baseline| &baseline.worker),
        terms.as_ref(),
    )?;
    laboratory
        .workers
        .extend(baseline.map(|baseline| baseline.worker));
    laboratory.experiments.extend(built.experiment.take());
    laboratory.workers.push(built.worker);
    let job = RunJob {
        laboratory: &laboratory,
        arguments: &arguments.run,
        request,
        prints: arguments.prints_run(terms.as_ref()),
    };
    if let Some(code) = job.dry_run()? {
        return Ok(code);
    }
    let session = job.begin()?;
    if !session.resumed {
        built.files.keep_source(session.folder.path())?;
    }
    let code = job.measure(&session)?;
    if let (Some(name), Some(key), 0) = (&arguments.save_baseline, key, code) {
        save(&session.folder, name, &key, &built.files)?;
    }
    if code >= STOPPED {
        return Ok(code);
    }
    if let Some(terms) = terms {
        return arguments.judged(&session.folder, file, &terms);
    }
    if !arguments.shows_both() || !finds_memory(&session.folder)? {
        return Ok(code);
    }
    // Its right to measure here passes on.
    drop(session);
    Ok(code.max(bench(cli, &arguments.in_fresh_processes())?))
}

/// True if a function's memory was there already in each turn, which a program that does its work once does not find.
fn finds_memory(run: &RunFolder) -> Result<bool> {
    let summary: Summary = run.read_result(SUMMARY)?;
    Ok(summary
        .cells
        .iter()
        .any(|cell| !reused_phases(cell).is_empty()))
}

impl BenchArgs {
    /// The same, each turn in a process of its own.
    fn in_fresh_processes(&self) -> BenchArgs {
        BenchArgs {
            fresh: true,
            ..self.clone()
        }
    }

    /// The other revision of the file that is the baseline, if one is named.
    fn worktree(&self, file: &str, scratch: &Scratch) -> Result<Option<Worktree>> {
        let place = scratch.path().join("worktree");
        let base = self.base.as_ref();
        base.map(|base| Worktree::add(Path::new(file), base, place))
            .transpose()
    }

    /// True if figures of fresh processes may follow those of one process: the usual table was asked for, and no more. A
    /// built-in method has no fresh processes to be compared with.
    fn shows_both(&self) -> bool {
        let is_alone = self.with.is_none() && self.save_baseline.is_none();
        is_alone && !self.fresh && self.run.is_plain()
    }

    /// True if functions are compiled and measured.
    pub(super) fn measures(&self) -> bool {
        self.file.is_some() && !self.new
    }

    /// Refuses what is of functions beside the whole program of an article.
    fn refuse_beside_program(&self) -> Result<()> {
        let given = [
            (self.with.is_some(), "--with"),
            (self.fresh, "--fresh"),
            (self.save_baseline.is_some(), "--save-baseline"),
            (!self.gate.is_empty(), "--gate"),
        ];
        match first_given(&given) {
            Some(option) => {
                bail!("{option} has no effect on bench --published, which compares two programs")
            }
            None => Ok(()),
        }
    }

    /// Refuses options that choose among the experiments of the laboratory.
    fn refuse_choice_of_experiments(&self, file: &str) -> Result<()> {
        let given = [
            (self.run.all, "--all"),
            (!self.run.language.is_empty(), "--language"),
        ];
        match first_given(&given) {
            Some(option) => {
                bail!("{option} belongs to pagewise run; bench measures the functions of {file}")
            }
            None => Ok(()),
        }
    }

    /// The request to measure the functions, and the methods that they are compared with: a built-in one, or those of a
    /// saved baseline.
    fn request(
        &self,
        built: &Built,
        peer: Option<Peer>,
        baseline: Option<&Worker>,
        terms: Option<&GateTerms>,
    ) -> Result<Request> {
        let named = &self.run.select.what;
        let functions: Vec<&str> = if named.is_empty() && self.run.resume.is_none() {
            let methods = built.worker.methods().iter();
            methods.map(|method| method.name.as_str()).collect()
        } else {
            named.iter().map(String::as_str).collect()
        };
        let experiment = built.experiment.as_ref().or(peer.map(|p| p.experiment));
        let experiment = experiment.map_or("", |experiment| &experiment.name);
        let mut selectors: Vec<String> = functions
            .iter()
            .map(|function| format!("{experiment}/{function}@{}", functions::WORKER))
            .collect();
        let mut request = self.run.request(Kind::Bench, Subject::Named(Vec::new()));
        request.files = built.files.digests()?;
        request.set = built.settings(&request.set)?;
        // A loop that does not end is more likely here than one that takes longer.
        request.time_limit_s.get_or_insert(TIME_LIMIT_S);
        if let Some(peer) = peer {
            let (method, worker) = (&peer.method.name, peer.worker);
            selectors.push(format!("{experiment}/{method}@{worker}"));
            request.baseline.get_or_insert_with(|| method.clone());
        }
        if let Some(worker) = baseline {
            for function in functions {
                let kept = worker.method(experiment, function);
                if kept.is_some_and(|m| m.role == Role::Method) {
                    selectors.push(format!("{experiment}/{function}@{}", worker.name));
                    request.baseline.get_or_insert_with(|| function.to_owned());
                }
            }
        }
        if let Some(terms) = terms {
            let [time_s, counts_s] = GATE_BUDGETS_S;
            request.budget_s.get_or_insert(if terms.slower.is_some() {
                time_s
            } else {
                counts_s
            });
        }
        request.subject = Subject::Named(selectors);
        Ok(request)
    }

    /// True unless the gate's result is printed alone.
    fn prints_run(&self, terms: Option<&GateTerms>) -> bool {
        terms.is_none_or(|terms| terms.slower.is_some() && !self.markdown && !self.run.json)
    }

    fn terms(&self) -> Result<Option<GateTerms>> {
        let mut terms = GateTerms {
            margin: self.run.margin,
            ..GateTerms::default()
        };
        for word in &self.gate {
            if word == COUNTS {
                terms.counts = true;
            } else {
                let share = sizes::parse_share(word)
                    .context("--gate takes counts, or a share of time such as 3%")?;
                terms.slower = Some(share);
            }
        }
        Ok((!self.gate.is_empty()).then_some(terms))
    }

    fn judged(&self, folder: &RunFolder, file: &str, terms: &GateTerms) -> Result<u8> {
        let summary: Summary = folder.read_result(SUMMARY)?;
        let against = self.base.as_ref().map_or(called(&self.against), |_| BASE);
        let names = [against, functions::WORKER];
        let gate = judge::sets::gate::gate(&summary, names, terms);
        let document = report::gate::document(&gate, names, file);
        if self.run.json {
            print_json(&gate.to_json()?)?;
        } else if self.markdown {
            print(&report::markdown::render(&document))?;
        } else {
            output::print_styled(&output::text(&document, self.run.shown.ascii, false))?;
        }
        Ok(gate.gated.map_or(0, |gated| gated.exit_code()))
    }
}

/// An error if one of a baseline and the functions has a process a turn and the other has not.
fn check_same_processes(built: &Built, baseline: Option<&Described>) -> Result<()> {
    let Some(baseline) = baseline.filter(|baseline| baseline.is_fresh() != built.is_fresh) else {
        return Ok(());
    };
    let [with, without] = ["has a process a turn (--fresh)", "has not"];
    let (kept, changed) = if built.is_fresh {
        (without, with)
    } else {
        (with, without)
    };
    bail!(
        "the baseline {} {kept} and the change {changed}: these times cannot be compared",
        baseline.worker.name
    );
}

/// The built-in method that a selector names, or its experiment's baseline.
fn peer<'a>(laboratory: &'a Laboratory, with: &str) -> Result<Peer<'a>> {
    let with = Selector::parse(with)?;
    let experiment = catalog::find(&laboratory.experiments, &with.experiment)?;
    let worker = worker::find(
        &laboratory.workers,
        with.worker.as_deref().unwrap_or(worker::NATIVE),
    )?;
    let name = with.method.as_ref().unwrap_or(&experiment.baseline);
    let method = worker.method(&experiment.name, name);
    let method = method.with_context(|| {
        format!(
            "{} has no method \"{name}\" in {}",
            worker.name, experiment.name
        )
    })?;
    if method.two_sided {
        bail!(
            "{}/{name} has two sides, and a function of yours has one",
            experiment.name
        );
    }
    Ok(Peer {
        experiment,
        method,
        worker: &worker.name,
    })
}

/// An error if a baseline's worker cannot have this name.
fn check_baseline_name(laboratory: &Laboratory, name: &str) -> Result<()> {
    if laboratory.workers.iter().any(|w| w.name == name) || name == functions::WORKER {
        bail!("{name} is the name of a worker; a baseline needs another one");
    }
    Ok(())
}

/// The key of this user's baselines, made where there is none; asked before anything is measured.
fn can_save(laboratory: &Laboratory, name: &str) -> Result<Secret> {
    check_baseline_name(laboratory, name)?;
    let made = Folder::private(&key_folder()).and_then(|folder| folder.make_secret(KEY));
    made.context("--save-baseline needs a key that only this user can read")
}

/// Keeps the compiled functions with their run, sealed under a name.
fn save(folder: &RunFolder, name: &str, key: &Secret, files: &BuiltFiles) -> Result<()> {
    files.keep(folder)?;
    folder.seal_baseline(key)?;
    tags::change(folder, &[name.to_owned()], false)?;
    Ok(())
}

/// The worker of the file's other revision.
fn revision(
    worktree: &Worktree,
    terms: FunctionTerms,
    scratch: &Folder,
    workers: &[Worker],
) -> Result<Described> {
    functions::of_revision(&worktree.file, BASE, terms, scratch, workers)
}

/// The worker that a saved baseline keeps: a run by its path or id, or the last one that was saved under this name.
fn saved_baseline(
    laboratory: &Laboratory,
    arguments: &BenchArgs,
    terms: FunctionTerms,
    scratch: &Folder,
) -> Result<Described> {
    let name = &arguments.against;
    let worker = called(name);
    check_baseline_name(laboratory, worker)?;
    let run = named::folder(name)
        .or_else(|_| RunFolder::open(&last_saved(name)?, &runs_folder()))?
        .mine()?;
    let made = if arguments.rebuild {
        functions::rebuilt(&run, worker, terms, scratch, &laboratory.workers)
    } else if is_sealed_here(&run)? {
        functions::kept(&run, worker, terms.is_fresh, scratch, &laboratory.workers)
    } else {
        bail!(
            "{} was not saved as a baseline by this user on this machine, so its program is not executed; --rebuild \
             compiles its kept source",
            run.path().display()
        );
    };
    made.with_context(|| format!("the baseline {name} cannot be measured here"))
}

/// The last run of a tag that keeps functions.
fn last_saved(tag: &str) -> Result<String> {
    let runs = named::named(&format!("tag:{tag}"))?;
    let last = runs
        .into_iter()
        .rfind(|run| functions::is_kept(Path::new(run)));
    last.with_context(|| {
        format!("no run tagged {tag:?} keeps functions: bench FILE --save-baseline {tag} makes one")
    })
}

/// Name of the file with the key of this user's baselines.
const KEY: &str = "baseline.key";

/// The folder above the kept runs, which has the key of this user's baselines.
fn key_folder() -> PathBuf {
    let runs = runs_folder();
    runs.parent().map_or(runs.clone(), Path::to_owned)
}

/// True if this user sealed the run as a baseline on this machine. Without a key nothing was ever sealed here.
fn is_sealed_here(run: &RunFolder) -> Result<bool> {
    let place = key_folder();
    if !place.is_dir() {
        return Ok(false);
    }
    let key = Folder::private(&place)?.secret(KEY)?;
    key.map_or(Ok(false), |key| run.is_baseline_of(&key))
}

/// The source of a user's functions with the lines that the clock covers: of a file, or of a kept run. None: it is neither.
/// Errors: it cannot be read, or is not the one that was measured.
pub(super) fn source(what: &str) -> Result<Option<String>> {
    let marked = |name: &str, text: &str| report::show::measured_source(name, "", &[(name, text)]);
    let path = Path::new(what);
    if path.is_file() {
        return Ok(functions::source(path)?.and_then(|(name, text)| marked(&name, &text)));
    }
    let Ok(run) = named::folder(what).and_then(RunFolder::mine) else {
        return Ok(None);
    };
    Ok(functions::source_of(&run)?.and_then(|(name, text)| marked(name, &text)))
}

/// Name of a baseline's worker: a run that is given by its path is called by its last part.
fn called(baseline: &str) -> &str {
    baseline
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(baseline)
}

/// Writes the file to start from; one that is there stays.
fn start(file: &str, force: bool) -> Result<u8> {
    let path = Path::new(file);
    if path.extension().is_none_or(|extension| extension != "c") {
        bail!("--new writes a C file: {file} does not end in .c");
    }
    let text = carried::source(functions::START).unwrap_or_default();
    write(path, force, |out| Ok(out.write_all(text.as_bytes())?))?;
    print(&format!(
        "{file} is written; measure it with: pagewise bench {file}\n"
    ))
}
