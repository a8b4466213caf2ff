//! `list`, `show` and `explain`: what there is, the source of a method, what an experiment asks and how to read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::experiment::{Experiment, Title};
use record::method::{Heading, Method, Offer, Role};

fn role_word(method: &Heading) -> String {
    match method.role {
        Role::Method if method.group.is_empty() => String::new(),
        Role::Method => format!(" [{}]", method.group),
        Role::Limit => " (best possible)".to_owned(),
        Role::Null => " (floor)".to_owned(),
        Role::Published => " (published)".to_owned(),
    }
}

/// What each worker has, by its name.
type Listed<'a> = [(&'a str, Vec<Heading<'a>>)];

/// The methods of one experiment with the workers that have each.
fn methods<'a>(experiment: &str, listed: &Listed<'a>) -> BTreeMap<&'a str, (Heading<'a>, Vec<&'a str>)> {
    let mut found: BTreeMap<&str, (Heading, Vec<&str>)> = BTreeMap::new();
    for (worker, headings) in listed {
        for &heading in headings.iter().filter(|h| h.experiment == experiment) {
            found.entry(heading.name).or_insert((heading, Vec::new())).1.push(worker);
        }
    }
    found
}

fn headings<'a>(offers: &[Offer<'a>]) -> Vec<(&'a str, Vec<Heading<'a>>)> {
    offers.iter().map(|offer| (offer.worker, offer.methods.iter().map(Method::heading).collect())).collect()
}

fn entry(text: &mut String, name: &str, title: &str, listed: &Listed) {
    let _ = writeln!(text, "{name}: {title}");
    for (name, (method, names)) in methods(name, listed) {
        let name = format!("{name}{}", role_word(&method));
        let _ = writeln!(text, "    {name:<26} {:<22} {}", names.join(" "), method.summary);
    }
}

/// All experiments but the hidden ones, with the methods that workers list.
pub fn list(titles: &[Title], listed: &Listed) -> String {
    let mut text = String::new();
    for title in titles.iter().filter(|title| !title.hidden) {
        entry(&mut text, &title.name, &title.title, listed);
    }
    text
}

/// One experiment, with its parameters.
pub fn list_one(experiment: &Experiment, offers: &[Offer]) -> String {
    let mut text = String::new();
    entry(&mut text, &experiment.name, &experiment.title, &headings(offers));
    text.push('\n');
    parameters(&mut text, experiment);
    text
}

fn parameters(text: &mut String, experiment: &Experiment) {
    let _ = writeln!(text, "Parameters (--set KEY=VALUE[,VALUE], or KEY=all):");
    for (name, p) in &experiment.parameters {
        let _ = writeln!(text, "    {name:<14} {}", p.meaning);
        let _ = writeln!(text, "    {:<14} default {}; values {}", "", p.default.join(","), p.values.join(", "));
    }
}

/// One experiment in words.
pub fn explain(experiment: &Experiment, offers: &[Offer]) -> String {
    let mut text = format!("{}: {}\n\n{}\n\n", experiment.name, experiment.title, experiment.question.trim());
    let _ = writeln!(text, "Phases over {}s: {}", experiment.unit, experiment.phases.join(", "));
    for total in &experiment.totals {
        let head = if total.headline { " (compared first)" } else { "" };
        let _ = writeln!(text, "    {} = {}: {}{head}", total.name, total.formula(), total.meaning);
    }
    let _ = writeln!(text, "Baseline: {}\n\nHow to read it:\n{}\n", experiment.baseline, experiment.reading.trim());
    text.push_str("Free of these mistakes:\n");
    for trap in &experiment.traps {
        let _ = writeln!(text, "  - {trap}");
    }
    text.push_str("\nMethods:\n");
    for (name, (method, names)) in methods(&experiment.name, &headings(offers)) {
        let _ = writeln!(text, "  {name}{} ({})\n      {}", role_word(&method), names.join(", "), method.summary);
        let mut all = offers.iter().flat_map(|offer| offer.methods);
        let first = all.find(|m| m.experiment == experiment.name && m.name == name);
        for law in first.iter().flat_map(|method| method.laws.iter()) {
            let _ = writeln!(text, "      law: {law}");
        }
    }
    text.push('\n');
    parameters(&mut text, experiment);
    text
}

/// All that is compiled into a method's phases, in reading order; `sources` are those of all workers, by path.
pub fn show(method: &Method, worker: &str, sources: &[(&str, &str)]) -> String {
    let head = format!("// {}/{}@{}: {}\n", method.experiment, method.name, worker, method.summary);
    let shown = crate::show::measured_source(&method.experiment, &method.name, &method.source, sources);
    head + &shown.unwrap_or_else(|| "// its source is not carried by this binary\n".to_owned())
}
