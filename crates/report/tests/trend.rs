//! Trends over recorded summaries: every figure is one of a run, and a newest one outside all earlier ones is named.

use pagewise_report::document::{Block, Document, Entry, Tone};
use pagewise_report::terminal::{Screen, render};
use pagewise_report::view::{self, RunTrend};
use record::outcome::Status;
use record::summary::Summary;
use std::path::Path;

fn fixture(name: &str) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The document of these runs.
fn trend(runs: &[Summary], experiments: &[String], name: &str) -> Document {
    let mut trend = RunTrend::default();
    runs.iter().for_each(|run| trend.add(run.clone()));
    view::trend(&trend, experiments, name)
}

/// Four runs of one record; in the last one every ratio is `factor` times what it was.
fn runs(factor: f64) -> Vec<Summary> {
    let mut runs: Vec<Summary> = (0..4).map(|_| fixture("fault")).collect();
    for (at, run) in runs.iter_mut().enumerate() {
        run.run = format!("run-{at}");
    }
    let newest = runs[3]
        .groups
        .iter_mut()
        .flat_map(|group| &mut group.comparisons)
        .filter_map(|c| c.contrast.ratio.as_mut());
    newest.for_each(|r| {
        [&mut r.ratio, &mut r.low, &mut r.high]
            .into_iter()
            .for_each(|value| *value *= factor)
    });
    runs
}

/// Rows of the tables of experiments: name, tone, and the numbers of the newest and the first run.
fn rows(document: &Document) -> Vec<(String, Tone, [f64; 2])> {
    let sections = document
        .sections
        .iter()
        .filter(|section| section.id.starts_with("experiment-"));
    let tables = sections
        .flat_map(|section| &section.blocks)
        .filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
    let rows = tables
        .flat_map(|table| &table.bodies)
        .flat_map(|body| &body.rows);
    let number = |row: &Entry, at: usize| row.cells[at].value.as_ref().unwrap().parse().unwrap();
    rows.map(|row| (row.name.clone(), row.tone, [0, 2].map(|at| number(row, at))))
        .collect()
}

#[test]
fn every_figure_is_one_of_its_run() {
    let runs = runs(100.0);
    let rows = rows(&trend(&runs, &[], "tag:main"));
    let ratios = |run: &Summary| -> Vec<f64> {
        run.groups
            .iter()
            .flat_map(|g| &g.comparisons)
            .filter_map(|c| Some(c.contrast.ratio?.ratio))
            .collect()
    };
    let times = |run: &Summary| -> Vec<f64> {
        run.cells
            .iter()
            .flat_map(|cell| cell.phases.values())
            .map(|phase| phase.per_unit_ns.median)
            .collect()
    };
    let is_among =
        |value: f64, all: Vec<f64>| all.iter().any(|one| (one / value - 1.0).abs() < 1e-5);
    let mut above = 0;
    for (name, tone, [newest, first]) in &rows {
        if *tone == Tone::Slower {
            above += 1;
            assert!(
                is_among(*newest, ratios(&runs[3])) && is_among(*first, ratios(&runs[0])),
                "{name}"
            );
            assert!((newest / first / 100.0 - 1.0).abs() < 1e-4, "{name}");
        } else {
            assert!(
                *tone == Tone::Plain && is_among(*newest, times(&runs[3])) && newest == first,
                "{name}"
            );
        }
    }
    assert!(above > 4 && rows.len() > above, "{rows:?}");
}

#[test]
fn runs_alike_are_among_each_other_and_a_lack_is_a_gap() {
    let mut runs = runs(1.0);
    runs[1]
        .cells
        .iter_mut()
        .for_each(|cell| cell.outcome.status = Status::Untrusted);
    runs[2]
        .environment
        .insert("kernel".to_owned(), "9.9.9".to_owned());
    let document = trend(&runs, &[], "tag:main");
    let text = render(&document, &Screen::new(80, false), false).plain();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("0 are above those of all earlier runs, and 0 below"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80) && text.contains("→ 9.9.9"),
        "{text}"
    );
    assert!(rows(&document).iter().all(|row| row.1 == Tone::Plain));
    let page = pagewise_report::html::page(&document, serde_json::Value::Null);
    assert!(page.contains("class=\"curves\"") && page.contains("run 4 (run-3)"));
}
