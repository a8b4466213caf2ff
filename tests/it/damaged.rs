//! Damaged and hostile kept folders, through every verb that reads them: damage is named; nothing hangs, panics or fills the
//! memory. Random changes are in silent.rs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use record::claim::Answers;
use record::folder::{ANSWERS, ASKED, RunFolder, SUMMARY, sha256_hex};
use record::kind::Kind;
use record::launches::Frame;
use serde_json::{Value, json};

use crate::support::place::{Place, Said, entries};
use crate::support::skips::thorough;
use crate::support::waiting::wait_until;
use crate::trust::interrupt;

/// Longest time of a verb on a kept folder, on a machine that is loaded by the other tests.
const LONGEST: Duration = Duration::from_secs(20);
/// Most memory of a verb, in KiB.
pub(crate) const MOST_KIB: u64 = 256 << 10;

pub(crate) fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/runs")
        .join(name)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    assert!(
        Command::new("cp")
            .arg("-r")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

/// A run of claims made of the recorded run.
fn claims(to: &Path) {
    let from = RunFolder::open(recorded("ordinary").to_str().unwrap(), to).unwrap();
    let folder = RunFolder::create(to).unwrap();
    let mut plan = from.plan().unwrap();
    plan.kind = Kind::Claims;
    folder.write_sealed("plan.json", &plan).unwrap();
    for name in ["environment.json", "preflight.json"] {
        folder
            .write_sealed(name, &from.read_sealed::<Value>(name).unwrap())
            .unwrap();
    }
    folder.write_sealed(ASKED, &json!({"asked": []})).unwrap();
    for decision in from.decisions().unwrap() {
        folder.append_decision(&decision).unwrap();
    }
    for mut record in from.launches().unwrap().records {
        let parts = from.reader().parts(&record).unwrap();
        folder.keep_launch(&mut record, &parts).unwrap();
    }
    let summary = judge::replay(&folder).unwrap().1;
    let answers: Answers =
        judge::questions::claims::report(&[], &[&summary], 0.05, Some(summary.run.clone()));
    folder.write_result(ANSWERS, &answers).unwrap();
    folder.write_result(SUMMARY, &summary).unwrap();
}

/// Gives a run the sealed summary that it ends with: verbs answer from it.
fn summarised(run: &Path) {
    let folder = RunFolder::open(run.to_str().unwrap(), run).unwrap();
    let summary = judge::replay(&folder).unwrap().1;
    folder.write_result(SUMMARY, &summary).unwrap();
}

/// Folders of [`kept`] that are copies of recorded ones, with their places below `tests/fixtures`.
const RECORDED: [(&str, &str); 4] = [
    ("states", "kept/states"),
    ("tail", "kept/tail"),
    ("published", "kept/published"),
    ("advise", "kept/advise/runs/20261128T170936Z-b8c7364f"),
];
/// Names of the two files of [`kept`] that users share.
pub(crate) const ADVICE: &str = "advice.json";

/// A kept thing of each kind, made once for all tests.
pub(crate) fn kept() -> &'static Path {
    static KEPT: OnceLock<PathBuf> = OnceLock::new();
    KEPT.get_or_init(|| {
        let place = Place::new();
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damaged");
        let _ = fs::remove_dir_all(&kept);
        fs::create_dir_all(&kept).unwrap();
        copy(&recorded("ordinary"), &kept.join("run"));
        summarised(&kept.join("run"));
        claims(&kept.join("claims"));
        let made = |arguments: &[&str]| {
            let said = place.run(arguments);
            assert!(said.code == 0 || said.code == 4, "{}{}", said.out, said.err);
        };
        let path = |name: &str| kept.join(name).to_str().unwrap().to_owned();
        made(&[
            "try",
            "--pairs",
            "6",
            "--out",
            &path("try"),
            "--",
            "true",
            "sh -c :",
        ]);
        made(&[
            "profile",
            "--blocks",
            "6",
            "--out",
            &path("profile"),
            "--",
            "true",
        ]);
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        for (name, from) in RECORDED {
            copy(&fixtures.join(from), &kept.join(name));
        }
        fs::create_dir(kept.join("nodes")).unwrap();
        for node in ["n1", "n2"] {
            copy(&fixtures.join("kept/nodes").join(node), &kept.join("nodes"));
        }
        // A baseline keeps its source and its program.
        let file = path("start.c");
        made(&["bench", "--new", &file]);
        let words = ["bench", &file, "--save-baseline", "first", "--budget", "4s"];
        made(&[&words[..], &["--out", &path("functions")]].concat());
        let advice = crate::advise::advice_here(crate::advise::here());
        fs::create_dir(kept.join("shared")).unwrap();
        fs::write(
            kept.join("shared").join(ADVICE),
            advice.canonical().unwrap(),
        )
        .unwrap();
        kept
    })
}

/// Peak memory of a process so far, in KiB.
fn memory_of(process: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = |line: &str| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .split(' ')
            .next()?
            .parse()
            .ok()
    };
    text.lines().find_map(peak).unwrap_or(0)
}

/// Most that commands have taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Most {
    pub kib: u64,
    pub time: Duration,
}

/// Ends a command that takes too long or too much memory.
pub(crate) fn timed(command: &mut Command) -> Result<Said, String> {
    measured(command, &mut Most::default())
}

/// The same, with what it took.
pub(crate) fn measured(command: &mut Command, most: &mut Most) -> Result<Said, String> {
    measured_within(command, most, LONGEST)
}

/// The same with another longest time.
pub(crate) fn measured_within(
    command: &mut Command,
    most: &mut Most,
    longest: Duration,
) -> Result<Said, String> {
    let begun = Instant::now();
    let mut out = tempfile::tempfile().unwrap();
    let mut err = tempfile::tempfile().unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(err.try_clone().unwrap())
        .spawn()
        .unwrap();
    let status = loop {
        let memory = memory_of(child.id());
        most.kib = most.kib.max(memory);
        most.time = most.time.max(begun.elapsed());
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > longest || memory > MOST_KIB => {
                child.kill().unwrap();
                child.wait().unwrap();
                return Err(format!(
                    "it hangs or grows: {:?}, {memory} KiB",
                    begun.elapsed()
                ));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |file: &mut fs::File| {
        use std::io::{Read, Seek};
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let said = Said {
        code: status.code().unwrap_or(-1),
        out: text(&mut out),
        err: text(&mut err),
    };
    if said.code < 0 || said.code == 101 || said.err.contains("panicked") {
        return Err(format!("it dies: {}", said.err));
    }
    Ok(said)
}

/// The same with its peak memory in KiB; none without GNU time.
pub(crate) fn peak_kib(place: &Place, arguments: &[&str]) -> Option<(Said, u64)> {
    let time = Path::new("/usr/bin/time");
    if !time.is_file() {
        crate::support::skips::skip("there is no /usr/bin/time");
        return None;
    }
    let measured = place.file("peak");
    let mut command = Command::new(time);
    place.settle(&mut command);
    command
        .args(["-f", "%M", "-o"])
        .arg(&measured)
        .arg(crate::support::place::program())
        .args(arguments);
    let said = timed(&mut command).unwrap();
    let text = fs::read_to_string(&measured).unwrap();
    Some((said, text.lines().last().unwrap().parse().unwrap()))
}

/// Command lines that read a kept folder; `{}` is the changed one, `{0}` the same before the change.
pub(crate) fn verbs(kind: &str) -> &'static [&'static str] {
    match kind {
        "run" => &[
            "report {} --full",
            "report {} --json",
            "report {} --format csv",
            "report {} --format junit",
            "compare {0} {} --json",
            "compare {} {0} --gate 50%",
            "runs show {}",
            "compare --outliers {}",
            "compare --outliers {} --json",
            "compare --by kernel {0} {}",
            "report {} --explain-verdict fault/populate",
        ],
        "claims" => &[
            "report {}",
            "report {} --json",
            "claims --compare {0} {} --json",
            "compare {0} {} --json",
            "runs show {}",
        ],
        "states" | "tail" | "published" | "advise" => &[
            "report {} --full",
            "report {} --json",
            "report {} --published all",
            "export {} --format csv",
            "export {} --format ndjson",
            "export {} --format openmetrics",
            "compare {0} {} --json",
            "compare {} {0} --gate 50%",
            "compare {} {0} --gate p99.9:50%",
            "runs show {}",
            "compare --outliers {}",
        ],
        "functions" => &[
            "report {} --full",
            "report {} --json",
            "export {} --format csv",
            "compare {} {0} --gate 50%",
            "compare {0} {} --json",
            "runs show {}",
            "show {}",
        ],
        "nodes" => &[
            "compare --outliers {}",
            "compare --outliers {} --json",
            "compare --outliers {} --markdown",
            "compare --outliers {} --by host",
            "compare {0}/n1 {}/n2 --json",
            "report {}/n1 {}/n2",
        ],
        "shared" => &[
            "advise --out {}/advice.json",
            "advise --merge {}/advice.json --out {0}/merged.json",
            "advise --merge {0}/advice.json {}/advice.json --out {0}/merged.json",
        ],
        "profile" => &[
            "report {}",
            "report {} --json",
            "report {} --format csv",
            "compare {0} {} --gate 50%",
        ],
        _ => &[
            "report {}",
            "report {} --json",
            "report {} --format csv",
            "report {} --format hyperfine",
            "compare {} {0} --gate 50%",
            "compare {0} {} --json",
            "runs show {}",
        ],
    }
}

pub(crate) fn command(place: &Place, line: &str, changed: &Path, sound: &Path) -> Command {
    let word = |word: &str| {
        word.replace("{}", changed.to_str().unwrap())
            .replace("{0}", sound.to_str().unwrap())
    };
    let words: Vec<String> = line.split(' ').map(word).collect();
    place.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Alters nine of ten lines of a run's launches.
fn alter_launches(run: &Path) {
    let path = run.join("launches.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| match number % 10 {
            0 => line.to_owned(),
            _ => line.replacen("\"wall_s\":", "\"wall_s\":1", 1),
        });
    fs::write(&path, lines.collect::<Vec<_>>().join("\n") + "\n").unwrap();
}

#[test]
fn a_gate_that_meets_damage_stays_undecided_and_names_it() {
    let place = Place::new();
    let side = |side: &str| -> Vec<String> {
        let made = (0..3).map(|number| {
            let path = place.file(&format!("{side}{number}"));
            copy(&recorded("ordinary"), &path);
            path.to_str().unwrap().to_owned()
        });
        made.collect()
    };
    let (a, b) = (side("a"), side("b"));
    let gate = || {
        let words: Vec<&str> = ["compare", "--gate", "50%"]
            .into_iter()
            .chain(a.iter().map(String::as_str))
            .chain(["--"])
            .chain(b.iter().map(String::as_str))
            .collect();
        place.run(&words)
    };
    let before = gate().code;
    b.iter().for_each(|run| alter_launches(Path::new(run)));
    let said = gate();
    assert!(
        said.code == 3 && said.out.contains("is damaged"),
        "{before} {} {}{}",
        said.code,
        said.out,
        said.err
    );
    // A record that cannot be read at all is damage as well.
    fs::remove_file(Path::new(&b[0]).join("environment.json")).unwrap();
    let said = gate();
    assert!(
        said.code == 3 && said.err.contains("damaged"),
        "{} {}{}",
        said.code,
        said.out,
        said.err
    );
    for format in ["csv", "ndjson", "junit"] {
        let said = place.run(&["report", &b[1], "--format", format]);
        assert!(
            said.code == 3 && said.err.contains("is damaged"),
            "{format}: {} {}",
            said.code,
            said.err
        );
    }
}

#[test]
fn a_changed_line_of_a_try_or_profile_is_named_by_every_verb() {
    let place = Place::new();
    for kind in ["try", "profile"] {
        let (changed, sound) = (
            place.file(&format!("{kind}-changed")),
            place.file(&format!("{kind}-sound")),
        );
        copy(&kept().join(kind), &changed);
        copy(&kept().join(kind), &sound);
        let path = changed.join("launches.jsonl");
        let text =
            fs::read_to_string(&path).unwrap_or_else(|_| panic!("{kind} has no sealed launches"));
        let at = text.rfind("\"wall_ns\":").unwrap() + 10;
        let other = if &text[at..=at] == "9" { "8" } else { "9" };
        fs::write(&path, format!("{}{other}{}", &text[..at], &text[at + 1..])).unwrap();
        for line in verbs(kind) {
            let said = timed(&mut command(&place, line, &changed, &sound)).unwrap();
            let told = format!("{}{}", said.out, said.err);
            assert!(
                told.contains("damaged") || told.contains("as it was written"),
                "{line}: {told}"
            );
            assert!(
                said.code == 3 || line.contains("--json"),
                "{line}: {}",
                said.code
            );
        }
    }
}

/// Also by those that answer from the summary, which is whole here.
#[test]
fn damaged_transcripts_are_named_by_every_verb() {
    let place = Place::new();
    let runs = place.file("data/pagewise/runs");
    fs::create_dir_all(&runs).unwrap();
    let [first, second] = ["one", "two"].map(|name| runs.join(name));
    for run in [&first, &second] {
        copy(&kept().join("run"), run);
    }
    let tag = |run: &Path| {
        let tagged = place.run(&["runs", "tag", run.to_str().unwrap(), "both"]);
        assert_eq!(tagged.code, 0, "{}", tagged.err);
    };
    tag(&first);
    tag(&second);
    let lines = [
        "runs show {}",
        "report {}",
        "report tag:both --trend",
        "compare --outliers {}",
        "compare {0} {}",
        "compare {} {0} --gate 50%",
        "report {} --format csv",
    ];
    for line in lines {
        let before = timed(&mut command(&place, line, &second, &first)).unwrap();
        assert!(
            !format!("{}{}", before.out, before.err).contains("damaged"),
            "{line}: {}{}",
            before.out,
            before.err
        );
    }
    let path = second.join("transcripts.zst");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    for damage in ["a bit", "the end", "all"] {
        match damage {
            "a bit" => bytes[middle] ^= 4,
            "the end" => bytes.truncate(middle),
            _ => bytes.clear(),
        }
        fs::write(&path, &bytes).unwrap();
        for line in lines {
            let result = timed(&mut command(&place, line, &second, &first)).unwrap();
            let text = format!("{}{}", result.out, result.err);
            assert!(text.contains("damaged"), "{line}, {damage}: {text}");
            // Without a gate, a comparison that names damage is an answer.
            let answers = line == "compare {0} {}";
            assert!(answers || result.code != 0, "{line}, {damage}");
        }
    }
}

/// Sets every ratio that a summary tells.
fn forge(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if ["ratio", "low", "high"]
                .iter()
                .all(|name| fields.get(*name).is_some_and(Value::is_number))
            {
                for (name, figure) in [("ratio", 7.777), ("low", 7.7), ("high", 7.8)] {
                    fields[name] = json!(figure);
                }
            }
            fields.values_mut().for_each(forge);
        }
        Value::Array(all) => all.iter_mut().for_each(forge),
        _ => {}
    }
}

/// Time and memory are those of one question, on a store that a question has filled.
#[test]
fn advice_believes_no_forged_summary_and_holds_few_of_many_runs() {
    if !thorough() {
        return;
    }
    let place = Place::new();
    let ask = [
        "advise", "fault", "--bytes", "1MiB", "--budget", "3s", "--json",
    ];
    let first = place.run(&ask);
    assert!([0, 4].contains(&first.code), "{}", first.err);
    let store = place.file("data/pagewise/runs");
    let runs = entries(&store);
    for run in &runs {
        let path = run.join("summary.json");
        let mut summary: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        forge(&mut summary);
        for group in summary["groups"].as_array_mut().unwrap() {
            let way = group["comparisons"]
                .get(0)
                .map(|c| (c["cell"].clone(), c["ratio"].clone()));
            if let Some((cell, ratio)) = way {
                group["recommendation"] = json!({"word": "use", "cell": cell, "ratio": ratio});
            }
        }
        fs::write(&path, serde_json::to_string_pretty(&summary).unwrap()).unwrap();
    }
    let ask = [
        "advise", "fault", "--bytes", "1MiB", "--budget", "1s", "--json",
    ];
    let again = place.run(&ask);
    assert!([0, 4].contains(&again.code), "{}", again.err);
    assert!(!again.out.contains("7.777"), "{}", again.out);
    let answer: Value = serde_json::from_str(&again.out).unwrap();
    let case = &answer["case"];
    assert!(
        case["use"] == case["obvious"]
            || case["gain"]["high"].as_f64().is_none_or(|high| high < 1.0),
        "{case}"
    );

    let largest = runs
        .iter()
        .max_by_key(|run| fs::metadata(run.join("plan.json")).unwrap().len())
        .unwrap();
    for number in 0..4000 {
        let folder = store.join(format!("20200101T000000Z-{number:08x}"));
        fs::create_dir(&folder).unwrap();
        entries(largest)
            .iter()
            .for_each(|file| fs::hard_link(file, folder.join(file.file_name().unwrap())).unwrap());
    }
    for ask in [&ask[..], &["runs"]] {
        let begun = Instant::now();
        let Some((said, peak)) = peak_kib(&place, ask) else {
            return;
        };
        assert!(
            [0, 4].contains(&said.code) && peak < 100 << 10,
            "{ask:?}: {peak} KiB, {}",
            said.err
        );
        println!("{ask:?} with 4,000 runs: {:?}, {peak} KiB", begun.elapsed());
    }
}

#[test]
fn pipes_devices_bombs_and_huge_files_are_refused_at_once() {
    let (place, sound) = (Place::new(), recorded("ordinary"));
    let lines = [
        "report {}",
        "report {} --format csv",
        "compare {0} {}",
        "compare --outliers {}",
        "runs show {}",
    ];
    for name in [
        "plan.json",
        "environment.json",
        "launches.jsonl",
        "decisions.jsonl",
        "transcripts.zst",
        "summary.json",
    ] {
        for kind in ["pipe", "device", "huge"] {
            let changed = place.file("changed");
            let _ = fs::remove_dir_all(&changed);
            copy(&sound, &changed);
            let path = changed.join(name);
            fs::remove_file(&path).unwrap();
            match kind {
                "pipe" => assert!(
                    Command::new("mkfifo")
                        .arg(&path)
                        .status()
                        .unwrap()
                        .success()
                ),
                "device" => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
                _ => fs::File::create(&path).unwrap().set_len(8 << 30).unwrap(),
            }
            for line in lines {
                let begun = Instant::now();
                let said = timed(&mut command(&place, line, &changed, &sound));
                let said =
                    said.unwrap_or_else(|trouble| panic!("{name} is a {kind}, {line}: {trouble}"));
                assert!(
                    begun.elapsed() < LONGEST / 4,
                    "{name} is a {kind}, {line}: {:?}",
                    begun.elapsed()
                );
                let told = format!("{}{}", said.out, said.err);
                assert!(
                    name == "summary.json" || told.contains("damaged"),
                    "{name} is a {kind}, {line}: {told}"
                );
            }
        }
    }
}

#[test]
fn a_frame_that_unpacks_to_a_gigabyte_is_refused() {
    let place = Place::new();
    let run = place.file("run");
    copy(&recorded("interrupted"), &run);
    let bomb = Command::new("sh")
        .args([
            "-c",
            "head -c 1G /dev/zero | zstd -q --no-check --stream-size=1073741824",
        ])
        .stderr(Stdio::null())
        .output()
        .unwrap();
    if bomb.stdout.is_empty() {
        crate::support::skips::skip("there is no zstd");
        return;
    }
    let mut transcripts = fs::OpenOptions::new()
        .append(true)
        .open(run.join("transcripts.zst"))
        .unwrap();
    (0..20).for_each(|_| transcripts.write_all(&bomb.stdout).unwrap());
    // The same as a launch that is recorded, with the right digest and seal.
    let recorded = place.file("recorded");
    copy(&self::recorded("ordinary"), &recorded);
    let path = recorded.join("transcripts.zst");
    let offset = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(&bomb.stdout)
        .unwrap();
    let folder = RunFolder::open(recorded.to_str().unwrap(), place.path()).unwrap();
    let mut record = folder.launches().unwrap().records.pop().unwrap();
    record.launch = folder.next_launch().unwrap();
    record.frame = Frame {
        offset,
        length: bomb.stdout.len() as u64,
        sha256: sha256_hex(&[&bomb.stdout]),
    };
    folder.append_launch(&record).unwrap();
    fs::remove_file(recorded.join(SUMMARY)).unwrap();
    for (path, words) in [(&run, ""), (&recorded, "damaged")] {
        for line in [
            "report {}",
            "report {} --format ndjson",
            "compare {} {}",
            "compare --outliers {}",
        ] {
            let line = line.replace("{}", path.to_str().unwrap());
            let begun = Instant::now();
            let Some((said, peak)) = peak_kib(&place, &line.split(' ').collect::<Vec<_>>()) else {
                return;
            };
            let told = format!("{}{}", said.out, said.err);
            assert!(
                peak < MOST_KIB && begun.elapsed() < LONGEST / 4,
                "{line}: {peak} KiB, {:?}",
                begun.elapsed()
            );
            assert!(told.contains(words), "{line}: {told}");
        }
    }
}

#[test]
fn a_try_that_is_gone_on_with_ends_sound() {
    let place = Place::new();
    let folder = place.file("try");
    copy(&kept().join("try"), &folder);
    interrupt(&folder);
    let path = folder.to_str().unwrap();
    let said = place.run(&[
        "try", "--resume", path, "--budget", "1s", "--", "true", "sh -c :",
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    wait_until("the try is kept", || folder.join(SUMMARY).is_file());
    let said = place.run(&["report", path]);
    assert!(
        said.code == 0 && !said.err.contains("damaged") && !said.err.contains("interrupted"),
        "{}",
        said.err
    );
}

#[test]
fn a_users_file_that_is_none_is_refused_at_once() {
    let place = Place::new();
    let (pipe, device, huge) = (
        place.file("pipe.toml"),
        place.file("device.toml"),
        place.file("huge.toml"),
    );
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    fs::File::create(&huge).unwrap().set_len(8 << 30).unwrap();
    for path in [&pipe, &device, &huge] {
        for line in [
            "claims list --file {}",
            "try --with {} -- true",
            "advise --out {}",
        ] {
            let said = timed(&mut command(&place, line, path, path))
                .unwrap_or_else(|e| panic!("{line}: {e}"));
            assert!(
                said.code == 1 && said.err.lines().count() == 1,
                "{line} {}: {}",
                path.display(),
                said.err
            );
        }
    }
}
