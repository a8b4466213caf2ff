//! What a container's seccomp filter or a lack of rights forbids is skipped with the reason, and everything else is measured.
//! The filter is a real one: a few lines of C put it on before the laboratory or a worker starts.

use crate::support::cache::below;
use crate::support::skips::{skip, thorough};
use crate::support::turns;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::sides::{Launch, Worker};
use record::transcript::SideEnding;
use serde_json::Value;

/// `deny NAME… -- PROGRAM ARGUMENT…`: PROGRAM and all that it starts get EPERM from these system calls (seccomp(2)), and ENOSYS
/// from those behind the word `enosys`, until the word `eperm`.
const DENY: &str = r#"
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Calls that all architectures number alike, which headers need not have, then those of the headers. */
static const struct { const char *name; unsigned number; } known[] = {
    {"io_uring_setup", 425}, {"io_uring_enter", 426}, {"io_uring_register", 427}, {"cachestat", 451},
    {"process_madvise", 440}, {"openat2", 437}, {"clone3", 435}, {"pidfd_open", 434}, {"pidfd_send_signal", 424},
    {"pidfd_getfd", 438}, {"memfd_secret", 447}, {"fsopen", 430},
    {"userfaultfd", SYS_userfaultfd}, {"perf_event_open", SYS_perf_event_open}, {"bpf", SYS_bpf},
    {"mbind", SYS_mbind}, {"set_mempolicy", SYS_set_mempolicy}, {"get_mempolicy", SYS_get_mempolicy},
    {"move_pages", SYS_move_pages}, {"open_by_handle_at", SYS_open_by_handle_at}, {"kcmp", SYS_kcmp},
    {"swapon", SYS_swapon}, {"swapoff", SYS_swapoff}, {"mount", SYS_mount}, {"umount2", SYS_umount2},
    {"unshare", SYS_unshare}, {"setns", SYS_setns}, {"personality", SYS_personality},
    {"copy_file_range", SYS_copy_file_range}, {"mlock2", SYS_mlock2}, {"rseq", SYS_rseq},
    {"membarrier", SYS_membarrier}, {"ptrace", SYS_ptrace}, {"prlimit64", SYS_prlimit64},
    {"sched_setaffinity", SYS_sched_setaffinity}, {"vmsplice", SYS_vmsplice},
    {"memfd_create", SYS_memfd_create}, {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev}};
int main(int argc, char **argv)
{
    struct sock_filter code[128] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    int i = 1;
    unsigned error = EPERM;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        error = strcmp(argv[i], "enosys") == 0 ? ENOSYS : strcmp(argv[i], "eperm") == 0 ? EPERM : error;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(argv[i], known[k].name) == 0) {
                code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, known[k].number, 0, 1);
                code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
            }
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 125;
    }
    execv(argv[i + 1], argv + i + 1);
    perror("execv");
    return 126;
}
"#;

/// The program above, or none where there is no compiler or no seccomp; then it says so.
pub(crate) fn deny(place: &Path) -> Option<PathBuf> {
    let (source, program) = (place.join("deny.c"), place.join("deny"));
    std::fs::write(&source, DENY).unwrap();
    let compiled = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .status()
        .is_ok_and(|s| s.success());
    if !compiled
        || !Command::new(&program)
            .args(["--", "/bin/true"])
            .status()
            .unwrap()
            .success()
    {
        skip("there is no compiler here, or no seccomp");
        return None;
    }
    Some(program)
}

/// The cells of a run whose processes may not make these calls.
fn cells_without(calls: &[&str], arguments: &[&str]) -> Option<Vec<Value>> {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(deny(place.path())?);
    command
        .env("XDG_CACHE_HOME", below(place.path()))
        .env("XDG_DATA_HOME", place.path())
        .env("PAGEWISE_LOCK", place.path());
    command
        .args(calls)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_pagewise"));
    command
        .args(["run", "--json", "--launches", "1", "--budget", "20s"])
        .args(arguments);
    let output = command.output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    let summary: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {messages}"));
    Some(summary["cells"].as_array().unwrap().clone())
}

/// What a container commonly refuses: memory files, io_uring, and asking for the state of the page cache.
const OFTEN_REFUSED: [&str; 3] = ["memfd_create", "cachestat", "io_uring_setup"];

/// Methods that use such calls, and one of each experiment that does without.
const USERS: [&str; 19] = [
    "share/memfd",
    "share/memfd-huge",
    "share/memfd-hugetlb",
    "share/posix-shm",
    "share/file-disk",
    "message/spin-ring",
    "message/io_uring",
    "message/pipe",
    "transfer/shm-ring",
    "transfer/memfd-handover",
    "transfer/memfd-sealed",
    "transfer/pipe",
    "read/io_uring",
    "read/mmap",
    "write/io_uring-fsync",
    "write/pwrite-fdatasync",
    "fault/uffd-minor",
    "fault/shared-second",
    "fork/fork",
];

/// Methods that make memory files.
const MEMORY_FILES: [&str; 9] = [
    "share/memfd",
    "share/memfd-huge",
    "share/memfd-hugetlb",
    "message/spin-ring",
    "transfer/shm-ring",
    "transfer/memfd-handover",
    "transfer/memfd-sealed",
    "fault/uffd-minor",
    "fault/shared-second",
];

/// The suite's lines about these methods of the optimised worker, by a command that ends with the verb.
fn suite_lines(place: &Path, mut command: Command, methods: &[&str]) -> Vec<String> {
    command
        .env("COLUMNS", "1000")
        .env("XDG_CACHE_HOME", below(place))
        .env("XDG_DATA_HOME", place)
        .env("PAGEWISE_LOCK", place);
    let output = command
        .args(methods.iter().map(|m| format!("{m}@c-O3")))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines().map(str::to_owned).collect()
}

#[test]
fn no_method_is_rejected_where_a_filter_refuses_memory_files_and_the_caches_state() {
    if !thorough() {
        return;
    }
    let _turn = turns::with_page_cache();
    let place = tempfile::tempdir().unwrap();
    let Some(deny) = deny(place.path()) else {
        return;
    };
    let mut command = Command::new(deny);
    command
        .args(OFTEN_REFUSED)
        .arg("--")
        .arg(env!("CARGO_BIN_EXE_pagewise"))
        .arg("check");
    let lines = suite_lines(place.path(), command, &USERS);
    let refused = [
        ("share/memfd@", "memfd_create"),
        ("read/io_uring@", "io_uring is refused here"),
    ];
    for (method, words) in refused {
        let said = lines
            .iter()
            .find(|l| l.starts_with("skipped") && l.contains(method));
        assert!(
            said.is_some_and(|l| l.contains(words)),
            "{method}: {lines:#?}"
        );
    }
    for method in [
        "share/posix-shm@",
        "message/pipe@",
        "transfer/pipe@",
        "read/mmap@",
        "write/pwrite-fdatasync@",
    ] {
        assert!(
            lines
                .iter()
                .any(|l| l.starts_with("ok") && l.contains(method)),
            "{method}: {lines:#?}"
        );
    }
}

#[test]
fn doctor_names_the_calls_that_a_filter_refuses_and_no_others() {
    if !thorough() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let Some(deny) = deny(place.path()) else {
        return;
    };
    let hidden = "io_uring_setup: io_uring of read, load, write, output, message, prefault and interference; process_vm_readv:";
    for (refused, hidden) in [
        (&["io_uring_setup", "process_vm_readv"][..], hidden),
        (&[], ""),
    ] {
        let mut command = Command::new(&deny);
        command
            .args(refused)
            .arg("--")
            .arg(env!("CARGO_BIN_EXE_pagewise"))
            .args(["doctor", "--json"]);
        let output = command
            .env("XDG_CACHE_HOME", place.path())
            .output()
            .unwrap();
        let doctor: Value = serde_json::from_slice(&output.stdout).unwrap();
        let calls = doctor["environment"]["rights"]["refused_calls"]
            .as_array()
            .unwrap();
        // What this machine itself forbids its user is there without a filter, too.
        assert!(
            refused.iter().all(|call| calls.iter().any(|c| c == call)),
            "{calls:?}"
        );
        assert!(!calls.iter().any(|call| call == "vmsplice"), "{calls:?}");
        let found = |o: &&Value| o["why"].as_str().unwrap().contains("seccomp");
        let obstacle = doctor["obstacles"].as_array().unwrap().iter().find(found);
        let what = obstacle.map_or("", |obstacle| obstacle["what"].as_str().unwrap());
        assert!(
            what.contains(hidden) && what.is_empty() == calls.is_empty(),
            "{what}"
        );
    }
}

#[test]
fn storage_of_a_state_is_skipped_where_nothing_can_be_mounted() {
    if !crate::states::is_root() {
        skip("states change the machine; run as root");
        return;
    }
    let words = "load/mmap-lazy@c-O3 --set bytes=4MiB --set cache=cold --set order=sequential --state storage-latency \
        --allow-system-changes";
    let words: Vec<&str> = words.split_whitespace().collect();
    let Some(cells) = cells_without(&["fsopen"], &words) else {
        return;
    };
    for cell in cells
        .iter()
        .filter(|cell| cell["parameters"]["state"] == "storage-latency")
    {
        let reason = crate::support::place::reason(cell);
        assert_eq!(cell["status"], "skipped", "{cell:#}");
        assert!(
            reason.contains("FUSE") || reason.contains("fuse"),
            "{reason}"
        );
    }
}

/// The sysctl belongs to a PID namespace, so one of its own changes nothing on the machine.
#[test]
fn memory_files_are_made_where_they_must_not_be_executable() {
    const SYSCTL: &str = "/proc/sys/vm/memfd_noexec";
    let set = format!("echo 2 > {SYSCTL} && exec \"$@\"");
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc", "sh", "-c", &set, "sh"]);
        command
    };
    let before = std::fs::read_to_string(SYSCTL).unwrap_or_default();
    if !unshare()
        .arg("true")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        skip(
            "only root, with unshare and Linux 6.3, can forbid executable memory files in a namespace",
        );
        return;
    }
    let _turn = turns::with_page_cache();
    let place = tempfile::tempdir().unwrap();
    let mut command = unshare();
    command.arg(env!("CARGO_BIN_EXE_pagewise")).arg("check");
    let lines = suite_lines(place.path(), command, &MEMORY_FILES);
    for method in [
        "share/memfd@",
        "message/spin-ring@",
        "transfer/shm-ring@",
        "transfer/memfd-sealed@",
        "fault/shared-second@",
    ] {
        assert!(
            lines
                .iter()
                .any(|l| l.starts_with("ok") && l.contains(method)),
            "{method}: {lines:#?}"
        );
    }
    assert_eq!(std::fs::read_to_string(SYSCTL).unwrap_or_default(), before);
}

/// Holds every cell against what is expected of its method: skipped with these words, or measured.
fn expect(cells: &[Value], skipped: &[(&str, &str)]) {
    for cell in cells {
        let method = cell["method"].as_str().unwrap();
        let reason = crate::support::place::reason(cell);
        match skipped.iter().find(|(name, _)| *name == method) {
            Some((_, words)) => {
                assert_eq!(cell["status"], "skipped", "{cell:#}");
                assert!(reason.contains(words), "{method}: {reason}");
                assert!(
                    cell["phases"].as_object().is_none_or(|p| p.is_empty()),
                    "no figure: {cell:#}"
                );
            }
            // Noise may cost a cell its trust; it was measured nevertheless.
            None => assert!(
                ["ok", "untrusted"].contains(&cell["status"].as_str().unwrap()),
                "{method}: {reason}"
            ),
        }
    }
    for (method, _) in skipped {
        assert!(
            cells.iter().any(|c| c["method"] == *method),
            "{method} was not asked for"
        );
    }
    assert!(cells.len() > skipped.len(), "something else is measured");
}

#[test]
fn a_refused_io_uring_is_skipped_with_the_reason() {
    let _turn = turns::with_page_cache();
    let what = [
        "read/io_uring",
        "read/io_uring-direct",
        "read/read",
        "--set",
        "bytes=1MiB",
        "--set",
        "place=disk",
    ];
    let settings = ["--set", "cache=hot", "--set", "consume=sum"];
    let Some(cells) = cells_without(&["io_uring_setup"], &[&what[..], &settings].concat()) else {
        return;
    };
    expect(
        &cells,
        &[
            ("io_uring", "io_uring is refused here"),
            ("io_uring-direct", "io_uring is refused here"),
        ],
    );
    // The cold limit reads by io_uring, the hot one reads nothing.
    let limit = [
        "read/limit",
        "--set",
        "bytes=1MiB",
        "--set",
        "place=disk",
        "--set",
        "cache=cold,hot",
    ];
    let Some(cells) = cells_without(&["io_uring_setup"], &limit) else {
        return;
    };
    for cell in cells {
        let reason = crate::support::place::reason(&cell);
        match cell["parameters"]["cache"].as_str() {
            Some("hot") => assert_ne!(cell["status"], "skipped", "{reason}"),
            _ => assert!(
                reason.contains("io_uring is refused here") || reason.contains("O_DIRECT"),
                "{cell:#}"
            ),
        }
    }
}

#[test]
fn refused_calls_between_processes_are_skipped_with_the_reason() {
    let calls = ["process_vm_readv", "process_vm_writev", "vmsplice"];
    let transfer = [
        "process-vm-readv",
        "process-vm-writev",
        "vmsplice-published",
        "vmsplice-wide",
        "vmsplice-gift",
        "pipe",
    ];
    let what = transfer.map(|method| format!("transfer/{method}"));
    let what: Vec<&str> = what
        .iter()
        .map(String::as_str)
        .chain(["--set", "bytes=256KiB"])
        .collect();
    let Some(cells) = cells_without(&calls, &what) else {
        return;
    };
    let (memory, splice) = (
        "no right to the other process's memory",
        "vmsplice() is not there or not permitted",
    );
    let skipped = [
        (transfer[0], memory),
        (transfer[1], memory),
        (transfer[2], splice),
        (transfer[3], splice),
    ];
    expect(&cells, &[&skipped[..], &[(transfer[4], splice)]].concat());
}

#[test]
fn refused_calls_within_a_process_are_skipped_with_the_reason() {
    let calls = ["process_vm_readv", "vmsplice"];
    let copy = [
        "copy/process-vm-self",
        "copy/vmsplice-wide",
        "copy/vmsplice-published",
        "copy/memcpy",
        "--set",
        "bytes=64KiB",
    ];
    let Some(cells) = cells_without(&calls, &copy) else {
        return;
    };
    let splice = "vmsplice() is not there or not permitted";
    let self_words = "process_vm_readv() is not there or not permitted";
    expect(
        &cells,
        &[
            ("process-vm-self", self_words),
            ("vmsplice-wide", splice),
            ("vmsplice-published", splice),
        ],
    );
    let relay = [
        "relay/mmap-vmsplice",
        "relay/read-pipe",
        "--set",
        "bytes=64KiB",
        "--set",
        "place=tmpfs",
        "--set",
        "cache=hot",
    ];
    let Some(cells) = cells_without(&calls, &relay) else {
        return;
    };
    expect(&cells, &[("mmap-vmsplice", splice)]);
}

/// The kernel's own rule (ptrace(2), access mode checking): no process may look into one that has capabilities it lacks.
#[test]
fn a_side_with_fewer_rights_than_the_other_is_skipped_by_both() {
    if !rustix::process::geteuid().is_root()
        || Command::new("setpriv").arg("--version").output().is_err()
    {
        skip("only root, with setpriv, can have two sides of different rights");
        return;
    }
    let (full, mut less) = (Worker::native("c-O3"), Worker::native("c-O3"));
    let launch = Launch::new();
    let wrapper = launch.folder.path().join("less");
    let script = format!(
        "#!/bin/sh\nexec setpriv --bounding-set -sys_ptrace {} \"$@\"\n",
        less.path.display()
    );
    let text = launch.folder.path().join("text");
    std::fs::write(&text, script).unwrap();
    assert!(
        Command::new("install")
            .args(["-m", "755"])
            .args([&text, &wrapper])
            .status()
            .unwrap()
            .success()
    );
    less.path = wrapper;
    let own = [("pages", "base"), ("pin", "none")];
    let parameters = [
        &[
            ("bytes", "65536"),
            ("chunk", "4096"),
            ("pipe_bytes", "65536"),
        ][..],
        &own,
    ]
    .concat();
    for (method, a, b) in [
        ("process-vm-readv", &full, &less),
        ("process-vm-writev", &less, &full),
    ] {
        let cells: [(_, &[_]); 2] = [
            (full.method("transfer", method), &parameters),
            (full.method("transfer", "pipe"), &parameters),
        ];
        let (first, second) = launch.pair(a, b, &cells, 1);
        for side in [&first, &second] {
            let [SideEnding::Skip { cell: 0, reason }] = &side.transcript.endings[..] else {
                panic!("{method}: {:?}", side.transcript.endings)
            };
            assert!(
                reason.contains("no right to the other process's memory"),
                "{reason}"
            );
            assert!(
                side.transcript.samples.iter().all(|s| s.cell == 1)
                    && !side.transcript.samples.is_empty()
            );
        }
    }
}
