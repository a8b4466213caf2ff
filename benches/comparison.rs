//! Pagewise against hyperfine on the same questions: two identical programs, and one that does exactly 5 % more work.
//!
//! `cargo bench --bench comparison` takes less than four minutes and prints, for each kind of work and each tool: seconds to a
//! ratio known to ±1 % and to a right answer about the 5 %, the share of right answers about it, and the share of false alarms
//! about the identical pair. The tools take turns, trial by trial, so that both meet the same machine. The work is steps of a
//! pure loop, of which Pagewise judges cells of `selftest/steps`, and pages that are touched for the first time, of which it
//! judges `fault/touch` as an ordinary run does; hyperfine times this very program, which does the same work and ends.
//! hyperfine itself gives no verdict; its own script `welch_ttest.py` is a t test at 5 %, which is repeated here.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use judge::Circumstances;
use judge::selftest::trial::WorkKind;
use pagewise::check::selftest::real;
use pagewise::check::selftest::trials::{TestBench, Trial};
use pagewise::plan::{Terms, catalog};
use pagewise::run::signals::Signals;
use pagewise::worker::{self, Worker};
use record::experiment::Experiment;
use record::summary::Estimate;
use stats::quantile::median;
use stats::t::welch;
use stats::verdict::MARGIN;

/// Trials of each tool with each kind of work: each asks about one identical pair and one known effect.
const TRIALS: usize = 40;
/// No trial of a kind of work is begun after this.
const LIMIT: Duration = Duration::from_secs(110);
/// Thousandths of extra work.
const EXTRA_PERMILLE: u64 = 50;
/// Steps of the program that hyperfine times: some 10 ms, which is many times what its start takes.
const STEPS: u64 = 8_000_000;
/// Bytes whose pages are touched, twenty times a whole number of pages: some 10 ms.
const BYTES: u64 = 16_384_000;
/// What is touched for the first time is a page of this many bytes.
const PAGE: u64 = 4096;
/// By how much more than 5 % a sample with 5 % more pages may take longer: it leaves a page table's page sooner.
const STEP: f64 = 0.01;
/// The precision at which Pagewise ends a trial with pages, and the longest of them in seconds.
const PAGES_GOAL: (f64, f64) = (0.01, 10.0);
/// The name under which our own trials are shown.
const OURS: &str = "pagewise";
/// Runs of each command in a trial.
const RUNS: &str = "30";
/// The budget of one of Pagewise's trials, in seconds; it stops on precision long before.
const BUDGET_S: f64 = 6.0;

/// What one trial answered.
struct Answer {
    seconds: f64,
    /// Half-width of the ratio of the known effect, as a share.
    half_width: f64,
    /// The identical pair was called different.
    alarm: bool,
    /// The known effect was called slower.
    seen: bool,
    /// The interval of the known effect holds its truth.
    covered: bool,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, verb, amount] = arguments.as_slice()
        && (verb == "steps" || verb == "pages")
    {
        let work = if verb == "steps" { steps } else { pages };
        work(amount.parse()?);
        return Ok(());
    }
    let hyperfine = Command::new("hyperfine").arg("--version").output();
    let hyperfine = hyperfine.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let experiments = catalog::experiments(None)?;
    let workers = worker::all(&[], &[])?;
    let signals = Signals::watch()?;
    let laboratory = TestBench::new(&experiments, &workers, &signals)?;
    println!(
        "{:<6} {:<18} {:>6} {:>9} {:>10} {:>9} {:>10} {:>12} {:>9} {:>8}",
        "work", "tool", "trials", "s a trial", "half-width", "s to ±1 %", "s to right", "false alarms", "5 % seen", "covered"
    );
    for kind in ["steps", "pages"] {
        let place = tempfile::tempdir()?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let began = Instant::now();
        let mut batch = None;
        for number in 0..TRIALS {
            if began.elapsed() > LIMIT || signals.arrived().is_some() {
                break;
            }
            let (answer, chosen) = match kind {
                "steps" => pagewise(&laboratory, place.path(), batch, number)?,
                _ => (pagewise_pages((&experiments, &workers), place.path(), number, &signals)?, None),
            };
            batch = batch.or(chosen);
            ours.extend(answer);
            if hyperfine.is_some() {
                theirs.push(hyperfine_trial(place.path(), kind)?);
            }
        }
        report(kind, OURS, &ours);
        match &hyperfine {
            Some(version) => report(kind, version, &theirs),
            None => println!("hyperfine: skipped: it is not installed (apt-get install hyperfine)"),
        }
    }
    Ok(())
}

/// Touches the pages of so many fresh bytes, which the allocator maps for itself.
fn pages(bytes: u64) {
    let mut block = vec![0_u8; usize::try_from(bytes).unwrap_or(0)];
    for byte in block.iter_mut().step_by(PAGE as usize) {
        *byte = 1;
    }
    std::hint::black_box(&block);
}

/// The same steps as `selftest/steps`.
fn steps(steps: u64) {
    let mut state = 1_u64;
    for _ in 0..steps {
        state = std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
}

fn pagewise(laboratory: &TestBench, place: &Path, batch: Option<u64>, number: usize) -> Result<(Option<Answer>, Option<u64>)> {
    let folder = place.join(format!("run-{number}"));
    let trial = Trial { work: WorkKind::Steps, batch, extras: &[EXTRA_PERMILLE] };
    let started = Instant::now();
    let done = laboratory.run(&folder, &trial, BUDGET_S, number as u64 + 1)?;
    let seconds = started.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&folder)?;
    let truth = 1.0 + EXTRA_PERMILLE as f64 / 1000.0;
    // What the clock cannot resolve is not compared with an interval; see docs/evidence/selftest.md.
    let resolution = (done.clock_read_ns + 2.0 * done.floor_ns) / done.sample_ns.max(1.0);
    let effect = done.effects.first().and_then(|e| e.ratio);
    let answer = effect.zip(done.twins.first()).map(|(effect, (twin, _))| Answer {
        seconds,
        half_width: effect.half_width(),
        alarm: twin.low > 1.0 || twin.high < 1.0,
        seen: effect.low > 1.0,
        covered: effect.low - resolution <= truth && effect.high + resolution >= truth,
    });
    Ok((answer, done.batch))
}

/// One run of `fault/touch`, its hidden duplicate and the same with 5 % more pages, until it is as precise as asked.
fn pagewise_pages(what: (&[Experiment], &[Worker]), place: &Path, number: usize, signals: &Signals) -> Result<Option<Answer>> {
    let folder = place.join(format!("run-{number}"));
    let (precision, budget_s) = PAGES_GOAL;
    let terms = Terms::usual(format!("pages-{number}"), number as u64 + 1, budget_s, (precision, MARGIN));
    let started = Instant::now();
    let (state, evidence) = real::alone(&folder, what, ("fault", Some(BYTES)), terms, signals)?;
    let seconds = started.elapsed().as_secs_f64();
    let summary = judge::summarise(&state, &evidence, Circumstances::default())?;
    std::fs::remove_dir_all(&folder)?;
    let found = summary.groups.iter().find_map(|group| {
        let headline = summary.experiment(&group.experiment)?.headline.clone();
        let more = |cell: usize| summary.cells[cell].parameters.get("bytes").is_some_and(|b| *b != BYTES.to_string());
        let is = |c: &&record::summary::Comparison| c.phase == headline && more(c.cell);
        Some((group.comparisons.iter().find(is)?.ratio?, group.aa?.ratio))
    });
    Ok(found.map(|(effect, twin): (Estimate, Estimate)| Answer {
        seconds,
        half_width: effect.half_width(),
        alarm: twin.low > 1.0 || twin.high < 1.0,
        seen: effect.low > 1.0,
        covered: effect.high >= 1.0 && effect.low <= most_of_pages(),
    }))
}

/// The highest ratio that 5 % more pages may cost; a part of a sample is fixed, so that the lowest is one.
fn most_of_pages() -> f64 {
    (1.0 + EXTRA_PERMILLE as f64 / 1000.0) * (1.0 + STEP)
}

fn hyperfine_trial(place: &Path, kind: &str) -> Result<Answer> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("a path in UTF-8")?;
    let amount = if kind == "steps" { STEPS } else { BYTES };
    let command = |amount: u64| format!("'{program}' {kind} {amount}");
    let json = place.join("hyperfine.json");
    let started = Instant::now();
    let status = Command::new("hyperfine")
        .args(["--shell=none", "--warmup", "3", "--runs", RUNS, "--style", "none", "--export-json"])
        .arg(&json)
        .args([command(amount), command(amount), command(amount + amount * EXTRA_PERMILLE / 1000)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let seconds = started.elapsed().as_secs_f64();
    if !status.success() {
        bail!("hyperfine failed");
    }
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&json)?)?;
    let times = |i: usize| -> Result<Vec<f64>> {
        let list = value["results"][i]["times"].as_array().context("hyperfine's times")?;
        Ok(list.iter().filter_map(serde_json::Value::as_f64).collect())
    };
    let (base, twin, slower) = (times(0)?, times(1)?, times(2)?);
    let mean = base.iter().sum::<f64>() / base.len() as f64;
    let effect = welch(&base, &slower)?;
    let (low, high) = effect.limits(0.95)?;
    let (low, high) = (1.0 + low / mean, 1.0 + high / mean);
    let truth = 1.0 + EXTRA_PERMILLE as f64 / 1000.0;
    // Of a whole process with 5 % more pages too all is possible that is of a sample.
    let (least, most) = if kind == "steps" { (truth, truth) } else { (1.0, most_of_pages()) };
    Ok(Answer {
        seconds,
        half_width: (high - low) / 2.0,
        alarm: welch(&base, &twin)?.p() < 0.05,
        seen: effect.p() < 0.05 && effect.difference > 0.0,
        covered: low <= most && least <= high,
    })
}

fn report(kind: &str, tool: &str, answers: &[Answer]) {
    let middle = |of: fn(&Answer) -> f64| median(&mut answers.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    let share = |of: fn(&Answer) -> bool| {
        let count = answers.iter().filter(|a| of(a)).count();
        format!("{:.0} %", 100.0 * count as f64 / answers.len().max(1) as f64)
    };
    // Widths shrink with the square root of the time spent. Pagewise judges nothing below six launches, so no time below a
    // trial's own is claimed for it; hyperfine may stop earlier, so its time may be shorter than its trial.
    let least = if tool == OURS { 1.0 } else { 0.0 };
    let to_one_percent = |a: &Answer| a.seconds * (a.half_width / 0.01).powi(2).max(least);
    let to_one_percent = median(&mut answers.iter().map(to_one_percent).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    // Trials are repeated until one is right: it sees the 5 % and calls nothing identical different.
    let right = answers.iter().filter(|a| a.seen && !a.alarm).count();
    let to_right = answers.iter().map(|a| a.seconds).sum::<f64>() / right as f64;
    println!(
        "{kind:<6} {tool:<18} {:>6} {:>9.2} {:>10} {:>9.2} {to_right:>10.2} {:>12} {:>9} {:>8}",
        answers.len(),
        middle(|a| a.seconds),
        format!("±{:.2} %", middle(|a| a.half_width) * 100.0),
        to_one_percent,
        share(|a| a.alarm),
        share(|a| a.seen),
        share(|a| a.covered),
    );
}
