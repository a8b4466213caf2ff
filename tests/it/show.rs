//! `show` keeps its promise for every method of every worker: each phase that the method declares is there, with its body
//! marked, and so is each function of ours that a body calls by its name.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use pagewise::worker::{self, carried};
use record::method::Method;

use crate::support::compiled::{Compiled, Function};

/// Methods whose phases are empty, or named by a loop over the list of phases.
fn has_named_phases(text: &str, phase: &str) -> bool {
    let calls = ["PHASE(s, \"", "begin(\"", "beginParallel(\"", "phase(\""];
    calls.iter().any(|call| text.contains(&format!("{call}{phase}\"")))
        || text.contains(".begin(phase)")
        || text.contains(".phase(phase)")
        || text.contains(".begin(unit.phase)")
}

/// What is shown of every method of every worker, made once for all tests. Both levels of the native worker have one source.
fn shown() -> &'static [(String, Method, String)] {
    static SHOWN: OnceLock<Vec<(String, Method, String)>> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let workers = worker::all(&[], &[]).unwrap();
        let workers = workers.iter().filter(|worker| worker.name != "c-O0");
        let methods = workers.flat_map(|worker| worker.methods().iter().map(move |method| (worker, method)));
        let one = |(worker, method): (&worker::Worker, &Method)| {
            (worker.name.clone(), method.clone(), report::explain::show(method, &worker.name, carried::SOURCES))
        };
        methods.map(one).collect()
    })
}

#[test]
fn every_phase_of_every_method_is_shown() {
    let mut wrong = Vec::new();
    for (worker, method, text) in shown() {
        let name = format!("{}/{}@{worker}", method.experiment, method.name);
        for phase in &method.phases {
            wrong.extend((!has_named_phases(text, phase)).then(|| format!("{name}: no phase {phase}")));
        }
        let marked = text.lines().filter(|line| line.starts_with("> ")).count();
        wrong.extend((marked == 0 && method.name != "null").then(|| format!("{name}: nothing is marked")));
    }
    assert!(shown().len() > 100, "only {} methods", shown().len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_phase_calls_is_shown_and_what_it_does_not_is_not() {
    let workers = worker::all(&[], &[]).unwrap();
    let text = |name: &str, experiment: &str, method: &str| {
        let worker = worker::find(&workers, name).unwrap();
        report::explain::show(worker.method(experiment, method).unwrap(), name, carried::SOURCES)
    };
    // By a macro that makes the loops, a table of pointers, and two headers; both ends.
    let pipe = text("c-O3", "message", "pipe");
    for there in ["> #define TRIPS", "> static inline bool stream_send", "bool tried(", "run_b(struct slot"] {
        assert!(pipe.contains(there), "{there}\n{pipe}");
    }
    assert!(!pipe.contains("datagram_send("), "{pipe}");
    let touch = text("c-O3", "fault", "touch");
    assert!(touch.contains("> void on_every_thread(") && touch.contains("touch_pages(const struct part"), "{touch}");
    assert!(!touch.contains("void fault_proofs("), "{touch}");
    let go = text("go", "fault", "touch");
    assert!(go.contains("> func touchPages(") && !go.contains("func (s *slot) faultProofs("), "{go}");
}

/// Functions whose line is not in what is shown, or is there without its mark.
fn missing(shown: &str, functions: &BTreeSet<Function>) -> Vec<String> {
    let source = |file: &str| carried::SOURCES.iter().find(|(path, _)| *path == file).map_or("", |(_, text)| *text);
    let is_shown = |function: &&Function| {
        let line = source(&function.file).lines().nth(function.line - 1).unwrap_or_default();
        let marks = if function.has_phases { &["  ", "> "][..] } else { &["> "] };
        !line.is_empty() && marks.iter().any(|mark| shown.lines().any(|l| l == format!("{mark}{line}").trim_end()))
    };
    let wrong = functions.iter().filter(|function| !is_shown(function));
    wrong.map(|f| format!("{} ({}:{})", f.name, f.file, f.line)).collect()
}

#[test]
fn what_the_compiler_puts_into_a_phase_is_shown() {
    let ours = |path: &str| path.starts_with("workers/c/harness/") || path.starts_with("workers/c/methods/");
    let sources = carried::SOURCES.iter().map(|(path, _)| (*path).to_owned());
    let sources: Vec<String> = sources.filter(|path| ours(path) && path.ends_with(".c")).collect();
    let compiled = Compiled::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")), &sources);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (_, method, shown) in shown().iter().filter(|(worker, ..)| worker == "c-O3") {
        let functions = compiled.in_phases(&method.source, &method.name);
        count += functions.len();
        let name = format!("{}/{}", method.experiment, method.name);
        wrong.extend(missing(shown, &functions).into_iter().map(|function| format!("{name}: no {function}")));
        // The law of this test: each function that is taken out of what is shown is missed.
        if let Some(first) = functions.iter().find(|f| !f.has_phases) {
            let without: Vec<&str> = shown.lines().filter(|l| !l.contains(&format!("{}(", first.name))).collect();
            let told = missing(&without.join("\n"), &functions);
            assert!(told.iter().any(|word| word.starts_with(&first.name)), "{name}: {} is not missed", first.name);
        }
    }
    assert!(count > 500, "only {count} functions in phases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
