//! Programs and folders that are exchanged while they are used, builds that were changed or left, the locks of two users,
//! temporary folders that cannot be used.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use record::folder::sha256_hex;
use serde_json::Value;

use crate::support::place::{Place, entries, install, said};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;

/// The file of this name anywhere below a folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let found = |path: PathBuf| {
        if path.is_dir() {
            find(&path, name)
        } else {
            path.ends_with(name).then_some(path)
        }
    };
    entries(folder).into_iter().find_map(found)
}

/// A script that leaves a mark.
fn script(place: &Place, mark: &Path) -> PathBuf {
    let (plain, path) = (place.file("plain"), place.file("script"));
    fs::write(
        &plain,
        format!("#!/bin/sh\ntouch {}\nexit 1\n", mark.display()),
    )
    .unwrap();
    install(&plain, &path);
    path
}

fn newest_plan(place: &Place) -> Value {
    let run = entries(&place.file("data/pagewise/runs")).pop().unwrap();
    serde_json::from_slice(&fs::read(run.join("plan.json")).unwrap()).unwrap()
}

#[test]
fn a_program_that_is_exchanged_while_it_is_used_is_not_run() {
    let place = Place::new();
    let (cache, mark, out) = (
        place.file("cache"),
        place.file("mark"),
        place.file("home/run"),
    );
    let words = [
        "run",
        "fault/touch@c-O3",
        "fault/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--launches",
        "4",
        "--budget",
    ];
    let mut run = place.command(&words);
    run.args(["10s", "--out"])
        .arg(&out)
        .env("XDG_CACHE_HOME", &cache)
        .stdout(Stdio::null());
    let mut run = run.spawn().unwrap();
    wait_until("a launch is kept", || {
        fs::metadata(out.join("launches.jsonl")).is_ok_and(|about| about.len() > 0)
    });
    let script = script(&place, &mark);
    for name in ["worker-c-O3", "pagewise-helper"] {
        fs::rename(find(&cache, name).unwrap(), place.file(name)).unwrap();
        fs::hard_link(&script, place.file("next")).unwrap();
        let to = entries(&cache.join("pagewise/workers"))
            .pop()
            .unwrap()
            .join(name);
        fs::rename(place.file("next"), to).unwrap();
    }
    let code = run.wait().unwrap().code();
    assert!(
        !mark.exists(),
        "a program ran that was not there when its bytes were compared"
    );
    assert_eq!(code, Some(0));
    let plan: Value = serde_json::from_slice(&fs::read(out.join("plan.json")).unwrap()).unwrap();
    assert_eq!(
        plan["workers"]["c-O3"],
        sha256_hex(&[&fs::read(place.file("worker-c-O3")).unwrap()])
    );
}

/// A command that builds below a cache of its own, and measures if the machine leaves time (otherwise it exits with 4). Go's
/// own cache is this user's: it is not what is tested.
fn build(place: &Place, what: &str) -> Command {
    let go = Command::new("go")
        .args(["env", "GOCACHE"])
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    let mut command = place.command(&[
        "run",
        what,
        "--set",
        "bytes=1MiB",
        "--launches",
        "1",
        "--budget",
        "10s",
        "--json",
    ]);
    command
        .env("XDG_CACHE_HOME", place.file("cache"))
        .env("GOCACHE", String::from_utf8(go).unwrap().trim());
    command
}

#[test]
fn a_go_build_that_was_changed_is_built_again() {
    if Command::new("go").arg("version").output().is_err() {
        return skip("there is no Go toolchain here");
    }
    let place = Place::new();
    let (cache, mark) = (place.file("cache"), place.file("mark"));
    assert!([0, 4].contains(&said(&mut build(&place, "read/bufio@go")).code));
    let (built, first) = (find(&cache, "worker-go").unwrap(), newest_plan(&place));
    let digest = sha256_hex(&[&fs::read(&built).unwrap()]);
    assert_eq!(
        first["workers"]["go"],
        sha256_hex(&[format!("{digest}  worker-go\n").as_bytes()])
    );
    fs::rename(script(&place, &mark), &built).unwrap();
    let again = said(&mut build(&place, "read/bufio@go"));
    assert!(!mark.exists(), "a changed build ran");
    assert!([0, 4].contains(&again.code), "{}", again.err);
    assert_eq!(newest_plan(&place)["workers"]["go"], first["workers"]["go"]);
    // With a list of digests that fits, it is a build of this user: another worker, by another hash.
    assert_eq!(sha256_hex(&[&fs::read(&built).unwrap()]), digest);
}

#[test]
fn a_java_build_that_was_changed_is_built_again() {
    let place = Place::new();
    if !place.run(&["doctor"]).out.contains(", with Java ") {
        return skip("there is no JDK here");
    }
    let is_built = || [0, 4].contains(&said(&mut build(&place, "read/mapped-buffer@java-*")).code);
    assert!(is_built());
    let class = find(&place.file("cache"), "Worker.class").unwrap();
    let sound = fs::read(&class).unwrap();
    fs::write(&class, &sound[..sound.len() / 2]).unwrap();
    // Another class in front of it is a change, too.
    fs::write(class.with_file_name("Planted.class"), &sound).unwrap();
    assert!(is_built());
    assert_eq!(fs::read(&class).unwrap(), sound);
    assert!(!class.with_file_name("Planted.class").exists());
}

#[test]
fn what_a_killed_build_left_is_removed_by_the_next_command() {
    let place = Place::new();
    let workers = place.file("cache/pagewise/workers/0123456789abcdef");
    let make = |path: PathBuf| {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path.join("source"))
            .unwrap();
        fs::write(path.join("source/file"), "x").unwrap();
        path
    };
    let left = [
        make(workers.join("built-77")),
        make(place.file("tmp/pagewise-worker-77")),
    ];
    let used = [
        make(workers.join("built-78")),
        make(place.file("tmp/pagewise-worker-78")),
    ];
    let kept = [
        make(workers.join("built")),
        make(place.file("tmp/pagewise-other")),
    ];
    let locks: Vec<fs::File> = used
        .iter()
        .map(|path| fs::File::open(path).unwrap())
        .collect();
    locks.iter().for_each(|lock| lock.lock().unwrap());
    let theirs = make(place.file("tmp/pagewise-worker-79"));
    let is_theirs = chown(&theirs, Some(65534), None).is_ok();
    let mut list = place.command(&["list", "fault"]);
    assert_eq!(
        said(list.env("XDG_CACHE_HOME", place.file("cache"))).code,
        0
    );
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    assert!(
        used.iter()
            .chain(&kept)
            .all(|path| path.join("source/file").exists()),
        "{used:?} {kept:?}"
    );
    assert!(!is_theirs || theirs.join("source/file").exists());
}

#[test]
fn a_temporary_folder_that_cannot_be_used_is_named_in_one_sentence() {
    let place = Place::new();
    let words = [
        "run",
        "share/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--launches",
        "1",
        "--budget",
        "1s",
    ];
    let long = format!("/tmp/{}", "y".repeat(300));
    let deep = "/z".repeat(3000);
    fs::write(place.file("file"), "").unwrap();
    let file = place.file("file").display().to_string();
    for (path, cause) in [
        ("/nonexistent", "No such file"),
        (&long, "File name too long"),
        (&deep, "File name too long"),
        (&file, "Not a directory"),
    ] {
        for words in [&words[..], &["check", "--selftest", "--budget", "1s"]] {
            let said = said(place.command(words).env("TMPDIR", path));
            let named =
                said.err.starts_with("pagewise: cannot use TMPDIR /") && said.err.contains(cause);
            let short = said.err.lines().count() == 1 && said.err.len() < 220;
            assert!(
                said.code == 1 && named && short,
                "{words:?} with {}: {}",
                path.len(),
                said.err
            );
        }
    }
    // A folder that is there and takes nothing.
    let on_a_program = [
        &[
            "try",
            "--pairs",
            "2",
            "--with",
            "thp",
            "-q",
            "--",
            "/bin/true",
        ][..],
        &["profile", "--blocks", "1", "-q", "--", "/bin/true"],
    ];
    for words in on_a_program {
        let said = said(place.command(words).env("TMPDIR", "/proc"));
        assert!(
            said.code == 1 && said.err.lines().count() == 1,
            "{words:?}: {}",
            said.err
        );
    }
    assert_eq!(
        entries(&place.file("data/pagewise/runs")),
        Vec::<PathBuf>::new(),
        "a refused run leaves nothing"
    );
    // A path that is too long for a socket alone hinders no run of two sides.
    let long = place.file(&format!("tmp/{}", "x".repeat(150)));
    fs::create_dir(&long).unwrap();
    let words = [
        "run",
        "share/posix-shm@c-O3+c-O3",
        "--set",
        "bytes=1MiB",
        "--launches",
        "1",
        "--budget",
        "10s",
    ];
    let said = said(place.command(&words).arg("--json").env("TMPDIR", &long));
    assert!(
        [0, 4].contains(&said.code) && !said.out.contains("rendezvous"),
        "{}{}",
        said.out,
        said.err
    );
    assert_eq!(entries(&long), Vec::<PathBuf>::new());
}
