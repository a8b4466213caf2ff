//! The tables and sentences of a run, for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use record::cell::display_value;
use record::experiment::Experiment;
use record::outcome::Status;
use record::plan::{Plan, compatible};
use record::sizes::{format_ns, three_digits};
use record::summary::{BestSet, CellSummary, Comparison, Summary};
use stats::steady::Label;
use stats::verdict::Verdict;

use crate::numbers::{interval, ratio_words};

/// The whole report.
pub fn render(plan: &Plan, summary: &Summary) -> String {
    let mut text = String::new();
    for experiment in &plan.experiments {
        let cells: Vec<&CellSummary> = summary.cells.iter().filter(|c| c.experiment == experiment.name).collect();
        if cells.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}: {}", experiment.name, experiment.title);
        for group in groups(experiment, &cells) {
            render_group(&mut text, experiment, summary, &group, &cells);
        }
        render_absent(&mut text, &cells);
    }
    text.push_str(&super::doubts::render(summary));
    text
}

fn grouping(experiment: &Experiment, cell: &CellSummary) -> BTreeMap<String, String> {
    let kept = cell.parameters.iter().filter(|(key, _)| experiment.groups_by(key));
    kept.map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn groups(experiment: &Experiment, cells: &[&CellSummary]) -> Vec<BTreeMap<String, String>> {
    let mut all: Vec<_> = cells.iter().map(|c| grouping(experiment, c)).collect();
    all.sort_by_key(|g| {
        g.iter().map(|(k, v)| (k.clone(), v.parse::<u64>().unwrap_or(0), v.clone())).collect::<Vec<_>>()
    });
    all.dedup();
    let whole = |g: &BTreeMap<String, String>| !all.iter().any(|h| h.len() > g.len() && compatible(g, h));
    all.iter().filter(|g| whole(g)).cloned().collect()
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

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
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

fn render_group(
    text: &mut String,
    experiment: &Experiment,
    summary: &Summary,
    group: &BTreeMap<String, String>,
    cells: &[&CellSummary],
) {
    let headline = experiment.headline();
    let measured = |c: &&&CellSummary| compatible(group, &grouping(experiment, c)) && !c.phases.is_empty();
    let mut rows: Vec<&CellSummary> = cells.iter().filter(measured).copied().collect();
    // A floor or a limit by itself is no answer to anything.
    if rows.iter().all(|c| ["null", "limit"].contains(&c.role.as_str())) {
        return;
    }
    let order = |c: &CellSummary| {
        (["null", "limit"].contains(&c.role.as_str()), c.phases.get(headline).map_or(f64::MAX, |p| p.wall_ns.median))
    };
    rows.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    let find = |cell: &CellSummary| {
        summary.comparisons.iter().find(|c| {
            c.experiment == experiment.name
                && c.phase == headline
                && c.parameters == *group
                && (c.method.as_str(), c.worker.as_str()) == (cell.method.as_str(), cell.worker.as_str())
                && c.options.iter().all(|(k, v)| cell.parameters.get(k) == Some(v))
        })
    };
    let baseline = rows.iter().filter_map(|c| find(c)).map(|c| c.baseline.clone()).next();
    let _ = writeln!(text, "\n  {} · {headline}: {}", group_words(experiment, group), meaning(experiment));
    let against = baseline.as_deref().map_or_else(|| "ratio".to_owned(), |b| format!("× {b}"));
    let per = format!("per {}", experiment.unit);
    let header =
        ["method", headline, &per, &against, "verdict", "of limit", "CPU", "faults", ""].map(str::to_owned).to_vec();
    let mut table = new_table(header);
    for cell in &rows {
        table.add_row(row(experiment, cell, headline, find(cell), baseline.as_deref()));
    }
    align(&mut table);
    indent(text, &table);
    phases_table(text, experiment, &rows);
    latency_table(text, experiment, &rows);
    text.push_str(&super::resources::render(experiment, &rows, |cell| label(experiment, cell)));
    steadiness(text, experiment, &rows);
    text.push_str(&super::sides::render(&rows, |cell| label(experiment, cell)));
    for best in summary.best.iter().filter(|b| b.experiment == experiment.name && b.parameters == *group) {
        let _ = writeln!(text, "    {}", best_sentence(best, summary));
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
    baseline: Option<&str>,
) -> Vec<String> {
    let Some(phase) = cell.phases.get(headline) else { return vec![label(experiment, cell)] };
    let is_baseline = baseline == Some(format!("{}@{}", cell.method, cell.worker).as_str()) && comparison.is_none();
    let believed = cell.status == Status::Ok;
    let ratio = match comparison.and_then(|c| c.ratio.as_ref()) {
        Some(ratio) if believed => ratio_words(ratio),
        _ if is_baseline => "1".to_owned(),
        _ => "–".to_owned(),
    };
    let verdict = match comparison {
        _ if !believed => "untrusted",
        Some(c) if !["null", "limit"].contains(&cell.role.as_str()) => verdict_word(c.verdict),
        None if is_baseline => "baseline",
        _ => "",
    };
    vec![
        label(experiment, cell),
        interval(&phase.wall_ns),
        format_ns(phase.per_unit_ns.median),
        ratio,
        verdict.to_owned(),
        phase
            .limit_fraction
            .filter(|_| cell.role != "null")
            .map_or_else(String::new, |f| format!("{:.0} %", f * 100.0)),
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
fn best_sentence(best: &BestSet, summary: &Summary) -> String {
    let Some(leader) = best.set.first() else { return String::new() };
    let found = summary.comparisons.iter().find(|c| {
        c.experiment == best.experiment
            && c.phase == best.phase
            && c.parameters == best.parameters
            && *leader == format!("{}@{}", c.method, c.worker)
    });
    let by = match found.and_then(|c| Some((c, c.ratio.as_ref()?))) {
        Some((c, ratio)) if c.verdict == Verdict::Faster => {
            format!(", {:.2} to {:.2} times faster than {} (95 %)", 1.0 / ratio.high, 1.0 / ratio.low, c.baseline)
        }
        _ => String::new(),
    };
    let others = match &best.set[1..] {
        [] => String::new(),
        rest => format!("; cannot be told from it: {}", rest.join(", ")),
    };
    let group = if best.group.is_empty() { String::new() } else { format!(" among {}", best.group) };
    if by.is_empty() && best.set.len() == best.compared {
        return format!("→ None of the {} methods{group} can be told from the others; {leader} leads.", best.compared);
    }
    format!("→ Use {leader}{group}{by}{others}.")
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
