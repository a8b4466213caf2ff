//! `list` and `show`: experiments with their methods, the source of a method, an experiment in words.

use crate::render::document::{Block, Column, Document, Entry, Place, Table, TableCell};
use record::experiment::{Experiment, Title};
use record::method::{Heading, Method, Offer, Role};
use std::collections::{BTreeMap, BTreeSet};

fn role_word(method: &Heading) -> String {
    match method.role {
        Role::Method if method.group.is_empty() => String::new(),
        Role::Method => format!(" [{}]", method.group),
        Role::Limit => " (lower bound)".to_owned(),
        Role::Null => " (floor)".to_owned(),
        Role::Published => " (published)".to_owned(),
    }
}

type Listed<'a> = [(&'a str, Vec<Heading<'a>>)];

fn methods<'a>(
    experiment: &str,
    listed: &Listed<'a>,
) -> BTreeMap<&'a str, (Heading<'a>, Vec<&'a str>)> {
    let mut methods: BTreeMap<&str, (Heading, Vec<&str>)> = BTreeMap::new();
    for (worker, headings) in listed {
        for &heading in headings.iter().filter(|h| h.experiment == experiment) {
            methods
                .entry(heading.name)
                .or_insert((heading, Vec::new()))
                .1
                .push(worker);
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
    let rows = methods(name, listed)
        .into_iter()
        .map(|(name, (method, workers))| {
            let cells = vec![
                TableCell::text(workers.join(" ")),
                TableCell::text(method.summary),
            ];
            Entry::new(format!("{name}{}", role_word(&method)), cells)
        });
    let columns = vec![
        Column::text(""),
        Column::sentences(""),
        Column::sentences(""),
    ];
    let title = format!("{name}: {title}");
    document.section(
        name,
        title,
        Place::Everywhere,
        vec![Block::Table(Table::new("", columns, rows))],
    )
}

/// All experiments but the hidden ones, a row each: number of methods, and languages.
pub fn list(titles: &[Title], listed: &Listed) -> Document {
    let row = |title: &Title| {
        let methods = methods(&title.name, listed);
        let workers = methods.values().flat_map(|(_, workers)| workers);
        let languages: BTreeSet<&str> = workers
            .filter_map(|worker| worker.split('-').next())
            .collect();
        let languages = languages.into_iter().collect::<Vec<_>>().join(" ");
        let cells = vec![
            TableCell::text(&title.title),
            TableCell::count(methods.len()),
            TableCell::text(languages),
        ];
        Entry::new(&title.name, cells)
    };
    let mut columns = vec![Column::text("experiment"), Column::sentences("question")];
    columns.extend([Column::number("methods"), Column::sentences("languages")]);
    let rows = titles.iter().filter(|title| !title.hidden).map(row);
    let next = ["pagewise list EXPERIMENT", "pagewise show EXPERIMENT"]
        .map(str::to_owned)
        .into();
    let blocks = vec![
        Block::Table(Table::new("", columns, rows)),
        Block::Commands(next),
    ];
    Document::default().section("experiments", "", Place::Everywhere, blocks)
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
    let rows = experiment.parameters.iter().map(|(name, p)| {
        let values = format!(
            "{}; default {}; values {}",
            p.meaning,
            p.default.join(","),
            p.values.join(", ")
        );
        Entry::new(name, vec![TableCell::text(values)])
    });
    let table = Table::new("", vec![Column::text(""), Column::sentences("")], rows);
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
    let mut question = vec![
        paragraph(&experiment.question),
        Block::text(format!(
            "Phases over {}s: {}",
            experiment.unit,
            experiment.phases.join(", ")
        )),
    ];
    question.extend(Block::list("", totals));
    question.push(Block::text(format!("Baseline: {}", experiment.baseline)));
    let title = format!("{}: {}", experiment.name, experiment.title);
    let document = Document::default().section("question", title, Place::Everywhere, question);
    let document = document.section(
        "reading",
        "How to read it",
        Place::Everywhere,
        vec![paragraph(&experiment.reading)],
    );
    let headings = headings(offers);
    let methods = methods(&experiment.name, &headings);
    if !laws {
        let names = methods.keys().copied().collect::<Vec<_>>().join(", ");
        let (name, traps) = (&experiment.name, experiment.traps.len());
        let more = vec![
            format!("pagewise list {name}"),
            format!("pagewise show {name} --laws   # {traps} traps"),
        ];
        let blocks = vec![Block::text(names), Block::Commands(more)];
        return document.section("methods", "Methods", Place::Everywhere, blocks);
    }
    let traps = Block::list("", experiment.traps.iter().cloned())
        .into_iter()
        .collect();
    let mut all = Vec::new();
    for (name, (method, workers)) in &methods {
        let mut methods = offers.iter().flat_map(|offer| offer.methods);
        let first = methods.find(|m| m.experiment == experiment.name && m.name == *name);
        let laws = first
            .iter()
            .flat_map(|method| method.laws.iter())
            .map(|law| format!("law: {}", law.text));
        let items = std::iter::once(method.summary.to_owned()).chain(laws);
        all.extend(Block::list(
            format!("{name}{} ({})", role_word(method), workers.join(", ")),
            items,
        ));
    }
    let document = document.section("traps", "Free of these mistakes", Place::Everywhere, traps);
    parameters(
        document.section("methods", "Methods", Place::Everywhere, all),
        experiment,
    )
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
    let shown = super::show::measured_source(&method.source, &method.name, sources);
    head + &shown.unwrap_or_else(|| "// its source is not carried by this binary\n".to_owned())
}
