//! Threads and fresh processes of `bench` in languages with a runtime of their own: Go and Java.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, Said, cell, is_measured, reason, said};
use crate::support::skips::{skip, thorough};

/// On each number of threads every thread has its own number, a phase without work lets them go, and what breaks off on one
/// fails its function alone. A turn that is not the first of its process says so.
const GO: &str = r#"package main

import (
    "pagewise"
    "sync/atomic"
)

var _ = pagewise.Threads("1,3")
var turns atomic.Int64

func BenchmarkAdds(b *pagewise.B) {
    var sums [3]int64
    b.Begin("add")
    b.OnThreads(func(thread int) {
        for i := 0; i < 1000; i++ {
            atomic.AddInt64(&sums[thread], 1)
        }
    })
    b.End()
    if threads := b.Value("threads"); sums[threads-1] != 1000 || threads < 3 && sums[threads] != 0 {
        b.Fatal("wrong threads", sums)
    }
    b.Result(sums[0])
}

func BenchmarkWaits(b *pagewise.B) {
    b.Begin("add")
    b.End()
    total := atomic.Int64{}
    b.OnThreads(func(thread int) { total.Add(1000 / int64(b.Value("threads"))) })
    b.Result(1000)
}

func BenchmarkBreaks(b *pagewise.B) {
    b.Begin("add")
    b.OnThreads(func(thread int) {
        if thread == b.Value("threads")-1 {
            panic("no data")
        }
    })
    b.End()
}

func BenchmarkFirst(b *pagewise.B) {
    if turns.Add(1) > 1 {
        b.Fatal("used before")
    }
    b.Begin("add")
    b.End()
    b.Result(1000)
}
"#;

const JAVA: &str = r#"@pagewise.Threads("1,3")
class Mine {
    static int turns;

    @pagewise.Bench
    static long Adds(pagewise.Run run) {
        long[] sums = new long[3];
        try (var phase = run.phase("add")) {
            run.onThreads(thread -> {
                for (int i = 0; i < 1000; i++)
                    sums[thread]++;
            });
        }
        int threads = (int) run.value("threads");
        if (sums[threads - 1] != 1000 || threads < 3 && sums[threads] != 0)
            throw new IllegalStateException("wrong threads");
        return sums[0];
    }

    @pagewise.Bench
    static long Waits(pagewise.Run run) {
        try (var phase = run.phase("add")) {
        }
        run.onThreads(thread -> {
        });
        return 1000;
    }

    @pagewise.Bench
    static long Breaks(pagewise.Run run) {
        try (var phase = run.phase("add")) {
            run.onThreads(thread -> {
                if (thread == run.value("threads") - 1)
                    throw new IllegalStateException("no data");
            });
        }
        return 1000;
    }

    @pagewise.Bench
    static long First(pagewise.Run run) {
        if (++turns > 1)
            throw new IllegalStateException("used before");
        try (var phase = run.phase("add")) {
        }
        return 1000;
    }
}
"#;

/// Measures a file; where the option is given, each turn in a process of its own.
fn bench(place: &Place, file: &Path, more: &[&str]) -> (Said, Value) {
    let words = ["bench", file.to_str().unwrap(), "--json", "--launches", "3"];
    let words = [&words[..], &["--budget", "120s"], more].concat();
    let result = said(&mut place.command(&words));
    let summary =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{more:?}: {}", result.err));
    (result, summary)
}

fn threads_and_processes(name: &str, text: &str, compiler: &str) {
    if Command::new(compiler).arg("version").output().is_err() {
        return skip(&format!("{compiler} is not installed"));
    }
    let place = Place::new();
    let file = place.file(name);
    std::fs::write(&file, text).unwrap();
    for more in [&[][..], &["--fresh"]] {
        let (result, summary) = bench(&place, &file, more);
        for threads in ["1", "3"] {
            let own = |function: &str| {
                let name = format!("bench/{function}@own");
                cell(&summary, &name, &[("threads", threads)])
            };
            for function in ["Adds", "Waits"] {
                let cell = own(function);
                assert!(
                    is_measured(cell),
                    "{more:?} {function} {cell} {}",
                    result.err
                );
            }
            let broken = own("Breaks");
            assert!(
                broken["status"] == "failed" && reason(broken).contains("no data"),
                "{more:?} {broken}"
            );
            // On a busy machine a cell may be untrusted, and has run.
            let was_used = reason(own("First")).contains("used before");
            assert_eq!(was_used, more.is_empty(), "{more:?} {}", own("First"));
        }
    }
    let mark = if name.ends_with("go") {
        text.replace("var turns", "var _ = pagewise.Fresh()\nvar turns")
    } else {
        format!("@pagewise.Fresh\n{text}")
    };
    std::fs::write(&file, mark).unwrap();
    let (_, summary) = bench(&place, &file, &["--set", "threads=1", "First"]);
    let first = cell(&summary, "bench/First@own", &[]);
    assert!(is_measured(first), "{first}");
    assert!(
        summary
            .to_string()
            .contains("each turn in a process of its own"),
        "{summary}"
    );
}

#[test]
fn threads_and_fresh_processes_in_go() {
    threads_and_processes("mine.go", GO, "go");
}

#[test]
fn threads_and_fresh_processes_in_java() {
    if thorough() {
        threads_and_processes("Mine.java", JAVA, "javac");
    }
}

/// A built-in method repeats in one process, so nothing with a process a turn is compared with it; a program starts its own.
#[test]
fn fresh_processes_are_refused_where_there_are_none() {
    let place = Place::new();
    let file = place.file("mine.c");
    let text = "#include <pagewise.h>\nBENCH(f) { PHASE(\"read\") { } RESULT(0); }\n";
    let with = ["--with", "read/mmap", "--set", "bytes=1MiB"];
    for (text, more) in [
        (text.to_owned(), &["--fresh"][..]),
        (text.replace("BENCH", "FRESH();\nBENCH"), &[]),
    ] {
        std::fs::write(&file, text).unwrap();
        let words = ["bench", file.to_str().unwrap()];
        let refused = place.run(&[&words[..], &with, more].concat());
        assert!(
            refused.code == 1 && refused.err.contains("leave out one of --with and --fresh"),
            "{} {}",
            refused.code,
            refused.err
        );
    }
    let refused = place.run(&["bench", "/bin/true", "--fresh"]);
    assert!(
        refused.code == 1 && refused.err.contains("--fresh is for functions of a file"),
        "{}",
        refused.err
    );
}
