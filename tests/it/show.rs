//! `show` prints each phase that a method declares, with its body marked, for every method of every worker.

use std::sync::OnceLock;

use crate::support::place::{Place, said};

use pagewise::worker::{self, carried};
use record::method::{Method, Role};

/// Methods whose phases are empty, or named by a loop over the list of phases.
fn has_named_phases(text: &str, phase: &str) -> bool {
    let calls = ["PHASE(s, \"", "begin(\"", "beginParallel(\"", "phase(\""];
    calls
        .iter()
        .any(|call| text.contains(&format!("{call}{phase}\"")))
        || text.contains(".begin(phase)")
        || text.contains(".phase(phase)")
        || text.contains(".begin(unit.phase)")
}

/// What is shown of every method of every worker, made once for all tests. Both levels of the native worker have one source.
fn shown() -> &'static [(String, Method, String)] {
    static SHOWN: OnceLock<Vec<(String, Method, String)>> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let (workers, sources) = (worker::all(&[], &[]).unwrap(), carried::all_sources());
        let workers = workers.iter().filter(|worker| worker.name != "c-O0");
        let methods =
            workers.flat_map(|worker| worker.methods().iter().map(move |method| (worker, method)));
        let one = |(worker, method): (&worker::Worker, &Method)| {
            (
                worker.name.clone(),
                method.clone(),
                report::explain::show(method, &worker.name, &sources),
            )
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
            wrong.extend(
                (!has_named_phases(text, phase)).then(|| format!("{name}: no phase {phase}")),
            );
        }
        if method.source.ends_with(".c") {
            let file = text.split("\n// workers/").nth(1).unwrap_or_default();
            let declared: Vec<&str> = file.split("\n  METHOD(").skip(1).collect();
            let named = format!(".name = \"{}\"", method.name);
            let is_alone = matches!(declared[..], [only] if only.contains(&named));
            wrong.extend((!is_alone).then(|| format!("{name}: {} METHODs", declared.len())));
        }
        let marked = text.lines().filter(|line| line.starts_with("> ")).count();
        wrong.extend(
            (marked == 0 && method.role != Role::Null)
                .then(|| format!("{name}: nothing is marked")),
        );
    }
    assert!(shown().len() > 100, "only {} methods", shown().len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn included_files_are_shown_and_others_are_not() {
    let text = |worker: &str, experiment: &str, name: &str| {
        let is_it = |method: &Method| method.experiment == experiment && method.name == name;
        let found = shown()
            .iter()
            .find(|(of, method, _)| of == worker && is_it(method));
        found
            .map(|(.., text)| text.as_str())
            .unwrap_or_else(|| panic!("no {experiment}/{name}@{worker}"))
    };
    // A header of its folder with the file of its functions, the stopwatch, nothing of another method.
    let touch = text("c-O3", "fault", "touch");
    for there in [
        "\n// workers/c/methods/fault/touch.c\n",
        "\n// workers/c/methods/fault/fault.h\n",
        "\n// workers/c/methods/fault/fault.c\n",
        "#define PHASE(s, name)",
        "\n>     PARALLEL_PHASE(s, \"first-touch\") {",
        "\n>         p = mmap(",
        "\n      check_map(s, p);",
    ] {
        assert!(touch.contains(there), "{there}\n{touch}");
    }
    // The method of the same body, and of another file.
    for other in ["METHOD(fault_thp", "fault/populate.c"] {
        assert!(!touch.contains(other), "{other}\n{touch}");
    }
    let go = text("go", "fault", "touch");
    for there in [
        "\n// workers/go/touch.go\n",
        "\n>       s.onEveryThread(touchPages",
        "\n        s.end()",
    ] {
        assert!(go.replace('\t', "      ").contains(there), "{there}\n{go}");
    }
    assert!(
        !go.contains("fault_thp.go") && !go.contains("workers/go/share.go"),
        "{go}"
    );
}

#[test]
fn a_method_is_found_by_its_name_and_each_of_several_is_named() {
    let place = Place::new();
    let show = |name: &str| said(&mut place.command(&["show", name])).out;
    assert_eq!(show("aligned-thp"), show("allocate/aligned-thp"));
    let several = show("populate");
    for experiment in ["fault", "prefault"] {
        let command = format!("pagewise show {experiment}/populate ");
        assert!(several.contains(&command), "{several}");
    }
}
