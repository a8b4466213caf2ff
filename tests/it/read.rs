//! The `read` experiment's worker: capture files, the packet walk over hostile ones, files that cannot be measured. No test
//! looks at a time.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::reading::{
    Reader, captures, digest_of, drive, hold_against_reference, mutations, shrunk, text,
    unmeasurable, walked, worker,
};

const WALKERS: [&str; 11] = [
    "read",
    "pread",
    "fread",
    "fread-published",
    "mmap",
    "mmap-published",
    "mmap-populate",
    "io_uring",
    "direct",
    "direct-single",
    "limit",
];

fn make_capture(worker: &Path, path: &Path, bytes: u64, seed: u64) -> Output {
    let helper = worker.with_file_name("pagewise-helper");
    Command::new(helper)
        .arg("make-capture")
        .arg(path)
        .args([bytes.to_string(), seed.to_string()])
        .output()
        .unwrap()
}

fn hold(worker: &Path, path: &Path, file: &[u8], name: &str) {
    fs::write(path, file).unwrap();
    for consume in ["records", "payload"] {
        let told = drive(
            worker,
            &WALKERS,
            path,
            file.len() as u64,
            &[("consume", consume)],
        );
        let told: Vec<_> = WALKERS.iter().copied().zip(&told).collect();
        hold_against_reference(file, name, consume, &told);
    }
}

#[test]
fn every_form_of_capture_is_counted_right_and_every_broken_one_named() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    for (name, file) in captures() {
        hold(&worker, &place.path().join("capture"), &file, name);
    }
}

#[test]
fn mutated_captures_are_never_counted_wrong() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 20_000, 3).status.success());
    for (round, file) in mutations(&fs::read(&path).unwrap(), 60).iter().enumerate() {
        hold(&worker, &path, file, &format!("mutation {round}"));
    }
}

/// Whether a consumer uses the byte of a whole capture that lies there.
fn is_used(file: &[u8], offset: usize, consume: &str) -> bool {
    let mut at = 24;
    while consume == "records" && at + 16 <= offset {
        at += 16 + u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
    }
    consume == "sum" || (offset >= 24 && (consume == "payload" || offset >= at))
}

#[test]
fn one_changed_byte_changes_the_digest_where_it_is_used_and_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 9_000, 3).status.success());
    let whole = fs::read(&path).unwrap();
    // The first records, what the end of a chunk cuts, and the end; the first 24 bytes are looked at before the clock too.
    let offsets: Vec<usize> = (24..160)
        .chain(4096 - 20..4096 + 20)
        .chain(8_980..9_000)
        .collect();
    let files: Vec<_> = offsets
        .iter()
        .map(|offset| (place.path().join(format!("flip-{offset}")), *offset))
        .collect();
    for (path, offset) in &files {
        let mut changed = whole.clone();
        changed[*offset] ^= 0x10;
        fs::write(path, changed).unwrap();
    }
    for consume in ["sum", "payload", "records"] {
        let original = digest_of(&whole, consume).unwrap();
        for method in ["read", "fread-published", "mmap"] {
            let cells: Vec<_> = files
                .iter()
                .map(|(path, _)| (method, path.as_path(), 9_000))
                .collect();
            let told = Reader::native(&worker).drive(&cells, &[("consume", consume)]);
            for (told, (path, offset)) in told.iter().zip(&files) {
                let expected = digest_of(&fs::read(path).unwrap(), consume);
                let found = told
                    .facts
                    .get("digest")
                    .map(|d| u64::from_str_radix(d, 16).unwrap());
                assert_eq!(
                    found, expected,
                    "{method}, {consume}, offset {offset}: {:?}",
                    told.ending
                );
                assert_eq!(
                    expected != Some(original),
                    is_used(&whole, *offset, consume),
                    "{consume}, offset {offset}"
                );
            }
        }
    }
}

#[test]
fn what_was_noted_when_a_capture_was_made_catches_a_wrong_byte() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 9_000, 3).status.success());
    let mut file = fs::read(&path).unwrap();
    let methods = ["read", "mmap", "fread-published", "limit"];
    let wrong = |consume| {
        let told = drive(&worker, &methods, &path, 9_000, &[("consume", consume)]);
        told.iter()
            .map(|t| {
                (
                    t.facts["content_known"].clone(),
                    t.facts["content_wrong"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    let all = |known: &str, wrong: &str| vec![(known.to_owned(), wrong.to_owned()); methods.len()];
    for consume in ["sum", "payload", "records"] {
        assert_eq!(wrong(consume), all("1", "0"), "{consume}");
    }
    file[24 + 16 + 50] ^= 1; // the first packet's payload
    fs::write(&path, &file).unwrap();
    assert_eq!(
        (wrong("sum"), wrong("payload"), wrong("records")),
        (all("1", "1"), all("1", "1"), all("1", "0"))
    );
}

#[test]
fn one_read_in_flight_costs_one_call() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 400_000, 3).status.success());
    let methods = [
        "io_uring",
        "io_uring-registered",
        "io_uring-defer",
        "io_uring-direct",
        "io_uring-direct-registered",
    ];
    for (method, told) in methods.iter().zip(drive(
        &worker,
        &methods,
        &path,
        400_000,
        &[("queue_depth", "1"), ("consume", "sum")],
    )) {
        if told.ending.as_ref().is_some_and(|e| e.starts_with("skip")) {
            continue;
        }
        let number = |fact: &str| told.facts[fact].parse::<u64>().unwrap();
        assert_eq!(
            number("enters"),
            number("completions") + number("interrupted"),
            "{method}"
        );
        assert_eq!(number("completed_bytes"), 400_000, "{method}");
        assert_eq!(
            told.facts["digest"],
            format!(
                "{:016x}",
                digest_of(&fs::read(&path).unwrap(), "sum").unwrap()
            )
        );
    }
}

#[test]
fn all_methods_share_one_summing_loop_that_begins_a_line() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let Ok(output) = Command::new("nm").arg(&worker).output() else {
        return;
    };
    let symbols: Vec<String> = text(&output.stdout)
        .lines()
        .filter(|l| l.contains("sum_words"))
        .map(str::to_owned)
        .collect();
    assert_eq!(symbols.len(), 1, "{symbols:?}");
    let address = u64::from_str_radix(symbols[0].split(' ').next().unwrap(), 16).unwrap();
    assert_eq!(address % 64, 0, "{symbols:?}");
}

#[test]
fn what_was_advised_is_read_from_the_mapping() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 100_000, 3).status.success());
    let methods = ["mmap", "mmap-published", "mmap-sequential", "mmap-random"];
    let told = drive(
        &worker,
        &methods,
        &path,
        100_000,
        &[("consume", "sum"), ("order", "random")],
    );
    let facts = ["shared_mapping", "sequential_advice", "random_advice"];
    let found: Vec<String> = told
        .iter()
        .map(|t| facts.map(|f| t.facts[f].as_str()).concat())
        .collect();
    assert_eq!(found, ["000", "100", "010", "001"]);
}

#[test]
fn what_is_no_capture_says_so() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("file");
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
    for (file, words) in cases {
        fs::write(&path, file).unwrap();
        for told in drive(
            &worker,
            &["read", "fread", "mmap"],
            &path,
            file.len() as u64,
            &[],
        ) {
            let ending = told.ending.unwrap_or_default();
            assert!(
                ending.starts_with("fail") && ending.contains(words),
                "{ending}"
            );
            assert_eq!(
                told.samples, 0,
                "nothing is timed of a file that cannot be walked"
            );
        }
        // Whatever it is, it has words to be added up.
        let sums = drive(
            &worker,
            &["read", "fread", "mmap", "io_uring"],
            &path,
            file.len() as u64,
            &[("consume", "sum")],
        );
        let digests: BTreeSet<_> = sums.iter().map(|t| t.facts["digest"].clone()).collect();
        assert_eq!(digests.len(), 1);
    }
}

#[test]
fn files_that_cannot_be_measured_are_named_and_none_hangs_the_worker() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    for (path, words) in unmeasurable(place.path()) {
        for told in drive(
            &worker,
            &["read", "mmap", "io_uring"],
            &path,
            10,
            &[("consume", "sum")],
        ) {
            let ending = told.ending.unwrap_or_default();
            assert!(
                ending.starts_with("fail") && ending.contains(words),
                "{}: {ending}",
                path.display()
            );
        }
    }
}

#[test]
fn a_file_that_shrinks_ends_the_pass_and_says_where() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    for method in ["mmap", "read", "fread", "io_uring"] {
        let said = shrunk(&Reader::native(&worker), method, place.path());
        let last = said
            .lines()
            .find(|l| l.starts_with("crash") || l.starts_with("fail"))
            .unwrap_or_default();
        match method {
            "mmap" => assert_eq!(last, "crash\t0\t0\tread\tSIGBUS", "{said}"),
            "io_uring" if said.contains("skip\t") => {}
            _ => assert!(last.contains("it has become shorter"), "{said}"),
        }
    }
}

/// Frames of a capture as the format's own document has them, with every checksum proved.
fn frames_proved(file: &[u8]) -> u64 {
    let sum = |start: u32, data: &[u8]| {
        let words = data
            .chunks(2)
            .map(|w| u32::from(u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)])));
        let mut sum = start + words.sum::<u32>();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum
    };
    let (mut at, mut frames, mut last) = (24, 0, (0, 0));
    while at < file.len() {
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (time, length) = ((number(at), number(at + 4)), number(at + 8) as usize);
        assert!(time > last && time.1 < 1_000_000 && number(at + 12) as usize == length);
        last = time;
        let frame = &file[at + 16..at + 16 + length];
        assert!((60..=1514).contains(&length) && frame[12..14] == [8, 0] && frame[14] == 0x45);
        let ip = &frame[14..];
        assert_eq!(u16::from_be_bytes([ip[2], ip[3]]) as usize, ip.len());
        assert_eq!(
            sum(0, &ip[..20]),
            0xffff,
            "the IPv4 checksum of frame {frames}"
        );
        let udp = &ip[20..];
        assert_eq!(u16::from_be_bytes([udp[4], udp[5]]) as usize, udp.len());
        assert_eq!(
            sum(17 + udp.len() as u32 + sum(0, &ip[12..20]), udp),
            0xffff,
            "the UDP checksum of frame {frames}"
        );
        at += 16 + length;
        frames += 1;
    }
    assert_eq!(at, file.len());
    frames
}

#[test]
fn a_made_capture_is_a_capture() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("made.pcap");
    for bytes in [
        100, 101, 175, 176, 177, 1529, 1530, 1531, 1605, 1606, 1607, 65_536, 3_000_001,
    ] {
        let output = make_capture(&worker, &path, bytes, bytes);
        let said = text(&output.stdout);
        let file = fs::read(&path).unwrap();
        assert_eq!(file.len() as u64, bytes, "{said} {}", text(&output.stderr));
        let frames = frames_proved(&file);
        assert!(
            said.starts_with(&format!("made {bytes} bytes {frames} records digest ")),
            "{said}"
        );
        assert_eq!(walked(&file), Some((frames, bytes - 24 - 16 * frames, 0)));
    }
    // Other tools are the judges of what is a real capture, where they are installed.
    if let Ok(output) = Command::new("tcpdump").arg("-nvr").arg(&path).output() {
        let lines = text(&output.stdout).matches("proto UDP (17)").count() as u64;
        assert_eq!(
            lines,
            frames_proved(&fs::read(&path).unwrap()),
            "{}",
            text(&output.stderr)
        );
        assert!(
            !text(&output.stdout).contains("bad udp cksum"),
            "tcpdump finds a bad checksum"
        );
    }
}

#[test]
fn a_capture_is_kept_while_it_is_whole_and_made_again_when_it_is_not() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("kept.pcap");
    let said = |seed| text(&make_capture(&worker, &path, 50_000, seed).stdout);
    let first = said(1);
    assert!(first.starts_with("made"));
    let original = fs::read(&path).unwrap();
    assert_eq!(
        said(1),
        first.replace("made", "kept"),
        "the same digest, and nothing is written"
    );
    let mut changed = original.clone();
    changed[40_000] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert_eq!(said(1), first, "one changed bit has it made again");
    assert_eq!(
        fs::read(&path).unwrap(),
        original,
        "and it is the same again"
    );
    fs::write(&path, &original[..49_999]).unwrap();
    assert_eq!(said(1), first);
    fs::remove_file(path.with_extension("pcap.digest")).unwrap();
    assert_eq!(said(1), first, "without a note nothing is believed");
    assert_ne!(said(2), first, "another seed gives other packets");
    let left: BTreeSet<String> = fs::read_dir(place.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        left,
        [
            "kept.pcap",
            "kept.pcap.digest",
            "pagewise-helper",
            "worker-c-O3"
        ]
        .map(str::to_owned)
        .into(),
        "no part is left"
    );
}

#[test]
fn a_capture_that_does_not_fit_is_refused_with_both_figures() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let output = make_capture(&worker, &place.path().join("huge.pcap"), 1 << 60, 1);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("no room: 1152921504606846976 bytes are needed and ")
            && said.contains("are free"),
        "{said}"
    );
    assert_eq!(
        make_capture(&worker, &place.path().join("no/such/folder"), 1000, 1)
            .status
            .code(),
        Some(3)
    );
    assert_eq!(
        make_capture(&worker, &place.path().join("tiny"), 99, 1)
            .status
            .code(),
        Some(3)
    );
    assert_eq!(
        fs::read_dir(place.path()).unwrap().count(),
        2,
        "only the worker and its helper are there"
    );
}
