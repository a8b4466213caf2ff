//! `show` keeps its promise for every method of every worker: each phase that the method declares is there, with its body
//! marked, and so is each function of ours that a body calls by its name.

use pagewise::worker::{self, carried};

/// Methods whose phases are empty, or named by a loop over the list of phases.
fn has_named_phases(text: &str, phase: &str) -> bool {
    let calls = ["PHASE(s, \"", "begin(\"", "beginParallel(\"", "phase(\""];
    calls.iter().any(|call| text.contains(&format!("{call}{phase}\"")))
        || text.contains(".begin(phase)")
        || text.contains(".begin(unit.phase)")
}

#[test]
fn every_phase_of_every_method_is_shown() {
    let workers = worker::all(&[]).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    // Both levels of the native worker have one source.
    for worker in workers.iter().filter(|worker| worker.name != "c-O0") {
        for method in &worker.methods {
            count += 1;
            let text = report::explain::show(method, &worker.name, carried::SOURCES);
            let name = format!("{}/{}@{}", method.experiment, method.name, worker.name);
            for phase in &method.phases {
                wrong.extend((!has_named_phases(&text, phase)).then(|| format!("{name}: no phase {phase}")));
            }
            let marked = text.lines().filter(|line| line.starts_with("> ")).count();
            wrong.extend((marked == 0 && method.name != "null").then(|| format!("{name}: nothing is marked")));
        }
    }
    assert!(count > 100, "only {count} methods");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_phase_calls_is_shown_and_what_it_does_not_is_not() {
    let workers = worker::all(&[]).unwrap();
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
