//! No circles: not among the modules of a folder, not among C files, Go files or Java packages.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, below, code, none};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// One circle of a graph in words, if there is one.
fn circle(graph: &Graph) -> Option<String> {
    fn walk(
        graph: &Graph,
        node: &String,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<String> {
        if let Some(start) = way.iter().position(|n| n == node) {
            return Some(format!("{} → {node}", way[start..].join(" → ")));
        }
        if !done.insert(node.clone()) {
            return None;
        }
        way.push(node.clone());
        let found = graph
            .get(node)
            .into_iter()
            .flatten()
            .find_map(|next| walk(graph, next, way, done));
        way.pop();
        found
    }
    let mut done = BTreeSet::new();
    graph
        .keys()
        .find_map(|node| walk(graph, node, &mut Vec::new(), &mut done))
}

/// The module that a file of a crate is, as its path: `src/run/command/mod.rs` is `run/command`.
fn module_of(name: &str) -> Option<String> {
    let path = name.split_once("src/")?.1.strip_suffix(".rs")?;
    Some(path.strip_suffix("/mod").unwrap_or(path).to_owned())
        .filter(|path| !["lib", "main"].contains(&path.as_str()))
}

/// Each name of a list of imports up to its closing brace, by itself: `a, b::{c, d}}` is `a`, `b/c` and `b/d`.
fn items(list: &str) -> Vec<String> {
    let (mut names, mut prefixes, mut name) = (Vec::new(), Vec::new(), String::new());
    for c in list.chars() {
        match c {
            '{' => prefixes.push(std::mem::take(&mut name)),
            ',' | '}' => {
                let name = std::mem::take(&mut name);
                let name = name.split_whitespace().next().unwrap_or_default();
                let path = format!("{}{name}", prefixes.concat()).replace("::", "/");
                names.extend((!name.is_empty()).then_some(path));
                if c == '}' && prefixes.pop().is_none() {
                    break;
                }
            }
            c if c.is_whitespace() && name.is_empty() => {}
            c => name.push(c),
        }
    }
    names
}

/// The paths that a text names after `crate::` or `super::`, seen from its module.
fn named(module: &str, text: &str) -> Vec<String> {
    let words = |c: char| !(c.is_alphanumeric() || c == '_' || c == ':');
    let mut paths = Vec::new();
    for (start, root) in text
        .match_indices("crate::")
        .chain(text.match_indices("super::"))
    {
        let before = text[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let mut base: Vec<&str> = if root == "crate::" {
            Vec::new()
        } else {
            module.split('/').collect()
        };
        let mut rest = &text[start..];
        while let Some(below) = rest.strip_prefix("super::") {
            base.pop();
            rest = below;
        }
        rest = rest.strip_prefix("crate::").unwrap_or(rest);
        let end = rest.find(words).unwrap_or(rest.len());
        let base: Vec<&str> = base
            .into_iter()
            .chain(rest[..end].split("::").filter(|p| !p.is_empty()))
            .collect();
        match rest[end..].strip_prefix('{') {
            Some(list) => items(list).iter().for_each(|item| {
                paths.push(
                    format!("{}/{item}", base.join("/"))
                        .trim_matches('/')
                        .to_owned(),
                );
            }),
            None => paths.push(base.join("/")),
        }
    }
    paths
}

/// Which modules of each folder use which of their neighbours. What a folder's own `mod.rs` names does not count.
fn folders(crate_files: &[Source]) -> BTreeMap<String, Graph> {
    let modules: BTreeSet<String> = crate_files
        .iter()
        .filter_map(|(name, _)| module_of(name))
        .collect();
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for (name, text) in crate_files {
        let Some(module) = module_of(name) else {
            continue;
        };
        for path in named(&module, &code(text)) {
            let parts: Vec<&str> = path.split('/').collect();
            let known = (1..=parts.len())
                .rev()
                .map(|n| parts[..n].join("/"))
                .find(|p| modules.contains(p));
            let Some(target) = known else { continue };
            let (a, b): (Vec<&str>, Vec<&str>) =
                (module.split('/').collect(), target.split('/').collect());
            let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            if same < a.len() && same < b.len() {
                let graph = graphs.entry(a[..same].join("/")).or_default();
                graph
                    .entry(a[same].to_owned())
                    .or_default()
                    .insert(b[same].to_owned());
            }
        }
    }
    graphs
}

fn circles_of(crate_files: &[Source]) -> Vec<String> {
    folders(crate_files).values().filter_map(circle).collect()
}

#[test]
fn modules_of_a_folder_form_no_circle() {
    let mut wrong = circles_of(&below(&["src"], &[".rs"]));
    for name in ["files", "stats", "record", "schedule", "judge", "report"] {
        wrong.extend(circles_of(&below(
            &[&format!("crates/{name}/src")],
            &[".rs"],
        )));
    }
    none("circles", &wrong);
}

#[test]
fn a_circle_of_modules_is_found() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let a = file("src/a.rs", "use crate::b::{self, X};\n");
    assert_eq!(
        circles_of(&[
            a.clone(),
            file("src/b/mod.rs", "mod c;\n"),
            file("src/b/c.rs", "use super::Y;\n")
        ])
        .len(),
        0
    );
    assert_eq!(
        circles_of(&[
            a.clone(),
            file("src/b/mod.rs", ""),
            file("src/b/c.rs", "use crate::{a, d};\n")
        ])
        .len(),
        1
    );
    let nested = "use crate::{d::{self, E}, a::X};\n";
    assert_eq!(
        circles_of(&[
            a.clone(),
            file("src/b/mod.rs", ""),
            file("src/b/c.rs", nested)
        ])
        .len(),
        1
    );
    assert_eq!(
        items("a, b::{c, d::{e, f as g}}, h}; x"),
        ["a", "b/c", "b/d/e", "b/d/f", "h"]
    );
    assert_eq!(
        circles_of(&[a, file("src/b.rs", "fn f() -> super::a::Z {}\n")]),
        ["a → b → a"]
    );
    let inside = [
        file("src/m/x.rs", "use super::y::Y;\n"),
        file("src/m/y.rs", "use crate::m::x;\n"),
    ];
    assert_eq!(circles_of(&inside).len(), 1);
}

/// Which header includes which, each by its path below `workers/c`.
fn headers(files: &[Source]) -> Graph {
    let all: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let mut graph = Graph::new();
    for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".h")) {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        for header in text
            .lines()
            .filter_map(|l| l.trim().strip_prefix("#include \"")?.strip_suffix('"'))
        {
            let places = [folder, "workers/c", "workers/c/harness", "workers/c/helper"];
            let target = places
                .iter()
                .map(|place| format!("{place}/{header}"))
                .find(|path| all.contains(path.as_str()));
            graph.entry(name.clone()).or_default().extend(target);
        }
    }
    graph
}

/// Files of the harness that include what belongs to a method or to the helper, which stand on it.
fn upwards(files: &[Source]) -> Vec<String> {
    let above = |name: &str| {
        ["workers/c/methods/", "workers/c/helper/"]
            .iter()
            .any(|folder| name.starts_with(folder))
    };
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let others: BTreeSet<String> = files
        .iter()
        .filter(|(name, _)| above(name))
        .map(|(name, _)| base(name))
        .collect();
    let mut wrong = Vec::new();
    for (name, text) in files.iter().filter(|(name, _)| !above(name)) {
        let included = text
            .lines()
            .filter_map(|l| l.trim().strip_prefix("#include \"")?.strip_suffix('"'));
        wrong.extend(
            included
                .filter(|h| others.contains(&base(h)))
                .map(|header| format!("{name} includes {header}")),
        );
    }
    wrong
}

#[test]
fn headers_form_no_circle_and_the_harness_knows_no_method() {
    let files = below(&["workers/c"], &[".c", ".h"]);
    let mut wrong: Vec<String> = circle(&headers(&files)).into_iter().collect();
    wrong.extend(upwards(&files));
    none("C files", &wrong);
}

#[test]
fn a_circle_of_headers_is_found() {
    let file = |name: &str, text: &str| (format!("workers/c/{name}"), text.to_owned());
    let (a, b) = (
        file("harness/a.h", "#include \"b.h\"\n"),
        file("helper/b.h", "#include \"a.h\"\n"),
    );
    assert!(circle(&headers(&[a.clone(), b])).is_some());
    assert!(circle(&headers(&[a.clone(), file("harness/b.h", "")])).is_none());
    assert_eq!(
        upwards(&[a, file("helper/b.h", "")]),
        ["workers/c/harness/a.h includes b.h"]
    );
}

/// The functions and variables that a C file defines for others: what stands at the start of a line and is not `static`.
fn exported(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    for line in text
        .lines()
        .filter(|l| l.starts_with(|c: char| c.is_alphabetic()))
    {
        if ["static", "typedef", "extern", "enum", "__attribute__"]
            .iter()
            .any(|w| line.starts_with(w))
        {
            continue;
        }
        if line.starts_with("struct ") && line.ends_with('{') {
            continue;
        }
        // The name is the last word before what follows it: parameters, a value, a size, or the end of the declaration.
        let end = line
            .find(['(', '=', '[', ';', '{', ','])
            .unwrap_or(line.len());
        let name = line[..end]
            .trim_end()
            .rsplit(|c| !word(c))
            .next()
            .unwrap_or_default();
        // A label names nothing that others call.
        if !name.is_empty()
            && line[..end].trim().len() > name.len()
            && !line.trim_end().ends_with(':')
        {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Which C file of a folder uses what another one defines.
fn uses(files: &[Source]) -> Graph {
    let defined: Vec<(&String, BTreeSet<String>)> = files
        .iter()
        .map(|(name, text)| (name, exported(text)))
        .collect();
    let mut graph = Graph::new();
    for (name, text) in files {
        let lines = text
            .lines()
            .filter(|l| !l.trim_start().starts_with(['*', '/']));
        // Every other piece between quotes is a text.
        let code: Vec<String> = lines
            .map(|l| l.replace("\\\"", "").split('"').step_by(2).collect())
            .collect();
        let words: BTreeSet<&str> = code
            .iter()
            .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')))
            .collect();
        let own = exported(text);
        let used = defined.iter().filter(|(other, _)| *other != name);
        let used = used.filter(|(_, names)| {
            names
                .iter()
                .any(|n| !own.contains(n) && words.contains(n.as_str()))
        });
        graph
            .entry(name.clone())
            .or_default()
            .extend(used.map(|(other, _)| (*other).clone()));
    }
    graph
}

#[test]
fn c_files_of_a_folder_form_no_circle() {
    let files = below(&["workers/c"], &[".c"]);
    assert!(
        exported(
            &files
                .iter()
                .find(|(name, _)| name.ends_with("/outcome.c"))
                .unwrap()
                .1
        )
        .contains("fact_word")
    );
    let mut folders: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    for file in files {
        folders
            .entry(file.0.rsplit_once('/').unwrap().0.to_owned())
            .or_default()
            .push(file);
    }
    assert!(folders.len() > 10, "the methods' folders were found");
    let found: Vec<String> = folders
        .values()
        .filter_map(|files| circle(&uses(files)))
        .collect();
    none("circles of C files", &found);
}

#[test]
fn a_circle_of_c_files_is_found() {
    let file = |name: &str, text: &str| (format!("workers/c/harness/{name}"), text.to_owned());
    let (a, b) = (
        file("a.c", "void first(void)\n{\n    second();\n}\n"),
        "int *second(void)\n{\n    first();\n}\n",
    );
    assert!(circle(&uses(&[a.clone(), file("b.c", b)])).is_some());
    assert!(
        circle(&uses(&[
            a.clone(),
            file("b.c", &b.replace("first", "third"))
        ]))
        .is_none()
    );
    assert!(circle(&uses(&[a, file("b.c", &b.replace("int", "static int"))])).is_none());
}

/// Go without comments and quoted text.
fn go_code(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines
        .map(|l| {
            l.replace("\\\"", "")
                .split(['"', '`'])
                .step_by(2)
                .collect::<String>()
                + "\n"
        })
        .collect()
}

/// What a Go file defines: functions, and methods as `.name`. Its types are left out: a type that others carry about is what a
/// package is there for.
fn go_defined(code: &str) -> BTreeSet<String> {
    let name = |rest: &str| {
        rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let of = |line: &str| {
        let rest = line.strip_prefix("func ")?;
        let method = rest
            .strip_prefix('(')
            .and_then(|rest| Some(format!(".{}", name(rest.split_once(") ")?.1))));
        Some(method.unwrap_or_else(|| name(rest)))
            .filter(|name| !["main", "init"].contains(&name.as_str()))
    };
    code.lines().filter_map(of).collect()
}

/// Which Go file calls what another one defines; a method of many types says nothing.
fn go_uses(files: &[Source]) -> Graph {
    let codes: Vec<(&String, String)> = files
        .iter()
        .map(|(name, text)| (name, go_code(text)))
        .collect();
    let defined: Vec<(&String, BTreeSet<String>)> = codes
        .iter()
        .map(|(name, code)| (*name, go_defined(code)))
        .collect();
    let mut graph = Graph::new();
    for (name, code) in &codes {
        let bodies = code
            .lines()
            .filter(|line| !line.starts_with("func "))
            .collect::<Vec<_>>()
            .join("\n");
        let mut words = BTreeSet::new();
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        for path in bodies.split(|c: char| !word(c)) {
            let mut parts = path.split('.');
            words.extend(parts.next().map(str::to_owned));
            words.extend(parts.map(|method| format!(".{method}")));
        }
        let only = |method: &String| {
            defined
                .iter()
                .filter(|(_, names)| names.contains(method))
                .count()
                == 1
        };
        let others = defined.iter().filter(|(other, _)| other != name);
        let used = others.filter(|(_, names)| names.iter().any(|n| words.contains(n) && only(n)));
        graph
            .entry((*name).clone())
            .or_default()
            .extend(used.map(|(other, _)| (*other).clone()));
    }
    graph
}

#[test]
fn go_files_form_no_circle() {
    let files = below(&["workers/go"], &[".go"]);
    let graph = go_uses(&files);
    assert!(
        graph["workers/go/fault_touch.go"].contains("workers/go/touch.go"),
        "calls are seen"
    );
    none(
        "circles of Go files",
        &circle(&graph).into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn a_circle_of_go_files_is_found() {
    let file = |name: &str, text: &str| (format!("workers/go/{name}"), text.to_owned());
    let a = file("a.go", "func first() {\n\tx.second()\n}\n");
    let b = |body: &str| {
        file(
            "b.go",
            &format!("func (x *thing) second() {{\n\t{body}\n}}\n"),
        )
    };
    assert!(circle(&go_uses(&[a.clone(), b("first()")])).is_some());
    assert!(circle(&go_uses(&[a.clone(), b("// first()")])).is_none());
    assert!(circle(&go_uses(&[a, b("say(\"first\")")])).is_none());
}

#[test]
fn java_packages_form_no_circle() {
    let mut graph = Graph::new();
    for (name, text) in below(&["workers/java"], &[".java"]) {
        let package = |line: &str, word: &str| {
            let path = line.strip_prefix(word)?.trim_end_matches(';').trim();
            let path = path.strip_prefix("static ").unwrap_or(path);
            Some(
                path.split('.')
                    .take_while(|p| !p.starts_with(char::is_uppercase))
                    .collect::<Vec<_>>()
                    .join("."),
            )
        };
        let own = text
            .lines()
            .find_map(|l| package(l, "package "))
            .unwrap_or_else(|| panic!("{name} has no package"));
        let imports = text
            .lines()
            .filter_map(|l| package(l, "import "))
            .filter(|p| p.starts_with("pagewise") && *p != own);
        graph.entry(own.clone()).or_default().extend(imports);
    }
    none(
        "circles of packages",
        &circle(&graph).into_iter().collect::<Vec<_>>(),
    );
}
