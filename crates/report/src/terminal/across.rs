//! Two sets of runs held against each other, in lines no wider than the terminal: the environment first, then every cell.

use record::across::{Compared, ComparedCell, ComparedSide, FactDifference, GateWord, Gated};
use record::cell::parameter_words;
use record::sizes::format_ns;
use record::summary::Comparison;
use stats::across::LEAST_RUNS;

use super::Screen;
use super::layout::{Side, table, wrap};
use crate::words;

/// Differences that are shown of those that change no figure.
const HARMLESS: usize = 3;

/// Everything that is said of two sets of runs.
pub fn compared(compared: &Compared, screen: &Screen) -> String {
    let mut lines = heads(compared, screen);
    lines.extend(environment(compared, screen));
    lines.extend(cells(compared, screen));
    for missing in &compared.missing {
        let side = |status: Option<record::outcome::Status>| status.map_or("absent", |s| s.word());
        let told = format!(
            "not compared: {} (A {}, B {}): {}",
            missing.cell,
            side(missing.a),
            side(missing.b),
            missing.reason
        );
        lines.extend(wrap(&told, 0, screen));
    }
    lines.extend(sure(compared, screen));
    lines.join("\n") + "\n"
}

fn heads(compared: &Compared, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, side) in [("A", &compared.a), ("B", &compared.b)] {
        lines.extend(wrap(&format!("{name}  {}", head(side)), 0, screen));
        if !side.unlike.is_empty() {
            lines.extend(wrap(&format!("its runs differ among themselves in {}", side.unlike.join(", ")), 3, screen));
        }
    }
    lines
}

fn head(side: &ComparedSide) -> String {
    let count = if side.runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", side.runs.len()) };
    let fact = |key: &str| side.environment.get(key).filter(|v| *v != "unknown").cloned();
    let machine = [fact("cpu"), fact("kernel").map(|k| format!("Linux {k}"))];
    let machine = machine.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let names: Vec<&str> = side.runs.iter().map(|r| r.run.as_str()).collect();
    format!("{count} on {machine}: {}", names.join(" "))
}

fn environment(compared: &Compared, screen: &Screen) -> Vec<String> {
    let told = |d: &FactDifference| {
        let expected = if d.expected { " (as asked)" } else { "" };
        wrap(&format!("{}: {} → {}{expected}", d.field, d.a, d.b), 2, screen)
    };
    let (gravely, harmless): (Vec<_>, Vec<_>) = compared.differences.iter().partition(|d| d.matters);
    let mut lines = vec![String::new()];
    match gravely.len() {
        0 => lines.extend(wrap("environment: nothing differs that could change a figure", 0, screen)),
        _ => lines.extend(wrap("environment: these differ and can change every figure below", 0, screen)),
    }
    lines.extend(gravely.into_iter().flat_map(told));
    if !harmless.is_empty() {
        let names: Vec<&str> = harmless.iter().take(HARMLESS).map(|d| d.field.as_str()).collect();
        let more = harmless.len().saturating_sub(HARMLESS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.extend(wrap(&format!("also {}{more}, which should change none", names.join(", ")), 2, screen));
    }
    lines
}

fn cells(compared: &Compared, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let mut experiments: Vec<&str> = compared.cells.iter().map(|c| c.experiment.as_str()).collect();
    experiments.dedup();
    for experiment in experiments {
        let own: Vec<&ComparedCell> = compared.cells.iter().filter(|c| c.experiment == experiment).collect();
        let gate = if compared.gate.is_some() { vec!["gate"] } else { Vec::new() };
        let names = [&format!("{experiment}: {} per {}", own[0].phase, own[0].unit), "A", "B", "what that says of B"];
        let mut rows = vec![names.into_iter().chain(gate).map(str::to_owned).collect::<Vec<String>>()];
        rows.extend(own.iter().map(|cell| row(cell)));
        let sides = [Side::Left, Side::Right, Side::Right, Side::Left, Side::Left];
        lines.push(String::new());
        lines.extend(table(&rows, &sides[..rows[0].len()], 0, screen));
    }
    lines.push(String::new());
    lines
}

fn row(cell: &ComparedCell) -> Vec<String> {
    let name = cell.cell.split_once('/').map_or(cell.cell.as_str(), |(_, name)| name);
    let gate = cell.gate.map(|word| match word {
        GateWord::Passes => "passes",
        GateWord::Regression => "REGRESSION",
        GateWord::Undecided => "undecided",
    });
    let mut row = vec![
        format!("{name} {}", parameter_words(&cell.parameters, None)).trim_end().to_owned(),
        format_ns(cell.a.per_unit_ns),
        format_ns(cell.b.per_unit_ns),
        said(cell),
    ];
    row.extend(gate.map(str::to_owned));
    row
}

/// What may be said of one cell; with too few runs its figure, and that it is no verdict.
fn said(cell: &ComparedCell) -> String {
    if cell.estimate.is_none() {
        return format!("{:.2} × A; too few runs for a verdict", cell.ratio);
    }
    words::verdict_briefly(&Comparison {
        cell: 0,
        phase: cell.phase.clone(),
        ratio: cell.estimate,
        cpu_ratio: None,
        faults_ratio: None,
        verdict: cell.verdict,
        holds_among_all: cell.holds_among_all,
    })
}

fn sure(compared: &Compared, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    let fewest = compared.a.runs.len().min(compared.b.runs.len());
    if fewest < LEAST_RUNS {
        let told = format!(
            "a verdict needs {LEAST_RUNS} runs a side, best made in turns (A B A B …): between two runs everything else may differ too"
        );
        lines.extend(wrap(&told, 0, screen));
    } else {
        let told = format!(
            "unpaired: {} and {} runs, intervals over runs (95 %), margin {}",
            compared.a.runs.len(),
            compared.b.runs.len(),
            words::percent(compared.margin)
        );
        lines.extend(wrap(&told, 0, screen));
    }
    let widest = compared
        .cells
        .iter()
        .flat_map(|c| [c.a.between_runs, c.b.between_runs])
        .flatten()
        .fold(None, |m: Option<f64>, v| Some(m.map_or(v, |m| m.max(v))));
    if let Some(noise) = widest {
        lines.extend(wrap(
            &format!("from run to run one side's costs scatter by up to {}", words::percent(noise)),
            0,
            screen,
        ));
    }
    if compared.cells.iter().any(|c| c.estimate.is_some() && !c.holds_among_all) {
        lines.extend(wrap(words::AMONG_ALL, 0, screen));
    }
    if let Some((gated, gate)) = compared.gated.zip(compared.gate) {
        let word = match gated {
            Gated::Passes => "passed: nothing is slower by that",
            Gated::Regression => "closed: at least one cell is slower by more",
            Gated::Undecided => "undecided: not everything is shown, more runs may",
            Gated::NotComparable => {
                "closed: the sides cannot be compared (--expect FIELD names what is meant to differ)"
            }
        };
        lines.extend(wrap(&format!("gate {}: {word}", words::percent(gate)), 0, screen));
    }
    lines
}
