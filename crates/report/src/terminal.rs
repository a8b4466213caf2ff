//! The tables and sentences of a run, for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use record::cell::display_value;
use record::experiment::Experiment;
use record::outcome::Status;
use record::sizes::{format_ns, three_digits};
use record::summary::{BestClaim, CellSummary, Comparison, GroupSummary, Recommendation, Summary, Verdict};
use stats::steady::Label;

use crate::numbers::{interval, ratio_words};

/// The whole report.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    for experiment in &summary.experiments {
        let experiment = &experiment.definition;
        let cells: Vec<&CellSummary> =
            summary.cells.iter().filter(|c| c.experiment == experiment.name && !c.hidden).collect();
        if cells.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}: {}", experiment.name, experiment.title);
        for group in summary.groups_of(&experiment.name) {
            render_group(&mut text, experiment, summary, group);
        }
        render_absent(&mut text, &cells);
    }
    text.push_str(&super::doubts::render(summary));
    text
}

/// Parameters in words; those that have their default in all cells of the run say nothing and are left out.
fn group_words(experiment: &Experiment, group: &BTreeMap<String, String>) -> String {
    let words = group.iter().filter_map(|(key, value)| {
        let parameter = experiment.parameters.get(key)?;
        let is_size = parameter.kind == record::experiment::ParameterKind::Size;
        let usual = parameter.default.len() == 1 && parameter.default[0] == *value;
        (!usual).then(|| format!("{key}={}", display_value(value, is_size)))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn option_words(experiment: &Experiment, cell: &CellSummary) -> String {
    let words = cell.parameters.iter().filter(|(key, _)| !experiment.groups_by(key)).filter_map(|(key, value)| {
        let parameter = experiment.parameters.get(key)?;
        let is_size = parameter.kind == record::experiment::ParameterKind::Size;
        let shown = display_value(value, is_size);
        let usual = parameter.default.len() == 1 && (parameter.default[0] == *value || parameter.default[0] == shown);
        (!usual).then(|| format!(" {key}={shown}"))
    });
    words.collect()
}

fn percent(share: f64) -> String {
    let digits = usize::from(share < 0.1);
    format!("{:.digits$} %", share * 100.0)
}

/// The verdict in words; one that does not hold among all verdicts of the run is not said.
pub(super) fn verdict_words(comparison: &Comparison) -> String {
    match comparison.verdict {
        _ if !comparison.holds_among_all => "not settled among so many".to_owned(),
        Verdict::Faster { at_least } => format!("at least {} faster", percent(at_least)),
        Verdict::Slower { at_least } => format!("at least {} slower", percent(at_least)),
        Verdict::Within { margin } => format!("within {}", percent(margin)),
        Verdict::NotSettled => "not settled".to_owned(),
    }
}

fn new_table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn label(experiment: &Experiment, cell: &CellSummary) -> String {
    let role = match cell.role.as_str() {
        "method" => String::new(),
        other => format!(" ({other})"),
    };
    let group = if cell.group.is_empty() { String::new() } else { format!(" [{}]", cell.group) };
    format!("{}@{}{}{role}{group}", cell.method, cell.worker, option_words(experiment, cell))
}

fn render_group(text: &mut String, experiment: &Experiment, summary: &Summary, group: &GroupSummary) {
    let headline = experiment.headline();
    let rows: Vec<usize> = group.cells.iter().copied().filter(|&c| !summary.cells[c].phases.is_empty()).collect();
    // A floor or a best possible by itself is no answer to anything.
    if rows.iter().all(|&c| ["null", "limit"].contains(&summary.cells[c].role.as_str())) {
        return;
    }
    let _ = writeln!(text, "\n  {} · {headline}: {}", group_words(experiment, &group.parameters), meaning(experiment));
    let name = |c: usize| format!("{}@{}", summary.cells[c].method, summary.cells[c].worker);
    let against = group.baseline.map_or_else(|| "ratio".to_owned(), |b| format!("× {}", name(b)));
    let per = format!("per {}", experiment.unit);
    let header =
        ["method", headline, &per, &against, "verdict", "of best", "CPU", "faults", ""].map(str::to_owned).to_vec();
    let mut table = new_table(header);
    for &cell in &rows {
        let is_baseline = group.baseline == Some(cell);
        table.add_row(row(experiment, &summary.cells[cell], headline, group.comparison(cell, headline), is_baseline));
    }
    align(&mut table);
    indent(text, &table);
    let rows: Vec<&CellSummary> = rows.iter().map(|&c| &summary.cells[c]).collect();
    phases_table(text, experiment, &rows);
    latency_table(text, experiment, &rows);
    text.push_str(&super::resources::render(experiment, &rows, |cell| label(experiment, cell)));
    steadiness(text, experiment, &rows);
    text.push_str(&super::sides::render(&rows, |cell| label(experiment, cell)));
    for best in &group.best {
        let _ = writeln!(text, "    {}", best_sentence(best, group, summary));
    }
}

fn meaning(experiment: &Experiment) -> String {
    let total = experiment.totals.iter().find(|t| t.name == experiment.headline());
    total.map_or_else(String::new, |t| format!("{} ({})", t.meaning, t.formula()))
}

fn row(
    experiment: &Experiment,
    cell: &CellSummary,
    headline: &str,
    comparison: Option<&Comparison>,
    is_baseline: bool,
) -> Vec<String> {
    let Some(phase) = cell.phases.get(headline) else { return vec![label(experiment, cell)] };
    let believed = cell.status == Status::Ok;
    let ratio = match comparison.and_then(|c| c.ratio.as_ref()) {
        Some(ratio) if believed => ratio_words(ratio),
        _ if is_baseline => "1".to_owned(),
        _ => "–".to_owned(),
    };
    let verdict = match comparison {
        _ if !believed => "untrusted".to_owned(),
        Some(c) if !["null", "limit"].contains(&cell.role.as_str()) => verdict_words(c),
        None if is_baseline => "baseline".to_owned(),
        _ => String::new(),
    };
    vec![
        label(experiment, cell),
        interval(&phase.wall_ns),
        format_ns(phase.per_unit_ns.median),
        ratio,
        verdict,
        phase.of_best_possible.filter(|_| cell.role != "null").map_or_else(String::new, |e| {
            format!("{:.0} % ({:.0}–{:.0})", e.ratio * 100.0, e.low * 100.0, e.high * 100.0)
        }),
        format_ns(phase.cpu_ns.median),
        three_digits(phase.minor_faults).trim_end_matches(".00").to_owned(),
        if phase.below_floor { "below the floor".to_owned() } else { String::new() },
    ]
}

/// The single phases, where there is more than one.
fn phases_table(text: &mut String, experiment: &Experiment, rows: &[&CellSummary]) {
    let shown: Vec<&String> =
        experiment.phases.iter().filter(|p| rows.iter().any(|c| c.phases.contains_key(*p))).collect();
    if shown.len() < 2 {
        return;
    }
    let mut table =
        new_table(std::iter::once("phases, median".to_owned()).chain(shown.iter().map(|p| (*p).clone())).collect());
    for cell in rows {
        let mut row = vec![label(experiment, cell)];
        row.extend(shown.iter().map(|p| cell.phases.get(*p).map_or_else(String::new, |f| format_ns(f.wall_ns.median))));
        table.add_row(row);
    }
    align(&mut table);
    text.push('\n');
    indent(text, &table);
}

/// Which cells had not settled within their launches, and of which nothing can be said.
fn steadiness(text: &mut String, experiment: &Experiment, rows: &[&CellSummary]) {
    let of = |wanted: Label| -> Vec<String> {
        let mine = rows.iter().filter(|c| c.role != "null" && c.steady.as_ref().is_some_and(|s| s.label == wanted));
        mine.map(|c| label(experiment, c)).collect()
    };
    let labelled = rows.iter().filter(|c| c.role != "null" && c.steady.is_some()).count();
    let mut words = Vec::new();
    for wanted in [Label::Steady, Label::Drifting, Label::TwoLevel, Label::Short] {
        let names = of(wanted);
        let name = if wanted == Label::Short { "too few rounds to tell" } else { wanted.word() };
        match names.len() {
            0 => {}
            count if wanted == Label::Steady => words.push(format!("{count} {name}")),
            count if count == labelled => words.push(format!("all {name}")),
            _ => words.push(format!("{name}: {}", names.join(", "))),
        }
    }
    if !words.is_empty() {
        let _ = writeln!(text, "    From round to round: {}", words.join("; "));
    }
}

/// Quantiles of single latencies, and what a unit costs each side in CPU time, where methods record them.
fn latency_table(text: &mut String, experiment: &Experiment, rows: &[&CellSummary]) {
    if rows.iter().all(|c| c.latency_ns.is_none()) {
        return;
    }
    let first = experiment.phases[0].as_str();
    let header =
        ["latency", "median", "p99", "p99.9", "largest", "CPU of side a", "of side b"].map(str::to_owned).to_vec();
    let mut table = new_table(header);
    for cell in rows {
        let Some(latency) = &cell.latency_ns else { continue };
        let cpu = |phase: &str| {
            let found = cell.phases.get(phase).filter(|p| p.wall_ns.median > 0.0);
            found.map_or_else(String::new, |p| format_ns(p.cpu_ns.median * p.per_unit_ns.median / p.wall_ns.median))
        };
        let [median, p99, p999, max] = [latency.median, latency.p99, latency.p999, latency.max].map(format_ns);
        table.add_row([label(experiment, cell), median, p99, p999, max, cpu(first), cpu(&format!("{first}.b"))]);
    }
    align(&mut table);
    text.push('\n');
    indent(text, &table);
}

fn indent(text: &mut String, table: &Table) {
    for line in table.to_string().lines() {
        let _ = writeln!(text, "   {}", line.trim_end());
    }
}

/// Which way to use here, by how much, how sure.
fn best_sentence(best: &BestClaim, group: &GroupSummary, summary: &Summary) -> String {
    let name = |c: usize| format!("{}@{}", summary.cells[c].method, summary.cells[c].worker);
    let kind = if best.group.is_empty() { String::new() } else { format!(" among {}", best.group) };
    let mut text = match group.recommendation {
        Recommendation::Use { cell, ratio } if best.group.is_empty() => {
            format!("→ use {}, {:.2} to {:.2} times faster", name(cell), 1.0 / ratio.high, 1.0 / ratio.low)
        }
        Recommendation::Keep { cell } if best.group.is_empty() => {
            format!("→ keep {}: nothing is shown to be faster", name(cell))
        }
        _ => format!("→ {} leads{kind}", name(best.leader)),
    };
    if !best.within.is_empty() {
        let names: Vec<String> = best.within.iter().map(|&c| name(c)).collect();
        let _ = write!(
            text,
            "; within {} of {}: {}",
            percent(summary.settings.margin),
            name(best.leader),
            names.join(", ")
        );
    }
    if !best.unsettled.is_empty() {
        let words = |u: &record::summary::Unsettled| {
            let more = u.more_s.map_or_else(String::new, |s| format!(" (about {s:.0} s more)"));
            format!("{}{more}", name(u.cell))
        };
        let names: Vec<String> = best.unsettled.iter().map(words).collect();
        let _ = write!(text, "; not settled against {}: {}", name(best.leader), names.join(", "));
    }
    text
}

/// Cells without figures, by reason.
fn render_absent(text: &mut String, cells: &[&CellSummary]) {
    let mut by_reason: BTreeMap<(Status, &str), Vec<String>> = BTreeMap::new();
    for cell in cells.iter().filter(|c| c.status != Status::Ok) {
        by_reason
            .entry((cell.status, cell.reason.as_str()))
            .or_default()
            .push(format!("{}@{}", cell.method, cell.worker));
    }
    if !by_reason.is_empty() {
        text.push('\n');
    }
    for ((status, reason), mut names) in by_reason {
        names.dedup();
        names.sort();
        names.dedup();
        let _ = writeln!(text, "  {}: {}: {reason}", status.word(), names.join(", "));
    }
}
