//! Limits on what processes share: full file systems, missing rights, segments, queues and ports that are used up. Each is a
//! cell's outcome with its cause in words, the rest of the run goes on, and nothing is left. The limits are real: they are set
//! in namespaces of their own, so only root can run these tests; others are told so.

use crate::support::skips::{skip, thorough};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::place::{Place, cell, install, said};
use serde_json::Value;

/// An unprivileged user and group: nobody's.
const NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";
/// Everything that a run could leave, one a line: segments, names in /dev/shm and /dev/mqueue, temporary files, sockets by a
/// path, and ports that are not merely waiting for late packets. Only the folder that all Javas of a user share may stay.
const COUNT: &str = r#"count() {
    tail -n +2 /proc/sysvipc/shm | wc -l
    ls -A /dev/shm /dev/mqueue /tmp "$TMPDIR" | grep -v ^hsperfdata_
    grep -c pagewise /proc/net/unix
    cat /proc/net/tcp /proc/net/udp | awk '$4 != "06" && $2 ~ /:/ { print $2 }'
}"#;

/// Whether namespaces can be made here; the reason is printed where not.
fn can_limit() -> bool {
    let made = Command::new("unshare")
        .args(["-m", "-i", "-n", "ip", "link", "set", "lo", "up"])
        .output();
    match made {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            skip(&format!(
                "no namespaces can be made: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            ));
            false
        }
        Err(error) => {
            skip(&format!("unshare: {error}"));
            false
        }
    }
}

/// Whether cells of Java can be measured, for which the Java in PATH must be a JDK.
fn has_java() -> bool {
    let there = Command::new("javac")
        .arg("-version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !there {
        skip("there is no JDK in PATH: the pairs with Java are left out");
    }
    there
}

/// What a run in a limited world came to.
struct Limited {
    summary: Value,
}

impl Limited {
    /// `pagewise run WORDS` in namespaces of its own (mounts, IPC, network), after `setup` has been done there by a shell, by
    /// the command `by` (a user without rights, fewer resources). What is left is counted in there, before and after.
    fn run(setup: &str, by: &str, words: &[&str]) -> Limited {
        let place = Place::new();
        install(
            Path::new(env!("CARGO_BIN_EXE_pagewise")),
            &place.file("pagewise"),
        );
        // This very program takes the port; it is bound over this file, as a copy of it would take long.
        std::fs::write(place.file("holder"), "").unwrap();
        // The folders are everybody's, so that the user without rights can have a run folder.
        for folder in ["", "data", "tmp", "home"] {
            let mode = if folder.is_empty() { 0o755 } else { 0o1777 };
            std::fs::set_permissions(place.file(folder), std::fs::Permissions::from_mode(mode))
                .unwrap();
        }
        let script = format!(
            "set -e
            {COUNT}
            ip link set lo up
            mount --bind \"$PLACE\" /mnt
            mount --bind \"$HOLDER\" /mnt/holder
            mount -t tmpfs -o mode=1777 tmpfs /dev/shm
            mount -t tmpfs -o mode=1777 tmpfs /tmp
            mkdir -p /dev/mqueue
            mount -t mqueue mqueue /dev/mqueue
            {setup}
            set +e
            count > \"$HOME/before\"
            {by} /mnt/pagewise run \"$@\"
            status=$?
            count > \"$HOME/after\"
            exit $status"
        );
        let mut command = Command::new("unshare");
        command
            .args(["-m", "-i", "-n", "sh", "-c", &script, "sh"])
            .args(words);
        command.args(["--launches", "1", "--budget", "20s", "--json"]);
        // The empty /tmp hides the place, which is reached by another path in there.
        command
            .env("PLACE", place.path())
            .env("HOLDER", std::env::current_exe().unwrap())
            .env("XDG_DATA_HOME", "/mnt/data")
            .env("PAGEWISE_LOCK", "/mnt")
            .env("XDG_CACHE_HOME", "/mnt/home");
        command.env("HOME", "/mnt/home").env("TMPDIR", "/mnt/tmp");
        let result = said(&mut command);
        let noted =
            |name: &str| std::fs::read_to_string(place.file("home").join(name)).unwrap_or_default();
        assert!(!noted("before").is_empty(), "{setup}: {}", result.err);
        assert_eq!(
            noted("before"),
            noted("after"),
            "{setup}: something is left"
        );
        let summary = serde_json::from_str(&result.out)
            .unwrap_or_else(|e| panic!("{setup}: {e}: {}{}", result.out, result.err));
        Limited { summary }
    }

    /// The cell has this outcome, and its reason is one line that says all this.
    fn is(&self, name: &str, status: &str, parts: &[&str]) {
        let found = cell(&self.summary, name, &[]);
        let reason = crate::support::place::reason(found);
        assert!(
            found["status"] == status && reason.lines().count() == 1,
            "{} {}",
            found["status"],
            found["reason"]
        );
        for part in parts {
            assert!(
                reason.contains(part),
                "{name}: {reason:?} does not say {part:?}"
            );
        }
    }

    /// The cell was measured, whatever noise did to it meanwhile.
    fn goes_on(&self, name: &str) {
        let found = cell(&self.summary, name, &[]);
        assert!(
            found["status"] == "ok" || found["status"] == "untrusted",
            "{} {}",
            found["status"],
            found["reason"]
        );
        assert!(
            found["launches"].as_u64() > Some(0),
            "{} {}",
            found["status"],
            found["reason"]
        );
    }
}

/// Selectors and settings of `share` that are soon done.
fn share<'a>(methods: &[&'a str], bytes: &'a str) -> Vec<&'a str> {
    let settings = [
        "--set",
        "index=xorshift",
        "--set",
        "load=0",
        "--set",
        "ops=10000",
        "--set",
        "clear_bytes=4KiB",
    ];
    methods
        .iter()
        .copied()
        .chain(["--set", bytes])
        .chain(settings)
        .collect()
}

fn message<'a>(cells: &[&'a str], bytes: &'a str, wait: &'a str) -> Vec<&'a str> {
    cells
        .iter()
        .copied()
        .chain([
            "--set", bytes, "--set", wait, "--set", "ops=50", "--set", "pin=l3",
        ])
        .collect()
}

#[test]
fn a_full_tmpfs_fails_what_needs_it_and_nothing_else() {
    if !can_limit() {
        return;
    }
    let full = "mount -t tmpfs -o size=32k,mode=1777 tmpfs /dev/shm";
    let cells = [
        "share/posix-shm@c-O3+c-O3",
        "share/file-tmpfs@c-O0+c-O0",
        "share/memfd@c-O3+c-O3",
        "share/sysv-shm@c-O3+c-O3",
    ];
    let run = Limited::run(full, "", &share(&cells, "bytes=64KiB"));
    run.is(
        "share/posix-shm@c-O3+c-O3",
        "failed",
        &["32768 bytes free, 65536 are needed"],
    );
    run.is(
        "share/file-tmpfs@c-O0+c-O0",
        "failed",
        &["32768 bytes free, 65536 are needed"],
    );
    run.goes_on("share/memfd@c-O3+c-O3");
    run.goes_on("share/sysv-shm@c-O3+c-O3");
    let mut cells = vec!["message/spin-ring@c-O3+c-O3", "message/pipe@c-O3+c-O3"];
    cells.extend(has_java().then_some("message/spin-ring@java*+c-O3"));
    let run = Limited::run(full, "", &message(&cells, "bytes=64KiB", "wait=spin"));
    run.is(
        "message/spin-ring@c-O3+c-O3",
        "failed",
        &["/dev/shm", "No space left on device"],
    );
    run.goes_on("message/pipe@c-O3+c-O3");
    if let Some(java) = java_cell(&run.summary) {
        run.is(
            &java,
            "failed",
            &["write /dev/shm/", "No space left on device"],
        );
    }
}

/// The first cell of a run in which Java takes part.
fn java_cell(summary: &Value) -> Option<String> {
    let names = summary["cells"]
        .as_array()?
        .iter()
        .filter_map(|c| c["cell"].as_str());
    names
        .filter(|name| name.contains("java"))
        .map(str::to_owned)
        .next()
}

#[test]
fn who_may_not_write_is_told_where() {
    if !thorough() {
        return;
    }
    if !can_limit() {
        return;
    }
    let closed = "chmod 755 /dev/shm";
    let cells = [
        "share/posix-shm@c-O3+c-O3",
        "share/file-tmpfs@c-O3+c-O3",
        "share/memfd@c-O3+c-O3",
        "message/spin-ring@c-O3+c-O3",
    ];
    let words = [
        share(&cells, "bytes=64KiB"),
        vec!["--set", "wait=spin", "--set", "pin=l3"],
    ]
    .concat();
    let run = Limited::run(closed, NOBODY, &words);
    run.is(
        "share/posix-shm@c-O3+c-O3",
        "failed",
        &["shm_open", "Permission denied"],
    );
    run.is(
        "share/file-tmpfs@c-O3+c-O3",
        "failed",
        &["open /dev/shm", "Permission denied"],
    );
    run.is(
        "message/spin-ring@c-O3+c-O3",
        "failed",
        &["open /dev/shm", "Permission denied"],
    );
    run.goes_on("share/memfd@c-O3+c-O3");
    let run = Limited::run(
        "mount -o remount,ro /dev/shm",
        "",
        &share(&cells[1..3], "bytes=64KiB"),
    );
    run.is(
        "share/file-tmpfs@c-O3+c-O3",
        "failed",
        &["open /dev/shm", "Read-only file system"],
    );
    run.goes_on("share/memfd@c-O3+c-O3");
    // Where no socket can be made, no two sides can meet; what has one side goes on.
    let words = message(
        &["message/pipe@c-O3+c-O3", "share/anon-private@c-O3"],
        "bytes=4KiB",
        "wait=block",
    );
    let run = Limited::run("chmod 555 \"$TMPDIR\"", NOBODY, &words);
    run.is(
        "message/pipe@c-O3+c-O3",
        "failed",
        &["side a", "rendezvous: bind: Permission denied"],
    );
    run.goes_on("share/anon-private@c-O3");
}

#[test]
fn a_run_folder_that_cannot_be_made_is_one_sentence() {
    if !can_limit() {
        return;
    }
    let place = Place::new();
    let binary = place.file("pagewise");
    install(Path::new(env!("CARGO_BIN_EXE_pagewise")), &binary);
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(NOBODY.split(' ').next().unwrap());
    command.args(NOBODY.split(' ').skip(1)).arg(&binary).args([
        "run",
        "share/memfd@c-O3+c-O3",
        "--out",
        "/proc/run",
    ]);
    place.settle(&mut command);
    let result = said(command.env(
        "XDG_CACHE_HOME",
        std::env::temp_dir().join("nowhere-for-nobody"),
    ));
    let _ = std::fs::remove_dir_all(std::env::temp_dir().join("nowhere-for-nobody"));
    assert_eq!(
        (result.code, result.err.lines().count()),
        (1, 1),
        "{}{}",
        result.out,
        result.err
    );
    assert!(result.err.contains("/proc/run"), "{}", result.err);
}

#[test]
fn segments_that_are_too_large_or_too_many_name_their_limit() {
    if !can_limit() {
        return;
    }
    let cells = ["share/sysv-shm@c-O3+c-O3", "share/posix-shm@c-O3+c-O3"];
    let run = Limited::run(
        "echo 65535 > /proc/sys/kernel/shmmax",
        "",
        &share(&cells, "bytes=64KiB"),
    );
    run.is(
        cells[0],
        "skipped",
        &[
            "65536 bytes",
            "kernel.shmmax (65535)",
            "sudo sysctl kernel.shmmax=65536",
        ],
    );
    run.goes_on(cells[1]);
    let taken = "echo 1 > /proc/sys/kernel/shmmni; ipcmk -M 4096 > /dev/null";
    let run = Limited::run(taken, "", &share(&cells, "bytes=64KiB"));
    run.is(
        cells[0],
        "failed",
        &["shmget", "1 of kernel.shmmni=1 are taken"],
    );
    run.goes_on(cells[1]);
    let run = Limited::run(
        "echo 15 > /proc/sys/kernel/shmall",
        "",
        &share(&cells, "bytes=64KiB"),
    );
    run.is(cells[0], "failed", &["shmget", "kernel.shmall=15"]);
    run.goes_on(cells[1]);
}

#[test]
fn queues_that_are_not_allowed_name_their_limit() {
    if !thorough() {
        return;
    }
    if !can_limit() {
        return;
    }
    let cells = ["message/posix-mq@c-O3+c-O3", "message/pipe@c-O3+c-O3"];
    let words = message(&cells, "bytes=4KiB", "wait=block");
    let limits = [
        (
            "",
            format!("prlimit --msgqueue=1000 {NOBODY}"),
            "skipped",
            "RLIMIT_MSGQUEUE",
        ),
        (
            "echo 128 > /proc/sys/fs/mqueue/msgsize_max",
            NOBODY.to_owned(),
            "skipped",
            "sysctl fs.mqueue.msgsize_max=4096",
        ),
        (
            "echo 1 > /proc/sys/fs/mqueue/msg_max",
            NOBODY.to_owned(),
            "skipped",
            "sudo sysctl fs.mqueue.msg_max=2",
        ),
        (
            "echo 1 > /proc/sys/fs/mqueue/queues_max",
            NOBODY.to_owned(),
            "failed",
            "fs.mqueue.queues_max",
        ),
    ];
    for (setup, by, status, words_of_it) in limits {
        let run = Limited::run(setup, &by, &words);
        run.is(cells[0], status, &[words_of_it]);
        run.goes_on(cells[1]);
    }
}

/// The one port of a world whose range of ports is this small.
const PORT: u16 = 50_000;

/// No test: taken by the next one into its namespaces, where it takes the port until it is killed.
#[test]
#[ignore = "a part of the next test"]
fn holder_of_the_port() {
    let Ok(sign) = std::env::var("PORT_IS_TAKEN") else {
        return;
    };
    let taken = (
        TcpListener::bind(("127.0.0.1", PORT)).unwrap(),
        UdpSocket::bind(("127.0.0.1", PORT)).unwrap(),
    );
    std::fs::write(sign, "taken").unwrap();
    std::thread::sleep(std::time::Duration::from_secs(600));
    drop(taken);
}

#[test]
fn ports_that_are_all_taken_are_named() {
    if !can_limit() {
        return;
    }
    let setup = format!(
        "echo {PORT} {PORT} > /proc/sys/net/ipv4/ip_local_port_range
        export PORT_IS_TAKEN=\"$HOME/taken\"
        /mnt/holder --exact ipc_limits::holder_of_the_port --ignored > /dev/null 2>&1 &
        trap \"kill $!\" EXIT
        for i in $(seq 300); do test -e \"$PORT_IS_TAKEN\" && break; sleep 0.1; done"
    );
    let mut cells = vec![
        "message/udp@c-O3+c-O3",
        "message/tcp@c-O3+c-O3",
        "message/unix-stream@c-O3+c-O3",
    ];
    cells.extend(has_java().then_some("message/udp@java*+c-O3"));
    let run = Limited::run(&setup, "", &message(&cells, "bytes=64", "wait=block"));
    for name in &cells[..2] {
        run.is(
            name,
            "failed",
            &[
                "bind",
                "every port of net.ipv4.ip_local_port_range is taken",
            ],
        );
    }
    run.goes_on(cells[2]);
    if let Some(java) = java_cell(&run.summary) {
        run.is(&java, "failed", &["Address already in use"]);
    }
}
