//! Marks in the source of a user's Go or Java file: its functions with their phases, and its parameters.

use super::parameters::{self, ValueKind};
use super::{EXPERIMENT, FRESH_KEY};
use record::kind::OWN_WORKER;
use std::fmt::Write as _;

/// Name of the phase of a function that is timed as a whole.
pub(super) const WHOLE: &str = "run";
/// The number of operations of a Go benchmark that loops over it, and its usual value.
const LOOPS: [&str; 2] = ["N", "1000"];
/// The parameter of the threads.
const THREADS: &str = "threads";

/// A language whose marks are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    Go,
    Java,
}

/// A function that is marked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MarkedFunction {
    /// Its name in tables, and the one by which it is called.
    pub name: String,
    pub called: String,
    pub line: usize,
    pub phases: Vec<String>,
    pub is_baseline: bool,
    pub takes_run: bool,
    pub returns: bool,
}

/// A file's marks.
#[derive(Debug, Default)]
pub(super) struct MarkedFile {
    pub functions: Vec<MarkedFunction>,
    /// True if each turn has a process of its own.
    pub is_fresh: bool,
    parameters: Vec<[String; 2]>,
    has_threads: bool,
    has_results: bool,
    has_rate: bool,
}

impl MarkedFile {
    pub fn read(text: &str, marks: Marks) -> MarkedFile {
        let mut file = MarkedFile::default();
        // The code of each function, and which of them are not marked: phases of these are those of who calls them.
        let mut bodies: Vec<String> = Vec::new();
        let mut helpers: Vec<bool> = Vec::new();
        let mut is_baseline = false;
        let mut is_marked = false;
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.trim_start();
            is_baseline |= code == "//pagewise:baseline";
            if is_comment(code) {
                continue;
            }
            let head = match marks {
                Marks::Go => go_head(line),
                Marks::Java => {
                    let (rest, of_baseline) = annotated(code);
                    is_marked |= rest.len() < code.len();
                    is_baseline |= of_baseline;
                    Some(rest)
                        .filter(|rest| is_marked && !rest.starts_with('@'))
                        .and_then(java_head)
                }
            };
            let is_helper = head.is_none();
            if let Some(head) = head.or_else(|| helper_head(line, marks)) {
                file.functions.push(MarkedFunction {
                    line: number,
                    is_baseline: is_baseline && !is_helper,
                    ..head
                });
                bodies.push(String::new());
                helpers.push(is_helper);
                if !is_helper {
                    (is_baseline, is_marked) = (false, false);
                }
            }
            if let Some(body) = bodies.last_mut() {
                body.push_str(code);
            }
            file.take_line(code, marks);
        }
        file.take_helpers(&bodies, &helpers);
        file
    }

    /// Gives functions without a phase those of the unmarked ones that they call, and leaves these out.
    fn take_helpers(&mut self, bodies: &[String], helpers: &[bool]) {
        let all = std::mem::take(&mut self.functions);
        let unmarked: Vec<MarkedFunction> = all
            .iter()
            .zip(helpers)
            .filter(|(function, is_helper)| **is_helper && !function.phases.is_empty())
            .map(|(function, _)| function.clone())
            .collect();
        for ((mut function, is_helper), body) in all.into_iter().zip(helpers).zip(bodies) {
            if *is_helper {
                continue;
            }
            if function.phases.is_empty() {
                let calls =
                    |helper: &&MarkedFunction| body.contains(&format!("{}(", helper.called));
                for phase in unmarked
                    .iter()
                    .filter(calls)
                    .flat_map(|helper| &helper.phases)
                {
                    if !function.phases.contains(phase) {
                        function.phases.push(phase.clone());
                    }
                }
            }
            self.functions.push(function);
        }
    }

    /// Phases, results, rates and parameters of a line.
    fn take_line(&mut self, code: &str, marks: Marks) {
        let begins = match marks {
            Marks::Go => ".Begin(\"",
            Marks::Java => ".phase(\"",
        };
        if let Some(function) = self.functions.last_mut() {
            for phase in after(code, begins).filter_map(|rest| rest.split('"').next()) {
                if !function.phases.iter().any(|known| known == phase) {
                    function.phases.push(phase.to_owned());
                }
            }
        }
        self.has_rate |= code.contains(".Bytes(") || code.contains(".bytes(");
        self.has_results |= code.contains(".Result(");
        match marks {
            Marks::Go => {
                for rest in after(code, ".Param(\"") {
                    let mut parts = rest.split('"');
                    if let (Some(name), Some(values)) = (parts.next(), parts.nth(1)) {
                        self.take_parameter(name, values);
                    }
                }
                for rest in after(code, ".Threads(\"") {
                    self.take_threads(rest);
                }
                self.is_fresh |= code.starts_with("var _ =") && code.contains(".Fresh()");
                if code.contains("b.N") || code.contains("b.Loop(") {
                    let [name, values] = LOOPS;
                    self.take_parameter(name, values);
                }
            }
            Marks::Java if code.starts_with("@Param(") || code.starts_with("@pagewise.Param(") => {
                for setting in code.split('"').skip(1).step_by(2) {
                    let (name, values) = setting.split_once('=').unwrap_or((setting, ""));
                    self.take_parameter(name.trim(), values);
                }
            }
            Marks::Java => {
                let annotation = code
                    .trim_start_matches("@pagewise.")
                    .trim_start_matches('@');
                if let Some(rest) = annotation.strip_prefix("Threads(\"") {
                    self.take_threads(rest);
                }
                self.is_fresh |= annotation.len() < code.len() && annotation.starts_with("Fresh");
            }
        }
    }

    /// The values of the parameter of the threads, up to the end of their text.
    fn take_threads(&mut self, rest: &str) {
        self.has_threads = true;
        self.take_parameter(THREADS, rest.split('"').next().unwrap_or_default());
    }

    fn take_parameter(&mut self, name: &str, values: &str) {
        if !self.parameters.iter().any(|[known, _]| known == name) {
            self.parameters.push([name, values].map(str::to_owned));
        }
    }

    /// What the worker of these functions says of them when it lists itself.
    pub fn list(&self, file: &str) -> String {
        let mut text = String::new();
        let mut keys = Vec::new();
        for [name, values] in &self.parameters {
            let (key, kind) = if self.has_threads && *name == THREADS {
                (ValueKind::Count.word().to_owned(), ValueKind::Count)
            } else {
                parameters::kinds(values)
            };
            keys.push(format!("{name}:{key}"));
            let _ = writeln!(text, "about\tparameter\t{name}\t{}\t{values}", kind.word());
        }
        if self.has_rate {
            text += "about\tunit\tbyte\n";
        }
        let mut isolation = "shared";
        if self.is_fresh {
            let _ = writeln!(text, "about\t{FRESH_KEY}\tyes");
            isolation = "fresh";
        }
        let marked = self.functions.iter().filter(|f| f.is_baseline);
        let mut baselines: Vec<&str> = marked.map(|f| f.name.as_str()).collect();
        if let (true, Some(first)) = (baselines.is_empty(), self.functions.first()) {
            baselines.push(&first.name);
        }
        if !baselines.is_empty() {
            let _ = writeln!(text, "about\tbaseline\t{}", baselines.join(","));
        }
        let has_results = self.has_results || self.functions.iter().any(|f| f.returns);
        let results = if has_results { "yes" } else { "no" };
        let _ = writeln!(text, "about\tresults\t{results}");
        let mut phases_of_all: Vec<&str> = Vec::new();
        let keys = keys.join(" ");
        for function in &self.functions {
            let phases = function.phases();
            for phase in &phases {
                if !phases_of_all.contains(phase) {
                    phases_of_all.push(phase);
                }
            }
            let MarkedFunction { name, line, .. } = function;
            let about = format!("{name}, line {line} of {file}");
            text += &method([name, "method", &about], &phases, &keys, isolation);
        }
        text + &method(
            ["empty", "null", "An empty body"],
            &phases_of_all,
            &keys,
            isolation,
        )
    }
}

impl MarkedFunction {
    pub fn phases(&self) -> Vec<&str> {
        if self.phases.is_empty() {
            vec![WHOLE]
        } else {
            self.phases.iter().map(String::as_str).collect()
        }
    }
}

/// The line of a method by its name, role and summary.
fn method(
    [name, role, summary]: [&str; 3],
    phases: &[&str],
    keys: &str,
    isolation: &str,
) -> String {
    let phases = phases.join(" ");
    format!(
        "method\t{EXPERIMENT}\t{name}\trole={role}\tsummary={summary}\tsource={OWN_WORKER}\tphases={phases}\tkeys={keys}\
         \tmemory=0\tisolation={isolation}\n"
    )
}

fn is_comment(code: &str) -> bool {
    ["//", "*", "/*"].iter().any(|lead| code.starts_with(lead))
}

/// What follows each place of a text in a line.
fn after<'a>(line: &'a str, text: &'static str) -> impl Iterator<Item = &'a str> {
    line.split(text).skip(1)
}

/// A Go function of a turn: `func BenchmarkFill(b *pagewise.B) {`. Its name in tables has no `Benchmark`.
fn go_head(line: &str) -> Option<MarkedFunction> {
    let (called, rest) = line.strip_prefix("func ")?.split_once('(')?;
    let name = called.strip_prefix("Benchmark")?;
    rest.split_once(')')?
        .0
        .ends_with(".B")
        .then(|| MarkedFunction {
            name: if name.is_empty() { called } else { name }
                .trim_start_matches('_')
                .to_owned(),
            called: called.to_owned(),
            takes_run: true,
            ..MarkedFunction::default()
        })
}

/// A function that is not marked, by its first line: `func read(b *pagewise.B) {`, `static long read(Run run) {`.
fn helper_head(line: &str, marks: Marks) -> Option<MarkedFunction> {
    let called = match marks {
        Marks::Go => line.strip_prefix("func ")?.split_once('(')?.0.to_owned(),
        Marks::Java => {
            let is_head = line.trim_end().ends_with('{') && !line.contains(['=', ';', '@']);
            let head = java_head(line).filter(|_| is_head)?;
            let before = line.split_whitespace().next()?;
            if ["else", "new", "return", "}"].contains(&before) {
                return None;
            }
            head.called
        }
    };
    (!called.is_empty()).then(|| MarkedFunction {
        called,
        ..MarkedFunction::default()
    })
}

/// A line of Java without the annotations that mark a method, and whether one of these marks the baseline.
fn annotated(code: &str) -> (&str, bool) {
    let (mut rest, mut is_baseline) = (code, false);
    while let Some(annotation) = rest.split_whitespace().next() {
        match annotation
            .trim_start_matches("@pagewise.")
            .trim_start_matches('@')
        {
            _ if !annotation.starts_with('@') => break,
            "Bench" => {}
            "Baseline" => is_baseline = true,
            _ => break,
        }
        rest = rest[annotation.len()..].trim_start();
    }
    (rest, is_baseline)
}

/// A Java method by its first line: `static long fill(Run run) {`.
fn java_head(line: &str) -> Option<MarkedFunction> {
    let (before, rest) = line.split_once('(')?;
    let mut parts = before.split_whitespace().rev();
    let (name, kind) = (parts.next()?, parts.next()?);
    Some(MarkedFunction {
        name: name.to_owned(),
        called: name.to_owned(),
        takes_run: !rest.split(')').next()?.trim().is_empty(),
        returns: kind != "void",
        ..MarkedFunction::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_go_are_its_benchmarks() {
        let text = "package main\nimport \"pagewise\"\nvar _ = pagewise.Param(\"bytes\", \"1MiB,64MiB\")\n\
                    // func BenchmarkNone(b *pagewise.B) {\n\
                    func BenchmarkFill(b *pagewise.B) {\n\tb.Begin(\"map\")\n\tb.End()\n\tb.Begin(\"fill\")\n\tb.End()\n\tb.Result(1)\n}\n\
                    //pagewise:baseline\nfunc Benchmark_whole(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t}\n}\n\
                    func BenchmarkHelper(t int) {\n}\n";
        let file = MarkedFile::read(text, Marks::Go);
        let names: Vec<&str> = file.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["Fill", "whole"]);
        assert_eq!(file.functions[0].phases, ["map", "fill"]);
        let list = file.list("mine.go");
        for line in [
            "about\tparameter\tbytes\tsize\t1MiB,64MiB\n",
            "about\tparameter\tN\tnumber\t1000\n",
            "about\tbaseline\twhole\n",
            "about\tresults\tyes\n",
            "\tFill\trole=method\tsummary=Fill, line 5 of mine.go\t",
            "\tempty\trole=null\tsummary=An empty body\tsource=own\tphases=map fill run\tkeys=bytes:size N:number\t",
        ] {
            assert!(list.contains(line), "{line}: {list}");
        }
    }

    #[test]
    fn threads_are_counted_and_fresh_processes_isolated() {
        let go = "var _ = pagewise.Threads(\"1,2,N\")\nvar _ = pagewise.Fresh()\nfunc BenchmarkAdd(b *pagewise.B) {\n}\n";
        let java = "@pagewise.Fresh\n@Threads(\"1,2,N\")\nclass Mine {\n    @Bench\n    static void Add() {\n    }\n}\n";
        for (text, marks) in [(go, Marks::Go), (java, Marks::Java)] {
            let list = MarkedFile::read(text, marks).list("mine");
            for part in [
                "about\tparameter\tthreads\tcount\t1,2,N\n",
                "about\tfresh\tyes\n",
                "keys=threads:count\tmemory=0\tisolation=fresh\n",
            ] {
                assert!(list.contains(part), "{marks:?} {part}: {list}");
            }
            let list = MarkedFile::read(&text.replace("Fresh", "Other"), marks).list("mine");
            assert!(
                !list.contains("fresh") && list.contains("\tisolation=shared\n"),
                "{marks:?}: {list}"
            );
        }
    }

    #[test]
    fn phases_of_a_helper_are_those_of_who_calls_it() {
        let go = "func read(b *pagewise.B, n int) {\n\tb.Begin(\"put\")\n\tb.End()\n}\n\
                  func BenchmarkOne(b *pagewise.B) { read(b, 1) }\nfunc BenchmarkWhole(b *pagewise.B) {\n\tother()\n}\n";
        let java = "class Mine {\n    static long read(pagewise.Run run, int n) throws Exception {\n        \
                    for (int i = 0; i < n; i++) {\n        }\n        try (var phase = run.phase(\"put\")) {\n        }\n    }\n    \
                    @pagewise.Bench\n    static long One(pagewise.Run run) {\n        return read(run, 1);\n    }\n    \
                    @pagewise.Bench\n    static long Whole() {\n        return other();\n    }\n}\n";
        for (text, marks) in [(go, Marks::Go), (java, Marks::Java)] {
            let file = MarkedFile::read(text, marks);
            let phases: Vec<_> = file
                .functions
                .iter()
                .map(|function| (function.name.as_str(), function.phases()))
                .collect();
            let expected = [("One", vec!["put"]), ("Whole", vec![WHOLE])];
            assert_eq!(phases, expected, "{marks:?}");
        }
    }

    #[test]
    fn marks_of_java_are_its_annotations() {
        let text = "@pagewise.Param({\"way=small,large\", \"idle=100us,1ms\"})\nclass Mine {\n    @Bench\n    @SuppressWarnings(\"x\")\n    \
                    static void fill(Run run) {\n        try (var phase = run.phase(\"fill\")) {\n        }\n    }\n\n    \
                    @pagewise.Baseline static long whole() {\n        return 1;\n    }\n    static int helper() {\n    }\n}\n";
        let file = MarkedFile::read(text, Marks::Java);
        let expected = MarkedFunction {
            name: "fill".to_owned(),
            called: "fill".to_owned(),
            line: 5,
            phases: vec!["fill".to_owned()],
            takes_run: true,
            ..MarkedFunction::default()
        };
        assert_eq!(file.functions[0], expected);
        let whole = &file.functions[1];
        assert!(whole.is_baseline && whole.returns && !whole.takes_run);
        assert_eq!(file.functions.len(), 2);
        let list = file.list("Mine.java");
        assert!(
            list.contains("parameter\tway\tword\tsmall,large\n")
                && list.contains("parameter\tidle\tunit\t100us,1ms\n")
                && list.contains("keys=way:small|large idle:text"),
            "{list}"
        );
    }
}
