//! The machine's description and the text of `doctor`, on trees of files that stand for machines we do not have.

use std::path::{Path, PathBuf};

use judge::sets::machines::differences;
use pagewise::machine;
use record::machine::environment::Environment;
use report::doctor::{document, obstacles};
use report::terminal::{Screen, render};

use crate::support::place::{Place, said};

/// Longer lines wrap in a terminal; only commands may be longer, because they are copied as a whole.
const WIDTH: usize = 100;

const MACHINES: [&str; 4] = ["bare-metal", "container-v2", "hybrid-v1-vm", "nearly-empty"];

fn folder(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/machines")
        .join(machine)
}

fn capture(machine: &str) -> Environment {
    machine::capture(&folder(machine))
}

fn doctor(environment: &Environment) -> String {
    render(
        &document(environment, &obstacles(environment, false, &[]), &[]),
        &Screen::new(WIDTH, false),
        false,
    )
    .plain()
}

#[test]
fn every_machine_is_described() {
    for machine in MACHINES {
        let environment = capture(machine);
        let facts =
            serde_json::json!({ "headline": environment.headline(), "environment": environment });
        insta::assert_snapshot!(
            format!("environment-{machine}"),
            serde_json::to_string_pretty(&facts).unwrap()
        );
    }
}

#[test]
fn every_machine_has_its_report() {
    for machine in MACHINES {
        let environment = capture(machine);
        insta::assert_snapshot!(format!("doctor-{machine}"), doctor(&environment));
    }
}

#[test]
fn reports_fit_a_terminal() {
    let roots = MACHINES
        .map(folder)
        .into_iter()
        .chain([PathBuf::from("/"), PathBuf::from("/nowhere")]);
    for root in roots {
        let environment = machine::capture(&root);
        let text = doctor(&environment);
        let too_long = |line: &&str| {
            line.chars().count() > WIDTH && line.contains(' ') && !line.contains("$ ")
        };
        let words_too_long = |line: &&str| {
            line.split_whitespace()
                .any(|word| word.chars().count() > WIDTH / 2)
        };
        let found: Vec<&str> = text
            .lines()
            .filter(too_long)
            .filter(|line| !words_too_long(line))
            .collect();
        assert!(found.is_empty(), "{}: {found:#?}", root.display());
        assert!(
            text.lines().all(|line| line.trim_end() == line),
            "{}: space at the end of a line",
            root.display()
        );
    }
}

#[test]
fn a_machine_without_files_is_described_as_unknown() {
    let environment = machine::capture(Path::new("/nowhere"));
    assert_eq!(
        environment,
        Environment {
            tools: environment.tools.clone(),
            ..Environment::default()
        }
    );
    assert!(environment.tools.programs.is_empty() && environment.tools.allocators.is_empty());
    assert_eq!(environment.headline()["cpu"], "unknown");
}

#[test]
fn descriptions_survive_being_stored() {
    for machine in MACHINES {
        let environment = capture(machine);
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(
            serde_json::from_str::<Environment>(&text).unwrap(),
            environment
        );
    }
}

#[test]
fn a_description_by_an_older_version_can_be_read() {
    let environment: Environment =
        serde_json::from_str(r#"{"kernel": {"release": "6.1.0"}}"#).unwrap();
    assert_eq!(environment.kernel.release.as_deref(), Some("6.1.0"));
    assert_eq!(environment.memory.total_bytes, None);
}

#[test]
fn what_follows_the_kernels_own_parameters_is_not_kept() {
    let line = capture("hybrid-v1-vm").kernel.command_line.unwrap();
    assert!(line.ends_with("mitigations=auto"), "{line}");
}

#[test]
fn two_machines_differ_in_what_matters() {
    let found = differences(&capture("bare-metal"), &capture("container-v2"));
    let difference = |field: &str| found.iter().find(|d| d.field == field).unwrap();
    let thp = difference("huge_pages.thp_enabled");
    assert_eq!(
        (thp.a.as_str(), thp.b.as_str(), thp.matters),
        ("always", "madvise", true)
    );
    assert!(!difference("rights.effective_uid").matters);
    assert_eq!(difference("cpu.frequency.governors").b, "absent");
    assert!(found.is_sorted_by_key(|d| !d.matters));
    assert!(differences(&capture("bare-metal"), &capture("bare-metal")).is_empty());
}

/// A tree of files that stands for a machine.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = place.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

#[test]
fn facts_are_read_in_every_spelling() {
    let devices = "sys/bus/event_source/devices";
    let mounts = "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n30 25 0:27 / /dev/shm rw - tmpfs shm rw,size=65536k\n";
    let place = tree(&[
        ("sys/devices/system/cpu/online", "0-3,8\n"),
        ("sys/devices/system/cpu/smt/active", "1\n"),
        ("sys/module/zswap/parameters/enabled", "N\n"),
        (
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never\n",
        ),
        ("sys/kernel/mm/lru_gen/enabled", "\n"),
        ("proc/meminfo", "MemTotal:       24684084 kB\nMem: 1 kB\n"),
        ("proc/self/mountinfo", mounts),
        (&format!("{devices}/cpu_core/type"), "4"),
        (&format!("{devices}/armv8_pmuv3_0/type"), "8"),
        (&format!("{devices}/cpum_cf_diag/type"), "9"),
        (&format!("{devices}/uncore_imc_0/type"), "9"),
    ]);
    let e = machine::capture(place.path());
    assert_eq!(
        (e.cpu.online, e.cpu.smt_active, e.reclaim.zswap),
        (Some(5), Some(true), Some(false))
    );
    assert_eq!(
        (e.huge_pages.thp_enabled.as_deref(), e.reclaim.lru_gen),
        (Some("madvise"), None)
    );
    assert_eq!(
        (e.memory.total_bytes, e.memory.dev_shm_bytes),
        (Some(24_684_084 * 1024), Some(64 << 20))
    );
    assert_eq!(e.rights.hardware_counters, ["armv8_pmuv3_0", "cpu_core"]);
}

#[test]
fn time_that_a_quota_took_is_read_from_every_level_of_either_version() {
    let mounts = "35 31 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n40 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let place = tree(&[
        ("proc/self/mountinfo", mounts),
        ("proc/self/cgroup", "4:cpu:/a/b\n0::/c\n"),
        (
            "sys/fs/cgroup/cpu/a/b/cpu.stat",
            "nr_periods 9\nnr_throttled 7\nthrottled_time 5000999\nnr_bursts 0\n",
        ),
        (
            "sys/fs/cgroup/cpu/a/cpu.stat",
            "nr_periods 9\nnr_throttled 1\nthrottled_time 2000000\n",
        ),
        (
            "sys/fs/cgroup/unified/c/cpu.stat",
            "usage_usec 7\nnr_throttled 3\nthrottled_usec 40\n",
        ),
    ]);
    let nothing = machine::noise::Snapshot::default();
    assert_eq!(
        machine::noise::Snapshot::take(place.path())
            .delta(&nothing)
            .throttled_us,
        5_000 + 2_000 + 40
    );
}

#[test]
fn a_mount_that_shows_a_part_of_the_tree_is_not_entered_twice() {
    let place = tree(&[
        (
            "proc/self/mountinfo",
            "40 30 0:30 /docker/abc /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n",
        ),
        ("proc/self/cgroup", "0::/docker/abc\n"),
        ("sys/fs/cgroup/memory.current", "1\n"),
    ]);
    let memory = machine::capture(place.path()).cgroups.memory;
    assert_eq!(
        (memory[0].folder.as_str(), memory[0].writable),
        ("/sys/fs/cgroup", false)
    );
}

#[test]
fn a_bundle_is_shown_then_written_and_names_nobody() {
    let place = Place::new();
    let (log, bundle) = (place.file("secret-log"), place.file("bundle.md"));
    std::fs::write(&log, vec![b'\n'; 1 << 20]).unwrap();
    let file = format!("file={}", log.display());
    let run = [
        "run",
        "read/read@c-O3",
        "read/mmap@c-O3",
        "--set",
        &file,
        "--set",
        "cache=hot",
        "--budget",
        "1s",
    ];
    let run = place.run(&run);
    assert!(matches!(run.code, 0 | 3 | 4), "{}", run.err);
    let arguments = ["doctor", "--bundle", bundle.to_str().unwrap()];
    let shown = said(
        place
            .command(&arguments)
            .env("PAGEWISE_NODE", "secret-node")
            .env("MALLOC_SECRET", "secret-value"),
    );
    let text = std::fs::read_to_string(&bundle).unwrap();
    assert!(
        shown.code == 0 && shown.out.starts_with(&text),
        "{}\n{}",
        shown.err,
        shown.out
    );
    assert!(
        text.contains(env!("CARGO_PKG_VERSION")) && text.contains("c-O3") && text.contains("read"),
        "{text}"
    );
    let identity = serde_json::to_value(machine::identity(Path::new("/"))).unwrap();
    let own = ["machine", "boot", "name"]
        .map(|key| identity[key].as_str().unwrap_or("nothing-such").to_owned());
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .collect();
    // A host named vm has its name in vm.overcommit_memory.
    assert!(
        own.iter()
            .all(|name| name.len() < 4 || !words.contains(&name.as_str())),
        "{own:?} {text}"
    );
    assert!(
        !text.contains("secret") && !text.contains(&*place.path().to_string_lossy()),
        "{text}"
    );
    std::fs::write(&bundle, "kept").unwrap();
    let again = place.run(&arguments);
    assert_eq!(
        (
            again.code,
            std::fs::read_to_string(&bundle).unwrap().as_str()
        ),
        (1, "kept"),
        "{}",
        again.out
    );
    assert_eq!(
        place
            .run(&["doctor", "--bundle", bundle.to_str().unwrap(), "--force"])
            .code,
        0
    );
    assert_ne!(std::fs::read_to_string(&bundle).unwrap(), "kept");
}
