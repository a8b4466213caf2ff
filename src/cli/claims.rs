//! `pagewise claims`: other people's statements about the cost of memory, tested here.

use super::{
    Laboratory, SelectArgs, new_folder, output, print_document, print_json, reported, run,
    run::ShownArgs, start::Start,
};
use crate::plan::{Choice, Terms, Wish, claims};
use crate::run::{Questions, Session, signals};
use crate::{machine, plan, plan::claims::Resolved};
use anyhow::{Context, Result, bail};
use clap::Args;
use judge::{Circumstances, evidence::Evidence};
use record::claim::{Answers, Claim, ResolvedClaim};
use record::folder::{ANSWERS, ASKED, Damaged, RunFolder};
use record::plan::{LAUNCHES, MOST_LAUNCHES};
use record::{
    cell::Cell, experiment::ParameterList, kind::Kind, sizes, state::State, summary::Summary,
};
use schedule::{LONGER, Undecided};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf};

#[derive(Serialize, Deserialize)]
struct Claimed {
    claims: Vec<ResolvedClaim>,
}

impl Claimed {
    fn read(folder: &RunFolder) -> Result<Claimed> {
        folder.read_sealed(ASKED)
    }
}

struct OpenClaims {
    claims: Vec<ResolvedClaim>,
    margin: f64,
}

impl Questions for OpenClaims {
    fn comparisons(&self) -> Vec<(Vec<Cell>, bool)> {
        let jobs = self
            .claims
            .iter()
            .flat_map(|claims| claims.jobs.iter().enumerate());
        jobs.map(|(number, job)| (job.cells().cloned().collect(), number == 0))
            .collect()
    }

    fn undecided(&self, state: &State, evidence: &Evidence) -> Result<Vec<Undecided>> {
        let summary = judge::summarise(state, evidence, Circumstances::default())?;
        let wanted =
            judge::questions::claims::wanted(&self.claims, &summary, self.margin).into_iter();
        let undecided = wanted.map(|wanted| Undecided {
            cells: wanted.cells,
            launches: wanted.launches,
            decides: wanted.decides,
            likely: wanted.likely,
        });
        Ok(undecided.collect())
    }
}

/// A run of claims that was interrupted and is completed.
pub(super) struct Completed<'a> {
    pub laboratory: &'a Laboratory,
    pub arguments: &'a run::RunArgs,
}

impl run::Answering for Completed<'_> {
    fn open(&self, folder: &RunFolder, margin: f64) -> Result<Option<Box<dyn Questions>>> {
        if folder.kind()? != Kind::Claims {
            return Ok(None);
        }
        Ok(Some(Box::new(OpenClaims {
            claims: Claimed::read(folder)?.claims,
            margin,
        })))
    }

    fn answered(
        &self,
        summary: &Summary,
        stopped_by: Option<i32>,
        folder: &RunFolder,
    ) -> Result<Option<u8>> {
        if folder.kind()? != Kind::Claims {
            return Ok(None);
        }
        let Claimed { claims, .. } = Claimed::read(folder)?;
        let mut kept = super::kept::summaries(self.laboratory, &experiments(&claims));
        kept.retain(|kept_run| kept_run.run != summary.run);
        let summaries: Vec<&Summary> = std::iter::once(summary).chain(&kept).collect();
        let answers = judge::questions::claims::report(
            &claims,
            &summaries,
            summary.settings.margin,
            Some(summary.run.clone()),
        );
        keep(folder, &answers)?;
        self.arguments
            .shown
            .page
            .write(|| output::of_claims(&answers))?;
        let shown = &self.arguments.shown;
        show(&answers, self.arguments.json, shown, Some(folder))?;
        Ok(Some(exit_code(&answers, stopped_by, self.arguments.strict)))
    }
}

#[derive(Debug, Args)]
pub(super) struct ClaimsArgs {
    /// Ids of claims [default: all]; `list` shows them without measuring.
    what: Vec<String>,
    /// Claims about this, such as mmap or an experiment's name. May be repeated.
    #[arg(long, value_name = "WORD")]
    about: Vec<String>,
    /// The claims of one published article (P1 … P5).
    #[arg(long, value_name = "ID")]
    table: Option<String>,
    /// A claim of your own (docs/claims-format.md). May be repeated.
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Time to spend; what answers most in its time is measured first.
    #[arg(long, value_name = "TIME", value_parser = sizes::parse_seconds, default_value = "10min")]
    budget: f64,
    /// Half-width of a ratio's interval at which it is narrow enough.
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "3%")]
    precision: f64,
    /// Below this share two costs are called the same.
    #[arg(long, value_name = "SHARE", value_parser = sizes::parse_share, default_value = "5%")]
    margin: f64,
    /// Seed of all orders and data [default: from the clock; it is kept in the plan].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The run folder itself [default: a new one among the kept runs].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure everything, also what kept runs of this machine answer.
    #[arg(long)]
    fresh: bool,
    /// Everything about each claim, not a line.
    #[arg(long)]
    full: bool,
    /// Print the answers as JSON (crates/record/schema/claims.schema.json).
    #[arg(long)]
    json: bool,
    /// Exit with 3 where a claim is undecided.
    #[arg(long)]
    strict: bool,
    /// Allow changes such as a larger huge page pool; everything is put back.
    #[arg(long)]
    allow_system_changes: bool,
    #[command(flatten)]
    page: output::PageArgs,
    /// Measure nothing: say which verdicts of two kept runs of claims contradict each other.
    #[arg(long, num_args = 2, value_names = ["RUN", "RUN"],
          conflicts_with_all = ["what", "about", "table", "file", "out", "fresh", "full", "strict", "seed",
              "budget", "precision", "margin", "allow_system_changes"])]
    compare: Vec<String>,
}

impl ClaimsArgs {
    /// True if claims may have to be measured.
    pub(super) fn measures(&self) -> bool {
        self.compare.is_empty() && !self.lists()
    }

    fn lists(&self) -> bool {
        self.what.first().is_some_and(|word| word == "list")
    }

    /// Refuses options that a list has no use for.
    fn lists_only(&self) -> Result<()> {
        let given = [
            (self.seed.is_some(), "--seed"),
            (self.out.is_some(), "--out"),
            (self.fresh, "--fresh"),
            (self.full, "--full"),
            (self.strict, "--strict"),
            (self.allow_system_changes, "--allow-system-changes"),
        ];
        match given.iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                bail!("{option} has no effect on claims list, which measures nothing")
            }
            None => Ok(()),
        }
    }
}

/// The laboratory is opened only to measure: to list its methods every worker is started once.
pub(super) fn claims(
    laboratory: impl FnOnce() -> Result<Laboratory>,
    arguments: &ClaimsArgs,
) -> Result<u8> {
    if let [first, second] = &arguments.compare[..] {
        arguments.page.check()?;
        return compare(first, second, arguments);
    }
    let read = |path: &PathBuf| Claim::parse(&path.display().to_string(), &plan::text_of(path)?);
    let user_claims: Vec<Claim> = arguments.file.iter().map(read).collect::<Result<_>>()?;
    let listing = arguments.lists();
    let chosen = selected(
        arguments,
        &user_claims,
        if listing {
            &arguments.what[1..]
        } else {
            &arguments.what
        },
    )?;
    if listing && arguments.json {
        arguments.lists_only()?;
        print_json(&chosen)
    } else if listing {
        arguments.lists_only()?;
        print_document(&report::claims::list(&chosen))
    } else {
        arguments.page.check()?;
        RunFolder::can_create(&new_folder(arguments.out.as_deref(), "new"))?;
        answer(&laboratory()?, arguments, &chosen)
    }
}

fn selected<'a>(
    arguments: &ClaimsArgs,
    user_claims: &'a [Claim],
    ids: &[String],
) -> Result<Vec<&'a Claim>> {
    let all = claims::all()?;
    if !ids.is_empty() {
        let mut claims = claims::find(all, ids)?;
        claims.extend(user_claims);
        return Ok(claims);
    }
    let about = |claim: &&Claim| {
        arguments.about.is_empty() || arguments.about.iter().any(|word| claim.is_about(word))
    };
    let table = |claim: &&Claim| {
        let wanted = arguments.table.as_deref();
        wanted.is_none_or(|id| {
            claim
                .table
                .as_deref()
                .is_some_and(|user_claims| user_claims.eq_ignore_ascii_case(id))
        })
    };
    let narrowed = !arguments.about.is_empty() || arguments.table.is_some();
    let carried = all
        .iter()
        .filter(|_| user_claims.is_empty() || narrowed)
        .filter(about)
        .filter(table);
    let claims: Vec<&Claim> = carried.chain(user_claims).collect();
    if claims.is_empty() {
        let topics: BTreeSet<&str> = all
            .iter()
            .flat_map(|c| &c.about)
            .map(String::as_str)
            .collect();
        bail!(
            "no claim is about that; there are claims about {}",
            Vec::from_iter(topics).join(", ")
        );
    }
    Ok(claims)
}

fn answer(laboratory: &Laboratory, arguments: &ClaimsArgs, chosen: &[&Claim]) -> Result<u8> {
    let ClaimsArgs {
        budget: budget_s,
        margin,
        precision,
        ..
    } = *arguments;
    let wish = laboratory.wish(
        &SelectArgs {
            what: Vec::new(),
            set: Vec::new(),
        },
        None,
        ParameterList::Default,
    )?;
    let mut resolved =
        claims::resolve(chosen, &laboratory.experiments, &laboratory.workers, &wish)?;
    let kept = if arguments.fresh {
        Vec::new()
    } else {
        super::kept::summaries(laboratory, &experiments(&resolved.claims))
    };
    let answered = |claim: &ResolvedClaim, job: usize| {
        kept.iter()
            .any(|s| judge::questions::claims::answers_already(claim, job, s, margin))
    };
    let seen: Vec<&Summary> = kept.iter().collect();
    let known = resolved.planned.iter().filter_map(|p| {
        Some((
            p.cell.clone(),
            judge::questions::claims::launch_s(&p.cell, &seen)?,
        ))
    });
    resolved.known_s = known.collect();
    let cells = claims::affordable(
        &mut resolved.claims,
        &resolved.known_s,
        budget_s * LONGER,
        answered,
    );
    let (made, stopped_by, folder) = if cells.is_empty() {
        (None, None, None)
    } else {
        let start = Start::now();
        let seed = arguments.seed.unwrap_or_else(|| start.seed());
        let terms = Terms {
            kind: Kind::Claims,
            created: start.created(),
            allow_system_changes: arguments.allow_system_changes,
            launches: (LAUNCHES.0, MOST_LAUNCHES),
            ..Terms::usual(start.run_id(), seed, budget_s, (precision, margin))
        };
        let (summary, stopped_by, folder) =
            measured(laboratory, arguments, &resolved, &cells, &wish, terms)?;
        (Some(summary), stopped_by, Some(folder))
    };
    let summaries: Vec<&Summary> = made.iter().chain(&kept).collect();
    let run = made.as_ref().map(|s| s.run.clone());
    let mut answers = judge::questions::claims::report(&resolved.claims, &summaries, margin, run);
    if answers.environment.is_empty() {
        answers.environment = machine::capture(std::path::Path::new("/")).headline();
    }
    if let Some(folder) = &folder {
        keep(folder, &answers)?;
    }
    arguments.page.write(|| output::of_claims(&answers))?;
    let shown = ShownArgs {
        full: arguments.full,
        ascii: false,
        page: arguments.page.clone(),
    };
    show(&answers, arguments.json, &shown, folder.as_ref())?;
    Ok(exit_code(&answers, stopped_by, arguments.strict))
}

fn experiments(claims: &[ResolvedClaim]) -> Vec<&str> {
    let cells = claims
        .iter()
        .flat_map(|claim| claim.jobs.iter().flat_map(|job| job.cells()));
    Vec::from_iter(
        cells
            .map(|cell| cell.experiment.as_str())
            .collect::<BTreeSet<_>>(),
    )
}

fn keep(folder: &RunFolder, answers: &Answers) -> Result<()> {
    folder.write_result(ANSWERS, answers)?;
    output::keep(folder, &output::of_claims(answers));
    Ok(())
}

/// Measures the cells as an ordinary run, with the claims kept beside its plan.
fn measured(
    laboratory: &Laboratory,
    arguments: &ClaimsArgs,
    resolved: &Resolved,
    cells: &[record::cell::Cell],
    wish: &Wish,
    terms: Terms,
) -> Result<(Summary, Option<i32>, RunFolder)> {
    let choice = Choice::Claimed(resolved, cells, wish);
    let plan = plan::build(&laboratory.experiments, &laboratory.workers, choice, terms)?;
    let path = new_folder(arguments.out.as_deref(), &plan.run);
    let open = OpenClaims {
        claims: resolved.claims.clone(),
        margin: plan.margin,
    };
    let session = Session::begin(plan, &path, arguments.page.force)?;
    let claimed = Claimed {
        claims: resolved.claims.clone(),
    };
    session
        .folder
        .write_sealed(ASKED, &claimed)
        .inspect_err(|_| session.folder.discard())?;
    let (summary, stopped_by) = run::made(laboratory, &session, Some(&open))?;
    Ok((summary, stopped_by, session.folder))
}

fn show(
    answers: &Answers,
    json: bool,
    shown: &ShownArgs,
    folder: Option<&RunFolder>,
) -> Result<u8> {
    if json {
        return print_json(answers);
    }
    let document = report::claims::document(answers, shown.full);
    let mut text = output::text(&document, shown.ascii, shown.full);
    if let Some(folder) = folder {
        if let Some(page) = output::beside(folder) {
            text.push(format!("The page is {page}\n"));
        }
        text.push(output::kept_in("run", folder.path()));
    }
    output::print_styled(&text)
}

/// 3 where `--strict` meets an undecided claim, 4 where no claim could be measured.
fn exit_code(answers: &Answers, stopped_by: Option<i32>, strict: bool) -> u8 {
    use record::claim::Word;
    let all = |word: Word| answers.answers.iter().all(|a| a.word == word);
    let any = |word: Word| answers.answers.iter().any(|a| a.word == word);
    match stopped_by {
        Some(signal) => signals::exit_code(signal),
        None if strict && any(Word::Undecided) => 3,
        None => u8::from(all(Word::NotMeasurableHere)) * 4,
    }
}

/// The answers of a kept run of claims; `None` if it is of another kind or did not come to its end.
pub(super) fn answers_of(folder: &RunFolder, kind: Kind) -> Result<Option<Answers>> {
    if kind != Kind::Claims {
        return Ok(None);
    }
    // The seal of the answers covers the launches, whose own seals are looked at first.
    let (ended, launches) = (folder.state()?.ended.is_some(), folder.launches()?);
    if let Some(seen) = launches.damage.into_iter().next() {
        return Err(Damaged {
            path: folder.path().to_owned(),
            seen,
        }
        .into());
    }
    ended.then(|| folder.read_result(ANSWERS)).transpose()
}

/// Prints a kept run of claims again; `None` if it has no answers.
pub(super) fn report_again(
    folder: &RunFolder,
    kind: Kind,
    arguments: &reported::ReportArgs,
) -> Result<Option<u8>> {
    let Some(answers) = answers_of(folder, kind)? else {
        return Ok(None);
    };
    arguments.shown.page.write(|| output::of_claims(&answers))?;
    show(&answers, arguments.json, &arguments.shown, Some(folder))?;
    Ok(Some(exit_code(&answers, None, false)))
}

fn compare(first: &str, second: &str, arguments: &ClaimsArgs) -> Result<u8> {
    let open = |name: &str| -> Result<Answers> {
        let folder = super::named::folder(name)?.mine()?;
        let kind = folder.kind()?;
        let lack = if kind == Kind::Claims {
            "was interrupted before its answers"
        } else {
            "is not a run of claims"
        };
        answers_of(&folder, kind)?.with_context(|| format!("{name} {lack}"))
    };
    let changes = judge::questions::claims::changes(&open(first)?, &open(second)?);
    let again = format!("pagewise claims --compare {first} {second}");
    let document = report::view::changes(&changes, [first, second], &again);
    arguments
        .page
        .write(|| report::html::page(&document, report::html::rounded(&changes)))?;
    if arguments.json {
        print_json(&changes)
    } else {
        print_document(&document)
    }
}
