//! A machine of two NUMA nodes, as far as this one can be made to look like it: a mount namespace in which the kernel's files
//! tell of two nodes with a CPU each, and a library in front of the worker's system calls that keeps the books of a kernel with
//! two nodes. What is shown is that placement is chosen, recorded and proved for every page, not what remote memory costs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::place::Place;
use crate::support::skips::skip;
use serde_json::Value;

/// Answers mbind(2) and move_pages(2) as a kernel with two nodes does. `NODES_LIE`: everything lies on node 0 whatever was
/// asked.
const KERNEL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
enum { BIND = 2, INTERLEAVE = 3, AREAS = 256, PAGE = 4096 };
static struct { uintptr_t from, bytes; int policy; unsigned long nodes; } areas[AREAS];
static int count;
static int node_of(uintptr_t page) {
    if (getenv("NODES_LIE")) return 0;
    for (int i = count - 1; i >= 0; i--) {
        if (page - areas[i].from >= areas[i].bytes) continue;
        if (areas[i].policy == INTERLEAVE && areas[i].nodes == 3) return page / PAGE % 2;
        return areas[i].nodes & 1 ? 0 : 1;
    }
    return 0;
}
long syscall(long number, ...) {
    static long (*real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getcpu) {
        long got = real(number, a[0], a[1], a[2]);
        *(unsigned *)a[1] = *(unsigned *)a[0] % 2;
        return got;
    }
    if (number == SYS_mbind) {
        unsigned long nodes = *(unsigned long *)a[3];
        int at = 0;
        while (at < count && areas[at].from != (uintptr_t)a[0]) at++;
        if (nodes == 0 || nodes > 3 || at == AREAS) { errno = EINVAL; return -1; }
        count = at < count ? count : at + 1;
        areas[at].from = a[0]; areas[at].bytes = a[1]; areas[at].policy = a[2]; areas[at].nodes = nodes;
        return 0;
    }
    if (number == SYS_move_pages) {
        for (long i = 0; i < a[1]; i++) ((int *)a[4])[i] = node_of((uintptr_t)((void **)a[2])[i]);
        return 0;
    }
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"#;

/// Mounts what tells of two nodes over what tells of one, and becomes the command that follows.
const NAMESPACE: &str = r#"
set -e
nodes=$1; shift
mount -t tmpfs nodes /sys/devices/system/node
for node in 0 1; do
    mkdir /sys/devices/system/node/node$node
    cp "$nodes/meminfo$node" /sys/devices/system/node/node$node/meminfo
    echo $node >/sys/devices/system/node/node$node/cpulist
    if [ $node = 0 ]; then echo "10 21"; else echo "21 10"; fi >/sys/devices/system/node/node$node/distance
done
mount -t tmpfs cpus /sys/devices/system/cpu
cp -r "$nodes/cpu/." /sys/devices/system/cpu/
exec "$@"
"#;

/// What the kernel tells of the first two CPUs, where each has a node and a last-level cache of its own.
fn cpus(place: &Path) {
    for cpu in 0..2 {
        let own = place.join(format!("cpu/cpu{cpu}"));
        for folder in [
            format!("node{cpu}"),
            "topology".to_owned(),
            "cache/index3".to_owned(),
        ] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        let files = [
            ("topology/thread_siblings_list", cpu.to_string()),
            ("topology/core_id", "0".to_owned()),
            ("topology/physical_package_id", cpu.to_string()),
            ("cache/index3/level", "3".to_owned()),
            ("cache/index3/size", "8192K".to_owned()),
            ("cache/index3/type", "Unified".to_owned()),
            ("cache/index3/shared_cpu_list", cpu.to_string()),
            ("cache/index3/id", cpu.to_string()),
        ];
        files
            .iter()
            .for_each(|(file, text)| std::fs::write(own.join(file), format!("{text}\n")).unwrap());
        std::fs::write(
            place.join(format!("meminfo{cpu}")),
            format!("Node {cpu} MemTotal:       8388608 kB\n"),
        )
        .unwrap();
    }
    for list in ["online", "possible", "present"] {
        std::fs::write(place.join("cpu").join(list), "0-1\n").unwrap();
    }
}

struct TwoNodes {
    place: Place,
    kernel: PathBuf,
}

impl TwoNodes {
    /// None where it cannot be made; then it has been said.
    fn make() -> Option<TwoNodes> {
        let place = Place::new();
        let mounts =
            "mount -t tmpfs n /sys/devices/system/node && mount -t tmpfs c /sys/devices/system/cpu";
        let mut tried = Command::new("unshare");
        let usable = tried
            .args(["--mount", "sh", "-c", mounts])
            .output()
            .is_ok_and(|o| o.status.success());
        if !usable || !Path::new("/sys/devices/system/cpu/cpu1").exists() {
            skip(
                "only who may mount over /sys in a namespace, and has two CPUs, can look at two nodes",
            );
            return None;
        }
        cpus(place.path());
        let (source, kernel) = (place.file("kernel.c"), place.file("kernel.so"));
        std::fs::write(&source, KERNEL).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&kernel)
            .arg(&source)
            .arg("-ldl");
        assert!(cc.status().unwrap().success());
        Some(TwoNodes { place, kernel })
    }

    /// `pagewise` on the machine of two nodes.
    fn pagewise(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        self.place.settle(&mut command);
        command
            .args(["--mount", "sh", "-c", NAMESPACE, "sh"])
            .arg(self.place.path());
        command.arg(env!("CARGO_BIN_EXE_pagewise")).args(arguments);
        command
    }

    fn summary(&self, arguments: &[&str], lie: bool) -> Value {
        let mut command = self.pagewise(arguments);
        command
            .arg("--keep-environment")
            .env("LD_PRELOAD", &self.kernel);
        if lie {
            command.env("NODES_LIE", "1");
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// The values of a parameter with the status and reason of their cells.
fn by_value<'a>(summary: &'a Value, method: &str, key: &str) -> Vec<(&'a str, &'a str, String)> {
    let cells = summary["cells"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["method"] == method);
    let text = |value: &'a Value| value.as_str().unwrap_or_default();
    cells
        .map(|c| {
            (
                text(&c["parameters"][key]),
                text(&c["status"]),
                crate::support::place::reason(c),
            )
        })
        .collect()
}

#[test]
fn memory_lies_where_it_is_asked_for_and_every_page_is_proved() {
    let Some(machine) = TwoNodes::make() else {
        return;
    };
    let arguments = [
        "run",
        "copy/memcpy-node@c-O3",
        "--set",
        "node=local,remote,interleave",
        "--set",
        "bytes=64KiB",
        "--set",
        "destination=warm",
        "--set",
        "pages=base",
        "--budget",
        "3s",
        "--json",
    ];
    let honest = machine.summary(&arguments, false);
    let cells = by_value(&honest, "memcpy-node", "node");
    assert!(
        cells.iter().all(|(_, status, _)| *status == "ok"),
        "{cells:?}"
    );
    let values: BTreeSet<&str> = cells.iter().map(|(node, ..)| *node).collect();
    assert_eq!(values, BTreeSet::from(["interleave", "local", "remote"]));
    let lying = machine.summary(&arguments, true);
    // Launches run on either node, so that local or remote memory may be right by luck, but not both of them.
    let wrong: Vec<_> = by_value(&lying, "memcpy-node", "node")
        .into_iter()
        .filter(|(_, status, _)| *status != "ok")
        .collect();
    assert!(
        wrong.len() >= 2 && wrong.iter().any(|(node, ..)| *node == "interleave"),
        "{wrong:?}"
    );
    assert!(
        wrong.iter().all(|(.., reason)| reason.contains("pages_")),
        "{wrong:?}"
    );
}

#[test]
fn sides_are_pinned_to_two_nodes_and_to_nothing_that_is_not_there() {
    let Some(machine) = TwoNodes::make() else {
        return;
    };
    let arguments = [
        "run",
        "message/pipe@c-O3",
        "--set",
        "pin=far,l3,node,same",
        "--set",
        "wait=block",
        "--set",
        "idle=no",
        "--budget",
        "5s",
        "--json",
    ];
    let summary = machine.summary(&arguments, false);
    for (pin, status, reason) in by_value(&summary, "pipe", "pin") {
        match pin {
            "far" | "same" => assert_eq!(status, "ok", "{pin}: {reason}"),
            _ => assert!(
                status == "skipped" && reason.contains(&format!("pin={pin} needs two")),
                "{pin}: {reason}"
            ),
        }
    }
}

#[test]
fn the_doctor_tells_of_both_nodes() {
    let Some(machine) = TwoNodes::make() else {
        return;
    };
    let output = machine.pagewise(&["doctor"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("2 NUMA nodes"), "{text}");
}
