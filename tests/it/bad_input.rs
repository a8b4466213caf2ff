//! Wrong use gets one sentence that names the nearest thing there is, exit status 1, and leaves nothing behind.

use crate::support::skips::skip;
use std::path::Path;
use std::process::Command;

use crate::support::place::{Place, Said, entries, said};

/// Exit 1, nothing on standard output, one line on standard error that says all this.
fn is_one_sentence(what: &str, result: &Said, parts: &[&str]) {
    assert_eq!(result.code, 1, "{what}: {}{}", result.out, result.err);
    assert_eq!(result.out, "", "{what}");
    assert!(
        result.err.starts_with("pagewise: ") && result.err.lines().count() == 1,
        "{what}: {:?}",
        result.err
    );
    for part in parts {
        assert!(
            result.err.contains(part),
            "{what}: {:?} does not say {part:?}",
            result.err
        );
    }
}

/// The words are refused like this, and no run was begun.
fn refused(words: &str, parts: &[&str]) {
    let place = Place::new();
    let arguments: Vec<&str> = words.split_whitespace().collect();
    is_one_sentence(words, &place.run(&arguments), parts);
    assert!(
        entries(&place.file("data")).is_empty(),
        "{words}: {:?}",
        entries(&place.file("data"))
    );
    assert!(entries(&place.file("tmp")).is_empty(), "{words}");
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    refused(
        "run falt",
        &["no experiment \"falt\"", "did you mean \"fault\"?"],
    );
    refused("list falt", &["did you mean \"fault\"?"]);
    refused("show alocate", &["did you mean \"allocate\"?"]);
    refused(
        "show fault/tuch",
        &["no method \"tuch\"", "did you mean \"touch\"?"],
    );
    refused("show fault fault/touch", &["EXPERIMENT/METHOD"]);
    refused(
        "show fault/touch@c-O9",
        &["no worker \"c-O9\"", "did you mean \"c-O"],
    );
    refused("run fault/tuch", &["did you mean \"touch\"?"]);
    refused(
        "run fault/touch@c-O9",
        &["no worker \"c-O9\"", "did you mean \"c-O"],
    );
    refused("check fault/tuch", &["did you mean \"touch\"?"]);
    refused("check fault/touch@c-O9", &["no worker \"c-O9\""]);
    refused("show --request fault/tuch", &["did you mean \"touch\"?"]);
    refused(
        "run fault --baseline tuch",
        &["--baseline", "did you mean \"touch\"?"],
    );
    refused("run fault --published P9", &["P9"]);
    refused("report nonesuch", &["there is no run \"nonesuch\""]);
    refused("run --resume nonesuch", &["there is no run \"nonesuch\""]);
    refused("-- ls", &["a command follows a verb", "profile -- ls"]);
    refused("/bin/ls", &["is a program", "pagewise profile -- /bin/ls"]);
    refused("/bin", &["is a folder", "pagewise report /bin"]);
    refused("chek", &["no verb \"chek\"", "did you mean \"check\"?"]);
    refused(
        "run thp",
        &["thp is a method of fault", "pagewise run fault/thp"],
    );
    refused("show read/mmap@c-O33", &["no worker \"c-O33\""]);
    refused("run fault/tph", &["did you mean \"thp\"?"]);
    refused("report last", &["no run is kept yet"]);
    refused(
        "run fault/touch@go --language go",
        &["names its worker already"],
    );
    refused("run copy --language go", &["no methods of experiment copy"]);
    refused("run --budgt 8s", &["'--budgt'", "'--budget'"]);
}

#[test]
fn keys_and_values_are_held_against_what_the_methods_take() {
    refused(
        "run fault --set byts=4MiB",
        &["\"byts\"", "did you mean \"bytes\"?"],
    );
    refused(
        "run fault --set release=fre",
        &["release=fre is not one of", "did you mean \"free\"?"],
    );
    refused(
        "run fault/touch@python-* --set frames=memory",
        &["no selected method of fault takes frames=memory"],
    );
    refused(
        "run fault --set threads=0",
        &["threads=0 leaves nothing to measure"],
    );
    refused(
        "run fault --set threads=two",
        &["threads=two is not a whole number"],
    );
    refused("run fault --set bytes", &["\"bytes\" is not key=value"]);
    refused("run fault --set bytes=", &["not key=value"]);
    refused("run fault --set bytes=4MiB,,8MiB", &["a value is empty"]);
    refused(
        "show --request fault/touch --set byts=4MiB",
        &["did you mean \"bytes\"?"],
    );
}

#[test]
fn settings_that_have_no_effect_together_are_refused() {
    for (words, parts) in [
        (
            "run read/pread --set order=random --set chunk=16KiB",
            &[
                "chunk has no effect where order=random",
                "order=random-16KiB",
            ][..],
        ),
        (
            "run read --set order=random-64KiB --set chunk=16KiB",
            &["chunk has no effect where order=random-64KiB"],
        ),
        (
            "run read/mmap --set chunk=16KiB",
            &["chunk has no effect on the selected methods", "pread"],
        ),
        (
            "run fault/touch --set idle_ms=100",
            &["idle_ms has no effect where backing=recycled"],
        ),
        (
            "run write --set order=append --set file_bytes=1MiB",
            &["file_bytes has no effect where order=append"],
        ),
        (
            "run reset --set dirty=100 --set scatter=run",
            &["scatter has no effect where dirty=100"],
        ),
        (
            "run unmap --set running=1 --set others=asleep",
            &["others has no effect where running=1"],
        ),
        (
            "advise read --set order=random --set chunk=16KiB",
            &["chunk has no effect where order=random"],
        ),
        (
            "show --request copy/memcpy --set frames=memory --set batch_bytes=1MiB",
            &["batch_bytes has no effect where frames=memory"],
        ),
    ] {
        refused(words, parts);
    }
}

#[test]
fn a_setting_that_has_an_effect_in_some_cells_is_taken() {
    let place = Place::new();
    let result = place.run(&[
        "run",
        "read/pread",
        "--set",
        "order=sequential,random",
        "--set",
        "chunk=16KiB,1MiB",
        "--set",
        "cache=hot",
        "--set",
        "place=disk",
        "--dry-run",
    ]);
    assert_eq!(result.code, 0, "{}", result.err);
    assert!(
        result
            .err
            .contains("chunk has no effect where order=random: there it keeps its usual value"),
        "{}",
        result.err
    );
    // Two chunks in sequential order, and the usual one in random order.
    let cells = result.out.lines().find(|line| line.contains("cells in"));
    assert!(
        cells.is_some_and(|line| line.starts_with("3 ")),
        "{}",
        result.out
    );
}

#[test]
fn sizes_are_held_against_what_can_be() {
    refused(
        "run fault --set bytes=0",
        &["bytes=0", "leaves nothing to measure"],
    );
    refused("run fault --set bytes=0KiB", &["leaves nothing to measure"]);
    refused(
        "run fault --set bytes=4097",
        &["bytes=4097 is not a multiple of the page size"],
    );
    refused("run fault --set bytes=100TiB", &["above the address space"]);
    refused(
        "run fault --set bytes=99999999999999999999999",
        &["bytes=999"],
    );
    refused("run fault --set bytes=many", &["\"many\" is not a size"]);
    refused("run fault --set bytes=1.5.5MiB", &["is not a size"]);
    refused("run fault --set bytes=-4096", &["is not a size"]);
    refused(
        "run fault --set bytes=1.0001B",
        &["not a whole number of bytes"],
    );
}

#[test]
fn budgets_and_shares_must_mean_something() {
    refused(
        "run fault --budget soon",
        &["--budget", "\"soon\" is not a time"],
    );
    refused("run fault --budget 0s", &["--budget", "above zero"]);
    refused("run fault --budget=-5s", &["--budget"]);
    refused("run fault --precision 0", &["--precision", "not a share"]);
    refused(
        "run fault --precision 150%",
        &["--precision", "not a share"],
    );
    refused("run fault --margin wide", &["--margin", "not a share"]);
    refused(
        "run fault --launches 0",
        &["--launches 0 leaves nothing to measure"],
    );
    refused("run fault --launches few", &["'few'", "--launches"]);
    refused("run fault --seed apple", &["'apple'", "--seed"]);
    refused(
        "run fault --time-limit 10ms",
        &["--time-limit", "at least 1s"],
    );
}

#[test]
fn a_selector_must_be_one() {
    for words in ["fault/", "/touch", "fault/touch@", "@c-O3"] {
        refused(
            &format!("run {words}"),
            &["is not EXPERIMENT[/METHOD[@WORKER]]"],
        );
    }
    refused("show --request", &["at least one EXPERIMENT/METHOD"]);
    refused(
        "show --request fault/touch allocate/calloc",
        &["one experiment"],
    );
}

#[test]
fn a_worker_must_be_one() {
    refused(
        "--worker /nonexistent/worker list",
        &["cannot start the worker /nonexistent/worker"],
    );
    refused(
        "--worker /bin/true list",
        &["/bin/true --list does not begin with"],
    );
}

#[test]
fn an_experiment_must_be_one() {
    refused(
        "--experiments /nonexistent/folder list",
        &["cannot read /nonexistent/folder"],
    );
    let place = Place::new();
    for (text, part) in [
        ("name = ", "broken.toml is not an experiment"),
        ("name = \"x\"\ncolour = \"red\"\n", "colour"),
    ] {
        std::fs::write(place.file("home/broken.toml"), text).unwrap();
        let result = place.run(&[
            "--experiments",
            place.file("home").to_str().unwrap(),
            "list",
        ]);
        is_one_sentence(text, &result, &["broken.toml", part]);
    }
}

const TINY: [&str; 6] = [
    "run",
    "fault/null@c-O3",
    "--set",
    "bytes=1MiB",
    "--budget",
    "500ms",
];

fn run_into(place: &Place, out: &Path) -> Said {
    place.run(&[&TINY[..], &["--out", out.to_str().unwrap()]].concat())
}

#[test]
fn an_output_folder_that_cannot_be_is_refused() {
    let place = Place::new();
    let file = place.file("home/file");
    std::fs::write(&file, "mine").unwrap();
    is_one_sentence("a file", &run_into(&place, &file), &["home/file"]);
    is_one_sentence(
        "below a file",
        &run_into(&place, &file.join("a/b")),
        &["cannot make", "file/a/b"],
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    is_one_sentence(
        "in /proc",
        &run_into(&place, Path::new("/proc/pagewise-run")),
        &["cannot make /proc/pagewise-run"],
    );
    is_one_sentence(
        "in /sys",
        &run_into(&place, Path::new("/sys/kernel")),
        &["/sys/kernel"],
    );
}

#[test]
fn an_output_folder_in_use_is_left_alone() {
    let place = Place::new();
    let out = place.file("home/mine");
    std::fs::create_dir(&out).unwrap();
    std::fs::write(out.join("diary"), "text").unwrap();
    is_one_sentence(
        "in use",
        &run_into(&place, &out),
        &["is not empty; a run needs a folder of its own"],
    );
    assert_eq!(entries(&out), [out.join("diary")]);
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let out = place.file("home/deep/run");
    let mut command = Command::new("sh");
    place.settle(&mut command);
    // The workers are unpacked before the limit is set: they are larger than it.
    assert_eq!(place.run(&["list"]).code, 0);
    command.args([
        "-c",
        "ulimit -f 4; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_pagewise"),
    ]);
    let result = said(command.args(TINY).arg("--out").arg(&out));
    is_one_sentence("ulimit -f", &result, &["cannot write", "File too large"]);
    assert!(!place.file("home/deep").exists(), "{:?}", entries(&out));
}

/// Runs with the output folder on a file system of that size that nobody else sees; what the folder holds then.
fn on_a_full_disk(place: &Place, size: &str) -> Option<(Said, Vec<String>)> {
    let disk = place.file("home/disk");
    std::fs::create_dir_all(&disk).unwrap();
    assert_eq!(place.run(&["list"]).code, 0);
    let mut command = Command::new("unshare");
    place.settle(&mut command);
    let script = "mount -t tmpfs -o size=$1 none \"$2\" || exit 99; disk=$2; shift 2; \"$@\"; status=$?; \
        ls -AR \"$disk\" >\"$disk/../listing\"; \
        if [ -e \"$disk/run/plan.json\" ]; then \"$1\" report \"$disk/run\" >/dev/null; [ $? = 1 ] && exit 98; fi; \
        exit $status";
    command
        .args(["--mount", "sh", "-c", script, "sh", size])
        .arg(&disk)
        .arg(env!("CARGO_BIN_EXE_pagewise"));
    let result = said(command.args(TINY).arg("--out").arg(disk.join("run")));
    if result.code == 99 || result.err.starts_with("unshare:") {
        skip(&format!(
            "no file system can be mounted here: {}",
            result.err.trim()
        ));
        return None;
    }
    let listing = std::fs::read_to_string(place.file("home/listing")).unwrap();
    let name = |line: &str| !line.is_empty() && !line.ends_with(':');
    Some((
        result,
        listing
            .lines()
            .filter(|l| name(l))
            .map(str::to_owned)
            .collect(),
    ))
}

#[test]
fn a_full_disk_at_the_start_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let Some((result, left)) = on_a_full_disk(&place, "8k") else {
        return;
    };
    is_one_sentence(
        "a full disk",
        &result,
        &["cannot write", "No space left on device"],
    );
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn a_disk_that_fills_up_leaves_what_was_measured_readable() {
    let place = Place::new();
    let Some((result, left)) = on_a_full_disk(&place, "56k") else {
        return;
    };
    is_one_sentence(
        "a disk that fills up",
        &result,
        &["No space left on device"],
    );
    assert!(
        left.contains(&"plan.json".to_owned()) && left.contains(&"launches.jsonl".to_owned()),
        "{left:?}"
    );
    assert!(
        !left
            .iter()
            .any(|name| name.starts_with('.') || name.starts_with("scratch")),
        "{left:?}"
    );
}

#[test]
fn runs_of_another_schema_and_damaged_ones_are_refused() {
    let place = Place::new();
    let folder = place.file("home/run");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.to_str().unwrap();
    for (plan, parts) in [
        (
            "{\"schema\": 99}",
            [
                "has schema 99, but this Pagewise reads 3",
                "use the version that made it",
            ],
        ),
        (
            "{\"schema\": 2}",
            ["plan.json is damaged", "not as it was written"],
        ),
        (
            "not JSON",
            ["plan.json is damaged", "not as it was written"],
        ),
    ] {
        std::fs::write(folder.join("plan.json"), plan).unwrap();
        is_one_sentence(plan, &place.run(&["report", path]), &parts);
        is_one_sentence(plan, &place.run(&["run", "--resume", path]), &parts);
        assert_eq!(entries(&folder), [folder.join("plan.json")]);
    }
}
