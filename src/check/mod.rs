//! The conformance suite: what a program must do to be a worker, and a function to be a method. Every method of every
//! worker runs at tiny sizes; transcripts, phases, counts, laws, digests, system calls and refusals are checked against it.

use crate::plan::{self, Choice, Laboratory, Terms, Wish, select};
use crate::run::guard::{Guard, Scratch};
use crate::run::signals::{Signals, exit_code};
use crate::{run::Runner, run::progress::Progress, worker::Worker};
use anyhow::{Context, Result};
use files::kernel;
use judge::{evidence::Evidence, evidence::agreement::disagreements};
use record::cell::{Selector, parameter_words};
use record::experiment::ParameterList;
use record::method::Method;
use record::outcome::{Outcome, Status};
use record::{folder::RunFolder, state::State};
use report::phrases::reason;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prints a line; a reader that has seen enough, such as head, is no error.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let text = format!($($words)*);
        let _ = writeln!(std::io::stdout(), "{}", $crate::run::lines::folded(&report::escape::lines(&text), $crate::check::INDENT));
    }};
}

mod laws;
mod refusals;
pub mod selftest;
mod trace;

const ROUNDS: u32 = 2;
/// Width of a verdict on a method.
const INDENT: usize = 9;
/// The seed of data and orders; any would do, a fixed one makes a failure repeatable.
const SEED: u64 = 20_211_121;

#[derive(Clone, Debug, Default)]
struct MethodResult {
    cells: usize,
    skipped_cells: usize,
    skipped: Option<String>,
    wrong: Option<String>,
    /// Rejected in one launch and not in the next.
    once: Option<String>,
}

/// Options of the suite.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Every law is shown to be breakable.
    pub laws: bool,
    /// The suite is run under every setting of transparent huge pages, which are the machine's.
    pub system_changes: bool,
}

/// Checks what is selected and prints what was found; the result is the exit code: 0, or 3 where something does not conform.
pub fn check(
    laboratory: &Laboratory,
    what: &[String],
    external: &[PathBuf],
    options: CheckOptions,
) -> Result<u8> {
    let suite = || {
        let place = Scratch::new("suite")?;
        let suite = Suite {
            place: place.path(),
            laboratory,
            external_only: !external.is_empty(),
            options,
            signals: Signals::watch()?,
        };
        suite.check(what)
    };
    if options.system_changes {
        in_each(suite)
    } else {
        suite()
    }
}

/// One pass of the suite.
struct Suite<'a> {
    place: &'a Path,
    laboratory: &'a Laboratory,
    /// True if the carried workers are left out.
    external_only: bool,
    options: CheckOptions,
    signals: Signals,
}

/// Record of one run of the suite.
struct SuiteRun {
    state: State,
    evidence: Evidence,
    folder: RunFolder,
}

impl Suite<'_> {
    fn check(&self, what: &[String]) -> Result<u8> {
        let named: Vec<Selector> = what
            .iter()
            .map(|text| Selector::parse(text))
            .collect::<Result<_>>()?;
        let selectors = self.selectors(&named)?;
        let mut findings: BTreeMap<String, MethodResult> = BTreeMap::new();
        let mut notes = self.check_refusals(&mut findings)?;
        let run = self.run("run", selectors)?;
        let mut results = by_method(&run.state, &run.evidence);
        self.try_again(&mut results)?;
        if let Some(signal) = self.signals.arrived() {
            return Ok(exit_code(signal));
        }
        findings.extend(results);
        for (index, cause) in disagreements(&run.state, &run.evidence) {
            let reason = reason(&Outcome::because(Status::Untrusted, cause));
            reject(&mut findings, run.state.cells[index].cell.name(), reason);
        }
        let trace = self.place.join("trace");
        let workers = &self.laboratory.workers;
        match trace::check(&trace, &run.state, workers, &self.signals)? {
            trace::Traced::Missing(reason) => {
                notes.push(format!("system calls: skipped: {reason}"));
            }
            trace::Traced::Wrong(list) => {
                for (cell, reason) in list {
                    reject(&mut findings, cell, reason);
                }
            }
        }
        if let Some(signal) = self.signals.arrived() {
            return Ok(exit_code(signal));
        }
        let code = report(&findings, &notes)?;
        let unbroken = if self.options.laws {
            laws::check(&run.state, &run.folder, &run.evidence)?.report()
        } else {
            0
        };
        Ok(if unbroken > 0 { 3 } else { code })
    }

    /// The workers that take part.
    fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.laboratory
            .workers
            .iter()
            .filter(|w| !self.external_only || w.is_external())
    }

    /// Checks what workers refuse. Returns notes on those that cannot be started.
    fn check_refusals(&self, findings: &mut BTreeMap<String, MethodResult>) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for worker in self.workers() {
            if let Err(reason) = worker.start() {
                notes.push(format!("{}: skipped: {reason}", worker.name));
                continue;
            }
            for (name, wrong) in refusals::check(worker)? {
                let finding = findings.entry(format!("{}: {name}", worker.name));
                finding.or_default().wrong = Some(wrong);
            }
        }
        Ok(notes)
    }

    /// Runs rejected methods again, and acquits those that a second run does not reject.
    fn try_again(&self, results: &mut BTreeMap<String, MethodResult>) -> Result<()> {
        let rejected: Vec<Selector> = results
            .iter()
            .filter(|(_, result)| result.wrong.is_some())
            .map(|(name, _)| Selector::parse(name))
            .collect::<Result<_>>()?;
        if !rejected.is_empty() && self.signals.arrived().is_none() {
            let again = self.run("again", rejected)?;
            confirm(results, &by_method(&again.state, &again.evidence));
        }
        Ok(())
    }

    /// Every method of every worker, unless some are named; an external worker is checked by itself.
    fn selectors(&self, named: &[Selector]) -> Result<Vec<Selector>> {
        let mut selectors = Vec::new();
        for experiment in &self.laboratory.experiments {
            for worker in self.workers() {
                for method in worker.methods() {
                    if method.experiment == experiment.name {
                        selectors.extend(selector(worker, method, named));
                    }
                }
            }
        }
        for selector in named {
            let is_selected = selectors.iter().any(|selected: &Selector| {
                let has_method = selector.method.is_none() || selected.method == selector.method;
                selected.experiment == selector.experiment && has_method
            });
            if !is_selected {
                // A name that stands for nothing gets the same answer as everywhere else.
                let Laboratory {
                    experiments,
                    workers,
                } = self.laboratory;
                let wish = Wish::new(vec![selector.clone()], ParameterList::Check);
                select::cells(experiments, workers, &wish)?;
            }
        }
        Ok(selectors)
    }

    /// One launch of every group with fixed rounds.
    fn run(&self, name: &str, selectors: Vec<Selector>) -> Result<SuiteRun> {
        let Laboratory {
            experiments,
            workers,
        } = self.laboratory;
        let wish = Wish::new(selectors, ParameterList::Check);
        let folder = RunFolder::create(&self.place.join(name))?;
        let run = format!("check-{}", std::process::id());
        let terms = Terms {
            launches: (1, 1),
            allow_system_changes: self.options.system_changes,
            ..Terms::usual(run, SEED, 3600.0, (0.5, 0.5))
        };
        let plan = plan::build(experiments, workers, Choice::Checked(&wish, ROUNDS), terms)?;
        folder.write_sealed("plan.json", &plan)?;
        let runner = Runner::new(plan, &folder, workers, &self.signals, Progress::new())?;
        let (state, evidence) = runner.run().context("the suite could not be run")?;
        Ok(SuiteRun {
            state,
            evidence,
            folder,
        })
    }
}

/// The selector of a method, unless others are named; of two-sided ones with the second worker that is named.
fn selector(worker: &Worker, method: &Method, named: &[Selector]) -> Option<Selector> {
    let mut fitting = named.iter().filter(|s| {
        let first = s.worker.as_ref().and_then(|w| w.split('+').next());
        s.experiment == method.experiment
            && s.method.as_ref().is_none_or(|name| *name == method.name)
            && first.is_none_or(|name| name == worker.name)
    });
    let sides = if method.two_sided {
        let pair = fitting.clone().find_map(|s| s.worker.clone());
        pair.filter(|pair| pair.contains('+'))
            .unwrap_or_else(|| format!("{0}+{0}", worker.name))
    } else {
        worker.name.clone()
    };
    (named.is_empty() || fitting.next().is_some()).then(|| Selector {
        experiment: method.experiment.clone(),
        method: Some(method.name.clone()),
        worker: Some(sides),
    })
}

/// Rejects a method, unless there is a reason already.
fn reject(findings: &mut BTreeMap<String, MethodResult>, method: String, reason: String) {
    let finding = findings.entry(method).or_default();
    finding.wrong.get_or_insert(reason);
}

fn by_method(state: &State, evidence: &Evidence) -> BTreeMap<String, MethodResult> {
    let mut results: BTreeMap<String, MethodResult> = BTreeMap::new();
    for (index, planned) in state.cells.iter().enumerate() {
        let entry = results.entry(planned.cell.name()).or_default();
        entry.cells += 1;
        let parameters = parameter_words(&planned.cell.parameters, None);
        let measured = evidence
            .cells
            .get(&index)
            .filter(|e| !e.launches.is_empty() || e.checks.outcome().is_some());
        let wrong = match (&planned.outcome, measured) {
            (Some(outcome), _) if outcome.status == Status::Skipped => {
                entry.skipped_cells += 1;
                entry.skipped.get_or_insert_with(|| reason(outcome));
                None
            }
            (Some(outcome), _) => Some(format!(
                "{}: {} ({parameters})",
                outcome.status.word(),
                reason(outcome)
            )),
            (None, None) => Some(format!("no samples came ({parameters})")),
            (None, Some(measured)) => measured
                .checks
                .exact_outcome()
                .map(|outcome| format!("{} ({parameters})", reason(&outcome))),
        };
        entry.wrong = entry.wrong.take().or(wrong);
    }
    results
}

/// Acquits the methods that a second run does not reject: a counter of the kernel also counts what the machine does meanwhile.
fn confirm(first: &mut BTreeMap<String, MethodResult>, second: &BTreeMap<String, MethodResult>) {
    for (name, found) in first {
        if second.get(name).is_some_and(|again| again.wrong.is_none()) {
            found.once = found.wrong.take();
        }
    }
}

fn report(findings: &BTreeMap<String, MethodResult>, notes: &[String]) -> Result<u8> {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, finding) in findings {
        match (&finding.wrong, &finding.skipped) {
            (Some(reason), _) => {
                failed += 1;
                say!("REJECTED {name}: {reason}");
            }
            (None, Some(reason)) if finding.skipped_cells == finding.cells => {
                skipped += 1;
                say!("skipped  {name}: {reason}");
            }
            (None, reason) => {
                passed += 1;
                let measured = finding.cells - finding.skipped_cells;
                let rest = reason.as_ref().map_or_else(String::new, |r| {
                    format!(", {} skipped: {r}", finding.skipped_cells)
                });
                let once = finding.once.as_ref().map_or_else(String::new, |r| {
                    format!(", rejected in one run of two: {r}")
                });
                say!("ok       {name} ({measured} cells{rest}{once})");
            }
        }
    }
    for note in notes {
        say!("note     {note}");
    }
    say!("{passed} methods conform, {failed} are rejected, {skipped} are skipped");
    Ok(if failed > 0 { 3 } else { 0 })
}

/// The machine's setting (admin-guide/mm/transhuge.rst).
const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// That of one smaller size; kernels before 6.8 have none.
const SMALLER: &str = "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled";
/// All that the machine's can be, and what a smaller size may be besides.
const MODES: [(&str, Option<&str>); 5] = [
    ("always", None),
    ("madvise", None),
    ("never", None),
    ("madvise", Some("always")),
    ("always", Some("madvise")),
];

/// Beyond it lie the exit codes of a suite that a signal ended.
const SIGNALLED: u8 = 128;

fn set(setting: &str, word: &str) -> Result<()> {
    kernel::write(setting, word).with_context(|| format!("only root may change {setting}"))
}

/// Runs the suite once in each mode and puts the settings back, also where the laboratory is killed; the worst exit code.
fn in_each(mut suite: impl FnMut() -> Result<u8>) -> Result<u8> {
    let has_smaller = Path::new(SMALLER).exists();
    let mut guard = Guard::start()?;
    guard.keep(Path::new(SETTING))?;
    if has_smaller {
        guard.keep(Path::new(SMALLER))?;
    }
    let mut worst = 0;
    for (mode, smaller) in MODES {
        if smaller.is_some() && !has_smaller {
            say!("transparent huge pages of 64 KiB: skipped: this kernel has no such pages");
            continue;
        }
        set(SETTING, mode)?;
        if has_smaller {
            set(SMALLER, smaller.unwrap_or("never"))?;
        }
        let smaller_pages =
            smaller.map_or_else(String::new, |word| format!(", those of 64 KiB {word}"));
        say!("transparent huge pages: {mode}{smaller_pages}");
        worst = worst.max(suite()?);
        if worst > SIGNALLED {
            break;
        }
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wrong: Option<&str>) -> BTreeMap<String, MethodResult> {
        let found = MethodResult {
            cells: 2,
            wrong: wrong.map(str::to_owned),
            ..MethodResult::default()
        };
        BTreeMap::from([("read/mmap@c-O3".to_owned(), found)])
    }

    #[test]
    fn only_what_a_second_run_rejects_too_is_rejected() {
        for (again, stays) in [(Some("two faults for one"), true), (None, false)] {
            let mut first = found(Some("two faults for one"));
            confirm(&mut first, &found(again));
            let method = &first["read/mmap@c-O3"];
            assert_eq!(
                (method.wrong.is_some(), method.once.is_some()),
                (stays, !stays)
            );
        }
        let mut first = found(Some("two faults for one"));
        confirm(&mut first, &BTreeMap::new());
        assert!(
            first["read/mmap@c-O3"].wrong.is_some(),
            "a method that was not run again stays rejected"
        );
    }
}
