//! Every doubt has a name, a test and advice. They flag; they never correct a figure.

use crate::evidence::Evidence;
use crate::outcome::Status;
use crate::plan::Plan;
use crate::sizes::format_ns;
use crate::stats::verdict::Twin;
use crate::summary::{Summary, Warning};

/// The share of rounds with an involuntary switch above which a cell is flagged.
const INTERRUPTED_SHARE: f64 = 0.25;
/// The laboratory itself should take no more of a launch than this share.
const LABORATORY_SHARE: f64 = 0.01;

type Test = fn(&Plan, &Evidence, &Summary) -> Vec<Warning>;

/// All tests, in the order in which their warnings are shown.
const TESTS: [Test; 6] = [twin_differs, below_floor, interrupted, levels, first_pass, absent_counters];

/// Runs every test.
pub fn all(plan: &Plan, evidence: &Evidence, summary: &Summary) -> Vec<Warning> {
    TESTS.iter().flat_map(|test| test(plan, evidence, summary)).collect()
}

/// Whether the laboratory disturbed a launch: its CPU time against the launch's wall time.
pub fn laboratory_disturbs(cpu_s: f64, wall_s: f64) -> bool {
    wall_s > 0.1 && cpu_s > LABORATORY_SHARE * wall_s
}

fn warning(name: &str, cell: &str, advice: String) -> Warning {
    Warning { name: name.to_owned(), cell: cell.to_owned(), advice }
}

fn twin_differs(_: &Plan, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let twin = summary.twin.iter().filter(|t| t.verdict == Twin::Differs);
    let words = |t: &crate::summary::TwinSummary| {
        let advice = format!(
            "the baseline differs from its own twin ({:.3} to {:.3}), so no ratio of this run can be believed; see pagewise doctor for what disturbs this machine, and raise --budget",
            t.ratio.low, t.ratio.high
        );
        warning("twin-differs", &t.cell, advice)
    };
    twin.map(words).collect()
}

fn below_floor(plan: &Plan, _: &Evidence, summary: &Summary) -> Vec<Warning> {
    let mut found = Vec::new();
    for cell in summary.cells.iter().filter(|c| c.status == Status::Ok && c.role == "method") {
        let headline = plan.experiment(&cell.experiment).map_or("", |e| e.headline());
        if cell.phases.get(headline).is_some_and(|p| p.below_floor) {
            let advice = format!(
                "{headline} is below twice the floor (the null method), so it is not resolved; take larger sizes"
            );
            found.push(warning("below-floor", &cell.cell, advice));
        }
    }
    found
}

fn interrupted(plan: &Plan, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut found = Vec::new();
    for (index, cell) in &evidence.cells {
        let launches = cell.launches.len().max(1) as f64;
        let share = cell.launches.iter().map(|l| l.interrupted).sum::<f64>() / launches;
        // A long round meets other processes on any machine; a short one only on a crowded one.
        let short = cell.launches.iter().flat_map(|l| &l.measures).all(|m| m.wall_ns.iter().all(|ns| *ns < 4e6));
        if short && share > INTERRUPTED_SHARE && !plan.cells[*index].twin {
            let advice =
                format!("{:.0} % of its rounds were switched out: other processes want these CPUs", share * 100.0);
            found.push(warning("interrupted", &plan.cells[*index].cell.name(), advice));
        }
    }
    found
}

fn levels(plan: &Plan, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut found = Vec::new();
    for (index, cell) in &evidence.cells {
        for seen in cell.checks.laws.values().filter(|s| s.level && s.broken > 0) {
            if !plan.cells[*index].twin {
                let advice =
                    format!("{} of {} samples were off the expected level ({})", seen.broken, seen.asked, seen.first);
                found.push(warning("level", &plan.cells[*index].cell.name(), advice));
            }
        }
    }
    found
}

/// A first pass that is so many times slower than the next ones found a cache cold that the next ones found warm.
const FIRST_PASS_FACTOR: f64 = 2.0;

/// Where the page cache is emptied before every pass, a cache below it (the hypervisor's, the device's) may stay warm. The
/// first pass is the pilot's, which is kept apart from the figures in any case; here the difference is told.
fn first_pass(plan: &Plan, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    let mut found = Vec::new();
    for (index, first) in &evidence.first_pass_ns {
        let planned = &plan.cells[*index];
        let cold = planned.cell.parameters.get("cache").is_some_and(|c| c == "cold" || c == "dropped");
        let Some(experiment) = plan.experiment(&planned.cell.experiment).filter(|_| cold && !planned.twin) else {
            continue;
        };
        let Some(measure) = experiment.measures().position(|m| m == experiment.headline()) else { continue };
        let launches = evidence.cells.get(index).map_or(&[][..], |c| &c.launches);
        let mut later: Vec<f64> = launches.iter().flat_map(|l| l.measures[measure].wall_ns.iter().copied()).collect();
        if let Some(usual) = crate::stats::quantile::median(&mut later)
            && *first > FIRST_PASS_FACTOR * usual
        {
            let advice = format!(
                "its first pass took {}, the later ones {}: a cache below the page cache (hypervisor, device) stays warm; the figures are those of the later passes",
                format_ns(*first),
                format_ns(usual)
            );
            found.push(warning("first-pass", &planned.cell.name(), advice));
        }
    }
    found
}

fn absent_counters(_: &Plan, evidence: &Evidence, _: &Summary) -> Vec<Warning> {
    evidence.absent.iter().map(|(column, reason)| warning("counter-absent", column, reason.clone())).collect()
}
