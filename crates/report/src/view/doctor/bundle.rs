//! Bundle for a bug report: program, machine and newest kept run. It holds numbers and names that this program made, and no
//! host, user, path, file name, command, variable or text of a run.

use crate::render::document::{Block, Column, Document, Place};
use crate::sentences::{phrases, wording};
use crate::tables::columns::{self, Columns};
use record::machine::environment::{Environment, Identity};
use record::summary::{CellSummary, Summary};
use record::{kind::Kind, outcome::Status};
use std::collections::BTreeMap;

const HIDDEN: &str = "…";

/// Newest kept run.
pub struct Newest {
    pub kind: Kind,
    /// Its summary; `None` for a study of a user's program, and for a run that cannot be read.
    pub summary: Option<Summary>,
}

/// Facts of a machine without names and paths that its owner chose.
fn impersonal(environment: &Environment) -> Environment {
    let mut facts = environment.clone();
    facts.identity = Identity::default();
    facts.kernel.command_line = None;
    facts.variables.clear();
    facts
        .cgroups
        .memory
        .iter_mut()
        .for_each(|group| group.folder = HIDDEN.to_owned());
    facts
        .tools
        .javas
        .iter_mut()
        .for_each(|java| java.home = HIDDEN.to_owned());
    facts
        .tools
        .programs
        .values_mut()
        .for_each(|path| *path = HIDDEN.to_owned());
    facts
}

/// Bundle of a machine, its workers and its newest run. `is_packaged` is that of [`super::obstacles`]; `is_carried` is true for
/// cells whose names this program made.
pub fn document(
    version: &str,
    is_packaged: bool,
    environment: &Environment,
    workers: &[&str],
    newest: Option<&Newest>,
    is_carried: impl Fn(&CellSummary) -> bool,
) -> Document {
    let environment = &impersonal(environment);
    let obstacles = super::obstacles(environment, is_packaged, &[]);
    let machine = super::document(environment, &obstacles, &[]);
    let run = newest.map_or_else(
        || vec![Block::text("No run is kept.")],
        |newest| run(newest, is_carried),
    );
    let mut document = Document::new("bundle for a bug report", [format!("version {version}")]);
    document.sections = machine.sections;
    document = document.section(
        "workers",
        "Workers",
        Place::Everywhere,
        vec![Block::text(workers.join(", "))],
    );
    document.section("run", "Newest kept run", Place::Everywhere, run)
}

fn run(newest: &Newest, is_carried: impl Fn(&CellSummary) -> bool) -> Vec<Block> {
    let Some(summary) = &newest.summary else {
        return vec![Block::text(format!(
            "Kind {}; its content is left out.",
            newest.kind.word()
        ))];
    };
    let (carried, left_out): (Vec<_>, Vec<_>) =
        summary.cells.iter().partition(|cell| is_carried(cell));
    let settings = &summary.settings;
    let facts = [
        ("kind", newest.kind.word().to_owned()),
        ("version", summary.version.clone()),
        ("budget", wording::duration(settings.budget_s)),
        ("time in all", wording::duration(summary.elapsed_s)),
        ("overview", settings.is_overview.to_string()),
        ("seed", settings.seed.to_string()),
        ("trusted", summary.trusted.to_string()),
        (
            "cells by outcome",
            counted(summary.cells.iter().map(|cell| cell.outcome.status.word())),
        ),
        (
            "cells of the user's own, left out",
            left_out.len().to_string(),
        ),
        (
            "notes",
            counted(summary.notes.iter().map(|note| note.kind.code())),
        ),
        (
            "warnings",
            counted(summary.warnings.iter().map(|warning| warning.kind.code())),
        ),
    ];
    let amiss = carried
        .into_iter()
        .filter(|cell| cell.outcome.status != Status::Ok);
    let table = Columns::new("cell", |cell: &CellSummary| cell.cell.clone())
        .text("outcome", |cell| cell.outcome.status.word())
        .text("cause", |cell| {
            let cause = cell.outcome.cause.as_ref();
            cause.map_or_else(String::new, |cause| phrases::sentence("cause", cause))
        })
        .text("parameters", |cell| declared_parameters(summary, cell))
        .table("", amiss);
    vec![
        Block::Table(columns::facts(
            "",
            [Column::text(""), Column::sentences("")],
            facts,
        )),
        Block::Table(table),
    ]
}

/// A path is neither a number nor a value that the experiment declares.
fn declared_parameters(summary: &Summary, cell: &CellSummary) -> String {
    let experiment = summary.experiment(&cell.experiment);
    let mut declared = Vec::new();
    for (key, value) in &cell.parameters {
        let parameter = experiment.and_then(|experiment| experiment.definition.parameters.get(key));
        let is_declared = cell.parameters.number(key).is_some()
            || parameter.is_some_and(|p| p.values.contains(value) || p.default.contains(value));
        if is_declared {
            declared.push(format!("{key}={value}"));
        }
    }
    declared.join(" ")
}

/// Names with their numbers of occurrences.
fn counted(names: impl Iterator<Item = &'static str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if counts.is_empty() {
        "none".to_owned()
    } else {
        counts.join(", ")
    }
}
