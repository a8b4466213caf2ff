//! `pagewise profile` on real programs: every kind of page fault is counted as what it is, and every way of going wrong has a
//! clear outcome and leaves nothing running. No test asserts a time.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::support::place::{Place, Said, entries};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;
use serde_json::Value;

/// What it touches is known: 2048 first writes, 1024 of them again, 1024 reads and writes after them, 512 copies after a fork,
/// malloc's 3 MiB by a mapping and by the heap, two huge pages.
const EVENTS: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MIB = 1 << 20 };
static char *fresh(size_t bytes) {
    char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}
static void touch(volatile char *p, size_t bytes) { for (size_t i = 0; i < bytes; i += 4096) p[i] = 1; }
int main(void) {
    volatile char *a = fresh(8 * MIB), *z = fresh(4 * MIB);
    int sum = 0;
    touch(a, 8 * MIB);
    madvise((char *)a, 4 * MIB, MADV_DONTNEED);
    touch(a, 4 * MIB);
    for (size_t i = 0; i < 4 * MIB; i += 4096) sum += z[i];
    touch(z, 4 * MIB);
    if (fork() == 0) { touch(a, 2 * MIB); _exit(0); }
    wait(0);
    for (int i = 0; i < 3000; i++) touch(memset(malloc(1000), 1, 1000), 1000);
    touch(malloc(3 * MIB), 3 * MIB);
    char *h = mmap(0, 6 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    h = (char *)(((unsigned long)h + 2 * MIB - 1) & ~(2ul * MIB - 1));
    madvise(h, 4 * MIB, MADV_HUGEPAGE);
    touch(h, 4 * MIB);
    return sum;
}
"#;

fn profiled(place: &Place, options: &[&str], command: &[&str]) -> Said {
    place.run(&[&["profile"], options, &["--"], command].concat())
}

pub fn summary(place: &Place, options: &[&str], command: &[&str]) -> Value {
    valid(&profiled(place, &[options, &["--json"]].concat(), command))
}

/// The summary that was printed, which the published schema allows.
fn valid(said: &Said) -> Value {
    let value: Value = serde_json::from_str(&said.out)
        .unwrap_or_else(|e| panic!("{e}: {} {}", said.out, said.err));
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/profile.schema.json"
    );
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    value
}

pub fn built(place: &Place, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let (file, program) = (place.file(&format!("{name}.c")), place.file(name));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("gcc")
        .args(["-O1", "-o"])
        .args([&program, &file])
        .args(flags)
        .output();
    done.is_ok_and(|d| d.status.success()).then_some(program)
}

/// Processes whose command line has this word, which no other test has.
fn running(word: &str) -> usize {
    let line = |folder: &Path| std::fs::read(folder.join("cmdline")).unwrap_or_default();
    let has = |folder: &Path| {
        line(folder)
            .split(|b| *b == 0)
            .any(|w| w == word.as_bytes())
    };
    entries(Path::new("/proc"))
        .iter()
        .filter(|p| has(p))
        .count()
}

/// Whether perf's software events may be had here.
pub fn may_follow() -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    text.trim().parse::<i32>().is_ok_and(|level| level <= 2) && pagewise_page_bytes() == 4096
}

fn pagewise_page_bytes() -> usize {
    let said = Command::new("getconf")
        .arg("PAGESIZE")
        .output()
        .map(|o| o.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&said).trim().parse().unwrap_or(0)
}

#[test]
fn faults_are_counted_by_kind_and_the_profile_is_kept() {
    let place = Place::new();
    let program = built(&place, "events", EVENTS, &[]).expect("gcc builds");
    let program = program.to_str().unwrap();
    let of = summary(&place, &["--blocks", "6"], &[program]);
    assert_eq!(of["plan"]["kind"], "profile");
    if !may_follow() {
        assert_eq!(
            (&of["by_kind"], &of["notes"][0]["code"]),
            (&Value::from(false), &Value::from("faults-unseen"))
        );
        return;
    }
    assert_eq!(
        (&of["outcome"], &of["by_kind"]),
        (&Value::from("ok"), &Value::from(true)),
        "{of:#}"
    );
    let events = &of["counts"]["events"];
    // Beside what the source names there is what a program's start brings: less than 64 of each.
    let near = |kind: &str, wanted: f64| {
        let seen = events[kind].as_f64().unwrap_or(0.0);
        assert!(
            seen >= wanted && seen < wanted + 64.0,
            "{kind}: {seen}, not {wanted}: {events:#}"
        );
    };
    near("again", 1024.0);
    near("zero-read", 1024.0);
    near("zero-write", 1024.0);
    near("cow", 512.0);
    near("heap", 700.0);
    near("anonymous", 2048.0 + 768.0);
    if of["plan"]["thp"] == "madvise" && of["plan"]["huge_page_bytes"] == 2 << 20 {
        assert_eq!(events["huge"].as_f64(), Some(2.0), "{events:#}");
    }
    for line in ["faults", "freeing"] {
        assert!(
            of[line]["seconds"]["value"].as_f64().unwrap() > 0.0,
            "{line}: {of:#}"
        );
    }
    let id = of["plan"]["run"].as_str().unwrap();
    assert!(
        place
            .run(&["runs"])
            .out
            .contains(&format!("profile of {program}"))
    );
    let again: Value = serde_json::from_str(&place.run(&["report", id, "--json"]).out).unwrap();
    assert_eq!(again, of);
    let screen = place.run(&["report", id]).out;
    assert!(screen.lines().count() <= 40, "{screen}");
    assert!(
        screen.contains("pagewise try --with") && !screen.contains("cost this program about"),
        "{screen}"
    );
    let full = place.run(&["report", id, "--full"]).out;
    assert!(
        full.contains("Page faults cost this program about") && full.contains("copies after fork"),
        "{full}"
    );
    // What the profile predicted stands in the plan of a try of the same command.
    let tried = place.run(&[
        "try",
        "--pairs",
        "6",
        "--with",
        "keep,no-thp",
        "--json",
        "--",
        program,
    ]);
    let tried: Value = serde_json::from_str(&tried.out).unwrap();
    let is_settled = |c: &Value| c["kernel_s"]["low"].as_f64().unwrap() > 0.0;
    let named = of["candidates"].as_array().unwrap().iter().any(is_settled);
    assert_eq!(
        tried["plan"]["profile"].as_str(),
        named.then_some(id),
        "{:#}",
        tried["plan"]
    );
}

/// A table that grows by mremap, a trimmed mapping, a block that malloc maps twice, and a heap that shrinks; all of known size.
const MAPPINGS: &str = r#"
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { MIB = 1 << 20 };
static void touch(volatile char *p, size_t bytes) { for (size_t i = 0; i < bytes; i += 4096) p[i] = 1; }
int main(void) {
    char *grown = mmap(0, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch(grown, 4 * MIB);
    /* Something in the way, so that it must move. */
    mmap(grown + 4 * MIB, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    mmap(grown - 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    grown = mremap(grown, 4 * MIB, 32 * MIB, MREMAP_MAYMOVE);
    touch(grown + 4 * MIB, 28 * MIB);
    munmap(grown + 16 * MIB, 16 * MIB);
    mallopt(M_MMAP_THRESHOLD, 1 * MIB);
    for (int i = 0; i < 3; i++) {
        char *block = malloc(8 * MIB + 5000);
        touch(block, 8 * MIB);
        free(block);
    }
    return 0;
}
"#;

#[test]
fn moved_and_trimmed_mappings_are_seen() {
    let place = Place::new();
    let program = built(&place, "mappings", MAPPINGS, &[]).expect("gcc builds");
    let of = summary(&place, &["--blocks", "6"], &[program.to_str().unwrap()]);
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let calls = &of["mappings"];
    let at_least =
        |name: &str, least: u64| assert!(calls[name].as_u64() >= Some(least), "{name}: {calls:#}");
    assert_eq!(
        (&calls["mremap"], &calls["moved_bytes"]),
        (&Value::from(1), &Value::from(4 << 20)),
        "{calls:#}"
    );
    at_least("munmap", 4);
    at_least("mmap", 6);
    at_least("returned_bytes", (16 + 24) << 20);
    let candidate = |name: &str| {
        of["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .find(|c| c["setting"] == name)
    };
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() / wanted - 1.0).abs() < 0.05;
    if of["plan"]["thp"] == "madvise" && of["plan"]["huge_page_bytes"] == 2 << 20 {
        // The moved part is of base pages; 28 MiB are new, and three blocks of 8 MiB lack what does not fill a huge page.
        let thp = candidate("thp").unwrap_or_else(|| panic!("{of:#}"));
        let (faults, pages) = (
            thp["faults_saved"].as_f64().unwrap(),
            thp["huge_pages"].as_f64().unwrap(),
        );
        assert!(
            (10_500.0..14_400.0).contains(&faults) && (21.0..29.0).contains(&pages),
            "{thp:#}"
        );
    }
    // The second and the third block of malloc come from the first, which `keep` would have kept.
    let keep = candidate("keep").unwrap_or_else(|| panic!("{of:#}"));
    assert!(near(&keep["faults_saved"], 4096.0), "{keep:#}");
    let screen = place
        .run(&["report", of["plan"]["run"].as_str().unwrap(), "--full"])
        .out;
    assert!(
        screen.contains("Mappings: ")
            && screen.contains(" 1 mremap")
            && screen.contains("4.0 MiB moved"),
        "{screen}"
    );
}

/// Blocks that grow (by mremap), a heap that is trimmed, and freed blocks whose memory the heap could have had. Prints its
/// faults.
const GROWTH: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
int main(void) {
    for (int round = 0; round < 3; round++) {
        char *p = NULL;
        for (size_t mib = 1; mib <= 40; mib++) {
            p = realloc(p, mib << 20);
            memset(p + (mib - 1 << 20), 1, 1 << 20);
        }
        free(p);
        static char *small[3000];
        for (int i = 0; i < 3000; i++)
            memset(small[i] = malloc(5000), 1, 5000);
        for (int i = 0; i < 3000; i++)
            free(small[i]);
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_minflt);
    return 0;
}
"#;

/// Cleared blocks that are read before they are written. Prints its faults.
const CLEARED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(void) {
    for (int round = 0; round < 3; round++) {
        volatile char *cleared = calloc(40, 1 << 20);
        for (size_t i = 0; i < 40 << 20; i += 4096)
            cleared[i] = cleared[i] + 1;
        free((void *)cleared);
    }
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_minflt);
    return 0;
}
"#;

#[test]
fn what_malloc_would_keep_is_foretold_as_it_is_counted() {
    is_foretold("growth", GROWTH);
    is_foretold("cleared", CLEARED);
}

fn is_foretold(name: &str, source: &str) {
    let place = Place::new();
    let program = built(&place, name, source, &[]).expect("gcc builds");
    let of = summary(
        &place,
        &["--blocks", "6", "--discard-output"],
        &[program.to_str().unwrap()],
    );
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let faults = |tunables: &str| -> f64 {
        let said = Command::new(&program)
            .env("GLIBC_TUNABLES", tunables)
            .output()
            .unwrap();
        String::from_utf8(said.stdout)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    };
    let kept = faults("glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=1099511627776");
    let usual = faults("");
    let saved = usual - kept;
    let keep = of["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["setting"] == "keep")
        .unwrap_or_else(|| panic!("{of:#}"));
    let foretold = keep["faults_saved"].as_f64().unwrap();
    assert!(
        saved > 20_000.0 && (foretold / saved - 1.0).abs() < 0.05,
        "{foretold} foretold of {usual}, {kept} kept: {keep:#}"
    );
}

/// Cost of all stacks with this function.
pub fn with_function(of: &Value, name: &str) -> f64 {
    let stacks = &of["stacks"];
    let has = |stack: &&Value| {
        let mut frames = stack["frames"].as_array().unwrap().iter();
        frames.any(|at| stacks["frames"][at.as_u64().unwrap() as usize]["function"] == name)
    };
    stacks["stacks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(has)
        .map(|stack| stack["weight"].as_f64().unwrap())
        .sum()
}

/// A service that touches fresh memory again and again.
const SERVICE: &str = r#"
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void serve(void) {
    volatile char *p = mmap(0, 400 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 400; i++) p[i * 4096] = 1;
    munmap((void *)p, 400 * 4096);
}
int main(void) { for (;;) { serve(); usleep(1000); } }
"#;

#[test]
fn a_process_that_runs_already_is_profiled_and_goes_on() {
    let place = Place::new();
    let program = built(&place, "service", SERVICE, &["-g"]).expect("gcc builds");
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let mut service = Command::new(program).spawn().unwrap();
    let pid = service.id().to_string();
    let said = place.run(&["profile", "--pid", &pid, "--for", "2s", "--json"]);
    let of = valid(&said);
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(
        status.contains("TracerPid:\t0") && !status.contains("State:\tT"),
        "{status}"
    );
    assert_eq!(
        (&of["outcome"], &of["blocks"]),
        (&Value::from("ok"), &Value::from(8)),
        "{of:#}"
    );
    let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
    assert!(with_function(&of, "serve") > 0.9 * total, "{of:#}");
    let gone = place.run(&["profile", "--pid", &pid, "--for", "1s"]);
    assert!(
        gone.code == 1 && gone.err.contains("there is no process"),
        "{}",
        gone.err
    );
}

/// A service that does nothing but touch fresh memory, in two threads.
const BUSY: &str = r#"
#include <pthread.h>
#include <sys/mman.h>
static void *serve(void *unused) {
    for (;;) {
        volatile char *p = mmap(0, 400 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < 400; i++) p[i * 4096] = 1;
        munmap((void *)p, 400 * 4096);
    }
    return unused;
}
int main(void) { pthread_t other; pthread_create(&other, 0, serve, 0); serve(0); }
"#;

/// What following costs a process is bounded by counts: of each second of its CPU time, records at 1 µs and stacks at 10 µs take
/// 1 % at most, samples of the kernel's time at 17 µs 2 %. No price is measured before the last window is over.
#[test]
fn a_process_is_not_slowed_down_by_being_followed() {
    let place = Place::new();
    let program = built(&place, "busy", BUSY, &["-g", "-pthread"]).expect("gcc builds");
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let mut service = Command::new(program).spawn().unwrap();
    let pid = service.id().to_string();
    let said = place.run(&["profile", "--pid", &pid, "--for", "4s", "--json"]);
    service.kill().unwrap();
    service.wait().unwrap();
    let of = valid(&said);
    let folder = place
        .file("data/pagewise/runs")
        .join(of["plan"]["run"].as_str().unwrap());
    let text = std::fs::read_to_string(folder.join("launches.jsonl")).unwrap();
    let mut windows = 0;
    // Of all windows together: a machine that others use makes some of them short.
    let (mut followed_us, mut followed_cpu_us) = (0.0, 0.0);
    let (mut all_samples, mut sampled_cpu_us) = (0.0, 0.0);
    for line in text.lines() {
        let launch: Value = serde_json::from_str(line).unwrap();
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let cpu_us = number(&launch["user_us"]) + number(&launch["system_us"]);
        let parts = launch["kernel_work"]["parts"].as_array();
        let samples: f64 = parts
            .into_iter()
            .flatten()
            .map(|part| number(&part["samples"]))
            .sum();
        let stacks = launch["stacks"]["stacks"].as_array();
        let stacks: f64 = stacks
            .into_iter()
            .flatten()
            .map(|stack| number(&stack["weight"]))
            .sum();
        let records = number(&launch["faults"]["samples"]);
        match launch["mode"].as_str() {
            Some("followed") => {
                followed_us += records + 10.0 * stacks.min(records);
                followed_cpu_us += cpu_us;
            }
            Some("sampled") => {
                all_samples += samples;
                sampled_cpu_us += cpu_us;
            }
            _ => {}
        }
        windows += usize::from(launch["mode"] == "followed");
    }
    assert_eq!(windows, 9, "the first and eight of each");
    assert!(
        followed_us <= 0.01 * followed_cpu_us,
        "{followed_us} of {followed_cpu_us} µs: {text}"
    );
    // The count of samples scatters by its root.
    let least_samples = all_samples - 3.0 * f64::sqrt(all_samples);
    assert!(
        17.0 * least_samples <= 0.02 * sampled_cpu_us,
        "{all_samples} samples of {sampled_cpu_us} µs: {text}"
    );
    let modes: Vec<&str> = text
        .lines()
        .map(|line| line.split("\"mode\":\"").nth(1).unwrap())
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let first_price = modes.iter().position(|mode| mode.starts_with("price"));
    let is_window = |mode: &&str| matches!(*mode, "followed" | "sampled");
    let last_window = modes.iter().rposition(is_window);
    assert!(first_price > last_window, "{modes:?}");
    let following = &of["following"];
    let number = |name: &str| following[name].as_f64().unwrap();
    assert!(
        number("records") > 0.0 && number("samples") > 0.0,
        "{following:#}"
    );
    assert!(
        number("observer_cpu_s") < number("followed_s"),
        "{following:#}"
    );
    // Not each fault was recorded, and all of them are of the kind they are.
    let codes = of["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| &note["code"]);
    assert!(codes.clone().any(|code| code == "faults-sampled"), "{of:#}");
    let events = &of["counts"]["events"];
    let (first, again) = (&events["anonymous"], &events["again"]);
    let seen = first.as_f64().unwrap_or(0.0) + again.as_f64().unwrap_or(0.0);
    let all = of["counts"]["minor_faults"].as_f64().unwrap();
    assert!((seen / all - 1.0).abs() < 0.1, "{seen} of {all}: {of:#}");
    let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
    assert!(with_function(&of, "serve") > 0.9 * total, "{of:#}");
}

/// A profile of a service that is killed after three windows, and what then stands at its number.
fn profile_of_killed<T>(place: &Place, then: impl FnOnce(u32, &Path) -> T) -> (String, T) {
    let program = built(place, "ending", SERVICE, &["-g"]).expect("gcc builds");
    let mut service = Command::new(&program).spawn().unwrap();
    let number = service.id();
    let pid = number.to_string();
    let mut profile = place.command(&["profile", "--pid", &pid, "--for", "8s", "--json"]);
    let profile = profile
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let windows = || {
        let runs = entries(&place.file("data/pagewise/runs"));
        let launches = runs
            .first()
            .map(|run| std::fs::read_to_string(run.join("launches.jsonl")).unwrap_or_default());
        launches
            .unwrap_or_default()
            .matches(r#""mode":"followed""#)
            .count()
    };
    wait_until("three windows are over", || windows() >= 3);
    service.kill().unwrap();
    service.wait().unwrap();
    let there = then(number, &program);
    let said = profile.wait_with_output().unwrap();
    (String::from_utf8(said.stdout).unwrap(), there)
}

/// A profile of a process that ended, which has prices for what was seen.
fn of_ended(text: &str) -> Value {
    let of: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(
        (&of["outcome"], &of["blocks"]),
        (&Value::from("ok"), &Value::from(6)),
        "{of:#}"
    );
    of
}

/// A program at the number of a process that has ended, where this user may choose it: others may get it first.
fn at_number(number: u32, program: &Path) -> Option<Child> {
    for _ in 0..50 {
        let last = (number - 1).to_string();
        std::fs::write("/proc/sys/kernel/ns_last_pid", last).ok()?;
        let mut child = Command::new(program).spawn().ok()?;
        if child.id() == number {
            return Some(child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    None
}

/// The number of a process that has ended is another's.
#[test]
fn a_process_that_gets_the_number_of_one_that_ended_is_not_followed() {
    let place = Place::new();
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let (text, other) = profile_of_killed(&place, at_number);
    let Some(mut other) = other else {
        return skip(
            "no process can be started with a given number (/proc/sys/kernel/ns_last_pid)",
        );
    };
    let runs_on = other.try_wait().unwrap().is_none();
    other.kill().unwrap();
    other.wait().unwrap();
    let of = of_ended(&text);
    assert!(runs_on);
    let run = of["plan"]["run"].as_str().unwrap();
    let launches = place.file("data/pagewise/runs").join(run);
    let launches = std::fs::read_to_string(launches.join("launches.jsonl")).unwrap();
    assert!(launches.contains(r#""process_ended":true"#), "{launches}");
}

/// A service that ends while it is profiled: after so many windows, or between two of them.
#[test]
fn a_process_that_ends_leaves_what_was_seen_of_it() {
    let place = Place::new();
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let (text, ()) = profile_of_killed(&place, |_, _| ());
    let of = of_ended(&text);
    let note = of["notes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|note| note["code"] == "process-ended");
    let windows = note.and_then(|note| note["windows"].as_u64());
    assert!(
        windows.is_some_and(|windows| (2..8).contains(&windows)),
        "{of:#}"
    );
    let total = of["faults"]["seconds"]["value"].as_f64().unwrap();
    assert!(with_function(&of, "serve") > 0.9 * total, "{of:#}");
    // Whose memory was given back is a guess here, and so nothing is a figure.
    assert!(
        of["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .all(|c| c["kernel_s"]["low"].as_f64() <= Some(0.0)),
        "{of:#}"
    );
    let screen = place
        .run(&["report", of["plan"]["run"].as_str().unwrap()])
        .out;
    assert!(screen.contains("the process ended meanwhile"), "{screen}");
}

/// Of one that waits often only the beginning of each window is followed, which is there when it ends in the rest.
#[test]
fn a_process_that_waits_often_and_ends_leaves_what_was_seen_of_it() {
    const WAITS: &str =
        "#include <unistd.h>\nint main(void) { for (int i = 0; i < 5000; i++) usleep(200); }";
    let place = Place::new();
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let program = built(&place, "waits", WAITS, &[]).expect("gcc builds");
    let mut service = Command::new(program).spawn().unwrap();
    let pid = service.id().to_string();
    let said = place.run(&["profile", "--pid", &pid, "--for", "10s", "--json"]);
    service.wait().unwrap();
    let of = valid(&said);
    assert!(
        of["outcome"] == "ok" && of["cpu_s"]["value"].as_f64() > Some(0.0),
        "{of:#}"
    );
    let window_s = of["following"]["window_s"].as_f64().unwrap();
    let planned_s = of["plan"]["attached"]["window_s"].as_f64().unwrap();
    assert!(window_s < 0.9 * planned_s, "{of:#}");
}

#[test]
fn a_profile_goes_on_to_try_what_is_promising() {
    let place = Place::new();
    let program = built(&place, "again", AGAIN, &["-g"]).expect("gcc builds");
    let words = [
        "profile",
        "--then-try",
        "--blocks",
        "6",
        "--ignore-failure",
        "--",
        program.to_str().unwrap(),
    ];
    let said = place.run(&words);
    assert_eq!(said.code, 0, "{} {}", said.out, said.err);
    assert!(
        said.out.contains("pagewise · profile") && said.out.contains("pagewise · try"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("A/A check") && said.out.contains("  keep: "),
        "{}",
        said.out
    );
}

/// Blocks beyond 2 MiB that are all written.
/// Blocks that the C library gives back each time: that keeping them saves their faults rests on no price of huge pages, which
/// a virtual machine's host makes ten times higher for memory that it has not given yet.
const AGAIN: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(void) {
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        char *block = malloc(5 << 20);
        memset(block, 1, 5 << 20);
        sum += block[i];
        free(block);
    }
    return sum - 64;
}
"#;

const BLOCKS: &str = r#"
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *blocks[8];
    for (int i = 0; i < 8; i++) memset(blocks[i] = malloc(5 << 20), 1, 5 << 20);
    return blocks[7][0] - 1;
}
"#;

/// The settings of another malloc that the program is linked with are tried, and those of the C library's are not.
#[test]
fn the_allocator_of_a_program_is_known_and_its_settings_are_tried() {
    let place = Place::new();
    let options = ["profile", "--then-try", "--full", "--blocks", "6", "--"];
    for (library, huge) in [
        ("libjemalloc.so.2", "jemalloc-thp"),
        ("libmimalloc.so.2", "mimalloc-thp"),
    ] {
        let name = library.split('.').next().unwrap();
        let Some(program) = built(
            &place,
            name,
            BLOCKS,
            &["-Wl,--no-as-needed", &format!("-l:{library}")],
        ) else {
            skip(&format!("there is no {library}"));
            continue;
        };
        let said = place.run(&[&options[..], &[program.to_str().unwrap()]].concat());
        assert_eq!(said.code, 0, "{} {}", said.out, said.err);
        let out = said.out.replace("\n    ", " ");
        assert!(out.contains(&format!("Its allocator is {name}.")), "{out}");
        let tried = out.split("pagewise · try").nth(1).unwrap();
        let line = |arm: &str| {
            tried
                .lines()
                .find(|line| line.starts_with(&format!("  {arm}: ")))
        };
        assert!(
            line(huge).is_some_and(|line| line.contains("huge pages")) && line("keep").is_none(),
            "{tried}"
        );
        // What is tried is what the answer names.
        let named = out.split("pagewise try --with ").nth(1).unwrap();
        let named = named.split(" -- ").next().unwrap().split(',');
        for name in named {
            assert!(line(name).is_some(), "{name}: {out}");
        }
    }
}

#[test]
fn totals_need_no_events() {
    let place = Place::new();
    let of = summary(&place, &["--blocks", "1", "--totals"], &["true"]);
    assert_eq!(
        (&of["outcome"], &of["by_kind"]),
        (&Value::from("ok"), &Value::from(false))
    );
    assert!(
        of["counts"]["events"]["unknown"].as_f64().unwrap() > 10.0,
        "{of:#}"
    );
}

#[test]
fn what_goes_wrong_is_said_and_nothing_is_left() {
    let place = Place::new();
    let reason = |command: &str, options: &[&str]| {
        let said = profiled(&place, &[&["--blocks", "1"], options].concat(), &[command]);
        assert_eq!(said.code, 4, "{command}: {} {}", said.out, said.err);
        said.out
    };
    assert!(reason("sh -c 'kill -SEGV $$'", &[]).contains("SIGSEGV"));
    assert!(reason("sh -c 'echo oops >&2; exit 3'", &[]).contains("exit code 3; --ignore-failure"));
    assert!(reason("sleep 71.0625", &["--time-limit", "200ms"]).contains("--time-limit"));
    assert!(reason("setsid sleep 72.0625 & true", &[]).contains("left 1 process running"));
    assert!(
        reason("for i in $(seq 1000); do sleep 73.0625 & done", &[])
            .contains("left 1000 processes running")
    );
    assert!(reason("read line </dev/tty", &[]).contains("/dev/tty"));
    for word in ["71.0625", "72.0625", "73.0625"] {
        wait_until("nothing is left", || running(word) == 0);
    }
    let wrong = |words: &[&str], what: &str| {
        let said = place.run(words);
        assert!(
            said.code == 1 && said.err.contains(what) && said.err.lines().count() == 1,
            "{}",
            said.err
        );
    };
    wrong(&["profile"], "nothing to profile");
    wrong(&["profile", "--", "no-such-program"], "no-such-program");
    wrong(
        &["profile", "--input", "/no/such", "--", "true"],
        "/no/such",
    );
    wrong(&["profile", "--blocks", "0", "--", "true"], "--blocks");
    assert!(
        entries(&place.file("tmp")).is_empty(),
        "{:?}",
        entries(&place.file("tmp"))
    );
}

#[test]
fn unusual_programs_are_profiled() {
    let place = Place::new();
    let of = |command: &[&str]| {
        let of = summary(&place, &["--blocks", "1"], command);
        assert_eq!(of["outcome"], "ok", "{command:?}: {:#}", of["failure"]);
        of
    };
    let has_note = |of: &Value, code: &str| {
        of["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|n| n["code"] == code)
    };
    of(&["exec 0<&- 1>&- 2>&-; true"]);
    // Hundreds at once may come faster than their faults are read, which is said.
    for count in [200, 1000] {
        let many = summary(
            &place,
            &["--blocks", "1"],
            &[&format!(
                "for i in $(seq {count}); do true & done; wait; exit 0"
            )],
        );
        assert!(
            many["outcome"] == "ok" && (!may_follow() || has_note(&many, "many-processes")),
            "{many:#}"
        );
    }
    assert!(has_note(
        &of(&["head -c 1100000000 /dev/zero"]),
        "much-output"
    ));
    let alone = built(
        &place,
        "static",
        "int main(void) { return 0; }",
        &["-static"],
    )
    .expect("gcc links statically");
    of(&[alone.to_str().unwrap()]);
    let start = "void _start(void) { __asm__(\"int $0x80\" : : \"a\"(1), \"b\"(0)); }";
    match built(
        &place,
        "narrow",
        start,
        &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie"],
    ) {
        Some(narrow) => drop(of(&[narrow.to_str().unwrap()])),
        None => skip("the compiler makes no programs of 32 bits"),
    }
    of(&["env -i /bin/true"]);
    let owner = place.file("owner");
    assert!(
        Command::new("install")
            .args(["-m", "4755", "/bin/true"])
            .arg(&owner)
            .status()
            .unwrap()
            .success()
    );
    assert!(has_note(&of(&[owner.to_str().unwrap()]), "setuid"));
}

#[test]
fn a_profile_that_is_stopped_leaves_nothing() {
    let place = Place::new();
    for signal in ["-INT", "-KILL"] {
        let mut child = place.command(&["profile", "--", "sleep 74.0625"]);
        let mut child = child
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_until("the command runs", || running("74.0625") > 0);
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        child.wait().unwrap();
        wait_until("the command is gone", || running("74.0625") == 0);
    }
}
