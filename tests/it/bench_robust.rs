//! `bench` and functions that do what no benchmark should: each is named in one sentence, the others are measured, and neither
//! a process nor a file is left.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::place::{Place, Said, cell, entries, is_measured, said};

const SOUND: &str = "BASELINE(sound) { for (volatile int i = 0; i < 3000; i++); }\n";

/// Runs `bench` on a C file with these functions, after a sound one.
fn bench(place: &Place, functions: &str, more: &[&str]) -> (Said, Value) {
    let file = place.file("mine.c");
    let headers = [
        "pagewise.h",
        "fcntl.h",
        "signal.h",
        "stdio.h",
        "stdlib.h",
        "sys/mman.h",
        "sys/stat.h",
        "unistd.h",
    ];
    let headers: String = headers.map(|name| format!("#include <{name}>\n")).concat();
    std::fs::write(&file, format!("{headers}{SOUND}{functions}")).unwrap();
    measured(place, file.to_str().unwrap(), more)
}

fn measured(place: &Place, what: &str, more: &[&str]) -> (Said, Value) {
    let result = said(
        &mut place.command(&[&["bench", what, "--budget", "2s", "--json"][..], more].concat()),
    );
    assert!(
        entries(&place.file("tmp")).is_empty(),
        "something is left behind"
    );
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    (result, summary)
}

fn outcome(summary: &Value, function: &str) -> String {
    let cell = cell(summary, &format!("bench/{function}@own"), &[]);
    format!(
        "{}: {}",
        cell["status"].as_str().unwrap_or_default(),
        crate::support::place::reason(cell)
    )
}

/// Processes with this argument.
fn processes(argument: &str) -> Vec<PathBuf> {
    let is_it = |folder: &PathBuf| {
        let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        words
            .split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    };
    entries(std::path::Path::new("/proc"))
        .into_iter()
        .filter(is_it)
        .collect()
}

#[test]
fn a_function_that_changes_files_of_the_process_is_named_and_the_others_are_measured() {
    let place = Place::new();
    let (result, summary) = bench(
        &place,
        "BENCH(moves) { PHASE(\"run\") { if (chdir(\"/\") != 0) FAIL(\"chdir\"); } }\n\
         BENCH(masks) { umask(0); }\n\
         BENCH(closes) { close(1); }\n\
         BENCH(replaces) { int fd = open(\"/dev/zero\", O_RDONLY); dup2(fd, 0); close(fd); }\n\
         BENCH(closes_all) { for (int fd = 3; fd < 1024; fd++) close(fd); }\n\
         BENCH(prints) { printf(\"done\\t7\\n\"); fflush(stdout); for (volatile int i = 0; i < 3000; i++); }\n\
         BENCH(alarms) { signal(SIGALRM, SIG_IGN); }\n",
        &[],
    );
    for (function, words) in [
        ("moves", "it changed the working folder"),
        ("masks", "it changed the mask of new files"),
        ("closes", "it closed or replaced descriptor 1"),
        ("replaces", "it closed or replaced descriptor 0"),
        (
            "closes_all",
            "closes_all closed descriptors that it did not open",
        ),
        ("alarms", "it changed the handler of SIGALRM"),
    ] {
        let outcome = outcome(&summary, function);
        assert!(
            outcome.starts_with("failed") && outcome.contains(words),
            "{function}: {outcome} {}",
            result.err
        );
    }
    for function in ["sound", "prints"] {
        assert!(
            outcome(&summary, function).starts_with("ok"),
            "{}",
            outcome(&summary, function)
        );
    }
}

#[test]
fn processes_of_another_session_are_ended() {
    let place = Place::new();
    let daemon = "static void start(char *seconds) { if (fork() == 0) { setsid(); if (fork() == 0) { \
                  execlp(\"sleep\", \"sleep\", seconds, NULL); } _exit(0); } }\n";
    let (result, summary) = bench(
        &place,
        &format!(
            "{daemon}BENCH(leaves) {{ start(\"97.125\"); }}\nBENCH(dies) {{ start(\"98.125\"); usleep(50000); abort(); }}\n\
             BENCH(shells) {{ if (system(\"sleep 99.125 &\") != 0) FAIL(\"system\"); }}\n"
        ),
        &[],
    );
    for (function, words) in [
        ("leaves", "it left behind a process"),
        ("dies", "SIGABRT"),
        ("shells", "it left behind a process"),
    ] {
        let outcome = outcome(&summary, function);
        assert!(
            outcome.starts_with("failed") && outcome.contains(words),
            "{function}: {outcome} {}",
            result.err
        );
    }
    for seconds in ["97.125", "98.125", "99.125"] {
        assert_eq!(processes(seconds), Vec::<PathBuf>::new(), "left running");
    }
    assert!(
        outcome(&summary, "sound").starts_with("ok"),
        "{}",
        outcome(&summary, "sound")
    );
}

/// A shared library of this C text.
fn library(place: &Place, name: &str, text: &str) -> PathBuf {
    let (source, library) = (place.file("lib.c"), place.file(name));
    std::fs::write(&source, text).unwrap();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(made.unwrap().success());
    library
}

#[test]
fn a_library_of_the_wrong_kind_is_one_sentence() {
    let place = Place::new();
    let text = "int answer = 42;\nstruct big { long part[9]; };\nstruct big large(void) { return (struct big){{1}}; }\n\
                void works(void *c) { (void)c; for (volatile int i = 0; i < 3000; i++); }\n";
    let good = library(&place, "libmine.so", text);
    let bytes = std::fs::read(&good).unwrap();
    let changed = |name: &str, at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        std::fs::write(place.file(name), bytes).unwrap();
        place.file(name)
    };
    // e_machine of elf(5): 8 is MIPS. e_type: 1 is an object file. EI_CLASS: 1 is 32 bits.
    let (foreign, object, narrow) = (
        changed("mips.so", 18, 8),
        changed("object.so", 16, 1),
        changed("narrow.so", 4, 1),
    );
    std::fs::write(place.file("cut.so"), &bytes[..100]).unwrap();
    for (library, function, words) in [
        (&good, "answer", "\"answer\" of"),
        (&good, "answer", "is data and no function"),
        (&good, "missing", "there is no function \"missing\" in"),
        (&good, "missing", "works"),
        (&good, "", "\"\" is not the name of a function"),
        (&foreign, "works", "it is one of 64 bits for Mips"),
        (&object, "works", "is no shared library for this machine"),
        (&narrow, "works", "is no shared library for this machine"),
        (
            &place.file("cut.so"),
            "works",
            "is no shared library for this machine",
        ),
        (&place.file("none.so"), "works", "No such file"),
    ] {
        let (result, _) = measured(&place, &format!("{}:{function}", library.display()), &[]);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{function}: {}",
            result.err
        );
        assert_eq!(result.err.lines().count(), 1, "{}", result.err);
    }
    // A function that returns a struct writes it where the caller says, and this caller says nothing.
    let (result, summary) = measured(&place, &format!("{}:works,large", good.display()), &[]);
    assert!(
        outcome(&summary, "large").contains("SIGSEGV in"),
        "{} {}",
        outcome(&summary, "large"),
        result.err
    );
    assert!(
        outcome(&summary, "works").starts_with("ok"),
        "{}",
        outcome(&summary, "works")
    );
}

#[test]
fn show_prints_what_ran_with_the_lines_that_the_clock_covers() {
    let place = Place::new();
    let file = place.file("mine.c");
    let text = "#include <pagewise.h>\nBASELINE(whole)\n{\n    for (volatile int i = 0; i < 300; i++);\n}\nBENCH(part)\n{\n    \
                int n = 300;\n    PHASE(\"run\")\n    {\n        for (volatile int i = 0; i < n; i++);\n    }\n}\n";
    std::fs::write(&file, text).unwrap();
    let shown = place.run(&["show", file.to_str().unwrap()]);
    let covered = |text: &str| text.lines().filter(|line| line.starts_with('>')).count();
    assert_eq!(
        (shown.code, covered(&shown.out)),
        (0, 2),
        "{}{}",
        shown.out,
        shown.err
    );
    assert!(
        shown
            .out
            .contains(">         for (volatile int i = 0; i < n; i++);"),
        "{}",
        shown.out
    );
    let out = place.file("run");
    let run = said(&mut place.command(&[
        "bench",
        file.to_str().unwrap(),
        "--budget",
        "1s",
        "--out",
        out.to_str().unwrap(),
    ]));
    assert_eq!(run.code, 0, "{}", run.err);
    std::fs::write(&file, "changed since").unwrap();
    let kept = place.run(&["show", out.to_str().unwrap()]);
    assert_eq!(
        (kept.code, covered(&kept.out)),
        (0, 2),
        "{}{}",
        kept.out,
        kept.err
    );
}

#[test]
fn memory_and_switches_of_a_phase_are_shown() {
    let place = Place::new();
    let (result, summary) = bench(
        &place,
        "BENCH(takes) { size_t bytes = 8 << 20; char *p = mmap(0, bytes, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\nPHASE(\"run\") { for (size_t i = 0; i < bytes; \
         i += 4096) ((volatile char *)p)[i] = 1; }\nmunmap(p, bytes); }\n\
         BENCH(sleeps) { PHASE(\"run\") { usleep(100); } }\n",
        &[],
    );
    let counts = &cell(&summary, "bench/takes@own", &[])["counts"]["run"];
    let least = |name: &str| counts[name]["min"].as_u64().unwrap_or_default();
    assert!(
        (8 << 20..16 << 20).contains(&least("resident_bytes")),
        "{counts} {}",
        result.err
    );
    assert!(
        least("minor_faults") * 4096 + least("huge_bytes") >= 8 << 20,
        "{counts}"
    );
    let switches = &cell(&summary, "bench/sleeps@own", &[])["phases"]["run"]["voluntary_switches"];
    // A timer that fires before its caller is off the processor costs no switch.
    assert!(switches.as_f64() >= Some(0.9), "{switches}");
    let shown = place.run(&["report", "last", "--full"]);
    assert!(
        shown.out.contains("resident bytes") && shown.out.contains("switches"),
        "{}{}",
        shown.out,
        shown.err
    );
}

#[test]
fn functions_that_lie_alike_do_not_outvote_a_built_in_method() {
    let place = Place::new();
    let data = place.file("data.bin");
    std::fs::write(
        &data,
        (0..1 << 18)
            .map(|i: u32| ((i * 7) >> 3) as u8)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let file = format!("file={}", data.display());
    let functions = "BENCH(lies) { PHASE(\"read\") { for (volatile int i = 0; i < 9000; i++); } RESULT(7); }\n\
                     BENCH(mmap) { PHASE(\"read\") { for (volatile int i = 0; i < 9000; i++); } RESULT(7); }\n\
                     BENCH(says_nothing) { PHASE(\"read\") { for (volatile int i = 0; i < 9000; i++); } }\n";
    let path = place.file("mine.c");
    std::fs::write(&path, format!("#include <pagewise.h>\n{functions}")).unwrap();
    let more = ["--with", "read/mmap", "--set", &file, "--set", "cache=hot"];
    let (result, summary) = measured(&place, path.to_str().unwrap(), &more);
    for (name, words) in [
        ("lies@own", "digest"),
        ("mmap@own", "digest"),
        ("says_nothing@own", "digest"),
    ] {
        let cell = cell(&summary, &format!("read/{name}"), &[]);
        let reason = crate::support::place::reason(cell);
        assert!(
            cell["status"] == "untrusted" && reason.contains(words),
            "{name}: {reason} {}",
            result.err
        );
    }
    let peer = cell(&summary, "read/mmap@c-O3", &[]);
    assert!(
        !crate::support::place::reason(peer).contains("digest"),
        "{peer}"
    );
    // A function has the name of the baseline: the baseline is the built-in method all the same.
    let baseline = summary["groups"][0]["baseline"].as_u64().unwrap() as usize;
    assert_eq!(
        summary["cells"][baseline]["cell"], "read/mmap@c-O3",
        "{}",
        summary["groups"]
    );
}

#[test]
fn a_parameter_of_a_user_may_be_zero() {
    let place = Place::new();
    let work = "for (volatile uint64_t i = 0; i < 3000 * (VALUE(gap) + 1); i++);";
    let (result, summary) = bench(
        &place,
        &format!("PARAM(gap, \"0,3\");\nBENCH(steps) {{ {work} }}\n"),
        &[],
    );
    for gap in ["0", "3"] {
        let cell = cell(&summary, "bench/steps@own", &[("gap", gap)]);
        assert!(is_measured(cell), "gap={gap}: {cell} {}", result.err);
    }
}

#[test]
fn an_empty_body_costs_the_floor() {
    let place = Place::new();
    let (result, summary) = bench(
        &place,
        "BENCH(nothing) { PHASE(\"run\") { } RESULT(1); }\n",
        &[],
    );
    let phase =
        |function: &str| &cell(&summary, &format!("bench/{function}@own"), &[])["phases"]["run"];
    assert_eq!(
        (
            &phase("nothing")["below_floor"],
            &phase("sound")["below_floor"]
        ),
        (&true.into(), &false.into()),
        "{}",
        result.err
    );
}
