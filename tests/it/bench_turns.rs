//! Turns of `bench`: a short one follows one of its own function, whichever functions take turns.

use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, cell, is_measured, reason, said};
use crate::support::skips::{skip, thorough};

const C: &str = "#include <pagewise.h>\nstatic int last;\n\
    BENCH(first) { PHASE(\"run\") { for (volatile int i = 0; i < 100; i++); } RESULT(last == 1); last = 1; }\n\
    BENCH(second) { PHASE(\"run\") { for (volatile int i = 0; i < 100; i++); } RESULT(last == 2); last = 2; }\n";
const RUST: &str = "use std::sync::atomic::{AtomicU64, Ordering::Relaxed};\nstatic LAST: AtomicU64 = AtomicU64::new(0);\n\
    #[pagewise::bench]\nfn first() -> u64 {\n    pagewise::phase!(\"run\", std::hint::black_box(1));\n    \
    u64::from(LAST.swap(1, Relaxed) == 1)\n}\n#[pagewise::bench]\nfn second() -> u64 {\n    \
    pagewise::phase!(\"run\", std::hint::black_box(1));\n    u64::from(LAST.swap(2, Relaxed) == 2)\n}\n";
const GO: &str = "package main\n\nimport \"pagewise\"\n\nvar last int\n\n\
    func turn(b *pagewise.B, me int) {\n\tsame := 0\n\tif last == me {\n\t\tsame = 1\n\t}\n\tlast = me\n\tb.Result(same)\n}\n\n\
    func Benchmark_first(b *pagewise.B) {\n\tb.Begin(\"run\")\n\tb.End()\n\tturn(b, 1)\n}\n\n\
    func Benchmark_second(b *pagewise.B) {\n\tb.Begin(\"run\")\n\tb.End()\n\tturn(b, 2)\n}\n";
/// Each function has static fields of its own, but all have one process.
const JAVA: &str = "class Turns {\n    @pagewise.Bench\n    static int first(pagewise.Run run) {\n        \
    try (var phase = run.phase(\"run\")) { }\n        \
    return \"1\".equals(System.setProperty(\"last\", \"1\")) ? 1 : 0;\n    }\n    \
    @pagewise.Bench\n    static int second(pagewise.Run run) {\n        try (var phase = run.phase(\"run\")) { }\n        \
    return \"2\".equals(System.setProperty(\"last\", \"2\")) ? 1 : 0;\n    }\n}\n";
const PYTHON: &str = "import pagewise\n\nlast = []\n\n\ndef turn(me):\n    same = last == [me]\n    last[:] = [me]\n    \
    return int(same)\n\n\n\
    @pagewise.bench\ndef first(run):\n    with run.phase(\"run\"):\n        pass\n    return turn(1)\n\n\n\
    @pagewise.bench\ndef second(run):\n    with run.phase(\"run\"):\n        pass\n    return turn(2)\n";

/// The result of each turn is whether the one before was of the same function. The baseline's duplicate runs the baseline's
/// code: by themselves, turns of the first function would often follow such a turn, and those of the second never.
#[test]
fn a_short_turn_follows_one_of_its_own_function() {
    let files = [
        ("turns.c", "cc", C),
        ("turns.rs", "rustc", RUST),
        ("turns.go", "go", GO),
        ("Turns.java", "javac", JAVA),
        ("turns.py", "python3", PYTHON),
    ];
    for (name, program, text) in files {
        let place = Place::new();
        if Command::new(program).arg("--help").output().is_err() {
            skip(&format!("{program} is not installed"));
            continue;
        }
        if name == "Turns.java" && !thorough() {
            continue;
        }
        let file = place.file(name);
        std::fs::write(&file, text).unwrap();
        let words = ["bench", file.to_str().unwrap(), "--launches", "3"];
        let result =
            said(&mut place.command(&[&words[..], &["--budget", "60s", "--json"]].concat()));
        let summary: Value =
            serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{name}: {}", result.err));
        for function in ["first", "second"] {
            let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
            assert!(is_measured(cell), "{name} {function}: {}", reason(cell));
        }
    }
}
