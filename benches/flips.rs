//! Does the overview flip? Several overviews of one machine, each with orders of its own: which answers name another method,
//! which are settled in some only, whether a later interval contradicts an earlier sentence, and how many intervals overlap.
//!
//! `cargo bench --bench flips -- [LOOKS] [SECONDS]` takes eight overviews of 150 s where nothing else is said. With names of
//! files it compares overviews that were taken at other times, each by `pagewise run --json --seed N >FILE`.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use record::cell::parameter_words;
use record::summary::{GroupSummary, Ratio, Recommendation, Summary, Verdict};

/// A method within one question: by its cell, its parameters and the parameters of the group.
type Method = (String, String);

/// The answer to one question, and the verdicts that were said.
struct Answer {
    recommendation: String,
    /// The method that is named, if one is.
    named: Option<String>,
    said: BTreeMap<Method, (Ratio, Verdict)>,
}

fn main() -> Result<()> {
    // cargo adds --bench.
    let given: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let mut numbers = given.iter().filter_map(|word| word.parse::<u64>().ok());
    let (looks, seconds) = (numbers.next().unwrap_or(8), numbers.next().unwrap_or(150));
    let files: Vec<&String> = given
        .iter()
        .filter(|word| word.parse::<u64>().is_err())
        .collect();
    let count = if files.is_empty() {
        looks
    } else {
        files.len() as u64
    };
    let mut all: Vec<BTreeMap<String, Answer>> = Vec::new();
    for seed in 1..=count {
        let summary = match files.get(seed as usize - 1) {
            Some(file) => serde_json::from_slice(
                &std::fs::read(file).with_context(|| format!("reading {file}"))?,
            )?,
            None => overview(seed, seconds)?,
        };
        println!(
            "overview {seed} of {count}: {:.0} s, {} answers",
            summary.elapsed_s,
            summary.groups.len()
        );
        all.push(answers(&summary));
    }
    report(&all);
    Ok(())
}

fn overview(seed: u64, seconds: u64) -> Result<Summary> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagewise"));
    let output = command
        .args([
            "run",
            "--json",
            "--seed",
            &seed.to_string(),
            "--budget",
            &format!("{seconds}s"),
        ])
        .output()?;
    ensure!(
        output.status.code().is_some_and(|code| code < 4),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).context("an overview is a summary")
}

fn answers(summary: &Summary) -> BTreeMap<String, Answer> {
    let answer = |group: &GroupSummary| {
        let name = |cell: usize| summary.cells[cell].method.as_str();
        let (named, word) = match group.recommendation {
            Recommendation::Use { cell, .. } => (Some(name(cell)), "use"),
            Recommendation::Keep { cell } => (Some(name(cell)), "keep"),
            // Advice for this condition; another one asks for another method.
            Recommendation::Depends {
                cell,
                ratio: Some(ratio),
            } if ratio.high < 1.0 => (Some(name(cell)), "depends"),
            Recommendation::Depends { .. } => (group.baseline.map(name), "depends"),
            Recommendation::Inconclusive { .. } => (None, "open"),
            Recommendation::Nothing => (None, "nothing"),
        };
        let recommendation = named.map_or(word.to_owned(), |named| format!("{word} {named}"));
        let headline = summary
            .experiment(&group.experiment)
            .map_or("", |e| e.headline.as_str());
        let ranked = group
            .comparisons
            .iter()
            .filter(|c| c.phase == headline && summary.cells[c.cell].is_ranked());
        let said = ranked.filter_map(|c| {
            let cell = &summary.cells[c.cell];
            Some((
                (cell.cell.clone(), parameter_words(&cell.parameters, None)),
                (c.contrast.ratio?, c.contrast.overall()),
            ))
        });
        let question = format!(
            "{} {}",
            group.experiment,
            parameter_words(&group.parameters, None)
        );
        (
            question,
            Answer {
                recommendation,
                named: named.map(str::to_owned),
                said: said.collect(),
            },
        )
    };
    summary.groups.iter().map(answer).collect()
}

/// Tells whether a whole later interval lies where an earlier sentence says that the ratio is not.
fn contradicts(later: &Ratio, (earlier, said): &(Ratio, Verdict)) -> bool {
    match said {
        Verdict::Faster { .. } => later.low > earlier.high,
        Verdict::Slower { .. } => later.high < earlier.low,
        Verdict::Within { margin } => later.low > 1.0 + margin || later.high < 1.0 / (1.0 + margin),
        Verdict::NotSettled => false,
    }
}

fn report(all: &[BTreeMap<String, Answer>]) {
    let mut questions: Vec<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    questions.sort();
    questions.dedup();
    let (mut flips, mut open, mut wrong, mut overlapping, mut pairs) = (0, 0, 0, 0, 0);
    for question in questions {
        let mine: Vec<&Answer> = all
            .iter()
            .filter_map(|answers| answers.get(question))
            .collect();
        let mut named: Vec<&str> = mine
            .iter()
            .filter_map(|answer| answer.named.as_deref())
            .collect();
        let settled = named.len();
        named.sort_unstable();
        named.dedup();
        let (flipped, half_open) = (named.len() > 1, settled > 0 && settled < mine.len());
        let mut contradicted: Vec<&str> = Vec::new();
        for (at, earlier) in mine.iter().enumerate() {
            for (method, said) in &earlier.said {
                for (later, _) in mine[at + 1..]
                    .iter()
                    .filter_map(|answer| answer.said.get(method))
                {
                    pairs += 1;
                    overlapping +=
                        usize::from(later.low <= said.0.high && said.0.low <= later.high);
                    if contradicts(later, said) {
                        contradicted.push(&method.0);
                    }
                }
            }
        }
        (flips, open) = (flips + usize::from(flipped), open + usize::from(half_open));
        wrong += usize::from(!contradicted.is_empty());
        contradicted.dedup();
        let mut words: Vec<&str> = mine
            .iter()
            .map(|answer| answer.recommendation.as_str())
            .collect();
        words.dedup();
        let note = if contradicted.is_empty() {
            String::new()
        } else {
            format!("; contradicted: {}", contradicted.join(", "))
        };
        let change = if flipped { "FLIPS" } else { "holds" };
        println!(
            "{question}: {change}, settled in {settled} of {} ({}){note}",
            mine.len(),
            words.join(" → ")
        );
    }
    let share = 100.0 * overlapping as f64 / f64::from(pairs.max(1));
    println!(
        "{flips} answers named another method, {open} were settled in some overviews only, {wrong} were contradicted"
    );
    println!("{share:.1} % of {pairs} pairs of intervals overlap");
}
