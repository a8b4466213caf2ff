//! Records changed in ways drawn from seeds: each change ends in a clear error, or is named and what it touches is left
//! out, or changes nothing. `PAGEWISE_MUTATIONS=2500` makes as many changes of each run.

mod recorded;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pagewise_judge as judge;
use record::folder::RunFolder;
use record::summary::{CellSummary, Summary, WarningKind};
use recorded::{open, path};
use stats::rng::Seeded;

/// Changes of each of the two runs in the short version.
const CHANGES: u64 = 150;

/// A copy of a run that can be changed and put back.
struct Copy {
    place: tempfile::TempDir,
    files: Vec<(String, Vec<u8>)>,
    /// Where each launch's frame begins and ends.
    frames: Vec<(usize, usize)>,
    summary: Summary,
}

impl Copy {
    fn of(name: &str) -> Copy {
        let place = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for entry in fs::read_dir(path(name)).unwrap().flatten() {
            let bytes = fs::read(entry.path()).unwrap();
            fs::write(place.path().join(entry.file_name()), &bytes).unwrap();
            files.push((entry.file_name().into_string().unwrap(), bytes));
        }
        files.sort();
        let folder = open(place.path()).unwrap();
        let mut frames = Vec::new();
        for record in folder.launches().unwrap().records {
            let start = record.frame.offset as usize;
            frames.push((start, start + record.frame.length as usize));
        }
        let summary = judge::replay(&folder).unwrap().1;
        Copy {
            place,
            files,
            frames,
            summary,
        }
    }

    /// The pieces of a file: frames of the transcripts, lines of the rest.
    fn pieces(&self, name: &str, bytes: &[u8]) -> Vec<(usize, usize)> {
        if name == "transcripts.zst" {
            return self.frames.clone();
        }
        let mut found = Vec::new();
        let mut start = 0;
        for (end, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            found.push((start, end + 1));
            start = end + 1;
        }
        found
    }

    /// Changes one file in one way; says which and how, for the reader of a failure. `None` is a file that is taken away.
    fn change(&self, random: &mut Seeded) -> (String, String, Option<Vec<u8>>) {
        let (name, bytes) = &self.files[random.below(self.files.len())];
        let mut bytes = bytes.clone();
        let at = random.below(bytes.len());
        let pieces = self.pieces(name, &bytes);
        let (one, two) = (
            pieces[random.below(pieces.len())],
            pieces[random.below(pieces.len())],
        );
        let how = match random.below(11) {
            0 => {
                bytes[at] ^= 1 << random.below(8);
                format!("a bit of byte {at} is flipped")
            }
            1 => {
                bytes.truncate(at);
                format!("it ends after {at} bytes")
            }
            2 => {
                let length = 1 + random.below(64.min(bytes.len() - at));
                bytes.drain(at..at + length);
                format!("{length} bytes from {at} are cut out")
            }
            3 => {
                let piece = bytes[one.0..one.1].to_vec();
                bytes.splice(two.0..two.0, piece);
                format!("the piece {one:?} comes again at {}", two.0)
            }
            4 => {
                let (first, second) = (one.min(two), one.max(two));
                if first != second {
                    let (a, b) = (
                        bytes[first.0..first.1].to_vec(),
                        bytes[second.0..second.1].to_vec(),
                    );
                    bytes.splice(second.0..second.1, a);
                    bytes.splice(first.0..first.1, b);
                }
                format!("the pieces {first:?} and {second:?} change places")
            }
            5 => {
                bytes.drain(one.0..one.1);
                format!("the piece {one:?} is taken out")
            }
            6 => {
                bytes[at] = 0;
                format!("byte {at} is NUL")
            }
            7 => number(&mut bytes, at, "NaN"),
            8 => number(&mut bytes, at, "99999999999999999999999999"),
            9 => number(&mut bytes, at, &random.below(10_000).to_string()),
            _ if random.below(4) == 0 => {
                return (name.clone(), "it is taken away".to_owned(), None);
            }
            _ => {
                bytes.truncate(one.0);
                format!("it ends at the piece {one:?}")
            }
        };
        (name.clone(), how, Some(bytes))
    }

    fn put_back(&self, name: &str) {
        let (_, bytes) = self.files.iter().find(|(n, _)| n == name).unwrap();
        fs::write(self.place.path().join(name), bytes).unwrap();
    }
}

/// Puts something else in the place of the number that is next behind a byte.
fn number(bytes: &mut Vec<u8>, at: usize, other: &str) -> String {
    let start = bytes[at..]
        .iter()
        .position(u8::is_ascii_digit)
        .map_or(at, |next| at + next);
    let length = bytes[start..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    bytes.splice(start..start + length, other.bytes());
    format!("the number at {start} is {other}")
}

fn judged(folder: &Path) -> anyhow::Result<Summary> {
    let folder: RunFolder = open(folder)?;
    Ok(judge::replay(&folder)?.1)
}

/// The values of each launch that are told of a cell, and its outcome.
fn launches(cell: &CellSummary) -> Vec<(usize, String)> {
    cell.per_launch
        .iter()
        .map(|values| (values.launch, format!("{values:?}")))
        .collect()
}

/// What is told must be what was told before, but for what is named; an empty answer is right.
fn wrong(before: &Summary, after: &Summary, name: &str) -> Option<String> {
    let words: Vec<String> = after
        .warnings
        .iter()
        .filter_map(|warning| match &warning.kind {
            WarningKind::Damaged { seen } => Some(seen.clone()),
            WarningKind::LastLaunchLost { launch } => Some(format!("launch {launch}")),
            _ => None,
        })
        .collect();
    if words.is_empty() {
        // Without its last decisions a run looks as if it had been killed, and says so. No figure is another.
        let mut told = after.clone();
        told.notes.clone_from(&before.notes);
        let interrupted = after.notes.iter().any(|n| n.kind.code() == "interrupted");
        let cut = name == "decisions.jsonl" && interrupted;
        let same = *before == *after || cut && *before == told;
        return (!same).then(|| "something is told otherwise without a word".to_owned());
    }
    if let Some(vague) = words
        .iter()
        .find(|w| !w.contains("launch ") && !w.contains(name))
    {
        return Some(format!("{vague:?} names neither the launch nor the file"));
    }
    for (before, after) in before.cells.iter().zip(&after.cells) {
        let known = launches(before);
        if let Some((launch, _)) = launches(after).into_iter().find(|one| !known.contains(one)) {
            return Some(format!("{}: launch {launch} is told otherwise", after.cell));
        }
    }
    None
}

/// Holds so many changes of a run against what was told of it.
fn hold(run: &str) {
    let mut failures = Vec::new();
    let (mut errors, mut named, mut nothing) = (0, 0, 0);
    let copy = Copy::of(run);
    let changes = std::env::var("PAGEWISE_MUTATIONS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(CHANGES);
    for seed in 0..changes {
        let (name, how, bytes) = copy.change(&mut Seeded::new(seed));
        let file = copy.place.path().join(&name);
        match &bytes {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let result = catch_unwind(AssertUnwindSafe(|| judged(copy.place.path())));
        let trouble = match &result {
            Err(_) => Some("it panics".to_owned()),
            Ok(Err(error)) => {
                errors += 1;
                let words = format!("{error:#}");
                let clear =
                    words.contains("damaged") || words.contains("schema") || words.contains(&name);
                (!clear).then(|| format!("the error is not clear: {words}"))
            }
            Ok(Ok(summary)) => {
                if *summary == copy.summary {
                    nothing += 1
                } else {
                    named += 1
                }
                wrong(&copy.summary, summary, &name)
            }
        };
        failures
            .extend(trouble.map(|trouble| format!("{run}, seed {seed}, {name}: {how}: {trouble}")));
        copy.put_back(&name);
    }
    println!(
        "{run}: {changes} changes: {errors} errors, {named} named, {nothing} without effect, {} wrong",
        failures.len()
    );
    assert!(
        failures.is_empty(),
        "{} of {changes}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(
        errors > changes / 20 && named > changes / 20 && nothing > 0,
        "{errors} errors, {named} named, {nothing} without effect"
    );
}

#[test]
fn no_change_of_a_whole_run_changes_a_figure_without_a_word() {
    hold("ordinary");
}

#[test]
fn no_change_of_a_killed_run_changes_a_figure_without_a_word() {
    hold("interrupted");
}
