//! The answer on one screen: what is worth changing, what is not, what is missing.

use record::outcome::Status;
use record::sizes::format_ns;
use record::summary::{ExperimentSummary, GroupSummary, Recommendation, Summary, Verdict};

use super::labels::Labels;
use super::{Axis, group, missing};
use crate::words;

/// Lines of one experiment at most.
const LINES_EACH: usize = 2;
/// Lines of all experiments together at most, so that the screen has 40 lines at most.
const LINES: usize = 20;

/// One screen.
#[derive(Clone, Debug)]
pub struct Look {
    /// Questions for which another way is shown to be faster than the obvious one.
    pub worth: Vec<WorthRow>,
    /// The axis of their bars: factors from one upwards.
    pub axis: Axis,
    /// Questions for which nothing is shown to be faster.
    pub keep: Vec<KeepRow>,
    /// Questions that found no place.
    pub left_out: usize,
    /// Experiments of which nothing can be said, with why.
    pub unanswered: Vec<String>,
    /// What could not be measured, and what would bring it.
    pub missing: Vec<String>,
    /// What to do next, as commands.
    pub next: Vec<String>,
}

/// A method with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The method.
    pub name: String,
    /// Its time for one sample, in words; empty where there is none.
    pub time: String,
}

/// One question for which a change is shown to help.
#[derive(Clone, Debug)]
pub struct WorthRow {
    /// The experiment.
    pub experiment: String,
    /// Under which parameters: `4 MiB`.
    pub setting: String,
    /// What most programs do.
    pub obvious: Figure,
    /// What is recommended.
    pub best: Figure,
    /// By which factor it is faster, at the least and at the most.
    pub factors: (f64, f64),
    /// The same in words: `4.7–6.0`.
    pub faster: String,
}

/// One question for which no change is shown to help.
#[derive(Clone, Debug)]
pub struct KeepRow {
    /// The experiment.
    pub experiment: String,
    /// Under which parameters.
    pub setting: String,
    /// What most programs do.
    pub obvious: Figure,
    /// Methods that are shown to be slower: name, and by which factors.
    pub slower: Vec<(String, String)>,
    /// Methods within the margin.
    pub within: Vec<String>,
    /// The margin in words.
    pub margin: String,
    /// Methods of which neither is shown.
    pub unsettled: Vec<String>,
}

impl Look {
    /// What is worth changing, a few words a question: `fault 16 MiB thp 3.0–3.8×`.
    pub fn briefly(&self) -> Vec<String> {
        let words = |row: &WorthRow| format!("{} {} {} {}×", row.experiment, row.setting, row.best.name, row.faster);
        self.worth.iter().map(|row| words(row).replace("  ", " ")).collect()
    }
}

enum Line {
    Worth(WorthRow),
    Keep(KeepRow),
}

/// A line and how much it surprises: how far the surprising ratio is from one, as a logarithm.
struct Candidate {
    line: Line,
    surprise: f64,
    experiment: usize,
    group: usize,
}

pub(crate) fn look(summary: &Summary, labels: &Labels) -> Look {
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut others: Vec<Candidate> = Vec::new();
    let mut unanswered = Vec::new();
    for (at, experiment) in summary.experiments.iter().enumerate() {
        let mut mine = candidates(summary, at, experiment, labels);
        mine.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        let mut mine = mine.into_iter();
        let Some(first) = mine.next() else {
            unanswered.extend(why_unanswered(summary, &experiment.definition.name));
            continue;
        };
        // A second line where a group asks for something else than the first.
        let answer = answer(&first.line);
        others.extend(mine.find(|c| self::answer(&c.line) != answer).into_iter().take(LINES_EACH - 1));
        chosen.push(first);
    }
    for list in [&mut chosen, &mut others] {
        list.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
    }
    let found = chosen.len();
    chosen.truncate(LINES);
    let left_out = found - chosen.len();
    let room = LINES - chosen.len();
    chosen.extend(others.into_iter().take(room));
    let worth_first = chosen.iter().find(|c| matches!(c.line, Line::Worth(_))).or(chosen.first());
    let most_surprising = worth_first.map(|c| summary.experiments[c.experiment].definition.name.clone());
    chosen.sort_by_key(|c| (c.experiment, c.group));
    let (mut worth, mut keep) = (Vec::new(), Vec::new());
    for candidate in chosen {
        match candidate.line {
            Line::Worth(row) => worth.push(row),
            Line::Keep(row) => keep.push(row),
        }
    }
    let largest = worth.iter().map(|w| w.factors.1).fold(1.0, f64::max);
    Look {
        axis: Axis::factors(largest),
        worth,
        keep,
        left_out,
        unanswered,
        missing: missing::missing(summary, labels),
        next: next(summary, most_surprising.as_deref()),
    }
}

/// Why nothing is said of an experiment: what became of most of its cells.
fn why_unanswered(summary: &Summary, experiment: &str) -> Option<String> {
    let cells: Vec<_> = summary.cells.iter().filter(|c| c.experiment == experiment && !c.hidden).collect();
    let count = |wanted: Status| cells.iter().filter(|c| c.status == wanted).count();
    let ranked =
        |c: &&&record::summary::CellSummary| c.status == Status::Ok && c.role == "method" && c.group.is_empty();
    let ways: std::collections::BTreeSet<&str> = cells.iter().filter(ranked).map(|c| c.cell.as_str()).collect();
    let why = match Status::Untrusted {
        _ if cells.is_empty() => return None,
        untrusted if count(untrusted) > 0 => {
            let reasons = cells.iter().filter(|c| c.status == untrusted).map(|c| c.reason.as_str());
            format!("{} of {} cells untrusted{}", count(untrusted), cells.len(), disturbed_by(reasons))
        }
        _ if ways.len() == 1 => "only one way was measured".to_owned(),
        _ if count(Status::Ok) > 0 => "too few launches".to_owned(),
        _ => "nothing was measured".to_owned(),
    };
    Some(format!("{experiment}: {why}"))
}

/// By what most untrusted cells were disturbed, in words that need no glossary; nothing where a law broke, which has its own.
fn disturbed_by<'a>(reasons: impl Iterator<Item = &'a str>) -> &'static str {
    let (mut disk, mut processors, mut others) = (0, 0, 0);
    for reason in reasons {
        match reason {
            r if r.contains("foreign-io") || r.contains("foreign_bytes") => disk += 1,
            r if r.contains("switched out") || r.contains("cpu-taken") => processors += 1,
            _ => others += 1,
        }
    }
    match [disk, processors, others].into_iter().max() {
        Some(most) if most == others => "",
        Some(most) if most == disk => ": others used the disk",
        _ => ": others used the CPUs",
    }
}

/// What a line tells its reader to use.
fn answer(line: &Line) -> (bool, &str) {
    match line {
        Line::Worth(row) => (true, &row.best.name),
        Line::Keep(row) => (false, &row.obvious.name),
    }
}

/// What `advise` answers questions about.
const ADVISED: [&str; 7] = ["read", "fault", "transfer", "copy", "allocate", "share", "message"];

fn next(summary: &Summary, most_surprising: Option<&str>) -> Vec<String> {
    let Some(name) = most_surprising else { return vec!["pagewise doctor".to_owned()] };
    vec![
        format!("pagewise report {} {name}", summary.run),
        format!("pagewise run {name}"),
        "pagewise claims".to_owned(),
        format!("pagewise advise {}", if ADVISED.contains(&name) { name } else { "read --file FILE" }),
    ]
}

fn candidates(summary: &Summary, at: usize, experiment: &ExperimentSummary, labels: &Labels) -> Vec<Candidate> {
    let groups = group::in_order(summary, &experiment.definition.name).into_iter().enumerate();
    let with = |(group, g): (usize, &GroupSummary)| {
        let (line, surprise) = line(summary, experiment, g, labels)?;
        Some(Candidate { line, surprise, experiment: at, group })
    };
    groups.filter_map(with).collect()
}

fn figure(summary: &Summary, experiment: &ExperimentSummary, cell: usize, labels: &Labels) -> Figure {
    let found = &summary.cells[cell];
    let time = found.phases.get(&experiment.headline).filter(|_| found.status == Status::Ok);
    Figure {
        name: labels.cell(&experiment.definition, found),
        time: time.map_or_else(String::new, |phase| format_ns(phase.wall_ns.median)),
    }
}

fn line(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
) -> Option<(Line, f64)> {
    let of = |cell| figure(summary, experiment, cell, labels);
    let setting = labels.setting_briefly(&experiment.definition, group);
    let name = experiment.definition.name.clone();
    match group.recommendation {
        Recommendation::Use { cell, ratio } => {
            let factors = words::faster_by(&ratio);
            let faster = words::factors(factors.0, factors.1);
            let obvious = of(group.baseline?);
            let row = WorthRow { experiment: name, setting, obvious, best: of(cell), factors, faster };
            Some((Line::Worth(row), factors.0.ln()))
        }
        Recommendation::Keep { cell } => {
            let row = KeepRow {
                experiment: name,
                setting,
                obvious: of(cell),
                slower: Vec::new(),
                within: Vec::new(),
                margin: words::percent(summary.settings.margin),
                unsettled: Vec::new(),
            };
            let (row, surprise) = compared(summary, experiment, group, labels, row);
            Some((Line::Keep(row), surprise))
        }
        Recommendation::Nothing => None,
    }
}

/// The other methods of a group whose baseline is kept.
fn compared(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
    mut row: KeepRow,
) -> (KeepRow, f64) {
    let mut surprise = 0.0f64;
    let all = group.by_cell(&experiment.headline);
    for &cell in &group.cells {
        let found = &summary.cells[cell];
        let ranked = found.role == "method" && found.group.is_empty() && found.status == Status::Ok;
        let Some(comparison) = all.get(&cell).filter(|_| ranked) else { continue };
        let name = labels.cell(&experiment.definition, found);
        match (comparison.verdict, comparison.ratio) {
            (Verdict::Slower { .. }, Some(ratio)) if comparison.holds_among_all => {
                surprise = surprise.max(ratio.low.ln());
                row.slower.push((name, words::factors(ratio.low, ratio.high)));
            }
            (Verdict::Within { .. }, Some(_)) if comparison.holds_among_all => row.within.push(name),
            _ => row.unsettled.push(name),
        }
    }
    (row, surprise)
}
