//! What the tests of the `read` experiment's workers share: requests, an independent walk, captures broken in every way.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The native worker, unpacked where the test wants it, with the helper beside it.
pub fn worker(place: &Path) -> PathBuf {
    super::native::worker("c-O3", place)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the worker said of one cell.
#[derive(Debug, Default)]
pub struct Told {
    pub facts: BTreeMap<String, String>,
    pub ending: Option<String>,
    pub samples: usize,
}

/// One reader: the native worker itself, or another language's, which needs the helper for the page cache.
pub struct Reader<'a> {
    pub program: &'a Path,
    pub helper: Option<&'a Path>,
}

impl<'a> Reader<'a> {
    pub fn native(program: &'a Path) -> Reader<'a> {
        Reader {
            program,
            helper: None,
        }
    }

    fn parameters(&self, method: &str) -> BTreeMap<&'static str, &'static str> {
        let mut parameters = BTreeMap::from([
            ("place", "disk"),
            ("consume", "records"),
            ("order", "sequential"),
            ("cache", "hot"),
            ("memory", "unbounded"),
        ]);
        if self.helper.is_some() {
            parameters.remove("memory");
        }
        // Small chunks, so that records are cut by them.
        if ![
            "mmap",
            "mapped",
            "memory",
            "uncached",
            "fread-published",
            "limit",
        ]
        .iter()
        .any(|other| method.starts_with(other))
        {
            parameters.insert("chunk", "4096");
        }
        if method == "uncached" {
            parameters.insert("large_chunk", "4096");
        }
        if method == "direct" {
            parameters.insert("readers", "3");
        }
        if method.starts_with("io_uring") {
            parameters.insert("queue_depth", "3");
        }
        parameters
    }

    pub fn request(
        &self,
        cells: &[(&str, &Path, u64)],
        changes: &[(&'static str, &'static str)],
    ) -> String {
        let mut request = "protocol=1\nexperiment=read\nlaunch=0\nseed=7\n".to_owned();
        for (i, (method, file, bytes)) in cells.iter().enumerate() {
            request += &format!(
                "cell={i}\nmethod={method}\nfile={}\nbytes={bytes}\n",
                file.display()
            );
            let mut parameters = self.parameters(method);
            parameters.extend(changes.iter().copied());
            for (key, value) in parameters {
                request += &format!("{key}={value}\n");
            }
        }
        let all: Vec<String> = (0..cells.len()).map(|i| i.to_string()).collect();
        request + &format!("round=0 {}\n", all.join(","))
    }

    pub fn start(&self, request: &str) -> Child {
        let mut command = Command::new(self.program);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(helper) = self.helper {
            command.env("PAGEWISE_HELPER", helper);
        }
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(request.as_bytes())
            .unwrap();
        child
    }

    /// Drives the worker by one request with all these cells.
    pub fn drive(
        &self,
        cells: &[(&str, &Path, u64)],
        changes: &[(&'static str, &'static str)],
    ) -> Vec<Told> {
        let output = self
            .start(&self.request(cells, changes))
            .wait_with_output()
            .unwrap();
        let mut told: Vec<Told> = cells.iter().map(|_| Told::default()).collect();
        for line in text(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields[0] {
                "sample" => told[fields[3].parse::<usize>().unwrap()].samples += 1,
                "fact" => {
                    told[fields[2].parse::<usize>().unwrap()]
                        .facts
                        .insert(fields[3].into(), fields[4].into());
                }
                "skip" => told[fields[1].parse::<usize>().unwrap()].ending = Some(line.into()),
                "fail" | "crash" => {
                    told[fields[2].parse::<usize>().unwrap()].ending = Some(line.into())
                }
                _ => {}
            }
        }
        assert!(
            output.status.success(),
            "{}: {}",
            output.status,
            text(&output.stderr)
        );
        told
    }
}

/// Drives the native worker with one cell for each method.
pub fn drive(
    worker: &Path,
    methods: &[&str],
    file: &Path,
    bytes: u64,
    changes: &[(&'static str, &'static str)],
) -> Vec<Told> {
    let cells: Vec<_> = methods
        .iter()
        .map(|method| (*method, file, bytes))
        .collect();
    Reader::native(worker).drive(&cells, changes)
}

/// A walk that is written for clearness only: records, captured bytes in them, bytes of an incomplete one; `None` where a
/// length is one that no record has.
pub fn walked(file: &[u8]) -> Option<(u64, u64, u64)> {
    let swapped = file[0] == 0xa1;
    let number = |at: usize| {
        let four = file[at..at + 4].try_into().unwrap();
        if swapped {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
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

/// The 8-byte words of some bytes, the last one padded with zeros, added up one byte after another.
fn words_added(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().fold(0_u64, |sum, (i, b)| {
        sum.wrapping_add(u64::from(*b) << (8 * (i % 8)))
    })
}

/// What a consumer's digest has to be, written from what workers/PROTOCOL.md says of it; `None` where the capture is damaged.
pub fn digest_of(file: &[u8], consume: &str) -> Option<u64> {
    if consume == "sum" {
        return Some(words_added(file));
    }
    let (records, captured, _) = walked(file)?;
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let (mut at, mut fold) = (24, 0_u64);
    for record in 0..records {
        let four = file[at + 8..at + 12].try_into().unwrap();
        let length = if file[0] == 0xa1 {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        } as usize;
        let payload = if consume == "payload" {
            words_added(&file[at + 16..at + 16 + length])
        } else {
            0
        };
        let mut mixed = word(at).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) ^ word(at + 8);
        mixed = mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9).rotate_left(29) ^ payload;
        mixed = mixed.wrapping_mul(0x94D0_49BB_1331_11EB);
        fold = fold.wrapping_add((mixed ^ mixed >> 32).wrapping_mul(2 * record + 1));
        at += 16 + length;
    }
    Some(fold ^ records.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ captured)
}

fn header(magic: [u8; 4], big: bool) -> Vec<u8> {
    let mut file = magic.to_vec();
    for word in [2_u16, 4] {
        file.extend(if big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    }
    for word in [0_u32, 0, 65_535, 1] {
        file.extend(if big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    }
    file
}

fn record(file: &mut Vec<u8>, length: u32, there: usize, big: bool) {
    for word in [1, 2, length, length] {
        file.extend(if big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    }
    file.extend((0..there).map(|i| i as u8));
}

/// Captures in every form the format has, and broken in every way it can be.
pub fn captures() -> Vec<(&'static str, Vec<u8>)> {
    let little = || header([0xd4, 0xc3, 0xb2, 0xa1], false);
    let with = |mut file: Vec<u8>, records: &[(u32, usize)], big: bool| {
        for (length, there) in records {
            record(&mut file, *length, *there, big);
        }
        file
    };
    let usual = [
        (60, 60),
        (0, 0),
        (1514, 1514),
        (1, 1),
        (4096, 4096),
        (200_000, 200_000),
        (77, 77),
    ];
    let mut half_header = with(little(), &[(60, 60)], false);
    half_header.extend([1, 0, 0, 0, 9]);
    vec![
        ("microseconds", with(little(), &usual, false)),
        (
            "nanoseconds",
            with(header([0x4d, 0x3c, 0xb2, 0xa1], false), &usual, false),
        ),
        (
            "the other byte order",
            with(header([0xa1, 0xb2, 0xc3, 0xd4], true), &usual, true),
        ),
        (
            "the other byte order, nanoseconds",
            with(header([0xa1, 0xb2, 0x3c, 0x4d], true), &usual, true),
        ),
        ("nothing but a header", little()),
        ("records of no bytes", with(little(), &[(0, 0); 700], false)),
        (
            "a last record that is cut",
            with(little(), &[(60, 60), (1000, 400)], false),
        ),
        ("a last header that is cut", half_header),
        (
            "a length beyond the end",
            with(little(), &[(60, 60), (262_144, 10), (60, 60)], false),
        ),
        (
            "a length of 2^32 - 1",
            with(little(), &[(60, 60), (u32::MAX, 10), (60, 60)], false),
        ),
        (
            "a length just too long",
            with(little(), &[(60, 60), (262_145, 10)], false),
        ),
        (
            "a length in the wrong byte order",
            with(little(), &[(60, 60), (60 << 24, 60)], false),
        ),
    ]
}

/// Captures that were whole until bytes in them were changed, cut off or put in between.
pub fn mutations(whole: &[u8], count: usize) -> Vec<Vec<u8>> {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        ((random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize) % below
    };
    let mut mutated = |mut file: Vec<u8>| {
        for _ in 0..=next(4) {
            match next(3) {
                // The first 24 bytes say whether this is a capture at all; other cases are about those.
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
        file
    };
    (0..count).map(|_| mutated(whole.to_vec())).collect()
}

/// Holds what methods told of one capture against the reference. Without O_DIRECT or io_uring a method may have skipped it.
pub fn hold_against_reference(file: &[u8], name: &str, consume: &str, told: &[(&str, &Told)]) {
    let digest = digest_of(file, consume).map(|d| format!("{d:016x}"));
    for (method, told) in told {
        if told
            .ending
            .as_ref()
            .is_some_and(|e| e.starts_with("skip") && e.contains("refuse"))
        {
            continue;
        }
        match walked(file) {
            None => {
                let ending = told.ending.as_deref().unwrap_or_default();
                assert!(
                    ending.starts_with("fail") && ending.contains("it is damaged"),
                    "{name}, {method}: {ending}"
                );
            }
            Some(counts) => {
                assert_eq!(told.ending, None, "{name}, {method}");
                let fact = |key: &str| told.facts.get(key).map(|word| word.parse::<u64>().unwrap());
                let (records, bytes, cut) = counts;
                let found = (fact("records"), fact("record_bytes"), fact("cut_bytes"));
                assert_eq!(
                    found,
                    (Some(records), Some(bytes), Some(cut)),
                    "{name}, {method}"
                );
                assert_eq!(
                    fact("delivered_bytes"),
                    Some(file.len() as u64),
                    "{name}, {method}"
                );
                assert_eq!(
                    told.facts.get("digest"),
                    digest.as_ref(),
                    "{name}, {method}, {consume}"
                );
            }
        }
    }
}

/// Paths that no method may measure, with the words of the reason.
pub fn unmeasurable(place: &Path) -> Vec<(PathBuf, &'static str)> {
    let at = |name: &str| place.join(name);
    fs::write(at("empty"), "").unwrap();
    fs::write(at("short"), "abc").unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(at("fifo"))
            .status()
            .unwrap()
            .success()
    );
    vec![
        (at("nowhere"), "No such file"),
        (at("empty"), "is empty"),
        (at("short"), "has 3 bytes and the cell asks for 10"),
        (at("fifo"), "is a FIFO"),
        (place.to_owned(), "is a directory"),
        (PathBuf::from("/dev/null"), "is a device"),
    ]
}

/// The transcript of a pass through a file that became shorter while it was open or mapped. The file is sparse and so long
/// that there is time to cut it; a pass that ended before the cut is tried again.
pub fn shrunk(reader: &Reader, method: &str, place: &Path) -> String {
    const BYTES: u64 = 512 << 20;
    let path = place.join("shrinks");
    let mapped = ["mmap", "mapped", "memory"]
        .iter()
        .any(|mapping| method.starts_with(mapping));
    let mut said = String::new();
    for _ in 0..10 {
        fs::write(&path, "").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(BYTES).unwrap();
        let changes = [("consume", "sum"), ("cache", "cold")];
        let mut child = reader.start(&reader.request(&[(method, &path, BYTES)], &changes));
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        // The native worker asks the cache by one descriptor, the other is the pass's own.
        let least = if reader.helper.is_some() { 1 } else { 2 };
        while child.try_wait().unwrap().is_none() {
            let open = if mapped {
                fs::read_to_string(process.join("maps")).is_ok_and(|m| m.contains("shrinks"))
            } else {
                fs::read_dir(process.join("fd")).is_ok_and(|entries| {
                    let links = entries
                        .flatten()
                        .filter_map(|e| fs::read_link(e.path()).ok());
                    links.filter(|l| *l == path).count() >= least
                })
            };
            if open {
                file.set_len(4096).unwrap();
                break;
            }
        }
        said = text(&child.wait_with_output().unwrap().stdout);
        if !said.contains("done\t") || said.contains("fail\t") {
            break;
        }
    }
    said
}

/// The laboratory in a home of its own, so that no test touches the user's runs or captures.
pub fn laboratory(home: &Path, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("pagewise"));
    command
        .env("XDG_CACHE_HOME", super::cache::below(&home.join("cache")))
        .env("XDG_DATA_HOME", home.join("data"));
    command.env("PAGEWISE_LOCK", home);
    command.args(arguments).output().unwrap()
}

/// The summary of a run of one launch.
pub fn run_json(home: &Path, arguments: &[&str]) -> serde_json::Value {
    run_json_within(home, "15s", arguments)
}

/// The same within a budget.
pub fn run_json_within(home: &Path, budget: &str, arguments: &[&str]) -> serde_json::Value {
    let usual = ["run", "--json", "--launches", "1", "--budget", budget];
    let output = laboratory(home, &[&usual[..], arguments].concat());
    // 4 where nothing could be measured: each test says itself which outcome it wants.
    assert!(
        [Some(0), Some(4)].contains(&output.status.code()),
        "{}",
        text(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
