//! Calls that move less than was asked for, are interrupted, would block, or see their process die half way; bytes that
//! change on the way. A preloaded library makes the C library's calls do that to real workers. No test asserts a time.

use crate::support::skips::skip;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::sides::{Ended, Launch, Worker};
use record::method::Method;
use record::transcript::SideEnding;

const BYTES: &str = "1000001";

/// What stands between a worker and the C library: only calls that move pieces of a block are touched, which are longer
/// than 64 bytes and go to or from a pipe, a socket, another process, or a file in pieces that are not 64 KiB.
const PRELOAD: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
static size_t calls, moved, written;
static const char *told(const char *name) { const char *v = getenv(name); return v ? v : ""; }
static int is_stream(int fd)
{
    struct stat status;
    return fd > 2 && fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}
/* Whether the call may go on; `bytes` is made less where it is to be short. */
static int passes(size_t *bytes)
{
    const char *mode = told("TEST_CALLS");
    calls++;
    if (strcmp(mode, "short") == 0)
        *bytes = *bytes / 2 + 1;
    if (strcmp(mode, "interrupted") == 0 && calls % 3) {
        errno = EINTR;
        return 0;
    }
    if (strcmp(mode, "would-block") == 0 && calls == 5) {
        errno = EAGAIN;
        return 0;
    }
    return 1;
}
static ssize_t after(ssize_t n)
{
    moved += n > 0 ? (size_t)n : 0;
    size_t end = strtoull(told("TEST_DIES_AFTER"), NULL, 10);
    if (end && moved >= end)
        kill(getpid(), SIGKILL);
    return n;
}
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))
typedef const struct iovec *vector;
typedef ssize_t lend(int, vector, size_t, unsigned);
typedef ssize_t pass_on(int, loff_t *, int, loff_t *, size_t, unsigned);
typedef ssize_t across(pid_t, vector, unsigned long, vector, unsigned long, unsigned long);
ssize_t read(int fd, void *p, size_t n)
{
    ssize_t (*real)(int, void *, size_t) = REAL(ssize_t (*)(int, void *, size_t), "read");
    if (n <= 64 || !is_stream(fd)) return real(fd, p, n);
    return passes(&n) ? after(real(fd, p, n)) : -1;
}
ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t (*real)(int, const void *, size_t) = REAL(ssize_t (*)(int, const void *, size_t), "write");
    if (n <= 64 || !is_stream(fd)) return real(fd, p, n);
    if (!passes(&n)) return -1;
    if (*told("TEST_FLIPS_AT")) {
        size_t at = strtoull(told("TEST_FLIPS_AT"), NULL, 10);
        if (at >= written && at < written + n) {
            char *copy = malloc(n);
            memcpy(copy, p, n);
            copy[at - written] ^= 1;
            ssize_t sent = real(fd, copy, n);
            free(copy);
            written += sent > 0 ? (size_t)sent : 0;
            return after(sent);
        }
    }
    ssize_t sent = real(fd, p, n);
    written += sent > 0 ? (size_t)sent : 0;
    return after(sent);
}
#define POSITIONED(name)                                                                                               \
    ssize_t name(int fd, void *p, size_t n, off_t at)                                                                  \
    {                                                                                                                  \
        ssize_t (*real)(int, void *, size_t, off_t) = REAL(ssize_t (*)(int, void *, size_t, off_t), "pread");          \
        if (n <= 64 || n % 65536 == 0) return real(fd, p, n, at);                                                     \
        return passes(&n) ? after(real(fd, p, n, at)) : -1;                                                            \
    }
POSITIONED(pread)
POSITIONED(pread64)
ssize_t vmsplice(int fd, const struct iovec *iov, size_t count, unsigned flags)
{
    lend *real = REAL(lend *, "vmsplice");
    static int probed; /* the writer's first call is on a scratch page */
    struct iovec one = *iov;
    if (one.iov_len <= 64 || (strchr(told("TEST_PROBES"), 'a') && !probed++)) return real(fd, iov, count, flags);
    return passes(&one.iov_len) ? after(real(fd, &one, 1, flags)) : -1;
}
ssize_t splice(int in, loff_t *from, int out, loff_t *to, size_t n, unsigned flags)
{
    pass_on *real = REAL(pass_on *, "splice");
    return passes(&n) ? after(real(in, from, out, to, n, flags)) : -1;
}
#define SENDFILE(name)                                                                                                 \
    ssize_t name(int out, int in, off_t *at, size_t n)                                                                 \
    {                                                                                                                  \
        ssize_t (*real)(int, int, off_t *, size_t) = REAL(ssize_t (*)(int, int, off_t *, size_t), "sendfile");         \
        return passes(&n) ? after(real(out, in, at, n)) : -1;                                                          \
    }
SENDFILE(sendfile)
SENDFILE(sendfile64)
#define ACROSS(name)                                                                                                   \
    ssize_t name(pid_t pid, vector a, unsigned long an, vector b, unsigned long bn, unsigned long flags)               \
    {                                                                                                                  \
        across *real = REAL(across *, #name);                                                                          \
        struct iovec one = *a;                                                                                         \
        if (one.iov_len <= 64) return real(pid, a, an, b, bn, flags);                                                  \
        return passes(&one.iov_len) ? after(real(pid, &one, 1, b, bn, flags)) : -1;                                    \
    }
ACROSS(process_vm_readv)
ACROSS(process_vm_writev)
"#;

/// The library, compiled; none where there is no compiler.
fn preload(place: &Path) -> Option<PathBuf> {
    let (source, library) = (place.join("calls.c"), place.join("calls.so"));
    std::fs::write(&source, PRELOAD).unwrap();
    let compiled = Command::new("cc")
        .args(["-w", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    if !compiled.is_ok_and(|s| s.success()) {
        skip("there is no compiler here");
        return None;
    }
    Some(library)
}

fn parameters() -> Vec<(&'static str, &'static str)> {
    let place = [
        ("cache", "hot"),
        ("place", "tmpfs"),
        ("sink", "memory"),
        ("segment", "touched"),
        ("ring_chunks", "3"),
    ];
    let sides = [("block", "untouched"), ("pages", "base"), ("pin", "none")];
    [("bytes", BYTES), ("chunk", "4097"), ("pipe_bytes", "65536")]
        .into_iter()
        .chain(place)
        .chain(sides)
        .collect()
}

/// Launches whose workers' calls behave as `settings` say, for both sides or for one of them.
struct Disturbed {
    worker: Worker,
    preload: PathBuf,
    _place: tempfile::TempDir,
}

impl Disturbed {
    fn new() -> Option<Disturbed> {
        let place = tempfile::tempdir().unwrap();
        Some(Disturbed {
            worker: Worker::native("c-O3"),
            preload: preload(place.path())?,
            _place: place,
        })
    }

    fn pair(
        &self,
        method: &Method,
        sides: &str,
        settings: &[(&'static str, String)],
    ) -> (Ended, Ended) {
        let parameters = parameters();
        let cells: [(_, &[_]); 1] = [(method, &parameters)];
        let mut launch = Launch::new();
        let mut start = |role: char| {
            launch.environment.clear();
            if sides.contains(role) {
                launch
                    .environment
                    .push(("LD_PRELOAD", self.preload.display().to_string()));
                launch.environment.extend(settings.iter().cloned());
                launch.environment.push(("TEST_PROBES", role.to_string()));
            }
            launch.start(&self.worker, &launch.request(&cells, Some(role), 1))
        };
        let (a, b) = (start('a'), start('b'));
        let ended = (a.end(), b.end());
        assert_eq!(launch.leftovers(), Vec::<PathBuf>::new(), "{}", method.name);
        ended
    }
}

/// The methods whose bytes go through calls, one or both sides' work.
const TRANSFER: [&str; 8] = [
    "pipe",
    "pipe-wide",
    "unix-stream",
    "tcp",
    "vmsplice-published",
    "vmsplice-wide",
    "process-vm-readv",
    "process-vm-writev",
];
const RELAY: [&str; 7] = [
    "read-pipe",
    "read-shm",
    "splice",
    "splice-discard",
    "sendfile",
    "mmap-vmsplice",
    "limit",
];

fn methods(worker: &Worker) -> Vec<&Method> {
    let transfer = TRANSFER.iter().map(|name| worker.method("transfer", name));
    transfer
        .chain(RELAY.iter().map(|name| worker.method("relay", name)))
        .collect()
}

#[test]
fn short_and_interrupted_calls_lose_and_repeat_nothing() {
    let Some(disturbed) = Disturbed::new() else {
        return;
    };
    for mode in ["short", "interrupted"] {
        for method in methods(&disturbed.worker) {
            let settings = [("TEST_CALLS", mode.to_owned())];
            let (a, b) = disturbed.pair(method, "ab", &settings);
            let ends = (&a.transcript.endings, &b.transcript.endings);
            assert!(
                a.status.success() && b.status.success(),
                "{} {mode}: {ends:?}",
                method.name
            );
            let prover = if method.name == "splice-discard" {
                &a
            } else {
                &b
            };
            let facts = prover.facts(0);
            assert_eq!(
                facts.get("wrong_at"),
                Some(&BYTES),
                "{} {mode}: {:?}",
                method.name,
                prover.transcript.endings
            );
            // The library was really there: more calls than pieces were needed.
            let calls = |side: &Ended, name| {
                side.facts(0)
                    .get(name)
                    .map_or(0, |n| n.parse::<u64>().unwrap())
            };
            let all = calls(&a, "send.calls") + calls(&b, "receive.calls");
            let whole_block =
                ["process-vm-readv", "process-vm-writev", "limit"].contains(&method.name.as_str());
            assert!(
                all > if whole_block { 2 } else { 300 },
                "{} {mode}: {all} calls",
                method.name
            );
        }
    }
}

#[test]
fn a_call_that_would_block_fails_with_the_offset() {
    let Some(disturbed) = Disturbed::new() else {
        return;
    };
    for (experiment, name, side) in [
        ("transfer", "pipe", 'a'),
        ("transfer", "tcp", 'b'),
        ("transfer", "vmsplice-published", 'b'),
        ("relay", "sendfile", 'a'),
    ] {
        let method = disturbed.worker.method(experiment, name);
        let (a, b) = disturbed.pair(
            method,
            &side.to_string(),
            &[("TEST_CALLS", "would-block".to_owned())],
        );
        let ended = if side == 'a' { &a } else { &b };
        let Some(SideEnding::Fail { error: reason, .. }) = ended.transcript.endings.first() else {
            panic!("{name}: no failure")
        };
        assert!(
            reason.contains("Resource temporarily unavailable after ")
                && reason.contains(" of 1000001 bytes"),
            "{reason}"
        );
        for side in [&a, &b] {
            assert!(
                !side.facts(0).contains_key("wrong_at"),
                "{name}: nothing is proved of a part"
            );
        }
    }
}

#[test]
fn a_side_that_dies_half_way_leaves_the_other_with_the_offset() {
    let Some(disturbed) = Disturbed::new() else {
        return;
    };
    let dying = [
        ("transfer", "pipe", "ab"),
        ("transfer", "unix-stream", "ab"),
        ("transfer", "tcp", "ab"),
        ("transfer", "vmsplice-published", "ab"),
        ("relay", "read-pipe", "ab"),
        ("relay", "splice", "ab"),
        ("relay", "sendfile", "ab"),
        ("relay", "mmap-vmsplice", "ab"),
        ("relay", "read-shm", "a"),
    ];
    for (experiment, name, victims) in dying {
        for victim in victims.chars() {
            let method = disturbed.worker.method(experiment, name);
            let (a, b) = disturbed.pair(
                method,
                &victim.to_string(),
                &[("TEST_DIES_AFTER", "500000".to_owned())],
            );
            let (dead, survivor) = if victim == 'a' { (&a, &b) } else { (&b, &a) };
            assert!(
                !dead.status.success() && !dead.transcript.done,
                "{name}: {victim} was to die"
            );
            assert!(!survivor.status.success(), "{name}: {victim} died");
            let reason = survivor.transcript.endings.iter().find_map(|e| match e {
                SideEnding::Fail { error: reason, .. } => Some(reason.as_str()),
                _ => None,
            });
            let reason = reason.unwrap_or(&survivor.messages);
            // TCP's buffers may hold the rest: then the sender is through, and misses its peer where they meet.
            if name == "tcp" && victim == 'b' && reason.starts_with("rendezvous: ") {
                continue;
            }
            let at = reason
                .split("the other side ended after ")
                .nth(1)
                .and_then(|r| r.split(' ').next()?.parse::<u64>().ok());
            assert!(
                at.is_some_and(|at| (200_000..1_000_001).contains(&at)),
                "{name}, {victim} died: {reason}"
            );
            assert!(
                !survivor.facts(0).contains_key("wrong_at"),
                "{name}: nothing is proved of a part"
            );
        }
    }
}

#[test]
fn a_byte_that_changes_on_the_way_is_found_wherever_it_is() {
    let Some(disturbed) = Disturbed::new() else {
        return;
    };
    let mut at: u64 = 1;
    for (experiment, name) in [
        ("transfer", "pipe"),
        ("transfer", "unix-stream"),
        ("transfer", "tcp"),
        ("relay", "read-pipe"),
    ] {
        let method = disturbed.worker.method(experiment, name);
        for offset in [0, 4096, 4097, 1_000_000]
            .into_iter()
            .map(Some)
            .chain([None; 4])
        {
            let offset = offset.unwrap_or_else(|| {
                at = at
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (at >> 33) % 1_000_001
            });
            let (_, b) = disturbed.pair(method, "a", &[("TEST_FLIPS_AT", offset.to_string())]);
            assert_eq!(b.facts(0)["wrong_at"], offset.to_string(), "{name}");
        }
    }
}
