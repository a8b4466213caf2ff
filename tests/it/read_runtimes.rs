//! The Go and Java readers over the captures and files that the native worker is compared with: the same counts and digests,
//! or the same words. No test looks at a time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::native::helper;
use crate::support::reading::{
    Reader, Told, captures, drive, hold_against_reference, mutations, shrunk, unmeasurable, worker,
};
use crate::support::skips::thorough;

/// The reading methods of a worker; `memory-segment` is there from JDK 22 on.
fn methods(name: &str) -> &'static [&'static str] {
    match name
        .strip_prefix("java-")
        .map(|feature| feature.parse::<u32>().unwrap())
    {
        None => &["bufio", "mmap"],
        Some(22..) => &["channel", "mapped-buffer", "memory-segment"],
        Some(_) => &["channel", "mapped-buffer"],
    }
}

/// Every worker's word for each file and each of its methods, the native one's among them; one process a worker.
fn told_of(
    place: &Path,
    files: &[PathBuf],
    changes: &[(&'static str, &'static str)],
) -> Vec<(String, Vec<Told>)> {
    let (native, helper) = (worker(place), helper(place));
    let mut all = Vec::new();
    let mut ask = |name: &str, reader: Reader, methods: &[&str]| {
        for method in methods {
            let length = |path: &PathBuf| fs::metadata(path).map_or(10, |m| m.len());
            let cells: Vec<_> = files
                .iter()
                .map(|path| (*method, path.as_path(), length(path)))
                .collect();
            all.push((format!("{method}@{name}"), reader.drive(&cells, changes)));
        }
    };
    ask("c-O3", Reader::native(&native), &["read"]);
    for runtime in crate::support::runtimes::all() {
        ask(
            &runtime.name,
            Reader {
                program: &runtime.program,
                helper: Some(&helper),
            },
            methods(&runtime.name),
        );
    }
    all
}

#[test]
fn hostile_captures_are_counted_as_the_native_worker_counts_them() {
    if !thorough() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    worker(place.path());
    let made = Command::new(helper(place.path()))
        .arg("make-capture")
        .arg(&whole)
        .args(["20000", "3"])
        .output();
    assert!(made.unwrap().status.success());
    let mut cases: Vec<(String, Vec<u8>)> = captures()
        .into_iter()
        .map(|(n, f)| (n.to_owned(), f))
        .collect();
    let mutated = mutations(&fs::read(&whole).unwrap(), 60);
    cases.extend(
        mutated
            .into_iter()
            .enumerate()
            .map(|(i, file)| (format!("mutation {i}"), file)),
    );
    let files: Vec<PathBuf> = (0..cases.len())
        .map(|i| place.path().join(format!("capture-{i}")))
        .collect();
    for (path, (_, file)) in files.iter().zip(&cases) {
        fs::write(path, file).unwrap();
    }
    for consume in ["records", "payload"] {
        let told = told_of(place.path(), &files, &[("consume", consume)]);
        for (i, (name, file)) in cases.iter().enumerate() {
            let of_case: Vec<(&str, &Told)> = told
                .iter()
                .map(|(who, all)| (who.as_str(), &all[i]))
                .collect();
            hold_against_reference(file, name, consume, &of_case);
        }
    }
}

#[test]
fn what_is_no_capture_is_named_and_its_words_are_added_up_alike() {
    let place = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 4] = [
        (
            &[
                0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0,
            ],
            "pcapng format",
        ),
        (
            b"just some text that is long enough to be looked at",
            "not a pcap file",
        ),
        (&[0xd4, 0xc3, 0xb2, 0xa1], "shorter than the 24 bytes"),
        (&[0], "shorter than the 24 bytes"),
    ];
    let files: Vec<PathBuf> = (0..cases.len())
        .map(|i| place.path().join(format!("file-{i}")))
        .collect();
    for (path, (file, _)) in files.iter().zip(&cases) {
        fs::write(path, file).unwrap();
    }
    for (who, told) in told_of(place.path(), &files, &[]) {
        for (told, (_, words)) in told.iter().zip(&cases) {
            let ending = told.ending.as_deref().unwrap_or_default();
            assert!(
                ending.starts_with("fail") && ending.contains(words),
                "{who}: {ending}"
            );
            assert_eq!(
                told.samples, 0,
                "{who}: nothing is timed of a file that cannot be walked"
            );
        }
    }
    let sums = told_of(place.path(), &files, &[("consume", "sum")]);
    for (who, told) in &sums {
        for (one, native) in told.iter().zip(&sums[0].1) {
            assert_eq!(one.ending, None, "{who}");
            assert_eq!(one.facts["digest"], native.facts["digest"], "{who}");
        }
    }
}

#[test]
fn files_that_cannot_be_measured_are_named_in_every_language() {
    let place = tempfile::tempdir().unwrap();
    let (native, helper) = (worker(place.path()), helper(place.path()));
    let cases = unmeasurable(place.path());
    let theirs: Vec<String> = cases
        .iter()
        .map(|(path, _)| {
            drive(&native, &["read"], path, 10, &[("consume", "sum")])[0]
                .ending
                .clone()
                .unwrap()
        })
        .collect();
    for runtime in crate::support::runtimes::all() {
        let reader = Reader {
            program: &runtime.program,
            helper: Some(&helper),
        };
        for method in methods(&runtime.name) {
            let cells: Vec<_> = cases
                .iter()
                .map(|(path, _)| (*method, path.as_path(), 10))
                .collect();
            let told = reader.drive(&cells, &[("consume", "sum")]);
            for ((told, (path, words)), theirs) in told.iter().zip(&cases).zip(&theirs) {
                let ending = told.ending.as_deref().unwrap_or_default();
                assert!(
                    ending.starts_with("fail") && ending.contains(words),
                    "{}: {ending}",
                    path.display()
                );
                let sentence = theirs.rsplit('\t').next().unwrap();
                assert!(ending.ends_with(sentence), "{ending:?} is not {theirs:?}");
                assert_eq!(told.samples, 0);
            }
        }
    }
}

/// The same program without root's right to read everything; as it is where the user is not root.
fn without_rights_over_files(place: &Path, program: &Path) -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return Some(program.to_owned());
    }
    Command::new("setpriv").arg("--version").output().ok()?;
    let (text, start) = (place.join("text"), place.join("start"));
    let capabilities = "-dac_override,-dac_read_search";
    fs::write(
        &text,
        format!(
            "#!/bin/sh\nexec setpriv --bounding-set {capabilities} {}\n",
            program.display()
        ),
    )
    .unwrap();
    assert!(
        Command::new("install")
            .args(["-m", "755"])
            .args([&text, &start])
            .status()
            .unwrap()
            .success()
    );
    Some(start)
}

#[test]
fn a_file_that_may_not_be_read_fails_its_cell_in_every_language() {
    let place = tempfile::tempdir().unwrap();
    let (native, helper) = (worker(place.path()), helper(place.path()));
    let closed = place.path().join("closed");
    fs::write(&closed, "0123456789").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let others = crate::support::runtimes::all().iter().map(|r| {
        (
            r.program.as_path(),
            Some(helper.as_path()),
            methods(&r.name),
        )
    });
    for (program, helper, methods) in
        others.chain([(native.as_path(), None, &["read", "mmap", "io_uring"][..])])
    {
        let Some(start) = without_rights_over_files(place.path(), program) else {
            return;
        };
        let reader = Reader {
            program: &start,
            helper,
        };
        let cells: Vec<_> = methods
            .iter()
            .map(|method| (*method, closed.as_path(), 10))
            .collect();
        for (told, method) in reader
            .drive(&cells, &[("consume", "sum")])
            .iter()
            .zip(methods)
        {
            let ending = told.ending.as_deref().unwrap_or_default();
            assert!(
                ending.starts_with("fail") && ending.contains("Permission denied"),
                "{method}: {ending}"
            );
            assert_eq!(told.samples, 0);
        }
    }
}

#[test]
fn a_file_that_shrinks_fails_its_cell_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    worker(place.path());
    let helper = helper(place.path());
    for runtime in crate::support::runtimes::all() {
        let reader = Reader {
            program: &runtime.program,
            helper: Some(&helper),
        };
        for method in methods(&runtime.name) {
            let said = shrunk(&reader, method, place.path());
            let fail = said
                .lines()
                .find(|l| l.starts_with("fail\t0\t0\t"))
                .unwrap_or_default();
            assert!(
                fail.contains("it has become shorter"),
                "{method}@{}: {said}",
                runtime.name
            );
            assert!(said.contains("done\t"), "the worker itself goes on: {said}");
            assert!(!said.contains("\tdigest\t"), "no count of a part: {said}");
        }
    }
}
