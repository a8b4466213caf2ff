//! The time of `bench`, and turns in processes of their own.

use serde_json::Value;

use crate::support::place::{Place, Said, cell, is_measured, reason, said};

fn bench(place: &Place, text: &str, more: &[&str]) -> (Said, Value) {
    let file = place.file("mine.c");
    let headers = [
        "fcntl.h",
        "pagewise.h",
        "signal.h",
        "stdlib.h",
        "string.h",
        "time.h",
        "unistd.h",
    ];
    let headers: String = headers.map(|name| format!("#include <{name}>\n")).concat();
    std::fs::write(&file, format!("{headers}{text}")).unwrap();
    let words = ["bench", file.to_str().unwrap(), "--json"];
    let result = said(&mut place.command(&[&words[..], more].concat()));
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    (result, summary)
}

fn own<'a>(summary: &'a Value, function: &str) -> &'a Value {
    cell(summary, &format!("bench/{function}@own"), &[])
}

#[test]
fn functions_that_take_longer_than_the_usual_time_are_measured_without_a_budget() {
    let place = Place::new();
    let text = "static void last(double s) { struct timespec a, b; clock_gettime(CLOCK_MONOTONIC, &a); do \
                clock_gettime(CLOCK_MONOTONIC, &b); while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) * 1e-9 < s); }\n\
                BASELINE(slow) { last(0.2); }\nBENCH(slower) { last(0.25); }\n";
    let (result, summary) = bench(&place, text, &[]);
    for function in ["slow", "slower"] {
        let cell = own(&summary, function);
        assert!(
            is_measured(cell) && cell["launches"].as_u64() >= Some(4),
            "{cell} {}",
            result.err
        );
    }
    let said = result.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("measuring takes about"), "{said}");
    assert_eq!(said.matches("measuring takes about").count(), 1, "{said}");
    // A given budget stays.
    let (result, _) = bench(&place, text, &["--budget", "1s"]);
    assert!(
        !result.err.contains("measuring takes about"),
        "{}",
        result.err
    );
}

#[test]
fn one_function_alone_has_its_figures() {
    let place = Place::new();
    let (result, _) = bench(
        &place,
        "BENCH(alone) { for (volatile int i = 0; i < 3000; i++); }\n",
        &[],
    );
    assert_eq!(result.code, 0, "{}", result.err);
    let shown = place.run(&["report", "last"]).out;
    let row = shown
        .lines()
        .find(|line| line.trim_start().starts_with("alone "))
        .unwrap_or_default();
    assert!(row.contains("µs"), "{shown}");
}

#[test]
fn a_phase_of_many_calls_is_counted_within_a_bounded_time() {
    let place = Place::new();
    // Traced, each turn takes seconds; the counts of one launch are enough.
    let text = "BENCH(calls) { PHASE(\"run\") { for (int i = 0; i < 100000; i++) if (write(-1, \"\", 1) == 0) FAIL(\"write\"); } }\n";
    let (result, summary) = bench(&place, text, &["--budget", "1s"]);
    let calls = &own(&summary, "calls")["counts"]["run"]["calls"];
    if calls.is_null() {
        return crate::support::skips::skip("ptrace is not permitted here");
    }
    assert_eq!(calls["min"], 100_000, "{calls} {}", result.err);
    assert!(calls["passes"].as_u64() < Some(8), "{calls}");
}

#[test]
fn each_turn_has_a_fresh_process_by_the_file_or_by_the_option() {
    let place = Place::new();
    let text = "BENCH(takes) { PHASE(\"run\") { char *p = malloc(1 << 20); if (!p) FAIL(\"malloc\"); for (int i = 0; i < 1 << 20; \
                i += 4096) ((volatile char *)p)[i] = 1; free(p); } static int turns; RESULT(++turns); }\n";
    let faults = |summary: &Value| own(summary, "takes")["phases"]["run"]["minor_faults"].as_f64();
    let fresh_text = format!("FRESH();\n{text}");
    for (text, more) in [
        (text, &["--budget", "1s", "--fresh"][..]),
        (&fresh_text, &["--budget", "1s"]),
    ] {
        let (result, summary) = bench(&place, text, more);
        let cell = own(&summary, "takes");
        // The result of a turn is that of a first one: it would differ from the duplicate's otherwise.
        assert!(is_measured(cell), "{cell} {}", result.err);
        assert!(faults(&summary) >= Some(256.0), "{cell}");
        assert!(faults(&summary) <= Some(300.0), "{cell}");
    }
    let (result, summary) = bench(&place, &text.replace("++turns", "1"), &["--budget", "1s"]);
    assert!(
        faults(&summary) < Some(256.0),
        "{} {}",
        own(&summary, "takes"),
        result.err
    );
    // The time is that of a block that was there already, which the screen says.
    let file = place.file("mine.c");
    let shown = place.run(&["bench", file.to_str().unwrap(), "--budget", "1s"]);
    if !shown.out.contains("allocations") {
        return crate::support::skips::skip("nothing is counted here");
    }
    let sentence = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        sentence.contains("takes in its phase run: its block was there already")
            && sentence.contains("faults more (≈ "),
        "{sentence}"
    );
}

#[test]
fn a_script_has_a_fresh_process_for_each_turn() {
    let place = Place::new();
    let script = place.file("mine.py");
    let text = "import os\nimport pagewise\n\nturns = 0\n\n\n@pagewise.bench\ndef counts():\n    global turns\n    turns += 1\n    \
                return turns\n\n\n@pagewise.bench\ndef leaves():\n    os._exit(3)\n";
    std::fs::write(&script, text).unwrap();
    let measured = |more: &[&str]| {
        let file = script.to_str().unwrap();
        let words = ["bench", file, "--budget", "1s", "--json", "counts"];
        let result = said(&mut place.command(&[&words[..], more].concat()));
        let summary = serde_json::from_str(&result.out).unwrap_or_default();
        (result, summary)
    };
    let (result, summary) = measured(&["leaves", "--fresh"]);
    let (counts, leaves) = (own(&summary, "counts"), own(&summary, "leaves"));
    assert!(is_measured(counts), "{counts} {}", result.err);
    assert!(
        reason(leaves).contains("its process ended by exit(3)"),
        "{leaves} {}",
        result.err
    );
    // In one process each turn has another result than its duplicate's.
    let (result, summary) = measured(&[]);
    let counts = own(&summary, "counts");
    assert_eq!(counts["status"], "untrusted", "{counts} {}", result.err);
}

#[test]
fn what_ends_a_fresh_process_fails_by_its_name_and_the_others_are_measured() {
    let place = Place::new();
    let text = "FRESH();\nBASELINE(sound) { PHASE(\"run\") { for (volatile int i = 0; i < 3000; i++); } }\n\
                BENCH(crashes) { PHASE(\"run\") { *(volatile int *)8 = 1; } }\n\
                BENCH(leaves) { PHASE(\"run\") { exit(0); } }\n\
                BENCH(kills) { PHASE(\"run\") { kill(getpid(), SIGKILL); } }\n\
                BENCH(forks) { PHASE(\"run\") { if (fork() == 0) pause(); } }\n\
                BENCH(refused) { PHASE(\"run\") { if (open(\"/no/such\", O_RDONLY) < 0) FAIL(\"open\"); } }\n\
                BENCH(moves) { PHASE(\"run\") { if (chdir(\"/\") != 0) FAIL(\"chdir\"); } }\n";
    let (result, summary) = bench(&place, text, &["--budget", "1s"]);
    for (function, words) in [
        ("crashes", "SIGSEGV in phase run: its process ended"),
        ("leaves", "it called exit(3)"),
        ("kills", "killed by signal 9"),
        ("forks", "it left behind a process"),
        ("refused", "No such file or directory"),
    ] {
        let cell = own(&summary, function);
        assert!(
            cell["status"] == "failed" && reason(cell).contains(words),
            "{function}: {cell} {}",
            result.err
        );
    }
    // A process that ends with its turn may be changed.
    for function in ["sound", "moves"] {
        assert!(
            is_measured(own(&summary, function)),
            "{function}: {}",
            own(&summary, function)
        );
    }
}

#[test]
fn a_baseline_and_a_change_have_the_same_processes() {
    let place = Place::new();
    let text = "BENCH(f) { for (volatile int i = 0; i < 3000; i++); }\n";
    let (saved, summary) = bench(
        &place,
        text,
        &["--budget", "1s", "--fresh", "--save-baseline", "main"],
    );
    assert_eq!(saved.code, 0, "{}", saved.err);
    assert!(
        summary
            .to_string()
            .contains("each turn in a process of its own"),
        "{summary}"
    );
    let (refused, _) = bench(&place, text, &["--gate", "3%"]);
    assert!(
        refused.code == 1
            && refused.err.contains(
                "the baseline main has a process a turn (--fresh) and the change has not"
            ),
        "{}",
        refused.err
    );
    let (judged, _) = bench(
        &place,
        text,
        &["--gate", "90%", "--fresh", "--budget", "2s"],
    );
    assert!(
        matches!(judged.code, 0 | 3),
        "{} {}",
        judged.code,
        judged.err
    );
}

/// A function whose block is that of the turn before is measured in fresh processes too, where nothing was said of time.
#[test]
fn memory_that_was_there_is_followed_by_fresh_processes() {
    let place = Place::new();
    let file = place.file("mine.c");
    let text = "#include <pagewise.h>\n#include <stdlib.h>\n#include <string.h>\n\
                BENCH(fill) { char *p; PHASE(\"fill\") { p = malloc(1 << 20); memset(p, 1, 1 << 20); } RESULT(p[9]); free(p); }\n\
                BENCH(half) { char *p; PHASE(\"fill\") { p = malloc(1 << 20); memset(p, 1, 1 << 19); } RESULT(p[9]); free(p); }\n";
    std::fs::write(&file, text).unwrap();
    let shown = place.run(&["bench", file.to_str().unwrap(), "--color", "never"]);
    let tables = shown.out.matches("the functions of mine.c").count();
    assert!(
        tables == 2 && shown.out.contains("its block was there already"),
        "{}{}",
        shown.out,
        shown.err
    );
    let alone = place.run(&["bench", file.to_str().unwrap(), "--budget", "2s"]);
    let tables = alone.out.matches("the functions of mine.c").count();
    assert_eq!(tables, 1, "{}{}", alone.out, alone.err);
}
