//! The answer on one screen: faster methods, answers that depend on a condition, usual choices to keep, gaps.

use crate::render::document::{
    Block, Body, Column, Entry, Key, List, Place, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::labels::LabelledRun;
use crate::sentences::overview::{AnswerKind, AnswerRow, answers, second_answer, why_unanswered};
use crate::sentences::{missing, outlook, sure, wording};
use crate::tables::columns::Columns;
use record::summary::Summary;
use std::collections::BTreeSet;

/// Further verbs, in a line of a screen.
const ALSO: &str = "also pagewise list, check METHOD, share RUN, report RUN --html FILE";
/// Rows of all experiments together at most; an answer that depends has a row before another that does not.
const LINES: usize = 20;
const LIST_LINES: usize = 3;
/// Lines of these rows at most: a screen of 80 columns has 80, of which some 35 are headings and what stands below.
const ROW_LINES: usize = 45;
/// Meaning of the ranges of factors.
const RANGES: &str = "Ranges: 95 % CI; over several conditions, lowest to highest bound of theirs.";
/// Lines on how sure it is.
const SURE_LINES: usize = 7;
/// Lines of commands.
const NEXT_LINES: usize = 5;

/// The rows, and the lists below.
pub(super) struct Overview {
    rows: Vec<AnswerRow>,
    /// The time that is expected to settle the open rows.
    settling: Option<String>,
    /// A line on methods that a row counts and does not name.
    more: Option<String>,
    /// A line on what was measured of all that could be, and on the experiments that an overview leaves out.
    measured: Option<String>,
    /// Questions that found no place: `read 32 MiB`.
    further: Vec<String>,
    /// Experiments without an answer, each with the reason.
    unanswered: Vec<String>,
    sure: Vec<String>,
    /// Cells that could not be measured, with what would help.
    missing: Vec<String>,
    next: Vec<String>,
    /// The command that prints everything.
    full: String,
    /// The smallest difference that matters.
    margin: f64,
}

/// The changes that are worth making, a few words a question: `fault 16 MiB thp 3.0–3.8×`.
pub fn briefly(summary: &Summary) -> Vec<String> {
    let overview = Overview::new(&LabelledRun::new(summary), &summary.run);
    overview
        .rows
        .iter()
        .filter(|row| row.kind == AnswerKind::Change)
        .map(AnswerRow::briefly)
        .collect()
}

/// The answers of a run that shows each question of these experiments by itself.
pub(super) fn questions(run: &LabelledRun, is_wanted: impl Fn(&str) -> bool) -> Vec<AnswerRow> {
    run.experiments()
        .enumerate()
        .filter(|(_, experiment)| is_wanted(experiment.name()))
        .flat_map(|(position, experiment)| answers(experiment, position))
        .collect()
}

/// The answers that are counted of a run, the same on each of its screens: those of its overview, or each question by itself.
pub(super) fn rows(run: &LabelledRun) -> Vec<AnswerRow> {
    if run.summary.settings.is_overview {
        let answered = AnsweredQuestions::new(run);
        answered.rows.into_iter().chain(answered.left_out).collect()
    } else {
        questions(run, |_| true)
    }
}

/// The rows of an overview.
struct AnsweredQuestions {
    rows: Vec<AnswerRow>,
    /// Those that found no place.
    left_out: Vec<AnswerRow>,
    /// Experiments without an answer, each with the reason.
    unanswered: Vec<String>,
}

impl AnsweredQuestions {
    /// Chooses the rows: for each experiment its most surprising question, and a second one with another answer.
    fn new(run: &LabelledRun) -> AnsweredQuestions {
        let mut rows: Vec<AnswerRow> = Vec::new();
        let mut second: Vec<AnswerRow> = Vec::new();
        let mut unanswered = Vec::new();
        for (position, experiment) in run.experiments().enumerate() {
            let mut answers = answers(experiment, position);
            if answers.is_empty() {
                unanswered.extend(why_unanswered(experiment));
                continue;
            }
            let further = answers.split_off(1);
            second.extend(second_answer(&answers[0], further));
            rows.append(&mut answers);
        }
        let all = questions(run, |_| true);
        let is_reversed = |row: &AnswerRow| {
            all.iter()
                .any(|other| other.place != row.place && other.reverses(row))
        };
        let lines = |row: &AnswerRow| row.lines() + usize::from(is_reversed(row));
        let (mut rows, left_out) = chosen(rows, second, lines);
        add_reversals(&all, &mut rows);
        AnsweredQuestions {
            rows,
            left_out,
            unanswered,
        }
    }
}

impl Overview {
    /// The answers of a run; `name` is that of the run on the command line.
    pub(super) fn new(run: &LabelledRun, name: &str) -> Overview {
        let AnsweredQuestions {
            rows,
            left_out,
            unanswered,
        } = AnsweredQuestions::new(run);
        let more = rows.iter().find(|row| row.further > 0).map(|row| {
            let experiment = &row.experiment;
            format!("All methods of a row: pagewise report {name} {experiment}")
        });
        let next = next(name, most_surprising(&rows), more.is_none());
        let shown = rows.len();
        let further = left_out.iter().map(|row| row.question.clone()).collect();
        let all: Vec<AnswerRow> = rows.into_iter().chain(left_out).collect();
        let mut sure = sure::lines(run, &all);
        let rows: Vec<AnswerRow> = all.into_iter().take(shown).collect();
        sure.push(format!("why: pagewise report {name} --doubt"));
        let rows = in_order_of_kinds(rows);
        Overview {
            settling: outlook::settling(run, &rows),
            more,
            measured: measured(run),
            rows,
            further,
            unanswered,
            sure,
            missing: missing::missing(run),
            next,
            full: format!("pagewise report {name} --full"),
            margin: run.summary.settings.margin,
        }
    }

    /// The tables and lists; `page` is the path of the run's page.
    pub(super) fn blocks(self, page: Option<&str>) -> Vec<Block> {
        let mut blocks = vec![self.table().map_or_else(
            || Block::Answer("Nothing was measured long enough to say anything.".to_owned()),
            Block::Table,
        )];
        let has_ranges = |row: &AnswerRow| row.factors.is_some() || row.kind == AnswerKind::Depends;
        let ranges = self.rows.iter().any(has_ranges).then(|| RANGES.to_owned());
        let lines = [ranges, self.measured.clone(), self.more.clone()];
        blocks.extend(lines.into_iter().flatten().map(Block::Text));
        if !self.further.is_empty() {
            let names = self.further.join("; ");
            blocks.push(Block::Text(format!(
                "Also measured ({names}): {}",
                self.full
            )));
        }
        blocks.extend(self.list("No answer", &self.unanswered, LIST_LINES));
        blocks.extend(self.list("How sure", &self.sure, SURE_LINES));
        blocks.extend(self.list("Missing", &self.missing, LIST_LINES));
        let path = page.map(|path| format!("page: {path}"));
        let next = self.next.iter().cloned().chain([ALSO.to_owned()]);
        let next: Vec<String> = next.chain(path).collect();
        blocks.extend(Block::part(
            "",
            Place::Screen,
            Vec::from_iter(self.list("Next", &next, NEXT_LINES)),
        ));
        let commands = vec![
            Block::Heading("Next".to_owned()),
            Block::Commands(self.next),
        ];
        blocks.extend(Block::part("", Place::Page, commands));
        blocks
    }

    /// The rows alone, as long as more is measured.
    pub(super) fn answers(mut self) -> Vec<Block> {
        self.settling = None;
        self.table().map(Block::Table).into_iter().collect()
    }

    /// A list of so many lines at most; nothing where it has no items.
    fn list(&self, title: &str, items: &[String], most: usize) -> Option<Block> {
        (!items.is_empty()).then(|| {
            Block::List(List {
                title: title.to_owned(),
                items: items.to_vec(),
                most: Some((most, self.full.clone())),
            })
        })
    }

    fn table(&self) -> Option<Table> {
        let factors = self.rows.iter().filter_map(|row| Some(row.factors?.1));
        let axis = Axis::factors(factors.fold(1.0, f64::max));
        let mut columns = Columns::new("experiment", OverviewLine::name)
            .column(Column::sentences("usual choice"), |line| {
                Some(TableCell::text(match line {
                    OverviewLine::Answer(row) => row.usual.as_str(),
                    OverviewLine::Condition(clause) => clause,
                }))
            })
            .column(Column::sentences("other methods"), |line| {
                let row = line.row()?;
                Some(TableCell::counted(&row.finding, row.further))
            })
            .column(Column::sentences("sure"), |line| {
                Some(TableCell::text(wording::sureness(line.row()?.sureness)))
            })
            .marked(marked);
        let mut legend = Vec::new();
        if self.rows.iter().any(|row| row.factors.is_some()) {
            let head = Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(0));
            columns = columns
                .column(Column::text("× faster"), |line| {
                    let row = line.row()?;
                    row.factors.map(|_| TableCell::text(row.faster()))
                })
                .column(head, |line| bar(line.row()?, &axis));
            legend = vec![
                Key::new("proven", "proven: at least so much"),
                Key::new("possible", "possible: within the 95 % interval"),
            ];
        }
        // The rows are in the order of their kinds.
        let bodies: Vec<Body> = self
            .rows
            .chunk_by(|a, b| a.kind == b.kind)
            .map(|rows| {
                let kind = rows[0].kind;
                let below = self.settling.iter().filter(|_| kind == AnswerKind::Open);
                let below = below.map(|line| OverviewLine::Condition(line));
                let heading = kind.heading(self.margin);
                columns.body(heading, rows.iter().flat_map(lines).chain(below))
            })
            .collect();
        let caption = "The usual choice of each experiment against the others";
        (!bodies.is_empty()).then(|| Table {
            legend,
            apart: true,
            ..columns.table_of(caption, bodies)
        })
    }
}

/// A line of the table.
enum OverviewLine<'a> {
    Answer(&'a AnswerRow),
    /// A condition that the answer above depends on, or a line on all answers above.
    Condition(&'a str),
}

impl<'a> OverviewLine<'a> {
    fn row(&self) -> Option<&'a AnswerRow> {
        match self {
            OverviewLine::Answer(row) => Some(row),
            OverviewLine::Condition(_) => None,
        }
    }

    fn name(&self) -> String {
        self.row()
            .map_or_else(String::new, |row| row.question.clone())
    }
}

/// The lines of an answer.
fn lines(row: &AnswerRow) -> impl Iterator<Item = OverviewLine<'_>> {
    let conditions = row.conditions.iter();
    std::iter::once(OverviewLine::Answer(row))
        .chain(conditions.map(|clause| OverviewLine::Condition(clause)))
}

fn marked(line: &OverviewLine, entry: Entry) -> Entry {
    let Some(row) = line.row() else {
        return entry;
    };
    Entry {
        link: Some(format!("experiment-{}", row.experiment)),
        tone: if row.factors.is_some() {
            Tone::Faster
        } else {
            Tone::Plain
        },
        ..entry
    }
}

fn bar(row: &AnswerRow, axis: &Axis) -> Option<TableCell> {
    let plot = Plot::Bar {
        axis: axis.clone(),
        factors: row.factors?,
        label: format!("{} times faster", row.faster()),
    };
    Some(TableCell::plot(Some(plot)))
}

/// The methods and experiments of an overview among all that could be measured; none where their number is not known.
fn measured(run: &LabelledRun) -> Option<String> {
    let offered = &run.summary.offered;
    if !run.summary.settings.is_overview || offered.is_empty() {
        return None;
    }
    let methods: BTreeSet<(&str, &str)> = run
        .experiments()
        .flat_map(|experiment| experiment.cells())
        .filter(|(_, cell)| cell.is_ranked() && cell.launches > 0)
        .map(|(_, cell)| (cell.experiment.as_str(), cell.method.as_str()))
        .collect();
    let experiments: BTreeSet<&str> = methods.iter().map(|(experiment, _)| *experiment).collect();
    let left_out: Vec<&str> = offered
        .keys()
        .map(String::as_str)
        .filter(|name| !experiments.contains(name))
        .collect();
    let counts = format!(
        "Measured: {} of {} methods, {} of {} experiments",
        methods.len(),
        offered.values().sum::<usize>(),
        experiments.len(),
        offered.len()
    );
    Some(match left_out.as_slice() {
        [] => counts,
        names => format!("{counts}; not {}: pagewise run NAME", names.join(", ")),
    })
}

/// The first answers of the experiments as far as there is room, then second ones, conditional answers before others; and
/// those that found no place. `lines` are those of a row on a screen.
fn chosen(
    mut first: Vec<AnswerRow>,
    mut second: Vec<AnswerRow>,
    lines: impl Fn(&AnswerRow) -> usize,
) -> (Vec<AnswerRow>, Vec<AnswerRow>) {
    first.sort_by(|a, b| b.surprise.total_cmp(&a.surprise));
    second.sort_by(|a, b| {
        let depends = [a, b].map(|row| row.kind == AnswerKind::Depends);
        depends[1]
            .cmp(&depends[0])
            .then(b.surprise.total_cmp(&a.surprise))
    });
    let (mut rows, mut room, mut left_out) = (Vec::new(), ROW_LINES, Vec::new());
    for row in first.into_iter().chain(second) {
        // A screen has one answer, however long it is.
        let needed = lines(&row);
        if rows.is_empty() || rows.len() < LINES && needed <= room {
            room = room.saturating_sub(needed);
            rows.push(row);
        } else {
            left_out.push(row);
        }
    }
    (rows, left_out)
}

/// Questions of a line on answers that reverse a row.
const MOST_REVERSALS: usize = 2;

/// Adds to each row the answers of its experiment that say the opposite at other parameters and have no row.
fn add_reversals(all: &[AnswerRow], rows: &mut [AnswerRow]) {
    let shown: Vec<(usize, usize)> = rows.iter().map(|row| row.place).collect();
    for row in rows {
        let hidden = all.iter().filter(|other| !shown.contains(&other.place));
        let reversals: Vec<String> = hidden
            .filter(|other| other.reverses(row))
            .map(AnswerRow::in_words)
            .collect();
        row.conditions.extend(reversed(&reversals));
    }
}

/// A line on the answers that say the opposite of a row; none where there are none.
fn reversed(reversals: &[String]) -> Option<String> {
    let named = &reversals[..reversals.len().min(MOST_REVERSALS)];
    let more = match reversals.len() - named.len() {
        0 => String::new(),
        further => format!("; {further} more"),
    };
    (!named.is_empty()).then(|| format!("reversed: {}{more}", named.join("; ")))
}

fn in_order_of_kinds(mut rows: Vec<AnswerRow>) -> Vec<AnswerRow> {
    rows.sort_by_key(|row| (row.kind, row.place));
    rows
}

/// The first row that recommends a change, otherwise the first row.
fn most_surprising(rows: &[AnswerRow]) -> Option<&AnswerRow> {
    let mut changes = rows.iter().filter(|row| row.kind == AnswerKind::Change);
    changes.next().or(rows.first())
}

/// Experiments that `advise` answers questions about.
pub const ADVISED: [&str; 18] = [
    "allocate",
    "copy",
    "fault",
    "files",
    "fork",
    "interference",
    "load",
    "message",
    "output",
    "prefault",
    "read",
    "relay",
    "reset",
    "restore",
    "share",
    "transfer",
    "unmap",
    "write",
];

/// Commands that go on from here; the report of an experiment only where no line above has it.
fn next(run: &str, most_surprising: Option<&AnswerRow>, with_report: bool) -> Vec<String> {
    let Some(row) = most_surprising else {
        return vec!["pagewise doctor".to_owned()];
    };
    let name = row.experiment.as_str();
    let advised = if ADVISED.contains(&name) {
        name
    } else {
        "read --file FILE"
    };
    let report = with_report.then(|| format!("pagewise report {run} {name}"));
    let others = [
        format!("pagewise show {}", row.first_method()),
        format!("pagewise run {name}"),
        format!("pagewise claims --about {name} --budget 60s"),
        format!("pagewise advise {advised}"),
    ];
    report.into_iter().chain(others).collect()
}
