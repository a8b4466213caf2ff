//! Recorded runs (`tests/fixtures/runs`) from the folder to the words: judged again, then told.

use std::path::{Path, PathBuf};

use pagewise_report::document::Document;
use pagewise_report::published::{self, Articles};
use pagewise_report::terminal::{self, Screen};
use pagewise_report::view::{self, Wanted};
use pagewise_report::{html, markdown, verdict};
use record::claim::Claim;
use record::folder::RunFolder;
use record::published::Published;
use record::summary::Summary;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn open(name: &str) -> RunFolder {
    RunFolder::open(
        root()
            .join("tests/fixtures/runs")
            .join(name)
            .to_str()
            .unwrap(),
        Path::new("/nowhere"),
    )
    .unwrap()
}

fn judged(name: &str) -> Summary {
    judge::replay(&open(name)).unwrap().1
}

fn told(name: &str, wanted: &Wanted) -> String {
    text(&view::screen(&judged(name), wanted), wanted.full)
}

fn text(document: &Document, full: bool) -> String {
    terminal::render(document, &Screen::new(100, false), full).plain()
}

fn full() -> Wanted {
    Wanted {
        full: true,
        ..Wanted::default()
    }
}

fn warnings() -> Wanted {
    Wanted {
        doubt: true,
        ..Wanted::default()
    }
}

#[test]
fn an_ordinary_run_has_its_table_and_its_check() {
    let text = told("ordinary", &full());
    for word in ["touch", "populate-write", "quiet enough", "baseline"] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
    assert!(told("ordinary", &warnings()).contains("A/A"));
    assert!(!told("ordinary", &warnings()).contains("not as it was written"));
}

#[test]
fn damage_is_told_with_its_launch() {
    assert!(
        told("damaged", &warnings()).contains("launch 4: its frame"),
        "{}",
        told("damaged", &warnings())
    );
    assert!(
        told("damaged", &Wanted::default()).contains("damaged"),
        "{}",
        told("damaged", &Wanted::default())
    );
}

#[test]
fn an_interrupted_run_says_how_it_is_completed() {
    let text = told("interrupted", &Wanted::default());
    assert!(text.contains("--resume"), "{text}");
}

#[test]
fn a_failed_cell_is_told_with_its_call_and_has_no_figure() {
    let text = told("failed-cell", &full());
    assert!(
        text.contains("failed") && text.contains("Cannot allocate memory"),
        "{text}"
    );
}

#[test]
fn what_a_machine_lacks_is_told_with_what_provides_it() {
    let text = told("no-java", &Wanted::default())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        text.contains("skipped: channel: no Java") && text.contains("the package default-jdk"),
        "{text}"
    );
    assert!(text.contains("touch@go: no Go toolchain in PATH"), "{text}");
}

#[test]
fn one_launch_recommends_nothing() {
    let text = told("one-launch", &Wanted::default());
    assert!(
        !text.contains("→ use") && !text.contains("faster by"),
        "{text}"
    );
}

#[test]
fn a_verdict_is_told_step_by_step() {
    let all = judge::explained::explain(
        &open("ordinary"),
        "fault/populate-write",
        &judge::KnownMethods::default(),
    )
    .unwrap();
    let text = self::text(&verdict::document(&all), false);
    assert!(
        text.contains("fault/populate-write@c-O3 : fault/touch@c-O3"),
        "{text}"
    );
    let launches = text.lines().filter(|line| line.contains(" rounds")).count();
    assert!(launches >= all[0].launches.len(), "{text}");
}

fn claims() -> Vec<Claim> {
    let folder = std::fs::read_dir(root().join("claims")).unwrap();
    let paths = folder.flatten().map(|entry| entry.path());
    paths
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            Claim::parse(path.to_str().unwrap(), &text).unwrap()
        })
        .collect()
}

/// P5's table with two rows a curve, which the cells of `ordinary` repeat.
const ARTICLE: &str = r#"
id = "P5"
title = "touch or populate"
author = "somebody"
year = 2021
question = "Which is faster?"
source = "a page"
machine = "a machine"
budget_s = 60
[[next]]
question = "Further sizes"
command = "pagewise run fault --set bytes=2MiB"
[[table]]
title = "its own form"
label = "COLUMN, ROW"
rows = ["1 MiB", "4 MiB"]
columns = ["touch"]
[[picture]]
title = "against the size"
curves = ["touch"]
[[picture]]
title = "both"
bars = "touch"
[[figure]]
label = "touch, 1 MiB"
value = 156
unit = "µs"
ops = 256
cell = "fault/touch@c-O3"
parameters = { bytes = "1MiB" }
phase = "first-touch"
job = "as published"
[[figure]]
label = "touch, 4 MiB"
value = 638
unit = "µs"
ops = 1024
cell = "fault/touch@c-O3"
parameters = { bytes = "4MiB" }
phase = "first-touch"
job = "as published"
[[figure]]
label = "touch, 4 MiB"
value = 638
unit = "µs"
ops = 1024
cell = "fault/populate-write@c-O3"
parameters = { bytes = "4MiB" }
phase = "ready"
job = "corrected"
[[figure]]
label = "claim a"
claim = "P5-a"
value = 0.386
unit = "times"
cell = "fault/populate-write@c-O3"
against = "fault/touch@c-O3"
parameters = { bytes = "4MiB" }
phase = "ready"
job = "as published"
"#;

#[test]
fn an_article_has_a_row_a_figure_its_pictures_and_a_verdict_for_each_sentence() {
    let mut summary = judged("ordinary");
    // The run is of one size.
    for cell in &mut summary.cells {
        let bytes = (4_u64 << 20).to_string();
        cell.parameters.insert("bytes".to_owned(), bytes);
    }
    let (table, claims) = (Published::parse("p5", ARTICLE).unwrap(), claims());
    let articles = Articles {
        articles: &[&table],
        claims: &claims,
        programs: &[],
    };
    let document = published::screen(articles, &summary, &Wanted::default());
    let shown = text(&document, false);
    let rows: Vec<&str> = shown
        .lines()
        .filter(|line| line.contains("touch, ") && line.contains(" MiB  "))
        .collect();
    assert_eq!(rows.len(), 2, "one row a figure, with both jobs: {shown}");
    assert!(rows[0].contains("not in this run"), "{shown}");
    assert!(rows[1].matches("µs").count() + rows[1].matches(" ns").count() >= 3);
    let statement = "MADV_HUGEPAGE before the touch is";
    assert!(shown.contains(statement), "{shown}");
    assert!(shown.contains("No row decides P5-b, P5-c, P5-d"), "{shown}");
    let page = html::page(&document, html::of_run(&summary));
    assert!(page.contains("both") && page.contains("class=\"plot stack"));
    let source = markdown::render_full(&document);
    for part in [
        "| touch, 4 MiB |",
        "### its own form",
        "| *4 MiB* |  |",
        "| published | 638 µs |",
        "| ratio |",
        "here: the article's job on this machine",
        "- Further sizes: pagewise run fault",
    ] {
        assert!(source.contains(part), "{part}: {source}");
    }
}

#[test]
fn every_write_up_can_be_held_against_every_run() {
    let claims = claims();
    for entry in std::fs::read_dir(root().join("published"))
        .unwrap()
        .flatten()
    {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let article = std::fs::read_to_string(&path).unwrap();
        let table = Published::parse(path.to_str().unwrap(), &article).unwrap();
        for name in [
            "ordinary",
            "one-launch",
            "failed-cell",
            "no-java",
            "interrupted",
            "damaged",
        ] {
            let articles = Articles {
                articles: &[&table],
                claims: &claims,
                programs: &[],
            };
            let sections = published::sections(articles, &judged(name));
            let shown = text(
                &Document {
                    sections,
                    ..Document::default()
                },
                false,
            );
            assert!(shown.contains(&table.id), "{name}: {shown}");
        }
    }
}
