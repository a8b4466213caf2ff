//! `pagewise try --watch`: memory for time, of services and of programs that end. Settings act where they say, change nothing
//! of the machine without permission, and leave nothing behind. No test asserts a time.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::profile::built;
use crate::support::place::{Place, entries};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;
use serde_json::Value;

/// A service that touches a page of each of 60 small blocks, and runs until it is ended: with huge pages all of its heap is
/// resident. With a word it allocates 64 MiB of equal pages instead, and fills them anew.
const SERVICE: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { MIB = 1 << 20, BLOCKS = 60, BLOCK = 100 << 10 };
int main(int argc, char **argv) {
    char *blocks[BLOCKS];
    volatile long work = 0;
    for (int i = 0; i < BLOCKS; i++) (blocks[i] = malloc(BLOCK))[0] = 1;
    if (argc > 1) {
        char *p = mmap(0, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(p, 7, 64 * MIB);
    }
    for (;;) {
        for (int i = 0; i < 100000; i++) work += blocks[i % BLOCKS][0];
        usleep(1000);
    }
}
"#;

fn service(place: &Place, name: &str) -> String {
    let program = built(place, name, SERVICE, &[]).expect("gcc builds");
    program.to_str().unwrap().to_owned()
}

fn watched(place: &Place, options: &[&str], command: &[&str]) -> Value {
    let words = [&["try", "--watch", "--json"], options, &["--"], command].concat();
    let said = place.run(&words);
    let value = serde_json::from_str(&said.out);
    value.unwrap_or_else(|e| panic!("{e}: {} {}", said.out, said.err))
}

fn named<'a>(all: &'a Value, name: &str) -> &'a Value {
    let arms = all.as_array().unwrap();
    let arm = arms.iter().find(|arm| arm["name"] == name);
    arm.unwrap_or_else(|| panic!("no {name} in {all:#}"))
}

/// The kept launches of a study.
fn launches(place: &Place, of: &Value) -> Vec<Value> {
    let run = of["plan"]["run"].as_str().unwrap();
    let folder = place.file("data/pagewise/runs").join(run);
    let text = std::fs::read_to_string(folder.join("launches.jsonl")).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn gives_huge_pages() -> bool {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    std::fs::read_to_string(path).is_ok_and(|rule| rule.contains("[madvise]"))
}

#[test]
fn a_service_is_watched_in_windows_and_huge_pages_cost_memory() {
    let place = Place::new();
    let program = service(&place, "watched-service");
    let of = watched(
        &place,
        &["--for", "300ms", "--pairs", "6", "--with", "hugetlb"],
        &[&program],
    );
    wait_until("the service is ended", || {
        let has = |process: &Path| {
            std::fs::read(process.join("cmdline"))
                .is_ok_and(|line| line.starts_with(program.as_bytes()))
        };
        !entries(Path::new("/proc"))
            .iter()
            .any(|process| has(process))
    });
    assert_eq!(of["watch"]["is_service"], true, "{of:#}");
    assert_eq!(named(&of["arms"], "unchanged")["runs"], 6, "{of:#}");
    for launch in launches(&place, &of) {
        assert_eq!(launch["end"], "window", "{launch:#}");
        let moments = launch["watched"]["moments"].as_array().unwrap();
        let of = |moment: &Value, name: &str| moment[name].as_u64().unwrap();
        assert!(moments.len() >= 2, "{launch:#}");
        for pair in moments.windows(2) {
            for rising in ["at_ms", "cpu_us", "minor_faults", "major_faults"] {
                assert!(of(&pair[0], rising) <= of(&pair[1], rising), "{launch:#}");
            }
            assert!(
                of(&pair[1], "pss_kib") <= of(&pair[1], "rss_kib"),
                "{launch:#}"
            );
            assert!(
                of(&pair[1], "huge_kib") <= of(&pair[1], "rss_kib"),
                "{launch:#}"
            );
        }
        // The last sample is the cost of the window.
        let last = of(moments.last().unwrap(), "cpu_us");
        let cpu_us = launch["user_us"].as_u64().unwrap() + launch["system_us"].as_u64().unwrap();
        assert_eq!(last, cpu_us, "{launch:#}");
    }
    if !gives_huge_pages() {
        return skip("every mapping has huge pages anyway, or none has");
    }
    let arm = named(&of["watch"]["arms"], "hugetlb");
    assert!(arm["relative"]["rss"].as_f64() > Some(1.5), "{arm:#}");
    let huge = &named(&of["arms"], "hugetlb")["measured"]["huge"];
    assert!(huge["median"].as_f64() > Some(2e6), "{huge:#}");
    let course = arm["course"].as_array().unwrap();
    assert!(course.len() > 1 && course.iter().all(|p| p["rss_bytes"].as_f64() > Some(0.0)));
    let run = of["plan"]["run"].as_str().unwrap();
    let screen = place.run(&["report", run]).out.replace("\n    ", " ");
    for wanted in [
        "hugetlb: ",
        " % RSS",
        "95 %",
        "mean RSS",
        "each run was ended after 0.3 s",
    ] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    let page = place
        .file("data/pagewise/runs")
        .join(run)
        .join("report.html");
    let page = std::fs::read_to_string(page).unwrap();
    for picture in ["Resident memory over the time", "CPU time for each second"] {
        assert!(page.contains(picture), "{picture}");
    }
}

#[test]
fn a_program_that_ends_has_one_value_a_run() {
    let place = Place::new();
    let of = watched(
        &place,
        &["--pairs", "6", "--with", "env:TRIED=1"],
        &["head -c 200000000 /dev/zero"],
    );
    assert_eq!(of["watch"]["is_service"], false, "{of:#}");
    assert_eq!(named(&of["arms"], "env:TRIED=1")["status"], "ok", "{of:#}");
    let launches = launches(&place, &of);
    assert!(launches.iter().all(|launch| launch["end"] == "exit"));
    // A run that is cut is of other work than one that ended.
    let other = watched(
        &place,
        &["--for", "1s", "--pairs", "1"],
        &["true", "sleep 75.0625"],
    );
    let arm = named(&other["arms"], "sleep 75.0625");
    assert_eq!(
        (&arm["status"], &arm["failure"]["word"]),
        (&Value::from("failed"), &Value::from("ends-differ")),
        "{other:#}"
    );
}

/// Fields that the kernel's files have, as they are now.
fn machine() -> Vec<String> {
    let files = ["/sys/kernel/mm/ksm/run", "/sys/kernel/mm/ksm/pages_to_scan"];
    files
        .map(|path| std::fs::read_to_string(path).unwrap_or_default())
        .to_vec()
}

#[test]
fn merging_needs_permission_and_is_undone() {
    let place = Place::new();
    let program = service(&place, "merged-service");
    let before = machine();
    let options = ["--for", "2s", "--pairs", "1", "--with", "ksm"];
    if before[0].trim() != "0" {
        return skip("the kernel merges pages already, or cannot");
    }
    let forbidden = watched(&place, &options, &[&program, "equal"]);
    let failure = &named(&forbidden["arms"], "ksm")["failure"];
    assert_eq!(failure["cause"]["word"], "made-value", "{failure:#}");
    assert_eq!(machine(), before);
    if !rustix::process::geteuid().is_root() {
        return skip("merging is root's to begin");
    }
    let permitted = [&options[..], &["--allow-system-changes"]].concat();
    let of = watched(&place, &permitted, &[&program, "equal"]);
    assert_eq!(machine(), before, "it is undone");
    let arm = named(&of["arms"], "ksm");
    let merged = arm["proof"]["seen"][0]["bytes"].as_u64();
    assert!(merged > Some(1 << 20), "{arm:#}");
}

/// The number that a setting names is the kernel's while its arm runs, and the usual one in the others and afterwards.
#[test]
fn pages_that_may_be_absent_are_those_of_the_arm_and_are_put_back() {
    const ABSENT: &str = "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none";
    const PAUSE: &str = "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs";
    let place = Place::new();
    let Ok(before) = std::fs::read_to_string(ABSENT) else {
        return skip("the kernel makes no huge pages");
    };
    let seen = place.file("seen");
    let line = format!("cat {ABSENT} >> {}", seen.display());
    let options = [
        "--pairs",
        "1",
        "--with",
        "max-ptes-none:37,max-ptes-none:99999",
    ];
    let command = ["sh", "-c", line.as_str()];
    let forbidden = watched(&place, &options, &command);
    let failure = &named(&forbidden["arms"], "max-ptes-none:37")["failure"];
    assert_eq!(failure["cause"]["word"], "made-value", "{failure:#}");
    if !rustix::process::geteuid().is_root() {
        return skip("the kernel's setting is root's to change");
    }
    std::fs::remove_file(&seen).unwrap();
    let permitted = [&options[..], &["--allow-system-changes"]].concat();
    let pause = std::fs::read_to_string(PAUSE).unwrap();
    let of = watched(&place, &permitted, &command);
    assert_eq!(std::fs::read_to_string(ABSENT).unwrap(), before);
    assert_eq!(std::fs::read_to_string(PAUSE).unwrap(), pause);
    let cause = &named(&of["arms"], "max-ptes-none:99999")["failure"]["cause"]["word"];
    assert_eq!(cause, "setting-refused", "{of:#}");
    let seen = std::fs::read_to_string(seen).unwrap();
    let numbers: BTreeSet<&str> = seen.lines().collect();
    assert_eq!(numbers, BTreeSet::from(["37", before.trim()]));
}

#[test]
fn advice_reaches_the_memory_of_the_program() {
    let place = Place::new();
    let program = service(&place, "advised-service");
    if !rustix::process::geteuid().is_root() {
        return skip("advice to another process is root's");
    }
    let options = ["--for", "1s", "--pairs", "1", "--with", "cold,pageout"];
    let of = watched(&place, &options, &[&program, "equal"]);
    for name in ["cold", "pageout"] {
        let arm = named(&of["arms"], name);
        let advised = arm["proof"]["seen"][0]["bytes"].as_u64();
        assert!(advised >= Some(64 << 20), "{arm:#}");
    }
}

#[test]
fn a_bound_on_memory_is_a_cgroup_that_is_removed() {
    let place = Place::new();
    let program = service(&place, "bounded-service");
    let with = ["--with", "memory-max:200MiB"];
    let options = [&["--for", "300ms", "--pairs", "1"][..], &with].concat();
    let forbidden = watched(&place, &options, &[&program]);
    let failure = &named(&forbidden["arms"], "memory-max:200MiB")["failure"];
    assert_eq!(failure["cause"]["word"], "needs-cgroup", "{failure:#}");
    let permitted = [&options[..], &["--allow-system-changes"]].concat();
    let of = watched(&place, &permitted, &[&program]);
    let run = of["plan"]["run"].as_str().unwrap();
    let arm = named(&of["arms"], "memory-max:200MiB");
    if arm["status"] == "skipped" {
        return skip(&format!("no memory cgroup: {}", arm["failure"]["cause"]));
    }
    assert_eq!(arm["status"], "ok", "{arm:#}");
    let left = Command::new("find")
        .args(["/sys/fs/cgroup", "-name", &format!("pagewise-{run}*")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn a_setting_of_a_runtime_acts_only_where_the_runtime_is_mapped() {
    let place = Place::new();
    let words = [
        "try",
        "--pairs",
        "1",
        "--json",
        "--with",
        "go-gc,java-serial",
        "--",
        "/bin/true",
    ];
    let said = place.run(&words);
    let of: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    for name in ["go-gc", "java-serial"] {
        let arm = named(&of["arms"], name);
        assert_eq!(
            (&arm["status"], &arm["proof"]["seen"][0]["word"]),
            (&Value::from("no-effect"), &Value::from("no-module")),
            "{arm:#}"
        );
    }
    let python = [
        "try",
        "--pairs",
        "1",
        "--json",
        "--with",
        "python-trim",
        "--",
        "python3",
        "-c",
        "1",
    ];
    let mut own = place.command(&python);
    let said = own.env("PYTHONMALLOC", "pymalloc").output().unwrap();
    let of: Value = serde_json::from_slice(&said.stdout).unwrap();
    let cause = &named(&of["arms"], "python-trim")["failure"]["cause"];
    assert_eq!(
        (&cause["word"], &cause["value"]),
        (&Value::from("own-variable"), &Value::from("pymalloc")),
        "{of:#}"
    );
    let said = place.run(&python);
    let of: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    let arm = named(&of["arms"], "python-trim");
    assert_eq!(arm["status"], "ok", "{arm:#}");
}

/// A program of Go is known by its own note.
#[test]
fn a_program_of_go_is_known() {
    let place = Place::new();
    let (source, program) = (place.file("idle.go"), place.file("idle"));
    std::fs::write(&source, "package main\n\nfunc main() {}\n").unwrap();
    let built = Command::new("go")
        .args(["build", "-o"])
        .args([&program, &source])
        .env("GO111MODULE", "off")
        .env("HOME", place.path())
        .output();
    if !built.is_ok_and(|done| done.status.success()) {
        return skip("there is no Go compiler");
    }
    let words = ["try", "--pairs", "1", "--json", "--with", "go-gc", "--"];
    let said = place.run(&[&words[..], &[program.to_str().unwrap()]].concat());
    let of: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}", said.err));
    let arm = named(&of["arms"], "go-gc");
    assert_eq!(arm["status"], "ok", "{arm:#}");
}
