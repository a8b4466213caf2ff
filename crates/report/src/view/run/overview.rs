//! The answer on one screen: faster methods, answers that depend on a condition, usual choices to keep, gaps.

use crate::render::document::{
    Block, Body, Column, Entry, Key, List, Place, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::{answer, numbers::Work, wording};
use crate::sentences::{labels::Labels, missing};
use crate::tables::group;
use record::outcome::{Cause, Status};
use record::summary::{
    CellSummary, Comparison, ExperimentSummary, GroupSummary, Recommendation, Summary, Verdict,
};

/// Rows of all experiments together at most; an answer that depends has a row before another that does not.
const LINES: usize = 20;
const LIST_LINES: usize = 3;
/// Lines on how sure it is: the A/A check, the limits, untrusted cells, warnings.
const SURE_LINES: usize = 4;

/// The rows, and the lists below.
pub(super) struct Overview {
    rows: Vec<AnswerRow>,
    /// Questions that found no place.
    left_out: usize,
    /// Experiments without an answer, each with the reason.
    unanswered: Vec<String>,
    sure: Vec<String>,
    /// Cells that could not be measured, with what would help.
    missing: Vec<String>,
    next: Vec<String>,
    /// The command that prints everything.
    full: String,
}

/// The kinds of answers, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AnswerKind {
    Faster,
    Several,
    Depends,
    Keep,
    Inconclusive,
}

impl AnswerKind {
    fn heading(self) -> &'static str {
        match self {
            AnswerKind::Faster => "FASTER: another method is shown to be faster",
            AnswerKind::Several => {
                "ANY IS FASTER: each is shown to be faster, not which of them is the fastest"
            }
            AnswerKind::Depends => "DEPENDS: the answer flips with the condition of the program",
            AnswerKind::Keep => "KEEP: no other method is faster than the usual choice",
            AnswerKind::Inconclusive => "INCONCLUSIVE: another method may be faster",
        }
    }
}

/// The answer to one question: an experiment at some parameters.
struct AnswerRow {
    kind: AnswerKind,
    /// Position of the experiment and of the group within it.
    place: (usize, usize),
    experiment: String,
    /// The experiment at its parameters: `fault 16 MiB`.
    question: String,
    usual: String,
    method: String,
    /// That method with its figure, or the findings that decide.
    finding: String,
    /// The factors by which it is faster, at least and at most, where it is.
    factors: Option<(f64, f64)>,
    /// Distance of the surprising ratio from one, as a logarithm.
    surprise: f64,
}

impl AnswerRow {
    fn faster(&self) -> String {
        self.factors
            .map_or_else(String::new, |(least, most)| wording::factors(least, most))
    }

    fn entry(&self, axis: &Axis) -> Entry {
        let link = Some(format!("experiment-{}", self.experiment));
        let cells = vec![TableCell::text(&self.usual), TableCell::text(&self.finding)];
        let mut entry = Entry {
            link,
            ..Entry::new(&self.question, cells)
        };
        if let Some(factors) = self.factors {
            let label = format!("{} times faster", self.faster());
            let plot = Plot::Bar {
                axis: axis.clone(),
                factors,
                label,
            };
            entry
                .cells
                .extend([TableCell::text(self.faster()), TableCell::plot(Some(plot))]);
            entry.tone = Tone::Faster;
        }
        entry
    }
}

/// The changes that are worth making, a few words a question: `fault 16 MiB thp 3.0–3.8×`.
pub fn briefly(summary: &Summary) -> Vec<String> {
    let overview = Overview::new(summary, &Labels::new(summary), &summary.run);
    let brief = |row: &AnswerRow| format!("{} {} {}×", row.question, row.method, row.faster());
    overview
        .rows
        .iter()
        .filter(|row| row.kind == AnswerKind::Faster)
        .map(brief)
        .collect()
}

impl Overview {
    /// Chooses the rows: for each experiment its most surprising question, and a second one with another answer.
    pub(super) fn new(summary: &Summary, labels: &Labels, run: &str) -> Overview {
        let mut chosen: Vec<AnswerRow> = Vec::new();
        let mut others: Vec<AnswerRow> = Vec::new();
        let mut unanswered = Vec::new();
        for (at, experiment) in summary.experiments.iter().enumerate() {
            let mut mine = rows(summary, at, experiment, labels);
            mine.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
            stand_for_others(&mut mine);
            let mut mine = mine.into_iter();
            let Some(first) = mine.next() else {
                unanswered.extend(why_unanswered(summary, &experiment.definition.name));
                continue;
            };
            let (depend, settled): (Vec<_>, Vec<_>) = mine
                .filter(|row| (row.kind, &row.method) != (first.kind, &first.method))
                .partition(|row| row.kind == AnswerKind::Depends);
            others.extend(depend.into_iter().chain(settled).next());
            chosen.push(first);
        }
        chosen.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
        let depends = |row: &AnswerRow| row.kind == AnswerKind::Depends;
        others.sort_by(|a, b| {
            depends(b)
                .cmp(&depends(a))
                .then(b.surprise.total_cmp(&a.surprise))
        });
        let left_out = chosen.len().saturating_sub(LINES);
        chosen.truncate(LINES);
        let room = LINES - chosen.len();
        chosen.extend(others.into_iter().take(room));
        let most_surprising = chosen
            .iter()
            .find(|row| row.kind == AnswerKind::Faster)
            .or(chosen.first());
        let most_surprising = most_surprising.map(|row| row.experiment.clone());
        chosen.sort_by_key(|row| (row.kind, row.place));
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
        let (missing, next) = (
            missing::missing(summary, labels),
            next(run, most_surprising.as_deref()),
        );
        Overview {
            rows: chosen,
            left_out,
            unanswered,
            sure,
            missing,
            next,
            full,
        }
    }

    /// The tables and lists; `page` is the path of the run's page.
    pub(super) fn blocks(self, page: Option<&str>) -> Vec<Block> {
        let nothing =
            || Block::Answer("Nothing was measured long enough to say anything.".to_owned());
        let mut blocks = vec![self.table().map_or_else(nothing, Block::Table)];
        if self.left_out > 0 {
            blocks.push(Block::Text(format!(
                "and {} more questions: {}",
                self.left_out, self.full
            )));
        }
        let list = |title: &str, items: &[String], most: usize| {
            let most = Some((most, self.full.clone()));
            (!items.is_empty()).then(|| {
                Block::List(List {
                    title: title.to_owned(),
                    items: items.to_vec(),
                    most,
                })
            })
        };
        blocks.extend(list("No answer", &self.unanswered, LIST_LINES));
        blocks.extend(list("How sure", &self.sure, SURE_LINES));
        blocks.extend(list("Missing", &self.missing, LIST_LINES));
        let path = page.map(|path| format!("page: {path}"));
        let next: Vec<String> = self.next.iter().cloned().chain(path).collect();
        blocks.extend(Block::part(
            "",
            Place::Screen,
            list("Next", &next, LIST_LINES).into_iter().collect(),
        ));
        let commands = vec![
            Block::Heading("Next".to_owned()),
            Block::Commands(self.next),
        ];
        blocks.extend(Block::part("", Place::Page, commands));
        blocks
    }

    fn table(&self) -> Option<Table> {
        let largest = self
            .rows
            .iter()
            .filter_map(|row| Some(row.factors?.1))
            .fold(1.0, f64::max);
        let axis = Axis::factors(largest);
        let mut columns = vec![
            Column::text("experiment"),
            Column::sentences("usual choice"),
            Column::sentences("other methods"),
            Column::text("× faster"),
            Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(0)),
        ];
        let mut legend = vec![
            ("proven", "proven: at least so much"),
            ("possible", "possible: within the 95 % interval"),
        ];
        if self.rows.iter().all(|row| row.factors.is_none()) {
            columns.truncate(3);
            legend.clear();
        }
        // The rows are in the order of their kinds.
        let body = |rows: &[AnswerRow]| Body {
            heading: rows[0].kind.heading().to_owned(),
            aside: false,
            rows: rows.iter().map(|row| row.entry(&axis)).collect(),
        };
        let bodies: Vec<Body> = self
            .rows
            .chunk_by(|a, b| a.kind == b.kind)
            .map(body)
            .collect();
        let legend = legend
            .into_iter()
            .map(|(class, text)| Key {
                class: class.into(),
                text: text.into(),
            })
            .collect();
        let caption = "The usual choice of each experiment against the others".to_owned();
        (!bodies.is_empty()).then_some(Table {
            caption,
            legend,
            columns,
            bodies,
            apart: true,
        })
    }
}

/// Adds to the first row of a method how many questions of its experiment the method answers, and the range of its factors.
fn stand_for_others(rows: &mut [AnswerRow]) {
    for at in 0..rows.len() {
        let alike = |row: &&AnswerRow| (row.kind, &row.method) == (rows[at].kind, &rows[at].method);
        let is_first = !rows[..at].iter().any(|row| alike(&row));
        let factors: Vec<(f64, f64)> = rows
            .iter()
            .filter(alike)
            .filter_map(|row| row.factors)
            .collect();
        if is_first && factors.len() > 1 {
            let least = factors.iter().map(|f| f.0).fold(f64::INFINITY, f64::min);
            let most = factors.iter().map(|f| f.1).fold(0.0, f64::max);
            let range = wording::factors(least, most);
            rows[at].finding += &format!("; 1 of {}, range {range}×", factors.len());
        }
    }
}

/// The reason why an experiment has no answer: the outcome of most of its cells.
fn why_unanswered(summary: &Summary, experiment: &str) -> Option<String> {
    let cells: Vec<_> = summary
        .cells
        .iter()
        .filter(|c| c.experiment == experiment && !c.hidden)
        .collect();
    let count = |wanted: Status| cells.iter().filter(|c| c.outcome.status == wanted).count();
    let ranked = |c: &&&CellSummary| c.outcome.status == Status::Ok && c.is_ranked();
    let methods: std::collections::BTreeSet<&str> = cells
        .iter()
        .filter(ranked)
        .map(|c| c.cell.as_str())
        .collect();
    let untrusted = count(Status::Untrusted);
    let why = if cells.is_empty() {
        return None;
    } else if untrusted > 0 {
        let causes = cells
            .iter()
            .filter(|c| c.outcome.status == Status::Untrusted)
            .filter_map(|c| c.outcome.cause.as_ref());
        format!(
            "{untrusted} of {} cells untrusted{}",
            cells.len(),
            disturbed_by(causes, untrusted)
        )
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
fn disturbed_by<'a>(causes: impl Iterator<Item = &'a Cause>, untrusted: usize) -> &'static str {
    let (mut disk, mut processors) = (0, 0);
    for cause in causes {
        disk += usize::from(matches!(cause, Cause::OthersOnDisk { .. }));
        processors += usize::from(matches!(cause, Cause::SwitchedOut { .. }));
    }
    match untrusted - disk - processors {
        others if others >= disk.max(processors) => "",
        _ if disk >= processors => ": others used the disk",
        _ => ": others used the CPUs",
    }
}

/// Experiments that `advise` answers questions about.
pub const ADVISED: [&str; 11] = [
    "allocate", "copy", "fault", "load", "message", "output", "read", "reset", "restore", "share",
    "transfer",
];

fn next(run: &str, most_surprising: Option<&str>) -> Vec<String> {
    let Some(name) = most_surprising else {
        return vec!["pagewise doctor".to_owned()];
    };
    vec![
        format!("pagewise report {run} {name}"),
        format!("pagewise run {name}"),
        "pagewise claims".to_owned(),
        format!(
            "pagewise advise {}",
            if ADVISED.contains(&name) {
                name
            } else {
                "read --file FILE"
            }
        ),
    ]
}

/// The questions of an experiment. Its neighboring conditions are part of the answer under the usual one.
fn rows(
    summary: &Summary,
    at: usize,
    experiment: &ExperimentSummary,
    labels: &Labels,
) -> Vec<AnswerRow> {
    let definition = &experiment.definition;
    let is_answered = |group: &GroupSummary| group.recommendation != Recommendation::Nothing;
    let groups = group::in_order(summary, &definition.name);
    let is_usual = |group: &GroupSummary| definition.unusual(&group.parameters).next().is_none();
    let usual: Vec<_> = groups
        .iter()
        .filter(|g| is_usual(g) && is_answered(g))
        .map(|g| definition.question(&g.parameters))
        .collect();
    let shown = groups
        .iter()
        .enumerate()
        .filter(|(_, g)| is_usual(g) || !usual.contains(&definition.question(&g.parameters)));
    shown
        .filter_map(|(place, group)| row(summary, experiment, group, labels, (at, place)))
        .collect()
}

fn row(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
    place: (usize, usize),
) -> Option<AnswerRow> {
    let definition = &experiment.definition;
    let name = |cell: usize| labels.cell(definition, &summary.cells[cell]);
    let work = Work::new(definition);
    let figure = |cell: usize, per: &str| {
        let phase = summary.cells[cell]
            .phases
            .get(&experiment.headline)
            .filter(|_| summary.cells[cell].outcome.status == Status::Ok);
        phase.map_or_else(
            || name(cell),
            |phase| {
                format!(
                    "{} {}{per}",
                    name(cell),
                    work.figure(phase.per_unit_ns.median)
                )
            },
        )
    };
    let clauses = || answer::clauses(summary, definition, group, name);
    let usual = group.baseline?;
    let several = answer::several(summary, definition, group);
    let (kind, method, finding, factors, surprise) = match group.recommendation {
        Recommendation::Use { cell, ratio } => {
            let factors = wording::faster_by(&ratio);
            (
                AnswerKind::Faster,
                name(cell),
                figure(cell, ""),
                Some(factors),
                factors.0.ln(),
            )
        }
        Recommendation::Inconclusive { .. } if !several.is_empty() => {
            let all: Vec<(f64, f64)> = several
                .iter()
                .map(|(_, ratio)| wording::faster_by(ratio))
                .collect();
            let factors = (
                all.iter().map(|f| f.0).fold(f64::INFINITY, f64::min),
                all.iter().map(|f| f.1).fold(0.0, f64::max),
            );
            let names: Vec<String> = several.iter().map(|(cell, _)| name(*cell)).collect();
            let figures: Vec<String> = several.iter().map(|(cell, _)| figure(*cell, "")).collect();
            let finding = wording::either(&figures)
                + &not_settled(summary, group, &experiment.headline, name);
            (
                AnswerKind::Several,
                wording::either(&names),
                finding,
                Some(factors),
                factors.0.ln(),
            )
        }
        Recommendation::Depends { cell, .. } => {
            let ratios = group
                .conditions
                .iter()
                .filter_map(|c| c.ratio)
                .chain(group.comparison(cell, &experiment.headline)?.ratio);
            let surprise = ratios
                .map(|ratio| ratio.ratio.ln().abs())
                .fold(0.0f64, f64::max);
            let (method, clauses) = clauses()?;
            let finding = format!("{method} {}", clauses.join("; "));
            (AnswerKind::Depends, method, finding, None, surprise)
        }
        Recommendation::Keep { cell } | Recommendation::Inconclusive { cell } => {
            let is_keep = matches!(group.recommendation, Recommendation::Keep { .. });
            let kind = if is_keep {
                AnswerKind::Keep
            } else {
                AnswerKind::Inconclusive
            };
            let (mut finding, surprise) = others(summary, experiment, group, labels, kind);
            // Conditions under which the method is faster come first, and decide.
            let faster = group
                .conditions
                .iter()
                .filter(|c| matches!(c.verdict, Verdict::Faster { .. }))
                .count();
            let (method, clauses) = clauses().unwrap_or_default();
            finding.extend(
                clauses[..faster]
                    .iter()
                    .map(|clause| format!("; {method} {clause}")),
            );
            (kind, name(cell), finding, None, surprise)
        }
        Recommendation::Nothing => return None,
    };
    let experiment = definition.name.clone();
    let question = format!("{experiment} {}", labels.setting_briefly(definition, group))
        .trim_end()
        .to_owned();
    // A cost that no other is compared with has no place on a line.
    let usual = if kind == AnswerKind::Inconclusive {
        name(usual)
    } else {
        figure(usual, &work.per())
    };
    Some(AnswerRow {
        kind,
        place,
        experiment,
        question,
        usual,
        method,
        finding,
        factors,
        surprise,
    })
}

/// Names of the ranked methods of which nothing is settled, as a clause.
fn not_settled(
    summary: &Summary,
    group: &GroupSummary,
    headline: &str,
    name: impl Fn(usize) -> String,
) -> String {
    let is_open = |c: &&Comparison| {
        c.phase == headline
            && c.overall() == Verdict::NotSettled
            && summary.cells[c.cell].is_ranked()
    };
    let names: Vec<String> = group
        .comparisons
        .iter()
        .filter(is_open)
        .map(|c| name(c.cell))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("; not settled: {}", names.join(", "))
    }
}

/// The finding on the other methods of a group whose baseline is kept, and how far the slowest lies off, as a logarithm. Where
/// others may be faster, each is named, the first with its figure; elsewhere the first of all.
fn others(
    summary: &Summary,
    experiment: &ExperimentSummary,
    group: &GroupSummary,
    labels: &Labels,
    kind: AnswerKind,
) -> (String, f64) {
    let [mut settled, mut open, mut names, mut untrusted] = [const { Vec::new() }; 4];
    let mut surprise = 0.0f64;
    let compared = group.by_cell(&experiment.headline);
    for &cell in group
        .cells
        .iter()
        .filter(|&&cell| Some(cell) != group.baseline && summary.cells[cell].is_ranked())
    {
        let name = labels.cell(&experiment.definition, &summary.cells[cell]);
        let comparison = compared.get(&cell);
        let verdict = comparison.map_or(Verdict::NotSettled, |c| c.overall());
        match (
            summary.cells[cell].outcome.status,
            verdict,
            comparison.and_then(|c| c.ratio),
        ) {
            (Status::Ok, Verdict::Slower { .. }, Some(ratio)) => {
                surprise = surprise.max(ratio.low.ln());
                settled.push(format!(
                    "{name} {}× slower",
                    wording::factors(ratio.low, ratio.high)
                ));
            }
            (Status::Ok, Verdict::Within { margin }, _) => {
                settled.push(format!("{name} within {}", wording::percent(margin)))
            }
            (Status::Ok, _, ratio) => {
                open.push(match (comparison.and_then(|c| c.doubt), ratio) {
                    (Some(doubt), _) => format!("{name} ({})", wording::doubt(&doubt)),
                    // A wider interval says no more than the name does.
                    (None, Some(ratio)) if ratio.half_width() < 1.0 => {
                        format!("{name} ({})", wording::between_briefly(&ratio))
                    }
                    (None, _) => name.clone(),
                });
                names.push(name);
            }
            (Status::Untrusted, ..) => untrusted.push(format!("{name} untrusted")),
            _ => {}
        }
    }
    if kind == AnswerKind::Inconclusive {
        let all: Vec<String> = open
            .into_iter()
            .take(1)
            .chain(names.into_iter().skip(1))
            .chain(untrusted)
            .collect();
        return (all.join(", "), surprise);
    }
    let all = [settled, open, untrusted].concat();
    let more = if all.len() > 1 {
        format!(" +{}", all.len() - 1)
    } else {
        String::new()
    };
    (
        all.first()
            .map_or_else(String::new, |first| first.clone() + &more),
        surprise,
    )
}
