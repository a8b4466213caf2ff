//! Programs that a run keeps or names: only those that this user saved here are executed, and only with the bytes that the
//! plan lists.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::place::{Place, Said, entries, install, native_worker, said};
use crate::support::skips::skip;
use crate::support::waiting::wait_until;
use crate::trust::{give_away, is_root, plant, refused};

const SOURCE: &str = "#include <pagewise.h>\nBENCH(work) { PHASE(\"work\") { for (volatile int i = 0; i < 1000; i++); } \
                      RESULT(1); }\n";
const GATE: [&str; 4] = ["--gate", "counts", "--budget", "1s"];

/// A place with a baseline `main`; the source and the run.
fn with_baseline() -> (Place, String, PathBuf) {
    let place = Place::new();
    let file = place.file("mine.c");
    std::fs::write(&file, SOURCE).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let saved = place.run(&["bench", &file, "--save-baseline", "main", "--budget", "1s"]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    let run = entries(&place.file("data/pagewise/runs")).pop().unwrap();
    (place, file, run)
}

fn gate(place: &Place, file: &str, more: &[&str]) -> Said {
    place.run(&[&["bench", file][..], &GATE, more].concat())
}

/// True for the code of a gate that was judged.
fn is_judged(result: &Said) -> bool {
    [0, 2, 3].contains(&result.code) && !result.out.is_empty()
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-r").args([from, to]).status();
    assert!(copied.unwrap().success());
}

/// D16: the public format lets anybody seal a run; only the key of this user makes a baseline of it.
#[test]
fn a_baseline_of_a_stranger_is_not_executed_and_can_be_rebuilt() {
    let (theirs, _, run) = with_baseline();
    let (place, file, own) = with_baseline();
    assert!(is_judged(&gate(&place, &file, &[])));
    let store = own.parent().unwrap();
    std::fs::remove_dir_all(&own).unwrap();
    copy(&run, store);
    let unpacked = store.join(run.file_name().unwrap());
    let sentence = "was not saved as a baseline by this user on this machine";
    refused(&gate(&place, &file, &[]), sentence);
    refused(
        &gate(&place, &file, &["--against", unpacked.to_str().unwrap()]),
        sentence,
    );
    let rebuilt = gate(&place, &file, &["--rebuild"]);
    assert!(is_judged(&rebuilt), "{}{}", rebuilt.out, rebuilt.err);
    // The stranger's own user still has it.
    assert!(is_judged(&gate(&theirs, &file, &[])));
    // A key that others could have read seals nothing.
    let key = theirs.file("data/pagewise/baseline.key");
    assert_eq!(
        std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    refused(&gate(&theirs, &file, &[]), "it is no secret of this user's");
    std::fs::remove_file(&key).unwrap();
    refused(&gate(&theirs, &file, &[]), sentence);
}

/// D16: neither the key nor the run of another user is taken.
#[test]
fn a_key_or_a_run_of_another_user_is_not_taken() {
    if !is_root() {
        return;
    }
    let (place, file, run) = with_baseline();
    give_away(&place.file("data/pagewise/baseline.key"));
    refused(&gate(&place, &file, &[]), "it is no secret of this user's");
    let (place, file, own) = with_baseline();
    give_away(&own);
    refused(&gate(&place, &file, &[]), "belongs to user");
    drop(run);
}

/// D7: a kept program, library or source whose bytes changed is named and not executed.
#[test]
fn a_kept_program_or_source_that_was_changed_is_named() {
    let (place, file, run) = with_baseline();
    let (mark, worker) = (place.file("mark"), run.join("worker"));
    let name = run.to_str().unwrap();
    assert!(place.run(&["show", name]).out.contains("PHASE"));
    let program = std::fs::read(&worker).unwrap();
    plant(&worker, &mark);
    refused(
        &gate(&place, &file, &[]),
        "worker is damaged: it is not as it was written",
    );
    assert!(!mark.exists(), "a changed program ran");
    std::fs::write(&worker, program).unwrap();
    std::fs::set_permissions(&worker, PermissionsExt::from_mode(0o777)).unwrap();
    refused(&gate(&place, &file, &[]), "can be changed by other users");
    std::fs::set_permissions(&worker, PermissionsExt::from_mode(0o700)).unwrap();
    assert!(is_judged(&gate(&place, &file, &[])));
    let source = run.join("functions.c");
    std::fs::write(&source, SOURCE.replace("1000", "2000")).unwrap();
    let sentence = "functions.c is damaged: it is not as it was written";
    refused(&place.run(&["show", name]), sentence);
    refused(&gate(&place, &file, &["--rebuild"]), sentence);
}

/// A library whose function takes so many steps, put in place as a linker does.
fn library(place: &Place, steps: u32) -> String {
    let (source, new, library) = (
        place.file("lib.c"),
        place.file("new.so"),
        place.file("libmine.so"),
    );
    let text =
        format!("void f(void *c) {{ (void)c; for (volatile int i = 0; i < {steps}; i++); }}\n");
    std::fs::write(&source, text).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wl,-soname,libmine.so", "-o"])
        .args([&new, &source]);
    assert!(cc.status().unwrap().success());
    std::fs::rename(&new, &library).unwrap();
    format!("{}:f", library.display())
}

/// Starts a command that keeps its run in `out`, and returns it once launches are kept.
fn measuring(place: &Place, words: &[&str], out: &Path) -> std::process::Child {
    let mut command = place.command(&[words, &["--out", out.to_str().unwrap()]].concat());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("it measures", || {
        std::fs::read_to_string(out.join("launches.jsonl"))
            .is_ok_and(|text| text.lines().count() > 2)
    });
    child
}

/// Kills a run of this user's file, changes the file, and resumes: refused. With the old file again, the run is completed.
fn mixes_nothing(place: &Place, start: &[&str], resume: &[&str], change: &dyn Fn(bool)) {
    let out = place.file("run");
    let mut child = measuring(place, &[start, &["--budget", "40s"]].concat(), &out);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = || {
        ["plan.json", "launches.jsonl", "decisions.jsonl"]
            .map(|name| std::fs::read(out.join(name)).unwrap())
    };
    let before = kept();
    let resume = [
        resume,
        &["--resume", out.to_str().unwrap(), "--budget", "3s"],
    ]
    .concat();
    change(true);
    refused(
        &place.run(&resume),
        "is not the one that this run began with",
    );
    assert_eq!(kept(), before);
    change(false);
    let completed = place.run(&resume);
    assert!(
        [0, 4].contains(&completed.code),
        "{}{}",
        completed.out,
        completed.err
    );
}

/// D17: what is loaded is a part of the worker's hash.
#[test]
fn a_library_rebuilt_between_start_and_resumption_is_refused() {
    let place = Place::new();
    let what = library(&place, 1000);
    let words = ["bench", &what];
    mixes_nothing(&place, &words, &words, &|changed| {
        drop(library(&place, 1000 + u32::from(changed)))
    });
}

/// D17: sources are compiled or read anew, and a source that did not change gives the same worker.
#[test]
fn a_source_changed_between_start_and_resumption_is_refused() {
    let place = Place::new();
    let file = place.file("mine.c");
    let write = |changed: bool| {
        let text = if changed {
            SOURCE.replace("1000", "1001")
        } else {
            SOURCE.to_owned()
        };
        std::fs::write(&file, text).unwrap();
    };
    write(false);
    let words = ["bench", file.to_str().unwrap()];
    mixes_nothing(&place, &words, &words, &write);
}

/// D17: the same for a program that is given by --worker, which is executed where it is.
#[test]
fn a_worker_changed_between_start_and_resumption_is_refused() {
    let place = Place::new();
    let (native, worker) = (native_worker(&place), place.file("myworker"));
    let script = |changed: bool| {
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = --list ]; then {0} --list | sed '1s/.*/pagewise\\t1\\tmine/'; exit; fi\nexec {0} {1}\n",
            native.display(),
            if changed { "# changed" } else { "" }
        );
        std::fs::write(place.file("script"), text).unwrap();
        install(&place.file("script"), &worker);
    };
    script(false);
    let global = ["--worker", worker.to_str().unwrap(), "run"];
    let start = [&global[..], &["fault/touch@mine", "--set", "bytes=1MiB"]].concat();
    mixes_nothing(&place, &start, &global, &script);
}

/// D17: a library that is rebuilt while it is measured ends the run with a sentence.
#[test]
fn a_library_rebuilt_while_it_is_measured_ends_the_run() {
    let place = Place::new();
    let what = library(&place, 1000);
    let child = measuring(
        &place,
        &["bench", &what, "--budget", "60s", "--precision", "0.01%"],
        &place.file("run"),
    );
    library(&place, 2000);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).replace("\n  ", " ");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(
        err.contains("libmine.so has changed since this run began"),
        "{err}"
    );
}

/// A Python script is executed where it is.
#[test]
fn a_script_changed_between_start_and_resumption_is_refused() {
    let place = Place::new();
    if !place.run(&["list", "fault"]).out.contains("python-") {
        return skip("there is no CPython here");
    }
    let script = place.file("mine.py");
    let write = |changed: bool| {
        let text = format!(
            "import pagewise\n\n@pagewise.bench\ndef work():\n    return sum(range({}))\n",
            1000 + i32::from(changed)
        );
        std::fs::write(&script, text).unwrap();
    };
    write(false);
    let words = ["bench", script.to_str().unwrap()];
    mixes_nothing(&place, &words, &words, &write);
}

/// A name that could not be a baseline's is refused before anything is compiled or measured.
#[test]
fn a_wrong_name_of_a_baseline_is_refused_before_measuring() {
    let place = Place::new();
    let file = place.file("mine.c");
    std::fs::write(&file, SOURCE).unwrap();
    let file = file.to_str().unwrap();
    for (name, part) in [
        ("a/b", "is no tag"),
        ("", "is no tag"),
        ("c-O3", "is the name of a worker"),
        ("own", "is the name of a worker"),
    ] {
        refused(&place.run(&["bench", file, "--save-baseline", name]), part);
        assert!(
            entries(&place.file("data")).is_empty(),
            "{name}: something was written"
        );
    }
    // Settings, places and names that are wrong are refused without a compiler.
    let no_compiler = |more: &[&str]| {
        let mut command = place.command(&[&["bench", file][..], more].concat());
        said(command.env("CC", "/nonexistent/cc"))
    };
    for more in [
        &["--set", "x"][..],
        &["--out", "/etc/hostname/x"],
        &["--html", "/nonexistent/page.html"],
        &["--launches", "0"],
        &["--resume", "nonesuch"],
        &["--state", "swap-zram"],
        &["--save-baseline", "a/b"],
    ] {
        let result = no_compiler(more);
        assert!(
            result.code == 1 && !result.err.contains("compiler"),
            "{more:?}: {}",
            result.err
        );
    }
}
