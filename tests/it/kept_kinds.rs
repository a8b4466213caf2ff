//! One kept thing of every kind (`tests/fixtures/kept`, recorded by `record.sh` there): what the program shows of it on a
//! screen of 100 columns, its page, its Markdown, its JSON and every export are what they were, byte for byte.
//! `cargo xtask bless` writes the snapshots anew after something was changed on purpose: read the difference then.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pagewise::plan::{Laboratory, advice, catalog};
use pagewise::worker;
use record::advice::{ADVICE_SCHEMA, Advice, AdviceAnswer, Fingerprint};
use record::folder::{RunFolder, sha256_hex};
use record::summary::Summary;
use report::escape::pretty_json;
use report::export::FORMATS;
use report::terminal::{Screen, render};

use crate::support::place::{Place, entries};
use crate::support::wishes::wish;

/// Longest text that a snapshot holds whole, in bytes; of a longer one it has the beginning and a digest of all.
const WHOLE: usize = 24 << 10;
/// Lines at the beginning of a longer one.
const FIRST: usize = 40;

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kept")
}

/// A place whose store holds copies of these kept things.
fn place_with(names: &[&str]) -> Place {
    let place = Place::new();
    let store = store(&place);
    fs::create_dir_all(&store).unwrap();
    for name in names {
        let mut copy = Command::new("cp");
        copy.arg("-r").arg(kept().join(name)).arg(&store);
        assert!(copy.status().unwrap().success(), "{name}");
    }
    place
}

fn store(place: &Place) -> PathBuf {
    place.file("data/pagewise/runs")
}

/// Several outputs of one thing, each below its command: the text of a snapshot.
struct Shown<'a> {
    place: &'a Place,
    text: String,
}

impl Shown<'_> {
    fn of(place: &Place) -> Shown<'_> {
        Shown {
            place,
            text: String::new(),
        }
    }

    fn push(&mut self, title: &str, text: &str) {
        self.text += &format!("===== {title}\n{}\n", bounded(text));
    }

    /// Everything that a command prints, and its exit code.
    fn run(&mut self, words: &str) {
        let arguments: Vec<&str> = words.split(' ').collect();
        let ended = self.place.run(&arguments);
        let mut text = format!("exit code {}\n", ended.code);
        text += &self.neutral(&ended.out);
        if !ended.err.is_empty() {
            text += &format!("----- standard error\n{}", self.neutral(&ended.err));
        }
        self.push(&format!("pagewise {words}"), &text);
    }

    /// The file that a kept thing is written to in a format; of one that is no text its digest.
    fn export(&mut self, name: &str, format: &str) {
        let path = self.place.file("export");
        let out = path.to_str().unwrap();
        let words = ["report", name, "--format", format, "--out", out];
        let ended = self.place.run(&words);
        let bytes = fs::read(&path).unwrap_or_default();
        let _ = fs::remove_file(&path);
        let digest = || {
            let (bytes, length) = (sha256_hex(&[&bytes]), bytes.len());
            format!("[{length} bytes, sha256 {bytes}]\n")
        };
        let file = String::from_utf8(bytes.clone())
            .ok()
            .filter(|text| !text.contains('\0'))
            .unwrap_or_else(digest);
        let mut text = format!("exit code {}\n{}", ended.code, self.neutral(&file));
        if !ended.err.is_empty() {
            text += &format!("----- standard error\n{}", self.neutral(&ended.err));
        }
        self.push(&format!("pagewise report {name} --format {format}"), &text);
    }

    /// The page that a command writes beside what it prints.
    fn page(&mut self, verb: &str, what: &str) {
        let path = self.place.file("page.html");
        let page = path.to_str().unwrap();
        // Options come first: what stands behind -- is a run.
        let mut arguments: Vec<&str> = verb.split(' ').collect();
        arguments.extend(["--html", page]);
        arguments.extend(what.split(' '));
        let ended = self.place.run(&arguments);
        let html = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{verb}: {}", ended.err));
        fs::remove_file(&path).unwrap();
        let text = page_text(&self.neutral(&html));
        let what = self.neutral(what);
        self.push(&format!("pagewise {verb} --html page.html {what}"), &text);
    }

    /// A text without the paths of this very place.
    fn neutral(&self, text: &str) -> String {
        text.replace(self.place.path().to_str().unwrap(), "PLACE")
    }

    fn assert(self, name: &str) {
        insta::assert_snapshot!(name, self.text);
    }
}

/// A text, or of a long one the beginning with a digest of all.
fn bounded(text: &str) -> String {
    if text.len() <= WHOLE {
        return text.to_owned();
    }
    let first: Vec<&str> = text.lines().take(FIRST).collect();
    let (bytes, lines) = (text.len(), text.lines().count());
    let digest = sha256_hex(&[text.as_bytes()]);
    format!(
        "{}\n[{bytes} bytes in {lines} lines, sha256 {digest}]\n",
        first.join("\n")
    )
}

/// A page without its style and script: digests of its body and of its data, and its words, a line a block.
fn page_text(html: &str) -> String {
    let (_, body) = html.split_once("<body>").expect("a page has a body");
    let (body, _) = body.rsplit_once("<script>").expect("a page has a script");
    let (body, data) = body
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap_or((body, ""));
    let [of_body, of_data] = [body, data].map(|text| sha256_hex(&[text.as_bytes()]));
    let mut words = String::new();
    for part in body.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or(("", part));
        let ends_block = ["/tr", "/p", "/h", "/li", "/text", "/caption", "br"]
            .iter()
            .any(|end| tag.starts_with(end));
        words += if ends_block { "\n" } else { " " };
        words += text.trim_end();
    }
    let lines: Vec<String> = words
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    format!(
        "body: sha256 {of_body}\ndata: sha256 {of_data}\n{}\n",
        lines.join("\n")
    )
}

/// Screens, page, JSON and exports of a run of methods; `cell` is one of its cells.
fn reported(place: &Place, name: &str, cell: &str) {
    let mut screens = Shown::of(place);
    screens.run(&format!("report {name}"));
    screens.run(&format!("report {name} --full"));
    screens.run(&format!("report {name} --full --ascii"));
    screens.run(&format!("report {name} --doubt"));
    screens.run(&format!("report {name} --json"));
    screens.run(&format!("report {name} --explain-verdict {cell}"));
    screens.page("report", name);
    screens.assert(&format!("{name}-report"));
    exported(place, name);
}

/// A run in all formats, also in those that refuse it.
fn exported(place: &Place, name: &str) {
    let mut exports = Shown::of(place);
    for format in FORMATS {
        exports.export(name, format.name);
    }
    exports.assert(&format!("{name}-exports"));
}

#[test]
fn a_run_in_states_is_shown_as_it_was() {
    reported(&place_with(&["states"]), "states", "fault/populate");
}

#[test]
fn a_run_of_tails_is_shown_as_it_was() {
    reported(&place_with(&["tail"]), "tail", "tail/thp");
}

#[test]
fn a_run_of_published_cells_is_shown_as_it_was() {
    reported(
        &place_with(&["published"]),
        "published",
        "allocate/mmap-zero",
    );
    let place = place_with(&["published"]);
    let mut beside = Shown::of(&place);
    beside.run("report published --published p4");
    beside.run("report published --published all --full");
    beside.page("report --published p4", "published");
    beside.assert("published-beside");
}

#[test]
fn a_run_of_the_users_functions_is_shown_as_it_was() {
    let place = place_with(&["bench/before-1"]);
    reported(&place, "before-1", "bench/block");
}

#[test]
fn answers_to_claims_are_shown_as_they_were() {
    let place = place_with(&["claims", "claims-again"]);
    let mut screens = Shown::of(&place);
    screens.run("report claims");
    screens.run("report claims --json");
    screens.page("report", "claims");
    screens.run("claims --compare claims claims-again");
    screens.run("claims --compare claims claims-again --json");
    screens.page("claims", "--compare claims claims-again");
    screens.assert("claims-report");
    exported(&place, "claims");
}

/// A study in the formats that it has, and in one that it has not.
fn program(name: &str, formats: &[&str]) {
    let place = place_with(&[name]);
    let mut shown = Shown::of(&place);
    shown.run(&format!("report {name}"));
    shown.run(&format!("report {name} --json"));
    shown.page("report", name);
    for format in formats {
        shown.export(name, format);
    }
    shown.assert(name);
}

#[test]
fn a_try_is_shown_as_it_was() {
    program("try", &["csv", "ndjson", "hyperfine", "junit"]);
}

#[test]
fn a_profile_is_shown_as_it_was() {
    let stacks = report::command::STACK_FORMATS
        .iter()
        .map(|format| format.name);
    let formats: Vec<&str> = ["csv", "ndjson", "hyperfine"]
        .into_iter()
        .chain(stacks)
        .collect();
    program("profile", &formats);
}

/// Two sides compared, without a gate and with those.
fn compared(snapshot: &str, kept: &[&str], sides: &str, gates: &[&str]) {
    let place = place_with(kept);
    let mut shown = Shown::of(&place);
    shown.run(&format!("compare {sides}"));
    for gate in gates {
        for output in ["", " --json", " --markdown"] {
            shown.run(&format!("compare --gate {gate}{output} {sides}"));
        }
    }
    shown.run(&format!("compare --json {sides}"));
    shown.page("compare", sides);
    shown.assert(snapshot);
}

/// The runs of the user's functions, before and after a change.
const BENCH: [&str; 6] = [
    "bench/before-1",
    "bench/before-2",
    "bench/before-3",
    "bench/after-1",
    "bench/after-2",
    "bench/after-3",
];

#[test]
fn two_sets_of_runs_and_their_gate_are_shown_as_they_were() {
    let sides = "before-1 before-2 before-3 -- after-1 after-2 after-3";
    let gates = ["3% --expect worker.own", "3%", "90% --expect worker.own"];
    compared("compare-bench", &BENCH, sides, &gates);
}

#[test]
fn two_runs_of_tails_and_their_gate_are_shown_as_they_were() {
    let kept = ["tail", "tail-again"];
    compared(
        "compare-tail",
        &kept,
        "tail tail-again",
        &["3%", "p99.9:5%"],
    );
}

#[test]
fn two_studies_and_two_runs_of_claims_are_compared_as_they_were() {
    let (tries, claims) = (["try", "try-again"], ["claims", "claims-again"]);
    compared("compare-try", &tries, "try try-again", &["3%"]);
    compared("compare-claims", &claims, "claims claims-again", &["3%"]);
}

#[test]
fn a_trend_is_shown_as_it_was() {
    let place = place_with(&BENCH[..3]);
    for name in ["before-1", "before-2", "before-3"] {
        assert_eq!(place.run(&["runs", "tag", name, "main"]).code, 0);
    }
    let mut shown = Shown::of(&place);
    shown.run("report --trend tag:main");
    shown.page("report --trend", "tag:main");
    shown.assert("trend");
}

#[test]
fn machines_are_shown_as_they_were() {
    let place = place_with(&["nodes"]);
    let folder = store(&place).join("nodes");
    let folder = folder.to_str().unwrap();
    let text = |words: &[&str]| {
        let ended = place.run(&[&["compare", "--outliers", folder], words].concat());
        format!("exit code {}\n{}{}", ended.code, ended.out, ended.err)
    };
    let mut shown = Shown::of(&place);
    let outputs: [&[&str]; 5] = [
        &[],
        &["--by", "kernel", "--margin", "1%"],
        &["--by", "host"],
        &["--json"],
        &["--markdown"],
    ];
    for words in outputs {
        let text = shown.neutral(&text(words));
        let line = format!("pagewise compare --outliers DIR {}", words.join(" "));
        shown.push(&line, &text);
    }
    shown.page("compare", &format!("--outliers {folder}"));
    shown.assert("outliers");
}

/// Advice is judged from the runs that a question was answered with, as `advise` does; what it printed as JSON is kept.
#[test]
fn advice_is_the_answer_that_was_given_and_is_shown_as_it_was() {
    let text = fs::read_to_string(kept().join("advise/answer.json")).unwrap();
    let given: AdviceAnswer = serde_json::from_str(&text).unwrap();
    let summary = |path: &PathBuf| -> Summary {
        let folder = RunFolder::open(path.to_str().unwrap(), Path::new("/nowhere")).unwrap();
        judge::replay(&folder).unwrap().1
    };
    let mut summaries: Vec<Summary> = entries(&kept().join("advise/runs"))
        .iter()
        .map(summary)
        .collect();
    summaries.sort_by(|a, b| b.created.cmp(&a.created));
    let summaries: Vec<&Summary> = summaries.iter().collect();
    let laboratory = Laboratory {
        experiments: catalog::experiments(None).unwrap(),
        workers: worker::all(&[], &[]).unwrap(),
    };
    let terms = advice::AdviceTerms {
        bytes: Some(given.bytes),
        ..advice::AdviceTerms::default()
    };
    let request = advice::request(
        advice::topic(&given.question).unwrap(),
        &terms,
        &laboratory,
        &wish(),
    )
    .unwrap();
    let carried = |_: &str| given.snippets.clone();
    let cases = advice::cases(&request);
    let answer = judge::questions::advise::answer(
        &request,
        &cases,
        &summaries,
        &given.runs,
        given.margin,
        carried,
    );
    let (again, blessed) = (pretty_json(&answer).unwrap(), "PAGEWISE_BLESS");
    if std::env::var_os(blessed).is_some() {
        fs::write(kept().join("advise/answer.json"), &again).unwrap();
    }
    assert!(
        again == text || std::env::var_os(blessed).is_some(),
        "the answer is another: {}",
        pretty_json(&answer).unwrap()
    );
    let saved = Advice {
        schema: ADVICE_SCHEMA,
        created: "2026-11-28T00:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        machine: Fingerprint::default(),
        margin: given.margin,
        questions: [(
            given.question.clone(),
            judge::questions::advise::question(&request, &summaries, given.margin),
        )]
        .into(),
    };
    let screen = |document| render(&document, &Screen::new(100, false), true).plain();
    let place = Place::new();
    let mut shown = Shown::of(&place);
    shown.push("answer", &screen(report::advise::answer(&answer)));
    shown.push(
        "saved",
        &screen(report::advise::saved(&saved, "advice.json", &[])),
    );
    shown.push("file of advice", &saved.canonical().unwrap());
    shown.assert("advise");
}
