//! `list` and `show`: experiments with their methods, the source of a method, an experiment in words.

use crate::render::document::{Block, Column, Document, Place, TableCell};
use crate::sentences::glossary::{self, GlossaryWord};
use crate::tables::columns::{Columns, facts};
use record::experiment::{Experiment, Title};
use record::method::{Heading, Method, Offer, Role};
use std::collections::{BTreeMap, BTreeSet};

/// The methods of each worker.
type Listed<'a> = [(&'a str, Vec<Heading<'a>>)];

/// A method with the workers that have it.
struct ListedMethod<'a> {
    heading: Heading<'a>,
    workers: Vec<&'a str>,
}

fn role_word(method: &Heading) -> String {
    match method.role {
        Role::Method if method.group.is_empty() => String::new(),
        Role::Method => format!(" [{}]", method.group),
        Role::Limit => " (lower bound)".to_owned(),
        Role::Null => " (floor)".to_owned(),
        Role::Published => " (published)".to_owned(),
    }
}

impl ListedMethod<'_> {
    /// Its name with its role.
    fn name(&self) -> String {
        format!("{}{}", self.heading.name, role_word(&self.heading))
    }
}

fn methods<'a>(experiment: &str, listed: &Listed<'a>) -> BTreeMap<&'a str, ListedMethod<'a>> {
    let mut methods: BTreeMap<&str, ListedMethod> = BTreeMap::new();
    for (worker, headings) in listed {
        for &heading in headings.iter().filter(|h| h.experiment == experiment) {
            let method = methods.entry(heading.name).or_insert(ListedMethod {
                heading,
                workers: Vec::new(),
            });
            method.workers.push(worker);
        }
    }
    methods
}

fn headings<'a>(offers: &[Offer<'a>]) -> Vec<(&'a str, Vec<Heading<'a>>)> {
    offers
        .iter()
        .map(|offer| {
            (
                offer.worker,
                offer.methods.iter().map(Method::heading).collect(),
            )
        })
        .collect()
}

/// The methods of one experiment, a row each.
fn section(document: Document, name: &str, title: &str, listed: &Listed) -> Document {
    let table = Columns::new("", ListedMethod::name)
        .sentences("", |method| method.workers.join(" "))
        .sentences("", |method| method.heading.summary.to_owned())
        .table("", methods(name, listed).into_values());
    let title = format!("{name}: {title}");
    document.section(name, title, Place::Everywhere, vec![Block::Table(table)])
}

/// All experiments but the hidden ones, a row each: number of methods, and languages.
pub fn list(titles: &[Title], listed: &Listed) -> Document {
    let table = Columns::new("experiment", |title: &Title| title.name.clone())
        .sentences("question", |title| title.title.clone())
        .number("methods", |title| {
            TableCell::count(methods(&title.name, listed).len())
        })
        .sentences("languages", |title| languages(title, listed))
        .table("", titles.iter().filter(|title| !title.hidden));
    let next = ["pagewise list EXPERIMENT", "pagewise show EXPERIMENT"]
        .map(str::to_owned)
        .into();
    let blocks = vec![Block::Table(table), Block::Commands(next)];
    Document::default().section("experiments", "", Place::Everywhere, blocks)
}

/// The languages of an experiment's methods, each once.
fn languages(title: &Title, listed: &Listed) -> String {
    let methods = methods(&title.name, listed);
    let workers = methods.values().flat_map(|method| &method.workers);
    let languages: BTreeSet<&str> = workers
        .filter_map(|worker| worker.split('-').next())
        .collect();
    languages.into_iter().collect::<Vec<_>>().join(" ")
}

/// One experiment, with its parameters.
pub fn list_one(experiment: &Experiment, offers: &[Offer]) -> Document {
    let document = section(
        Document::default(),
        &experiment.name,
        &experiment.title,
        &headings(offers),
    );
    parameters(document, experiment)
}

fn parameters(document: Document, experiment: &Experiment) -> Document {
    let parameters = experiment.parameters.iter().map(|(name, p)| {
        let values = format!(
            "{}; default {}; values {}",
            p.meaning,
            p.default.join(","),
            p.values.join(", ")
        );
        (name, values)
    });
    let table = facts("", [Column::text(""), Column::sentences("")], parameters);
    let title = "Parameters (--set KEY=VALUE[,VALUE], or KEY=all)";
    document.section(
        "parameters",
        title,
        Place::Everywhere,
        vec![Block::Table(table)],
    )
}

/// One experiment in words; with `laws` also its traps, the laws of each method and the parameters.
pub fn explain(experiment: &Experiment, offers: &[Offer], laws: bool) -> Document {
    let title = format!("{}: {}", experiment.name, experiment.title);
    let document = Document::default()
        .section("question", title, Place::Everywhere, question(experiment))
        .section(
            "reading",
            "How to read it",
            Place::Everywhere,
            vec![paragraph(&experiment.reading)],
        );
    let headings = headings(offers);
    let methods = methods(&experiment.name, &headings);
    if laws {
        return with_laws(document, experiment, offers, &methods);
    }
    let names = methods.keys().copied().collect::<Vec<_>>().join(", ");
    let (name, traps) = (&experiment.name, experiment.traps.len());
    let more = vec![
        format!("pagewise list {name}"),
        format!("pagewise show {name} --laws   # {traps} traps"),
    ];
    let blocks = vec![Block::text(names), Block::Commands(more)];
    document.section("methods", "Methods", Place::Everywhere, blocks)
}

fn question(experiment: &Experiment) -> Vec<Block> {
    let mut blocks = vec![
        paragraph(&experiment.question),
        Block::text(format!(
            "Phases over {}s: {}",
            experiment.unit,
            experiment.phases.join(", ")
        )),
    ];
    let totals = experiment.totals.iter().map(|total| {
        let head = if total.headline {
            " (compared first)"
        } else {
            ""
        };
        format!(
            "{} = {}: {}{head}",
            total.name,
            total.formula(),
            total.meaning
        )
    });
    blocks.extend(Block::list("", totals));
    blocks.push(Block::text(format!("Baseline: {}", experiment.baseline)));
    blocks
}

fn with_laws(
    document: Document,
    experiment: &Experiment,
    offers: &[Offer],
    listed: &BTreeMap<&str, ListedMethod>,
) -> Document {
    let traps = Block::list("", experiment.traps.iter().cloned());
    let mut lists = Vec::new();
    for (name, method) in listed {
        let mut methods = offers.iter().flat_map(|offer| offer.methods);
        let first = methods.find(|m| m.experiment == experiment.name && m.name == *name);
        let laws = first.iter().flat_map(|method| method.laws.iter());
        let laws = laws.map(|law| format!("law: {}", law.text));
        let summary = method.heading.summary.to_owned();
        lists.extend(Block::list(
            format!("{} ({})", method.name(), method.workers.join(", ")),
            std::iter::once(summary).chain(laws),
        ));
    }
    let document = document
        .section(
            "traps",
            "Free of these mistakes",
            Place::Everywhere,
            traps.into_iter().collect(),
        )
        .section("methods", "Methods", Place::Everywhere, lists);
    parameters(document, experiment)
}

fn paragraph(text: &str) -> Block {
    Block::Text(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The file of a method and those of the project that it includes; `sources` are those of all workers, by path.
pub fn show(method: &Method, worker: &str, sources: &[(&str, &str)]) -> String {
    let head = format!(
        "// {}/{}@{}: {}\n",
        method.experiment, method.name, worker, method.summary
    );
    let source = super::show::measured_source(&method.source, &method.name, sources);
    head + &source.unwrap_or_else(|| "// its source is not carried by this binary\n".to_owned())
}

/// Methods of one name: the command that shows each, and its summary.
pub fn namesakes(methods: &[&Method]) -> Document {
    let table = Columns::new("source", |method: &Method| {
        format!("pagewise show {}/{}", method.experiment, method.name)
    })
    .sentences("", |method| method.summary.clone())
    .table("", methods.iter().copied());
    let name = methods.first().map_or("", |method| method.name.as_str());
    let sentence = format!("{name} is a method of {} experiments:", methods.len());
    let blocks = vec![Block::Text(sentence), Block::Table(table)];
    Document::new("method", []).section("method", "", Place::Everywhere, blocks)
}

/// The glossary: each word of screens and JSON with its meaning.
pub fn glossary() -> Document {
    let table = Columns::new("word", |known: &GlossaryWord| known.word.clone())
        .sentences("meaning", |known| known.meaning.clone())
        .table("", glossary::entries());
    let blocks = vec![Block::Table(table)];
    Document::new("words", []).section("words", "", Place::Everywhere, blocks)
}
