//! Callers of page faults: functions that are named, and the formats in which they are exported. No test asserts a time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::profile::{built, may_follow, summary, with_function};
use crate::support::place::{Place, entries};
use crate::support::skips::skip;
use serde_json::Value;

/// Three functions whose faults are as 5 : 3 : 2, without frame pointers: one touches by itself, one by another function, one
/// by the library's memset.
pub const PLANTED: &str = r#"
#include <string.h>
#include <sys/mman.h>
#define APART __attribute__((noinline, noclone))
enum { PAGE = 4096 };
static char *fresh(size_t pages) {
    char *p = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
    return p;
}
APART static void touch(volatile char *p, size_t pages) { for (size_t i = 0; i < pages; i++) p[i * PAGE] = 1; }
APART static int planted_half(void) {
    volatile char *p = fresh(10000);
    for (size_t i = 0; i < 10000; i++) p[i * PAGE] = 1;
    return p[5];
}
APART static int planted_third(void) { char *p = fresh(6000); touch(p, 6000); return p[6]; }
APART static int planted_fifth(void) { char *p = fresh(4000); memset(p, 1, 4000ul * PAGE); return p[7]; }
int main(void) { return planted_half() + planted_third() + planted_fifth() - 1; }
"#;

#[test]
fn page_faults_are_blamed_on_the_functions_that_cause_them() {
    let place = Place::new();
    let flags = ["-g", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"];
    let program = built(&place, "planted", PLANTED, &flags).expect("gcc builds");
    let program = program.to_str().unwrap();
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let of = summary(&place, &["--blocks", "6", "--ignore-failure"], &[program]);
    let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
    let sum: f64 = of["stacks"]["stacks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["weight"].as_f64().unwrap())
        .sum();
    assert!((sum / total - 1.0).abs() < 1e-6, "{sum} {total}");
    let costs =
        ["planted_half", "planted_third", "planted_fifth"].map(|name| with_function(&of, name));
    let planted: f64 = costs.iter().sum();
    for (cost, share) in costs.iter().zip([0.5, 0.3, 0.2]) {
        assert!((cost / planted / share - 1.0).abs() < 0.1, "{costs:?}");
    }
    assert!(planted > 0.9 * total, "{planted} of {total}");
    let of_memset = with_function(&of, "main") / planted;
    assert!(of_memset > 0.99, "memset's callers are known: {of_memset}");
    let run = of["plan"]["run"].as_str().unwrap();
    let screen = place.run(&["report", run]).out;
    let first = screen
        .split("\nAnswers\n")
        .nth(1)
        .and_then(|answers| answers.lines().next())
        .unwrap();
    assert!(
        first.contains("first-touch page faults in planted_half: worth acting"),
        "{screen}"
    );
    assert!(screen.contains("planted.c:"), "{screen}");
    let folded = place.run(&["report", run, "--format", "folded"]).out;
    assert!(folded.contains("main;planted_third;touch "), "{folded}");
    for (format, check) in [("pprof", is_pprof as fn(&Path)), ("firefox", is_firefox)] {
        let file = place.file(format);
        let said = place.run(&[
            "report",
            run,
            "--format",
            format,
            "--out",
            file.to_str().unwrap(),
        ]);
        assert_eq!(said.code, 0, "{}", said.err);
        check(&file);
    }
    let page = place.file("page.html");
    assert_eq!(
        place
            .run(&["report", run, "--html", page.to_str().unwrap()])
            .code,
        0
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("plot flame") && page.contains("planted_fifth"));
    let without = summary(
        &place,
        &["--blocks", "6", "--ignore-failure", "--stacks=off"],
        &[program],
    );
    assert!(
        without.get("stacks").is_none()
            && without["faults"]["seconds"]["value"].as_f64().unwrap() > 0.0
    );
}

/// Go's own reader finds the planted functions with their shares.
fn is_pprof(file: &Path) {
    let Ok(read) = Command::new("go")
        .args(["tool", "pprof", "-top", "-cum", "-nodecount=60"])
        .arg(file)
        .output()
    else {
        return skip("go is not installed");
    };
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(
        read.status.success(),
        "{text} {}",
        String::from_utf8_lossy(&read.stderr)
    );
    let cumulative = |name: &str| -> f64 {
        let line = text
            .lines()
            .find(|line| line.ends_with(name))
            .unwrap_or_else(|| panic!("{name}: {text}"));
        line.split_whitespace()
            .nth(4)
            .and_then(|share| share.trim_end_matches('%').parse().ok())
            .unwrap()
    };
    assert!(
        text.contains("Type: cpu") && cumulative(" main") > 90.0,
        "{text}"
    );
    assert!(
        (cumulative(" planted_half") / cumulative(" planted_third") / (5.0 / 3.0) - 1.0).abs()
            < 0.1,
        "{text}"
    );
}

/// Every column is as long as its table, every index points into one, and the callers of a stack are found.
fn is_firefox(file: &Path) {
    let of: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let (shared, samples) = (&of["shared"], &of["threads"][0]["samples"]);
    let columns = |table: &Value| {
        let length = table["length"].as_u64().unwrap() as usize;
        let wrong = table
            .as_object()
            .unwrap()
            .iter()
            .find(|(_, column)| column.as_array().is_some_and(|c| c.len() != length));
        assert!(
            length > 0 && wrong.is_none(),
            "{wrong:?} is not of {length}"
        );
    };
    ["stackTable", "frameTable", "funcTable", "sources"]
        .iter()
        .for_each(|table| columns(&shared[*table]));
    columns(samples);
    let at = |table: &str, column: &str, index: usize| {
        shared[table][column][index]
            .as_u64()
            .map(|index| index as usize)
    };
    let text = |index: usize| shared["stringArray"][index].as_str().unwrap().to_owned();
    let function = |stack| {
        at(
            "frameTable",
            "func",
            at("stackTable", "frame", stack).unwrap(),
        )
        .unwrap()
    };
    let name = |stack| text(at("funcTable", "name", function(stack)).unwrap());
    let source = |stack| {
        text(
            at(
                "sources",
                "filename",
                at("funcTable", "source", function(stack)).unwrap(),
            )
            .unwrap(),
        )
    };
    let (mut of_third, mut functions) = (0.0, BTreeSet::new());
    for (stack, weight) in samples["stack"]
        .as_array()
        .unwrap()
        .iter()
        .zip(samples["weight"].as_array().unwrap())
    {
        let mut names = Vec::new();
        let mut next = stack.as_u64().map(|stack| stack as usize);
        while let Some(stack) = next {
            names.push(name(stack));
            if names.last().is_some_and(|name| name == "planted_third") {
                functions.insert(function(stack));
                assert!(source(stack).ends_with("planted.c"), "{}", source(stack));
            }
            next = at("stackTable", "prefix", stack);
        }
        if let Some(third) = names.iter().position(|name| name == "planted_third") {
            assert!(names[third + 1..].contains(&"main".to_owned()), "{names:?}");
            of_third += weight.as_f64().unwrap();
        }
    }
    assert_eq!(functions.len(), 1, "a function is one, whatever its lines");
    let all: f64 = samples["weight"]
        .as_array()
        .unwrap()
        .iter()
        .map(|weight| weight.as_f64().unwrap())
        .sum();
    assert!(
        (0.2..0.4).contains(&(of_third / all)),
        "{of_third} of {all}"
    );
    is_read_by_firefox_profiler(file, 100.0 * of_third / all);
}

/// Firefox Profiler's own program (npm: @firefox-devtools/profiler-cli) finds a planted function with its share in percent.
fn is_read_by_firefox_profiler(file: &Path, percent: f64) {
    let sessions = file.with_extension("sessions");
    let run = |words: &[&str]| {
        Command::new("profiler-cli")
            .args(words)
            .env("PROFILER_CLI_SESSION_DIR", &sessions)
            .output()
    };
    let Ok(loaded) = run(&["load", file.to_str().unwrap()]) else {
        return skip("profiler-cli is not installed");
    };
    let samples = run(&["thread", "samples"]).unwrap();
    run(&["stop", "--all"]).unwrap();
    let text = String::from_utf8_lossy(&samples.stdout).into_owned();
    let errors = String::from_utf8_lossy(&loaded.stderr).into_owned();
    let line = text
        .lines()
        .find(|line| line.contains("planted_third - total: "));
    let share = line.and_then(|line| line.split(['(', '%']).nth(1)?.parse::<f64>().ok());
    assert!(
        share.is_some_and(|share| (share - percent).abs() < 0.2),
        "{share:?}, not {percent}: {errors} {text}"
    );
}

/// Most of its page faults are in a function that `planted_in_python` calls.
const PYTHON: &str = r"
import os, sys
print(os.getpid(), file=open(sys.argv[1], 'a'))
def grow():
    return bytearray(b'x') * 60_000_000
def planted_in_python():
    return len(grow())
print(planted_in_python())
";

/// A Python here that writes a perf map, by its own path: a shim's page faults would be the shell's.
fn python_with_maps() -> Option<String> {
    let about = "import os, sys; sys.activate_stack_trampoline('perf'); sys.deactivate_stack_trampoline()\n\
                 os.path.exists(m := f'/tmp/perf-{os.getpid()}.map') and os.remove(m); print(sys.executable)";
    let path = |python: PathBuf| {
        let said = Command::new(python)
            .args(["-c", about])
            .output()
            .ok()
            .filter(|said| said.status.success())?;
        Some(String::from_utf8(said.stdout).unwrap().trim().to_owned())
    };
    let versions = Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".pyenv/versions");
    let versions = entries(&versions)
        .into_iter()
        .map(|folder| folder.join("bin/python3"));
    ["python3", "python3.12", "python3.13", "python3.14"]
        .map(PathBuf::from)
        .into_iter()
        .chain(versions)
        .find_map(path)
}

#[test]
fn functions_of_an_interpreter_are_named_by_its_perf_map() {
    let place = Place::new();
    let script = place.file("planted.py");
    std::fs::write(&script, PYTHON).unwrap();
    let Some(python) = python_with_maps() else {
        return skip("no Python writes perf maps here");
    };
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let words = [&script, &place.file("pids")].map(|path| path.to_str().unwrap().to_owned());
    let of = summary(
        &place,
        &["--blocks", "6"],
        &[&python, "-X", "perf", &words[0], &words[1]],
    );
    remove_maps(&place);
    let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
    let planted = with_function(&of, &format!("py::planted_in_python:{}", script.display()));
    assert!(
        planted > 0.5 * total,
        "{planted} of {total}: {:#}",
        of["stacks"]["frames"]
    );
    assert!(with_function(&of, &format!("py::grow:{}", script.display())) > 0.5 * total);
}

/// Code that is made while the program runs: it writes to each page of what it is given, and a perf map names it. With a
/// second argument the map is another user's.
const GENERATED: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { PAGES = 8000 };
/* push rbp; mov rbp, rsp; next: mov byte [rdi], 1; add rdi, 4096; dec rsi; jnz next; pop rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x48, 0x81, 0xc7, 0x00, 0x10, 0x00, 0x00,
                                     0x48, 0xff, 0xce, 0x75, 0xf1, 0x5d, 0xc3};
int main(int argc, char **argv) {
    char *made = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
    memcpy(made, code, sizeof code);
    mprotect(made, 4096, PROT_READ | PROT_EXEC);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    fprintf(map, "%lx %zx generated @scope/touch\n", (long)made, sizeof code);
    fclose(map);
    map = fopen(argv[1], "a");
    fprintf(map, "%d\n", getpid());
    fclose(map);
    if (argc > 2 && chown(path, 65534, -1) != 0)
        return 1;
    char *p = mmap(0, PAGES * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, PAGES * 4096ul, MADV_NOHUGEPAGE);
    ((void (*)(char *, long))made)(p, PAGES);
    return 0;
}
"#;

/// Removes the perf maps of the processes that wrote their numbers into the file `pids`.
fn remove_maps(place: &Place) {
    let pids = std::fs::read_to_string(place.file("pids")).unwrap();
    pids.lines()
        .for_each(|pid| std::fs::remove_file(format!("/tmp/perf-{pid}.map")).unwrap());
}

#[test]
fn generated_code_is_named_by_this_users_perf_map_only() {
    if !cfg!(target_arch = "x86_64") {
        return skip("the code is of x86-64");
    }
    let place = Place::new();
    let program = built(&place, "generated", GENERATED, &["-g"]).expect("gcc builds");
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let named = |arguments: &[&str]| {
        let paths = [&program, &place.file("pids")].map(|path| path.to_str().unwrap().to_owned());
        let of = summary(
            &place,
            &["--blocks", "6"],
            &[&[&*paths[0], &*paths[1]], arguments].concat(),
        );
        remove_maps(&place);
        std::fs::remove_file(place.file("pids")).unwrap();
        let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
        assert!(
            with_function(&of, "main") > 0.9 * total,
            "{:#}",
            of["stacks"]["frames"]
        );
        with_function(&of, "generated @scope/touch") / total
    };
    assert!(named(&[]) > 0.9);
    if !rustix::process::geteuid().is_root() {
        return skip("a file of another user's needs root");
    }
    assert_eq!(named(&["other"]), 0.0);
}
