//! Generated hostile text through every exporter and every verb: what reads an export reads it whole, and nothing steers a
//! terminal. `PAGEWISE_HOSTILE=200` makes the long version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::summary::Summary;
use report::escape::is_steering;
use report::export::{ExportedCells, FORMATS};
use serde_json::Value;
use stats::rng::Seeded;

use crate::damaged::copy;
use crate::escapes::is_harmless;
use crate::support::place::{Place, said};
use crate::support::readers;

/// Texts in the short version; each goes through every verb or every exporter.
const TEXTS: u64 = 4;

fn texts() -> u64 {
    std::env::var("PAGEWISE_HOSTILE")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(TEXTS)
}

/// Pieces that mean something to a terminal, a spreadsheet, a browser, a parser, a compiler or a shell.
const PIECES: [&str; 40] = [
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{7f}",
    "\n",
    "\r\n",
    "\t",
    "\u{8}",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-2+3",
    "\"",
    "'",
    ",",
    ";",
    "|",
    "`",
    "\\",
    "*/",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "-->",
    "&amp;",
    "&#0;",
    "${HOME}",
    "$(id)",
    "{} # HELP x",
    "# EOF",
    "[x](javascript:alert(1))",
    "| a | b |",
    "%n",
    "ü",
];

/// One to ten pieces and plain characters.
fn hostile(random: &mut Seeded) -> String {
    let piece = |random: &mut Seeded| match random.below(4) {
        0 => char::from(b'!' + random.below(94) as u8).to_string(),
        1 => char::from_u32(random.below(0x1_1000) as u32)
            .filter(|c| *c != '\0')
            .map_or_else(String::new, String::from),
        _ => PIECES[random.below(PIECES.len())].to_owned(),
    };
    (0..=random.below(10)).map(|_| piece(random)).collect()
}

/// Texts of a summary that come from outside, made hostile: names of a worker, a method and a phase of another program, what it
/// said, what the machine calls itself.
fn infected(value: &mut Value, random: &mut Seeded) {
    const OUTSIDE: [&str; 14] = [
        "reason",
        "text",
        "seen",
        "hint",
        "at",
        "message",
        "model",
        "kernel",
        "name",
        "cpu",
        "hypervisor",
        "version",
        "does",
        "title",
    ];
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, field)| match field {
            Value::String(text) if OUTSIDE.contains(&key.as_str()) => {
                *text = hostile(random) + text
            }
            field => infected(field, random),
        }),
        Value::Array(all) => all.iter_mut().for_each(|one| infected(one, random)),
        _ => {}
    }
}

fn recorded() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/report/tests/fixtures/whole.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A recorded summary whose texts and methods are hostile.
fn summary(seed: u64) -> Summary {
    let random = &mut Seeded::new(seed);
    let mut value = recorded();
    infected(&mut value, random);
    let mut summary: Summary = serde_json::from_value(value).expect("the shape is kept");
    for cell in &mut summary.cells {
        cell.method += &hostile(random);
        cell.parameters
            .values_mut()
            .for_each(|value| *value += &hostile(random));
    }
    summary
}

/// Cells of CSV by RFC 4180; panics where quotes are not.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut all = text.chars().peekable();
    while let Some(c) = all.next() {
        match c {
            '"' if quoted && all.peek() == Some(&'"') => cell.push(all.next().unwrap()),
            '"' if quoted || cell.is_empty() => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell).trim_end_matches('\r').to_owned());
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(c),
        }
    }
    assert!(
        !quoted && row.is_empty() && cell.is_empty(),
        "CSV ends within a row: {row:?} {cell:?}"
    );
    rows
}

/// An export is whole for what reads it, as far as that can be told without the reader.
fn is_sound(format: &str, text: &str, rows: usize) {
    match format {
        "csv" => {
            let table = csv(text);
            assert!(
                table.iter().all(|row| row.len() == table[0].len()),
                "{format}: rows of different lengths"
            );
            let formula = |cell: &&String| {
                cell.starts_with(['=', '+', '@', '\t', '\r'])
                    || cell.starts_with('-') && cell.parse::<f64>().is_err()
            };
            assert_eq!(table.iter().flatten().find(formula), None, "{format}");
            assert_eq!(table.len(), rows, "{format}");
        }
        "ndjson" => {
            let lines: Vec<&str> = text.lines().collect();
            assert!(
                lines
                    .iter()
                    .all(|line| serde_json::from_str::<Value>(line).is_ok()),
                "{text}"
            );
            assert_eq!(lines.len() + 1, rows, "{format}");
        }
        "hyperfine" | "github" => drop(serde_json::from_str::<Value>(text).unwrap()),
        "openmetrics" => {
            assert!(
                text.ends_with("# EOF\n") && text.matches("\n# EOF\n").count() == 1,
                "{text}"
            );
            let known = |line: &str| line.starts_with("# ") || line.starts_with("pagewise_");
            assert!(text.lines().all(known), "{text}");
        }
        "benchfmt" => assert!(
            text.lines()
                .all(|line| line.chars().all(|c| c == '\t' || !is_steering(c)))
        ),
        "junit" | "markdown" => {
            for tag in ["<script", "<img"] {
                assert!(!text.contains(tag), "{format} has {tag}: {text}");
            }
        }
        other => panic!("no check of {other}"),
    }
}

#[test]
fn every_exporter_stays_whole_with_generated_text() {
    let (place, mut files) = (tempfile::tempdir().unwrap(), Vec::<(&str, PathBuf)>::new());
    let plain: Summary = serde_json::from_value(recorded()).unwrap();
    let rows = csv(&written("csv", &plain)).len();
    for seed in 0..texts() * 3 {
        let summary = summary(seed);
        for format in FORMATS {
            let text = written(format.name, &summary);
            let steering = text
                .replace("\r\n", "\n")
                .chars()
                .find(|c| !matches!(c, '\n' | '\t') && is_steering(*c));
            assert_eq!(steering, None, "seed {seed}, {}", format.name);
            is_sound(format.name, &text, rows);
            let path = place.path().join(format!("{seed}.{}", format.name));
            fs::write(&path, text).unwrap();
            files.push((format.name, path));
        }
    }
    let Some(python) = readers::python() else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/support/readers.py");
    for (format, path) in files
        .iter()
        .filter(|(format, _)| ["csv", "ndjson", "openmetrics", "junit"].contains(format))
        .take(12)
    {
        let output = Command::new(&python)
            .arg(&script)
            .arg(format)
            .arg(path)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{format} {}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

fn written(format: &str, summary: &Summary) -> String {
    let format = FORMATS.iter().find(|known| known.name == format).unwrap();
    let mut bytes = Vec::new();
    (format.write)(&ExportedCells::new(summary, &[]), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Command lines with a generated text in place of `{}`; `RUN` is a kept run under a hostile name.
const LINES: &str = "list {}|show {}|show {} --request|run {}|run fault/{}|run fault/touch@{}|\
    run fault --set {}|run fault --set bytes={}|run fault --budget {}|run fault --baseline {}|run --published {}|\
    run --resume {}|run nonesuch --out {}|check {}|check --selftest --budget {}|report {}|report RUN|\
    report RUN --full|report RUN --json|report RUN --ascii|report RUN --explain-verdict {}|\
    report RUN --html /dev/null/{}|report RUN --format {}|report {} --format csv|report RUN --format csv|\
    report RUN --format markdown|report RUN --format openmetrics|compare RUN {}|compare RUN RUN|\
    compare RUN RUN --markdown|compare RUN RUN --expect {}|runs|runs --json|runs --tag {}|runs --since {}|\
    runs show {}|runs show RUN|runs tag RUN {}|runs rm {}|compare --outliers {}|compare --outliers RUN|compare RUN --by {}|\
    compare --outliers RUN --by host|claims {}|\
    claims --file {}|claims --about {}|claims --compare RUN {}|advise {}|advise fault --bytes {}|advise --out {}|\
    advise --merge {}|try --with {} -- true|try --with env:A={} --pairs {} -- true|try -- {}|profile -- {}|\
    profile --input {} -- true|doctor --{}|completions {}|--worker {} list|\
    --experiments {} list|--java {} list|--python {} list|{}";

#[test]
fn every_verb_is_harmless_with_generated_text() {
    for seed in 0..texts() {
        let random = &mut Seeded::new(seed);
        let place = Place::new();
        let name = hostile(random).replace('/', "");
        let run = place.file(&format!("home/r{name}"));
        copy(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs/ordinary"),
            &run,
        );
        for line in LINES.split('|') {
            let fill = |word: &str, random: &mut Seeded| {
                word.replace("RUN", run.to_str().unwrap())
                    .replace("{}", &hostile(random))
            };
            let words: Vec<String> = line
                .split_whitespace()
                .map(|word| fill(word, random))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            is_harmless(
                &words,
                &said(place.command(&words).current_dir(place.file("home"))),
            );
        }
    }
}
