//! The `read` experiment's worker: capture files, the packet walk over hostile ones, files that cannot be measured. No test
//! looks at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pagewise::carried;

const WALKERS: [&str; 7] = ["read", "pread", "fread", "mmap", "mmap-populate", "io_uring", "direct"];

/// The native worker, unpacked where the test wants it.
fn worker(place: &Path) -> PathBuf {
    let path = place.join("worker");
    let (_, bytes) = carried::NATIVE_WORKERS.last().expect("a native worker is carried");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn make_capture(worker: &Path, path: &Path, bytes: u64, seed: u64) -> Output {
    Command::new(worker).arg("make-capture").arg(path).args([bytes.to_string(), seed.to_string()]).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the worker said of one cell.
#[derive(Debug, Default)]
struct Told {
    facts: BTreeMap<String, String>,
    ending: Option<String>,
    samples: usize,
}

/// Drives the worker by a request with one cell for each method; chunks are small, so that records are cut by them.
fn drive(worker: &Path, methods: &[&str], file: &Path, bytes: u64, changes: &[(&str, &str)]) -> Vec<Told> {
    let mut request = "protocol=1\nexperiment=read\nlaunch=0\nseed=7\n".to_owned();
    for (i, method) in methods.iter().enumerate() {
        request += &format!("cell={i}\nmethod={method}\nfile={}\nbytes={bytes}\n", file.display());
        let mut parameters = BTreeMap::from([
            ("place", "disk"),
            ("consume", "records"),
            ("order", "sequential"),
            ("cache", "hot"),
            ("memory", "unbounded"),
        ]);
        if !method.starts_with("mmap") {
            parameters.insert("chunk", "4096");
        }
        if method.starts_with("io_uring") {
            parameters.insert("queue_depth", "3");
        }
        parameters.extend(changes.iter().copied());
        for (key, value) in parameters {
            request += &format!("{key}={value}\n");
        }
    }
    let all: Vec<String> = (0..methods.len()).map(|i| i.to_string()).collect();
    request += &format!("round=0 {}\n", all.join(","));
    let output = answer(worker, &request);
    let mut told: Vec<Told> = methods.iter().map(|_| Told::default()).collect();
    for line in text(&output.stdout).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[0] {
            "sample" => told[fields[3].parse::<usize>().unwrap()].samples += 1,
            "fact" => {
                told[fields[2].parse::<usize>().unwrap()].facts.insert(fields[3].into(), fields[4].into());
            }
            "skip" => told[fields[1].parse::<usize>().unwrap()].ending = Some(line.into()),
            "fail" | "crash" => told[fields[2].parse::<usize>().unwrap()].ending = Some(line.into()),
            _ => {}
        }
    }
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    told
}

fn answer(worker: &Path, request: &str) -> Output {
    let mut child =
        Command::new(worker).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// A walk that is written for clearness only: records, captured bytes in them, bytes of an incomplete one; `None` where a
/// length is one that no record has.
fn walked(file: &[u8]) -> Option<(u64, u64, u64)> {
    let swapped = file[0] == 0xa1;
    let number = |at: usize| {
        let four = file[at..at + 4].try_into().unwrap();
        if swapped { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    let limit = number(16).clamp(262_144, 128 << 20);
    let (mut at, mut records, mut captured) = (24, 0, 0);
    while at + 16 <= file.len() {
        let length = number(at + 8);
        if length > limit {
            return None;
        }
        if at + 16 + length as usize > file.len() {
            break;
        }
        at += 16 + length as usize;
        records += 1;
        captured += u64::from(length);
    }
    Some((records, captured, (file.len() - at) as u64))
}

fn header(magic: [u8; 4], big: bool) -> Vec<u8> {
    let mut file = magic.to_vec();
    for word in [2_u16, 4] {
        file.extend(if big { word.to_be_bytes() } else { word.to_le_bytes() });
    }
    for word in [0_u32, 0, 65_535, 1] {
        file.extend(if big { word.to_be_bytes() } else { word.to_le_bytes() });
    }
    file
}

fn record(file: &mut Vec<u8>, length: u32, there: usize, big: bool) {
    for word in [1, 2, length, length] {
        file.extend(if big { word.to_be_bytes() } else { word.to_le_bytes() });
    }
    file.extend((0..there).map(|i| i as u8));
}

/// Captures in every form the format has, and broken in every way it can be.
fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let little = || header([0xd4, 0xc3, 0xb2, 0xa1], false);
    let with = |mut file: Vec<u8>, records: &[(u32, usize)], big: bool| {
        for (length, there) in records {
            record(&mut file, *length, *there, big);
        }
        file
    };
    let usual = [(60, 60), (0, 0), (1514, 1514), (1, 1), (4096, 4096), (200_000, 200_000), (77, 77)];
    let mut half_header = with(little(), &[(60, 60)], false);
    half_header.extend([1, 0, 0, 0, 9]);
    vec![
        ("microseconds", with(little(), &usual, false)),
        ("nanoseconds", with(header([0x4d, 0x3c, 0xb2, 0xa1], false), &usual, false)),
        ("the other byte order", with(header([0xa1, 0xb2, 0xc3, 0xd4], true), &usual, true)),
        ("the other byte order, nanoseconds", with(header([0xa1, 0xb2, 0x3c, 0x4d], true), &usual, true)),
        ("nothing but a header", little()),
        ("records of no bytes", with(little(), &[(0, 0); 700], false)),
        ("a last record that is cut", with(little(), &[(60, 60), (1000, 400)], false)),
        ("a last header that is cut", half_header),
        ("a length beyond the end", with(little(), &[(60, 60), (262_144, 10), (60, 60)], false)),
        ("a length of 2^32 - 1", with(little(), &[(60, 60), (u32::MAX, 10), (60, 60)], false)),
        ("a length just too long", with(little(), &[(60, 60), (262_145, 10)], false)),
        ("a length in the wrong byte order", with(little(), &[(60, 60), (60 << 24, 60)], false)),
    ]
}

fn hold_against_reference(worker: &Path, path: &Path, name: &str) {
    let file = fs::read(path).unwrap();
    let told = drive(worker, &WALKERS, path, file.len() as u64, &[]);
    let mut digests = BTreeSet::new();
    for (method, told) in WALKERS.iter().zip(told) {
        if told.ending.as_ref().is_some_and(|e| e.starts_with("skip") && e.contains("refuse")) {
            continue; // No O_DIRECT or no io_uring here.
        }
        match walked(&file) {
            None => {
                let ending = told.ending.unwrap_or_default();
                assert!(ending.starts_with("fail") && ending.contains("it is damaged"), "{name}, {method}: {ending}");
            }
            Some((records, captured, cut)) => {
                assert_eq!(told.ending, None, "{name}, {method}");
                let fact = |key: &str| told.facts[key].parse::<u64>().unwrap();
                assert_eq!(
                    (fact("records"), fact("record_bytes"), fact("cut_bytes")),
                    (records, captured, cut),
                    "{name}, {method}"
                );
                assert_eq!(fact("delivered_bytes"), file.len() as u64, "{name}, {method}");
                digests.insert(told.facts["digest"].clone());
            }
        }
    }
    assert!(digests.len() <= 1, "{name}: the methods do not agree: {digests:?}");
}

#[test]
fn every_form_of_capture_is_counted_right_and_every_broken_one_named() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    for (name, file) in captures() {
        let path = place.path().join("capture");
        fs::write(&path, &file).unwrap();
        hold_against_reference(&worker, &path, name);
    }
}

#[test]
fn mutated_captures_are_never_counted_wrong() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("capture");
    assert!(make_capture(&worker, &path, 20_000, 3).status.success());
    let whole = fs::read(&path).unwrap();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        ((random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % below
    };
    for round in 0..60 {
        let mut file = whole.clone();
        for _ in 0..=next(4) {
            match next(3) {
                // The first 24 bytes say whether this is a capture at all; the cases above are about those.
                0 => file[24 + next(19_000)] = [0, 1, 0x7f, 0x80, 0xff][next(5)],
                1 => file.truncate(24 + next(file.len() - 24)),
                _ => {
                    let at = 24 + next(file.len().saturating_sub(64).max(1));
                    let more: Vec<u8> = (0..next(40)).map(|i| i as u8).collect();
                    file.splice(at.min(file.len())..at.min(file.len()), more);
                }
            }
            file.resize(file.len().max(19_100), 0xee);
        }
        fs::write(&path, &file).unwrap();
        hold_against_reference(&worker, &path, &format!("mutation {round}"));
    }
}

#[test]
fn what_is_no_capture_says_so() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("file");
    let cases: [(&[u8], &str); 4] = [
        (&[0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "pcapng format"),
        (b"just some text that is long enough to be looked at", "not a pcap file"),
        (&[0xd4, 0xc3, 0xb2, 0xa1], "shorter than the 24 bytes"),
        (&[0], "shorter than the 24 bytes"),
    ];
    for (file, words) in cases {
        fs::write(&path, file).unwrap();
        for told in drive(&worker, &["read", "fread", "mmap"], &path, file.len() as u64, &[]) {
            let ending = told.ending.unwrap_or_default();
            assert!(ending.starts_with("fail") && ending.contains(words), "{ending}");
            assert_eq!(told.samples, 0, "nothing is timed of a file that cannot be walked");
        }
        // Whatever it is, it has words to be added up.
        let sums =
            drive(&worker, &["read", "fread", "mmap", "io_uring"], &path, file.len() as u64, &[("consume", "sum")]);
        let digests: BTreeSet<_> = sums.iter().map(|t| t.facts["digest"].clone()).collect();
        assert_eq!(digests.len(), 1);
    }
}

#[test]
fn files_that_cannot_be_measured_are_named_and_none_hangs_the_worker() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let at = |name: &str| place.path().join(name);
    fs::write(at("empty"), "").unwrap();
    fs::write(at("short"), "abc").unwrap();
    fs::write(at("closed"), "abc").unwrap();
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let mut cases = vec![
        (at("nowhere"), "No such file"),
        (at("empty"), "is empty"),
        (at("short"), "has 3 bytes and the cell asks for 10"),
        (at("fifo"), "is a FIFO"),
        (place.path().to_owned(), "is a directory"),
        (PathBuf::from("/dev/null"), "is a device"),
    ];
    if !rustix::process::geteuid().is_root() {
        cases.push((at("closed"), "Permission denied"));
    }
    for (path, words) in cases {
        for told in drive(&worker, &["read", "mmap", "io_uring"], &path, 10, &[("consume", "sum")]) {
            let ending = told.ending.unwrap_or_default();
            assert!(ending.starts_with("fail") && ending.contains(words), "{}: {ending}", path.display());
        }
    }
}

/// A sparse file is long enough for the test to cut it while the worker goes through it.
#[test]
fn a_file_that_shrinks_ends_the_pass_and_says_where() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let path = place.path().join("shrinks");
    for (method, extra) in [("mmap", ""), ("read", "chunk=4096\n")] {
        let mut said = String::new();
        for _ in 0..10 {
            fs::write(&path, "").unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_len(512 << 20).unwrap();
            let request = format!(
                "protocol=1\nexperiment=read\ncell=0\nmethod={method}\nfile={}\nbytes={}\nplace=disk\nconsume=sum\norder=sequential\n\
                 cache=cold\nmemory=unbounded\n{extra}round=0 0\n",
                path.display(),
                512 << 20
            );
            let mut child = Command::new(&worker).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
            let maps = format!("/proc/{}/{}", child.id(), if method == "mmap" { "maps" } else { "fd" });
            while child.try_wait().unwrap().is_none() {
                let open = match method {
                    "mmap" => fs::read_to_string(&maps).is_ok_and(|m| m.contains("shrinks")),
                    // One descriptor is the one by which the cache is asked, the other the pass's own.
                    _ => fs::read_dir(&maps).is_ok_and(|entries| {
                        let links = entries.flatten().filter_map(|e| fs::read_link(e.path()).ok());
                        links.filter(|l| *l == path).count() > 1
                    }),
                };
                if open {
                    fs::File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
                    break;
                }
            }
            said = text(&child.wait_with_output().unwrap().stdout);
            if !said.contains("done\t") || said.contains("fail\t") {
                break;
            }
        }
        let last =
            said.lines().find(|l| l.starts_with("crash") || l.starts_with("fail")).unwrap_or_default().to_owned();
        match method {
            "mmap" => assert_eq!(last, "crash\t0\t0\tread\tSIGBUS", "{said}"),
            _ => assert!(last.contains("it has become shorter"), "{said}"),
        }
    }
}

/// Frames of a capture as the format's own document has them, with every checksum proved.
fn frames_proved(file: &[u8]) -> u64 {
    let sum = |start: u32, data: &[u8]| {
        let words = data.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], *w.get(1).unwrap_or(&0)])));
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
        assert_eq!(sum(0, &ip[..20]), 0xffff, "the IPv4 checksum of frame {frames}");
        let udp = &ip[20..];
        assert_eq!(u16::from_be_bytes([udp[4], udp[5]]) as usize, udp.len());
        assert_eq!(sum(17 + udp.len() as u32 + sum(0, &ip[12..20]), udp), 0xffff, "the UDP checksum of frame {frames}");
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
    for bytes in [100, 101, 175, 176, 177, 1529, 1530, 1531, 1605, 1606, 1607, 65_536, 3_000_001] {
        let output = make_capture(&worker, &path, bytes, bytes);
        let said = text(&output.stdout);
        let file = fs::read(&path).unwrap();
        assert_eq!(file.len() as u64, bytes, "{said} {}", text(&output.stderr));
        let frames = frames_proved(&file);
        assert!(said.starts_with(&format!("made {bytes} bytes {frames} records digest ")), "{said}");
        assert_eq!(walked(&file), Some((frames, bytes - 24 - 16 * frames, 0)));
    }
    // Other tools are the judges of what is a real capture, where they are installed.
    if let Ok(output) = Command::new("tcpdump").arg("-nvr").arg(&path).output() {
        let lines = text(&output.stdout).matches("proto UDP (17)").count() as u64;
        assert_eq!(lines, frames_proved(&fs::read(&path).unwrap()), "{}", text(&output.stderr));
        assert!(!text(&output.stdout).contains("bad udp cksum"), "tcpdump finds a bad checksum");
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
    assert_eq!(said(1), first.replace("made", "kept"), "the same digest, and nothing is written");
    let mut changed = original.clone();
    changed[40_000] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert_eq!(said(1), first, "one changed bit has it made again");
    assert_eq!(fs::read(&path).unwrap(), original, "and it is the same again");
    fs::write(&path, &original[..49_999]).unwrap();
    assert_eq!(said(1), first);
    fs::remove_file(path.with_extension("pcap.digest")).unwrap();
    assert_eq!(said(1), first, "without a note nothing is believed");
    assert_ne!(said(2), first, "another seed gives other packets");
    let left: BTreeSet<String> =
        fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(left, ["kept.pcap", "kept.pcap.digest", "worker"].map(str::to_owned).into(), "no part is left");
}

#[test]
fn a_capture_that_does_not_fit_is_refused_with_both_figures() {
    let place = tempfile::tempdir().unwrap();
    let worker = worker(place.path());
    let output = make_capture(&worker, &place.path().join("huge.pcap"), 1 << 60, 1);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("no room: 1152921504606846976 bytes are needed and ") && said.contains("are free"), "{said}");
    assert_eq!(make_capture(&worker, &place.path().join("no/such/folder"), 1000, 1).status.code(), Some(3));
    assert_eq!(make_capture(&worker, &place.path().join("tiny"), 99, 1).status.code(), Some(3));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "only the worker is there");
}
