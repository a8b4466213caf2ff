//! Front page of a gallery: one picture, and the matrix of questions and machines. It is whole without its script, which filters,
//! turns pages and shows a file of the reader's beside the gallery. Badges are here too.

use super::Labels;
use crate::render::escape;
use crate::render::html::template::{STYLE, environment, hash};
use crate::render::plot::Axis;
use crate::sentences::gallery as sentences;
use crate::sentences::numbers::digits;
use crate::sentences::wording::count;
use minijinja::{Value, context, value::Serde};
use record::gallery::{FrontPicture, Gallery, GalleryCell, GalleryMachine, GalleryQuestion};
use record::parameters::Parameters;
use record::shared::{SharedRatio, SharedRun, SharedVerdict};
use record::summary::Ratio;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

const FRONT: &str = include_str!("front.html");
const FRONT_STYLE: &str = include_str!("front.css");
const SCRIPT: &str = include_str!("front.js");

/// Machines next to each other in the matrix; the script turns to further ones.
const COLUMNS: usize = 10;
/// Machines that are named in the picture; more are points.
const NAMED: usize = 16;
/// Height of a panel's row, and of a panel of many machines, in pixels.
const ROW: f64 = 34.0;
/// Of it, what is below the middle of a machine's line where its name stands above.
const BELOW_NAME: f64 = 9.0;
const PANEL: f64 = 260.0;
/// Ratios that a reader knows, some even steps apart.
const TICKS: [f64; 12] = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0];
/// Width of a character of a badge, in pixels.
const LETTER: f64 = 6.6;

/// One condition of the picture.
#[derive(Serialize)]
pub(super) struct Panel {
    pub title: String,
    /// The verdicts of its machines in a line.
    verdicts: String,
    pub height: f64,
    pub marks: Vec<Mark>,
}

/// One machine in a panel. Places are percent of the width and pixels downward.
#[derive(Serialize)]
pub(super) struct Mark {
    machine: usize,
    pub low: f64,
    pub middle: f64,
    pub high: f64,
    pub down: f64,
    pub tone: &'static str,
    pub name: String,
    text: String,
    link: String,
}

/// A value that is written at the axis.
#[derive(Serialize)]
pub(super) struct Tick {
    pub at: f64,
    pub text: String,
    /// True where both sides cost the same.
    #[serde(skip)]
    pub is_one: bool,
}

/// One experiment of the matrix.
#[derive(Serialize)]
struct MatrixBody {
    title: String,
    rows: Vec<MatrixRow>,
}

#[derive(Serialize)]
struct MatrixRow {
    id: String,
    contrast: String,
    varying: String,
    cells: Vec<Option<MatrixCell>>,
}

#[derive(Serialize)]
struct MatrixCell {
    ratio: String,
    interval: String,
    word: &'static str,
    heat: i8,
    link: String,
}

#[derive(Serialize)]
struct MatrixColumn {
    id: String,
    name: String,
    facts: String,
}

/// The front page as text. `runs` are those of the machines, in their order.
pub fn front(labels: &Labels, runs: &[&SharedRun], picture: &FrontPicture) -> String {
    let gallery = labels.gallery;
    let style = format!("{STYLE}{FRONT_STYLE}");
    let axis = axis(runs, picture);
    let columns: Vec<MatrixColumn> = gallery.machines.iter().take(COLUMNS).map(column).collect();
    let counts = [
        count(gallery.machines.len(), "machine"),
        count(gallery.questions.len(), "question"),
    ];
    let data = escape::script_json(&data(labels).to_string());
    let page = environment(&[("front.html", FRONT)]);
    let page = page.get_template("front.html").expect("added just now");
    let rendered = page.render(context! {
        counts => counts,
        picture => picture.title.clone(),
        method => picture.method.clone(),
        usual => usual(gallery, picture),
        ticks => Value::from(Serde(axis.as_ref().map(ticks))),
        panels => Value::from(Serde(axis.as_ref().map(|axis| panels(labels, runs, picture, axis)))),
        columns => Value::from(Serde(&columns)),
        bodies => Value::from(Serde(bodies(labels))),
        shown => columns.len(),
        machines => gallery.machines.len(),
        style_hash => hash(&style),
        script_hash => hash(SCRIPT),
        style => Value::from_safe_string(style),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        data => Value::from_safe_string(data),
    });
    rendered.expect("the template names only what a gallery has")
}

fn column(machine: &GalleryMachine) -> MatrixColumn {
    let facts = [
        sentences::family_and_model(&machine.machine),
        Some(format!("Linux {}", machine.machine.kernel)),
        Some(sentences::hypervisor(&machine.machine)),
        Some(machine.day.clone()),
        (!machine.overview).then(|| sentences::extent(machine.overview).to_owned()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    MatrixColumn {
        id: machine.id.clone(),
        name: machine.machine.cpu.clone(),
        facts: facts.join(", "),
    }
}

fn link(question: &str, machine: &str) -> String {
    format!("question/{question}.html#{machine}")
}

fn bodies(labels: &Labels) -> Vec<MatrixBody> {
    let mut bodies: Vec<MatrixBody> = Vec::new();
    let mut last = "";
    for question in &labels.gallery.questions {
        if question.experiment != last {
            last = &question.experiment;
            bodies.push(MatrixBody {
                title: labels.title(last),
                rows: Vec::new(),
            });
        }
        if let Some(body) = bodies.last_mut() {
            body.rows.push(row(labels, question));
        }
    }
    bodies
}

fn row(labels: &Labels, question: &GalleryQuestion) -> MatrixRow {
    let name = labels.name(question);
    let machines = labels
        .gallery
        .machines
        .iter()
        .zip(&question.cells)
        .take(COLUMNS);
    MatrixRow {
        id: question.id.clone(),
        contrast: name.contrast.clone(),
        varying: name.varying.clone(),
        cells: machines
            .map(|(machine, cell)| {
                Some(matrix_cell(cell.as_ref()?, link(&question.id, &machine.id)))
            })
            .collect(),
    }
}

fn matrix_cell(cell: &GalleryCell, link: String) -> MatrixCell {
    let SharedRatio {
        ratio, low, high, ..
    } = cell.ratio;
    MatrixCell {
        ratio: digits(ratio),
        interval: format!("{}–{}", digits(low), digits(high)),
        word: sentences::verdict(cell.verdict),
        heat: heat(cell),
        link,
    }
}

/// Color of a cell, from -4 (takes much less) to 4; 0 without a verdict.
fn heat(cell: &GalleryCell) -> i8 {
    let doublings = cell.ratio.ratio.log2().abs() * 2.0;
    let depth = (doublings.floor() as i8).clamp(0, 3) + 1;
    match cell.verdict {
        SharedVerdict::Faster => -depth,
        SharedVerdict::Slower => depth,
        SharedVerdict::Within | SharedVerdict::Open => 0,
    }
}

/// The ratios of the picture: machine, condition, ratio.
fn pictured<'a>(
    run: &'a SharedRun,
    picture: &'a FrontPicture,
) -> BTreeMap<&'a str, (&'a Parameters, SharedRatio, SharedVerdict)> {
    let mut pictured = BTreeMap::new();
    for question in &run.questions {
        let fits = picture
            .fixed
            .iter()
            .all(|(key, value)| question.parameters.get(key) == Some(value));
        let method = question
            .methods
            .iter()
            .find(|method| method.method == picture.method);
        let condition = question.parameters.get(&picture.across);
        let drawn = method.and_then(|method| Some((method.ratio?, method.verdict)));
        if let (true, Some((ratio, verdict)), Some(condition)) = (
            fits && question.experiment == picture.experiment,
            drawn,
            condition,
        ) {
            pictured
                .entry(condition.as_str())
                .or_insert((&question.parameters, ratio, verdict));
        }
    }
    pictured
}

/// The usual choice that the picture's method is compared with.
fn usual<'a>(gallery: &'a Gallery, picture: &FrontPicture) -> &'a str {
    let mut questions = gallery.questions.iter();
    let question = questions.find(|question| question.experiment == picture.experiment);
    question.map_or("the usual choice", |question| &question.usual)
}

pub(super) fn axis(runs: &[&SharedRun], picture: &FrontPicture) -> Option<Axis> {
    let ratios: Vec<Ratio> = runs
        .iter()
        .flat_map(|run| {
            pictured(run, picture)
                .into_values()
                .map(|(_, ratio, _)| ratio.as_ratio())
                .collect::<Vec<_>>()
        })
        .collect();
    Axis::over(ratios.iter())
}

/// Place of a ratio in percent of the width.
fn place(axis: &Axis, ratio: f64) -> f64 {
    let share = (ratio / axis.low).ln() / (axis.high / axis.low).ln();
    (share.clamp(0.0, 1.0) * 1e4).round() / 100.0
}

pub(super) fn ticks(axis: &Axis) -> Vec<Tick> {
    let round = TICKS.into_iter();
    let mut ticks: Vec<f64> = round
        .filter(|tick| (axis.low..=axis.high).contains(tick))
        .collect();
    if ticks.len() < 3 {
        ticks = axis.ranked_ticks().into_iter().take(7).collect();
        ticks.sort_by(f64::total_cmp);
    }
    ticks
        .into_iter()
        .map(|ratio| Tick {
            is_one: ratio == 1.0,
            at: place(axis, ratio),
            text: digits(ratio)
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned(),
        })
        .collect()
}

pub(super) fn panels(
    labels: &Labels,
    runs: &[&SharedRun],
    picture: &FrontPicture,
    axis: &Axis,
) -> Vec<Panel> {
    let experiment = labels.experiment(&picture.experiment);
    let mut panels: BTreeMap<&str, Panel> = BTreeMap::new();
    // A machine has a row of its own if the picture has something of it.
    let drawn: Vec<_> = runs
        .iter()
        .enumerate()
        .map(|(at, run)| (at, pictured(run, picture)))
        .filter(|(_, conditions)| !conditions.is_empty())
        .collect();
    let few = drawn.len() <= NAMED;
    let height = if few { ROW * drawn.len() as f64 } else { PANEL };
    let lower = if few { BELOW_NAME } else { 0.0 };
    let place_of = |row: usize| ((row as f64 + 0.5) / drawn.len() as f64 * height + lower).round();
    for (row, (at, conditions)) in drawn.iter().enumerate() {
        for (&condition, &(parameters, ratio, verdict)) in conditions {
            let title = sentences::conditions(parameters, experiment, &|key| key == picture.across);
            let panel = panels.entry(condition).or_insert_with(|| Panel {
                title,
                verdicts: String::new(),
                height,
                marks: Vec::new(),
            });
            let machine = &labels.gallery.machines[*at];
            let question = labels.gallery.questions.iter().find(|question| {
                labels.gallery.is_same(
                    (&question.experiment, &question.parameters),
                    (&picture.experiment, parameters),
                )
            });
            let processor = sentences::plain_name(&machine.machine.processor());
            let name = format!("{processor} {}", digits(ratio.ratio));
            panel.marks.push(Mark {
                machine: *at,
                low: place(axis, ratio.low),
                middle: place(axis, ratio.ratio),
                high: place(axis, ratio.high),
                down: place_of(row),
                tone: sentences::tone(verdict),
                text: format!(
                    "{}, Linux {}: {} ({}–{}), {}",
                    machine.machine.processor(),
                    machine.machine.kernel,
                    digits(ratio.ratio),
                    digits(ratio.low),
                    digits(ratio.high),
                    sentences::verdict(verdict)
                ),
                name: if few { name } else { String::new() },
                link: question.map_or_else(String::new, |question| link(&question.id, &machine.id)),
            });
        }
    }
    let mut panels: Vec<Panel> = panels.into_values().collect();
    for panel in &mut panels {
        panel.verdicts = sentences::verdicts(counts(&panel.marks));
    }
    panels
}

/// Machines on which the method is faster, slower, and neither.
fn counts(marks: &[Mark]) -> [usize; 3] {
    let of_tone = |tone| marks.iter().filter(|mark| mark.tone == tone).count();
    let [faster, slower] = ["faster", "slower"].map(of_tone);
    [faster, slower, marks.len() - faster - slower]
}

/// Everything that the script shows: machines, questions and cells.
fn data(labels: &Labels) -> serde_json::Value {
    let machines: Vec<serde_json::Value> = labels
        .gallery
        .machines
        .iter()
        .map(|machine| {
            let column = column(machine);
            let facts = &machine.machine;
            let vendor: &str = facts.vendor.into();
            json!({
                "id": column.id, "name": column.name, "facts": column.facts, "vendor": vendor, "kernel": facts.kernel,
                "virtual": facts.is_virtual, "day": machine.day,
            })
        })
        .collect();
    let questions: Vec<serde_json::Value> = labels
        .gallery
        .questions
        .iter()
        .map(|question| {
            let name = labels.name(question);
            let cells: Vec<serde_json::Value> = question.cells.iter().map(short_cell).collect();
            json!({
                "id": question.id, "experiment": question.experiment, "parameters": question.parameters,
                "method": question.method, "usual": question.usual, "contrast": name.contrast, "varying": name.varying,
                "cells": cells,
            })
        })
        .collect();
    let experiments: BTreeMap<&str, String> = labels
        .gallery
        .questions
        .iter()
        .map(|question| {
            (
                question.experiment.as_str(),
                labels.title(&question.experiment),
            )
        })
        .collect();
    let verdicts = [
        SharedVerdict::Faster,
        SharedVerdict::Within,
        SharedVerdict::Slower,
        SharedVerdict::Open,
    ]
    .map(|verdict| {
        (
            json!(verdict).as_str().unwrap_or_default().to_owned(),
            sentences::verdict(verdict),
        )
    });
    json!({
        "machines": machines, "questions": questions, "experiments": experiments, "columns": COLUMNS,
        "usual": labels.gallery.usual_values,
        "words": BTreeMap::from(verdicts),
    })
}

/// A cell without names: ratio, bounds, verdict. A gallery has many thousands.
fn short_cell(cell: &Option<GalleryCell>) -> serde_json::Value {
    cell.as_ref().map_or(serde_json::Value::Null, |cell| {
        json!([
            cell.ratio.ratio,
            cell.ratio.low,
            cell.ratio.high,
            cell.verdict
        ])
    })
}

/// The badge of a whole gallery.
pub fn front_badge(gallery: &Gallery) -> String {
    badge(
        "Pagewise gallery",
        &count(gallery.machines.len(), "machine"),
    )
}

/// The badge of a machine: its processor and the questions that it answers.
pub fn machine_badge(gallery: &Gallery, at: usize) -> String {
    let questions = gallery.questions.iter();
    let answered = questions
        .filter(|question| question.cells[at].is_some())
        .count();
    let machine = &gallery.machines[at].machine;
    badge(
        "Pagewise",
        &format!("{}: {}", machine.cpu, count(answered, "question")),
    )
}

/// A badge: two short texts next to each other, as SVG.
fn badge(label: &str, value: &str) -> String {
    let [left, right] =
        [label, value].map(|text| (text.chars().count() as f64 * LETTER + 14.0).round());
    let [label, value] = [label, value].map(escape::html);
    let (width, first, second) = (left + right, left / 2.0, left + right / 2.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"20\" role=\"img\" aria-label=\"{label}: {value}\">\
         <rect width=\"{left}\" height=\"20\" fill=\"#3c4248\"/><rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"#0a6b4f\"/>\
         <g fill=\"#fff\" text-anchor=\"middle\" font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"11\">\
         <text x=\"{first}\" y=\"14\">{label}</text><text x=\"{second}\" y=\"14\">{value}</text></g></svg>\n"
    )
}
