//! `bench`: the user's own functions, in C and from a shared library, and everything that can be wrong with them.

use serde_json::Value;

use crate::support::place::{Place, Said, cell, is_measured, said};
use crate::support::skips::thorough;

/// Runs `bench` on a C file with this text and returns its JSON, or nothing where it was refused.
fn bench(place: &Place, text: &str, more: &[&str]) -> (Said, Value) {
    let file = place.file("mine.c");
    std::fs::write(
        &file,
        format!("#include <errno.h>\n#include <pagewise.h>\n#include <stdlib.h>\n{text}"),
    )
    .unwrap();
    measured(place, file.to_str().unwrap(), more)
}

fn measured(place: &Place, file: &str, more: &[&str]) -> (Said, Value) {
    let result = said(&mut place.command(&[&["bench", file, "--json"][..], more].concat()));
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    assert!(
        crate::support::place::entries(&place.file("tmp")).is_empty(),
        "something is left behind"
    );
    (result, summary)
}

#[test]
fn the_file_to_start_from_gives_a_table_and_is_not_replaced() {
    let place = Place::new();
    let file = place.file("start.c");
    let file = file.to_str().unwrap();
    assert_eq!(place.run(&["bench", "--new", file]).code, 0);
    let again = place.run(&["bench", "--new", file]);
    assert!(
        again.code == 1 && again.err.contains("it exists; --force replaces it"),
        "{}",
        again.err
    );
    let (result, summary) = measured(&place, file, &["--set", "bytes=64KiB"]);
    assert_eq!(result.code, 0, "{}", result.err);
    for function in ["by_columns", "by_rows"] {
        assert!(
            is_measured(cell(&summary, &format!("bench/{function}@own"), &[])),
            "{function}"
        );
    }
    let header = place.run(&["bench", "--header"]).out;
    for word in [
        "PARAM",
        "VALUE",
        "BENCH",
        "BASELINE",
        "PHASE",
        "RESULT",
        "LAW",
        "OPERATIONS",
        "FAIL",
        "SKIP",
    ] {
        assert!(header.contains(&format!("#define {word}")), "{word}");
    }
}

#[test]
fn different_results_and_broken_laws_are_not_believed() {
    let place = Place::new();
    let work = "for (volatile int i = 0; i < 3000; i++);";
    let (_, summary) = bench(
        &place,
        &format!(
            "BASELINE(right) {{ {work} RESULT(1); }}\nBENCH(too) {{ {work} RESULT(1); }}\nBENCH(wrong) {{ {work} RESULT(2); }}\n\
             BENCH(unlawful) {{ PHASE(\"run\") {{ {work} }} LAW(\"run.minor_faults == 7\"); RESULT(1); }}\n"
        ),
        &[],
    );
    for (function, status) in [
        ("right", "ok"),
        ("too", "ok"),
        ("wrong", "untrusted"),
        ("unlawful", "untrusted"),
    ] {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        assert_eq!(cell["status"], status, "{function}: {}", cell["reason"]);
    }
}

#[test]
fn a_function_that_ends_or_breaks_the_process_fails_by_its_name() {
    let place = Place::new();
    let text = "BASELINE(sound) { for (volatile int i = 0; i < 3000; i++); }\nBENCH(leaves) { exit(0); }\n\
                BENCH(crashes) { *(volatile int *)8 = 1; }\nBENCH(refused) { errno = ENOMEM; FAIL(\"mmap\"); }\n";
    let (_, summary) = bench(&place, text, &[]);
    let reason = |function: &str| {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        format!(
            "{} {}",
            cell["status"].as_str().unwrap_or_default(),
            crate::support::place::reason(cell)
        )
    };
    assert!(reason("leaves").contains("exit(3)"), "{}", reason("leaves"));
    assert!(
        reason("crashes").contains("SIGSEGV"),
        "{}",
        reason("crashes")
    );
    assert!(
        reason("refused").starts_with("failed mmap"),
        "{}",
        reason("refused")
    );
    assert!(reason("sound").starts_with("ok"), "{}", reason("sound"));
}

#[test]
fn a_function_that_forks_or_changes_the_process_fails_and_the_others_do_not() {
    let place = Place::new();
    let text = "#include <signal.h>\n#include <sys/resource.h>\n#include <unistd.h>\n\
                BASELINE(sound) { for (volatile int i = 0; i < 3000; i++); }\n\
                BENCH(forks) { PHASE(\"run\") { fork(); } }\n\
                BENCH(handles) { signal(SIGSEGV, SIG_IGN); }\n\
                BENCH(blocks) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGTERM); sigprocmask(SIG_BLOCK, &s, 0); }\n\
                BENCH(limits) { struct rlimit l; getrlimit(RLIMIT_NOFILE, &l); l.rlim_cur = 20; \
                setrlimit(RLIMIT_NOFILE, &l); }\n";
    let (result, summary) = bench(&place, text, &[]);
    for (function, words) in [
        ("sound", ""),
        ("forks", "it left behind a process that it forked"),
        ("handles", "it changed the handler of SIGSEGV"),
        ("blocks", "it changed which signals are blocked"),
        ("limits", "it changed the limit of open files"),
    ] {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        let reason = crate::support::place::reason(cell);
        assert!(
            reason.contains(words),
            "{function}: {reason} {}",
            result.err
        );
        assert_eq!(
            cell["status"] == "ok",
            words.is_empty(),
            "{function}: {cell}"
        );
    }
}

#[test]
fn a_function_that_leaves_without_a_word_is_named() {
    let place = Place::new();
    let text = "#include <unistd.h>\nBASELINE(sound) { for (volatile int i = 0; i < 3000; i++); }\nBENCH(leaves) { _exit(0); }\n";
    let (result, summary) = bench(&place, text, &[]);
    let status =
        |function: &str| cell(&summary, &format!("bench/{function}@own"), &[])["status"].clone();
    assert!(
        status("leaves") == "untrusted" && status("sound") != "untrusted",
        "{summary} {}",
        result.err
    );
}

#[test]
fn loops_that_the_compiler_removed_and_phases_that_allocate_are_explained() {
    let place = Place::new();
    let file = place.file("mine.c");
    let text = "#include <pagewise.h>\n#include <stdlib.h>\nPARAM(bytes, \"64KiB,4MiB\");\n\
                BASELINE(summed) { size_t bytes = VALUE(bytes); char *p = calloc(1, bytes); uint64_t sum = 0;\n\
                PHASE(\"sum\") { for (size_t i = 0; i < bytes; i++) sum += ((volatile char *)p)[i]; }\n\
                RESULT(sum); free(p); }\n\
                BENCH(removed) { size_t bytes = VALUE(bytes); uint64_t sum = 0;\n\
                PHASE(\"sum\") { for (size_t i = 0; i < bytes; i++) sum += i & 0; }\n RESULT(sum); }\n\
                BENCH(allocates) { size_t bytes = VALUE(bytes); uint64_t sum = 0;\n\
                PHASE(\"sum\") { char *p = calloc(1, bytes); for (size_t i = 0; i < bytes; i++) \
                sum += ((volatile char *)p)[i]; free(p); }\n RESULT(sum); }\n";
    std::fs::write(&file, text).unwrap();
    let result = place.run(&[
        "bench",
        file.to_str().unwrap(),
        "--launches",
        "6",
        "--budget",
        "60s",
    ]);
    let text = result.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "removed takes no longer than an empty body, with bytes=4MiB as with bytes=64KiB"
        ),
        "{text}"
    );
    assert!(
        text.contains("the result does not depend on the data: the compiler removed the loop"),
        "{text}"
    );
    if text.contains("no library can be preloaded") {
        return crate::support::skips::skip("no library can be preloaded");
    }
    assert!(
        text.contains("allocates") && text.contains("in its phase sum (1 a pass)"),
        "{text}"
    );
    assert!(text.contains("Counts of one pass"), "{text}");
}

#[test]
fn an_endless_function_ends_at_the_limit() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let text = "BASELINE(sound) { for (volatile int i = 0; i < 3000; i++); }\nBENCH(endless) { for (volatile int i = 0;; i++); }\n\
                BENCH(stopped) { raise(SIGSTOP); }\n";
    let (_, summary) = bench(
        &place,
        &format!("#include <signal.h>\n{text}"),
        &["--time-limit", "2s"],
    );
    for (function, status) in [
        ("endless", "failed"),
        ("stopped", "failed"),
        ("sound", "ok"),
    ] {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        assert_eq!(cell["status"], status, "{cell}");
    }
}

#[test]
fn what_cannot_be_compiled_is_one_sentence() {
    let place = Place::new();
    let (result, _) = bench(&place, "BENCH(a) { int x = ; }\n", &[]);
    assert!(
        result.code == 1
            && result.err.contains("mine.c:4:")
            && result.err.contains("does not compile"),
        "{}",
        result.err
    );
    for (text, words) in [
        ("int x;\n", "has no BENCH(name)"),
        ("BASELINE(a) { }\nBASELINE(b) { }\n", "several baselines"),
        (
            "PARAM(bytes, \"1XB\");\nBENCH(a) { }\n",
            "PARAM(bytes, …): \"1XB\": it is no number and no size",
        ),
    ] {
        let (result, _) = bench(&place, text, &[]);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{words}: {}",
            result.err
        );
        assert_eq!(result.err.lines().count(), 1, "{}", result.err);
    }
    let mut command = place.command(&["bench", place.file("mine.c").to_str().unwrap()]);
    let result = said(command.env("CC", "no-such-compiler"));
    assert!(
        result.code == 1 && result.err.contains("bench needs a C compiler"),
        "{}",
        result.err
    );
}

#[test]
fn functions_of_a_shared_library_are_measured() {
    let place = Place::new();
    let (source, library) = (place.file("lib.c"), place.file("libmine.so"));
    let text = "#include <stdint.h>\n#include <stdlib.h>\nvoid *twice_setup(void) { return calloc(1, 8); }\n\
                void twice(void *c) { for (volatile int i = 0; i < 4000; i++); *(uint64_t *)c = 5; }\n\
                uint64_t twice_result(void *c) { return *(uint64_t *)c; }\nvoid twice_teardown(void *c) { free(c); }\n\
                void once(void *c) { (void)c; for (volatile int i = 0; i < 2000; i++); }\nuint64_t once_result(void *c) \
                { (void)c; return 5; }\n";
    std::fs::write(&source, text).unwrap();
    let made = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(made.unwrap().success());
    let library = library.to_str().unwrap();
    let (result, summary) = measured(&place, &format!("{library}:twice,once"), &[]);
    for function in ["twice", "once"] {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        assert!(
            is_measured(cell) && cell["status"] == "ok",
            "{function}: {}",
            result.err
        );
    }
    for (what, words) in [
        (
            format!("{library}:twice,nothing"),
            "there is no function \"nothing\"",
        ),
        (library.to_owned(), "a library is given with its functions"),
    ] {
        let (result, _) = measured(&place, &what, &[]);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{what}: {}",
            result.err
        );
    }
    std::fs::write(place.file("text.so"), "no library").unwrap();
    let (result, _) = measured(
        &place,
        &format!("{}:f", place.file("text.so").display()),
        &[],
    );
    assert!(
        result.code == 1 && result.err.contains("is no shared library for this machine"),
        "{}",
        result.err
    );
}

/// Adds up a file's words by fread(3), as `read` does with consume=sum; and one that does not.
const READERS: &str = "#include <stdio.h>\nstatic uint64_t block[8192];\nBENCH(by_fread) {\n FILE *f = fopen(TEXT(file), \"r\");\n \
    if (!f) FAIL(\"fopen\");\n uint64_t sum = 0;\n PHASE(\"read\") {\n  for (size_t n; (n = fread(block, 8, 8192, f)) > 0;)\n \
    for (size_t i = 0; i < n; i++) sum += block[i];\n }\n RESULT(sum);\n fclose(f);\n}\nBENCH(wrong) { for (volatile int \
    i = 0; i < 9000; i++); RESULT(7); }\n";

#[test]
fn a_function_is_compared_with_a_built_in_method_that_comes_to_the_same() {
    let place = Place::new();
    let data = place.file("data.bin");
    std::fs::write(
        &data,
        (0..1 << 20)
            .map(|i: u32| ((i * 7) >> 3) as u8)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let file = format!("file={}", data.display());
    let more = [
        "--with",
        "read/mmap",
        "--set",
        &file,
        "--set",
        "cache=hot",
        "--launches",
        "4",
    ];
    let (result, summary) = bench(&place, READERS, &more);
    // What else the machine reads meanwhile may make a cell untrusted too.
    for (cell_name, is_wrong) in [
        ("by_fread@own", false),
        ("mmap@c-O3", false),
        ("wrong@own", true),
    ] {
        let cell = cell(&summary, &format!("read/{cell_name}"), &[]);
        let reason = crate::support::place::reason(cell);
        assert_eq!(
            reason.contains("digest"),
            is_wrong,
            "{cell_name}: {reason} {}",
            result.err
        );
    }
    let used = summary["groups"]
        .as_array()
        .unwrap()
        .iter()
        .any(|group| group["recommendation"].to_string().contains("use"));
    assert!(
        !used,
        "a function that did something else is recommended: {}",
        summary["groups"]
    );
    for (with, words) in [
        ("read/nope", "has no method \"nope\" in read"),
        ("message/pipe", "has two sides"),
        ("rad", "did you mean \"read\"?"),
        ("fault/touch", "PHASE(\"read\") is no phase of fault"),
    ] {
        let (result, _) = bench(&place, READERS, &["--with", with]);
        assert!(
            result.code == 1 && result.err.contains(words),
            "{with}: {}",
            result.err
        );
    }
}
