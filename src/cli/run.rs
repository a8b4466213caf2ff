//! The verb `run`: makes a run or completes one.

use super::answers::{self, Claimed};
use super::output::ShownArgs;
use super::{SelectArgs, first_given, new_folder, output, printed::Printed, runs_folder};
use crate::plan::kept::{Granted, confirm};
use crate::plan::request::{CONDITIONS_BUDGET_S, Course, Request, Subject, in_languages, least_s};
use crate::plan::{Laboratory, published, select::without_effect};
use crate::run::Session;
use crate::{machine::preflight, worker::Language};
use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use record::decision::DecisionKind;
use record::{folder::RunFolder, kind::Kind, plan::Plan, sizes};
use report::ending::{planned, too_short};
use report::view::Wanted;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Refusal of a state of the machine.
pub(super) const UNPERMITTED: &str =
    "a state changes the machine for the time of a launch; --allow-system-changes permits it";

#[derive(Clone, Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// Measure the methods of these languages: c, go, java, python, rust [default: those of each experiment]. With --published:
    /// the article's rows in these.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = languages(),
          conflicts_with_all = ["all", "resume"])]
    pub(super) language: Vec<Language>,
    /// The method that others are compared with.
    #[arg(long, value_name = "METHOD")]
    pub(super) baseline: Option<String>,
    /// Measure in these states of the machine, too, beside the plain one: fragmented-movable, swap-zram …
    #[arg(long, value_name = "STATE[,STATE]", requires = "what", conflicts_with_all = ["resume", "published"])]
    state: Option<String>,
    /// The same in every state that matters to the experiment; without names, of all questions of the overview.
    #[arg(long, conflicts_with_all = ["state", "resume", "published"])]
    states: bool,
    /// Time to spend in all [default: 60s for the overview, that of list --published for an article, otherwise 40s for each experiment
    /// named, or what it needs for --precision]. With less than all of an experiment needs, its usual choice is measured.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    pub(super) budget: Option<f64>,
    /// Go on until it is stopped (Ctrl-C): the usual choice in its usual conditions. What is known then is judged and kept.
    #[arg(long, conflicts_with_all = ["budget", "precision", "launches", "resume", "published", "all", "state", "states"])]
    pub(super) watch: bool,
    /// Half-width of a ratio's interval at which it is done [default: 2.5% in the overview and of an experiment's usual
    /// choice; otherwise 1%, and none where --budget is given, which is then used up].
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share)]
    pub(super) precision: Option<f64>,
    /// Differences below this share are called "within the margin".
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "2%")]
    pub(super) margin: f64,
    /// Exactly this many launches, budget permitting [default: 6 to 40; with --budget alone, 6 and more].
    #[arg(long, value_name = "N")]
    pub(super) launches: Option<u32>,
    /// Longest time of one launch; a worker that takes longer is ended [default: 10 times what the pilot took, at least 60s].
    #[arg(long, value_name = "TIME", value_parser = time_limit)]
    pub(super) time_limit: Option<f64>,
    /// Seed of all orders and data [default: from the clock; it is kept in the plan].
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// The run folder itself [default: a new one among the kept runs].
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Completes a run that was interrupted, by id or path.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["what", "out", "seed", "launches", "baseline", "published",
        "all", "precision", "margin", "keep_environment"])]
    pub(super) resume: Option<String>,
    /// Measure the table of one published article (P1 … P5), or of `all` of them, and print it beside the article's. Without
    /// an ID the articles are listed.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(super) published: Option<String>,
    /// With --published P1: as many stores as were published, so that the kernel writes the file back meanwhile (minutes).
    // A requirement is not looked at where what it requires conflicts with an option that is given.
    #[arg(long, requires = "published", conflicts_with_all = ["all", "resume", "language", "state", "states"])]
    pub(super) long: bool,
    /// Everything, at the values that the experiments themselves take: hours rather than minutes, said at the start.
    #[arg(long, conflicts_with_all = ["published", "what"])]
    pub(super) all: bool,
    /// Wait for at most so long until other machines and processes leave this one most of its CPUs.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds)]
    pub(super) wait_for_quiet: Option<f64>,
    /// Leave variables such as LD_PRELOAD, GLIBC_TUNABLES and GODEBUG to the workers; otherwise they are cleared.
    #[arg(long)]
    pub(super) keep_environment: bool,
    /// Print summary.json to standard output instead of tables.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
    /// Exit with 3 where anything is open or untrusted.
    #[arg(long)]
    pub(super) strict: bool,
    /// Allow changes such as a larger huge page pool; everything is put back.
    #[arg(long)]
    pub(super) allow_system_changes: bool,
    /// List the cells and the time that they need, and measure nothing.
    #[arg(long, conflicts_with_all = ["resume", "json", "strict", "wait_for_quiet"])]
    pub(super) dry_run: bool,
}

fn languages() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::word))
        .map(|word| Language::named(&word).expect("the possible values are the languages' words"))
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
    /// True if nothing is said of the time, of the run's place or of another form of the result.
    pub(super) fn is_plain(&self) -> bool {
        let is_timed = self.budget.is_some()
            || self.precision.is_some()
            || self.launches.is_some()
            || self.watch;
        let is_placed = self.out.is_some() || self.resume.is_some();
        !(is_timed || is_placed || self.json || self.shown.page.has_file())
    }

    /// Refuses what can be known to be wrong before anything is compiled, started or written.
    pub(super) fn check(&self, laboratory: &Laboratory, verb: Kind) -> Result<()> {
        if self.launches == Some(0) {
            bail!("--launches 0 leaves nothing to measure");
        }
        if self.states().is_some() && !self.allow_system_changes {
            bail!(UNPERMITTED);
        }
        laboratory.settings(&self.select.set)?;
        self.shown.page.check()?;
        match &self.resume {
            Some(name) => super::named::resumable(name, verb).map(drop),
            None => RunFolder::can_create(&new_folder(self.out.as_deref(), "new")),
        }
    }

    /// The request of a run of this subject.
    pub(super) fn request(&self, kind: Kind, subject: Subject) -> Request {
        Request {
            kind,
            subject,
            set: self.select.set.clone(),
            languages: self.language.clone(),
            states: self.states().map(str::to_owned),
            baseline: self.baseline.clone(),
            budget_s: self.budget,
            watch: self.watch,
            precision: self.precision,
            margin: self.margin,
            launches: self.launches,
            time_limit_s: self.time_limit,
            seed: self.seed,
            allow_system_changes: self.allow_system_changes,
            keep_environment: self.keep_environment,
            files: BTreeMap::new(),
        }
    }

    fn subject(&self, laboratory: &Laboratory) -> Result<Subject> {
        if self.all {
            return Ok(Subject::Everything);
        }
        if let Some(id) = &self.published {
            let articles = if self.long {
                vec![published::long_form(id)?]
            } else {
                published::named(id)?
            };
            self.check_article(id)?;
            return Ok(Subject::Published(articles));
        }
        let names = &self.select.what;
        Ok(Subject::Named(if self.language.is_empty() {
            names.clone()
        } else {
            in_languages(laboratory, names, &self.language)?
        }))
    }

    /// Refuses names of experiments beside an article, whose rows say all that is measured.
    fn check_article(&self, id: &str) -> Result<()> {
        match self.select.what.first() {
            Some(name) => bail!(
                "--published {id} measures the rows of the article and nothing else; measure {name} by pagewise run {name}"
            ),
            None => Ok(()),
        }
    }

    /// Refuses options that the list of articles has no use for.
    fn check_list(&self) -> Result<()> {
        let given = [
            (self.budget.is_some(), "--budget"),
            (self.launches.is_some(), "--launches"),
            (self.precision.is_some(), "--precision"),
            (self.baseline.is_some(), "--baseline"),
            (self.time_limit.is_some(), "--time-limit"),
            (self.seed.is_some(), "--seed"),
            (self.out.is_some(), "--out"),
            (!self.select.set.is_empty(), "--set"),
            (!self.language.is_empty(), "--language"),
            (self.long, "--long"),
            (self.json, "--json"),
            (self.strict, "--strict"),
            (self.dry_run, "--dry-run"),
            (self.allow_system_changes, "--allow-system-changes"),
            (self.keep_environment, "--keep-environment"),
            (self.wait_for_quiet.is_some(), "--wait-for-quiet"),
            (self.shown.page.has_file(), "--html"),
            (self.shown.full, "--full"),
        ];
        match (self.select.what.first(), first_given(&given)) {
            (Some(name), _) => bail!(
                "--published without an id lists the articles; --published P5 measures one, pagewise run {name} measures {name}"
            ),
            (None, Some(option)) => bail!(
                "{option} needs an article: pagewise list --published lists them, --published P5 measures one"
            ),
            (None, None) => Ok(()),
        }
    }

    /// Names of states of the machine besides the plain one; `None` where no state is requested.
    fn states(&self) -> Option<&str> {
        if self.states {
            Some("all")
        } else {
            self.state.as_deref()
        }
    }
}

/// A run that is made or completed as its command line says.
pub(super) struct RunJob<'a> {
    pub(super) laboratory: &'a Laboratory,
    pub(super) arguments: &'a RunArgs,
    pub(super) request: Request,
    /// False if another verb prints the result.
    pub(super) prints: bool,
}

impl RunJob<'_> {
    /// Prints the plan where nothing is to be measured, and gives the exit code.
    pub(super) fn dry_run(&self) -> Result<Option<u8>> {
        if !self.arguments.dry_run {
            return Ok(None);
        }
        let plan = self.plan()?;
        let document = planned(&plan, least_s(&plan, &self.laboratory.workers));
        let text = output::text(&document, self.arguments.shown.ascii, false);
        output::print_styled(&text).map(Some)
    }

    /// A session that begins the run or goes on with it.
    pub(super) fn begin(&self) -> Result<Session> {
        let arguments = self.arguments;
        wait_for_quiet(arguments.wait_for_quiet)?;
        if let Some(name) = &arguments.resume {
            return self.resume(name);
        }
        let plan = self.plan()?;
        let least_s = least_s(&plan, &self.laboratory.workers);
        // The user's functions have the time that they need, unless a budget is given.
        let is_bound = self.request.kind != Kind::Bench || self.request.budget_s.is_some();
        // Of an article the cheap rows are measured, whatever the time.
        let is_bound = is_bound && plan.articles.is_empty();
        if let Some(sentence) = too_short(&plan, least_s).filter(|_| self.prints && is_bound) {
            remark!("pagewise: {sentence}");
        }
        let path = new_folder(arguments.out.as_deref(), &plan.run);
        Session::begin(plan, &path, arguments.shown.page.force)
    }

    /// Measures, prints and keeps a run; the result is the exit code.
    pub(super) fn measure(&self, session: &Session) -> Result<u8> {
        let arguments = self.arguments;
        let folder = &session.folder;
        if session.resumed
            && let Some(claimed) = Claimed::read(folder)?
        {
            return self.complete_claims(session, &claimed);
        }
        let workers = &self.laboratory.workers;
        let (summary, stopped_by) = session.measure(workers, &runs_folder(), None)?;
        let printed = Printed::Run {
            folder,
            summary: &summary,
            articles: self.request.subject.articles(),
            wanted: Wanted {
                // What jobs of minutes rest on stands in a further table.
                full: arguments.shown.full || arguments.long,
                ..Wanted::default()
            },
        };
        printed.keep_page(folder);
        if self.prints {
            printed.print(arguments.json, &arguments.shown)?;
        } else {
            arguments.shown.page.write(|| printed.page())?;
        }
        Ok(printed.exit_code(stopped_by, arguments.strict))
    }

    /// Completes a run of claims and answers them.
    fn complete_claims(&self, session: &Session, claimed: &Claimed) -> Result<u8> {
        let arguments = self.arguments;
        let questions = claimed.questions(session.plan.margin);
        let workers = &self.laboratory.workers;
        let (summary, stopped_by) = session.measure(workers, &runs_folder(), Some(&questions))?;
        let answers = claimed.answers(self.laboratory, &summary);
        answers::keep(&session.folder, &answers)?;
        let printed = Printed::Claims {
            folder: Some(&session.folder),
            answers: &answers,
        };
        printed.print(arguments.json, &arguments.shown)?;
        Ok(printed.exit_code(stopped_by, arguments.strict))
    }

    fn plan(&self) -> Result<Plan> {
        let course = self.request.course(self.laboratory)?;
        remark_course(&self.request, &course);
        let plan = self.request.plan(self.laboratory, &course)?;
        let keys: Vec<String> = self
            .request
            .set
            .iter()
            .filter_map(|text| Some(text.split_once('=')?.0.to_owned()))
            .collect();
        for (key, other) in without_effect(&plan, &keys) {
            remark!("{key} has no effect where {other}: there it keeps its usual value");
        }
        Ok(plan)
    }

    /// Goes on with a kept run. Its plan is data: the methods, permissions and files are those of this command line.
    fn resume(&self, name: &str) -> Result<Session> {
        let RunJob {
            laboratory,
            arguments,
            request,
            ..
        } = self;
        let settings = request
            .set
            .iter()
            .map(|text| laboratory.setting(text))
            .collect::<Result<Vec<_>>>()?;
        let granted = Granted {
            system_changes: request.allow_system_changes,
            files: &settings,
        };
        let verb = request.kind.resumed_by();
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
                Ok(DecisionKind::Resumed {
                    budget_s: request.budget_s.unwrap_or(state.budget_s),
                    time_limit_s: request.time_limit_s.or(state.time_limit_s),
                })
            },
        )
    }
}

/// Makes a run or completes one.
pub(super) fn run(laboratory: &Laboratory, arguments: &RunArgs) -> Result<u8> {
    if arguments.published.as_deref() == Some("") {
        arguments.check_list()?;
        return super::list_published();
    }
    arguments.check(laboratory, Kind::Run)?;
    let job = RunJob {
        laboratory,
        arguments,
        request: arguments.request(Kind::Run, arguments.subject(laboratory)?),
        prints: true,
    };
    match job.dry_run()? {
        Some(code) => Ok(code),
        None => job.measure(&job.begin()?),
    }
}

/// Says what a request gets that its user may not expect.
fn remark_course(request: &Request, course: &Course) {
    if matches!(request.subject, Subject::Everything) {
        remark!(
            "everything is measured, with a budget of {:.0} minutes",
            course.budget_s / 60.0
        );
    }
    if !course.conditions && request.states.is_none() && request.subject.is_overview() {
        remark!(
            "below {CONDITIONS_BUDGET_S:.0} s each question is measured in its usual condition only; others may reverse an answer"
        );
    }
    if course.once {
        remark!("{}", report::ending::long_jobs(course.budget_s));
    }
}

/// Waits until the machine is quiet, where the user asked for it; what is seen meanwhile is said where it changes by much.
fn wait_for_quiet(most_s: Option<f64>) -> Result<()> {
    let Some(most) = most_s.map(Duration::from_secs_f64) else {
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
