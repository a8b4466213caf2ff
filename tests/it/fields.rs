//! Each free text of each kept kind, in each format that it is written in: a hostile text changes nothing of a format's
//! structure, no character of it steers, and its reader finds the whole of it. The readers are Python's own. The snapshot lists
//! each format with the fields that appear in it, so a new field, or one that appears in a further format, is seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use record::across::Compared;
use record::advice::AdviceAnswer;
use record::claim::Answers;
use record::command::{CommandPlan, CommandSummary, KeptCommand};
use record::folder::RunFolder;
use record::json::ToJson;
use record::outliers::OutlierSearch;
use record::summary::Summary;
use report::command::STACK_FORMATS;
use report::document::Document;
use report::escape::{is_steering, pretty_json, shell, terminal};
use report::export::{ExportedCells, FORMATS, rows::Rows};
use report::terminal::{Screen, render};
use report::view::{self, Wanted};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::nodes;
use crate::support::skips::skip;

/// A text without meaning to anything.
const PLAIN: &str = "zqx";
/// A text that means something to a spreadsheet, a terminal, a shell, a browser, XML, a compiler, Markdown and metrics.
const HOSTILE: &str = "=cmd|' /C calc'!A0\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{e000}\u{e004}\n\r\n\t\"'`$(id)`${HOME};]]></script>\
                       <img src=x onerror=alert(1)>*/\n# EOF\n[x](javascript:alert(1))|a|@all\\\"} 1";

/// Fields of which each line or part is shown by itself: source code, and the name of a cell.
const IN_PARTS: [&str; 2] = ["advice.snippets[].code", "compared.cells[].cell"];

/// A kept thing in one format.
type Format = (String, Vec<u8>);

/// What a kind is written as; nothing where a value is none of it.
type Writer<'a> = &'a dyn Fn(&Value) -> Option<Vec<Format>>;

/// Paths of all texts of a value, each once: `cells[].method`. Keys of an object are its paths.
fn paths(value: &Value, at: &str, known: &mut BTreeSet<String>) {
    match value {
        Value::String(_) => drop(known.insert(at.to_owned())),
        Value::Array(members) => members
            .iter()
            .for_each(|member| paths(member, &format!("{at}[]"), known)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, field)| paths(field, &format!("{at}.{name}"), known)),
        _ => {}
    }
}

/// Puts a text before each text at a path.
fn put(value: &mut Value, at: &str, path: &str, text: &str) {
    match value {
        Value::String(old) if at == path => old.insert_str(0, text),
        Value::Array(members) if path.starts_with(at) => members
            .iter_mut()
            .for_each(|member| put(member, &format!("{at}[]"), path, text)),
        Value::Object(fields) if path.starts_with(at) => fields
            .iter_mut()
            .for_each(|(name, field)| put(field, &format!("{at}.{name}"), path, text)),
        _ => {}
    }
}

/// A value as one of a type; nothing where the type has no such text, or drops it.
fn typed<T: DeserializeOwned + Serialize>(value: &Value) -> Option<T> {
    let typed: T = serde_json::from_value(value.clone()).ok()?;
    Some(typed)
}

fn page(document: &Document, value: &impl ToJson) -> Vec<u8> {
    report::html::page(document, report::html::rounded(value)).into_bytes()
}

/// A document as it is shown, with its page, its Markdown and its JSON.
fn shown(document: &Document, value: &(impl ToJson + Serialize)) -> Vec<Format> {
    let screen = render(document, &Screen::new(100, false), true).plain();
    let format = |name: &str, bytes: Vec<u8>| (name.to_owned(), bytes);
    vec![
        format("screen", screen.into_bytes()),
        format("markdown", report::markdown::render(document).into_bytes()),
        format("html", page(document, value)),
        format("json", pretty_json(value).unwrap().into_bytes()),
    ]
}

fn run(value: &Value) -> Option<Vec<Format>> {
    let summary: Summary = typed(value)?;
    let wanted = Wanted {
        full: true,
        ..Wanted::default()
    };
    let mut formats = shown(&view::screen(&summary, &wanted), &summary);
    // The page of a run has its figures, not its summary.
    formats.retain(|(name, _)| name != "html" && name != "markdown");
    let tables = view::tables(&summary, &[], None);
    let page = report::html::page(&tables, report::html::of_run(&summary));
    formats.push(("html".to_owned(), page.into_bytes()));
    let cells = ExportedCells::new(&summary, &[]);
    for format in FORMATS {
        let mut bytes = Vec::new();
        (format.write)(&cells, &mut bytes).unwrap();
        formats.push((format.name.to_owned(), bytes));
    }
    Some(formats)
}

/// A try or a profile of the fixtures with another plan, judged again.
fn study(kind: &str, plan: &Value) -> Option<Vec<Format>> {
    let path = kept().join(kind);
    let folder = RunFolder::open(path.to_str().unwrap(), &path).unwrap();
    let mut kept: KeptCommand = folder.whole().unwrap();
    kept.plan = typed::<CommandPlan>(plan)?;
    let summary = judge::program::judge(&kept);
    let mut formats = shown(&report::command::document(&summary), &summary);
    for format in ["csv", "ndjson"] {
        let mut bytes = Vec::new();
        Rows::new(&kept, &summary)
            .write(format, &mut bytes)
            .unwrap();
        formats.push((format.to_owned(), bytes));
    }
    if let CommandSummary::Try(_) = summary {
        let times = pretty_json(&report::export::hyperfine::of_try(&kept)).unwrap();
        formats.push(("hyperfine".to_owned(), times.into_bytes()));
    }
    Some(formats)
}

/// The summary of a study, whose remarks and call stacks come from what was measured.
fn judged_study(value: &Value) -> Option<Vec<Format>> {
    let summary: CommandSummary = typed(value)?;
    let mut formats = shown(&report::command::document(&summary), &summary);
    if let CommandSummary::Profile(profile) = &summary {
        for format in STACK_FORMATS {
            let mut bytes = Vec::new();
            (format.write)(profile.stacks.as_ref()?, &mut bytes).unwrap();
            formats.push((format.name.to_owned(), bytes));
        }
    }
    Some(formats)
}

fn machines(value: &Value) -> Option<Vec<Format>> {
    let search: OutlierSearch = typed(value)?;
    Some(shown(
        &report::outliers::document(&search, "again", "anew"),
        &search,
    ))
}

fn claims(value: &Value) -> Option<Vec<Format>> {
    let answers: Answers = typed(value)?;
    Some(shown(&report::claims::document(&answers, true), &answers))
}

fn compared(value: &Value) -> Option<Vec<Format>> {
    let compared: Compared = typed(value)?;
    Some(shown(&view::compared(&compared, true, "again"), &compared))
}

fn advised(value: &Value) -> Option<Vec<Format>> {
    let answer: AdviceAnswer = typed(value)?;
    Some(shown(&report::advise::answer(&answer), &answer))
}

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kept")
}

fn json(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", path.display()));
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value.as_object_mut().unwrap().remove("seal");
    value
}

/// A recorded value as its type writes it today.
fn again<T: DeserializeOwned + Serialize>(value: &Value) -> Value {
    serde_json::to_value(typed::<T>(value).expect("a recorded value")).unwrap()
}

fn judged_again(kind: &str) -> Value {
    let path = kept().join(kind);
    let folder = RunFolder::open(path.to_str().unwrap(), &path).unwrap();
    serde_json::to_value(judge::program::judge(&folder.whole().unwrap())).unwrap()
}

fn compared_runs() -> Value {
    let path = |name: &str| kept().join("bench").join(name);
    let side = |names: [&str; 3]| {
        names.map(|name| {
            let folder = RunFolder::open(path(name).to_str().unwrap(), &path(name)).unwrap();
            let (plan, summary) = (folder.plan().unwrap(), judge::replay(&folder).unwrap().1);
            let environment = folder.read_sealed("environment.json").unwrap();
            judge::sets::across::Run::read(&summary, &environment, &plan.workers, None).unwrap()
        })
    };
    let options = judge::sets::across::CompareOptions {
        margin: 0.02,
        gate: Some(0.03),
        expected: Vec::new(),
    };
    let (before, after) = (
        side(["before-1", "before-2", "before-3"]),
        side(["after-1", "after-2", "after-3"]),
    );
    serde_json::to_value(judge::sets::across::compare(&before, &after, &options)).unwrap()
}

/// Everything of a text but white space, and the signs by which white space is shown.
fn solid(text: &str) -> String {
    let text = ["\\n", "\\r", "\\t"]
        .iter()
        .fold(text.to_owned(), |text, sign| text.replace(sign, ""));
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

/// A field of a kind in a format, written with a plain and with a hostile text.
struct Pair {
    field: String,
    format: String,
    plain: PathBuf,
    hostile: PathBuf,
}

/// Writes a kind with each of its free texts into files.
fn written(folder: &Path, kind: &str, value: &Value, write: Writer<'_>) -> Vec<Pair> {
    let mut known = BTreeSet::new();
    paths(value, "", &mut known);
    let mut pairs = Vec::new();
    for (number, path) in known.iter().enumerate() {
        let with = |text: &str| {
            let mut value = value.clone();
            put(&mut value, "", path, text);
            write(&value)
        };
        // A word of a list takes no other text.
        let (Some(plain), Some(hostile)) = (with(PLAIN), with(HOSTILE)) else {
            continue;
        };
        for ((format, plain), (_, hostile)) in plain.into_iter().zip(hostile) {
            let file = |name: &str| folder.join(format!("{kind}-{number}-{format}-{name}"));
            let pair = Pair {
                field: format!("{kind}{path}"),
                format: format.clone(),
                plain: file("plain"),
                hostile: file("hostile"),
            };
            if !String::from_utf8_lossy(&plain).contains(PLAIN) {
                continue;
            }
            if format != "pprof" {
                let steering = String::from_utf8(hostile.clone()).unwrap();
                let steering = steering
                    .replace("\r\n", "\n")
                    .chars()
                    .find(|sign| !"\n\t".contains(*sign) && is_steering(*sign));
                assert_eq!(steering, None, "{} as {format}", pair.field);
            }
            std::fs::write(&pair.plain, plain).unwrap();
            std::fs::write(&pair.hostile, hostile).unwrap();
            pairs.push(pair);
        }
    }
    pairs
}

/// Fields by the formats in which they appear.
type Appearing = BTreeMap<String, Vec<String>>;

/// Reads all pairs, names what is wrong, and lists the fields of each format.
fn read(folder: &Path, pairs: &[Pair]) -> Option<(Vec<String>, Appearing)> {
    let manifest = folder.join("manifest.json");
    let entries: Vec<Value> = pairs
        .iter()
        .map(|pair| serde_json::json!({"format": pair.format, "plain": pair.plain, "hostile": pair.hostile}))
        .collect();
    std::fs::write(&manifest, serde_json::to_vec(&entries).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/fields.py");
    let Ok(output) = Command::new("python3").arg(script).arg(&manifest).output() else {
        skip("there is no python3 to read what was written");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    // Folded lines have their own signs between frames.
    let folded = terminal(&HOSTILE.replace([';', '\n'], ":"));
    // The rest of the text follows before the last quote.
    let in_shell = terminal(shell(HOSTILE).trim_end_matches('\''));
    let forms = [HOSTILE, &terminal(HOSTILE), &folded, &in_shell].map(solid);
    let (mut wrong, mut fields) = (Vec::new(), Appearing::new());
    for (pair, result) in pairs.iter().zip(&results) {
        let what = format!("{} as {}", pair.field, pair.format);
        let is_in_parts = IN_PARTS.contains(&pair.field.as_str());
        let problem = match result["problem"].as_str().unwrap() {
            _ if is_in_parts => "",
            problem => problem,
        };
        if !problem.is_empty() {
            wrong.push(format!("{what}: {problem}"));
        }
        if result["is_shown"] != true {
            continue;
        }
        let texts = result["texts"].as_array().unwrap();
        let is_whole = texts
            .iter()
            .map(|text| solid(text.as_str().unwrap()))
            .any(|text| forms.iter().any(|form| text.contains(form)));
        // A screen cuts what is wider, and so does the tree of functions, which Markdown has from it.
        let is_cut = pair.format == "screen"
            || pair.format == "markdown" && pair.field.starts_with("profile.stacks.frames[]");
        if !is_whole && problem.is_empty() && !is_cut {
            wrong.push(format!("{what}: it is not whole in {texts:?}"));
        }
        let format = fields.entry(pair.format.clone()).or_default();
        format.push(pair.field.clone());
    }
    Some((wrong, fields))
}

#[test]
fn each_free_text_is_whole_and_inert_in_each_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = json("crates/report/tests/fixtures/whole.json");
    let mut cells = whole["cells"].as_array_mut().unwrap().iter_mut();
    let untrusted = cells.find(|cell| cell["cause"].is_object()).unwrap();
    untrusted["cause"] = serde_json::json!({ "word": "lacks", "text": "no such file" });
    let notes = whole["notes"].as_array_mut().unwrap();
    notes.push(serde_json::json!({ "code": "damaged", "seen": "a line", "experiment": "fault" }));
    let whole = again::<Summary>(&whole);
    let plan = |kind: &str| json(&format!("tests/fixtures/kept/{kind}/plan.json"));
    let kinds: [(&str, Value, Writer<'_>); 9] = [
        ("run", whole, &run),
        ("try-plan", plan("try"), &|plan| study("try", plan)),
        ("profile-plan", plan("profile"), &|plan| {
            study("profile", plan)
        }),
        ("try", judged_again("try"), &judged_study),
        ("profile", judged_again("profile"), &judged_study),
        (
            "outliers",
            serde_json::to_value(nodes::searched()).unwrap(),
            &machines,
        ),
        (
            "claims",
            json("tests/fixtures/kept/claims/answers.json"),
            &claims,
        ),
        ("compared", compared_runs(), &compared),
        (
            "advice",
            json("tests/fixtures/kept/advise/answer.json"),
            &advised,
        ),
    ];
    let mut pairs = Vec::new();
    for (kind, value, write) in &kinds {
        let of_kind = written(folder.path(), kind, value, *write);
        assert!(of_kind.len() > 2, "{kind}: {} pairs", of_kind.len());
        pairs.extend(of_kind);
    }
    let Some((wrong, fields)) = read(folder.path(), &pairs) else {
        return;
    };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut listed = String::new();
    for (format, fields) in fields {
        listed += &format!("{format}\n");
        for field in fields {
            listed += &format!("  {}\n", field.replace('.', "/"));
        }
    }
    insta::assert_snapshot!("fields-of-formats", listed);
}
