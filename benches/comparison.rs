//! Pagewise against hyperfine on the same questions: two identical programs, and one that does exactly 5 % more work.
//!
//! `cargo bench --bench comparison` takes about two minutes and prints, for each tool: seconds to a ratio known to ±1 %, the
//! share of right answers about the 5 %, and the share of false alarms about the identical pair. The tools take turns, trial by
//! trial, so that both meet the same machine. Pagewise judges cells of `selftest/steps`; hyperfine times this very
//! program, which
//! does the same work and ends. hyperfine itself gives no verdict; its own script `welch_ttest.py` is a t test at 5 %, which is
//! repeated here.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use judge::selftest::trial::Work;
use pagewise::check::selftest::trials::{Laboratory, Trial};
use pagewise::run::signals::Signals;
use pagewise::{plan::catalog, worker};
use stats::quantile::median;
use stats::t::welch;

/// Trials of each tool: each asks about one identical pair and one known effect.
const TRIALS: usize = 40;
/// No trial is begun after this.
const LIMIT: Duration = Duration::from_secs(220);
/// Thousandths of extra work.
const EXTRA_PERMILLE: u64 = 50;
/// Steps of the program that hyperfine times: some 10 ms, which is many times what its start takes.
const STEPS: u64 = 8_000_000;
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
    if let [_, verb, steps] = arguments.as_slice()
        && verb == "work"
    {
        work(steps.parse()?);
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let hyperfine = Command::new("hyperfine").arg("--version").output();
    let hyperfine = hyperfine.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let experiments = catalog::experiments(None)?;
    let workers = worker::all(&[], &[])?;
    let signals = Signals::watch()?;
    let laboratory = Laboratory::new(&experiments, &workers, &signals)?;
    let began = Instant::now();
    let mut batch = None;
    for number in 0..TRIALS {
        if began.elapsed() > LIMIT || signals.arrived().is_some() {
            break;
        }
        let (answer, chosen) = pagewise(&laboratory, place.path(), batch, number)?;
        batch = batch.or(chosen);
        ours.extend(answer);
        if hyperfine.is_some() {
            theirs.push(hyperfine_trial(place.path())?);
        }
    }
    println!(
        "{:<18} {:>6} {:>9} {:>10} {:>9} {:>12} {:>9} {:>8}",
        "tool", "trials", "s a trial", "half-width", "s to ±1 %", "false alarms", "5 % seen", "covered"
    );
    report(OURS, &ours);
    match &hyperfine {
        Some(version) => report(version, &theirs),
        None => println!("hyperfine: skipped: it is not installed (apt-get install hyperfine)"),
    }
    println!("{} trials of {TRIALS} within {:.0} s", ours.len(), began.elapsed().as_secs_f64());
    Ok(())
}

/// The same steps as `selftest/steps`.
fn work(steps: u64) {
    let mut state = 1_u64;
    for _ in 0..steps {
        state =
            std::hint::black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
}

fn pagewise(
    laboratory: &Laboratory,
    place: &Path,
    batch: Option<u64>,
    number: usize,
) -> Result<(Option<Answer>, Option<u64>)> {
    let folder = place.join(format!("run-{number}"));
    let trial = Trial { work: Work::Steps, batch, extras: &[EXTRA_PERMILLE] };
    let started = Instant::now();
    let done = laboratory.run(&folder, &trial, BUDGET_S, number as u64 + 1)?;
    let seconds = started.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&folder)?;
    let truth = 1.0 + EXTRA_PERMILLE as f64 / 1000.0;
    // What the clock cannot resolve is not held against an interval; see METHODOLOGY, "Right size".
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

fn hyperfine_trial(place: &Path) -> Result<Answer> {
    let program = std::env::current_exe()?;
    let program = program.to_str().context("a path in UTF-8")?;
    let command = |steps: u64| format!("'{program}' work {steps}");
    let json = place.join("hyperfine.json");
    let started = Instant::now();
    let status = Command::new("hyperfine")
        .args(["--shell=none", "--warmup", "3", "--runs", RUNS, "--style", "none", "--export-json"])
        .arg(&json)
        .args([command(STEPS), command(STEPS), command(STEPS + STEPS * EXTRA_PERMILLE / 1000)])
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
    Ok(Answer {
        seconds,
        half_width: (high - low) / 2.0,
        alarm: welch(&base, &twin)?.p() < 0.05,
        seen: effect.p() < 0.05 && effect.difference > 0.0,
        covered: low <= truth && truth <= high,
    })
}

fn report(tool: &str, answers: &[Answer]) {
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
    println!(
        "{tool:<18} {:>6} {:>9.2} {:>10} {:>9.2} {:>12} {:>9} {:>8}",
        answers.len(),
        middle(|a| a.seconds),
        format!("±{:.2} %", middle(|a| a.half_width) * 100.0),
        to_one_percent,
        share(|a| a.alarm),
        share(|a| a.seen),
        share(|a| a.covered),
    );
}
