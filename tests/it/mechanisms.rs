//! `pagewise profile` on programs whose cost is no page fault, or another than it seems: each names its mechanism, the line of its
//! source, and what to do. No test asserts a time.

use std::process::Command;

use crate::profile::{built, may_follow, summary};
use crate::support::place::Place;
use crate::support::skips::skip;
use serde_json::Value;

/// Memory that is touched, and what a test adds to it.
const HEAD: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
enum { MIB = 1 << 20 };
static char *fresh(size_t bytes) {
    char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}
APART static void touch(volatile char *p, size_t bytes) { for (size_t i = 0; i < bytes; i += 4096) p[i] = 1; }
"#;

/// True where the kernel's time may be sampled: by root, or where perf_event_paranoid permits it.
fn may_sample() -> bool {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let is_permitted = text.trim().parse::<i32>().is_ok_and(|level| level <= 1);
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let is_shown = symbols
        .lines()
        .any(|line| !line.starts_with("0000000000000000"));
    may_follow() && is_shown && (is_permitted || rustix::process::getuid().is_root())
}

/// A profile of the program with this body; its screen.
fn profiled(place: &Place, name: &str, body: &str) -> (Value, String) {
    let source = format!("{HEAD}{body}");
    let program = built(place, name, &source, &["-g", "-pthread"]).expect("gcc builds");
    let of = summary(place, &["--blocks", "6"], &[program.to_str().unwrap()]);
    let screen = place.run(&["report", of["plan"]["run"].as_str().unwrap()]);
    (of, screen.out.replace("\n    ", " "))
}

/// Asserts that advice of this kind stands first, with the function that it concerns.
fn assert_advice(of: &Value, screen: &str, kind: &str, function: &str) {
    assert_eq!(of["outcome"], "ok", "{of:#}");
    assert_eq!(
        of["advice"][0]["kind"], kind,
        "{:#}\n{screen}",
        of["advice"]
    );
    let todo = screen.split("What to do:").nth(1).unwrap_or_default();
    assert!(todo.contains(function), "{function}: {screen}");
}

/// Share of the kernel's time that has a name, and the sum of all shares of CPU time.
fn explained(of: &Value) -> (f64, f64) {
    let (mut named, mut all, mut share) = (0.0, 0.0, 0.0);
    for part in of["kernel"].as_array().unwrap() {
        let seconds = part["seconds"]["value"].as_f64().unwrap();
        all += seconds;
        share += part["share"]["value"].as_f64().unwrap();
        named += if part["event"] == "kernel" {
            0.0
        } else {
            seconds
        };
    }
    (named / all, share)
}

#[test]
fn what_is_no_page_fault_has_a_cost_and_advice() {
    if !may_sample() {
        return skip("the kernel's time may not be sampled");
    }
    let place = Place::new();
    let cases = [
        (
            "forks",
            "spawn",
            "start_child",
            "APART static void start_child(void) { if (fork() == 0) _exit(0); wait(0); }
             int main(void) { char *p = fresh(128 * MIB); touch(p, 128 * MIB); for (int i = 0; i < 30; i++) start_child(); return 0; }",
        ),
        (
            "gives",
            "keep-advised",
            "give",
            "APART static void give(char *p) { madvise(p, 4 * MIB, MADV_DONTNEED); atomic_thread_fence(5); }
             int main(void) { char *p = fresh(4 * MIB); for (int i = 0; i < 150; i++) { touch(p, 4 * MIB); give(p); } return 0; }",
        ),
        (
            "lazy",
            "advise-less",
            "mark",
            "APART static void mark(char *p) { madvise(p, 16 * MIB, MADV_FREE); atomic_thread_fence(5); }
             int main(void) { char *p = fresh(16 * MIB); for (int i = 0; i < 150; i++) { touch(p, 16 * MIB); mark(p); } return 0; }",
        ),
        (
            "protects",
            "protect-less",
            "seal",
            "APART static void seal(char *p) { mprotect(p, 64 * MIB, PROT_READ); mprotect(p, 64 * MIB, PROT_READ | PROT_WRITE); atomic_thread_fence(5); }
             int main(void) { char *p = fresh(64 * MIB); touch(p, 64 * MIB); for (int i = 0; i < 150; i++) seal(p); return 0; }",
        ),
        (
            "moves",
            "reserve",
            "shift",
            "static char *at[2]; APART static void shift(int i) { mremap(at[i % 2], 60 * MIB, 60 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, at[!(i % 2)]); atomic_thread_fence(5); }
             int main(void) { at[0] = fresh(64 * MIB) + 4096; at[1] = fresh(64 * MIB) + 8192; touch(at[0], 60 * MIB); for (int i = 0; i < 200; i++) shift(i); return 0; }",
        ),
    ];
    for (name, kind, function, body) in cases {
        let (of, screen) = profiled(&place, name, body);
        assert_advice(&of, &screen, kind, function);
        let (named, share) = explained(&of);
        assert!(named >= 0.9 && share <= 1.0, "{name}: {named} {share}");
        let place_of_line = format!("{function} ({name}.c:");
        assert!(screen.contains(&place_of_line), "{place_of_line}: {screen}");
    }
}

/// Work of the kernel that a program's memory causes only indirectly has a name of its own, and no advice for something else.
#[test]
fn work_of_its_own_kind_has_its_own_name() {
    if !may_sample() {
        return skip("the kernel's time may not be sampled");
    }
    let place = Place::new();
    let names = |of: &Value, list: &str, field: &str| -> Vec<String> {
        // An empty list is not written.
        let parts = of[list].as_array().into_iter().flatten();
        parts
            .map(|part| part[field].as_str().unwrap().to_owned())
            .collect()
    };
    let (of, screen) = profiled(
        &place,
        "starts",
        "APART static void start(void) { if (vfork() == 0) { execl(\"/bin/true\", \"true\", (char *)0); _exit(1); } wait(0); }
         int main(void) { for (int i = 0; i < 80; i++) start(); return 0; }",
    );
    assert!(screen.contains("starting and ending 8"), "{screen}");
    // By clocks of the processors nothing of a short process is without samples.
    if rustix::process::getuid().is_root() {
        assert_eq!(of["kernel_whole"], true, "{of:#}");
        assert!(!screen.contains("At least"), "{screen}");
    }
    assert_eq!(of["advice"][0]["kind"], "fewer-programs", "{of:#}");
    let kinds = names(&of, "advice", "kind");
    assert!(!kinds.contains(&"read-file".to_owned()), "{kinds:?}");

    let (of, _) = profiled(
        &place,
        "shared",
        "int main(void) { for (int i = 0; i < 8; i++) { char *p = mmap(0, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
             touch(p, 16 * MIB); munmap(p, 16 * MIB); } return 0; }",
    );
    let kinds = names(&of, "advice", "kind");
    assert!(!kinds.contains(&"read-file".to_owned()), "{of:#}");
    assert!(
        of["counts"]["events"]["shared"].as_f64() >= Some(32_768.0),
        "{of:#}"
    );

    let (of, _) = profiled(
        &place,
        "barrier",
        "#include <signal.h>\nstatic char *p; static void opened(int s) { (void)s; mprotect(p, 4096, PROT_READ | PROT_WRITE); }
         int main(void) { p = fresh(4096); struct sigaction a = {.sa_handler = opened}; sigaction(SIGSEGV, &a, 0);
             for (int i = 0; i < 30000; i++) { mprotect(p, 4096, PROT_READ); *(volatile char *)p = 1; } return 0; }",
    );
    let events = names(&of, "kernel", "event");
    for wanted in ["signal", "protect"] {
        assert!(events.contains(&wanted.to_owned()), "{wanted}: {events:?}");
    }

    let (of, screen) = profiled(
        &place,
        "ends",
        "APART static void give(void) { sbrk(-4 * MIB); atomic_thread_fence(5); }
         int main(void) { sbrk(MIB); for (int i = 0; i < 150; i++) { char *p = sbrk(4 * MIB); touch(p, 4 * MIB); give(); } return 0; }",
    );
    assert_advice(&of, &screen, "keep-mapped", "give");

    // On a file system without a device nothing is written back.
    let (of, _) = profiled(
        &place,
        "saves",
        "#include <fcntl.h>\nint main(void) { static char page[65536]; int fd = open(\"saved\", O_RDWR | O_CREAT | O_TRUNC, 0600); unlink(\"saved\");
             for (int i = 0; i < 200; i++) { page[0] = i; if (pwrite(fd, page, sizeof page, 0) < 0) return 1; fsync(fd); } return 0; }",
    );
    for part in of["kernel"].as_array().into_iter().flatten() {
        if part["call"] == "fsync" {
            assert_ne!(part["event"], "page-cache", "{of:#}");
        }
    }
}

/// A program of Go has none of the C library's settings: its runtime's are named.
#[test]
fn memory_that_a_runtime_takes_has_the_runtimes_advice() {
    if !may_sample() {
        return skip("the kernel's time may not be sampled");
    }
    let place = Place::new();
    let (source, program) = (place.file("grows.go"), place.file("grows"));
    let text = "package main\n\nvar kept [][]byte\n\nfunc main() {\n\tfor i := 0; i < 256; i++ {\n\
                \t\tb := make([]byte, 1<<20)\n\t\tfor j := 0; j < len(b); j += 4096 {\n\
                \t\t\tb[j] = 1\n\t\t}\n\t\tkept = append(kept, b)\n\t}\n}\n";
    std::fs::write(&source, text).unwrap();
    let built = Command::new("go")
        .args(["build", "-o"])
        .args([&program, &source])
        .env("GO111MODULE", "off")
        .env("HOME", place.path())
        .output();
    if !built.is_ok_and(|done| done.status.success()) {
        return skip("there is no Go compiler");
    }
    let of = summary(&place, &["--blocks", "6"], &[program.to_str().unwrap()]);
    let advice = of["advice"].as_array().into_iter().flatten();
    let kinds: Vec<&str> = advice
        .map(|advice| advice["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"go-heap"), "{of:#}");
    let screen = place.run(&["report", of["plan"]["run"].as_str().unwrap()]);
    assert!(
        screen.out.contains("--with go-gc,go-limit"),
        "{}",
        screen.out
    );
}

/// Pages of hot frames cost less than those of a fresh process: the first line and the predictions are there all the same.
#[test]
fn hot_frames_have_an_answer() {
    if !may_sample() {
        return skip("the kernel's time may not be sampled");
    }
    let place = Place::new();
    let (of, screen) = profiled(
        &place,
        "hot",
        "APART static char *take(void) { char *p = malloc(1 * MIB); memset(p, 1, 1 * MIB); return p; }
         int main(void) { for (int i = 0; i < 400; i++) { char *p = take(), *q = take(); free(q); free(p); } return 0; }",
    );
    let share = of["faults"]["share"]["value"].as_f64().unwrap();
    assert!(share > 0.05 && share <= 1.0, "{of:#}");
    assert!(
        of["consistency"]["factor"]["value"].as_f64().is_some(),
        "{of:#}"
    );
    assert!(screen.contains("worth acting"), "{screen}");
    assert!(screen.contains("keep is worth a try"), "{screen}");
}

/// Two threads that meet on each page: nothing is given back, and nothing would be huge more often than there is memory.
#[test]
fn two_threads_on_a_page_give_nothing_back() {
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return skip("there is one processor");
    }
    let place = Place::new();
    let (of, _) = profiled(
        &place,
        "race",
        "enum { ROWS = 8192 }; static char *m; static atomic_int at[2];
         static void *half(void *a) { size_t k = (size_t)a; for (int r = 0; r < ROWS; r++) {
             atomic_store(&at[k], r + 1); while (atomic_load(&at[!k]) < r + 1) ; m[(size_t)r * 4096 + k * 2048] = 1; } return 0; }
         int main(void) { pthread_t t; m = fresh((size_t)ROWS * 4096); pthread_create(&t, 0, half, (void *)1); half(0); pthread_join(t, 0); return 0; }",
    );
    let count = |kind: &str| of["counts"]["events"][kind].as_f64().unwrap_or(0.0);
    let (raced, again) = (count("raced"), count("again"));
    // A thread that is taken off its processor comes too late to race.
    assert!(
        again < 0.1 * raced.max(100.0),
        "{raced} raced, {again} again"
    );
}

/// Memory that a program maps by system calls of its own, as Go does: no preloaded library can ask for its huge pages.
#[test]
fn what_no_library_can_reach_is_not_proposed() {
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let place = Place::new();
    let body = |call: &str| {
        format!(
            "APART static char *mapped(size_t bytes) {{
                 long p, flags = MAP_PRIVATE | MAP_ANONYMOUS, rights = PROT_READ | PROT_WRITE; {call} return (char *)p; }}
             int main(void) {{ for (int i = 0; i < 8; i++) touch(mapped(32 * MIB), 32 * MIB); return 0; }}"
        )
    };
    let by_library = body("p = (long)mmap(0, bytes, rights, flags, -1, 0);");
    let by_itself = body(
        "register long r10 __asm__(\"r10\") = flags, r8 __asm__(\"r8\") = -1, r9 __asm__(\"r9\") = 0;
         __asm__ volatile(\"syscall\" : \"=a\"(p) : \"a\"(9L), \"D\"(0L), \"S\"(bytes), \"d\"(rights), \"r\"(r10), \"r\"(r8), \"r\"(r9)
                          : \"rcx\", \"r11\", \"memory\");",
    );
    let has_thp = |name: &str, body: &str| {
        let (of, _) = profiled(&place, name, body);
        let candidates = of["candidates"].as_array().unwrap();
        let is_asked = of["plan"]["thp"] == "madvise" && of["plan"]["huge_page_bytes"] == 2 << 20;
        is_asked.then(|| candidates.iter().any(|c| c["setting"] == "thp"))
    };
    if let Some(is_proposed) = has_thp("library", &by_library) {
        assert!(is_proposed);
    }
    if cfg!(target_arch = "x86_64") {
        assert_ne!(has_thp("itself", &by_itself), Some(true));
    }
}

/// Few pages of a cleared block are touched: kept, it would be cleared whole.
#[test]
fn a_kept_block_that_calloc_would_clear_is_not_proposed() {
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let place = Place::new();
    let (of, screen) = profiled(
        &place,
        "sparse",
        "APART static void score(unsigned seed) { volatile unsigned *t = calloc(12u << 20, 4);
             for (int i = 0; i < 400; i++) { seed = seed * 1664525u + 1013904223u; t[(seed >> 4) % (12u << 20)] = i; } free((void *)t); }
         int main(void) { for (int i = 0; i < 30; i++) score(i + 1); return 0; }",
    );
    let is_named = |setting: &str| {
        let candidates = of["candidates"].as_array().unwrap();
        candidates.iter().any(|c| c["setting"] == setting)
    };
    assert!(!is_named("keep") && !is_named("thp"), "{of:#}");
    assert!(screen.contains("keep is not proposed"), "{screen}");
}

/// What a process touched before it was followed is known: its writes after a fork are copies, and others no first writes.
#[test]
fn an_attached_window_knows_what_was_there() {
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let place = Place::new();
    let source = format!(
        "{HEAD}int main(void) {{ char *p = fresh(8 * MIB); touch(p, 8 * MIB); for (;;) {{
             if (fork() == 0) {{ usleep(20000); _exit(0); }} touch(p, 2 * MIB); wait(0); usleep(2000); }} }}"
    );
    let program = built(&place, "saving", &source, &[]).expect("gcc builds");
    let mut service = Command::new(program).spawn().unwrap();
    let pid = service.id().to_string();
    let said = place.run(&["profile", "--pid", &pid, "--for", "2s", "--json"]);
    service.kill().unwrap();
    service.wait().unwrap();
    let of: Value = serde_json::from_str(&said.out)
        .unwrap_or_else(|e| panic!("{e}: {} {}", said.out, said.err));
    let count = |kind: &str| of["counts"]["events"][kind].as_f64().unwrap_or(0.0);
    let (copies, firsts) = (count("cow"), count("anonymous") + count("again"));
    assert!(
        copies > 500.0 && copies > 10.0 * firsts,
        "{copies} copies, {firsts} others: {of:#}"
    );
}

/// A user's own list in a variable stays, whatever a setting adds; a value that it replaces is said.
#[test]
fn a_setting_adds_to_the_users_variables() {
    let place = Place::new();
    let setting = place.file("mine.toml");
    std::fs::write(
        &setting,
        "name = \"mine\"\nenv = { MALLOC_CONF = \"narenas:2\", GODEBUG = \"gctrace=0\", MY_LEVEL = \"3\" }\nproof = [\"environment\"]\n",
    )
    .unwrap();
    let mut tried = place.command(&["try", "--pairs", "6", "--json", "--with"]);
    tried
        .arg(&setting)
        .args(["--with", "env:GODEBUG=gctrace=1", "--", "/bin/true"])
        .env("MALLOC_CONF", "dirty_decay_ms:0,narenas:1")
        .env("GODEBUG", "madvdontneed=1")
        .env("MY_LEVEL", "1");
    let output = tried.output().unwrap();
    let of: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let arm = &of["plan"]["arms"][1];
    assert_eq!(
        arm["variables"]["MALLOC_CONF"],
        "dirty_decay_ms:0,narenas:1,narenas:2"
    );
    assert_eq!(arm["variables"]["GODEBUG"], "madvdontneed=1,gctrace=0");
    assert_eq!(arm["replaced"]["MY_LEVEL"], "1");
    let named = &of["plan"]["arms"][2];
    assert_eq!(named["variables"]["GODEBUG"], "gctrace=1");
    assert_eq!(named["replaced"]["GODEBUG"], "madvdontneed=1");
    let screen = place.run(&["report", of["plan"]["run"].as_str().unwrap()]);
    let screen = screen.out.replace("\n    ", " ");
    for wanted in [
        "added to your MALLOC_CONF",
        "your narenas:1 holds no more",
        "MY_LEVEL is 3 instead of your 1",
    ] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
}
