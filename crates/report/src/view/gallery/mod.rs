//! Shared runs as documents: the content of one file, the result of a check, and the pages of a gallery's machines and questions.

mod front;
mod picture;

use crate::render::document::{
    Block, Column, Document, Entry, PageLink, Place, Shown, Table, TableCell, Tone,
};
use crate::render::html;
use crate::render::plot::{Axis, Plot};
use crate::sentences::gallery as sentences;
use crate::sentences::numbers::{digits, spaced, with_limits};
use crate::sentences::wording::count;
use crate::tables::columns::{Columns, facts};
use record::experiment::Experiment;
use record::gallery::{Gallery, GalleryCell, GalleryMachine, GalleryQuestion};
use record::shared::{SharedMethod, SharedQuestion, SharedRatio, SharedRun, SharedVerdict};
use record::sizes::format_size;
use record::summary::Ratio;
use std::collections::{BTreeMap, BTreeSet};

pub use front::{front, front_badge, machine_badge};
pub use picture::front_picture;

/// A gallery with what its pages need besides: the experiments, and the names of its questions.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    pub(crate) gallery: &'a Gallery,
    experiments: &'a [Experiment],
    /// Names by id.
    names: BTreeMap<&'a str, QuestionName>,
}

/// The name of a question: what is compared, under which conditions.
#[derive(Clone, Debug)]
pub(crate) struct QuestionName {
    pub contrast: String,
    /// Conditions in which the experiment's questions differ.
    pub varying: String,
    /// Conditions that all of them share.
    pub fixed: String,
}

impl<'a> Labels<'a> {
    pub fn new(gallery: &'a Gallery, experiments: &'a [Experiment]) -> Labels<'a> {
        let mut labels = Labels {
            gallery,
            experiments,
            names: BTreeMap::new(),
        };
        let mut varying: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for question in &gallery.questions {
            let name = question.experiment.as_str();
            varying
                .entry(name)
                .or_insert_with(|| varying_keys(gallery, name));
        }
        for question in &gallery.questions {
            let name = labels.named(question, &varying[question.experiment.as_str()]);
            labels.names.insert(&question.id, name);
        }
        labels
    }

    pub(crate) fn experiment(&self, name: &str) -> Option<&'a Experiment> {
        self.experiments.iter().find(|e| e.name == name)
    }

    pub(crate) fn name(&self, question: &GalleryQuestion) -> &QuestionName {
        &self.names[question.id.as_str()]
    }

    pub(crate) fn title(&self, experiment: &str) -> String {
        let title = self.experiment(experiment).map(|e| e.title.clone());
        title.unwrap_or_else(|| experiment.to_owned())
    }

    fn named(&self, question: &GalleryQuestion, varying: &BTreeSet<&str>) -> QuestionName {
        let experiment = self.experiment(&question.experiment);
        let parameters = &question.parameters;
        QuestionName {
            contrast: sentences::contrast(question),
            varying: sentences::conditions(parameters, experiment, &|key| varying.contains(key)),
            fixed: sentences::conditions(parameters, experiment, &|key| !varying.contains(key)),
        }
    }
}

/// Keys whose values differ among the questions of an experiment.
fn varying_keys<'a>(gallery: &'a Gallery, experiment: &str) -> BTreeSet<&'a str> {
    let questions = gallery.questions.iter();
    let questions = questions.filter(|question| question.experiment == experiment);
    let keys: BTreeSet<&str> = questions
        .clone()
        .flat_map(|question| question.parameters.keys().map(String::as_str))
        .collect();
    let differs = |key: &&str| {
        let values: BTreeSet<Option<&String>> = questions
            .clone()
            .map(|question| question.parameters.get(*key))
            .collect();
        values.len() > 1
    };
    keys.into_iter().filter(differs).collect()
}

impl QuestionName {
    pub(crate) fn line(&self) -> String {
        let parts = [&self.contrast, &self.varying];
        let parts: Vec<&str> = parts
            .into_iter()
            .map(String::as_str)
            .filter(|p| !p.is_empty())
            .collect();
        parts.join(", ")
    }
}

/// The content of a file before it is written.
pub fn content(run: &SharedRun, left_out: usize) -> Document {
    let table = facts(
        "Everything that the file says of the machine and the run",
        [Column::text("fact"), Column::text("value")],
        sentences::content(run),
    );
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(sentences::left_out(left_out).map(Block::Text));
    blocks.push(Block::text(sentences::NOT_SHARED));
    Document::new("shared run", [sentences::machine(&run.machine)]).section(
        "content",
        "Content",
        Place::Everywhere,
        blocks,
    )
}

/// The line on a file that was written.
pub fn written(path: &str, bytes: usize) -> String {
    format!(
        "Written to {path} ({}); nothing was sent\n",
        spaced(&format_size(bytes as u64))
    )
}

/// The result of a check.
pub fn checked(gallery: &Gallery) -> Document {
    let accepted = gallery.machines.iter();
    let accepted = accepted
        .map(|machine| format!("{}: {}", machine.file, sentences::machine(&machine.machine)));
    let refused = gallery.refused.iter();
    let refused = refused.map(|refused| format!("{}: {}", refused.file, refused.reason));
    let counts = [
        format!("{} accepted", count(gallery.machines.len(), "file")),
        format!("{} refused", gallery.refused.len()),
    ];
    let blocks = |list: Option<Block>| list.into_iter().collect();
    Document::new("gallery", counts)
        .section(
            "refused",
            "",
            Place::Everywhere,
            blocks(Block::list("Refused", refused)),
        )
        .section(
            "accepted",
            "",
            Place::Everywhere,
            blocks(Block::list("Accepted", accepted)),
        )
}

fn tone(verdict: SharedVerdict) -> Tone {
    match verdict {
        SharedVerdict::Faster => Tone::Faster,
        SharedVerdict::Slower => Tone::Slower,
        SharedVerdict::Within => Tone::Plain,
        SharedVerdict::Open => Tone::Open,
    }
}

/// A ratio on a machine or of a method, with its verdict.
struct RatioRow<'a> {
    name: String,
    /// Page that the name leads to.
    file: Option<String>,
    id: Option<&'a str>,
    texts: Vec<String>,
    ratio: Option<&'a SharedRatio>,
    verdict: SharedVerdict,
    answer: String,
}

/// A table of ratios on one axis. `texts` are the headings of the rows' texts.
fn ratios(caption: &str, head: &str, texts: &[&str], rows: Vec<RatioRow>) -> Block {
    let whole: Vec<Ratio> = rows
        .iter()
        .filter_map(|row| row.ratio.map(SharedRatio::as_ratio))
        .collect();
    let axis = Axis::over(whole.iter());
    let mut columns = Columns::new(head, |row: &RatioRow| row.name.clone());
    for (at, title) in texts.iter().enumerate() {
        columns = columns.text(*title, move |row| row.texts[at].clone());
    }
    let table: Table = columns
        .ratios(axis.as_ref(), Shown::Always, |row, axis| {
            let ratio = row.ratio?.as_ratio();
            Some(Plot::interval(axis, ratio, &with_limits(&ratio)))
        })
        .number("ratio (95 % CI)", |row| {
            row.ratio.map_or_else(TableCell::default, |ratio| {
                TableCell::number(with_limits(&ratio.as_ratio()), Some(ratio.ratio))
            })
        })
        .sentences("verdict on this method", |row| {
            sentences::verdict(row.verdict)
        })
        .sentences("what the run advises", |row| row.answer.clone())
        .marked(|row, entry| Entry {
            tone: tone(row.verdict),
            file: row.file.clone(),
            id: row.id.map(str::to_owned),
            ..entry
        })
        .table(caption, rows);
    Block::Table(table)
}

fn up() -> PageLink {
    PageLink {
        path: "../index.html".to_owned(),
        text: "All machines and questions".to_owned(),
    }
}

/// The page of a question as text.
pub fn question_page(labels: &Labels, question: &GalleryQuestion, runs: &[&SharedRun]) -> String {
    html::page(
        &question_document(labels, question, runs),
        serde_json::Value::Null,
    )
}

/// The page of a machine as text.
pub fn machine_page(labels: &Labels, at: usize, run: &SharedRun) -> String {
    html::page(&machine_document(labels, at, run), serde_json::Value::Null)
}

/// The page of a question: every machine.
fn question_document(labels: &Labels, question: &GalleryQuestion, runs: &[&SharedRun]) -> Document {
    let name = labels.name(question);
    let machines = labels.gallery.machines.iter().zip(&question.cells);
    let rows = machines.filter_map(|(machine, cell)| Some(machine_row(machine, cell.as_ref()?)));
    let rows: Vec<RatioRow> = rows.collect();
    let head = [question.experiment.clone(), count(rows.len(), "machine")];
    let caption = format!(
        "{}: cost relative to {}, with 95 % intervals; left of 1 it costs less",
        question.method, question.usual
    );
    let experiment = labels.experiment(&question.experiment);
    let text = experiment.map(|experiment| experiment.question.trim().to_owned());
    let mut blocks = vec![ratios(&caption, "machine", &["kernel", "machine is"], rows)];
    blocks.extend(
        Some(name.fixed.clone())
            .filter(|text| !text.is_empty())
            .map(|text| Block::Text(format!("Fixed parameters: {text}."))),
    );
    let mut document = Document::new(name.line(), head);
    document.question = text.unwrap_or_default();
    document.pages = vec![up()];
    document
        .section("machines", "Machines", Place::Page, blocks)
        .section(
            "methods",
            "All methods",
            Place::Page,
            vec![methods(labels, question, runs)],
        )
}

fn machine_row<'a>(machine: &'a GalleryMachine, cell: &'a GalleryCell) -> RatioRow<'a> {
    RatioRow {
        name: machine.machine.processor(),
        file: Some(format!("../machine/{}.html", machine.id)),
        id: Some(&machine.id),
        texts: vec![
            machine.machine.kernel.clone(),
            sentences::hypervisor(&machine.machine),
        ],
        ratio: Some(&cell.ratio),
        verdict: cell.verdict,
        answer: sentences::answer(cell),
    }
}

/// One method over all machines.
#[derive(Default)]
struct MethodCounts {
    faster: usize,
    within: usize,
    slower: usize,
    open: usize,
    ratios: Vec<f64>,
}

fn methods(labels: &Labels, question: &GalleryQuestion, runs: &[&SharedRun]) -> Block {
    let mut counts: BTreeMap<String, MethodCounts> = BTreeMap::new();
    for shared in runs.iter().filter_map(|run| find(labels, run, question)) {
        for method in shared
            .methods
            .iter()
            .filter(|method| method.ratio.is_some())
        {
            let known = counts.entry(method.name()).or_default();
            match method.verdict {
                SharedVerdict::Faster => known.faster += 1,
                SharedVerdict::Within => known.within += 1,
                SharedVerdict::Slower => known.slower += 1,
                SharedVerdict::Open => known.open += 1,
            }
            known.ratios.extend(method.ratio.map(|ratio| ratio.ratio));
        }
    }
    let table = Columns::new("method", |row: &(String, MethodCounts)| row.0.clone())
        .number("faster", |row| TableCell::count(row.1.faster))
        .number("within the margin", |row| TableCell::count(row.1.within))
        .number("slower", |row| TableCell::count(row.1.slower))
        .number("open", |row| TableCell::count(row.1.open))
        .number("ratios", |row| range(&row.1.ratios))
        .table(
            format!(
                "Machines on which each method is faster or slower than {}",
                question.usual
            ),
            counts,
        );
    Block::Table(table)
}

/// The least and the most of some ratios; the one of a single machine.
fn range(ratios: &[f64]) -> TableCell {
    let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ratios.iter().copied().fold(0.0, f64::max);
    match ratios.len() {
        0 => TableCell::default(),
        1 => TableCell::mean(low),
        _ => TableCell::number(format!("{}–{}", digits(low), digits(high)), Some(low)),
    }
}

fn find<'a>(
    labels: &Labels,
    run: &'a SharedRun,
    question: &GalleryQuestion,
) -> Option<&'a SharedQuestion> {
    run.questions.iter().find(|shared| {
        labels.gallery.is_same(
            (&shared.experiment, &shared.parameters),
            (&question.experiment, &question.parameters),
        )
    })
}

/// The page of a machine: every question.
fn machine_document(labels: &Labels, at: usize, run: &SharedRun) -> Document {
    let machine = &labels.gallery.machines[at];
    let costs = Block::part(
        "Costs of all methods",
        Place::Page,
        vec![Block::Table(machine_costs(labels, run))],
    );
    let known = facts(
        "The machine",
        [Column::text("fact"), Column::text("value")],
        sentences::facts(&machine.machine),
    );
    let day = [
        sentences::machine(&machine.machine),
        machine.day.clone(),
        sentences::extent(machine.overview).to_owned(),
        format!("Pagewise {}", machine.version),
    ];
    let repeat = vec![
        "pagewise run".to_owned(),
        format!("pagewise compare {} last", machine.file),
    ];
    let mut document = Document::new(machine.machine.processor(), day);
    document.pages = vec![up()];
    document
        .section(
            "answers",
            "Answers",
            Place::Page,
            machine_answers(labels, at),
        )
        .section("machine", "Machine", Place::Page, vec![Block::Table(known)])
        .section("costs", "Costs", Place::Page, costs.into_iter().collect())
        .section(
            "repeat",
            "Compare it with yours",
            Place::Page,
            vec![Block::Commands(repeat)],
        )
}

/// Answers of a machine, by experiment.
fn machine_answers(labels: &Labels, at: usize) -> Vec<Block> {
    let questions = &labels.gallery.questions;
    let mut experiments: Vec<&str> = questions.iter().map(|q| q.experiment.as_str()).collect();
    experiments.dedup();
    let mut blocks = Vec::new();
    for experiment in experiments {
        let rows: Vec<RatioRow> = questions
            .iter()
            .filter(|question| question.experiment == experiment)
            .filter_map(|question| question_row(labels, question, at))
            .collect();
        if !rows.is_empty() {
            blocks.push(Block::Heading(labels.title(experiment)));
            blocks.push(ratios(experiment, "question", &[], rows));
        }
    }
    blocks
}

/// A method's cost in one question of a machine.
struct MethodCost<'a> {
    question: String,
    method: &'a SharedMethod,
    unit: &'a str,
}

fn machine_costs(labels: &Labels, run: &SharedRun) -> Table {
    let mut costs = Vec::new();
    for question in &labels.gallery.questions {
        let Some(shared) = find(labels, run, question) else {
            continue;
        };
        let varying = &labels.name(question).varying;
        let measured = shared.methods.iter().filter(|m| m.per_unit_ns.is_some());
        costs.extend(measured.map(|method| MethodCost {
            question: format!("{} {varying}", question.experiment),
            method,
            unit: &shared.unit,
        }));
    }
    Columns::new("question", |cost: &MethodCost| cost.question.clone())
        .text("method", |cost| cost.method.name())
        .number("cost of a unit", |cost| {
            cost.method
                .per_unit_ns
                .map_or_else(TableCell::default, TableCell::ns)
        })
        .text("unit", |cost| cost.unit.to_owned())
        .number("launches", |cost| {
            TableCell::count(cost.method.launches_ns.len())
        })
        .table("Wall time of a unit: the median launch", costs)
}

fn question_row<'a>(
    labels: &Labels,
    question: &'a GalleryQuestion,
    at: usize,
) -> Option<RatioRow<'a>> {
    let cell = question.cells[at].as_ref()?;
    Some(RatioRow {
        name: labels.name(question).line(),
        file: Some(format!(
            "../question/{}.html#{}",
            question.id, labels.gallery.machines[at].id
        )),
        id: Some(&question.id),
        texts: Vec::new(),
        ratio: Some(&cell.ratio),
        verdict: cell.verdict,
        answer: sentences::answer(cell),
    })
}
