//! `pagewise compare`: two runs, or two sets of runs, held against each other.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use judge::across::programs::{self, Program};
use judge::across::{Asked, Run, compare};
use record::folder::RunFolder;
use record::machine::environment::Environment;
use record::sizes;
use report::terminal;

use super::{claims, page, print, profile, runs, runs_folder, screen, trial, write};
use crate::run::replay::replay;

/// What a word begins with that stands for all runs of a tag.
const TAG: &str = "tag:";

/// What one word stands for.
enum Opened {
    Run(Box<Run>),
    Program(Program),
}

/// The words after `compare`.
#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Two runs by id, path or tag:TAG; or, before --, the runs of the first side.
    #[arg(required = true, value_name = "RUN")]
    first: Vec<String>,
    /// The runs of the second side.
    #[arg(last = true, value_name = "RUN")]
    second: Vec<String>,
    /// Differences below this share are called "within the margin".
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    margin: String,
    /// Exit with 2 where anything is slower by more than this share, with 3 where that is undecided, and with 4 where
    /// the sides cannot be compared.
    #[arg(long, value_name = "SHARE")]
    gate: Option<String>,
    /// A fact that is meant to differ, such as kernel or huge_pages; a gate bears no others. May be repeated.
    #[arg(long, value_name = "FIELD")]
    expect: Vec<String>,
    /// Print everything as JSON (crates/record/schema/compare.schema.json).
    #[arg(long)]
    json: bool,
    /// Also write a page of it to this file: one file that needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Let --html replace a file.
    #[arg(long)]
    force: bool,
    /// Nothing but ASCII.
    #[arg(long)]
    ascii: bool,
}

pub(super) fn run(arguments: &CompareArgs) -> Result<u8> {
    let (first, second) = match (&arguments.first[..], &arguments.second[..]) {
        (first, [_, ..]) => (first, &arguments.second[..]),
        ([_, _], []) => arguments.first.split_at(1),
        (words, []) => bail!("compare takes two runs, or A1 A2 A3 -- B1 B2 B3; here is a side of {}", words.len()),
    };
    let asked = Asked {
        margin: sizes::parse_share(&arguments.margin).context("--margin")?,
        gate: arguments.gate.as_deref().map(sizes::parse_share).transpose().context("--gate")?,
        expected: arguments.expect.clone(),
    };
    // Before anything is judged again, which takes its time.
    arguments.html.as_ref().map_or(Ok(()), |path| write::may_write(path, arguments.force))?;
    let (a, b) = (side(first)?, side(second)?);
    let (found, claims) = match (runs_of(a), runs_of(b)) {
        (Ok(a), Ok(b)) => (compare(&a, &b, &asked), a[0].answers.is_some() && b[0].answers.is_some()),
        (Err(a), Err(b)) => (programs::compare(&programs_of(a)?, &programs_of(b)?, &asked), false),
        _ => bail!("{MIXED}"),
    };
    if let Some(path) = &arguments.html {
        page::export(path, arguments.force, &report::html::compared(&found, claims, &arguments.again()))?;
    }
    match arguments.json {
        true => print(&(serde_json::to_string_pretty(&found)? + "\n"))?,
        false => print(&terminal::compared(&found, claims, &screen::screen(arguments.ascii)))?,
    };
    Ok(found.gated.map_or(0, |gated| gated.exit_code()))
}

impl CompareArgs {
    /// The command that compares the same again.
    fn again(&self) -> String {
        let mut words = vec!["pagewise compare".to_owned()];
        words.extend(self.first.iter().cloned());
        words.extend((!self.second.is_empty()).then(|| format!("-- {}", self.second.join(" "))));
        words.insert(1, format!("--margin {}", self.margin));
        words.splice(2..2, self.gate.iter().map(|gate| format!("--gate {gate}")));
        words.splice(2..2, self.expect.iter().map(|field| format!("--expect {field}")));
        words.join(" ")
    }
}

const MIXED: &str = "tries and profiles of programs are compared with their like, not with runs";

/// A side of nothing but runs; the side as it is where there is anything else.
fn runs_of(side: Vec<Opened>) -> Result<Vec<Run>, Vec<Opened>> {
    if side.iter().any(|one| matches!(one, Opened::Program(_))) {
        return Err(side);
    }
    let run = |one| if let Opened::Run(run) = one { Some(*run) } else { None };
    Ok(side.into_iter().filter_map(run).collect())
}

fn programs_of(side: Vec<Opened>) -> Result<Vec<Program>> {
    let program = |one| match one {
        Opened::Program(program) => Ok(program),
        Opened::Run(_) => bail!("{MIXED}"),
    };
    side.into_iter().map(program).collect()
}

/// What the words of one side stand for.
fn side(words: &[String]) -> Result<Vec<Opened>> {
    let mut names = Vec::new();
    for word in words {
        if word.starts_with("--") {
            bail!("{word} stands behind --, where only runs do: put options before the first run");
        }
        match word.strip_prefix(TAG) {
            Some(tag) => names.extend(runs::tagged(tag)?),
            None => names.push(word.clone()),
        }
    }
    let mut opened: Vec<(PathBuf, Opened)> = Vec::new();
    for name in &names {
        let (path, run) = open(name)?;
        if opened.iter().any(|(known, _)| *known == path) {
            bail!("{name} stands on one side twice: a run is no repetition of itself");
        }
        opened.push((path, run));
    }
    Ok(opened.into_iter().map(|(_, run)| run).collect())
}

fn open(name: &str) -> Result<(PathBuf, Opened)> {
    if let Some((kept, plan, runs)) = trial::open(name)? {
        return Ok((kept.path().to_owned(), Opened::Program(Program::tried(&plan, &runs))));
    }
    if let Some((kept, plan, runs)) = profile::open(name)? {
        return Ok((kept.path().to_owned(), Opened::Program(Program::profiled(&plan, &runs))));
    }
    let folder = RunFolder::open(name, &runs_folder())?;
    let (state, summary) = replay(&folder)?;
    let environment: Environment = folder.read_sealed("environment.json")?;
    let answers = claims::answers_of(&folder)?;
    let workers = state.plan.workers;
    let run = Run { summary, environment, workers, answers };
    Ok((folder.path().to_owned(), Opened::Run(Box::new(run))))
}
