//! Every export is read by the program that it is made for, and holds what the summary holds.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use record::outcome::Status;
use record::summary::Summary;
use report::document::{Block, Place};
use report::export::{ExportedCells, FORMATS};
use serde_json::Value;

use crate::support::readers;

fn fixture(name: &str) -> Summary {
    // Recorded summaries of all kinds; that of `run.json` has every launch.
    let folder = if name == "run.json" {
        "tests/fixtures/exports"
    } else {
        "crates/report/tests/fixtures"
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A summary in a format, as text.
fn written(summary: &Summary, format: &str) -> Vec<u8> {
    let format = FORMATS.iter().find(|f| f.name == format).unwrap();
    let mut bytes = Vec::new();
    (format.write)(&ExportedCells::new(summary, &[]), &mut bytes).unwrap();
    bytes
}

fn file(place: &Path, summary: &Summary, format: &str) -> PathBuf {
    let path = place.join(format!("run.{format}"));
    std::fs::write(&path, written(summary, format)).unwrap();
    path
}

/// What a reader found in a file; `None` where there is no such reader here.
fn read(format: &str, path: &Path, schema: Option<&str>) -> Option<Value> {
    let python = readers::python()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(python);
    command
        .arg(root.join("tests/it/support/readers.py"))
        .arg(format)
        .arg(path);
    command.args(schema.map(|name| root.join("tests/fixtures/exports").join(name)));
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{format}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn shown(summary: &Summary) -> impl Iterator<Item = &record::summary::CellSummary> {
    summary.cells.iter().filter(|c| !c.hidden)
}

/// Rows of the flat formats, how many have a wall time, and the sum of these.
fn flat(summary: &Summary) -> (u64, u64, f64) {
    let (mut rows, mut walls, mut sum) = (0, 0, 0.0);
    for cell in shown(summary) {
        let values: Vec<f64> = cell
            .per_launch
            .iter()
            .flat_map(|l| l.wall_ns.values().copied())
            .collect();
        rows += values.len().max(1) as u64;
        walls += values.len() as u64;
        sum += values.iter().sum::<f64>();
    }
    (rows, walls, sum)
}

#[test]
fn duckdb_reads_every_launch_of_csv_and_ndjson() {
    let place = tempfile::tempdir().unwrap();
    for name in ["run.json", "whole.json", "share-no-java.json"] {
        let summary = fixture(name);
        let (rows, walls, sum) = flat(&summary);
        assert!(walls > 20, "{name}");
        for format in ["csv", "ndjson"] {
            let Some(found) = read(format, &file(place.path(), &summary, format), None) else {
                return;
            };
            assert_eq!(
                (found["rows"].as_u64(), found["walls"].as_u64()),
                (Some(rows), Some(walls)),
                "{name} {format}"
            );
            assert!(
                close(found["sum"].as_f64().unwrap(), sum),
                "{name} {format}: {found} {sum}"
            );
        }
    }
}

#[test]
fn benchstat_finds_a_line_a_launch_and_the_same_median() {
    let Some(benchstat) = readers::benchstat() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for name in ["run.json", "whole.json"] {
        let summary = fixture(name);
        let path = file(place.path(), &summary, "benchfmt");
        let output = Command::new(&benchstat)
            .args(["-format", "csv"])
            .arg(&path)
            .output()
            .unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success() && !err.contains("error") && !err.contains("parsing"),
            "{err}"
        );
        for cell in shown(&summary).filter(|c| c.outcome.status == Status::Ok) {
            let headline = &summary.experiment(&cell.experiment).unwrap().headline;
            let mut walls: Vec<f64> = cell
                .per_launch
                .iter()
                .filter_map(|l| l.wall_ns.get(headline).copied())
                .collect();
            let Some(median) = stats::quantile::median(&mut walls) else {
                continue;
            };
            let phase = &cell.phases[headline];
            let median = median * phase.per_unit_ns.median / phase.wall_ns.median;
            let (capital, rest) = cell.experiment.split_at(1);
            let start = format!(
                "{}{rest}/method={}/worker={}/",
                capital.to_uppercase(),
                cell.method,
                cell.worker
            );
            // A setting that another method lacks is no part of a name.
            let mine = || {
                shown(&summary)
                    .filter(|c| c.outcome.status == Status::Ok && c.experiment == cell.experiment)
            };
            let is_shared = |key: &&String| mine().all(|c| c.parameters.contains_key(*key));
            let shared = cell.parameters.iter().filter(|(key, _)| is_shared(key));
            let ends: Vec<String> = shared.map(|(k, v)| format!("{k}={v}")).collect();
            let is_own =
                |line: &&str| line.starts_with(&start) && ends.iter().all(|e| has(line, e));
            let table = out
                .split("\n\n")
                .find(|t| t.contains(",sec/op,"))
                .expect("the headline's table");
            let line = table
                .lines()
                .find(is_own)
                .unwrap_or_else(|| panic!("{start} {ends:?} in {table}"));
            let value: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
            assert!((value * 1e9 / median - 1.0).abs() < 1e-3, "{line} {median}");
            seen += 1;
        }
        let beside = Command::new(&benchstat)
            .args(["-col", "/method"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(
            beside.status.success() && String::from_utf8_lossy(&beside.stdout).contains("touch")
        );
    }
    assert!(seen > 4, "{seen} cells");
}

/// Whether a name has a part of this kind.
fn has(line: &str, part: &str) -> bool {
    line.split(',')
        .next()
        .unwrap_or_default()
        .split('/')
        .any(|own| own == part)
}

#[test]
fn hyperfines_own_scripts_read_and_draw_it() {
    let (Some(scripts), Some(python)) = (readers::hyperfine_scripts(), readers::python()) else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let summary = fixture("run.json");
    let path = file(place.path(), &summary, "hyperfine");
    for script in [
        "plot_whisker",
        "plot_histogram",
        "plot_progression",
        "plot_benchmark_comparison",
    ] {
        let picture = place.path().join(format!("{script}.png"));
        let mut command = Command::new(&python);
        command
            .arg(scripts.join(format!("{script}.py")))
            .arg(&path)
            .arg("-o")
            .arg(&picture);
        let output = command
            .env("MPLBACKEND", "Agg")
            .env("MPLCONFIGDIR", place.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"),
            "{script}"
        );
    }
    let output = Command::new(&python)
        .arg(scripts.join("advanced_statistics.py"))
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let results = value["results"].as_array().unwrap();
    assert!(results.len() > 3 && output.status.success(), "{text}");
    for result in results {
        assert!(
            text.contains(result["command"].as_str().unwrap()),
            "{result:#} in {text}"
        );
        assert_eq!(
            result["times"].as_array().unwrap().len(),
            result["exit_codes"].as_array().unwrap().len()
        );
    }
}

#[test]
fn prometheus_and_openmetrics_parsers_agree_with_the_summary() {
    let place = tempfile::tempdir().unwrap();
    let summary = fixture("whole.json");
    let Some(found) = read(
        "openmetrics",
        &file(place.path(), &summary, "openmetrics"),
        None,
    ) else {
        return;
    };
    for parser in ["openmetrics", "prometheus"] {
        let samples = |name: &str| {
            found[parser][name]
                .as_array()
                .unwrap_or_else(|| panic!("{parser} {name}"))
                .clone()
        };
        assert_eq!(
            samples("pagewise_cell_status").len(),
            shown(&summary).count()
        );
        let walls = samples("pagewise_wall_seconds");
        let expected: usize = shown(&summary)
            .filter(|c| c.outcome.status == Status::Ok)
            .map(|c| c.phases.len())
            .sum();
        assert_eq!(walls.len(), expected, "{parser}");
        let sum: f64 = walls.iter().map(|s| s[1].as_f64().unwrap()).sum();
        let own = shown(&summary)
            .filter(|c| c.outcome.status == Status::Ok)
            .flat_map(|c| c.phases.values());
        let own: f64 = own.map(|p| p.per_unit_ns.median * 1e-9).sum();
        assert!(close(sum, own), "{sum} {own}");
        assert!(
            walls
                .iter()
                .all(|s| s[0]["phase"].is_string() && s[0]["method"].is_string())
        );
    }
}

/// The metrics of a run.
fn metrics() -> [(&'static str, Vec<u8>); 1] {
    [("run", written(&fixture("whole.json"), "openmetrics"))]
}

#[test]
fn promtool_finds_no_fault_in_a_run() {
    let Some(promtool) = readers::promtool() else {
        return;
    };
    for (what, text) in metrics() {
        let mut child = Command::new(&promtool);
        child
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&text).unwrap();
        let output = child.wait_with_output().unwrap();
        let said =
            String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.trim().is_empty(),
            "{what}: {said}"
        );
    }
}

#[test]
fn node_exporter_serves_every_sample_of_a_run() {
    let Some(exporter) = readers::node_exporter() else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let texts = metrics();
    for (name, text) in &texts {
        std::fs::write(place.path().join(format!("{name}.prom")), text).unwrap();
    }
    // The kernel gives a port that nobody listens on.
    let at = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut command = Command::new(exporter);
    command.args([
        "--collector.disable-defaults",
        "--collector.textfile",
        "--collector.textfile.directory",
    ]);
    command
        .arg(place.path())
        .arg(format!("--web.listen-address={at}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let answer = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let mut stream = TcpStream::connect(at).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok().map(|_| answer)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = answer.expect("it answers within ten seconds");
    assert!(
        answer.contains("\nnode_textfile_scrape_error 0\n"),
        "{answer}"
    );
    let samples = |text: &str| {
        text.lines()
            .filter(|line| line.starts_with("pagewise_"))
            .count()
    };
    let ours: usize = texts
        .iter()
        .map(|(_, text)| samples(&String::from_utf8_lossy(text)))
        .sum();
    assert_eq!(samples(&answer), ours);
}

#[test]
fn junitparser_counts_the_outcomes() {
    let place = tempfile::tempdir().unwrap();
    for name in ["whole.json", "share-no-java.json", "interrupted.json"] {
        let summary = fixture(name);
        let Some(found) = read("junit", &file(place.path(), &summary, "junit"), None) else {
            return;
        };
        let count = |of: &[Status]| {
            shown(&summary)
                .filter(|c| of.contains(&c.outcome.status))
                .count() as u64
        };
        assert_eq!(
            found["tests"].as_u64(),
            Some(shown(&summary).count() as u64)
        );
        let skipping = [Status::Skipped, Status::Refused, Status::Untrusted];
        assert_eq!(
            (found["skipped"].as_u64(), found["failures"].as_u64()),
            (Some(count(&skipping)), Some(0)),
            "{name}"
        );
        let cases = found["cases"].as_array().unwrap();
        let skipped = cases
            .iter()
            .filter(|c| c[2] == serde_json::json!(["skipped"]))
            .count() as u64;
        assert_eq!(skipped, count(&skipping), "{name}");
    }
}

#[test]
fn github_action_benchmark_takes_the_medians() {
    let place = tempfile::tempdir().unwrap();
    for name in ["whole.json", "fault.json", "one-launch.json"] {
        let summary = fixture(name);
        let path = file(place.path(), &summary, "github");
        let Some(github) = read("github", &path, Some("github.schema.json")) else {
            return;
        };
        let entries = github.as_array().unwrap();
        let medians: Vec<f64> = shown(&summary)
            .filter(|c| c.outcome.status == Status::Ok)
            .filter_map(|c| c.phases.get(&summary.experiment(&c.experiment)?.headline))
            .map(|phase| phase.per_unit_ns.median)
            .collect();
        assert!(!entries.is_empty(), "{name}");
        for entry in entries {
            let value = entry["value"].as_f64().unwrap();
            assert!(
                medians.iter().any(|median| close(*median, value)),
                "{name}: {entry}"
            );
        }
    }
}

#[test]
fn markdown_has_every_row_that_is_shown() {
    for name in ["whole.json", "fault.json", "look.json"] {
        let summary = fixture(name);
        let text = String::from_utf8(written(&summary, "markdown")).unwrap();
        let sections = report::view::tables(&summary, &[], None).sections;
        let mut rows = 0;
        for block in sections
            .iter()
            .filter(|s| s.place == Place::Everywhere)
            .flat_map(|s| &s.blocks)
        {
            let Block::Table(table) = block else { continue };
            for row in table.bodies.iter().flat_map(|body| &body.rows) {
                assert!(text.contains(&row.cells[0].text), "{name}: {}", row.name);
                rows += 1;
            }
        }
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        let uneven = lines
            .windows(2)
            .find(|w| w.iter().all(|l| l.starts_with('|')) && columns(w[0]) != columns(w[1]));
        assert!(rows > 3 && uneven.is_none(), "{name}: {uneven:?}");
    }
}

#[test]
fn experiments_that_are_not_wanted_are_left_out() {
    let summary = fixture("look.json");
    let all = ExportedCells::new(&summary, &[]);
    let one = ExportedCells::new(&summary, &["fault".to_owned()]);
    assert!(one.cells.len() < all.cells.len() && one.cells.iter().all(|c| c.experiment == "fault"));
    let text = |taken: &ExportedCells| {
        let mut bytes = Vec::new();
        (FORMATS.iter().find(|f| f.name == "markdown").unwrap().write)(taken, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(text(&one).matches("\nmeasured: ").count(), 1);
}
