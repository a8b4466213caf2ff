//! Figures of a document are those of the kept run that it names.

use std::path::Path;

use record::summary::{CellSummary, Summary};

/// The run behind docs/mmap-or-read.md.
const RUN: &str = "docs/evidence/runs/amd";

fn text(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_essay_on_mmap_says_what_its_run_says() {
    let summary: Summary = serde_json::from_str(&text(&format!("{RUN}/summary.json"))).unwrap();
    let (essay, picture) = (
        text("docs/mmap-or-read.md"),
        text("docs/images/mmap-or-read.svg"),
    );
    let is = |cell: &CellSummary, method: &str, cache: &str| {
        let value = |key: &str| cell.parameters.get(key).map(String::as_str);
        let name = format!("read/{method}@c-O3");
        !cell.hidden
            && cell.cell == name
            && value("cache") == Some(cache)
            && value("bytes") == Some("33554432")
    };
    for cache in ["hot", "written", "mapped", "cold"] {
        let cell = |method| {
            summary
                .cells
                .iter()
                .position(|c| is(c, method, cache))
                .expect("the run has the cell")
        };
        let (read, mmap) = (cell("read"), cell("mmap"));
        let whole = |cell: usize| &summary.cells[cell].phases["whole"];
        let group = summary
            .groups
            .iter()
            .find(|group| group.cells.contains(&mmap))
            .unwrap();
        let ratio = group
            .comparison(mmap, "whole")
            .and_then(|comparison| comparison.contrast.ratio)
            .unwrap();
        let row = format!(
            "(`cache={cache}`) | {:.2} ms | {:.2} ms | {:.0} | {:.2} ({:.2}–{:.2}) |",
            whole(read).wall_ns.median / 1e6,
            whole(mmap).wall_ns.median / 1e6,
            whole(mmap).minor_faults,
            ratio.ratio,
            ratio.low,
            ratio.high
        );
        assert!(essay.contains(&row), "the essay lacks: {row}");
        assert!(
            picture.contains(&format!(">{:.2}</text>", ratio.ratio)),
            "the picture lacks {:.2}",
            ratio.ratio
        );
    }
    assert!(essay.contains(RUN));
}

#[test]
fn the_story_of_the_same_day_says_what_its_runs_say() {
    let (story, costs_drawn) = (text("docs/same-day.md"), text("docs/images/same-day.svg"));
    let ratios_drawn = text("docs/images/same-day-ratio.svg");
    let rows = ["plain", "fragmented-movable"]
        .iter()
        .flat_map(|state| [(*state, "ready"), (*state, "refault")]);
    for (run, (state, phase)) in ["same-day-1", "same-day-2"]
        .iter()
        .flat_map(|run| rows.clone().map(move |row| (*run, row)))
    {
        let summary: Summary =
            serde_json::from_str(&text(&format!("docs/evidence/runs/{run}/summary.json"))).unwrap();
        let is = |cell: &CellSummary, method: &str| {
            let has =
                |key: &str, value: &str| cell.parameters.get(key).is_some_and(|is| is == value);
            !cell.hidden && cell.method == method && has("state", state) && has("frames", "cached")
        };
        let cell = |method| {
            summary
                .cells
                .iter()
                .position(|c| is(c, method))
                .expect("the run has the cell")
        };
        let (touch, thp) = (cell("touch"), cell("thp"));
        let page_us = |cell: usize| summary.cells[cell].phases[phase].per_unit_ns.median / 1e3;
        let group = summary
            .groups
            .iter()
            .find(|group| group.cells.contains(&thp))
            .unwrap();
        let ratio = group
            .comparison(thp, phase)
            .and_then(|comparison| comparison.contrast.ratio)
            .unwrap();
        let costs = format!(
            "| `{state}` | {:.2} µs | {:.2} µs |",
            page_us(touch),
            page_us(thp)
        );
        let row = format!(
            "{costs} {:.2} ({:.2}–{:.2}) |",
            ratio.ratio, ratio.low, ratio.high
        );
        let is_last = run == "same-day-2";
        // The story has the second touch of the last run only.
        assert!(
            phase != "ready" && !is_last || story.contains(&row),
            "the story lacks: {row}"
        );
        let drawn = |value: f64, picture: &str| picture.contains(&format!(">{value:.2}</text>"));
        assert!(
            phase != "ready" || drawn(ratio.ratio, &ratios_drawn),
            "the picture lacks {:.2}",
            ratio.ratio
        );
        let are_drawn = drawn(page_us(touch), &costs_drawn) && drawn(page_us(thp), &costs_drawn);
        assert!(
            phase != "ready" || !is_last || are_drawn,
            "the picture lacks a cost of {state}"
        );
        assert!(story.contains(run));
    }
}
