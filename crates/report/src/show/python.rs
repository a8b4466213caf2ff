//! `show` for Python, whose blocks are known by their indentation: the way from `run` to the phases, then the functions that
//! the phases' bodies call, found by their names in the method's own module and in those that it imports.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

/// A function, or a method of a class.
#[derive(Debug)]
struct Item<'a> {
    path: &'a str,
    name: &'a str,
    /// Each line, and whether it stands in the body of a phase.
    lines: Vec<(&'a str, bool)>,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines of a block that begins at `first`: all that are deeper, without the empty ones behind them.
fn block_end(lines: &[&str], first: usize) -> usize {
    let depth = indent(lines[first]);
    let inside = |line: &&&str| line.trim().is_empty() || indent(line) > depth;
    let mut end = first + 1 + lines[first + 1..].iter().take_while(inside).count();
    while lines[end - 1].trim().is_empty() {
        end -= 1;
    }
    end
}

fn items<'a>(path: &'a str, text: &'a str) -> Vec<Item<'a>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut timed = vec![false; lines.len()];
    for first in (0..lines.len()).filter(|n| lines[*n].trim_start().starts_with("with s.phase(")) {
        timed[first + 1..block_end(&lines, first)].fill(true);
    }
    let starts = (0..lines.len()).filter(|n| indent(lines[*n]) <= 4 && lines[*n].trim_start().starts_with("def "));
    let item = |first: usize| {
        let range = first..block_end(&lines, first);
        let name = lines[first].trim_start().trim_start_matches("def ").split('(').next().unwrap_or_default();
        Item { path, name, lines: range.map(|n| (lines[n], timed[n])).collect() }
    };
    starts.map(item).collect()
}

impl Item<'_> {
    fn has_phases(&self) -> bool {
        self.lines.iter().any(|(_, timed)| *timed)
            || self.lines.iter().any(|(line, _)| line.trim_start().starts_with("with s.phase("))
    }
}

/// The words of a line that stand before a bracket, or all of them, each with the word before its dot, if there is one.
fn words(line: &str, only_calls: bool) -> BTreeSet<(&str, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut found, mut of) = (BTreeSet::new(), "");
    let mut rest = line.split("# ").next().unwrap_or_default();
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if !only_calls || behind.starts_with('(') {
            found.insert((of, word));
        }
        of = if behind.starts_with('.') { word } else { "" };
        rest = behind;
    }
    found
}

/// The name of a module.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default().trim_end_matches(".py")
}

/// The modules of the same folder that a module stands on, itself first.
fn scope<'a>(source: &'a str, sources: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let (folder, mut found) = (source.rsplit_once('/').map_or("", |(folder, _)| folder), Vec::new());
    let mut open = VecDeque::from([source]);
    while let Some(path) = open.pop_front() {
        let Some(one) = sources.iter().find(|(known, _)| *known == path) else { continue };
        if found.contains(one) {
            continue;
        }
        found.push(*one);
        let imports = one.1.lines().filter(|line| line.starts_with("from pagewise."));
        let named: BTreeSet<&str> = imports.flat_map(|line| words(line, false)).map(|(_, word)| word).collect();
        let beside = sources
            .iter()
            .map(|(path, _)| *path)
            .filter(|path| path.rsplit_once('/').is_some_and(|(f, _)| f == folder));
        open.extend(beside.filter(|path| named.contains(stem(path))));
    }
    found
}

/// All items of a name, of the module that stands before its dot, or of the nearest module that has one.
fn named(items: &[Item], of: &str, name: &str) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..items.len()).filter(|n| items[*n].name == name).collect();
    let module = numbers.iter().find(|n| stem(items[**n].path) == of).or(numbers.first());
    let path = module.map(|n| items[*n].path);
    numbers.retain(|n| Some(items[*n].path) == path);
    numbers
}

/// The items that a line of each item names, by the lines that `taken` lets through.
fn links(items: &[Item], only_calls: bool, taken: impl Fn(&Item, bool) -> bool) -> Vec<Vec<usize>> {
    let of = |item: &Item| {
        let lines = item.lines[1..].iter().filter(|(_, timed)| taken(item, *timed));
        let all: BTreeSet<_> = lines.flat_map(|(line, _)| words(line, only_calls)).collect();
        all.into_iter().flat_map(|(of, word)| named(items, of, word)).collect()
    };
    items.iter().map(of).collect()
}

/// Every item that is reached from these, in the order in which they are met.
fn reach(links: &[Vec<usize>], from: &[usize]) -> Vec<usize> {
    let (mut met, mut open) = (Vec::new(), VecDeque::from(from.to_vec()));
    while let Some(number) = open.pop_front() {
        if !met.contains(&number) {
            met.push(number);
            open.extend(&links[number]);
        }
    }
    met
}

/// See [`super::measured_source`].
pub(super) fn measured_source(source: &str, sources: &[(&str, &str)]) -> Option<String> {
    let source = sources.iter().map(|(path, _)| *path).find(|path| *path == source)?;
    let items: Vec<Item> = scope(source, sources).into_iter().flat_map(|(path, text)| items(path, text)).collect();
    let begins = |item: &Item| item.path == source && ["run", "run_b"].contains(&item.name);
    let start: Vec<usize> = (0..items.len()).filter(|n| begins(&items[*n])).collect();
    let mentions = links(&items, false, |_, _| true);
    let leads = |number: &usize| reach(&mentions, &[*number]).iter().any(|n| items[*n].has_phases());
    let path: Vec<usize> = reach(&mentions, &start).into_iter().filter(|n| start.contains(n) || leads(n)).collect();
    let with_phases: Vec<usize> = path.iter().copied().filter(|n| items[*n].has_phases()).collect();
    let calls = links(&items, true, |item, timed| timed || !item.has_phases());
    let measured: Vec<usize> = reach(&calls, &with_phases).into_iter().filter(|n| !with_phases.contains(n)).collect();
    let path: Vec<usize> = path.into_iter().filter(|n| !measured.contains(n)).collect();
    let mut text = "# Lines that begin with > are what the clock covers.\n".to_owned();
    let mut last = "";
    path.iter().for_each(|n| print(&mut text, &items[*n], false, &mut last));
    if !measured.is_empty() {
        text.push_str("\n# ---- what the phases call and use ----\n");
    }
    measured.iter().for_each(|n| print(&mut text, &items[*n], true, &mut last));
    Some(text)
}

fn print<'a>(text: &mut String, item: &Item<'a>, whole: bool, last: &mut &'a str) {
    if *last != item.path {
        let _ = write!(text, "\n# {}\n", item.path);
        *last = item.path;
    }
    text.push('\n');
    for (line, timed) in &item.lines {
        let mark = if (whole || *timed) && !line.trim().is_empty() { '>' } else { ' ' };
        let _ = writeln!(text, "{}", format!("{mark} {line}").trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "def touch(m):
    for i in m:
        step(i)


def step(i):
    pass


def proof(m):
    step(m)


def run(m):
    with s.phase(\"second\"):
        step(m)
";
    const OWN: &str = "\"\"\"Words.\"\"\"
from pagewise.x import common


def run(s):
    m = [1]
    with s.phase(\"first\"):
        common.touch(m)

    common.run(m)
";

    #[test]
    fn what_a_phase_calls_is_marked_and_what_it_does_not_is_left_out() {
        let sources = [("w/x/own.py", OWN), ("w/x/common.py", COMMON)];
        let text = measured_source("w/x/own.py", &sources).unwrap();
        for there in [
            "      with s.phase(\"first\"):",
            "      with s.phase(\"second\"):",
            ">         common.touch(m)",
            "> def touch(m):",
            "> def step(i):",
        ] {
            assert!(text.lines().any(|line| line == there), "{there}\n{text}");
        }
        assert!(!text.contains("def proof"), "{text}");
        assert!(text.contains("  def run(m):"), "the run of the other module: {text}");
        assert!(text.contains("      common.run(m)"), "{text}");
    }
}
