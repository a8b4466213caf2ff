//! Kept runs, files and programs that were made to take a reader's stack, memory or time. Every seal is right. Each verb says
//! one sentence, and takes no more memory than for an ordinary one and 64 MiB, and no more time than a second.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use record::folder::{RunFolder, sha256_hex};
use serde_json::Value;

use crate::damaged::{copy, peak_kib, recorded};
use crate::profile::{built, may_follow};
use crate::support::place::{Place, Said, native_worker, said};
use crate::support::skips::skip;

/// Parentheses, lists or terms within each other.
const DEEP: usize = 20_000;
/// Memory that a hostile record or program may cost, in KiB.
const MOST_KIB: u64 = 64 << 10;

/// A law of this many parentheses.
fn deep_law() -> String {
    format!("{}1{} == 1", "(".repeat(DEEP), ")".repeat(DEEP))
}

/// A law of this many terms.
fn long_law() -> String {
    format!("1{} == 1", " + 1".repeat(DEEP))
}

/// JSON of this many lists.
fn deep_json() -> String {
    "[".repeat(DEEP) + &"]".repeat(DEEP)
}

/// Content of a sealed file, without its seal.
fn content(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.splitn(3, '\n').nth(2).unwrap().to_owned()
}

/// Writes a content with the seal of a file that is written once.
fn seal(path: &Path, content: &str) {
    let seal = sha256_hex(&[content.as_bytes()]);
    std::fs::write(path, format!("{{\n  \"seal\": \"{seal}\",\n{content}")).unwrap();
}

/// A copy of the recorded run of which one sealed file has another content; its journals have their seals again.
fn resealed(to: &Path, file: &str, content_of_file: &str) {
    let from = recorded("ordinary");
    let from = RunFolder::open(from.to_str().unwrap(), &from).unwrap();
    let folder = RunFolder::create(to).unwrap();
    for name in ["plan.json", "environment.json", "preflight.json"] {
        if name == file {
            seal(&to.join(name), content_of_file);
        } else {
            seal(&to.join(name), &content(&from.file(name)));
        }
    }
    for decision in from.decisions().unwrap() {
        folder.append_decision(&decision).unwrap();
    }
    for mut record in from.launches().unwrap().records {
        let parts = from.reader().parts(&record).unwrap();
        folder.keep_launch(&mut record, &parts).unwrap();
    }
}

/// The content of a sealed file in which one field is 20,000 lists within each other, for each of its fields.
fn with_deep_fields(path: &Path) -> Vec<(String, String)> {
    let fields: serde_json::Map<String, Value> =
        serde_json::from_str(&format!("{{\n{}", content(path))).unwrap();
    let line = |name: &str, value: &str| format!("  \"{name}\": {value}");
    let with_deep = |deep: &String| {
        let lines: Vec<String> = fields
            .iter()
            .map(|(name, value)| match name == deep {
                true => line(name, &deep_json()),
                false => line(name, &value.to_string()),
            })
            .collect();
        (deep.clone(), lines.join(",\n") + "\n}\n")
    };
    fields.keys().map(with_deep).collect()
}

/// One sentence, an exit code of 1, and no more memory than is due.
fn is_refused(what: &str, ended: &(Said, u64)) {
    let (said, peak) = ended;
    assert_eq!(said.code, 1, "{what}: {} {}", said.out, said.err);
    // A long sentence goes on in indented lines.
    let sentences = said.err.lines().filter(|line| !line.starts_with("  "));
    assert_eq!(sentences.count(), 1, "{what}: {}", said.err);
    assert!(said.err.starts_with("pagewise: "), "{what}: {}", said.err);
    assert!(said.err.len() < 500, "{what}: {} bytes", said.err.len());
    assert!(*peak < MOST_KIB, "{what}: {peak} KiB");
}

/// Verbs that refuse a run; `{}` is the run and `{0}` a sound one.
const REFUSING: [&str; 11] = [
    "report {}",
    "report {} --full",
    "report {} --json",
    "report {} --format csv",
    "report {} --format junit",
    "report tag:both --trend",
    "report {} --explain-verdict fault/populate-write",
    "compare {0} {}",
    "compare {} {0}",
    "runs show {}",
    "run --resume {}",
];

/// Runs a line of words with its time and memory.
fn measured(place: &Place, line: &str, hostile: &Path, sound: &Path) -> Option<(Said, u64)> {
    let line = line
        .replace("{0}", sound.to_str().unwrap())
        .replace("{}", hostile.to_str().unwrap());
    peak_kib(place, &line.split(' ').collect::<Vec<_>>())
}

/// A place with a sound run, a hostile one, and the tag `both` on them.
fn with_hostile_run(file: &str, content_of_file: &str) -> (Place, PathBuf, PathBuf) {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    let [sound, hostile] = ["sound", "hostile"].map(|name| store.join(name));
    copy(&recorded("ordinary"), &sound);
    resealed(&hostile, file, content_of_file);
    for run in [&sound, &hostile] {
        let tagged = place.run(&["runs", "tag", run.to_str().unwrap(), "both"]);
        assert_eq!(tagged.code, 0, "{}", tagged.err);
    }
    (place, sound, hostile)
}

/// D18: laws of 20,000 parentheses, and of 20,000 terms, ended every verb that met the run.
#[test]
fn a_sealed_plan_with_a_deep_law_is_one_sentence_for_each_verb() {
    let plan = content(&recorded("ordinary").join("plan.json"));
    for law in [deep_law(), long_law()] {
        let hostile_plan = plan.replacen("laws=", &format!("laws={law}; "), 1);
        assert!(hostile_plan.len() > plan.len() + DEEP);
        let (place, sound, hostile) = with_hostile_run("plan.json", &hostile_plan);
        for line in REFUSING {
            let Some(ended) = measured(&place, line, &hostile, &sound) else {
                return;
            };
            is_refused(line, &ended);
        }
        let gated = measured(&place, "compare {0} {} --gate 50%", &hostile, &sound).unwrap();
        assert!(gated.0.code == 3 && gated.1 < MOST_KIB, "{}", gated.0.err);
        others_are_answered(&place, &hostile, &sound);
    }
}

/// Verbs that read several runs name the hostile one, and answer for the others.
fn others_are_answered(place: &Place, hostile: &Path, sound: &Path) {
    for line in [
        "compare --outliers {} --outliers {0}",
        "compare --outliers {} --outliers {0} --json",
    ] {
        let (said, peak) = measured(place, line, hostile, sound).unwrap();
        assert_eq!(said.code, 3, "{line}: {}", said.err);
        let named = format!("left out: {}: ", hostile.display());
        assert!(said.err.contains(&named), "{line}: {}", said.err);
        assert!(!said.out.is_empty() && peak < MOST_KIB, "{peak} KiB");
    }
    for line in ["runs", "runs --json"] {
        let (said, peak) = measured(place, line, hostile, sound).unwrap();
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        assert!(
            said.out.contains("hostile") && peak < MOST_KIB,
            "{}",
            said.out
        );
    }
    let question = "advise fault --bytes 1MiB --budget 1s";
    let (said, peak) = measured(place, question, hostile, sound).unwrap();
    assert!([0, 1, 3, 4].contains(&said.code), "{}", said.err);
    assert!(peak < 2 * MOST_KIB, "{peak} KiB");
}

/// Each field of each sealed file, known or not, as 20,000 lists within each other.
#[test]
fn deep_fields_of_sealed_files_are_one_sentence_or_have_no_effect() {
    let verbs = [
        "report {} --json",
        "compare {0} {}",
        "compare --outliers {0} --outliers {}",
    ];
    let (mut refused, mut without_effect) = (0, 0);
    for file in ["plan.json", "environment.json", "preflight.json"] {
        let path = recorded("ordinary").join(file);
        let mut contents = with_deep_fields(&path);
        let unknown = format!("  \"unknown\": {},\n{}", deep_json(), content(&path));
        contents.push(("unknown".to_owned(), unknown));
        for (field, hostile_content) in contents {
            let (place, sound, hostile) = with_hostile_run(file, &hostile_content);
            for line in verbs {
                let Some((said, peak)) = measured(&place, line, &hostile, &sound) else {
                    return;
                };
                let what = format!("{file}, {field}: {line}");
                assert!(peak < MOST_KIB, "{what}: {peak} KiB");
                assert!(
                    [0, 1, 3, 4].contains(&said.code),
                    "{what}: {} {}",
                    said.code,
                    said.err
                );
                if said.code == 1 {
                    is_refused(&what, &(said, peak));
                    refused += 1;
                } else {
                    without_effect += 1;
                }
            }
        }
    }
    assert!(
        refused > 20 && without_effect > 3,
        "{refused} {without_effect}"
    );
}

/// The same of a try and a profile.
#[test]
fn deep_fields_of_tries_and_profiles_are_one_sentence() {
    for kind in ["try", "profile"] {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/kept")
            .join(kind);
        for (field, hostile_content) in with_deep_fields(&kept.join("plan.json")) {
            let place = Place::new();
            let [sound, hostile] = ["sound", "hostile"].map(|name| place.file(name));
            copy(&kept, &sound);
            copy(&kept, &hostile);
            seal(&hostile.join("plan.json"), &hostile_content);
            for line in ["report {}", "report {} --format csv", "compare {0} {}"] {
                let Some(ended) = measured(&place, line, &hostile, &sound) else {
                    return;
                };
                is_refused(&format!("{kind}, {field}: {line}"), &ended);
            }
        }
    }
}

/// A trend held each summary, and a comparison may hold the figures of its runs and no more.
#[test]
fn many_runs_cost_time_and_memory_as_one_does() {
    let place = Place::new();
    let store = place.file("data/pagewise/runs");
    std::fs::create_dir_all(&store).unwrap();
    let (few, many) = (60, 240);
    let names: Vec<String> = (0..many).map(|number| format!("r{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let run = store.join(name);
        copy(&crate::damaged::kept().join("run"), &run);
        let tags = if number < few {
            "[\"few\", \"many\"]"
        } else {
            "[\"many\"]"
        };
        std::fs::write(run.join("tags.json"), format!("{{\"tags\": {tags}}}")).unwrap();
    }
    let trend = |tag: &str| ["report", "--trend", tag].map(str::to_owned).to_vec();
    let sides = |count: usize| {
        let (first, second) = names[..count].split_at(count / 2);
        let verb = ["compare".to_owned()];
        [&verb[..], first, &["--".to_owned()], second].concat()
    };
    let lines = [
        (trend("tag:few"), trend("tag:many")),
        (sides(few), sides(many)),
    ];
    for (of_few, of_many) in lines {
        let measured = |words: &[String]| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (said, peak) = peak_kib(&place, &words)?;
            assert_eq!(said.code, 0, "{}", said.err);
            Some(peak)
        };
        let Some(peak_of_few) = measured(&of_few) else {
            return;
        };
        let peak_of_many = measured(&of_many).unwrap();
        let growth = peak_of_many.saturating_sub(peak_of_few);
        println!("{}: {peak_of_few} KiB, then {growth} KiB more", of_few[0]);
        // 64 KiB a run is less than the files of one.
        assert!(growth < 64 * (many - few) as u64, "{growth} KiB");
    }
}

/// Files that a user was given: advice, claims, experiments, and the list of a worker.
#[test]
fn deep_files_of_other_authors_are_one_sentence() {
    let place = Place::new();
    let nested = deep_json();
    for (name, text) in [
        ("advice.json", format!("{{\"questions\": {nested}}}")),
        ("claim.toml", format!("id = {nested}\n")),
        ("experiments/deep.toml", format!("name = {nested}\n")),
        ("dotted.toml", format!("{}a = 1\n", "a.".repeat(DEEP))),
    ] {
        std::fs::create_dir_all(place.file("experiments")).unwrap();
        std::fs::write(place.file(name), text).unwrap();
    }
    let at = |name: &str| place.file(name).to_str().unwrap().to_owned();
    for words in [
        vec!["advise", "--out", &at("advice.json")],
        vec![
            "advise",
            "--merge",
            &at("advice.json"),
            "--out",
            &at("new.json"),
        ],
        vec!["claims", "--file", &at("claim.toml")],
        vec!["claims", "--file", &at("dotted.toml")],
        vec!["--experiments", &at("experiments"), "list"],
    ] {
        let Some(ended) = peak_kib(&place, &words) else {
            return;
        };
        is_refused(&words.join(" "), &ended);
    }
    for law in [deep_law(), long_law()] {
        let worker = worker_with_law(&place, &law);
        for verb in [&["list"][..], &["run", "fault", "--budget", "2s"]] {
            let words = [&["--worker", worker.to_str().unwrap()][..], verb].concat();
            let ended = peak_kib(&place, &words).expect("GNU time was there before");
            is_refused(&words.join(" "), &ended);
        }
    }
}

/// A worker whose list is the native one's with a law before the first one's laws.
fn worker_with_law(place: &Place, law: &str) -> PathBuf {
    let listed = said(Command::new(native_worker(place)).arg("--list")).out;
    let list = listed.replacen("laws=", &format!("laws={law}; "), 1);
    assert!(list.len() > listed.len() + DEEP);
    let (worker, text) = (place.file("worker"), place.file("worker.txt"));
    std::fs::write(&text, list).unwrap();
    let script = format!("#!/bin/sh\nexec cat '{}'\n", text.display());
    std::fs::write(&worker, script).unwrap();
    std::fs::set_permissions(&worker, std::fs::Permissions::from_mode(0o755)).unwrap();
    worker
}

/// A C++ name of some hundred bytes whose demangled form has a gigabyte and more: each level is a pair of the one before.
fn doubling_symbol(levels: usize) -> String {
    let digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let mut symbol = String::from("_Z1f1PIiiE");
    for before in digits.chars().take(levels) {
        symbol += &format!("S_IS{before}_S{before}_E");
    }
    symbol
}

/// A program whose page faults are in one function of this symbol.
fn faulting(symbol: &str) -> String {
    format!(
        r#"
#include <sys/mman.h>
enum {{ PAGE = 4096, PAGES = 500, TURNS = 40 }};
__attribute__((noinline, noclone)) int planted(volatile char *p) __asm__("{symbol}");
int planted(volatile char *p) {{ for (int i = 0; i < PAGES; i++) p[i * PAGE] = 1; return p[5]; }}
int main(void) {{
    char *p = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
    int sum = 0;
    for (int i = 0; i < TURNS; i++) {{ sum += planted(p); madvise(p, PAGES * PAGE, MADV_DONTNEED); }}
    return sum - TURNS;
}}
"#
    )
}

/// Debug information as assembly: one unit and one function over all addresses of a program that is not relocated, and this many
/// inlined calls within each other.
fn nested_calls(depth: usize) -> String {
    format!(
        r#"
.section .debug_abbrev,"",@progbits
.byte 1,0x11,1,0x11,0x01,0x12,0x07,0,0
.byte 2,0x2e,1,0x11,0x01,0x12,0x07,0,0
.byte 3,0x1d,1,0x11,0x01,0x12,0x07,0,0
.byte 0
.section .debug_info,"",@progbits
.long after-version
version: .value 4
.long 0
.byte 8
.byte 1
.quad 0x400000,0x1000000
.byte 2
.quad 0x400000,0x1000000
.rept {depth}
.byte 3
.quad 0x400000,0x1000000
.endr
.fill {},1,0
after:
.section .note.GNU-stack,"",@progbits
"#,
        depth + 2
    )
}

/// Symbols as assembly: this many long names at addresses of their own.
fn many_symbols(count: usize) -> String {
    let mut text = String::from(".text\n");
    for number in 0..count {
        let name = format!("{}{number}", doubling_symbol(30));
        text += &format!(".globl {name}\n.type {name},@function\n{name}: nop\n.size {name},1\n");
    }
    text + ".section .note.GNU-stack,\"\",@progbits\n"
}

/// A program of these sources, which is not relocated; none where it cannot be built.
fn program(place: &Place, name: &str, symbol: &str, assembly: &str) -> Option<PathBuf> {
    let more = place.file(&format!("{name}.s"));
    std::fs::write(&more, assembly).unwrap();
    let flags = ["-no-pie", "-fno-omit-frame-pointer", more.to_str().unwrap()];
    built(place, name, &faulting(symbol), &flags)
}

/// Memory and time of a profile.
fn profiled(place: &Place, program: &Path) -> Option<(u64, Duration)> {
    let began = Instant::now();
    let words = [
        "profile",
        "--blocks",
        "6",
        "--ignore-failure",
        "--",
        program.to_str().unwrap(),
    ];
    let (said, peak) = peak_kib(place, &words)?;
    let elapsed = began.elapsed();
    assert!([0, 4].contains(&said.code), "{}{}", said.out, said.err);
    assert!(
        said.out.len() < 100_000,
        "{} bytes are shown",
        said.out.len()
    );
    Some((peak, elapsed))
}

/// D15: a symbol of some 230 bytes took 846 MiB and 6 s, and nested calls ended the program.
#[test]
fn a_hostile_program_costs_a_profile_no_memory_and_no_time() {
    if !may_follow() {
        return skip("perf's software events may not be had");
    }
    let place = Place::new();
    let Some(plain) = program(&place, "plain", "planted", "") else {
        return skip("there is no cc that makes programs which are not relocated");
    };
    let symbol = doubling_symbol(24);
    assert!((200..300).contains(&symbol.len()), "{}", symbol.len());
    let hostile = [
        ("symbol", symbol.as_str(), String::new()),
        ("deep", "planted", nested_calls(200_000)),
        ("many", symbol.as_str(), many_symbols(20_000)),
    ];
    let Some((plain_kib, plain_time)) = profiled(&place, &plain) else {
        return;
    };
    for (name, symbol, assembly) in hostile {
        let program = program(&place, name, symbol, &assembly).expect("it is built as the first");
        let (kib, time) = profiled(&place, &program).unwrap();
        println!("{name}: {kib} KiB, {time:?}; ordinary: {plain_kib} KiB, {plain_time:?}");
        assert!(
            kib < plain_kib + MOST_KIB,
            "{name}: {kib} KiB, {plain_kib} KiB"
        );
        let store = place.file("data/pagewise/runs");
        let kept: u64 = crate::support::place::entries(&store)
            .iter()
            .flat_map(|run| crate::support::place::entries(run))
            .map(|file| std::fs::metadata(file).unwrap().len())
            .sum();
        assert!(kept < 4 << 20, "{name}: {kept} bytes are kept");
        // A machine that builds meanwhile is slower, so the bound is wide; the limits' own tests measure it.
        assert!(
            time < 2 * plain_time + Duration::from_secs(5),
            "{name}: {time:?}"
        );
    }
}
