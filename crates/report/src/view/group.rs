//! One comparison group: its rows in order, each with what is said of it.

use std::collections::BTreeMap;

use record::outcome::Status;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{Comparison, Estimate, ExperimentSummary, GroupSummary, Summary};

use super::labels::Labels;
use super::launches::{self, Stack};
use super::tables::{self, Grid};
use super::{Axis, Scale, labels};
use crate::{answer, numbers, words};

/// One group.
#[derive(Clone, Debug)]
pub struct GroupView {
    /// The parameters by which it differs from the experiment's other groups: `bytes=4MiB`.
    pub setting: String,
    /// How much memory its methods go over, and whether that lies in the caches; empty where they do not say.
    pub footprint: String,
    /// The measure that is compared: a total or a phase.
    pub headline: String,
    /// What others are compared with, where there is such a cell.
    pub against: Option<String>,
    /// The axis of all ratios to the baseline, where there is any.
    pub axis: Option<Axis>,
    /// The scale of all launches' wall times.
    pub times: Option<Scale>,
    /// Phases laid end to end, where they follow each other.
    pub stack: Option<Stack>,
    /// Rows by kind: the ordinary methods, then moves, handovers and the like, then jobs as published, then best possible and
    /// floor.
    pub kinds: Vec<Kind>,
    /// What to do, in sentences.
    pub answers: Vec<String>,
    /// Ratios that moved during the run, in sentences.
    pub moved: Vec<String>,
    /// Further tables: phases, latency, resources, sides.
    pub tables: Vec<Grid>,
    /// Whether cells had settled within their launches, in sentences.
    pub settled: Vec<String>,
}

/// Rows that are ranked with each other.
#[derive(Clone, Debug)]
pub struct Kind {
    /// What they are; empty for the ordinary methods.
    pub heading: String,
    /// Fastest first.
    pub rows: Vec<Row>,
}

/// One cell. Strings are empty where there is nothing to say.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cell, as an index into the summary's.
    pub cell: usize,
    /// How it is called within the experiment.
    pub label: String,
    /// Wall time of one sample with the half-width of its interval.
    pub time: String,
    /// Wall time of one unit.
    pub per_unit: String,
    /// The ratio to the baseline, where it may be believed.
    pub ratio: Option<Estimate>,
    /// The same in words: `0.176 (0.168–0.213)`.
    pub ratio_words: String,
    /// What that says, in a column.
    pub verdict: String,
    /// What that says, in full.
    pub sentence: String,
    /// The best possible's time as a share of this one.
    pub of_best_possible: String,
    /// CPU time of one sample.
    pub cpu: String,
    /// Minor faults of one sample.
    pub faults: String,
    /// The numbers behind time, time of one unit, CPU time and faults, where there are any; times in nanoseconds.
    pub numbers: Option<Numbers>,
    /// The best possible's time as a share of this one.
    pub share: Option<Estimate>,
    /// Each launch's wall time in nanoseconds, in the order of the launches.
    pub launches: Vec<f64>,
    /// Each launch's wall time over that of the baseline in the same block.
    pub launch_ratios: Vec<f64>,
}

/// What a row's words say, as numbers: to sort by, and to be read by programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// Median wall time of one sample.
    pub wall_ns: f64,
    /// Median wall time of one unit.
    pub per_unit_ns: f64,
    /// Median CPU time of one sample.
    pub cpu_ns: f64,
    /// Minor faults of one sample.
    pub minor_faults: f64,
}

/// What heads best possible and floor, which are shown with everything else only.
pub const FOR_COMPARISON: &str = "for comparison";

/// In which block a cell stands, and what heads it.
fn block(role: &str, group: &str) -> (u8, String) {
    match role {
        "limit" | "null" => (3, FOR_COMPARISON.to_owned()),
        "published" => (2, "jobs as published".to_owned()),
        _ if !group.is_empty() => (1, format!("another job, ranked by itself ({group})")),
        _ => (0, String::new()),
    }
}

/// The groups of an experiment, smaller sizes first.
pub(crate) fn in_order<'a>(summary: &'a Summary, experiment: &'a str) -> Vec<&'a GroupSummary> {
    let value = |text: &'a String| (text.parse::<u64>().unwrap_or(u64::MAX), text);
    let mut groups: Vec<&GroupSummary> = summary.groups_of(experiment).collect();
    groups
        .sort_by_cached_key(|group| group.parameters.iter().map(|(key, text)| (key, value(text))).collect::<Vec<_>>());
    groups
}

pub(crate) fn view(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
) -> Option<GroupView> {
    let cells: Vec<usize> = group.cells.iter().copied().filter(|&c| !summary.cells[c].phases.is_empty()).collect();
    let is_compared = |c: usize| summary.cells[c].phases.contains_key(&experiment.headline);
    // A floor or a best possible by itself is no answer to anything.
    if cells.iter().all(|&c| ["null", "limit"].contains(&summary.cells[c].role.as_str())) {
        return None;
    }
    let compared = group.by_cell(&experiment.headline);
    let mut blocks: Vec<((u8, String), Vec<Row>)> = Vec::new();
    // Methods with other phases than the one that is compared stand in the further tables only.
    for &cell in cells.iter().filter(|&&c| is_compared(c)) {
        let found = &summary.cells[cell];
        let block = block(&found.role, &found.group);
        let row = row(summary, experiment, (group, &compared), cell, labels);
        match blocks.iter_mut().find(|(known, _)| *known == block) {
            Some((_, rows)) => rows.push(row),
            None => blocks.push((block, vec![row])),
        }
    }
    blocks.sort_by(|a, b| a.0.cmp(&b.0));
    let kinds: Vec<Kind> = blocks.into_iter().map(|((_, heading), rows)| Kind { heading, rows }).collect();
    let name = |cell: usize| labels.cell(&experiment.definition, &summary.cells[cell]);
    let ordinary = kinds.iter().filter(|k| k.heading.is_empty()).flat_map(|k| &k.rows);
    let ordinary: Vec<(usize, &str)> = ordinary.map(|r| (r.cell, r.label.as_str())).collect();
    let every_launch = kinds.iter().flat_map(|k| &k.rows).flat_map(|r| r.launches.iter().copied());
    Some(GroupView {
        times: Scale::times(every_launch),
        stack: launches::stack(summary, &experiment.definition, &ordinary),
        setting: labels.setting(&experiment.definition, group),
        footprint: footprint(summary, &ordinary),
        headline: experiment.headline.clone(),
        against: group.baseline.map(name),
        // Floors lie so far off that they would squeeze all others.
        axis: Axis::over(
            kinds.iter().filter(|k| k.heading != FOR_COMPARISON).flat_map(|k| &k.rows).filter_map(|r| r.ratio.as_ref()),
        ),
        kinds,
        answers: answer::sentences(summary, group, name),
        moved: moved(experiment, group, name),
        tables: tables::of_group(summary, &experiment.definition, &cells, labels),
        settled: tables::settled(summary, &cells, name),
    })
}

/// How much memory ranked methods go over, against the caches: `in cache (128 KiB)`.
fn footprint(summary: &Summary, rows: &[(usize, &str)]) -> String {
    let found: Vec<_> = rows.iter().filter_map(|&(cell, _)| summary.cells[cell].footprint.as_ref()).collect();
    let known = [("in cache", "in cache"), ("around", "around the cache's size"), ("in memory", "in memory")];
    let said = known.iter().filter(|(word, _)| found.iter().any(|f| f.against_cache == *word));
    let said: Vec<&str> = said.map(|(_, words)| *words).collect();
    let Some((least, most)) = found.iter().map(|f| f.bytes).min().zip(found.iter().map(|f| f.bytes).max()) else {
        return String::new();
    };
    let [least, most] = [least, most].map(|bytes| about_size(bytes as f64));
    let sizes = if least == most { most } else { format!("{least} to {most}") };
    if said.is_empty() { String::new() } else { format!("{} ({sizes})", said.join(" to ")) }
}

/// What is said of ratios that wandered while they were measured.
fn moved(experiment: &ExperimentSummary, group: &GroupSummary, name: impl Fn(usize) -> String) -> Vec<String> {
    let of_headline = group.comparisons.iter().filter(|c| c.phase == experiment.headline);
    let said = |c: &Comparison| {
        let (low, high) = c.ratio?.moved?;
        Some(format!("{}: {}", name(c.cell), words::moved(low, high)))
    };
    of_headline.filter_map(said).collect()
}

fn row(
    summary: &Summary,
    experiment: &ExperimentSummary,
    (group, compared): (&GroupSummary, &BTreeMap<usize, &Comparison>),
    index: usize,
    labels: &labels::Labels,
) -> Row {
    let cell = &summary.cells[index];
    let label = labels.cell(&experiment.definition, cell);
    let mut row = Row {
        cell: index,
        label,
        time: String::new(),
        per_unit: String::new(),
        ratio: None,
        ratio_words: String::new(),
        verdict: String::new(),
        sentence: String::new(),
        of_best_possible: String::new(),
        cpu: String::new(),
        faults: String::new(),
        numbers: None,
        share: None,
        launches: launches::walls(cell, &experiment.headline),
        launch_ratios: Vec::new(),
    };
    let believed = cell.status == Status::Ok;
    let comparison = compared.get(&index).copied();
    row.ratio = comparison.and_then(|c| c.ratio).filter(|_| believed);
    row.ratio_words = row.ratio.as_ref().map_or_else(String::new, numbers::ratio_words);
    if group.baseline == Some(index) {
        row.ratio_words = "1".to_owned();
    } else if let (Some(baseline), true) = (group.baseline, row.ratio.is_some()) {
        row.launch_ratios = launches::ratios(cell, &summary.cells[baseline], &experiment.headline);
    }
    (row.verdict, row.sentence) = said(summary, group, index, comparison);
    let Some(phase) = cell.phases.get(&experiment.headline) else { return row };
    row.numbers = Some(Numbers {
        wall_ns: phase.wall_ns.median,
        per_unit_ns: phase.per_unit_ns.median,
        cpu_ns: phase.cpu_ns.median,
        minor_faults: phase.minor_faults,
    });
    row.time = numbers::interval(&phase.wall_ns);
    row.per_unit = format_ns(phase.per_unit_ns.median);
    row.cpu = format_ns(phase.cpu_ns.median);
    row.faults = three_digits(phase.minor_faults).trim_end_matches(".00").to_owned();
    if let Some(share) = phase.of_best_possible.filter(|_| cell.role != "null" && believed) {
        let [share, low, high] = [share.ratio, share.low, share.high].map(|s| s * 100.0);
        row.share = phase.of_best_possible;
        row.of_best_possible = format!("{share:.0} % ({low:.0}–{high:.0})");
    }
    if phase.below_floor && believed && cell.role == "method" {
        row.verdict = "below twice the floor".to_owned();
        row.sentence = "below twice the floor: nothing is resolved there; take larger sizes".to_owned();
    }
    row
}

/// What is said of a cell, briefly and in full.
fn said(summary: &Summary, group: &GroupSummary, index: usize, comparison: Option<&Comparison>) -> (String, String) {
    let cell = &summary.cells[index];
    let same = |words: &str| (words.to_owned(), words.to_owned());
    match (cell.status, cell.role.as_str()) {
        (Status::Ok, _) if group.baseline == Some(index) => same("baseline"),
        (Status::Ok, "null") => same("floor"),
        (Status::Ok, "limit") if group.best_possible == Some(index) => same("best possible"),
        (Status::Ok, "limit") => {
            let by_another = group.best_possible.is_some_and(|best| summary.cells[best].role == "limit");
            same(if by_another { "another candidate for it" } else { "meant as best possible, but beaten" })
        }
        (Status::Ok, _) => comparison.map_or_else(
            || same(if group.baseline.is_none() { "" } else { "too few launches" }),
            |c| (words::verdict_briefly(c), words::verdict(c)),
        ),
        (status, _) => (status.word().to_owned(), format!("{}: {}", status.word(), cell.reason)),
    }
}
