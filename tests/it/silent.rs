//! Random changes of kept work, through every verb that reads it: each is named or changes no answer; nothing hangs, dies or
//! fills the memory. `PAGEWISE_MUTATIONS=5000` makes the long version, `PAGEWISE_MUTATED_STORES=200` that of whole stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use stats::rng::Seeded;

use crate::damaged::{Most, command, copy, kept, measured, timed, verbs};
use crate::support::place::{Place, Said, entries};
use crate::support::skips::thorough;

/// Random changes in the short version.
const CHANGES: u64 = 60;
/// Random changes of whole stores in the short version; each question to a store takes a second or two.
const STORES: u64 = 6;
/// Most memory of a verb on a kept thing of some KiB.
const MOST_KIB: u64 = 64 << 10;

fn count(variable: &str, usual: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(usual)
}

/// Files below a folder, by their paths from there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push(path);
        }
    }
    all
}

/// Changes one file of a folder in one way.
fn change(folder: &Path, other: &Path, random: &mut Seeded) -> String {
    let files = files(folder);
    let path = &files[random.below(files.len())];
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut bytes = fs::read(path).unwrap();
    let at = random.below(bytes.len().max(1));
    let how = match random.below(6) {
        0 if !bytes.is_empty() => {
            bytes[at] ^= 1 << random.below(8);
            format!("a bit of byte {at} is flipped")
        }
        1 => {
            bytes.truncate(at);
            format!("it ends after {at} bytes")
        }
        2 => {
            let text = random.below(100_000).to_string();
            bytes.splice(at..at, text.bytes());
            format!("{text} is put in at {at}")
        }
        3 => {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let line = random.below(lines.len().max(1));
            let kept = lines
                .iter()
                .enumerate()
                .filter(|(number, _)| *number != line);
            bytes = kept.flat_map(|(_, line)| line.to_vec()).collect();
            format!("line {line} is taken out")
        }
        4 => {
            fs::remove_file(path).unwrap();
            return format!("{name} is taken away");
        }
        _ => {
            let theirs = other.join(&name);
            if theirs.is_file() {
                fs::copy(theirs, path).unwrap();
            }
            return format!("{name} is that of another folder");
        }
    };
    fs::write(path, bytes).unwrap();
    format!("{name}: {how}")
}

/// An answer without the size of its folder.
fn figures(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|line| !line.starts_with("bytes"))
        .collect()
}

/// Kinds of kept things.
const KINDS: [&str; 11] = [
    "run",
    "try",
    "profile",
    "claims",
    "advise",
    "functions",
    "states",
    "tail",
    "published",
    "nodes",
    "shared",
];
/// One of these words is in the answer of a verb that names damage.
const NAMES: [&str; 10] = [
    "damaged",
    "\"damage\":",
    "as it was written",
    "interrupted",
    "has schema",
    "another version",
    "no run",
    "only begun",
    // A plan of another kind makes another kind of folder of it, which is refused by its name.
    "is not a run of claims",
    // A file of advice that is taken away or is none.
    "advice",
];

#[test]
fn no_change_goes_through_a_verb_without_a_word() {
    let count = count("PAGEWISE_MUTATIONS", CHANGES);
    let (place, kept) = (Place::new(), kept());
    let (changed, sound) = (place.file("changed"), place.file("sound"));
    let anew = |kind: &str| {
        for folder in [&changed, &sound] {
            let _ = fs::remove_dir_all(folder);
            copy(&kept.join(kind), folder);
        }
    };
    let mut whole: BTreeMap<(&str, &str), Said> = BTreeMap::new();
    let (mut wrong, mut most) = (Vec::new(), Most::default());
    let (mut named, mut same) = (0, 0);
    // `PAGEWISE_MUTATED=1512,1952` takes these seeds alone.
    let seeds = std::env::var("PAGEWISE_MUTATED").unwrap_or_default();
    let seeds: Vec<u64> = seeds.split(',').filter_map(|n| n.parse().ok()).collect();
    for seed in (0..count).filter(|seed| seeds.is_empty() || seeds.contains(seed)) {
        let random = &mut Seeded::new(seed);
        let kind = KINDS[seed as usize % KINDS.len()];
        let line = verbs(kind)[random.below(verbs(kind).len())];
        let before = whole.entry((kind, line)).or_insert_with(|| {
            anew(kind);
            timed(&mut command(&place, line, &changed, &sound)).unwrap()
        });
        anew(kind);
        let other = kept.join(KINDS[random.below(KINDS.len())]);
        let how = change(&changed, &other, random);
        // Without its file a run has no tags, as one whose user took them away.
        if how == "tags.json is taken away" {
            same += 1;
            continue;
        }
        let trouble = match measured(&mut command(&place, line, &changed, &sound), &mut most) {
            Err(trouble) => Some(trouble),
            Ok(after)
                if figures(&after.out) == figures(&before.out) && after.code == before.code =>
            {
                same += 1;
                None
            }
            Ok(after) => {
                named += 1;
                let told = format!("{}{}", after.out, after.err);
                let is_named = NAMES.iter().any(|word| told.contains(word))
                    && (kind != "shared" || !after.err.is_empty());
                let is_gate = line.contains("--gate");
                let passes = is_gate && after.code == 0 && before.code != 0;
                (!is_named || passes).then(|| {
                    format!(
                        "nothing is said; exit {} after {}: {}",
                        after.code, before.code, after.err
                    )
                })
            }
        };
        wrong.extend(
            trouble.map(|trouble| format!("seed {seed}, {line}, {kind}: {how}: {trouble}")),
        );
    }
    let (mib, longest) = (most.kib >> 10, most.time);
    println!(
        "{count} changes: {named} named, {same} without effect, {} wrong; at most {mib} MiB, {longest:?}",
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        !seeds.is_empty() || named > count / 10 && same > 0,
        "{named} named, {same} without effect"
    );
    assert!(most.kib <= MOST_KIB, "{mib} MiB");
}

/// Questions that kept runs answer, with the fields that rest on them.
const QUESTIONS: [(&str, &[&str]); 2] = [
    (
        "advise fault --bytes 1MiB --budget 1s --json",
        &["case", "points", "segments", "flips"],
    ),
    ("claims --file CLAIM --budget 1s --json", &["answers"]),
];

/// A place whose kept runs answer the questions.
fn asked(claim: &str) -> Place {
    let place = Place::new();
    for (question, _) in QUESTIONS {
        let line = question
            .replace("CLAIM", claim)
            .replace("budget 1s", "budget 8s");
        let said = place.run(&line.split(' ').collect::<Vec<_>>());
        assert!([0, 4].contains(&said.code), "{line}: {}", said.err);
    }
    place
}

fn answer(place: &Place, question: &str, most: &mut Most) -> Result<Value, String> {
    let words: Vec<&str> = question.split(' ').collect();
    let said = measured(&mut place.command(&words), most)?;
    let answer = serde_json::from_str(&said.out)
        .map_err(|error| format!("{error}: exit {}: {}", said.code, said.err));
    // A question is answered, whatever became of kept runs.
    if [0, 4].contains(&said.code) {
        answer
    } else {
        Err(format!("exit {}: {}", said.code, said.err))
    }
}

#[test]
fn advice_and_claims_rest_on_no_run_that_was_changed() {
    if !thorough() {
        return;
    }
    let claims = Place::new();
    let claim = claims.file("claim.toml");
    fs::write(&claim, crate::claims::OWN).unwrap();
    let (store, claim) = (asked(claim.to_str().unwrap()), claim.to_str().unwrap());
    let fresh = || {
        let place = Place::new();
        copy(&store.file("data/pagewise"), &place.file("data"));
        // The newest of the kept runs never ends.
        let pipes = place.file("data/pagewise/runs/20991231T000000Z-00000000");
        fs::create_dir(&pipes).unwrap();
        let names = [
            "plan.json",
            "environment.json",
            "summary.json",
            "answers.json",
        ]
        .map(|name| pipes.join(name));
        assert!(
            Command::new("mkfifo")
                .args(names)
                .status()
                .unwrap()
                .success()
        );
        place
    };
    let (mut wrong, mut refused, mut same) = (Vec::new(), 0, 0);
    let mut most = Most::default();
    for (question, fields) in QUESTIONS {
        let question = question.replace("CLAIM", claim);
        let before = answer(&fresh(), &question, &mut most).unwrap();
        let reused: Vec<&str> = before["reused"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(
            !reused.is_empty(),
            "kept runs answer {question}: {before:#}"
        );
        for seed in 0..count("PAGEWISE_MUTATED_STORES", STORES) {
            let (random, place) = (&mut Seeded::new(seed), fresh());
            let runs = place.file("data/pagewise/runs");
            let run = reused[random.below(reused.len())];
            let how = change(&runs.join(run), &kept().join("run"), random);
            let trouble = match answer(&place, &question, &mut most) {
                Err(trouble) => Some(trouble),
                Ok(after)
                    if !after["reused"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|name| name == run) =>
                {
                    refused += 1;
                    None
                }
                Ok(after) => {
                    same += 1;
                    let other = fields
                        .iter()
                        .find(|field| after[**field] != before[**field]);
                    other.map(|field| {
                        format!(
                            "{field} rests on it: {:#} {:#}",
                            before[*field], after[*field]
                        )
                    })
                }
            };
            wrong.extend(
                trouble.map(|trouble| format!("seed {seed}, {question}: {run}: {how}: {trouble}")),
            );
        }
    }
    println!(
        "stores: {refused} measured anew, {same} as before, {} wrong; at most {} MiB, {:?}",
        wrong.len(),
        most.kib >> 10,
        most.time
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
