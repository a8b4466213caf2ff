//! `advise --environment`: checks every line in pairs of runs with and without it, then prints what was shown to gain.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use record::advice::{Advice, CheckedLine, LineCheck};
use record::experiment::ParameterList;
use record::request::{self, LaunchKeys};
use record::summary::Verdict;
use record::trial::{ArmStatus, KIND, Measure, TRIAL_SCHEMA, TrialPlan};

use super::super::start::Start;
use super::super::{Laboratory, SelectArgs, print, runs_folder};
use super::{AdviseArgs, saving};
use crate::machine;
use crate::plan::select;
use crate::run::signals::Signals;
use crate::run::trial::{self, Kept, arms, settings};
use crate::worker::{self, carried};

/// Seconds for each check.
const CHECK_S: f64 = 15.0;
/// The worker whose methods are the programs of checks.
const WORKER: &str = "c-O3";

/// All lines with their checks.
fn checks() -> Result<Vec<LineCheck>> {
    carried::LINES.iter().map(|(path, text)| LineCheck::parse(path, text)).collect()
}

pub(super) fn environment(laboratory: &Laboratory, arguments: &AdviseArgs) -> Result<u8> {
    let all = checks()?;
    let budget_s = match &arguments.budget {
        Some(text) => record::sizes::parse_seconds(text).context("--budget")? / all.len() as f64,
        None => CHECK_S,
    };
    let here = saving::here()?;
    let advice = saving::found(arguments.out.as_deref()).ok().map(|(_, advice)| advice).filter(|a| a.machine == here);
    let mut lines = Vec::new();
    for check in all {
        lines.push(checked(laboratory, check, advice.as_ref(), budget_s)?);
    }
    match arguments.json {
        true => print(&(serde_json::to_string_pretty(&lines)? + "\n")),
        false => print(&report::advise::environment(&lines, advice.as_ref())),
    }
}

fn checked(laboratory: &Laboratory, check: LineCheck, advice: Option<&Advice>, budget_s: f64) -> Result<CheckedLine> {
    let mut line = CheckedLine {
        name: check.name.clone(),
        line: check.line.clone(),
        setting: check.setting.clone(),
        helps: check.helps.clone(),
        costs: check.costs.clone(),
        program: program(&check),
        ratio: None,
        gains: false,
        why: String::new(),
        run: String::new(),
    };
    let check = match &check.from {
        None => check,
        Some(from) => {
            let question = advice.and_then(|a| a.questions.get(&from.question));
            let Some(segment) = question.and_then(|q| q.segments.iter().find(|s| s.way == from.way)) else {
                line.why = match question {
                    Some(_) => format!("{} is not shown to be the fastest at any size of {}", from.way, from.question),
                    None => format!("no advice on {} is saved for this machine; advise --save makes it", from.question),
                };
                return Ok(line);
            };
            check.with_bytes(segment.from)
        }
    };
    (line.line, line.setting, line.program) = (check.line.clone(), check.setting.clone(), program(&check));
    let place = Place::new(&check.name)?;
    match command(laboratory, &check, &place.0) {
        Ok((command, input)) => compare(&mut line, command, input, budget_s)?,
        Err(error) => line.why = format!("{error:#}"),
    }
    Ok(line)
}

/// A folder that goes with it.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Result<Place> {
        let path = std::env::temp_dir().join(format!("pagewise-line-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Place(path))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn program(check: &LineCheck) -> String {
    if !check.command.is_empty() {
        return check.command.join(" ");
    }
    let bytes = check.set.get("bytes").map_or("", String::as_str);
    format!("{}/{} with bytes={bytes}, {} times in one process", check.experiment, check.method, check.rounds)
}

/// What is run, and what it reads: the native worker with a request, or a program.
fn command(laboratory: &Laboratory, check: &LineCheck, place: &Path) -> Result<(Vec<String>, Option<PathBuf>)> {
    if !check.command.is_empty() {
        return Ok((check.command.clone(), None));
    }
    let select = SelectArgs {
        what: vec![format!("{}/{}@{WORKER}", check.experiment, check.method)],
        set: check.set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
    };
    let wish = laboratory.wish(&select, None, ParameterList::Default)?;
    let (cells, _) = select::cells(&laboratory.experiments, &laboratory.workers, &wish)?;
    let cell = &cells.first().context("the check has no cell")?.cell;
    let keys = LaunchKeys { experiment: &cell.experiment, seed: 1, proofs: &[0], ..LaunchKeys::default() };
    let text = request::request(&keys, &[cell], &[], &vec![vec![0]; check.rounds]);
    let input = place.join("request");
    std::fs::write(&input, text).with_context(|| format!("cannot write {}", input.display()))?;
    let started = worker::find(&laboratory.workers, WORKER)?.start().map_err(|reason| anyhow::anyhow!("{reason}"))?;
    let mut command: Vec<String> = started.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(library) = &check.preload {
        let path = worker::find_library(library)?.with_context(|| format!("{library} is not installed"))?;
        command.splice(0..0, ["/usr/bin/env".to_owned(), format!("LD_PRELOAD={path}")]);
    }
    Ok((command, Some(input)))
}

/// Runs the program with and without the line in random pairs.
fn compare(line: &mut CheckedLine, command: Vec<String>, input: Option<PathBuf>, budget_s: f64) -> Result<()> {
    let start = Start::now();
    let seed = start.seed();
    let settings = settings::of_words(std::slice::from_ref(&line.setting))?;
    let arms = match arms::arms(&command, &settings) {
        Ok(arms) => arms,
        Err(error) => {
            line.why = format!("{error:#}");
            return Ok(());
        }
    };
    let plan = TrialPlan {
        schema: TRIAL_SCHEMA,
        kind: KIND.to_owned(),
        run: start.name_of("try", seed),
        created: start.created(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        arms,
        directory: std::env::current_dir().context("the current folder")?,
        prepare: None,
        evict: Vec::new(),
        input,
        precision: 0.01,
        margin: 0.02,
        budget_s: Some(budget_s),
        pairs: None,
        warmups: 1,
        time_limit_s: 60.0,
        ignore_failure: false,
        discard_output: true,
        sample_kernel: false,
        profile: None,
        predicted: Default::default(),
        environment: machine::capture(Path::new("/")).headline(),
    };
    let kept = Kept::create(&runs_folder().join(&plan.run), &plan)?;
    let runs = trial::run(&plan, &kept, &Signals::watch()?)?;
    let summary = judge::trial::judge(&plan, &runs);
    kept.finish(&summary, &report::html::tried(&summary))?;
    line.run.clone_from(&plan.run);
    let arm = &summary.arms[1];
    let wall = arm.against.get(&Measure::Wall);
    line.ratio = wall.and_then(|w| w.ratio);
    line.gains =
        summary.trusted && wall.is_some_and(|w| matches!(w.verdict, Verdict::Faster { .. }) && w.holds_among_all);
    line.why = match wall.map(|w| w.verdict) {
        _ if arm.status != ArmStatus::Ok => arm.reason.clone(),
        _ if line.gains => String::new(),
        _ if !summary.trusted => "the program could not be told apart from itself by this check alone".to_owned(),
        Some(Verdict::Slower { .. }) => "it takes longer with it".to_owned(),
        Some(Verdict::Within { .. }) => "no difference is shown beyond 2 %".to_owned(),
        _ => "it is not settled; a longer --budget may settle it".to_owned(),
    };
    Ok(())
}
