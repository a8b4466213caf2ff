//! The names of a user's file of functions are the user's: none of the harness's is seen by it, in C and in C++.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use pagewise::worker::carried;

use crate::support::place::{Place, Said, cell, is_measured, said};

/// Names of macros that the header documents; all further ones begin with `PAGEWISE_`.
const DOCUMENTED: [&str; 24] = [
    "PARAM",
    "INPUT",
    "THREADS",
    "ON_THREADS",
    "VALUE",
    "TEXT",
    "IS",
    "BENCH",
    "BASELINE",
    "PHASE",
    "RESULT",
    "DIGEST",
    "LAW",
    "FACT",
    "OPERATIONS",
    "BYTES",
    "COLD",
    "OTHER_SIDE",
    "FIXTURE",
    "READY",
    "SCRATCH",
    "FRESH",
    "FAIL",
    "SKIP",
];
const FUNCTIONS: &str = "PARAM(count, \"1000,3000\");\n\
     BASELINE(counted) { size_t n = VALUE(count); uint64_t sum = 0; PHASE(\"sum\") { for (volatile size_t i = 0; i < n; i++) \
     sum += i; } RESULT(sum); }\n\
     BENCH(work) { size_t n = VALUE(count); uint64_t sum = 0; PHASE(\"sum\") { for (volatile size_t i = 0; i < n; i++) \
     sum += i; } RESULT(sum); }\n";

fn measured(place: &Place, name: &str, text: &str) -> (Said, Value) {
    let file = place.file(name);
    std::fs::write(&file, text).unwrap();
    let mut command = place.command(&["bench", file.to_str().unwrap(), "--budget", "1s", "--json"]);
    let result = said(&mut command);
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    (result, summary)
}

fn assert_measured(result: &Said, summary: &Value) {
    assert_eq!(result.code, 0, "{}", result.err);
    for function in ["counted", "work"] {
        let cell = cell(
            summary,
            &format!("bench/{function}@own"),
            &[("count", "3000")],
        );
        assert!(is_measured(cell), "{function}: {cell} {}", result.err);
    }
}

/// Output of a program.
fn output(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Identifiers that the harness's object defines, hidden ones too; a name that C reserves is nobody's.
fn symbols(place: &Place) -> BTreeSet<String> {
    let object = place.file("functions.o");
    std::fs::write(&object, carried::FUNCTIONS.content()).unwrap();
    let list = output("nm", &["--defined-only", "--format=posix"], &object);
    let names = list
        .lines()
        .filter_map(|line| line.split(['.', ' ']).next());
    let is_users =
        |name: &&str| !name.is_empty() && !name.starts_with('_') && !name.starts_with("pagewise_");
    names.filter(is_users).map(str::to_owned).collect()
}

/// Tags of the structures of the harness.
fn tags() -> BTreeSet<String> {
    let sources = carried::all_sources().into_iter().filter(|(path, _)| {
        ["workers/c/harness/", "workers/c/bench/"]
            .iter()
            .any(|below| path.starts_with(below))
    });
    sources
        .flat_map(|(_, text)| text.split("\nstruct ").skip(1))
        .filter_map(|rest| rest.split_once(" {"))
        .map(|(tag, _)| tag.to_owned())
        .filter(|tag| tag.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .filter(|tag| !tag.starts_with("pagewise_"))
        .collect()
}

#[test]
fn a_users_file_defines_every_name_of_the_harness() {
    let place = Place::new();
    let names = symbols(&place);
    for name in [
        "main",
        "fact",
        "skip",
        "now_ns",
        "phase_begin",
        "request",
        "proving",
    ] {
        assert!(names.contains(name), "{name} of {names:?}");
    }
    assert!(
        tags().contains("part") && tags().contains("slot"),
        "{:?}",
        tags()
    );
    let tags: String = tags()
        .iter()
        .map(|tag| format!("struct {tag} {{ int mine; }};\n"))
        .collect();
    let functions: String = names
        .iter()
        .map(|name| format!("int {name}(void) {{ return 7; }}\n"))
        .collect();
    let variables: String = names
        .iter()
        .filter(|name| *name != "main")
        .map(|name| format!("int {name} = 7;\n"))
        .collect();
    for end in ["c", "cpp"] {
        for own in [&functions, &variables] {
            let text = format!("#include <pagewise.h>\n{tags}{own}{FUNCTIONS}");
            let (result, summary) = measured(&place, &format!("mine.{end}"), &text);
            assert_measured(&result, &summary);
            // The same names before the header, and without external linkage.
            let own = own
                .replace("int ", "__attribute__((unused)) static int ")
                .replace("static int main", "int main");
            let text = format!("{tags}{own}#include <pagewise.h>\n{FUNCTIONS}");
            let (result, summary) = measured(&place, &format!("before.{end}"), &text);
            assert_measured(&result, &summary);
        }
    }
}

#[test]
fn the_header_shows_documented_macros_and_prefixed_names_only() {
    let place = Place::new();
    let header = place.run(&["bench", "--header"]).out;
    let (with, without) = (place.file("with.c"), place.file("without.c"));
    let included: String = header
        .lines()
        .filter(|line| line.starts_with("#include"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(included, "#include <stddef.h>\n#include <stdint.h>\n");
    std::fs::write(&with, &header).unwrap();
    std::fs::write(&without, included).unwrap();
    for [compiler, language] in [["cc", "c"], ["c++", "c++"]] {
        let macros = |file: &Path| -> BTreeSet<String> {
            let text = output(compiler, &["-E", "-dM", "-x", language], file);
            let names = text
                .lines()
                .filter_map(|line| line.split([' ', '(']).nth(1));
            names.map(str::to_owned).collect()
        };
        for name in macros(&with).difference(&macros(&without)) {
            assert!(
                DOCUMENTED.contains(&name.as_str()) || name.starts_with("PAGEWISE_"),
                "{name}"
            );
        }
        let declared = output(compiler, &["-E", "-P", "-x", language], &with);
        let standard = output(compiler, &["-E", "-P", "-x", language], &without);
        let is_declaration = |line: &&str| {
            !standard.contains(*line)
                && !line.starts_with([' ', '}'])
                && !line.starts_with("extern \"C\"")
        };
        for line in declared.lines().filter(is_declaration) {
            assert!(line.contains("pagewise_"), "{line}");
        }
    }
}

#[test]
fn names_of_parameters_and_functions_may_be_macros_of_the_compiler() {
    let place = Place::new();
    let text = "#include <pagewise.h>\n#define text 3\n#define kind 4\n\
         PARAM(linux, \"1000,3000\");\nBASELINE(unix) { for (volatile size_t i = 0; i < VALUE(linux); i++); }\n\
         BENCH(text) { for (volatile size_t i = 0; i < VALUE(linux); i++); }\n";
    let (result, summary) = measured(&place, "mine.c", text);
    for function in ["unix", "text"] {
        let cell = cell(
            &summary,
            &format!("bench/{function}@own"),
            &[("linux", "3000")],
        );
        assert!(is_measured(cell), "{cell} {}", result.err);
    }
}

#[test]
fn the_users_flags_decide() {
    let place = Place::new();
    let file = place.file("mine.c");
    // Ends in an error of the preprocessor unless the flags' standard is that of the compiler.
    let text = format!(
        "#if __STDC_VERSION__ != 199901L || !defined MINE\n#error flags\n#endif\n#include <pagewise.h>\n{FUNCTIONS}\
         int main(void) {{ return 0; }}\n"
    );
    std::fs::write(&file, text).unwrap();
    for more in [
        "",
        " -flto",
        " -Wall -Wextra -Wpedantic -Werror -Wno-empty-body",
    ] {
        let mut command =
            place.command(&["bench", file.to_str().unwrap(), "--budget", "1s", "--json"]);
        let result = said(command.env("CFLAGS", format!("-O2 -std=c99 -DMINE{more}")));
        let summary = serde_json::from_str(&result.out).unwrap_or_default();
        assert_measured(&result, &summary);
    }
}

#[test]
fn a_library_calls_its_own_functions() {
    let place = Place::new();
    let (source, library) = (place.file("lib.c"), place.file("libmine.so"));
    // Were the harness's of these names seen, the library would call them.
    let text = "int proving = 41;\nint fact(void) { return 1; }\nint skip(void) { return fact() + proving; }\n\
                void counted(void *c) { (void)c; for (volatile int i = 0; i < 3000; i++); }\n\
                unsigned long counted_result(void *c) { (void)c; return skip(); }\n\
                void work(void *c) { counted(c); }\n\
                unsigned long work_result(void *c) { (void)c; return 42; }\n";
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"])
        .args([&library, &source]);
    assert!(cc.status().unwrap().success());
    let subject = format!("{}:counted,work", library.display());
    let result = said(&mut place.command(&["bench", &subject, "--budget", "1s", "--json"]));
    let summary: Value = serde_json::from_str(&result.out).unwrap_or_default();
    for function in ["counted", "work"] {
        let cell = cell(&summary, &format!("bench/{function}@own"), &[]);
        assert!(is_measured(cell), "{cell} {}", result.err);
    }
}

#[test]
fn a_function_of_the_c_library_that_the_harness_calls_is_named_and_may_be_static() {
    let place = Place::new();
    // As in a program that includes no <unistd.h>.
    let text = |lead: &str| {
        format!(
            "#include <pagewise.h>\n{lead}int write(int x) {{ return x + 1; }}\nint kept(void) {{ return write(1); }}\n{FUNCTIONS}"
        )
    };
    let (result, _) = measured(&place, "mine.c", &text(""));
    let said = result.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        result.code == 1 && said.contains("mine.c defines write, a function of the C library that the harness calls: make it static"),
        "{said}"
    );
    let (result, summary) = measured(&place, "mine.c", &text("static "));
    assert_measured(&result, &summary);
    // In C++ the name of a function has its parameters in it.
    let (result, summary) = measured(&place, "mine.cpp", &text(""));
    assert_measured(&result, &summary);
    // An allocator of the user's own is what is measured.
    let own = "#include <stddef.h>\nstatic char heap[1 << 24];\nstatic size_t used;\nvoid *malloc(size_t n) { void *p = heap + used; \
               used += (n + 15) / 16 * 16; return p; }\nvoid free(void *p) { (void)p; }\n";
    let (result, summary) = measured(
        &place,
        "mine.c",
        &format!("#include <pagewise.h>\n{own}{FUNCTIONS}"),
    );
    assert_measured(&result, &summary);
}

/// A second source and a library are words of LDLIBS, relative to the user's folder; a flag decides what is compiled.
#[test]
fn further_files_and_libraries_are_words_of_the_environment() {
    let place = Place::new();
    std::fs::write(place.file("part.h"), "int part(int);\n").unwrap();
    let part = "#include \"part.h\"\n#include <math.h>\nint part(int n) { return n + (int)cbrt(27.0 * n); }\n";
    std::fs::write(place.file("part.c"), part).unwrap();
    let file = place.file("mine.c");
    let text = "#include <pagewise.h>\n#include \"part.h\"\nBENCH(parts) { int r = 0; PHASE(\"sum\") { for (int i = 0; i < MORE; i++) \
                r += part(i & 1); } RESULT(r); }\n";
    std::fs::write(&file, text).unwrap();
    let mut command = place.command(&["bench", file.to_str().unwrap(), "--budget", "1s", "--json"]);
    command
        .current_dir(place.path())
        .env("LDLIBS", "part.c -lm")
        .env("CFLAGS", "-O2 -DMORE=1000");
    let result = said(&mut command);
    let summary: Value =
        serde_json::from_str(&result.out).unwrap_or_else(|_| panic!("{}", result.err));
    let parts = cell(&summary, "bench/parts@own", &[]);
    assert!(is_measured(parts), "{parts} {}", result.err);
}
