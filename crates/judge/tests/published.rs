//! Published figures beside ours: ratios are judged launch by launch.

use std::path::Path;

use pagewise_judge::questions::published::{OwnFigure, at_measured_sizes, quotient, repeated};
use record::published::{Figure, FigureColumn, Published};
use record::summary::{LaunchValues, Summary};

/// Four blocks in which the whole machine is 1, 2, 4 and 8 times as slow, and one cell always takes twice the other's time.
fn with_a_machine_that_slows_down() -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures/fault.json");
    let mut summary: Summary =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (cell, least) in [("fault/populate@c-O3", 2e6), ("fault/touch@c-O3", 1e6)] {
        let cell = summary
            .cells
            .iter_mut()
            .find(|c| c.cell == cell && !c.hidden)
            .unwrap();
        cell.per_launch = (0..4)
            .map(|block: i32| LaunchValues {
                launch: block as usize,
                block,
                rounds: 1,
                wall_ns: [("ready".to_owned(), least * f64::from(1 << block))].into(),
                cpu_ns: Default::default(),
                tail_ns: Default::default(),
            })
            .collect();
        let phase = cell.phases.get_mut("ready").unwrap();
        (phase.wall_ns.median, phase.wall_ns.low, phase.wall_ns.high) =
            (least * 3.0, Some(least), Some(least * 9.0));
    }
    summary
}

fn article(column: FigureColumn, against: Option<&str>) -> Published {
    let figure = Figure {
        label: "populate : touch".to_owned(),
        headline: true,
        claim: None,
        value: Some(1.0),
        runs: Vec::new(),
        unit: "times".to_owned(),
        ops: 0,
        cell: "fault/populate@c-O3".to_owned(),
        against: against.map(str::to_owned),
        parameters: Default::default(),
        against_parameters: Default::default(),
        phase: "ready".to_owned(),
        against_phase: None,
        part: None,
        column,
        job: "corrected".to_owned(),
    };
    Published {
        budget_s: 60.0,
        figures: vec![figure],
        ..Published::default()
    }
}

fn here(summary: &Summary, column: FigureColumn, against: Option<&str>) -> OwnFigure {
    repeated(&article(column, against), summary)[0]
        .here
        .unwrap()
}

#[test]
fn what_slows_both_cells_down_is_no_part_of_their_ratio() {
    let mut summary = with_a_machine_that_slows_down();
    let base = Some("fault/touch@c-O3");
    let ratio = here(&summary, FigureColumn::WallNs, base);
    let (low, high) = ratio.interval.unwrap();
    assert!(
        [ratio.value, low, high]
            .iter()
            .all(|v| (v - 2.0).abs() < 1e-9),
        "{ratio:?}"
    );
    let cell = summary
        .cells
        .iter_mut()
        .find(|c| c.cell == "fault/populate@c-O3" && !c.hidden)
        .unwrap();
    cell.per_launch.truncate(3);
    let ratio = here(&summary, FigureColumn::WallNs, base);
    assert_eq!(
        (ratio.value, ratio.interval),
        (2.0, None),
        "three launches have no interval"
    );
}

#[test]
fn a_count_has_no_interval() {
    let summary = with_a_machine_that_slows_down();
    let faults = here(&summary, FigureColumn::MinorFaults, None);
    assert!(faults.is_count && faults.interval.is_none());
    let time = here(&summary, FigureColumn::WallNs, None);
    assert_eq!((time.is_count, time.interval), (false, Some((2e6, 18e6))));
}

/// Two launches of each cell, the second of which takes a tenth longer.
fn with_two_launches() -> Summary {
    let mut summary = with_a_machine_that_slows_down();
    let cells = &mut summary.cells;
    let touch = cells.iter().find(|cell| cell.cell == "fault/touch@c-O3");
    let mut launches = touch.unwrap().per_launch[..2].to_vec();
    for launch in &mut launches {
        let factor = 1.0 + 0.1 * f64::from(launch.block);
        launch.wall_ns.insert("ready".to_owned(), 1e6 * factor);
    }
    for cell in cells {
        cell.per_launch.clone_from(&launches);
        if let Some(phase) = cell.phases.get_mut("ready") {
            (phase.wall_ns.median, phase.wall_ns.low, phase.wall_ns.high) = (1.05e6, None, None);
        }
    }
    summary
}

#[test]
fn two_launches_have_an_interval_that_holds_both() {
    let summary = with_two_launches();
    let time = here(&summary, FigureColumn::WallNs, None);
    let (low, high) = time.interval.unwrap();
    // Student's factor of one degree of freedom is 12.7: nothing else says how launches differ.
    assert!(low < 0.6e6 && high > 1.8e6, "{time:?}");
    assert!((time.value - 1.049e6).abs() < 1e3, "{time:?}");
}

#[test]
fn the_rows_of_a_table_share_what_is_known_of_their_scatter() {
    let summary = with_two_launches();
    let mut article = article(FigureColumn::WallNs, None);
    let others = ["touch", "thp", "thp-populate", "populate"];
    article.figures = others
        .map(|method| Figure {
            cell: format!("fault/{method}@c-O3"),
            ..article.figures[0].clone()
        })
        .to_vec();
    let rows = repeated(&article, &summary);
    let wide = rows.iter().filter_map(|row| row.here?.interval);
    let widths: Vec<f64> = wide.map(|(low, high)| high / low).collect();
    assert_eq!(widths.len(), 4);
    assert!(widths.iter().all(|width| *width < 2.0), "{widths:?}");
}

#[test]
fn a_size_beyond_the_article_is_a_row_where_its_own_job_was_measured() {
    let mut summary = with_two_launches();
    let mut article = article(FigureColumn::WallNs, None);
    let own = &mut article.figures[0];
    own.label = "populate, 1 MiB".to_owned();
    own.job = "as published".to_owned();
    own.parameters = [("bytes".to_owned(), "1MiB".to_owned())].into();
    let labels = |article: &Published, summary: &Summary| -> Vec<String> {
        let more = at_measured_sizes(article, summary);
        more.figures
            .into_iter()
            .map(|figure| figure.label)
            .collect()
    };
    for cell in &mut summary.cells {
        cell.parameters
            .insert("bytes".to_owned(), (3 << 20).to_string());
    }
    let both = ["populate, 1 MiB", "populate, 3 MiB"];
    assert_eq!(labels(&article, &summary), both);
    // Of the corrected job alone no row is made: other runs measure it, too.
    article.figures[0].job = "corrected".to_owned();
    assert_eq!(labels(&article, &summary), both[..1]);
}

#[test]
fn a_quotient_is_as_unsure_as_both_figures() {
    let figure = |value: f64, factor: f64| OwnFigure {
        value,
        interval: Some((value / factor, value * factor)),
        is_count: false,
        ratio: None,
    };
    let (value, interval) = quotient(&figure(3.0, 1.0), &figure(2.0, 1.2));
    let (low, high) = interval.unwrap();
    assert!(
        (value - 1.5).abs() < 1e-9
            && (high / 1.5 - 1.2).abs() < 1e-9
            && (low * 1.2 - 1.5).abs() < 1e-9
    );
    let counted = OwnFigure {
        interval: None,
        ..figure(3.0, 1.0)
    };
    assert_eq!(quotient(&counted, &figure(2.0, 1.2)), (1.5, None));
}
