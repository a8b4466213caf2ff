//! What a method reaches: the functions on the way to its phases, and everything that is compiled into them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::items::{Item, Kind, Language, identifiers, items, mask};

/// Words that are followed by a name without declaring it.
const KEYWORDS: [&str; 6] = ["return", "else", "case", "goto", "new", "throw"];
/// What ends the cell, and so its measurement.
const ENDS: [&str; 5] = ["fail", "fail_because", "skip", "failBecause", "failReading"];
/// Files, or folders, of what every method of a worker stands on: no way to a phase leads through them.
const COMMON: [&str; 10] = [
    "/harness/",
    "/go/methods.go",
    "/go/slot.go",
    "/go/main.go",
    "/go/request.go",
    "/go/run.go",
    "/go/signals.go",
    "/go/warm.go",
    "/pagewise/Slot.java",
    "/pagewise/Worker.java",
];

/// One source with its items.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub path: &'a str,
    pub text: &'a str,
    pub masked: Vec<u8>,
    /// The files that its names may come from, itself first.
    scope: Vec<usize>,
}

/// All sources of one language.
#[derive(Debug)]
pub(super) struct Index<'a> {
    pub sources: Vec<Source<'a>>,
    pub items: Vec<Item>,
    by_name: HashMap<String, Vec<usize>>,
    /// The parameters and variables of each item itself.
    own: Vec<HashSet<String>>,
    /// What each item names, asked often.
    refs: RefCell<HashMap<(usize, usize, usize), Vec<usize>>>,
    /// Java: the method's own file.
    home: Option<usize>,
    language: Language,
}

/// What `show` prints of a method, as numbers of items in reading order.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// The way from `run` to the phases.
    pub path: Vec<usize>,
    /// What the phases call and use.
    pub measured: Vec<usize>,
}

impl<'a> Index<'a> {
    pub fn new(language: Language, all: &[(&'a str, &'a str)]) -> Index<'a> {
        let ours = |path: &str| match language {
            Language::C => path.starts_with("workers/c/") && (path.ends_with(".c") || path.ends_with(".h")),
            Language::Go => path.ends_with(".go"),
            Language::Java => path.ends_with(".java"),
        };
        let mut sources: Vec<Source> = Vec::new();
        for (path, text) in all.iter().filter(|(path, _)| ours(path)) {
            sources.push(Source { path, text, masked: mask(text, language), scope: Vec::new() });
        }
        let scopes: Vec<_> = (0..sources.len()).map(|file| scope(&sources, file, language)).collect();
        sources.iter_mut().zip(scopes).for_each(|(source, scope)| source.scope = scope);
        let mut found = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            found.extend(items(file, source.text, &source.masked, language));
        }
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, item) in found.iter().enumerate() {
            item.names
                .iter()
                .filter(|name| *name != "_")
                .for_each(|name| by_name.entry(name.clone()).or_default().push(number));
        }
        let own = found.iter().map(|item| own(&sources[item.file].masked, item)).collect();
        Index { sources, items: found, by_name, own, refs: RefCell::default(), home: None, language }
    }

    /// From here on a method of this file is followed.
    pub fn follow_from(&mut self, file: usize) {
        self.home = (self.language == Language::Java).then_some(file);
    }

    /// Java: the file of the class that a file's class extends.
    pub fn parent(&self, file: usize) -> Option<usize> {
        let source = &self.sources[file];
        let words = identifiers(&source.masked, (0, source.masked.len()));
        let name = words.iter().skip_while(|(_, word)| *word != "extends").nth(1)?.1;
        let beside = format!("{}/{name}.java", folder(source.path));
        self.sources.iter().position(|other| other.path == beside)
    }

    /// The items that a name in a file stands for.
    fn resolve(&self, file: usize, name: &str) -> Vec<usize> {
        let Some(all) = self.by_name.get(name) else { return Vec::new() };
        let scope = &self.sources[file].scope;
        // Java: what a method's own file has is also what an interface is called for.
        let is_seen = |i: &usize| scope.contains(&self.items[*i].file) || Some(self.items[*i].file) == self.home;
        let seen: Vec<_> = all.iter().copied().filter(is_seen).collect();
        if !seen.is_empty() || self.language != Language::C {
            return seen;
        }
        // Declared in a header, defined in a file that is linked with this one.
        all.iter().copied().filter(|i| !self.items[*i].local).collect()
    }

    /// What a range of an item's text names, in order; the stopwatch itself is not followed.
    fn named(&self, item: usize, range: (usize, usize)) -> Vec<usize> {
        let key = (item, range.0, range.1);
        if let Some(known) = self.refs.borrow().get(&key) {
            return known.clone();
        }
        let found = self.named_anew(item, range);
        self.refs.borrow_mut().insert(key, found.clone());
        found
    }

    fn named_anew(&self, item: usize, range: (usize, usize)) -> Vec<usize> {
        let file = self.items[item].file;
        let words = identifiers(&self.sources[file].masked, range);
        let mut found: Vec<usize> = Vec::new();
        for (at, word) in words {
            if self.is_field(file, at)
                || self.is_own(item, word)
                || ENDS.contains(&word)
                || !self.may_name(file, at, word)
            {
                continue;
            }
            let new = self.resolve(file, word).into_iter().filter(|i| *i != item && !self.is_stopwatch(*i));
            new.for_each(|i| {
                if !found.contains(&i) {
                    found.push(i);
                }
            });
        }
        found
    }

    fn is_stopwatch(&self, item: usize) -> bool {
        let path = self.sources[self.items[item].file].path;
        let watches = ["/harness/phase.c", "/go/phase.go", "/go/clock.go", "/pagewise/Phase.java"];
        let watch = watches.iter().any(|end| path.ends_with(end));
        watch && !self.items[item].names.iter().any(|name| name == "now_ns" || name == "nowNs")
            || self.items[item].names.iter().any(|name| name == "PHASE" || name.ends_with("_PHASE"))
    }

    /// Go and Java: a method is named by a call, anything else without a value before it. A class or a field stands for no
    /// code.
    fn may_name(&self, file: usize, at: usize, word: &str) -> bool {
        let masked = &self.sources[file].masked;
        let called = masked.get(at + word.len()) == Some(&b'(');
        let constructed = masked[..at].ends_with(b"new ");
        let constant = word.len() > 1 && word.to_uppercase() == word;
        match self.language {
            Language::C => true,
            Language::Go => called || !masked[..at].ends_with(b"."),
            Language::Java => called && !constructed || constant,
        }
    }

    /// C: a field's name, which stands for nothing else; a call by it is `calls_by_pointer`'s.
    fn is_field(&self, file: usize, at: usize) -> bool {
        let before = &self.sources[file].masked[..at];
        self.language == Language::C && (before.ends_with(b".") || before.ends_with(b"->"))
    }

    /// Whether a word is a parameter or a variable of the item itself.
    fn is_own(&self, item: usize, word: &str) -> bool {
        self.own[item].contains(word)
    }

    fn whole(&self, item: usize) -> (usize, usize) {
        let Item { code, kind, file, range, .. } = &self.items[item];
        let masked = &self.sources[*file].masked;
        // What stands before a function's body names the function and its types.
        let body = (*code..range.1).find(|at| *kind == Kind::Function && masked[*at] == b'{');
        (body.unwrap_or(*code), range.1)
    }

    /// Follows a method from where it begins.
    pub fn reach(&self, start: &[usize]) -> Reached {
        let mut leads = BTreeMap::new();
        let mut path = Vec::new();
        for item in start {
            self.leads(*item, &mut leads, &mut HashSet::new());
            self.walk(*item, &leads, &mut path);
        }
        let mut measured: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        for item in &path {
            for phase in &self.items[*item].phases {
                waiting.extend(self.named(*item, *phase));
            }
        }
        if path.iter().any(|item| self.calls_by_pointer(*item, &self.items[*item].phases)) {
            waiting.extend(path.iter().flat_map(|item| self.handed_over(*item)));
        }
        let mut at = 0;
        while at < waiting.len() {
            let item = waiting[at];
            at += 1;
            if measured.contains(&item) || path.contains(&item) {
                continue;
            }
            measured.push(item);
            waiting.extend(self.named(item, self.whole(item)));
            if self.calls_by_pointer(item, &[self.whole(item)]) {
                waiting.extend(path.iter().flat_map(|item| self.handed_over(*item)));
            }
        }
        Reached { path, measured }
    }

    /// Whether an item has a phase or reaches one that has.
    fn leads(&self, item: usize, known: &mut BTreeMap<usize, bool>, open: &mut HashSet<usize>) -> bool {
        if let Some(answer) = known.get(&item) {
            return *answer;
        }
        if !open.insert(item) {
            return false;
        }
        let mut answer = !self.items[item].phases.is_empty();
        for next in self.named(item, self.whole(item)) {
            let common = self.sources[self.items[next].file].path;
            let inner = COMMON.iter().any(|part| common.contains(part));
            answer |= !inner && self.leads(next, known, open);
        }
        open.remove(&item);
        known.insert(item, answer);
        answer
    }

    fn walk(&self, item: usize, leads: &BTreeMap<usize, bool>, path: &mut Vec<usize>) {
        if path.contains(&item) || !leads.get(&item).copied().unwrap_or(false) {
            return;
        }
        path.push(item);
        self.named(item, self.whole(item)).into_iter().for_each(|next| self.walk(next, leads, path));
    }

    /// Whether some range calls what it was handed: by a field, a pointer or a parameter.
    fn calls_by_pointer(&self, item: usize, ranges: &[(usize, usize)]) -> bool {
        let item = &self.items[item];
        let masked = &self.sources[item.file].masked;
        let called = |p: usize, w: &str| masked.get(p + w.len()) == Some(&b'(');
        ranges.iter().flat_map(|range| identifiers(masked, *range)).any(|(p, w)| {
            let by_field = p > 1 && (masked[p - 1] == b'.' || &masked[p - 2..p] == b"->");
            called(p, w) && by_field
                || masked.get(p + w.len()) == Some(&b')') && masked[..p].ends_with(b"(*")
                || called(p, w) && self.resolve(item.file, w).is_empty() && self.is_parameter(item, w)
        })
    }

    fn is_parameter(&self, item: &Item, word: &str) -> bool {
        let masked = &self.sources[item.file].masked;
        let head_end = (item.code..item.range.1).find(|at| masked[*at] == b'{').unwrap_or(item.range.1);
        identifiers(masked, (item.code, head_end)).iter().skip(1).any(|(_, w)| *w == word)
    }

    /// Functions and tables of functions that an item names without calling them.
    fn handed_over(&self, item: usize) -> Vec<usize> {
        let file = self.items[item].file;
        let masked = &self.sources[file].masked;
        let words = identifiers(masked, self.whole(item));
        let named = words.into_iter().filter(|(p, w)| masked.get(p + w.len()) != Some(&b'('));
        let all = named.filter(|(p, w)| !self.is_field(file, *p) && !self.is_own(item, w));
        let all = all.flat_map(|(_, w)| self.resolve(file, w)).filter(|i| *i != item && !self.is_stopwatch(*i));
        let is_code = |i: usize| self.items[i].kind == Kind::Function;
        let table = |i: usize| self.named(i, self.whole(i)).into_iter().any(is_code);
        all.filter(|i| is_code(*i) || self.items[*i].kind == Kind::Value && table(*i)).collect()
    }
}

/// The parameters and variables of a function: what stands there behind the name of a type.
fn own(masked: &[u8], item: &Item) -> HashSet<String> {
    if item.kind != Kind::Function {
        return HashSet::new();
    }
    let words = identifiers(masked, (item.code, item.range.1));
    let declared = |pair: &&[(usize, &str)]| {
        let [(a, kind), (b, name)] = **pair else { return false };
        let between = &masked[a + kind.len()..b];
        let spaced = !between.is_empty() && between.iter().all(|c| b" *\n".contains(c));
        let after = masked[b + name.len()..].iter().find(|c| !c.is_ascii_whitespace());
        spaced && !KEYWORDS.contains(&kind) && after.is_some_and(|c| b"=;,)[:".contains(c))
    };
    words.windows(2).skip(1).filter(declared).map(|pair| pair[1].1.to_owned()).collect()
}

/// The files that a file's names may come from, itself first.
fn scope(sources: &[Source], file: usize, language: Language) -> Vec<usize> {
    if language == Language::Go {
        return (0..sources.len()).collect();
    }
    let mut scope = vec![file];
    let mut at = 0;
    while at < scope.len() {
        let from = scope[at];
        at += 1;
        let new: Vec<usize> = match language {
            Language::C => included(sources, from),
            _ if at == 1 || folder(sources[from].path) == folder(sources[file].path) => mentioned(sources, from),
            _ => Vec::new(),
        };
        new.into_iter().for_each(|next| {
            if !scope.contains(&next) {
                scope.push(next);
            }
        });
    }
    scope
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn included(sources: &[Source], file: usize) -> Vec<usize> {
    let names = sources[file].text.lines().filter_map(|l| l.strip_prefix("#include \"")?.strip_suffix('"'));
    let own = folder(sources[file].path);
    let found = names.filter_map(|name| {
        let beside = match name.strip_prefix("../") {
            Some(rest) => format!("{}/{rest}", folder(own)),
            None => format!("{own}/{name}"),
        };
        let places = [beside, format!("workers/c/harness/{name}"), format!("workers/c/{name}")];
        places.iter().find_map(|place| sources.iter().position(|s| s.path == *place))
    });
    found.collect()
}

/// Java: the files whose class a file mentions.
fn mentioned(sources: &[Source], file: usize) -> Vec<usize> {
    let masked = &sources[file].masked;
    let words: HashSet<&str> = identifiers(masked, (0, masked.len())).into_iter().map(|(_, w)| w).collect();
    let class = |path: &str| path.rsplit('/').next().unwrap_or_default().trim_end_matches(".java").to_owned();
    let near = |path: &str| {
        let package = |p: &str| folder(p).rsplit('/').next().unwrap_or_default().to_owned();
        package(path) == package(sources[file].path) || package(path) == "pagewise"
    };
    (0..sources.len())
        .filter(|other| near(sources[*other].path) && words.contains(class(sources[*other].path).as_str()))
        .collect()
}
