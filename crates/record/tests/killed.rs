//! A run that is killed at any moment of its writing loses its last launch at most, can be read, and can be gone on with.

use std::fs;
use std::path::{Path, PathBuf};

use pagewise_record::folder::RunFolder;
use pagewise_record::launches::LaunchRecord;
use stats::rng::Seeded;

/// Moments that are drawn; the ends of all writes come besides.
const MOMENTS: u64 = 200;

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/runs/ordinary")
}

fn open(path: &Path) -> anyhow::Result<RunFolder> {
    RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere"))
}

/// One write: a piece that is put behind what a file holds, or a whole file that takes its name when it is complete.
struct Write {
    file: &'static str,
    bytes: Vec<u8>,
    whole: bool,
}

/// A file's lines with their ends.
fn lines(name: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(recorded().join(name)).unwrap();
    text.split_inclusive('\n')
        .map(|line| line.as_bytes().to_vec())
        .collect()
}

/// What a run wrote, in its order: each launch knows how many decisions there were when it began.
fn writes(records: &[LaunchRecord]) -> Vec<Write> {
    let whole = |file| Write {
        file,
        bytes: fs::read(recorded().join(file)).unwrap(),
        whole: true,
    };
    let mut all: Vec<Write> = ["environment.json", "plan.json", "preflight.json"]
        .map(whole)
        .into();
    let append = |file, bytes| Write {
        file,
        bytes,
        whole: false,
    };
    let transcripts = fs::read(recorded().join("transcripts.zst")).unwrap();
    let mut decisions = lines("decisions.jsonl").into_iter();
    let mut decided = 0;
    for (record, line) in records.iter().zip(lines("launches.jsonl")) {
        while decided < record.decisions {
            all.push(append("decisions.jsonl", decisions.next().unwrap()));
            decided += 1;
        }
        let from = record.frame.offset as usize;
        all.push(append(
            "transcripts.zst",
            transcripts[from..from + record.frame.length as usize].to_vec(),
        ));
        all.push(append("launches.jsonl", line));
    }
    all.extend(decisions.map(|line| append("decisions.jsonl", line)));
    all
}

/// The folder as it is after so many bytes of all writes.
fn after(writes: &[Write], bytes: usize) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    // A run begins with an empty plan, which shows that the folder can be written.
    fs::write(place.path().join("plan.json"), "").unwrap();
    let mut left = bytes;
    for write in writes {
        let taken = left.min(write.bytes.len());
        let mut content = match write.whole {
            true => Vec::new(),
            false => fs::read(place.path().join(write.file)).unwrap_or_default(),
        };
        content.extend(&write.bytes[..taken]);
        let complete = taken == write.bytes.len();
        let name = if write.whole && !complete {
            format!(".{}.part", write.file)
        } else {
            write.file.to_owned()
        };
        if taken > 0 {
            fs::write(place.path().join(name), content).unwrap();
        }
        left -= taken;
        if !complete {
            break;
        }
    }
    place
}

#[test]
fn a_kill_at_any_moment_costs_the_last_launch_at_most() {
    let source = open(&recorded()).unwrap();
    let records = source.launches().unwrap().records;
    let writes = writes(&records);
    let total: usize = writes.iter().map(|w| w.bytes.len()).sum();
    let mut random = Seeded::new(20);
    let mut ends = 0;
    let mut moments: Vec<usize> = (0..MOMENTS).map(|_| random.below(total)).collect();
    moments.extend(writes.iter().map(|w| {
        ends += w.bytes.len();
        ends
    }));
    let begun: usize = writes.iter().take(4).map(|w| w.bytes.len()).sum();
    for moment in moments {
        let place = after(&writes, moment);
        let folder = open(place.path()).unwrap();
        if moment < begun {
            // Before there is a plan there is nothing to lose; that it is not there is said.
            assert!(
                folder
                    .plan()
                    .map_or_else(|error| error.to_string().contains("plan.json"), |_| true)
            );
            continue;
        }
        let launches = folder.launches().unwrap();
        assert_eq!(launches.damage, Vec::<String>::new(), "at byte {moment}");
        assert!(folder.state().is_ok(), "at byte {moment}");
        // How many had come to their end: the frame and the line of each are whole.
        let (mut end, mut kept) = (0, 0);
        for write in &writes {
            end += write.bytes.len();
            kept += usize::from(write.file == "launches.jsonl" && end <= moment);
        }
        assert_eq!(launches.records.len(), kept, "at byte {moment}");
        launches
            .records
            .iter()
            .for_each(|record| assert!(folder.transcripts(record).is_ok(), "at byte {moment}"));
        assert!(folder.unlisted(&launches).len() <= 1, "at byte {moment}");
        goes_on(&source, &records, &folder, kept, moment);
    }
}

/// The next launch is kept as if nothing had happened.
fn goes_on(
    source: &RunFolder,
    records: &[LaunchRecord],
    folder: &RunFolder,
    kept: usize,
    moment: usize,
) {
    let Some(next) = records.get(kept) else {
        return;
    };
    let parts = source.reader().parts(next).unwrap();
    for decision in source.decisions().unwrap().iter().take(1) {
        folder.append_decision(decision).unwrap();
    }
    folder.keep_launch(&mut next.clone(), &parts).unwrap();
    let all = folder.launches().unwrap();
    assert_eq!(
        (all.records.len(), all.damage.len()),
        (kept + 1, 0),
        "at byte {moment}"
    );
    assert_eq!(
        folder.reader().parts(&all.records[kept]).unwrap(),
        parts,
        "at byte {moment}"
    );
    assert!(
        folder.decisions().is_ok() && folder.unlisted(&all).is_empty(),
        "at byte {moment}"
    );
}
