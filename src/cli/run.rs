//! The verb `run`: makes a run or completes one.

use super::{
    Laboratory, SelectArgs, new_folder, output, output::PageArgs, print_json, runs_folder,
    start::Start,
};
use crate::plan::kept::{Granted, confirm};
use crate::plan::{self, Choice, Terms, published};
use crate::run::{Questions, Session, signals};
use crate::{machine::preflight, worker::Worker};
use anyhow::{Result, bail};
use clap::Args;
use record::experiment::{Experiment, ParameterList};
use record::machine_state::{PLAIN, STATE};
use record::plan::{LAUNCHES, LaunchGroup, MOST_LAUNCHES, Plan};
use record::summary::{Summary, Verdict};
use record::{
    cell::Cell, cell::Selector, decision::DecisionKind, folder::RunFolder, kind::Kind,
    outcome::Status, published::Published, sizes,
};
use report::ending::{planned, too_short};
use report::view::Wanted;
use schedule::guess_s;
use stats::estimate::LEAST_POINTS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The budget of the overview of everything, in seconds.
const LOOK_BUDGET_S: f64 = 175.0;
/// Below this the overview measures each question in its usual condition only, in seconds.
const CONDITIONS_BUDGET_S: f64 = 90.0;
/// The budget of a published article, whose grids of sizes are long, in seconds.
const PUBLISHED_BUDGET_S: f64 = 600.0;
/// The budget of each launch of an article whose jobs take minutes each, in seconds.
const LONG_BUDGET_S: f64 = 5400.0;
/// Refusal of a state of the machine.
pub(super) const UNPERMITTED: &str =
    "a state changes the machine for the time of a launch; --allow-system-changes permits it";
/// Guesses at the start of a process with its checks, in seconds: of a virtual machine for Java, and of any other.
const STARTS_S: [f64; 2] = [0.7, 0.05];
/// The budget of a run in several states of the machine, in seconds.
const STATES_BUDGET_S: f64 = 240.0;
/// The same for all questions of the overview.
const ALL_STATES_BUDGET_S: f64 = 900.0;
/// Half-width at which an experiment is done where neither budget nor precision is given.
const PRECISION: f64 = 0.01;
/// The same in the overview: what is narrow leaves its time to what is not.
const LOOK_PRECISION: f64 = 0.025;

#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    select: SelectArgs,
    /// Measure the methods of these languages: c, go, java, python, rust [default: those of each experiment].
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = ["c", "go", "java", "python", "rust"],
          conflicts_with_all = ["published", "all", "resume"])]
    language: Vec<String>,
    /// The verb that measures.
    #[arg(skip)]
    pub(super) kind: Kind,
    /// SHA-256 of each file of the user's functions.
    #[arg(skip)]
    pub(super) files: BTreeMap<String, String>,
    /// True if nothing is printed of the run itself.
    #[arg(skip)]
    pub(super) silent: bool,
    /// The method that others are compared with.
    #[arg(long, value_name = "METHOD")]
    baseline: Option<String>,
    /// Measure in these states of the machine, too, beside the plain one: fragmented-movable, swap-zram …
    #[arg(long, value_name = "STATE[,STATE]", requires = "what", conflicts_with_all = ["resume", "published"])]
    state: Option<String>,
    /// The same in every state that matters to the experiment; without names, of all questions of the overview.
    #[arg(long, conflicts_with_all = ["state", "resume", "published"])]
    states: bool,
    /// Time to spend in all [default: 175s for the overview, 10min for --published, otherwise what the experiments
    /// named need, mostly 60s each].
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    pub(super) budget: Option<f64>,
    /// Half-width of a ratio's interval at which it is done [default: 2.5% in the overview; otherwise 1%, and none where
    /// --budget is given, which is then used up].
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share)]
    precision: Option<f64>,
    /// Differences below this share are called "within the margin".
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "2%")]
    pub(super) margin: f64,
    /// Exactly this many launches, budget permitting [default: 6 to 40; with --budget alone, 6 and more].
    #[arg(long, value_name = "N")]
    launches: Option<u32>,
    /// Longest time of one launch; a worker that takes longer is ended [default: 10 times what the pilot took, at least 60s].
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    time_limit: Option<f64>,
    /// Seed of all orders and data [default: from the clock; it is kept in the plan].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The run folder itself [default: a new one among the kept runs].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Completes a run that was interrupted, by id or path.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["what", "out", "seed", "launches", "baseline", "published",
        "all", "precision", "margin", "keep_environment"])]
    pub(super) resume: Option<String>,
    /// Measure the cells of one published article (P1 … P5), or of `all` of them, and print the figures beside.
    #[arg(long, value_name = "ID")]
    published: Option<String>,
    /// With --published P1: as many stores as were published, so that the kernel writes the file back meanwhile (minutes).
    // A requirement is not looked at where what it requires conflicts with an option that is given.
    #[arg(long, requires = "published", conflicts_with_all = ["all", "resume", "language", "state", "states"])]
    long: bool,
    /// Everything, at the values that the experiments themselves take: hours rather than minutes, said at the start.
    #[arg(long, conflicts_with_all = ["published", "what"])]
    all: bool,
    /// Wait for at most so long until other machines and processes leave this one most of its CPUs.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    wait_for_quiet: Option<f64>,
    /// Leave variables such as LD_PRELOAD, GLIBC_TUNABLES and GODEBUG to the workers; otherwise they are cleared.
    #[arg(long)]
    keep_environment: bool,
    /// Print summary.json to standard output instead of tables.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
    /// Exit with 3 where anything is undecided or untrusted.
    #[arg(long)]
    pub(super) strict: bool,
    /// Allow changes such as a larger huge page pool; everything is put back.
    #[arg(long)]
    allow_system_changes: bool,
    /// List the cells and the time that they need, and measure nothing.
    #[arg(long, conflicts_with_all = ["resume", "json", "strict", "wait_for_quiet"])]
    dry_run: bool,
}

/// Options of the display.
#[derive(Clone, Debug, Args)]
pub(super) struct ShownArgs {
    /// Also phases, resources, what each side paid, latency, lower bound and floor.
    #[arg(long)]
    pub(super) full: bool,
    /// Nothing but ASCII.
    #[arg(long)]
    pub(super) ascii: bool,
    #[command(flatten)]
    pub(super) page: PageArgs,
}

fn budget(
    laboratory: &Laboratory,
    arguments: &RunArgs,
    what: &[String],
) -> Result<(f64, ParameterList)> {
    let given = arguments.budget;
    let what: Vec<Selector> = what
        .iter()
        .map(|w| Selector::parse(w))
        .collect::<Result<_>>()?;
    let named = |e: &&Experiment| what.iter().any(|s| s.experiment == e.name);
    let all = |e: &&Experiment| arguments.all && !e.hidden;
    let needed_s: f64 = laboratory
        .experiments
        .iter()
        .filter(|e| named(e) || all(e))
        .map(Experiment::needed_s)
        .sum();
    let shorter = laboratory
        .experiments
        .iter()
        .filter(named)
        .any(|e| e.parameters.values().any(|p| !p.look.is_empty()));
    Ok(match given {
        _ if arguments.all => (given.unwrap_or(needed_s), ParameterList::Default),
        given if arguments.published.is_some() => {
            (given.unwrap_or(PUBLISHED_BUDGET_S), ParameterList::Default)
        }
        given if what.is_empty() && arguments.states => {
            (given.unwrap_or(ALL_STATES_BUDGET_S), ParameterList::Look)
        }
        given if what.is_empty() => (given.unwrap_or(LOOK_BUDGET_S), ParameterList::Look),
        // The states take the time: each experiment has its least values.
        given if arguments.states || arguments.state.is_some() => {
            (given.unwrap_or(STATES_BUDGET_S), ParameterList::Short)
        }
        Some(budget_s) if budget_s < needed_s && shorter => (budget_s, ParameterList::Short),
        given => (given.unwrap_or(needed_s), ParameterList::Default),
    })
}

/// A time limit, which a worker can start within on a busy machine.
fn time_limit(text: &str) -> Result<f64> {
    match sizes::parse_seconds(text)? {
        limit_s if limit_s < 1.0 => {
            bail!("it must be at least 1s: a worker takes that long to start on a busy machine")
        }
        limit_s => Ok(limit_s),
    }
}

impl RunArgs {
    /// Takes the words as functions that are methods of this experiment; without words, all of them. Returns their names.
    pub(super) fn within(&mut self, experiment: &str, functions: Vec<String>) -> Vec<String> {
        let what = &mut self.select.what;
        let named = if what.is_empty() && self.resume.is_none() {
            functions
        } else {
            what.clone()
        };
        *what = named
            .iter()
            .map(|name| format!("{experiment}/{name}@own"))
            .collect();
        // A loop that does not end is more likely here than one that takes longer.
        self.time_limit.get_or_insert(30.0);
        named
    }

    /// Adds a method with which the functions are compared: a built-in one, or one of a saved baseline.
    pub(super) fn against(&mut self, experiment: &str, method: &str, worker: &str) {
        self.select
            .what
            .push(format!("{experiment}/{method}@{worker}"));
        self.baseline.get_or_insert_with(|| method.to_owned());
    }

    /// Values of the parameter `state`; `None` where no state is asked for.
    fn machine_states(&self) -> Result<Option<String>> {
        let names = if self.states {
            Some("all")
        } else {
            self.state.as_deref()
        };
        let Some(names) = names else { return Ok(None) };
        if !self.allow_system_changes {
            bail!(UNPERMITTED);
        }
        Ok(Some(format!("{STATE}={PLAIN},{names}")))
    }

    /// The id of the published article, or of its long form.
    fn write_up(&self) -> Option<String> {
        self.published
            .as_ref()
            .map(|id| format!("{id}{}", if self.long { published::LONG } else { "" }))
    }
}

/// The same experiments and methods in these languages; all experiments of a language where none is named.
fn in_languages(
    laboratory: &Laboratory,
    what: &[String],
    languages: &[String],
) -> Result<Vec<String>> {
    let mut selected = Vec::new();
    for language in languages {
        let workers: Vec<&Worker> = laboratory
            .workers
            .iter()
            .filter(|w| w.family() == language)
            .collect();
        let has = |experiment: &str| {
            workers
                .iter()
                .any(|w| w.methods().iter().any(|m| m.experiment == experiment))
        };
        let pattern = if language == "c" {
            "c-O3".to_owned()
        } else {
            format!("{language}*")
        };
        let shown = laboratory
            .experiments
            .iter()
            .filter(|e| !e.hidden && has(&e.name));
        let all: Vec<String> = if what.is_empty() {
            shown.map(|e| e.name.clone()).collect()
        } else {
            what.to_vec()
        };
        if workers.is_empty() || all.is_empty() {
            bail!("nothing here is measured in {language}; pagewise doctor says what is missing");
        }
        if let Some(word) = all.iter().find(|word| word.contains('@')) {
            bail!("{word} names its worker already; --language chooses one");
        }
        selected.extend(all.iter().map(|word| format!("{word}@{pattern}")));
    }
    Ok(selected)
}

fn new_plan(laboratory: &Laboratory, arguments: &RunArgs) -> Result<Plan> {
    let mut select = SelectArgs {
        what: arguments.select.what.clone(),
        set: arguments.select.set.clone(),
    };
    if !arguments.language.is_empty() {
        select.what = in_languages(laboratory, &select.what, &arguments.language)?;
    }
    select.set.extend(arguments.machine_states()?);
    let published = arguments
        .write_up()
        .as_deref()
        .map(published::named)
        .transpose()?;
    let look = select.what.is_empty() && published.is_none() && !arguments.all;
    let (budget_s, list) = budget(laboratory, arguments, &select.what)?;
    if arguments.all {
        remark!(
            "everything is measured, with a budget of {:.0} minutes",
            budget_s / 60.0
        );
    }
    if let Some(tables) = &published {
        select.what = tables
            .iter()
            .flat_map(|table| table.selectors())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
    }
    let mut wish = laboratory.wish(&select, arguments.baseline.clone(), list)?;
    wish.conditions = !look || budget_s >= CONDITIONS_BUDGET_S && !arguments.states;
    if !wish.conditions && !arguments.states {
        remark!(
            "below {CONDITIONS_BUDGET_S:.0} s each question is measured in its usual condition only; others may reverse an answer"
        );
    }
    let choice = published
        .as_deref()
        .map_or(Choice::Wished(&wish), |tables| {
            Choice::Published(tables, &wish)
        });
    let start = Start::now();
    let seed = arguments.seed.unwrap_or_else(|| start.seed());
    let once = published
        .as_ref()
        .is_some_and(|tables| tables.iter().all(|table| table.once));
    let launches = arguments.launches.unwrap_or(1);
    let budget_s = if once {
        arguments
            .budget
            .unwrap_or(LONG_BUDGET_S * f64::from(launches))
    } else {
        budget_s
    };
    if once {
        remark!("{}", report::ending::long_jobs(budget_s));
    }
    // A budget that was given is used up for width; forty launches are no reason to leave some of it.
    let precision = arguments.precision.unwrap_or(match arguments.budget {
        _ if look => LOOK_PRECISION,
        Some(_) => 0.0,
        None => PRECISION,
    });
    let usual = if precision > 0.0 && !look {
        LAUNCHES
    } else {
        (LAUNCHES.0, MOST_LAUNCHES)
    };
    let terms = Terms {
        kind: arguments.kind,
        created: start.created(),
        // No pilot shows how long a launch of such a job takes.
        time_limit_s: arguments.time_limit.or(once.then_some(budget_s)),
        launches: if once {
            (launches, launches)
        } else {
            arguments.launches.map_or(usual, |n| (n, n))
        },
        keep_environment: arguments.keep_environment,
        files: arguments.files.clone(),
        first_look: look,
        short: list == ParameterList::Short,
        allow_system_changes: arguments.allow_system_changes,
        ..Terms::usual(
            start.run_id(),
            seed,
            budget_s,
            (precision, arguments.margin),
        )
    };
    plan::build(&laboratory.experiments, &laboratory.workers, choice, terms)
}

/// Waits until the machine is quiet, where the user asked for it; what is seen meanwhile is said where it changes by much.
fn wait_for_quiet(arguments: &RunArgs) -> Result<()> {
    let Some(most) = arguments.wait_for_quiet.map(Duration::from_secs_f64) else {
        return Ok(());
    };
    let mut reported = f64::INFINITY;
    let quiet = preflight::wait_for_quiet(Path::new("/"), most, |seen, left_s| {
        let got = seen.got_share();
        if (got - reported).abs() > 0.1 {
            reported = got;
            remark!(
                "waiting for a quieter machine: it gives {:.0} % of its CPUs; {left_s:.0} s left",
                got * 100.0
            );
        }
    })?;
    if !quiet {
        let most = report::wording::duration(most.as_secs_f64());
        remark!("this machine has not become quiet in {most}; measuring all the same");
    }
    Ok(())
}

/// A guess at the seconds in which a plan compares everything: pilots and the least launches, each of so many starts and bytes.
pub(super) fn least_s(plan: &Plan) -> f64 {
    let bytes = |cell: &Cell| cell.parameters.get("bytes")?.parse::<f64>().ok();
    let turn_s = |cell: &Cell| plan.experiment(&cell.experiment)?.cell_s;
    let launch_s = |group: &LaunchGroup| {
        let cells = || group.cells.iter().map(|&cell| &plan.cells[cell].cell);
        let start_s = if cells().any(|cell| cell.worker.starts_with("java")) {
            STARTS_S[0]
        } else {
            STARTS_S[1]
        };
        guess_s(start_s, cells().filter_map(bytes).sum()) + cells().filter_map(turn_s).sum::<f64>()
    };
    plan.launch_groups.iter().map(launch_s).sum::<f64>() * (LEAST_POINTS + 1) as f64
}

/// A kind of run that answers for itself when it is completed.
pub(super) trait Answering {
    /// Questions of a kept run; `None` where it is of another kind.
    fn open(&self, folder: &RunFolder, margin: f64) -> Result<Option<Box<dyn Questions>>>;

    /// Answers it and gives the exit code; `None` where it is of another kind.
    fn answered(
        &self,
        summary: &Summary,
        stopped_by: Option<i32>,
        folder: &RunFolder,
    ) -> Result<Option<u8>>;
}

/// Makes a run or completes one; `answering` is asked whether a completed one is of its kind.
pub(super) fn run(
    laboratory: &Laboratory,
    arguments: &RunArgs,
    answering: &dyn Answering,
) -> Result<u8> {
    check(laboratory, arguments, Kind::Run)?;
    match dry_run(laboratory, arguments)? {
        Some(code) => Ok(code),
        None => measure(
            laboratory,
            arguments,
            &begun(laboratory, arguments)?,
            answering,
        ),
    }
}

/// Refuses what can be known to be wrong before anything is compiled, started or written.
pub(super) fn check(laboratory: &Laboratory, arguments: &RunArgs, verb: Kind) -> Result<()> {
    if arguments.launches == Some(0) {
        bail!("--launches 0 leaves nothing to measure");
    }
    arguments.machine_states()?;
    laboratory.settings(&arguments.select.set)?;
    arguments.shown.page.check()?;
    match &arguments.resume {
        Some(name) => super::named::resumable(name, verb).map(drop),
        None => RunFolder::can_create(&new_folder(arguments.out.as_deref(), "new")),
    }
}

/// Prints the plan of a run where nothing is to be measured, and gives the exit code.
pub(super) fn dry_run(laboratory: &Laboratory, arguments: &RunArgs) -> Result<Option<u8>> {
    if !arguments.dry_run {
        return Ok(None);
    }
    let plan = new_plan(laboratory, arguments)?;
    output::print_styled(&super::output::text(
        &planned(&plan, least_s(&plan)),
        arguments.shown.ascii,
        false,
    ))
    .map(Some)
}

/// A session that begins a run or goes on with one.
pub(super) fn begun(laboratory: &Laboratory, arguments: &RunArgs) -> Result<Session> {
    wait_for_quiet(arguments)?;
    match &arguments.resume {
        Some(name) => resumed(laboratory, arguments, name),
        None => {
            let plan = new_plan(laboratory, arguments)?;
            if let Some(sentence) = too_short(&plan, least_s(&plan)).filter(|_| !arguments.silent) {
                remark!("pagewise: {sentence}");
            }
            let path = new_folder(arguments.out.as_deref(), &plan.run);
            Session::begin(plan, &path, arguments.shown.page.force)
        }
    }
}

/// Measures, prints and keeps a run; the result is the exit code.
pub(super) fn measure(
    laboratory: &Laboratory,
    arguments: &RunArgs,
    session: &Session,
    answering: &dyn Answering,
) -> Result<u8> {
    let folder = &session.folder;
    let open = if session.resumed {
        answering.open(folder, session.plan.margin)?
    } else {
        None
    };
    let (summary, stopped_by) = made(laboratory, session, open.as_deref())?;
    if session.resumed
        && let Some(code) = answering.answered(&summary, stopped_by, folder)?
    {
        return Ok(code);
    }
    let articles = articles(arguments.write_up().as_deref())?;
    let page = output::of_run(&summary, folder, &articles);
    output::keep(folder, &page);
    arguments.shown.page.write(|| page)?;
    // What such a job rests on stands in a further table.
    let wanted = Wanted {
        full: arguments.shown.full || arguments.long,
        ..Wanted::default()
    };
    if arguments.json && !arguments.silent {
        print_json(&summary)?;
    } else if !arguments.silent {
        print_run(&summary, folder, wanted, &arguments.shown, &articles)?;
    }
    Ok(exit_code(&summary, stopped_by, arguments.strict))
}

/// Measures until ratios are precise or these questions are answered. Returns the summary, and the signal that stopped it.
pub(super) fn made(
    laboratory: &Laboratory,
    session: &Session,
    questions: Option<&dyn Questions>,
) -> Result<(Summary, Option<i32>)> {
    let kept_scores = |host: &_| super::kept::scores(&runs_folder(), host);
    session.measure(&laboratory.workers, &kept_scores, questions)
}

/// Goes on with a kept run. Its plan is data: the methods, permissions and files are those of this command line.
fn resumed(laboratory: &Laboratory, arguments: &RunArgs, name: &str) -> Result<Session> {
    let named = arguments
        .select
        .set
        .iter()
        .map(|text| laboratory.setting(text))
        .collect::<Result<Vec<_>>>()?;
    let granted = Granted {
        system_changes: arguments.allow_system_changes,
        files: &named,
    };
    let verb = arguments.kind.resumed_by();
    Session::resume(
        super::named::resumable(name, verb)?,
        verb,
        &laboratory.workers,
        arguments.shown.page.force,
        |state| {
            confirm(
                &state.plan,
                &laboratory.experiments,
                &laboratory.workers,
                &granted,
            )?;
            let (budget_s, time_limit_s) = (
                arguments.budget.unwrap_or(state.budget_s),
                arguments.time_limit.or(state.time_limit_s),
            );
            Ok(DecisionKind::Resumed {
                budget_s,
                time_limit_s,
            })
        },
    )
}

/// The articles of an id; none where none is asked for.
pub(super) fn articles(id: Option<&str>) -> Result<Vec<&'static Published>> {
    id.map_or_else(|| Ok(Vec::new()), published::named)
}

pub(super) fn print_run(
    summary: &Summary,
    folder: &RunFolder,
    mut wanted: Wanted,
    shown: &ShownArgs,
    articles: &[&Published],
) -> Result<u8> {
    wanted.run = output::called(folder);
    wanted.page = output::beside(folder);
    let mut document = report::view::screen(summary, &wanted);
    document
        .sections
        .extend(report::published::sections(articles, summary));
    let mut text = super::output::text(&document, shown.ascii, wanted.full);
    if !wanted.warnings {
        text.push(output::kept_in("run", folder.path()));
    }
    output::print_styled(&text)
}

fn exit_code(summary: &Summary, stopped_by: Option<i32>, strict: bool) -> u8 {
    let settled = || {
        summary
            .comparisons()
            .all(|(_, c)| c.contrast.verdict != Verdict::NotSettled)
    };
    match stopped_by {
        Some(signal) => signals::exit_code(signal),
        None if strict && !(summary.trusted && settled()) => 3,
        None => nothing_measured(summary),
    }
}

/// 4 where no cell could be measured.
pub(super) fn nothing_measured(summary: &Summary) -> u8 {
    u8::from(
        summary.cells.iter().all(|c| c.outcome.status != Status::Ok) && !summary.cells.is_empty(),
    ) * 4
}
