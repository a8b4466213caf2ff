//! A disk that fails, and power that is cut: a real file system on a loop device whose backing this test takes away, as a
//! device would fail, or copies in the midst, as a power cut would leave it. What is measured there has no figure and an error
//! in words; what was kept is read, or refused in one sentence.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use serde_json::Value;

use crate::support::place::{Place, Said, cell, said};
use crate::support::skips::{skip, thorough};
use crate::support::waiting::wait_until;

const MIB: u64 = 1 << 20;

/// Memory that a loop device takes for a disk.
struct Disk(File);

impl Disk {
    fn of(bytes: u64) -> Disk {
        let memory = File::from(
            memfd_create("disk", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap(),
        );
        memory.set_len(bytes).unwrap();
        Disk(memory)
    }

    /// One with an ext4; `None` where that cannot be made.
    fn formatted(bytes: u64, options: &[&str]) -> Option<Disk> {
        let disk = Disk::of(bytes);
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F"])
            .args(options)
            .arg(disk.path())
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            skip("no ext4 can be made here");
            return None;
        }
        Some(disk)
    }

    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// From now on nothing behind this place can be read or written: EIO.
    fn ends_at(&self, bytes: u64) {
        self.0.set_len(bytes).unwrap();
        fcntl_add_seals(&self.0, SealFlags::GROW).unwrap();
    }

    /// What is on it now.
    fn copied(&self) -> Disk {
        let mut content = vec![0; self.0.metadata().unwrap().len() as usize];
        self.0.read_exact_at(&mut content, 0).unwrap();
        let copy = Disk::of(content.len() as u64);
        copy.0.write_all_at(&content, 0).unwrap();
        copy
    }

    /// `sh -c SCRIPT` with this disk mounted on the place's folder `disk`, where nobody else sees it.
    fn mounted(&self, place: &Place, script: &str, words: &[&str]) -> Command {
        std::fs::create_dir_all(place.file("disk")).unwrap();
        let mount = "device=$(losetup --find --show \"$DISK\") || exit 99; \
            mount \"$device\" \"$PLACE/disk\" || code=99; losetup --detach \"$device\"; cd \"$PLACE\"; \
            [ -n \"$code\" ] || {";
        let script =
            format!("{mount} {script}; code=$?; }}; cd /; umount \"$PLACE/disk\"; exit $code");
        let mut command = Command::new("unshare");
        place.settle(&mut command);
        command.env("PLACE", place.path()).env("DISK", self.path());
        command
            .args([
                "--mount",
                "sh",
                "-c",
                &script,
                env!("CARGO_BIN_EXE_pagewise"),
            ])
            .args(words);
        command
    }

    /// Whether it can be mounted here.
    fn can_be_mounted(&self) -> bool {
        let result = said(&mut self.mounted(&Place::new(), "true", &[]));
        if result.code != 0 {
            skip(&format!(
                "no loop device can be mounted here: {}",
                result.err.trim()
            ));
        }
        result.code == 0
    }
}

/// The program with the words that it was given.
const IT: &str = "\"$0\" \"$@\"";

/// A run in the background whose folder is on the disk, at the moment when it has one launch.
fn in_the_midst(disk: &Disk, place: &Place, script: &str, words: &[&str]) -> Child {
    let mut command = disk.mounted(place, script, words);
    command
        .stdout(File::create(place.file("stdout")).unwrap())
        .stderr(File::create(place.file("stderr")).unwrap());
    let mut child = command.spawn().unwrap();
    // The mount is seen by that process only.
    let launches = place.file("disk/run/launches.jsonl");
    let seen = Path::new("/proc")
        .join(child.id().to_string())
        .join("root")
        .join(launches.strip_prefix("/").unwrap());
    wait_until("the run has a launch", || {
        seen.exists() || child.try_wait().unwrap().is_some()
    });
    child
}

fn is_one_sentence(what: &str, result: &Said) {
    let one = result.err.lines().count() == 1 && result.err.starts_with("pagewise: ");
    assert!(
        result.code == 1 && one,
        "{what}: {} {}",
        result.code,
        result.err
    );
}

const WRITES: [&str; 5] = [
    "write/pwrite-fdatasync@c-O3",
    "write/rename-over@c-O3",
    "write/mmap-msync@c-O3",
    "write/direct-dsync@c-O3",
    "write/null@c-O3",
];

#[test]
fn a_device_that_takes_no_more_writes_in_the_midst_fails_the_cells_that_need_it() {
    for options in [&["-J", "size=4"][..], &["-O", "^has_journal"]] {
        let (Some(disk), place) = (Disk::formatted(256 * MIB, options), Place::new()) else {
            return;
        };
        if !disk.can_be_mounted() {
            return;
        }
        let out = place.file("disk/run");
        let words = [
            &["run"][..],
            &WRITES,
            &[
                "--set",
                "bytes=64KiB",
                "--launches",
                "30",
                "--budget",
                "20s",
            ],
        ]
        .concat();
        let words = [&words[..], &["--json", "--out", out.to_str().unwrap()]].concat();
        let mut run = in_the_midst(&disk, &place, IT, &words);
        disk.ends_at(12 * MIB);
        let code = run.wait().unwrap().code().unwrap();
        let text = |name: &str| std::fs::read_to_string(place.file(name)).unwrap();
        let (out, err) = (text("stdout"), text("stderr"));
        // A journal that cannot be written makes the file system read-only, and then the laboratory cannot write either.
        let named = |words: &str| {
            ["Input/output error", "Read-only file system"]
                .iter()
                .any(|w| words.contains(w))
        };
        assert!(named(&format!("{out}{err}")), "{options:?}: {code}: {err}");
        if code == 1 {
            is_one_sentence("it is the laboratory's disk too", &Said { code, out, err });
            continue;
        }
        assert!([0, 4].contains(&code), "{code}: {err}");
        let summary: Value = serde_json::from_str(&out).unwrap();
        for cell in summary["cells"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|cell| cell["status"] == "failed")
        {
            let reason = crate::support::place::reason(cell);
            assert!(named(&reason), "{reason}");
        }
        let failed = |name: &&str| cell(&summary, name, &[])["status"] == "failed";
        assert!(WRITES[..4].iter().all(failed), "{summary:#}");
    }
}

#[test]
fn a_file_of_which_a_part_cannot_be_read_has_no_figure() {
    let (Some(disk), place) = (
        Disk::formatted(64 * MIB, &["-O", "^has_journal"]),
        Place::new(),
    ) else {
        return;
    };
    if !disk.can_be_mounted() {
        return;
    }
    assert_eq!(
        said(&mut disk.mounted(&place, "head -c 40M /dev/urandom > disk/file", &[])).code,
        0
    );
    // Mounted anew, nothing of it is in the page cache; and what is shorter than its file system is not mounted at all.
    let script = "touch mounted; while ! [ -e broken ]; do sleep 0.05; done; \
        \"$0\" \"$@\" read/mmap@c-O3 read/direct@c-O3 read/io_uring@c-O3 --set cache=hot > hot; \
        \"$0\" \"$@\" --set cache=cold > cold";
    let file = format!("file={}", place.file("disk/file").display());
    let words = [
        "run",
        "read/read@c-O3",
        "--set",
        &file,
        "--launches",
        "1",
        "--budget",
        "20s",
        "--json",
    ];
    let mut run = disk.mounted(&place, script, &words).spawn().unwrap();
    wait_until("the disk is mounted", || place.file("mounted").exists());
    disk.ends_at(24 * MIB);
    File::create(place.file("broken")).unwrap();
    assert!([Some(0), Some(4)].contains(&run.wait().unwrap().code()));
    for cache in ["hot", "cold"] {
        let summary: Value =
            serde_json::from_reader(File::open(place.file(cache)).unwrap()).unwrap();
        for cell in summary["cells"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|cell| cell["role"] == "method")
        {
            let reason = crate::support::place::reason(cell);
            assert!(
                cell["status"] == "failed" && reason.contains("read"),
                "{cell:#}"
            );
            assert!(reason.ends_with("Input/output error"), "{reason}");
            assert!(
                cell["phases"].as_object().unwrap().is_empty(),
                "no figure: {cell:#}"
            );
        }
    }
}

#[test]
fn a_run_outlives_a_power_cut_after_its_end_and_before_it_is_read_or_refused() {
    if !thorough() {
        return;
    }
    let (Some(disk), place) = (Disk::formatted(64 * MIB, &["-J", "size=4"]), Place::new()) else {
        return;
    };
    if !disk.can_be_mounted() {
        return;
    }
    let out = place.file("disk/run");
    let out = out.to_str().unwrap();
    let words = [
        "run",
        "share/posix-shm@c-O3+c-O3",
        "share/null@c-O3",
        "--set",
        "bytes=1MiB",
        "--set",
        "load=0",
    ];
    let more = ["--launches", "8", "--budget", "8s", "--json", "--out", out];
    // The journal is written every second; the end is cut before it is unmounted, which would write everything.
    let script = format!(
        "mount -o remount,commit=1 disk; {IT}; ended=$?; cat \"$DISK\" > \"$PLACE/cut\"; (exit $ended)"
    );
    let mut run = in_the_midst(&disk, &place, &script, &[&words[..], &more].concat());
    let mut cuts = Vec::new();
    while run.try_wait().unwrap().is_none() {
        cuts.extend((cuts.len() < 4).then(|| disk.copied()));
        std::thread::sleep(std::time::Duration::from_millis(400));
    }
    // On a busy machine perhaps nothing can be trusted: 4.
    let code = run.wait().unwrap().code().unwrap();
    assert!(
        [0, 4].contains(&code),
        "{code}: {}",
        std::fs::read_to_string(place.file("stderr")).unwrap()
    );
    let at_the_end = Disk(
        File::options()
            .read(true)
            .write(true)
            .open(place.file("cut"))
            .unwrap(),
    );
    let read = said(&mut at_the_end.mounted(&place, "\"$0\" report disk/run --json", &[]));
    assert_eq!(
        (read.code, read.out),
        (code, std::fs::read_to_string(place.file("stdout")).unwrap()),
        "{}",
        read.err
    );
    for (number, cut) in cuts.iter().enumerate() {
        let read = said(&mut cut.mounted(&place, "\"$0\" report disk/run --json", &[]));
        let went_on = said(&mut cut.mounted(
            &place,
            "\"$0\" run --resume disk/run --budget 3s --json",
            &[],
        ));
        for (what, result) in [("report", read), ("resumed", went_on)] {
            match result.code {
                0 | 4 => drop(serde_json::from_str::<Value>(&result.out).unwrap()),
                // A line of the list may reach the disk before the frame that it seals: damage that is named.
                3 => assert!(
                    result.err.contains("is damaged") && !result.out.is_empty(),
                    "{what}: {}",
                    result.err
                ),
                _ => is_one_sentence(&format!("cut {number}, {what}"), &result),
            }
        }
    }
}
