//! Two sets of runs in sentences: the finding on a cell, the count of verdicts, and how sure they are.

use super::{phrases, wording};
use record::across::{Compared, ComparedCell, ComparedRun, ComparedSide, MissingCell};
use record::machine::environment::known;
use record::outcome::Status;
use record::summary::Verdict;
use stats::across::LEAST_RUNS;
use std::collections::BTreeMap;

/// `3 runs on Intel Xeon, Linux 6.18`.
pub(crate) fn machine(side: &ComparedSide) -> String {
    let count = wording::count(side.runs.len(), "run");
    let kernel = known(&side.environment, "kernel").map(|kernel| format!("Linux {kernel}"));
    let cpu = known(&side.environment, "cpu").map(str::to_owned);
    let machine: Vec<String> = [cpu, kernel].into_iter().flatten().collect();
    if machine.is_empty() {
        count
    } else {
        format!("{count} on {}", machine.join(", "))
    }
}

/// The finding on one cell; with too few units of inference its figure, and that it is no verdict.
pub(crate) fn finding(cell: &ComparedCell, a: &str, unit: &str) -> String {
    match &cell.contrast.ratio {
        None => format!("{:.2} × {a}; too few {unit}s for a verdict", cell.quotient),
        Some(ratio) if cell.doubt.is_some() => wording::open_for_noise(ratio),
        Some(_) => wording::finding(&cell.contrast),
    }
}

pub(crate) fn missing(missing: &MissingCell) -> String {
    let [a, b] = [missing.a, missing.b].map(|status| status.map_or("absent", Status::word));
    let reason = phrases::sentence("missing", &missing.reason);
    format!("{} (A {a}, B {b}): {reason}", missing.cell)
}

/// Doubts about the runs, and what verdicts rest on.
pub(crate) fn doubts(compared: &Compared) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for run in compared.a.runs.iter().chain(&compared.b.runs) {
        items.extend(damage(run));
        if run.interrupted {
            items.push(format!("{} was interrupted", run.run));
        }
    }
    items.extend(disturbed("A", &compared.a));
    items.extend(disturbed("B", &compared.b));
    items.extend(needed(compared));
    let (a, b) = (compared.a.runs.len(), compared.b.runs.len());
    if too_few(compared).is_none() {
        let margin = wording::percent(compared.margin);
        items.push(format!(
            "unpaired: {a} and {b} runs, intervals over runs (95 %), margin {margin}"
        ));
    }
    let sides = compared.cells.iter().flat_map(|cell| [&cell.a, &cell.b]);
    if let Some(noise) = sides.filter_map(|side| side.between_runs).reduce(f64::max) {
        items.push(format!(
            "from run to run one side's costs scatter by up to {}",
            wording::percent(noise)
        ));
    }
    let mut cells = compared.cells.iter();
    if cells.any(|cell| cell.contrast.ratio.is_some() && !cell.contrast.holds_among_all) {
        items.push(wording::AMONG_ALL.to_owned());
    }
    items
}

/// The runs that a verdict lacks, and how to make them; none where both sides have enough.
pub(crate) fn too_few(compared: &Compared) -> Option<String> {
    let sides = [("A", &compared.a), ("B", &compared.b)];
    let lacking: Vec<String> = sides
        .into_iter()
        .filter(|(_, side)| side.runs.len() < LEAST_RUNS)
        .map(|(name, side)| {
            let more = wording::count(LEAST_RUNS - side.runs.len(), "time");
            format!("run {name} again {more}")
        })
        .collect();
    if lacking.is_empty() {
        return None;
    }
    Some(format!(
        "Needs {LEAST_RUNS} runs a side: {}, best in turns (A B A B …). Between two runs everything else may differ too.",
        lacking.join(" and ")
    ))
}

fn damage(run: &ComparedRun) -> Option<String> {
    let first = run.damage.first()?;
    let more = match run.damage.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "{} is damaged, and what it touches is left out: {first}{more}",
        run.run
    ))
}

/// A sentence on what disturbed the runs of a side, and on its untrusted cells.
fn disturbed(name: &str, side: &ComparedSide) -> Option<String> {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for (code, cells) in side.runs.iter().flat_map(|run| &run.disturbed) {
        *codes.entry(code).or_default() += cells;
    }
    let mut parts: Vec<String> = Vec::new();
    for (code, cells) in codes {
        let disturbance = code.replace('-', " ");
        parts.push(match cells {
            0 => disturbance,
            cells => format!("{disturbance} ({})", wording::count(cells, "cell")),
        });
    }
    let untrusted: usize = side.runs.iter().map(|run| run.untrusted).sum();
    if untrusted > 0 {
        parts.push(format!("{} untrusted", wording::count(untrusted, "cell")));
    }
    (!parts.is_empty()).then(|| format!("{name} was disturbed: {}", parts.join(", ")))
}

/// A sentence on the runs that would decide what is open.
fn needed(compared: &Compared) -> Option<String> {
    let open: Vec<_> = compared
        .cells
        .iter()
        .filter(|cell| cell.contrast.verdict == Verdict::NotSettled)
        .collect();
    let runs: Vec<usize> = open.iter().filter_map(|cell| cell.runs_needed).collect();
    let most = runs.iter().max()?;
    let cells = wording::count(open.len(), "open cell");
    Some(match open.len() - runs.len() {
        0 => format!("about {most} runs a side should decide {cells}"),
        more => format!(
            "about {most} runs a side should decide {} of {cells}; {more} may stay open",
            runs.len()
        ),
    })
}
