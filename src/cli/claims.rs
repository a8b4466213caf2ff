//! `pagewise claims`: other people's statements about the cost of memory, tested here.

use super::answers::{self, Claimed, experiments, kept_answers};
use super::output::ShownArgs;
use super::runs::entries;
use super::{
    first_given, kept, new_folder, output, print_document, print_json, printed::Printed,
    runs_folder,
};
use crate::plan::claims::{Costs, Resolved};
use crate::plan::{self, Choice, Laboratory, Start, Terms, Wish, claims};
use crate::{machine, run::Session, run::progress::announce};
use anyhow::{Context, Result, bail};
use clap::Args;
use judge::questions::claims::{answers_already, changes, launch_s, report as judged};
use record::cell::Cell;
use record::claim::{Answers, Claim, ResolvedClaim, Word};
use record::folder::RunFolder;
use record::json::ToJson;
use record::plan::{LAUNCHES, MOST_LAUNCHES};
use record::{experiment::ParameterList, kind::Kind, sizes, summary::Summary};
use schedule::LONGER;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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
    /// Exit with 3 where a claim is open.
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
        match first_given(&given) {
            Some(option) => bail!("{option} has no effect on claims list, which measures nothing"),
            None => Ok(()),
        }
    }

    fn shown(&self) -> ShownArgs {
        ShownArgs {
            full: self.full,
            ascii: false,
            page: self.page.clone(),
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
    let user_claims: Vec<Claim> = arguments
        .file
        .iter()
        .map(|path| Claim::parse(&path.display().to_string(), &plan::text_of(path)?))
        .collect::<Result<_>>()?;
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
        print_document(&report::claims::list(&chosen, &verdicts_here()))
    } else {
        arguments.page.check()?;
        RunFolder::can_create(&new_folder(arguments.out.as_deref(), "new"))?;
        let is_kept_asked = !arguments.fresh;
        announce(&report::claims::begins(
            chosen.len(),
            arguments.budget,
            is_kept_asked,
        ));
        answer(&laboratory()?, arguments, &chosen)
    }
}

/// The newest decided verdict of kept runs of claims on this machine, by claim.
fn verdicts_here() -> BTreeMap<String, Word> {
    let store = runs_folder();
    let answers = entries(&store).into_iter().rev().filter_map(|entry| {
        let folder = RunFolder::open(&entry.run, &store).and_then(RunFolder::mine);
        let folder = folder.ok()?;
        kept_answers(&folder, folder.kind().ok()?).ok()?
    });
    let mut verdicts = BTreeMap::new();
    for answers in answers.filter(|answers| kept::is_here(&answers.environment)) {
        for answer in answers.answers.iter().filter(|a| a.word.is_decided()) {
            verdicts.entry(answer.id.clone()).or_insert(answer.word);
        }
    }
    verdicts
}

fn selected<'a>(
    arguments: &ClaimsArgs,
    user_claims: &'a [Claim],
    ids: &[String],
) -> Result<Vec<&'a Claim>> {
    let carried = claims::all()?;
    let narrowing = [
        (!arguments.about.is_empty(), "--about"),
        (arguments.table.is_some(), "--table"),
    ];
    let narrowed_by = first_given(&narrowing);
    if !ids.is_empty() {
        if let Some(option) = narrowed_by {
            bail!(
                "{option} chooses claims, and so does {}: give one of them",
                ids[0]
            );
        }
        let mut claims = claims::find(carried, ids)?;
        claims.extend(user_claims);
        return Ok(claims);
    }
    let mut claims = Vec::new();
    if user_claims.is_empty() || narrowed_by.is_some() {
        claims.extend(carried.iter().filter(|claim| is_wanted(arguments, claim)));
    }
    claims.extend(user_claims);
    if claims.is_empty() {
        let topics: BTreeSet<&str> = carried
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

/// True if a claim is about one of the topics and of the table.
fn is_wanted(arguments: &ClaimsArgs, claim: &Claim) -> bool {
    let ClaimsArgs { about, table, .. } = arguments;
    let is_about = about.is_empty() || about.iter().any(|word| claim.is_about(word));
    let is_of_table = table.as_deref().is_none_or(|id| {
        let table = claim.table.as_deref();
        table.is_some_and(|table| table.eq_ignore_ascii_case(id))
    });
    is_about && is_of_table
}

fn answer(laboratory: &Laboratory, arguments: &ClaimsArgs, chosen: &[&Claim]) -> Result<u8> {
    let margin = arguments.margin;
    let Laboratory {
        experiments: known,
        workers,
    } = laboratory;
    let wish = Wish::new(Vec::new(), ParameterList::Default);
    let mut resolved = claims::resolve(chosen, known, workers, &wish)?;
    let kept = if arguments.fresh {
        Vec::new()
    } else {
        kept::summaries(laboratory, &experiments(&resolved.claims))
    };
    let kept: Vec<&Summary> = kept.iter().collect();
    let known_s = resolved
        .planned
        .iter()
        .filter_map(|p| Some((p.cell.clone(), launch_s(&p.cell, &kept)?)));
    resolved.known_s = known_s.collect();
    let costs = Costs {
        known_s: &resolved.known_s,
        workers,
    };
    let is_answered = |claim: &ResolvedClaim, job: usize| {
        kept.iter().any(|s| answers_already(claim, job, s, margin))
    };
    let budget_s = arguments.budget * LONGER;
    let cells = claims::affordable(&mut resolved.claims, &costs, budget_s, is_answered);
    let measured = if cells.is_empty() {
        None
    } else {
        let experiments: BTreeSet<&str> = cells.iter().map(|c| c.experiment.as_str()).collect();
        let experiments = Vec::from_iter(experiments);
        announce(&report::claims::measures(
            cells.len(),
            &experiments,
            arguments.budget,
        ));
        Some(measure(laboratory, arguments, &resolved, &cells, &wish)?)
    };
    let made = measured.as_ref().map(|measured| &measured.summary);
    let summaries: Vec<&Summary> = made.into_iter().chain(kept).collect();
    let run = made.map(|summary| summary.run.clone());
    let mut answers = judged(&resolved.claims, &summaries, margin, run);
    if answers.environment.is_empty() {
        answers.environment = machine::capture(Path::new("/")).headline();
    }
    let folder = measured.as_ref().map(|measured| &measured.folder);
    if let Some(folder) = folder {
        answers::keep(folder, &answers)?;
    }
    let printed = Printed::Claims {
        folder,
        answers: &answers,
    };
    printed.print(arguments.json, &arguments.shown())?;
    let stopped_by = measured.as_ref().and_then(|measured| measured.stopped_by);
    Ok(printed.exit_code(stopped_by, arguments.strict))
}

/// A run of claims that was measured.
struct MeasuredClaims {
    folder: RunFolder,
    summary: Summary,
    /// The signal that stopped it.
    stopped_by: Option<i32>,
}

/// Measures the cells as an ordinary run, with the claims kept beside its plan.
fn measure(
    laboratory: &Laboratory,
    arguments: &ClaimsArgs,
    resolved: &Resolved,
    cells: &[Cell],
    wish: &Wish,
) -> Result<MeasuredClaims> {
    let start = Start::now();
    let seed = arguments.seed.unwrap_or_else(|| start.seed());
    let goal = (arguments.precision, arguments.margin);
    let terms = Terms {
        kind: Kind::Claims,
        created: start.created(),
        allow_system_changes: arguments.allow_system_changes,
        launches: (LAUNCHES.0, MOST_LAUNCHES),
        ..Terms::usual(start.run_id(), seed, arguments.budget, goal)
    };
    let choice = Choice::Claimed(resolved, cells, wish);
    let plan = plan::build(&laboratory.experiments, &laboratory.workers, choice, terms)?;
    let path = new_folder(arguments.out.as_deref(), &plan.run);
    let claimed = Claimed {
        claims: resolved.claims.clone(),
    };
    let session = Session::begin(plan, &path, arguments.page.force)?;
    claimed
        .keep(&session.folder)
        .inspect_err(|_| session.folder.discard())?;
    let questions = claimed.questions(session.plan.margin);
    let (summary, stopped_by) =
        session.measure(&laboratory.workers, &runs_folder(), Some(&questions))?;
    Ok(MeasuredClaims {
        folder: session.folder,
        summary,
        stopped_by,
    })
}

fn compare(first: &str, second: &str, arguments: &ClaimsArgs) -> Result<u8> {
    let changes = changes(&open_answers(first)?, &open_answers(second)?);
    let again = format!("pagewise claims --compare {first} {second}");
    let document = report::view::changes(&changes, [first, second], &again);
    arguments
        .page
        .write(|| report::html::page(&document, report::html::rounded(&changes)))?;
    if arguments.json {
        print_json(&changes.to_json()?)
    } else {
        print_document(&document)
    }
}

/// The answers of a kept run of claims of this user.
fn open_answers(name: &str) -> Result<Answers> {
    let folder = super::named::folder(name)?.mine()?;
    let kind = folder.kind()?;
    let answers = kept_answers(&folder, kind)?;
    answers.with_context(|| {
        if kind == Kind::Claims {
            format!("{name} was interrupted before its answers")
        } else {
            format!("{name} is not a run of claims")
        }
    })
}
