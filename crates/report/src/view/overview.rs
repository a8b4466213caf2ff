//! The answer on one screen: changes that are worth making, usual choices to keep, what is missing.

use record::outcome::{Cause, Status};
use record::sizes::format_ns;
use record::summary::{CellSummary, ExperimentSummary, GroupSummary, Recommendation, Summary, Verdict};

use super::labels::Labels;
use super::{group, missing};
use crate::document::{Block, Body, Cell, Column, Entry, Key, List, Place, Shown, Table, Tone};
use crate::plot::{Axis, Plot};
use crate::wording;

/// Lines of one experiment at most.
const LINES_EACH: usize = 2;
/// Lines of all experiments together at most, so that the screen has 40 lines at most.
const LINES: usize = 18;
/// Methods of one kind that a line names.
const NAMED: usize = 2;
/// Lines of each of the lists at the bottom.
const LIST_LINES: usize = 3;
/// Lines on how sure it is: the A/A check, the limits, untrusted cells, warnings.
const SURE_LINES: usize = 4;

/// The rows of both lists, and the lists below.
pub(super) struct Overview {
    /// Questions for which another method is shown to be faster than the usual choice.
    worth: Vec<Worth>,
    /// Questions for which none is.
    keep: Vec<Keep>,
    /// Questions that found no place.
    left_out: usize,
    /// Experiments without an answer, each with the reason.
    unanswered: Vec<String>,
    sure: Vec<String>,
    /// Cells that could not be measured, with what would help.
    missing: Vec<String>,
    /// Commands that come next.
    next: Vec<String>,
    /// The command that prints everything.
    full: String,
}

/// A question: its experiment, its parameters, and the usual choice with its time.
struct Question {
    experiment: String,
    setting: String,
    obvious: String,
}

/// A question for which a change is shown to help.
struct Worth {
    question: Question,
    best: (String, String),
    /// The factors by which it is faster: at least, and at most.
    factors: (f64, f64),
}

/// A question for which no change is shown to help, with what is known of the other methods.
struct Keep {
    question: Question,
    slower: Vec<String>,
    within: Vec<String>,
    unsettled: Vec<String>,
    margin: f64,
}

impl Worth {
    fn faster(&self) -> String {
        wording::factors(self.factors.0, self.factors.1)
    }
}

impl Keep {
    /// The other methods, the first few of each kind by name.
    fn others(&self) -> String {
        let parts = [
            ("slower".to_owned(), &self.slower),
            (format!("within {}", wording::percent(self.margin)), &self.within),
            ("not settled".to_owned(), &self.unsettled),
        ];
        let few = |names: &[String]| {
            let more = if names.len() > NAMED { format!(" +{}", names.len() - NAMED) } else { String::new() };
            names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ") + &more
        };
        let parts = parts.iter().filter(|(_, names)| !names.is_empty());
        parts.map(|(finding, names)| format!("{finding}: {}", few(names))).collect::<Vec<_>>().join("; ")
    }
}

/// The changes that are worth making, a few words a question: `fault 16 MiB thp 3.0–3.8×`.
pub fn briefly(summary: &Summary) -> Vec<String> {
    let overview = Overview::of(summary, &Labels::new(summary), &summary.run);
    let one =
        |row: &Worth| format!("{} {} {} {}×", row.question.experiment, row.question.setting, row.best.0, row.faster());
    overview.worth.iter().map(|row| one(row).replace("  ", " ")).collect()
}

enum Line {
    Worth(Worth),
    Keep(Keep),
}

/// A line and how much it surprises: how far the surprising ratio is from one, as a logarithm.
struct Candidate {
    line: Line,
    surprise: f64,
    experiment: usize,
    group: usize,
}

impl Overview {
    /// Chooses the rows: for each experiment its most surprising group, and a second one that asks for something else.
    pub(super) fn of(summary: &Summary, labels: &Labels, run: &str) -> Overview {
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
            let answer = answer(&first.line);
            others.extend(mine.find(|c| self::answer(&c.line) != answer).into_iter().take(LINES_EACH - 1));
            chosen.push(first);
        }
        for list in [&mut chosen, &mut others] {
            list.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        }
        let left_out = chosen.len().saturating_sub(LINES);
        chosen.truncate(LINES);
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
        let mut sure = super::sure(summary, labels);
        if super::worth_telling(summary).next().is_some() {
            // Short enough that the command is not cut at 80 columns.
            let count = match super::warned(summary) {
                0 => String::new(),
                cells => format!(" ({cells})"),
            };
            sure.push(format!("warnings{count}: pagewise report {run} --warnings"));
        }
        let full = format!("pagewise report {run} --full");
        let (missing, next) = (missing::missing(summary, labels), next(run, most_surprising.as_deref()));
        Overview { worth, keep, left_out, unanswered, sure, missing, next, full }
    }

    /// The tables and lists; `page` is the path of the run's page.
    pub(super) fn blocks(self, page: Option<&str>) -> Vec<Block> {
        let mut blocks = vec![self.table().map_or_else(
            || Block::Answer("Nothing was measured long enough to say anything.".to_owned()),
            Block::Table,
        )];
        if self.left_out > 0 {
            blocks.push(Block::Text(format!("and {} more questions: {}", self.left_out, self.full)));
        }
        let list = |title: &str, items: &[String], most: usize| {
            let most = Some((most, self.full.clone()));
            (!items.is_empty()).then(|| Block::List(List { title: title.to_owned(), items: items.to_vec(), most }))
        };
        blocks.extend(list("No answer", &self.unanswered, LIST_LINES));
        blocks.extend(list("How sure", &self.sure, SURE_LINES));
        blocks.extend(list("Missing", &self.missing, LIST_LINES));
        let path = page.map(|path| format!("page: {path}"));
        let next: Vec<String> = self.next.iter().cloned().chain(path).collect();
        blocks.extend(Block::part("", Place::Screen, list("Next", &next, LIST_LINES).into_iter().collect()));
        let commands = vec![Block::Heading("Next".to_owned()), Block::Commands(self.next)];
        blocks.extend(Block::part("", Place::Page, commands));
        blocks
    }

    fn table(&self) -> Option<Table> {
        let largest = self.worth.iter().map(|w| w.factors.1).fold(1.0, f64::max);
        let axis = Axis::factors(largest);
        let columns = vec![
            Column::text("experiment"),
            Column::text("at"),
            Column::text("usual choice"),
            Column::text("fastest"),
            Column::text("× faster"),
            Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(0)),
        ];
        let question = |q: &Question| vec![Cell::text(&q.setting), Cell::text(&q.obvious)];
        let worth = self.worth.iter().map(|row| {
            let (best, label) = (&row.best, format!("{} times faster", row.faster()));
            let plot = Plot::Bar { axis: axis.clone(), factors: row.factors, label };
            let mut cells = question(&row.question);
            let best = format!("{} {}", best.0, best.1);
            cells.extend([Cell::text(best.trim_end()), Cell::text(row.faster()), Cell::plot(Some(plot))]);
            Entry { tone: Tone::Faster, ..Entry::new(&row.question.experiment, cells) }
        });
        let keep = self.keep.iter().map(|row| {
            let mut cells = question(&row.question);
            cells.push(Cell::text(row.others()));
            Entry::new(&row.question.experiment, cells)
        });
        let body = |heading: &str, rows: Vec<Entry>| Body { heading: heading.to_owned(), aside: false, rows };
        let mut bodies = vec![
            body("WORTH CHANGING: another method is shown to be faster", worth.collect()),
            body("KEEP, as no other way to do the same is shown to be faster", keep.collect()),
        ];
        bodies.retain(|body| !body.rows.is_empty());
        let legend = [("proven", "proven: at least so much"), ("possible", "possible: within the 95 % interval")];
        let legend = legend.map(|(class, text)| Key { class: class.into(), text: text.into() }).into();
        let caption = "The usual choice of each experiment against the others".to_owned();
        (!bodies.is_empty()).then_some(Table { caption, legend, columns, bodies })
    }
}

/// The reason why an experiment has no answer: the outcome of most of its cells.
fn why_unanswered(summary: &Summary, experiment: &str) -> Option<String> {
    let cells: Vec<_> = summary.cells.iter().filter(|c| c.experiment == experiment && !c.hidden).collect();
    let count = |wanted: Status| cells.iter().filter(|c| c.status == wanted).count();
    let ranked = |c: &&&CellSummary| c.status == Status::Ok && c.is_ranked();
    let methods: std::collections::BTreeSet<&str> = cells.iter().filter(ranked).map(|c| c.cell.as_str()).collect();
    let untrusted = count(Status::Untrusted);
    let why = if cells.is_empty() {
        return None;
    } else if untrusted > 0 {
        let causes = cells.iter().filter(|c| c.status == Status::Untrusted).filter_map(|c| c.cause);
        format!("{untrusted} of {} cells untrusted{}", cells.len(), disturbed_by(causes, untrusted))
    } else if methods.len() == 1 {
        "only one way was measured".to_owned()
    } else if count(Status::Ok) > 0 {
        "too few launches".to_owned()
    } else {
        "nothing was measured".to_owned()
    };
    Some(format!("{experiment}: {why}"))
}

/// The disturbance of most untrusted cells; nothing where a law broke, which has its own words.
fn disturbed_by(causes: impl Iterator<Item = Cause>, untrusted: usize) -> &'static str {
    let (mut disk, mut processors) = (0, 0);
    for cause in causes {
        match cause {
            Cause::OthersOnDisk { .. } => disk += 1,
            Cause::SwitchedOut { .. } => processors += 1,
            _ => {}
        }
    }
    let others = untrusted - disk - processors;
    if others >= disk.max(processors) {
        ""
    } else if disk >= processors {
        ": others used the disk"
    } else {
        ": others used the CPUs"
    }
}

/// The choice that a line asks for.
fn answer(line: &Line) -> (bool, &str) {
    match line {
        Line::Worth(row) => (true, &row.best.0),
        Line::Keep(row) => (false, &row.question.obvious),
    }
}

/// Experiments that `advise` answers questions about.
const ADVISED: [&str; 7] = ["read", "fault", "transfer", "copy", "allocate", "share", "message"];

fn next(run: &str, most_surprising: Option<&str>) -> Vec<String> {
    let Some(name) = most_surprising else { return vec!["pagewise doctor".to_owned()] };
    vec![
        format!("pagewise report {run} {name}"),
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

/// A method with the time of one sample; the time is empty where there is none.
fn figure(summary: &Summary, experiment: &ExperimentSummary, cell: usize, labels: &Labels) -> (String, String) {
    let found = &summary.cells[cell];
    let time = found.phases.get(&experiment.headline).filter(|_| found.status == Status::Ok);
    let name = labels.cell(&experiment.definition, found);
    (name, time.map_or_else(String::new, |phase| format_ns(phase.wall_ns.median)))
}

fn line(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
) -> Option<(Line, f64)> {
    let question = |obvious: usize| {
        let (name, time) = figure(summary, experiment, obvious, labels);
        Question {
            experiment: experiment.definition.name.clone(),
            setting: labels.setting_briefly(&experiment.definition, group),
            obvious: format!("{name} {time}").trim_end().to_owned(),
        }
    };
    match group.recommendation {
        Recommendation::Use { cell, ratio } => {
            let factors = wording::faster_by(&ratio);
            let best = figure(summary, experiment, cell, labels);
            Some((Line::Worth(Worth { question: question(group.baseline?), best, factors }), factors.0.ln()))
        }
        Recommendation::Depends { .. } => None,
        Recommendation::Keep { cell } | Recommendation::Inconclusive { cell } => {
            let (row, surprise) = keep(summary, experiment, group, labels, question(cell));
            Some((Line::Keep(row), surprise))
        }
        Recommendation::Nothing => None,
    }
}

/// A group whose baseline is kept, with how far the slowest lies off, as a logarithm.
fn keep(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
    question: Question,
) -> (Keep, f64) {
    let margin = summary.settings.margin;
    let mut row = Keep { question, slower: Vec::new(), within: Vec::new(), unsettled: Vec::new(), margin };
    let mut surprise = 0.0f64;
    let compared = group.by_cell(&experiment.headline);
    for &cell in &group.cells {
        let found = &summary.cells[cell];
        let ranked = found.is_ranked() && found.status == Status::Ok;
        let Some(comparison) = compared.get(&cell).filter(|_| ranked) else { continue };
        let name = labels.cell(&experiment.definition, found);
        match (comparison.verdict, comparison.ratio) {
            (Verdict::Slower { .. }, Some(ratio)) if comparison.holds_among_all => {
                surprise = surprise.max(ratio.low.ln());
                row.slower.push(format!("{name} {}×", wording::factors(ratio.low, ratio.high)));
            }
            (Verdict::Within { .. }, Some(_)) if comparison.holds_among_all => row.within.push(name),
            _ => row.unsettled.push(name),
        }
    }
    (row, surprise)
}
