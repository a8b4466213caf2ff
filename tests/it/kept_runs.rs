//! Kept runs: listed, shown, tagged, removed, compared, written for others; and what keeps them from harm.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use clap::CommandFactory;
use serde_json::Value;

use crate::support::place::{Place, Said, entries, said};
use crate::support::skips::{skip, thorough};

/// A run that ends after four launches, and has time for these on a machine that is loaded by the other tests: a tenth of its
/// budget is what a launch may take. A sample is longer than a turn of the scheduler, so that being switched out costs none its
/// trust.
const TINY: [&str; 8] = [
    "run",
    "fault/touch@c-O3",
    "--set",
    "bytes=32MiB",
    "--launches",
    "4",
    "--budget",
    "15s",
];

/// The most kept runs that a test needs.
const MOST: usize = 3;

/// A store with [`MOST`] runs, one measured after the other, once for all tests.
fn made() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let place = Place::new();
        for _ in 0..MOST {
            let result = place.run(&TINY);
            assert_eq!(result.code, 0, "{}", result.err);
        }
        let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept-runs");
        let _ = std::fs::remove_dir_all(&store);
        copy(&place.file("data/pagewise/runs"), &store);
        store
    })
}

fn copy(from: &Path, to: &Path) {
    assert!(
        Command::new("cp")
            .arg("-r")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

/// A place with the first of these runs; their folders, the oldest first.
pub fn with_runs(count: usize) -> (Place, Vec<PathBuf>) {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    entries(made())
        .iter()
        .take(count)
        .for_each(|run| copy(run, &store));
    let kept = entries(&store);
    assert_eq!(kept.len(), count);
    (place, kept)
}

fn id(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

fn refused(result: &Said, part: &str) {
    assert_eq!(result.code, 1, "{}{}", result.out, result.err);
    assert!(
        result.err.lines().count() == 1 && result.err.contains(part),
        "{:?} does not say {part:?}",
        result.err
    );
}

#[test]
fn runs_are_found_by_what_they_are_and_removed_only_within_the_store() {
    let (place, kept) = with_runs(2);
    let (one, other) = (id(&kept[0]), id(&kept[1]));
    assert_eq!(place.run(&["runs", "tag", one, "before", "6.12"]).code, 0);
    let listed = place.run(&["runs"]).out;
    assert!(
        listed.contains(one) && listed.contains("#before") && listed.contains("2 of 2 runs"),
        "{listed}"
    );
    let tagged = place
        .run(&[
            "runs",
            "--tag",
            "before",
            "--experiment",
            "fault",
            "--since",
            "2020",
        ])
        .out;
    assert!(tagged.contains(one) && !tagged.contains(other), "{tagged}");
    assert!(
        place
            .run(&["runs", "--until", "2020"])
            .out
            .contains("0 of 2 runs")
    );
    assert!(
        place
            .run(&["runs", "--experiment", "copy"])
            .out
            .contains("0 of 2 runs")
    );
    let value: Value = serde_json::from_str(&place.run(&["runs", "--json"]).out).unwrap();
    assert_eq!(
        (value.as_array().unwrap().len(), &value[0]["tags"]),
        (2, &serde_json::json!(["6.12", "before"]))
    );
    let shown: Value =
        serde_json::from_str(&place.run(&["runs", "show", one, "--json"]).out).unwrap();
    assert_eq!(
        (&shown["run"], &shown["ended"]),
        (&Value::from(one), &Value::from("finished")),
        "{shown:#}"
    );
    assert!(
        place
            .run(&["runs", "show", one])
            .out
            .contains("experiments         fault")
    );
    // With its page, its tag and the scores of the runs before it.
    let preflight: Value =
        serde_json::from_slice(&std::fs::read(kept[1].join("preflight.json")).unwrap()).unwrap();
    let known = preflight["kept_scores"].is_array();
    assert_eq!(place.run(&["runs", "tag", other, "after"]).code, 0);
    let files = entries(&kept[1]);
    assert!(
        known && files.len() <= 10 && kept[1].join("report.html").is_file(),
        "{files:?}"
    );
    let described = place.run(&["show", "last"]);
    assert!(
        described.code == 0 && described.out.contains("kind                run"),
        "{}",
        described.out
    );
    assert!(
        described
            .err
            .contains("pagewise report last prints its results"),
        "{}",
        described.err
    );
    // A tag does not touch what the run wrote: it is still as it was sealed.
    assert_eq!(place.run(&["report", one]).code, 0);
    refused(&place.run(&["runs", "tag", one, "a b"]), "is no tag");

    // Nothing outside the store goes, by whatever name.
    let outside = place.file("home/run");
    copy(&kept[0], &outside);
    let link = kept[0].with_file_name("link");
    symlink(&outside, &link).unwrap();
    for name in [
        "../../../home/run",
        outside.to_str().unwrap(),
        "link",
        "..",
        "",
        ".",
    ] {
        refused(&place.run(&["runs", "rm", name, "--yes"]), "is no run");
    }
    refused(&place.run(&["runs", "rm", one]), "--yes");
    assert!(outside.join("plan.json").is_file() && kept[0].join("plan.json").is_file());
    assert_eq!(place.run(&["runs", "rm", one, "--yes"]).code, 0);
    assert!(!kept[0].exists() && kept[1].exists() && outside.exists());
    assert!(place.run(&["runs"]).out.contains("1 of 1 runs"));
}

#[test]
fn a_second_run_is_refused_and_a_forced_one_marks_both() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let (first, second) = (place.file("home/first"), place.file("home/second"));
    let long = [
        "run",
        "fault/touch@c-O3",
        "--set",
        "bytes=32MiB",
        "--budget",
        "12s",
        "--out",
    ];
    let mut child = place.command(&[&long[..], &[first.to_str().unwrap()]].concat());
    let child = child
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    crate::support::waiting::wait_until("the first measures", || {
        first.join("launches.jsonl").is_file()
    });
    refused(
        &place.run(&[&TINY[..], &["--out", second.to_str().unwrap()]].concat()),
        "another run is measuring",
    );
    assert!(!second.exists(), "nothing is left of the refused one");
    let forced = place.run(&[&TINY[..], &["--force", "--out", second.to_str().unwrap()]].concat());
    assert_eq!(forced.code, 0, "{}", forced.err);
    let mut child = child;
    assert!(child.wait().unwrap().success());
    for folder in [&first, &second] {
        let warnings = place
            .run(&["report", folder.to_str().unwrap(), "--doubt"])
            .out;
        assert!(
            warnings.contains("another run was measuring on this machine"),
            "{}: {warnings}",
            folder.display()
        );
    }
    // A killed run's lock goes with it.
    let mut killed = place
        .command(&long[..6])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let store = place.file("data/pagewise/runs");
    crate::support::waiting::wait_until("it holds the lock", || {
        entries(&store)
            .iter()
            .any(|folder| folder.join("launches.jsonl").is_file())
    });
    let third = place.file("home/third");
    refused(
        &place.run(&[&TINY[..], &["--out", third.to_str().unwrap()]].concat()),
        "another run is measuring",
    );
    killed.kill().unwrap();
    killed.wait().unwrap();
    let after = place.run(&[&TINY[..], &["--out", third.to_str().unwrap()]].concat());
    assert_eq!(after.code, 0, "{}", after.err);
}

#[test]
fn sets_of_runs_are_compared_and_have_the_shape_of_the_schema() {
    let (place, kept) = with_runs(3);
    let ids: Vec<&str> = kept.iter().map(|f| id(f)).collect();
    let two = place.run(&["compare", ids[0], ids[1], "--gate", "90%"]);
    assert!([3, 4].contains(&two.code), "{}{}", two.out, two.err);
    let few = place.run(&["compare", ids[0], ids[1]]);
    assert!(
        few.code == 0 && few.out.contains("too few runs for a verdict"),
        "{}{}",
        few.out,
        few.err
    );
    assert!(
        few.out.lines().all(|l| l.chars().count() <= 100),
        "{}",
        few.out
    );
    // Copies under other names stand for other runs: what is tested here is words and codes, not noise.
    let mut sides: [Vec<String>; 2] = Default::default();
    for (side, name) in sides.iter_mut().zip(["a", "b"]) {
        for folder in &kept {
            let named = folder.with_file_name(format!("{name}-{}", id(folder)));
            copy(folder, &named);
            assert_eq!(
                place
                    .run(&["runs", "tag", named.to_str().unwrap(), name])
                    .code,
                0
            );
            side.push(named.display().to_string());
        }
    }
    let mut words = vec!["compare", "--json", "--gate", "90%"];
    words.extend(sides[0].iter().map(String::as_str));
    words.push("--");
    words.extend(sides[1].iter().map(String::as_str));
    let listed = place.run(&words);
    let value: Value =
        serde_json::from_str(&listed.out).unwrap_or_else(|_| panic!("{}", listed.err));
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/record/schema/compare.schema.json"
    );
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(
        value["differences"],
        serde_json::json!([]),
        "copies differ in nothing"
    );
    let code = match value["gated"].as_str().unwrap() {
        "passes" => 0,
        "regression" => 2,
        "undecided" => 3,
        _ => 4,
    };
    assert_eq!(listed.code, code);
    for cell in value["cells"].as_array().unwrap() {
        assert_eq!(
            (cell["quotient"].as_f64(), &cell["a"]),
            (Some(1.0), &cell["b"])
        );
    }
    let tagged = place.run(&["compare", "tag:a", "tag:b", "--json", "--gate", "90%"]);
    assert_eq!(tagged.out, listed.out, "a tag stands for its runs");
    refused(
        &place.run(&["compare", "tag:none", "tag:b"]),
        "no kept run has the tag",
    );
    refused(&place.run(&["compare", ids[0]]), "two runs");
    refused(
        &place.run(&["compare", ids[0], ids[0], "--", ids[1]]),
        "twice",
    );
    refused(
        &place.run(&["compare", ids[0], "--", ids[1], "--gate", "3%"]),
        "put options before the first run",
    );
}

#[test]
fn an_export_replaces_nothing_unasked_and_appears_whole() {
    let (place, kept) = with_runs(1);
    let out = place.file("home/metrics.prom");
    let words = [
        "report",
        id(&kept[0]),
        "--format",
        "openmetrics",
        "--out",
        out.to_str().unwrap(),
    ];
    assert_eq!(place.run(&words).code, 0);
    let first = std::fs::read_to_string(&out).unwrap();
    assert!(first.ends_with("# EOF\n"));
    refused(&place.run(&words), "exists; --force replaces it");
    assert_eq!(place.run(&[&words[..], &["--force"]].concat()).code, 0);
    assert_eq!(
        entries(&place.file("home")).len(),
        1,
        "no part is left beside it"
    );
    refused(
        &place.run(&["report", id(&kept[0]), "--format", "xlsx"]),
        "xlsx",
    );
    refused(
        &place.run(&["report", id(&kept[0]), "falt", "--format", "csv"]),
        "did you mean \"fault\"?",
    );
    for format in report::export::FORMATS {
        let result = place.run(&["report", id(&kept[0]), "--format", format.name]);
        assert!(
            result.code == 0 && !result.out.is_empty(),
            "{}: {}",
            format.name,
            result.err
        );
    }
    let mut head = Command::new("sh");
    place.settle(&mut head);
    let pipe = format!(
        "\"$0\" report {} --format csv | head -n 1; exit ${{PIPESTATUS:-0}}",
        id(&kept[0])
    );
    let result = said(head.args(["-c", &pipe, env!("CARGO_BIN_EXE_pagewise")]));
    assert!(
        result.out.starts_with("run,created,") && result.err.is_empty(),
        "{}",
        result.err
    );
}

#[test]
fn a_full_disk_and_a_read_only_place_are_one_sentence() {
    if !thorough() {
        return;
    }
    let (place, kept) = with_runs(1);
    let disk = place.file("home/disk");
    std::fs::create_dir(&disk).unwrap();
    for (options, part) in [
        ("size=4k", "No space left on device"),
        ("ro,size=4k", "Read-only file system"),
    ] {
        let script = "mount -t tmpfs -o $1 none \"$2\" || exit 99; \"$3\" report \"$4\" --format csv --out \"$2/run.csv\"; \
            status=$?; ls -A \"$2\" >&1; exit $status";
        let mut command = Command::new("unshare");
        place.settle(&mut command);
        command
            .args(["--mount", "sh", "-c", script, "sh", options])
            .arg(&disk);
        let result = said(command.arg(env!("CARGO_BIN_EXE_pagewise")).arg(&kept[0]));
        if result.code == 99 || result.err.starts_with("unshare:") {
            return skip(&format!(
                "no file system can be mounted here: {}",
                result.err.trim()
            ));
        }
        refused(&result, part);
        assert_eq!(result.out, "", "nothing is left there");
    }
}

/// Every verb with those below it, as they are typed.
fn verbs(command: &clap::Command, before: &str) -> Vec<String> {
    let mut found = Vec::new();
    for verb in command
        .get_subcommands()
        .filter(|c| c.get_name() != "help" && !c.is_hide_set())
    {
        let name = format!("{before} {}", verb.get_name());
        found.extend(verbs(verb, &name));
        found.push(name);
    }
    found
}

#[test]
fn the_help_of_every_verb_ends_with_an_example_of_it() {
    let place = Place::new();
    let all = verbs(&pagewise::cli::Cli::command(), "");
    assert!((15..25).contains(&all.len()), "{all:?}");
    for verb in all {
        let words: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let help = place.run(&words).out;
        let last = help.trim_end().rsplit("\n\n").next().unwrap_or_default();
        assert!(
            last.starts_with("Example: pagewise") && last.contains(verb.trim()),
            "{verb}: {last}"
        );
    }
}

#[test]
fn at_most_fifteen_verbs_are_visible_and_the_first_page_groups_them() {
    let command = pagewise::cli::Cli::command();
    let visible: Vec<&str> = command
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .map(|c| c.get_name())
        .collect();
    assert!(visible.len() <= 15, "{visible:?}");
    let help = Place::new().run(&["--help"]).out;
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Measure:")
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    assert_eq!(BTreeSet::from_iter(listed), BTreeSet::from_iter(visible));
    for package in ["completions", "man"] {
        assert_eq!(Place::new().run(&[package, "--help"]).code, 0, "{package}");
    }
}

#[test]
fn the_newest_run_those_of_a_tag_and_the_parts_of_one_answer_are_found() {
    let (place, kept) = with_runs(2);
    let newest = id(&kept[1]);
    assert!(place.run(&["runs", "show", "last"]).out.contains(newest));
    assert_eq!(place.run(&["runs", "tag", "last", "slow"]).code, 0);
    assert!(
        place
            .run(&["runs", "show", "tag:slow"])
            .out
            .contains(newest)
    );
    let part = place
        .file("data/pagewise/runs")
        .join(format!("{newest}-p2"));
    copy(&kept[1], &part);
    let last = place.run(&["runs", "show", "last"]).out;
    assert!(
        last.lines()
            .any(|line| line.starts_with("folder ") && line.ends_with(newest)),
        "the first run stands for all: {last}"
    );
    std::fs::remove_dir_all(part).unwrap();
    copy(
        &kept[0],
        &place
            .file("data/pagewise/runs")
            .join(format!("{}-p2", id(&kept[0]))),
    );
    let list = place.run(&["runs"]).out;
    assert!(
        list.lines().count() == 3 && list.contains("(2 runs)") && list.contains("3 of 3 runs"),
        "{list}"
    );
    assert!(
        place
            .run(&["runs", "rm", id(&kept[0]), "--yes"])
            .out
            .contains("-p2")
    );
    assert_eq!(entries(&place.file("data/pagewise/runs")).len(), 1);
}

#[test]
fn shells_complete_experiments_methods_runs_and_tags() {
    if Command::new("python3")
        .args(["-c", "import pty"])
        .output()
        .map_or(true, |output| !output.status.success())
    {
        return skip("there is no python3 with a terminal here to play shells");
    }
    let (place, run) = (Place::new(), "20261121T171805Z-1a2b3c4d");
    place.furnish(1);
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    copy(&root.join("tests/fixtures/runs/ordinary"), &store.join(run));
    assert_eq!(place.run(&["runs", "tag", run, "before"]).code, 0);
    let path = format!(
        "{}:{}",
        place.file("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let player = root.join("tests/it/support/shells.py");
    for (shell, file) in [
        ("bash", "pagewise"),
        ("zsh", "_pagewise"),
        ("fish", "pagewise.fish"),
    ] {
        if Command::new(shell).args(["-c", "true"]).output().is_err() {
            skip(&format!("there is no {shell} here to complete words"));
            continue;
        }
        let script = place.file(file);
        std::fs::write(&script, place.run(&["completions", shell]).out).unwrap();
        let whole = format!("report {run}");
        for (typed, completed) in [
            ("list fau", "list fault"),
            ("run read/mmap-populate-f", "run read/mmap-populate-fixed"),
            (&whole[..whole.len() - 4], &whole),
            ("compare last tag:be", "compare last tag:before"),
        ] {
            let mut played = Command::new("python3");
            place.settle(&mut played);
            played
                .arg(&player)
                .arg(shell)
                .arg(&script)
                .arg(format!("pagewise {typed}"))
                .env("PATH", &path);
            assert_eq!(
                said(&mut played).out.trim(),
                format!("pagewise {completed}"),
                "{shell}"
            );
        }
    }
}

/// Names that a shell would expand or split, or that are options, as names of kept runs; each would make the file `$PWNED`.
const HOSTILE_NAMES: [&str; 5] = [
    "$(touch $PWNED)",
    "`touch $PWNED`",
    "x;touch $PWNED",
    "x y",
    "--out",
];

#[test]
fn no_name_of_a_kept_run_is_an_order_to_a_shell_that_completes() {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in HOSTILE_NAMES.iter().chain(&["plain-run"]) {
        copy(
            &root.join("tests/fixtures/runs/ordinary"),
            &store.join(name),
        );
    }
    let printed = place.run(&["completions", "--names", "report"]).out;
    assert!(printed.lines().any(|name| name == "plain-run"), "{printed}");
    for name in HOSTILE_NAMES {
        assert!(!printed.lines().any(|line| line == name), "{printed}");
    }
    // The scripts are safe by themselves, too: this program prints all names.
    let liar = place.file("liar/pagewise");
    std::fs::create_dir_all(liar.parent().unwrap()).unwrap();
    let names: String = HOSTILE_NAMES
        .iter()
        .map(|name| format!("{name}\n"))
        .collect();
    std::fs::write(place.file("names"), names).unwrap();
    let script = format!("#!/bin/sh\ncat '{}'\n", place.file("names").display());
    std::fs::write(&liar, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&liar, executable).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    for (shell, file) in [
        ("bash", "pagewise.bash"),
        ("zsh", "_pagewise"),
        ("fish", "pagewise.fish"),
    ] {
        if Command::new(shell).args(["-c", "true"]).output().is_err() {
            skip(&format!(
                "there is no {shell} here to complete hostile names"
            ));
            continue;
        }
        let script = place.file(file);
        std::fs::write(&script, place.run(&["completions", shell]).out).unwrap();
        for typed in ["report $", "report x", "report z"] {
            let mut played = Command::new("python3");
            place.settle(&mut played);
            let pwned = place.file("pwned");
            played
                .arg(root.join("tests/it/support/shells.py"))
                .arg(shell)
                .arg(&script)
                .arg(format!("pagewise {typed}"))
                .env("PWNED", &pwned)
                .env("PATH", format!("{}:{path}", place.file("liar").display()));
            said(&mut played);
            assert!(!pwned.exists(), "{shell} ran a name at TAB after {typed:?}");
        }
    }
}

#[test]
fn completions_and_man_pages_are_taken_by_what_reads_them() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]);
        assert!(
            script.code == 0 && script.out.contains("compare") && script.out.contains("report"),
            "{}",
            script.err
        );
        let path = place.file(shell);
        std::fs::write(&path, script.out).unwrap();
        match Command::new(shell).arg("-n").arg(&path).output() {
            Ok(output) => assert!(
                output.status.success(),
                "{shell}: {}",
                String::from_utf8_lossy(&output.stderr)
            ),
            Err(_) => skip(&format!("there is no {shell} here to read its completions")),
        }
    }
    let names = |verb: &str| place.run(&["completions", "--names", verb]).out;
    assert!(
        names("run").lines().any(|name| name == "read/mmap")
            && names("list").lines().any(|name| name == "read")
    );
    assert!(names("report").starts_with("last\n") && names("advise").contains("transfer\n"));
    let folder = place.file("home/man1");
    let words = ["man", "--out", folder.to_str().unwrap()];
    assert_eq!(place.run(&words).code, 0);
    let pages = entries(&folder);
    assert_eq!(
        pages.len(),
        verbs(&pagewise::cli::Cli::command(), "").len() + 1
    );
    refused(&place.run(&words), "exists; --force replaces it");
    assert!(
        std::fs::read_to_string(folder.join("pagewise-run.1"))
            .unwrap()
            .contains("EXAMPLES")
    );
    for page in pages {
        match Command::new("groff")
            .args(["-K", "utf8", "-man", "-Tutf8", "-z", "-ww"])
            .arg(&page)
            .output()
        {
            Ok(output) => assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                "",
                "{}",
                page.display()
            ),
            Err(_) => return skip("there is no groff here to read the man pages"),
        }
    }
}
