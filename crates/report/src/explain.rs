//! `list`, `show` and `explain`: what there is, the source of a method, what an experiment asks and how to read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::experiment::Experiment;
use record::method::{Method, Offer, Role};

fn role_word(method: &Method) -> String {
    match method.role {
        Role::Method if method.group.is_empty() => String::new(),
        Role::Method => format!(" [{}]", method.group),
        Role::Limit => " (best possible)".to_owned(),
        Role::Null => " (floor)".to_owned(),
        Role::Published => " (published)".to_owned(),
    }
}

/// The methods of one experiment with the workers that have each.
fn methods<'a>(experiment: &Experiment, offers: &[Offer<'a>]) -> BTreeMap<&'a str, (&'a Method, Vec<&'a str>)> {
    let mut found: BTreeMap<&str, (&Method, Vec<&str>)> = BTreeMap::new();
    for offer in offers {
        for method in offer.methods.iter().filter(|m| m.experiment == experiment.name) {
            found.entry(&method.name).or_insert((method, Vec::new())).1.push(offer.worker);
        }
    }
    found
}

/// All experiments, or the methods of one.
pub fn list(experiments: &[Experiment], only: Option<&Experiment>, offers: &[Offer]) -> String {
    let mut text = String::new();
    for experiment in experiments.iter().filter(|e| only.map_or(!e.hidden, |o| o.name == e.name)) {
        let _ = writeln!(text, "{}: {}", experiment.name, experiment.title);
        for (name, (method, names)) in methods(experiment, offers) {
            let _ = writeln!(
                text,
                "    {:<26} {:<22} {}",
                format!("{name}{}", role_word(method)),
                names.join(" "),
                method.summary
            );
        }
        if only.is_some() {
            text.push('\n');
            parameters(&mut text, experiment);
        }
    }
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
    for (name, (method, names)) in methods(experiment, offers) {
        let _ = writeln!(text, "  {name}{} ({})\n      {}", role_word(method), names.join(", "), method.summary);
        for law in method.laws.iter() {
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
