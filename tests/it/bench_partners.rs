//! Processes beside a function of `bench`: its other side, and fixtures that are started once.

use serde_json::Value;

use crate::support::place::{Place, Said, cell, is_measured, reason, said};

const HEADERS: [&str; 6] = [
    "pagewise.h",
    "signal.h",
    "stdio.h",
    "string.h",
    "sys/socket.h",
    "unistd.h",
];

fn bench(place: &Place, text: &str, more: &[&str]) -> (Said, Value) {
    let file = place.file("mine.c");
    let headers = HEADERS.map(|name| format!("#include <{name}>\n")).concat();
    std::fs::write(&file, format!("{headers}#include <sys/un.h>\n{text}")).unwrap();
    let words = ["bench", file.to_str().unwrap(), "--json", "--budget", "1s"];
    let result = said(&mut place.command(&[&words[..], more].concat()));
    let summary = serde_json::from_str(&result.out).unwrap_or_default();
    (result, summary)
}

fn own<'a>(summary: &'a Value, function: &str) -> &'a Value {
    cell(summary, &format!("bench/{function}@own"), &[])
}

/// Processes whose command line has this text.
fn processes(text: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has_text = |line: &Vec<u8>| String::from_utf8_lossy(line).contains(text);
    lines.filter(has_text).count()
}

#[test]
fn the_other_side_ends_with_its_turn_or_fails_the_function() {
    let place = Place::new();
    let text = "static void pong(void *all) { int *ends = all; char c; for (int i = 0; i < 20; i++) { if (read(ends[1], &c, 1) != 1 || \
                write(ends[1], &c, 1) != 1) _exit(1); } }\n\
                static void wrong(void *all) { (void)all; _exit(7); }\n\
                static void endless(void *all) { (void)all; for (;;) pause(); }\n\
                BENCH(ping) { int ends[2]; if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) FAIL(\"socketpair\"); OTHER_SIDE(pong, ends); \
                OPERATIONS(20); char c = 1; PHASE(\"round\") { for (int i = 0; i < 20; i++) if (write(ends[0], &c, 1) != 1 || \
                read(ends[0], &c, 1) != 1) FAIL(\"write\"); } RESULT(c); close(ends[0]); close(ends[1]); }\n\
                BENCH(fails) { OTHER_SIDE(wrong, 0); PHASE(\"round\") { usleep(10); } RESULT(1); }\n\
                BENCH(hangs) { OTHER_SIDE(endless, 0); PHASE(\"round\") { usleep(10); } RESULT(1); }\n\
                BENCH(skips) { OTHER_SIDE(endless, 0); SKIP(\"it has no partner\"); }\n";
    for more in [&[][..], &["--fresh"]] {
        let (result, summary) = bench(&place, text, more);
        let ping = own(&summary, "ping");
        assert!(is_measured(ping), "{more:?} {ping} {}", result.err);
        for (function, part) in [
            ("fails", "its OTHER_SIDE ended with status 7"),
            ("hangs", "its OTHER_SIDE did not end with it"),
            ("skips", "it has no partner"),
        ] {
            let reason = reason(own(&summary, function));
            assert!(
                reason.contains(part),
                "{more:?} {function}: {reason} {}",
                result.err
            );
        }
    }
}

/// The CPUs of both sides, by the parameter `pin`.
#[test]
fn both_sides_are_pinned_as_those_of_message_are() {
    let place = Place::new();
    let text = "#include <sched.h>\nPARAM(pin, \"same,l3\");\n\
                static void other(void *all) { int cpu = sched_getcpu(); if (write(((int *)all)[1], &cpu, sizeof cpu) != sizeof cpu) _exit(1); }\n\
                BENCH(sides) { int ends[2], cpu; if (pipe(ends)) FAIL(\"pipe\"); OTHER_SIDE(other, ends); PHASE(\"wait\") { \
                if (read(ends[0], &cpu, sizeof cpu) != sizeof cpu) FAIL(\"read\"); } FACT(\"is_same\", cpu == sched_getcpu()); RESULT(1); \
                close(ends[0]); close(ends[1]); }\n";
    let (result, summary) = bench(&place, text, &[]);
    for (pin, is_same) in [("same", 1), ("l3", 0)] {
        let sides = cell(&summary, "bench/sides@own", &[("pin", pin)]);
        if sides["status"] == "skipped" {
            crate::support::skips::skip("this machine has no two such CPUs");
            continue;
        }
        let fact = &sides["proofs"]["is_same"];
        assert!(
            is_measured(sides) && fact["min"] == is_same && fact["max"] == is_same,
            "{pin}: {sides} {}",
            result.err
        );
    }
}

#[test]
fn a_fixture_is_started_once_in_a_process_and_ends_with_it() {
    let place = Place::new();
    let server = "static const char *path(void) { static char text[200]; snprintf(text, sizeof text, \"%s/socket\", SCRATCH()); return text; }\n\
                  static struct sockaddr_un at(void) { struct sockaddr_un a = {AF_UNIX}; strcpy(a.sun_path, path()); return a; }\n\
                  FIXTURE(server) { if (fork() == 0) execlp(\"sleep\", \"sleep\", \"100063.5\", (char *)0); struct sockaddr_un a = at(); \
                  int listening = socket(AF_UNIX, SOCK_STREAM, 0); unlink(path()); if (bind(listening, (void *)&a, sizeof a) || \
                  listen(listening, 9)) _exit(1); READY(); \
                  for (int count = 1;; count++) { int one = accept(listening, 0, 0); if (write(one, &count, sizeof count) < 0) _exit(2); close(one); } }\n";
    let text = format!(
        "{server}BENCH(asks) {{ struct sockaddr_un a = at(); int count = 0, one = socket(AF_UNIX, SOCK_STREAM, 0); PHASE(\"ask\") {{ \
         if (connect(one, (void *)&a, sizeof a) || read(one, &count, sizeof count) != sizeof count) FAIL(\"connect\"); }} close(one); \
         FACT(\"count\", count); RESULT(1); }}\n\
         BENCH(crashes) {{ PHASE(\"ask\") {{ *(volatile int *)8 = 1; }} RESULT(1); }}\n"
    );
    let (result, summary) = bench(&place, &text, &[]);
    let asks = own(&summary, "asks");
    assert!(is_measured(asks), "{asks} {}", result.err);
    // One server answered many turns.
    let most = asks["proofs"]["count"]["max"].as_u64();
    assert!(most > Some(3), "{asks}");
    assert!(
        reason(own(&summary, "crashes")).contains("SIGSEGV"),
        "{summary}"
    );
    crate::support::waiting::wait_until("the fixture and its child are gone", || {
        processes("100063.5") == 0
    });
    let text = text.replace("READY();", "_exit(3);");
    let (result, summary) = bench(&place, &text, &[]);
    let reason = reason(own(&summary, "asks"));
    assert!(
        reason.contains("FIXTURE(server)") && reason.contains("it ended before it was ready"),
        "{reason} {}",
        result.err
    );
}
