//! What the preprocessor makes of the C worker's files: the functions of ours that are compiled into the phases of a method. A
//! reference for `show` that shares nothing with it: it reads what the compiler reads, after every macro.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

/// One word, number, string or sign, with the file and line that it came from.
struct Token {
    text: String,
    file: usize,
    line: usize,
}

/// A function, or a variable with its value.
struct Definition {
    name: String,
    is_function: bool,
    is_static: bool,
    file: usize,
    line: usize,
    /// Its body or value, as a range of the unit's tokens.
    body: (usize, usize),
}

/// One file as it is compiled, without what comes from the system's headers.
struct Unit {
    tokens: Vec<Token>,
    definitions: Vec<Definition>,
    by_name: HashMap<String, usize>,
}

/// All files of the worker, by path.
pub struct Compiled {
    files: Vec<String>,
    units: BTreeMap<String, Unit>,
    /// What a unit offers to all others.
    offered: HashMap<String, (String, usize)>,
}

/// What ends the measurement instead of being a part of it.
const ENDS: [&str; 3] = ["fail", "fail_because", "skip"];
/// The file of the stopwatch, which is no part of what it times.
const STOPWATCH: &str = "workers/c/harness/phase.c";

/// A function that is compiled into a phase, by the line that names it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// The line there, from one.
    pub line: usize,
    /// Whether it has phases of its own, so that not all of it is timed.
    pub has_phases: bool,
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// A path without its `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        if part == ".." && !parts.is_empty() {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The tokens of a preprocessed text that are ours.
fn tokens(text: &str, files: &mut Vec<String>) -> Vec<Token> {
    let (mut found, mut file, mut line) = (Vec::new(), None, 0);
    for row in text.lines() {
        if let Some(marker) = row.strip_prefix("# ") {
            let mut words = marker.split('"');
            line = words.next().and_then(|n| n.trim().parse().ok()).unwrap_or(0);
            let path = plain(words.next().unwrap_or_default());
            file = path.starts_with("workers/c/").then(|| {
                files.iter().position(|known| *known == path).unwrap_or_else(|| {
                    files.push(path);
                    files.len() - 1
                })
            });
            continue;
        }
        if let Some(file) = file {
            cut(row, |text| found.push(Token { text: text.to_owned(), file, line }));
        }
        line += 1;
    }
    found
}

fn cut<'a>(row: &'a str, mut each: impl FnMut(&'a str)) {
    let bytes = row.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let length = match bytes[at] {
            quote @ (b'"' | b'\'') => {
                let mut end = at + 1;
                while end < bytes.len() && bytes[end] != quote {
                    end += if bytes[end] == b'\\' { 2 } else { 1 };
                }
                (end + 1).min(bytes.len()) - at
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => 2,
            _ => bytes[at..].iter().take_while(word).count().max(1),
        };
        if !bytes[at].is_ascii_whitespace() {
            each(&row[at..at + length]);
        }
        at += length;
    }
}

/// The index behind what closes the bracket at `open`.
fn closed(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(["{", "(", "["].contains(&token.text.as_str()));
        depth -= i32::from(["}", ")", "]"].contains(&token.text.as_str()));
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn definitions(tokens: &[Token]) -> Vec<Definition> {
    let (mut found, mut at, mut start) = (Vec::new(), 0, 0);
    // The name that is being declared, and whether it has arguments.
    let (mut name, mut value): (Option<usize>, Option<usize>) = (None, None);
    while at < tokens.len() {
        let text = tokens[at].text.as_str();
        let mut ended = None;
        match text {
            "__attribute__" | "__asm__" => at = closed(tokens, at + 1),
            "(" | "[" => {
                if at > start && name.is_none() && value.is_none() && is_word(&tokens[at - 1].text) {
                    name = Some(at - 1);
                }
                at = closed(tokens, at);
            }
            "=" => {
                if name.is_none() && is_word(&tokens[at - 1].text) {
                    name = Some(at - 1);
                }
                value = Some(at + 1);
                at += 1;
            }
            "{" => {
                let end = closed(tokens, at);
                if tokens[at - 1].text == ")" && value.is_none() {
                    ended = Some((true, (at + 1, end - 1)));
                }
                at = end;
            }
            ";" => {
                ended = Some((false, (value.unwrap_or(at), at)));
                at += 1;
            }
            _ => at += 1,
        }
        let Some((is_function, body)) = ended else { continue };
        if let Some(name) = name.filter(|_| is_function || value.is_some()) {
            let Token { text, file, line } = &tokens[name];
            let is_static = tokens[start..name].iter().any(|t| t.text == "static");
            let (name, file, line) = (text.clone(), *file, *line);
            found.push(Definition { name, is_function, is_static, file, line, body });
        }
        (start, name, value) = (at, None, None);
    }
    found
}

impl Unit {
    /// The bodies of the phases within a range.
    fn phases(&self, (from, to): (usize, usize)) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for at in (from..to).filter(|at| self.tokens[*at].text == "phase_begin") {
            let ends = |at: &usize| ["phase_end", "phase_end_series"].contains(&self.tokens[*at].text.as_str());
            let Some(end) = (at..to).find(ends) else { continue };
            let open = closed(&self.tokens, end + 1) + 1;
            let body = match self.tokens[open].text.as_str() {
                "{" => (open + 1, closed(&self.tokens, open) - 1),
                _ => (open, (open..to).find(|at| self.tokens[*at].text == ";").unwrap_or(to)),
            };
            found.push(body);
        }
        found
    }

    /// The words of a range that are no fields and no names that are declared there, and whether each is called.
    fn words(&self, (from, to): (usize, usize)) -> impl Iterator<Item = (&str, bool)> {
        let text = |at: usize| self.tokens.get(at).map_or("", |t| t.text.as_str());
        let free = move |at: &usize| {
            let before = at.checked_sub(1).map_or("", text);
            let declared = is_word(before) && !["return", "else", "case", "do", "sizeof"].contains(&before);
            is_word(text(*at)) && ![".", "->"].contains(&before) && !declared
        };
        (from..to).filter(free).map(move |at| (text(at), text(at + 1) == "("))
    }

    fn has_phases(&self, number: usize) -> bool {
        let body = self.definitions[number].body;
        (body.0..body.1).any(|at| self.tokens[at].text == "phase_begin")
    }
}

/// A definition by its unit and its number there.
type Place<'a> = (&'a str, usize);

impl Compiled {
    /// Preprocesses files, given by their paths below the root, with the flags that matter to the preprocessor.
    pub fn read(root: &Path, sources: &[String]) -> Compiled {
        let mut all = Compiled { files: Vec::new(), units: BTreeMap::new(), offered: HashMap::new() };
        for source in sources {
            let mut compiler = Command::new("cc");
            compiler.current_dir(root).args([
                "-E",
                "-std=gnu11",
                "-D_GNU_SOURCE",
                "-Iworkers/c/harness",
                "-Iworkers/c",
            ]);
            let output = compiler.arg(source).output().unwrap();
            assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
            let tokens = tokens(&String::from_utf8_lossy(&output.stdout), &mut all.files);
            let definitions = definitions(&tokens);
            let names = definitions.iter().enumerate().map(|(number, d)| (d.name.clone(), number));
            let by_name: HashMap<String, usize> = names.collect();
            let offers = definitions.iter().enumerate().filter(|(_, d)| !d.is_static);
            all.offered.extend(offers.map(|(number, d)| (d.name.clone(), (source.clone(), number))));
            all.units.insert(source.clone(), Unit { tokens, definitions, by_name });
        }
        all
    }

    /// What a name in a unit stands for: its own, or what another one offers to all, which has to be called.
    fn find(&self, unit: &str, name: &str, called: bool) -> Option<Place<'_>> {
        let (own, text) = self.units.get_key_value(unit)?;
        let of_own = text.by_name.get(name).map(|number| (own.as_str(), *number));
        let (path, number) =
            of_own.or_else(|| self.offered.get(name).map(|(path, number)| (path.as_str(), *number)))?;
        let definition = &self.units[path].definitions[number];
        let watch = self.files[definition.file] == STOPWATCH;
        ((called || definition.is_static) && !watch && !ENDS.contains(&name)).then_some((path, number))
    }

    /// All that is named by these ranges and by what they name; what has phases is entered only `through` them.
    fn reached<'a>(&'a self, from: &[(&'a str, (usize, usize))], through: bool) -> Vec<Place<'a>> {
        let (mut found, mut waiting): (Vec<Place>, _) = (Vec::new(), from.to_vec());
        while let Some((path, range)) = waiting.pop() {
            for (word, called) in self.units[path].words(range) {
                let Some(place) = self.find(path, word, called) else { continue };
                if !found.contains(&place) {
                    found.push(place);
                    let unit = &self.units[place.0];
                    if through || !unit.has_phases(place.1) {
                        waiting.push((place.0, unit.definitions[place.1].body));
                    }
                }
            }
        }
        found
    }

    /// The functions that are compiled into the phases of a method.
    pub fn in_phases(&self, source: &str, method: &str) -> BTreeSet<Function> {
        let (source, unit) = self.units.get_key_value(source).unwrap();
        let quoted = format!("\"{method}\"");
        let is_method = |d: &&Definition| {
            let value = &unit.tokens[d.body.0..d.body.1];
            !d.is_function && value.windows(3).any(|w| w[0].text == "name" && w[1].text == "=" && w[2].text == quoted)
        };
        let declared = unit.definitions.iter().find(is_method).unwrap_or_else(|| panic!("{source} has no {method}"));
        let mut phases = Vec::new();
        for (path, number) in self.reached(&[(source.as_str(), declared.body)], true) {
            let unit = &self.units[path];
            phases.extend(unit.phases(unit.definitions[number].body).into_iter().map(|body| (path, body)));
        }
        let mut found = BTreeSet::new();
        for (path, number) in self.reached(&phases, false) {
            let (unit, d) = (&self.units[path], &self.units[path].definitions[number]);
            if d.is_function {
                let (name, file) = (d.name.clone(), self.files[d.file].clone());
                found.insert(Function { name, file, line: d.line, has_phases: unit.has_phases(number) });
            }
        }
        found
    }
}
