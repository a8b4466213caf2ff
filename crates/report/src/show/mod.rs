//! `show`: all that is compiled into a method's phases, in reading order, with the clock's place marked.

mod items;
mod python;
mod reach;

use std::fmt::Write as _;

use items::{Item, Language};
use reach::Index;

/// The sources that a method's phases consist of: the way from its beginning to its phases, then what these call and use,
/// transitively. What the clock covers is marked by `>`. `source` is the method's own file; `sources` are all, by path.
pub fn measured_source(experiment: &str, name: &str, source: &str, sources: &[(&str, &str)]) -> Option<String> {
    let language = match source.rsplit('.').next()? {
        "c" => Language::C,
        "go" => Language::Go,
        "java" => Language::Java,
        "py" => return python::measured_source(source, sources),
        _ => return None,
    };
    let mut index = Index::new(language, sources);
    let file = index.sources.iter().position(|s| s.path == source)?;
    index.follow_from(file);
    let mut start = start(&index, file, language, experiment, name);
    if language == Language::Java && !start.iter().any(|item| is_run(&index.items[*item])) {
        // It inherits where it begins.
        let parent = index.parent(file)?;
        start.extend(self::start(&index, parent, language, experiment, name));
    }
    let reached = index.reach(&start);
    let mut text = "// Lines that begin with > are what the clock covers.\n".to_owned();
    let declaration = start.iter().filter(|item| language == Language::C && !reached.path.contains(item));
    let path = declaration.chain(&reached.path);
    let mut last = usize::MAX;
    for item in path {
        let item = &index.items[*item];
        print(&mut text, &index, item, &item.phases, &mut last);
    }
    if !reached.measured.is_empty() {
        text.push_str("\n// ---- what the phases call and use ----\n");
    }
    for item in &reached.measured {
        let item = &index.items[*item];
        print(&mut text, &index, item, &[(item.code, item.range.1)], &mut last);
    }
    Some(text)
}

fn is_run(item: &Item) -> bool {
    item.names.iter().any(|name| name == "run" || name == "runB")
}

/// Where a method begins: its METHOD(), its registration, or its `run` and `runB`.
fn start(index: &Index, file: usize, language: Language, experiment: &str, name: &str) -> Vec<usize> {
    let is_start = |item: &&(usize, &Item)| {
        let (_, item) = item;
        let text = &index.sources[file].text[item.code..item.range.1];
        match language {
            Language::C => {
                text.split('(').next().is_some_and(|word| word.ends_with("METHOD")) && !text.starts_with('#')
            }
            Language::Go => text.contains(&format!("register(\"{experiment}\", \"{name}\"")),
            Language::Java => is_run(item) && text.contains("public void"),
        }
    };
    let items = index.items.iter().enumerate().filter(|(_, item)| item.file == file);
    items.filter(|item| is_start(&item)).map(|(number, _)| number).collect()
}

fn print(text: &mut String, index: &Index, item: &Item, timed: &[(usize, usize)], last: &mut usize) {
    let source = &index.sources[item.file];
    if *last != item.file {
        let _ = write!(text, "\n// {}\n", source.path);
        *last = item.file;
    }
    text.push('\n');
    let (mut at, end) = item.range;
    while at < end {
        let line_end = source.text[at..end].find('\n').map_or(end, |n| at + n);
        let covers = |range: &(usize, usize)| {
            let (from, to) = (range.0.max(at), range.1.min(line_end));
            from < to && !source.text[from..to].trim().is_empty()
        };
        let mark = if timed.iter().any(covers) { '>' } else { ' ' };
        let line = &source.text[at..line_end];
        let _ = writeln!(text, "{}", format!("{mark} {line}").trim_end());
        at = line_end + 1;
    }
}
