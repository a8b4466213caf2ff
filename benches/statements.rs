//! Are statements of short runs contradicted by a run of ten times the budget?
//!
//!     cargo bench --bench statements -- --long RUN LOOK [LOOK …]
//!
//! holds kept runs against a longer one of the same cells: folders of runs, or what `run --json` printed. A row a kind of
//! statement, then every statement that is contradicted, with both intervals. `benches/support/statements.rs` says what a
//! statement is and what contradicts it. Without words it measures for three minutes itself: four short runs and a
//! long one. It fails where a word is contradicted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use record::summary::Summary;

#[path = "support/statements.rs"]
mod statements;

use statements::{Statement, StatementKind, StatementOutcome, held_against};

/// What is measured where no run is named: few cells, so that a short run has statements.
const CELLS: [&str; 3] = ["fault/touch", "fault/populate", "copy@c-O3"];
/// Short runs, and the budgets of these and of the long one.
const LOOKS: usize = 4;
const BUDGETS: [&str; 2] = ["9s", "90s"];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let measured = tempfile::tempdir()?;
    let (looks, long) = match words.as_slice() {
        [] => measure(measured.path())?,
        [first, long, looks @ ..] if first == "--long" && !looks.is_empty() => (
            looks.iter().map(PathBuf::from).collect(),
            PathBuf::from(long),
        ),
        _ => bail!("usage: cargo bench --bench statements -- --long RUN LOOK [LOOK …]"),
    };
    let long = read(&long)?;
    let mut all: Vec<(String, Statement)> = Vec::new();
    for look in &looks {
        let look = read(look)?;
        println!(
            "{}: budget {:.0} s, the long run's {:.0} s",
            look.run, look.settings.budget_s, long.settings.budget_s
        );
        all.extend(
            held_against(&look, &long)
                .into_iter()
                .map(|statement| (look.run.clone(), statement)),
        );
    }
    report(&all);
    if all
        .iter()
        .any(|(_, s)| s.outcome == StatementOutcome::Contradicted)
    {
        bail!("a word was contradicted");
    }
    Ok(())
}

/// Short runs and a long one of [`CELLS`].
fn measure(place: &Path) -> Result<(Vec<PathBuf>, PathBuf)> {
    let run = |name: String, budget: &str| -> Result<PathBuf> {
        let folder = place.join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_pagewise"));
        command
            .arg("run")
            .args(CELLS)
            .args(["--budget", budget, "--out"])
            .arg(&folder)
            .stdout(Stdio::null());
        match command.status()?.success() {
            true => Ok(folder),
            false => bail!("{command:?} failed"),
        }
    };
    let looks = (0..LOOKS)
        .map(|number| run(format!("look-{number}"), BUDGETS[0]))
        .collect::<Result<_>>()?;
    Ok((looks, run("long".to_owned(), BUDGETS[1])?))
}

fn read(path: &Path) -> Result<Summary> {
    let file = if path.is_dir() {
        path.join("summary.json")
    } else {
        path.to_owned()
    };
    let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is no summary of this version", file.display()))
}

fn report(all: &[(String, Statement)]) {
    let of = |kind: Option<StatementKind>, outcome: Option<StatementOutcome>| {
        let is = |s: &&(String, Statement)| {
            kind.is_none_or(|kind| s.1.kind == kind)
                && outcome.is_none_or(|outcome| s.1.outcome == outcome)
        };
        all.iter().filter(is).count()
    };
    println!(
        "\n{:<20} {:>10} {:>11} {:>10} {:>6} {:>11} {:>9}",
        "statement", "said", "not asked", "confirmed", "open", "amount off", "word off"
    );
    for kind in StatementKind::ALL.map(Some).into_iter().chain([None]) {
        let outcomes = [
            StatementOutcome::NotAsked,
            StatementOutcome::Confirmed,
            StatementOutcome::Open,
            StatementOutcome::AmountContradicted,
            StatementOutcome::Contradicted,
        ];
        let [not_asked, confirmed, open, amount, word] =
            outcomes.map(|outcome| of(kind, Some(outcome)));
        let name = kind.map_or("all", StatementKind::label);
        println!(
            "{name:<20} {:>10} {not_asked:>11} {confirmed:>10} {open:>6} {amount:>11} {word:>9}",
            of(kind, None)
        );
    }
    let off = |s: &&(String, Statement)| {
        matches!(
            s.1.outcome,
            StatementOutcome::AmountContradicted | StatementOutcome::Contradicted
        )
    };
    for (run, statement) in all.iter().filter(off) {
        let Statement {
            kind,
            cell,
            claimed,
            interval,
            ..
        } = statement;
        let interval =
            interval.map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}"));
        println!(
            "{run}: {cell}: {}: said {:.4} to {:.4}, interval {interval}",
            kind.label(),
            claimed.0,
            claimed.1
        );
    }
}
