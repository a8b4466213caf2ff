//! `list`, `show` and `explain`: experiments with their methods, the source of a method, an experiment in words.

use crate::document::{Block, Column, Document, Entry, Place, Table, TableCell};
use record::experiment::{Experiment, Title};
use record::method::{Heading, Method, Offer, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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

fn methods<'a>(experiment: &str, listed: &Listed<'a>) -> BTreeMap<&'a str, (Heading<'a>, Vec<&'a str>)> {
    let mut methods: BTreeMap<&str, (Heading, Vec<&str>)> = BTreeMap::new();
    for (worker, headings) in listed {
        for &heading in headings.iter().filter(|h| h.experiment == experiment) {
            methods.entry(heading.name).or_insert((heading, Vec::new())).1.push(worker);
        }
    }
    methods
}

fn headings<'a>(offers: &[Offer<'a>]) -> Vec<(&'a str, Vec<Heading<'a>>)> {
    offers.iter().map(|offer| (offer.worker, offer.methods.iter().map(Method::heading).collect())).collect()
}

/// The methods of one experiment, a row each.
fn section(document: Document, name: &str, title: &str, listed: &Listed) -> Document {
    let rows = methods(name, listed).into_iter().map(|(name, (method, workers))| {
        let cells = vec![TableCell::text(workers.join(" ")), TableCell::text(method.summary)];
        Entry::new(format!("{name}{}", role_word(&method)), cells)
    });
    let columns = vec![Column::text(""), Column::sentences(""), Column::sentences("")];
    let title = format!("{name}: {title}");
    document.section(name, title, Place::Everywhere, vec![Block::Table(Table::new("", columns, rows))])
}

/// All experiments but the hidden ones, a row each: number of methods, and languages.
pub fn list(titles: &[Title], listed: &Listed) -> Document {
    let row = |title: &Title| {
        let methods = methods(&title.name, listed);
        let workers = methods.values().flat_map(|(_, workers)| workers);
        let languages: BTreeSet<&str> = workers.filter_map(|worker| worker.split('-').next()).collect();
        let languages = languages.into_iter().collect::<Vec<_>>().join(" ");
        Entry::new(
            &title.name,
            vec![TableCell::text(&title.title), TableCell::count(methods.len()), TableCell::text(languages)],
        )
    };
    let columns = ["experiment", "question", "methods", "languages"];
    let columns =
        vec![Column::text(columns[0]), Column::sentences(columns[1]), Column::number(columns[2]), Column::text(columns[3])];
    let rows = titles.iter().filter(|title| !title.hidden).map(row);
    let next = ["pagewise list EXPERIMENT", "pagewise explain EXPERIMENT"].map(str::to_owned).into();
    let blocks = vec![Block::Table(Table::new("", columns, rows)), Block::Commands(next)];
    Document::default().section("experiments", "", Place::Everywhere, blocks)
}

/// One experiment, with its parameters.
pub fn list_one(experiment: &Experiment, offers: &[Offer]) -> Document {
    let document = section(Document::default(), &experiment.name, &experiment.title, &headings(offers));
    parameters(document, experiment)
}

fn parameters(document: Document, experiment: &Experiment) -> Document {
    let rows = experiment.parameters.iter().map(|(name, p)| {
        let values = format!("{}; default {}; values {}", p.meaning, p.default.join(","), p.values.join(", "));
        Entry::new(name, vec![TableCell::text(values)])
    });
    let table = Table::new("", vec![Column::text(""), Column::sentences("")], rows);
    let title = "Parameters (--set KEY=VALUE[,VALUE], or KEY=all)";
    document.section("parameters", title, Place::Everywhere, vec![Block::Table(table)])
}

/// One experiment in words; with `laws` also its traps, the laws of each method and the parameters.
pub fn explain(experiment: &Experiment, offers: &[Offer], laws: bool) -> Document {
    let totals = experiment.totals.iter().map(|total| {
        let head = if total.headline { " (compared first)" } else { "" };
        format!("{} = {}: {}{head}", total.name, total.formula(), total.meaning)
    });
    let mut question = vec![
        paragraph(&experiment.question),
        Block::text(format!("Phases over {}s: {}", experiment.unit, experiment.phases.join(", "))),
    ];
    question.extend(Block::list("", totals));
    question.push(Block::text(format!("Baseline: {}", experiment.baseline)));
    let title = format!("{}: {}", experiment.name, experiment.title);
    let document = Document::default().section("question", title, Place::Everywhere, question).section(
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
        let more = vec![format!("pagewise list {name}"), format!("pagewise explain {name} --laws   # {traps} traps")];
        let blocks = vec![Block::text(names), Block::Commands(more)];
        return document.section("methods", "Methods", Place::Everywhere, blocks);
    }
    let traps = Block::list("", experiment.traps.iter().map(|trap| format!("- {trap}"))).into_iter().collect();
    let mut all = Vec::new();
    for (name, (method, workers)) in &methods {
        let mut methods = offers.iter().flat_map(|offer| offer.methods);
        let first = methods.find(|m| m.experiment == experiment.name && m.name == *name);
        let laws = first.iter().flat_map(|method| method.laws.iter()).map(|law| format!("law: {law}"));
        let items = std::iter::once(method.summary.to_owned()).chain(laws);
        all.extend(Block::list(format!("{name}{} ({})", role_word(method), workers.join(", ")), items));
    }
    let document = document.section("traps", "Free of these mistakes", Place::Everywhere, traps).section(
        "methods",
        "Methods",
        Place::Everywhere,
        all,
    );
    parameters(document, experiment)
}

fn paragraph(text: &str) -> Block {
    Block::Text(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The file of a method and those of the project that it includes; `sources` are those of all workers, by path.
pub fn show(method: &Method, worker: &str, sources: &[(&str, &str)]) -> String {
    let head = format!("// {}/{}@{}: {}\n", method.experiment, method.name, worker, method.summary);
    let shown = crate::explain::measured_source(&method.source, sources);
    head + &shown.unwrap_or_else(|| "// its source is not carried by this binary\n".to_owned())
}

type Sources<'a> = [(&'a str, &'a str)];

/// The file `source` and, nearest first, the files of the project that it includes or imports. None: not in `sources`.
pub fn measured_source(source: &str, sources: &Sources) -> Option<String> {
    let mut files = vec![sources.iter().find(|(path, _)| *path == source)?];
    let mut next = 0;
    while let Some(&&(path, text)) = files.get(next) {
        // A file of functions is shown for its header; its own headers say no more of the method.
        let is_end = next > 0 && path.ends_with(".c");
        let more = sources.iter().filter(|file| !is_end && includes(path, text, file));
        let more: Vec<_> = more.filter(|file| !files.contains(file)).collect();
        files.extend(more);
        next += 1;
    }
    let mut text = "// Lines that begin with > are what the clock covers.\n".to_owned();
    for (path, source) in files {
        let _ = write!(text, "\n// {path}\n\n");
        for (line, covered) in source.lines().zip(covered(path, source)) {
            let _ = writeln!(text, "{}", format!("{} {line}", if covered { '>' } else { ' ' }).trim_end());
        }
    }
    Some(text)
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word)
}

/// True if `line` includes the header at `header`: from its own folder, the harness, or by a path.
fn is_include(line: &str, path: &str, header: &str) -> bool {
    let Some(name) = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) else { return false };
    let beside = format!("{}/{name}", folder(path));
    [&*beside, &format!("workers/c/harness/{name}"), &format!("workers/c/{name}")].contains(&header)
        || name.strip_prefix("../").is_some_and(|rest| header == format!("{}/{rest}", folder(folder(path))))
}

fn is_import(line: &str, module: &str) -> bool {
    let dotted = |path: &str| path.trim_start_matches("workers/python/").trim_end_matches(".py").replace('/', ".");
    let names = |from: &str| line.strip_prefix(&format!("from {from} import "));
    names(&dotted(module)).is_some() || names(&dotted(folder(module))).is_some_and(|names| has_word(names, stem(module)))
}

/// Names of the functions that a Go file declares.
fn go_functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("func ")).filter_map(move |rest| {
        let rest = rest.split_once(") ").filter(|_| rest.starts_with('(')).map_or(rest, |(_, rest)| rest);
        rest.split('(').next()
    })
}

/// True if the file at `path` stands on `other`: C by `#include`, and a header on the files of its functions; Python by
/// `import`; Java by a class of its package; Go by a function of a file that registers no method.
fn includes(path: &str, text: &str, &(other, content): &(&str, &str)) -> bool {
    match (path.rsplit('.').next().unwrap_or_default(), other.rsplit('.').next().unwrap_or_default()) {
        // The measured half of a Rust method.
        ("c", "rs") => folder(path) == folder(other) && stem(path) == stem(other),
        ("c" | "h", "h") => text.lines().any(|line| is_include(line, path, other)),
        // The functions of a header are in the file of its name; its phases may be in another, without a method.
        ("h", "c") => {
            let has_phases = content.contains("PHASE(s, ") && !content.contains("\nMETHOD(");
            folder(path) == folder(other) && (stem(path) == stem(other) || has_phases)
        }
        ("py", "py") => text.lines().any(|line| is_import(line, other)),
        ("java", "java") => stem(folder(path)) == stem(folder(other)) && has_word(text, stem(other)),
        ("go", "go") => {
            let experiment = |path| stem(path).split('_').next();
            let is_near = experiment(path) == experiment(other) || text.contains("= register(");
            is_near && !content.contains("= register(") && go_functions(content).any(|name| has_word(text, name))
        }
        _ => false,
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// For each line of a source: true if it is within a phase.
fn covered(path: &str, source: &str) -> Vec<bool> {
    let mut covered = Vec::new();
    // The open phase: the indentation of its first line; a line as deep, or less deep, ends it.
    let mut open: Option<usize> = None;
    for line in source.lines() {
        let code = line.trim_start();
        let ends = open.is_some_and(|depth| !code.is_empty() && code != "{" && indent(line) <= depth);
        if ends && (!path.ends_with(".go") || code.starts_with("s.end")) {
            open = None;
        }
        covered.push(open.is_some() && !code.is_empty() && code != "{");
        let (begins, body) = if path.ends_with(".go") {
            (code.starts_with("s.begin(") || code.starts_with("s.beginParallel("), "")
        } else {
            let begins =
                ["PHASE(", "PARALLEL_PHASE(", "SERIES_PHASE(", "try (var phase = ", "with s.phase(", "with run.phase("];
            let body = code.split_once(") {").map_or("", |(_, body)| body.trim_matches([' ', '\\']));
            (begins.iter().any(|begin| code.starts_with(begin)), body)
        };
        if begins && body.is_empty() {
            open = Some(indent(line));
        } else if begins {
            // The whole phase is one line.
            covered.pop();
            covered.push(body != "}");
        }
    }
    cover_whole_functions(source, &mut covered);
    covered
}

/// Covers the bodies of a user's functions that have no phase.
fn cover_whole_functions(source: &str, covered: &mut [bool]) {
    let lines: Vec<&str> = source.lines().collect();
    let is_function = |line: &str| ["BENCH(", "BASELINE(", "@pagewise.bench"].iter().any(|begin| line.starts_with(begin));
    for start in (0..lines.len()).filter(|&start| is_function(lines[start])) {
        let is_head = |line: &&&str| **line == "{" || line.starts_with("def ");
        let body = start + 1 + lines[start + 1..].iter().take_while(is_head).count();
        let is_inside = |line: &&&str| line.is_empty() || indent(line) > 0;
        let end = body + lines[body..].iter().take_while(is_inside).count();
        covered[start] = lines[start].ends_with('}');
        if !covered[body..end].contains(&true) {
            (body..end).for_each(|line| covered[line] = !lines[line].trim().is_empty());
        }
    }
}
