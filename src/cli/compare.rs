//! `pagewise compare`: two runs, or two sets of runs, compared with each other.

use super::opened::{Opened, open};
use super::output::{OutputArgs, print_styled};
use super::share::{self, is_shared};
use super::{answers::kept_answers, named, outliers::OutlierArgs};
use crate::{
    machine::threads::{MOST_READERS, side_by_side},
    plan::{catalog, published},
    run::session::judged,
};
use anyhow::{Context, Result, bail};
use clap::Args;
use judge::sets::across::{CompareOptions, Run, compare, unknown_fact};
use record::{
    across::Gated, folder::Damaged, machine::environment::Environment, published::Published,
    shared::BuiltIn, sizes,
};
use report::document::Section;
use std::{collections::BTreeSet, path::PathBuf};

/// Prefix of a gate on tails.
const TAIL: &str = "p99.9:";

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Two runs by id, path, `last` or tag:NAME, or files of `pagewise share`; or, before --, the runs of the first side.
    #[arg(required_unless_present = "outliers", value_name = "RUN")]
    first: Vec<String>,
    /// The runs of the second side.
    #[arg(last = true, value_name = "RUN")]
    second: Vec<String>,
    /// Differences below this share are called "within the margin" [default: 2%, of machines 5%].
    #[arg(long, value_name = "SHARE")]
    margin: Option<String>,
    /// Exit with 2 where anything is slower by more than this share, with 3 where that is undecided, and with 4 where
    /// the sides cannot be compared. With p99.9:SHARE the tails of single operations are compared.
    #[arg(long, value_name = "[p99.9:]SHARE")]
    gate: Option<String>,
    /// A fact that is meant to differ, such as kernel or huge_pages; a gate bears no others. May be repeated.
    #[arg(long, value_name = "FIELD")]
    expect: Vec<String>,
    #[command(flatten)]
    machines: OutlierArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Differences of two runs below this share are within the margin where none is given.
const MARGIN: &str = "2%";

pub(super) fn run(arguments: &CompareArgs) -> Result<u8> {
    arguments.machines.check()?;
    if arguments.machines.are_given() {
        let runs = arguments.first.iter().chain(&arguments.second).cloned();
        let margin = arguments.margin.as_deref();
        let runs: Vec<String> = runs.collect();
        return arguments.machines.search(&runs, margin, &arguments.output);
    }
    let (first, second) = match (&arguments.first[..], &arguments.second[..]) {
        (first, [_, ..]) => (first, &arguments.second[..]),
        ([_, _], []) => arguments.first.split_at(1),
        (words, []) => bail!(
            "compare takes two runs, or A1 A2 A3 -- B1 B2 B3; here is a side of {}",
            words.len()
        ),
    };
    let tail = arguments
        .gate
        .as_deref()
        .and_then(|gate| gate.strip_prefix(TAIL));
    let gate = tail.or(arguments.gate.as_deref());
    let options = CompareOptions {
        margin: sizes::parse_share(arguments.margin()).context("--margin")?,
        gate: gate.map(sizes::parse_share).transpose().context("--gate")?,
        expected: arguments.expect.clone(),
    };
    // Before anything is judged again, which takes its time.
    arguments.output.check()?;
    let takes = Takes {
        tails: tail.is_some(),
        shared: built_in(first.iter().chain(second), tail.is_some())?,
    };
    let (a, b) = match side(first, &takes).and_then(|a| Ok((a, side(second, &takes)?))) {
        // A gate stays undecided by a record that is too damaged to be read.
        Err(error) if options.gate.is_some() && error.is::<Damaged>() => {
            remark!("pagewise: {error:#}");
            return Ok(Gated::Damaged.exit_code());
        }
        opened => opened?,
    };
    let claims = a[0].answers.is_some() && b[0].answers.is_some();
    if a.iter()
        .chain(&b)
        .any(|run| run.is_program() != a[0].is_program())
    {
        bail!("tries and profiles of programs are compared with their like, not with runs");
    }
    known(
        &options.expected,
        &a.iter().chain(&b).flat_map(Run::fields).collect(),
    )?;
    let compared = compare(&a, &b, &options);
    let mut document = report::view::compared(&compared, claims, &arguments.again());
    if let ([first], [second], None) = (first, second, &takes.shared) {
        document.sections.splice(0..0, of_articles(first, second)?);
    }
    print_styled(&arguments.output.text(&compared, &document)?)?;
    Ok(compared.gated.map_or(0, |gated| gated.exit_code()))
}

/// The figures of the articles that both of two runs were made for.
fn of_articles(first: &str, second: &str) -> Result<Vec<Section>> {
    let mut summaries = Vec::new();
    let mut articles: Option<Vec<&Published>> = None;
    for name in [first, second] {
        let Opened::Run(folder, _) = open(name)? else {
            return Ok(Vec::new());
        };
        let planned = published::of_plan(&folder.plan()?);
        let both = articles.map_or_else(
            || planned.clone(),
            |known| {
                let is_planned = |article: &&Published| planned.iter().any(|p| p.id == article.id);
                known.into_iter().filter(is_planned).collect()
            },
        );
        if both.is_empty() {
            return Ok(Vec::new());
        }
        articles = Some(both);
        summaries.push(judged(&folder)?);
    }
    let [a, b] = &summaries[..] else {
        return Ok(Vec::new());
    };
    let articles = articles.unwrap_or_default();
    Ok(report::published::compared(&articles, [a, b]))
}

/// A sentence where a fact is meant to differ that no run has.
fn known(expected: &[String], fields: &BTreeSet<&String>) -> Result<()> {
    let Some(unknown) = unknown_fact(expected, fields) else {
        return Ok(());
    };
    let first_parts = fields
        .iter()
        .map(|field| field.split('.').next().unwrap_or(field));
    let hint = sizes::did_you_mean(
        unknown,
        first_parts.chain(fields.iter().map(|field| field.as_str())),
    );
    bail!("--expect: the runs have no fact \"{unknown}\"{hint}")
}

impl CompareArgs {
    fn margin(&self) -> &str {
        self.margin.as_deref().unwrap_or(MARGIN)
    }

    fn again(&self) -> String {
        let mut command = vec!["pagewise compare".to_owned()];
        command.extend(self.first.iter().cloned());
        command.extend((!self.second.is_empty()).then(|| format!("-- {}", self.second.join(" "))));
        command.insert(1, format!("--margin {}", self.margin()));
        command.splice(2..2, self.gate.iter().map(|gate| format!("--gate {gate}")));
        command.splice(
            2..2,
            self.expect.iter().map(|field| format!("--expect {field}")),
        );
        command.join(" ")
    }
}

/// Manner of taking runs.
struct Takes {
    /// By the p99.9 of single operations.
    tails: bool,
    /// By what a shared run has, where one takes part.
    shared: Option<BuiltIn>,
}

/// Names that shared runs may have, where one of these is a shared file.
fn built_in<'a>(
    mut names: impl Iterator<Item = &'a String>,
    tails: bool,
) -> Result<Option<BuiltIn>> {
    if !names.any(|name| is_shared(name)) {
        return Ok(None);
    }
    if tails {
        bail!("--gate {TAIL} needs kept runs: a shared file has no single operations");
    }
    Ok(Some(catalog::built_in()?))
}

fn side(given: &[String], takes: &Takes) -> Result<Vec<Run>> {
    let mut names = Vec::new();
    for word in given {
        if word.starts_with("--") {
            bail!("{word} stands behind --, where only runs do: put options before the first run");
        }
        names.extend(named::named(word)?);
    }
    let taken = side_by_side(&names, MOST_READERS, |name| take(name, takes));
    let (mut known, mut runs) = (BTreeSet::new(), Vec::new());
    for (name, taken) in names.iter().zip(taken) {
        let (path, run) = taken?;
        if !known.insert(path) {
            bail!("{name} stands on one side twice: a run is no repetition of itself");
        }
        runs.push(run);
    }
    Ok(runs)
}

fn take(name: &str, takes: &Takes) -> Result<(PathBuf, Run)> {
    if let Some(built_in) = &takes.shared {
        let path = PathBuf::from(name);
        let run = if is_shared(name) {
            share::read(&path, built_in)?
        } else {
            share::of_run(name, built_in)?.run
        };
        return Ok((path, Run::of_shared(&run, name)));
    }
    Ok(match open(name)? {
        Opened::Program(kept) => (kept.path.clone(), Run::of_command(&kept)),
        Opened::Run(folder, kind) => {
            let (state, summary) = (folder.state()?, judged(&folder)?);
            let environment: Environment = folder.read_sealed("environment.json")?;
            let answers = kept_answers(&folder, kind)?;
            let run = Run::read(&summary, &environment, &state.workers, answers)?;
            let run = if takes.tails {
                run.by_tails(&summary)?
            } else {
                run
            };
            (folder.path().to_owned(), run)
        }
    })
}
