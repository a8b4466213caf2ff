//! The Python worker against the native one: the same protocol, the same refusals, the same content, also as the other side
//! of a pair. Nothing here asserts a time. Where there is no CPython there is nothing to test, and the tests say so.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use pagewise::worker::{self, carried};
use record::transcript::{SideEnding, Transcript};

use crate::support::place::Place;
use crate::support::skips::skip;

struct Workers {
    place: tempfile::TempDir,
    /// `python-3.11`.
    name: String,
    program: PathBuf,
    native: PathBuf,
}

/// Both workers; none where there is no CPython.
fn workers() -> Option<&'static Workers> {
    static WORKERS: OnceLock<Option<Workers>> = OnceLock::new();
    let workers = WORKERS.get_or_init(|| {
        let all = worker::all(&[], &[]).unwrap();
        let python = all
            .iter()
            .find(|w| w.language() == Some(worker::Language::Python))
            .unwrap();
        let program = python.start().ok()?.command[0].clone().into();
        let place = tempfile::tempdir().unwrap();
        let native = crate::support::native::worker("c-O0", place.path());
        Some(Workers {
            place,
            name: python.name.clone(),
            program,
            native,
        })
    });
    if workers.is_none() {
        skip("there is no CPython here");
    }
    workers.as_ref()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/python/worker.py")
}

impl Workers {
    /// The Python worker from the sources in this repository, with the helper and without files of compiled code.
    fn python(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("-B").arg(source()).env(
            "PAGEWISE_HELPER",
            crate::support::native::helper(self.place.path()),
        );
        command
    }

    fn c(&self) -> Command {
        Command::new(&self.native)
    }
}

fn begin(mut command: Command, request: &str) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A worker that refuses the beginning may end before it has read the rest.
    let _ = child.stdin.take().unwrap().write_all(request.as_bytes());
    child
}

fn run(command: Command, request: &str) -> Output {
    begin(command, request).wait_with_output().unwrap()
}

fn heard(output: &Output, request: &str) -> Transcript {
    assert!(
        output.status.success(),
        "{request}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let transcript = Transcript::read(output.stdout.as_slice()).unwrap();
    assert!(transcript.done);
    assert!(
        output.stderr.is_empty(),
        "{request}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    transcript
}

fn request(experiment: &str, method: &str, keys: &str, rounds: &str) -> String {
    format!("protocol=1\nexperiment={experiment}\nseed=41\ncell=0\nmethod={method}\n{keys}{rounds}")
}

fn words<'a>(transcript: &'a Transcript, name: &str) -> Vec<&'a str> {
    let facts = transcript.facts.values().flatten();
    facts
        .filter(|(fact, _)| fact == name)
        .map(|(_, value)| value.as_str())
        .collect()
}

#[test]
fn it_lists_what_the_laboratory_reads_unstarted() {
    let Some(workers) = workers() else { return };
    let list = workers.python().arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert!(
        list.starts_with(&format!("pagewise\t1\t{}\n", workers.name)),
        "{list}"
    );
    let methods: String = list
        .lines()
        .filter(|l| l.starts_with("method\t"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(
        methods,
        carried::source("workers/python/methods.tsv").unwrap()
    );
}

#[test]
fn it_refuses_what_the_native_worker_refuses_with_the_same_sentence() {
    let Some(workers) = workers() else { return };
    for request in &crate::support::refusals::wrong() {
        let (ours, theirs) = (run(workers.python(), request), run(workers.c(), request));
        assert_eq!(
            (ours.status.code(), theirs.status.code()),
            (Some(2), Some(2)),
            "{request}"
        );
        assert_eq!(
            String::from_utf8_lossy(&ours.stderr),
            String::from_utf8_lossy(&theirs.stderr),
            "{request}"
        );
        assert!(ours.stdout.is_empty());
    }
}

#[test]
fn it_leaves_the_same_content_as_the_native_worker() {
    let Some(workers) = workers() else { return };
    for (bytes, release) in [(4096, "dontneed"), (5 << 20, "dontneed"), (4 << 20, "free")] {
        let keys = format!(
            "bytes={bytes}\nrelease={release}\nbacking=recycled\nidle_ms=1\nframes=cached\nthreads=1\n"
        );
        let theirs = request(
            "fault",
            "touch",
            &format!("{keys}processes=1\nrunning=1\n"),
            "round=0 0\n",
        );
        let theirs = heard(&run(workers.c(), &theirs), &theirs);
        for method in ["touch", "touch-slice"] {
            let asked = request("fault", method, &keys, "warmup=1 0\nround=0 0\n");
            let ours = heard(&run(workers.python(), &asked), &asked);
            assert_eq!((&ours.worker, ours.samples.len()), (&workers.name, 14));
            assert_eq!(
                words(&ours, "digest")[1..],
                words(&theirs, "digest")[..],
                "{method} {bytes} {release}"
            );
        }
    }
}

#[test]
fn it_reads_the_same_words_as_the_native_worker() {
    let Some(workers) = workers() else { return };
    let place = tempfile::tempdir().unwrap();
    for bytes in [1_usize, 7, 8, 4096, 70_001] {
        let path = place.path().join(format!("file-{bytes}"));
        let content: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 255) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let mut padded = content;
        padded.resize(bytes.div_ceil(8) * 8, 0);
        let sum = padded.chunks(8).fold(0_u64, |sum, word| {
            sum.wrapping_add(u64::from_le_bytes(word.try_into().unwrap()))
        });
        for order in ["sequential", "random"] {
            for (method, chunk) in [
                ("buffered", "chunk=4096\n"),
                ("readinto", "chunk=4096\n"),
                ("mmap-slices", ""),
                ("mmap-view", ""),
            ] {
                let file = path.display();
                let keys = format!(
                    "file={file}\nbytes={bytes}\nplace=disk\nconsume=sum\norder={order}\ncache=hot\n{chunk}"
                );
                let asked = request("read", method, &keys, "round=0 0\n");
                let told = heard(&run(workers.python(), &asked), &asked);
                assert_eq!(
                    words(&told, "digest"),
                    [format!("{sum:016x}")],
                    "{method} {bytes} {order}: {:?}",
                    told.endings
                );
            }
        }
    }
}

#[test]
fn a_file_that_is_shorter_than_it_was_is_named() {
    let Some(workers) = workers() else { return };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    std::fs::write(&path, [7; 10_000]).unwrap();
    let keys = format!(
        "file={}\nbytes=20000\nplace=disk\nconsume=sum\norder=sequential\ncache=hot\nchunk=4096\n",
        path.display()
    );
    let asked = request("read", "readinto", &keys, "round=0 0\n");
    let told = heard(&run(workers.python(), &asked), &asked);
    let [SideEnding::Fail { cell: 0, .. }] = told.endings.as_slice() else {
        panic!("{:?}", told.endings)
    };
    assert!(words(&told, "digest").is_empty());
}

/// Both sides of one launch; each told as it is asked.
fn pair(
    workers: &Workers,
    kinds: [&str; 2],
    experiment: &str,
    method: &str,
    keys: &str,
) -> [Transcript; 2] {
    let place = tempfile::tempdir().unwrap();
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let launch = format!("pagewise-test-{}-{number}", std::process::id());
    let asked = ["a", "b"].map(|role| {
        let meet = place.path().join("meet");
        let head = format!(
            "protocol=1\nexperiment={experiment}\nseed=41\nrole={role}\nrendezvous={}\nname={launch}\n",
            meet.display()
        );
        format!("{head}cell=0\nmethod={method}\n{keys}warmup=1 0\nround=0 0\n")
    });
    let command = |kind: &str| {
        if kind == "c" {
            workers.c()
        } else {
            workers.python()
        }
    };
    let sides = [0, 1].map(|side| begin(command(kinds[side]), &asked[side]));
    let told = sides.map(|side| side.wait_with_output().unwrap());
    let left: Vec<_> = std::fs::read_dir("/dev/shm")
        .unwrap()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        !left.iter().any(|name| name.contains(&launch)),
        "{method}: {left:?}"
    );
    [0, 1].map(|side| heard(&told[side], &asked[side]))
}

#[test]
fn both_sides_of_a_message_hold_the_same_in_python_and_in_c() {
    let Some(workers) = workers() else { return };
    let keys = "bytes=1000\nops=20\nwait=block\nidle=no\npin=none\n";
    let spin = keys.replace("block", "spin");
    for (method, kinds, keys) in [
        ("unix-stream", ["python", "python"], keys),
        ("unix-stream", ["c", "python"], keys),
        ("unix-stream", ["python", "c"], keys),
        ("spin-ring", ["c", "python"], &spin),
        ("spin-ring", ["python", "c"], &spin),
        ("connection", ["python", "python"], keys),
        ("connection-bytes", ["python", "python"], keys),
        ("condition", ["python", "python"], keys),
    ] {
        let _turn = crate::support::turns::spinning_pair();
        let [a, b] = pair(workers, kinds, "message", method, keys);
        let digests = words(&a, "digest");
        if a.endings.is_empty() {
            assert_eq!(digests.len(), 2, "{method} {kinds:?}: {:?}", a.endings);
            assert_eq!(digests, words(&b, "digest"), "{method} {kinds:?}");
            assert_eq!(
                (words(&a, "wrong_messages"), words(&b, "b.wrong_messages")),
                (vec!["0", "0"], vec!["0", "0"])
            );
        }
    }
}

#[test]
fn a_block_arrives_whole_by_every_way() {
    let Some(workers) = workers() else { return };
    for method in carried::source("workers/python/methods.tsv")
        .unwrap()
        .lines()
    {
        let fields: Vec<&str> = method.split('\t').collect();
        if fields[1] != "transfer" || fields[2] == "null" {
            continue;
        }
        let taken = fields
            .iter()
            .find_map(|field| field.strip_prefix("keys="))
            .unwrap();
        let values = BTreeMap::from([
            ("bytes", "300000"),
            ("pin", "none"),
            ("pages", "base"),
            ("chunk", "65536"),
            ("ring_chunks", "2"),
        ]);
        let keys: String = taken
            .split(' ')
            .map(|key| key.split(':').next().unwrap())
            .map(|key| format!("{key}={}\n", values[key]))
            .collect();
        let kinds = if fields[2] == "unix-stream" {
            vec![["python", "python"], ["c", "python"], ["python", "c"]]
        } else {
            vec![["python", "python"]]
        };
        for kinds in kinds {
            let [a, b] = pair(workers, kinds, "transfer", fields[2], &keys);
            if !a.endings.is_empty() {
                assert!(
                    format!("{:?}", a.endings).contains("numpy"),
                    "{}: {:?}",
                    fields[2],
                    a.endings
                );
                continue;
            }
            let whole = vec!["300000"; 2];
            assert_eq!(
                (words(&a, "source_wrong_at"), words(&b, "wrong_at")),
                (whole.clone(), whole),
                "{} {kinds:?}",
                fields[2]
            );
        }
    }
}

#[test]
fn what_the_machine_refuses_fails_its_cell_only() {
    let Some(workers) = workers() else { return };
    let keys = "bytes=1152921504606846976\nrelease=dontneed\nbacking=cold\nidle_ms=1\nframes=cached\nthreads=1\n";
    let two = format!(
        "{}cell=1\nmethod=null\nbytes=4096\nround=0 0,1\n",
        request("fault", "touch", keys, "")
    );
    let transcript = heard(&run(workers.python(), &two), &two);
    let [SideEnding::Fail { cell: 0, call, .. }] = transcript.endings.as_slice() else {
        panic!("{:?}", transcript.endings)
    };
    assert_eq!(call, "mmap");
    assert_eq!(transcript.samples.len(), 7);
}

#[test]
fn a_python_without_numpy_skips_what_needs_it() {
    let Some(workers) = workers() else { return };
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("numpy.py"), "raise ImportError\n").unwrap();
    let keys = "bytes=65536\nops=100\nclear_bytes=65536\nindex=xorshift\nload=0\n";
    let asked = request("share", "memmap", keys, "round=0 0\n");
    let mut command = workers.python();
    command.env("PYTHONPATH", place.path());
    let transcript = heard(&run(command, &asked), &asked);
    let [SideEnding::Skip { cell: 0, reason }] = transcript.endings.as_slice() else {
        panic!("{:?}", transcript.endings)
    };
    assert!(
        reason.contains("python3-numpy") && reason.contains("--python"),
        "{reason}"
    );
}

#[test]
fn a_signal_that_ends_it_is_named_with_the_cell() {
    let Some(workers) = workers() else { return };
    crate::support::ended::a_signal_is_named_with_the_cell(workers.python(), "touch");
}

#[test]
fn a_machine_without_python_says_so_and_works() {
    let place = Place::new();
    let said = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        let output = command
            .env("PATH", place.path())
            .env_remove("VIRTUAL_ENV")
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (code, text) = said(&["check", "fault/touch-slice@python"]);
    assert!(
        code == Some(0) && text.contains("skipped  fault/touch-slice@python: no python3"),
        "{code:?} {text}"
    );
    let (_, text) = said(&["doctor"]);
    assert!(text.contains("no python3 in PATH"), "{text}");
}

#[test]
fn its_methods_conform() {
    let Some(workers) = workers() else { return };
    let cells: Vec<String> = [
        "fault/touch",
        "fault/touch-slice",
        "fault/bytearray",
        "fault/null",
        "message/connection-bytes",
        "transfer/pickle5",
    ]
    .map(|method| format!("{method}@{}", workers.name))
    .into();
    let place = Place::new();
    let output = place.command(&["check"]).args(&cells).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains(&format!("ok       {}", cells[0])), "{text}");
}
