//! Published figures beside ours: `published/*.toml`, one file a write-up.

use std::fmt::Write as _;

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use record::published::{Figure, Published};
use record::sizes::{parse_size, three_digits};
use record::summary::{CellSummary, Distribution, LaunchValues, PhaseSummary, Proof, Summary};
use stats::estimate::LEAST_POINTS;
use stats::interval::CONFIDENCE;
use stats::t::t_interval;

/// Our cells that these words and a figure's parameters stand for: one, or one of each worker of a family.
fn matching<'a>(figure: &Figure, words: &str, summary: &'a Summary) -> Vec<&'a CellSummary> {
    let sized = |text: &str| parse_size(text).map_or_else(|_| text.to_owned(), |b| b.to_string());
    let named = |cell: &str| match (words.strip_suffix('*'), words.contains('@')) {
        (Some(start), _) => cell.starts_with(start),
        // Where an experiment has two sides and a figure names one worker, it does both.
        (None, true) => cell.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with('+')),
        (None, false) => cell.split('@').next() == Some(words),
    };
    let fits = |c: &&CellSummary| {
        let one_of = |own: &String, v: &str| v.split('|').any(|v| own == v || *own == sized(v));
        figure.parameters.iter().all(|(k, v)| c.parameters.get(k).is_none_or(|own| one_of(own, v)))
    };
    let mut found: Vec<_> = summary.cells.iter().filter(|c| named(&c.cell)).filter(fits).collect();
    if !words.ends_with('*') {
        found.truncate(1);
    }
    found
}

/// Our figure in the published unit: value, and its interval where there is one.
fn ours(figure: &Figure, cell: &CellSummary) -> Option<Value> {
    let phase = cell.phases.get(&figure.phase)?;
    let counted = |v: f64| Some((v, None));
    let scale = match figure.unit.as_str() {
        "s" => 1e-9,
        "ms" => 1e-6,
        "us" | "µs" => 1e-3,
        _ => 1.0,
    };
    let timed =
        |d: &Distribution, scale: f64| Some((d.median * scale, d.low.zip(d.high).map(|(l, h)| (l * scale, h * scale))));
    match figure.column.as_str() {
        "wall_ns" if figure.ops > 0 => timed(&phase.per_unit_ns, scale * figure.ops as f64),
        "wall_ns" => timed(&phase.wall_ns, scale),
        "cpu_ns" if figure.ops > 0 && phase.wall_ns.median > 0.0 => {
            let per_unit = phase.per_unit_ns.median / phase.wall_ns.median;
            timed(&phase.cpu_ns, scale * figure.ops as f64 * per_unit)
        }
        "cpu_ns" => timed(&phase.cpu_ns, scale),
        "user_ns" => counted(phase.user_ns * scale * per_unit(figure, phase)),
        "system_ns" => counted(phase.system_ns * scale * per_unit(figure, phase)),
        "cpu_percent" => counted(100.0 * phase.cpu_ns.median / phase.wall_ns.median),
        "minor_faults" => counted(phase.minor_faults),
        "major_faults" => counted(phase.major_faults),
        "voluntary_switches" => counted(phase.voluntary_switches),
        "involuntary_switches" => counted(phase.involuntary_switches),
        fact => match cell.proofs.get(fact)? {
            Proof::Number { max, .. } if figure.unit == "KiB" => counted(*max as f64 / 1024.0),
            Proof::Number { max, .. } if figure.unit == "sectors" => counted(*max as f64 / 512.0),
            Proof::Number { max, .. } => counted(*max as f64),
            Proof::Words(_) => None,
        },
    }
}

/// What a time of one of our samples is to be multiplied by to cover as many units as the figure.
fn per_unit(figure: &Figure, phase: &PhaseSummary) -> f64 {
    let units = phase.wall_ns.median / phase.per_unit_ns.median;
    if figure.ops > 0 && units.is_finite() && units > 0.0 { figure.ops as f64 / units } else { 1.0 }
}

type Value = (f64, Option<(f64, f64)>);

/// The ratio of two cells' times, launch by launch: Student's t on the logarithms of what both took in the same block, as
/// ratios are judged everywhere. Where there are too few of these, and of what is counted, the ratio of the two figures.
fn divided(figure: &Figure, (cell, other): (&CellSummary, &CellSummary)) -> Option<Value> {
    let (mine, theirs) = (ours(figure, cell)?.0, ours(figure, other)?.0);
    let of = |launch: &LaunchValues| match figure.column.as_str() {
        "wall_ns" => launch.wall_ns.get(&figure.phase).copied(),
        "cpu_ns" => launch.cpu_ns.get(&figure.phase).copied(),
        _ => None,
    };
    let log = |launch: &LaunchValues| {
        let base = other.per_launch.iter().find(|base| base.block == launch.block)?;
        Some((of(launch)? / of(base)?).ln())
    };
    let logs: Vec<f64> = cell.per_launch.iter().filter_map(log).collect();
    let judged = if logs.len() < LEAST_POINTS { None } else { t_interval(&logs, CONFIDENCE).ok() };
    let Some(judged) = judged else { return Some((mine / theirs, None)) };
    // What the figures are multiplied by, as for the units of a job, the ratio is too.
    let median = |cell: &CellSummary| {
        let phase = cell.phases.get(&figure.phase)?;
        Some(if figure.column == "wall_ns" { phase.wall_ns.median } else { phase.cpu_ns.median })
    };
    let scale = mine / median(cell)? / (theirs / median(other)?);
    let [ratio, low, high] = [judged.estimate, judged.low, judged.high].map(|log| log.exp() * scale);
    Some((ratio, Some((low, high))))
}

/// What stands in the column of intervals: the limits, or that there are none because it was counted.
fn limits(figure: &Figure, limits: Option<(f64, f64)>) -> String {
    match (limits, figure.column.as_str()) {
        (Some((low, high)), _) => format!("{}–{}", three_digits(low), three_digits(high)),
        (None, "wall_ns" | "cpu_ns" | "user_ns" | "system_ns" | "cpu_percent") => String::new(),
        (None, _) => "counted".to_owned(),
    }
}

/// The figure's job, and which of the values that it leaves open the cell had.
fn job(figure: &Figure, cell: &CellSummary) -> String {
    let open = figure.parameters.iter().filter(|(_, v)| v.contains('|'));
    let settled = open.filter_map(|(k, _)| Some(format!(", {k}={}", cell.parameters.get(k)?)));
    settled.fold(figure.job.clone(), |job, one| job + &one)
}

/// The write-up's table with our figures beside it.
///
/// Where several write-ups were asked for, rows on which no statement rests and that were not measured are only counted.
pub fn render(table: &Published, asked: usize, summary: &Summary) -> Result<String> {
    let mut left_out = 0;
    let mut text = format!("\n{}: {} ({}; {})\n", table.id, table.title, table.source, table.machine);
    let mut rows = Table::new();
    rows.load_style(presets::NOTHING).set_header(["figure", "job", "published", "here", "95 %", "ratio", "cell"]);
    for figure in &table.figures {
        let published = format!("{} {}", figure.value, figure.unit);
        let cells = matching(figure, &figure.cell, summary);
        for cell in &cells {
            let mine = match &figure.against {
                Some(words) => {
                    let other = matching(figure, words, summary).first().copied();
                    other.and_then(|other| divided(figure, (cell, other)))
                }
                None => ours(figure, cell),
            };
            let (here, interval, ratio) = match mine {
                Some((value, interval)) => (
                    three_digits(value),
                    limits(figure, interval),
                    if figure.value == 0.0 { String::new() } else { three_digits(value / figure.value) },
                ),
                None => (cell.status.word().to_owned(), String::new(), String::new()),
            };
            let against = figure.against.as_ref().map_or_else(String::new, |words| format!(" / {words}"));
            let words = format!("{}{against}", cell.cell);
            rows.add_row([&figure.label, &job(figure, cell), &published, &here, &interval, &ratio, &words]);
        }
        if cells.is_empty() && !figure.headline && asked > 1 {
            left_out += 1;
        } else if cells.is_empty() {
            rows.add_row([&figure.label, &figure.job, &published, "not in this run", "", "", &figure.cell]);
        }
    }
    for column in rows.column_iter_mut().skip(2).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in rows.to_string().lines() {
        let _ = writeln!(text, "   {}", line.trim_end());
    }
    if let Some(note) = &table.note {
        let _ = writeln!(text, "   {note}");
    }
    if left_out > 0 {
        let _ = writeln!(text, "   {left_out} more rows, of other sizes: pagewise run --published {}", table.id);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four blocks in which the whole machine is 1, 2, 4 and 8 times as slow, and one cell always takes twice the other's time.
    fn with_a_machine_that_slows_down() -> Summary {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fault.json");
        let mut summary: Summary = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for (cell, least) in [("fault/populate@c-O3", 2e6), ("fault/touch@c-O3", 1e6)] {
            let cell = summary.cells.iter_mut().find(|c| c.cell == cell && !c.hidden).unwrap();
            let launch = |block: i32| LaunchValues {
                launch: block as usize,
                block,
                rounds: 1,
                wall_ns: [("ready".to_owned(), least * f64::from(1 << block))].into(),
                cpu_ns: Default::default(),
            };
            cell.per_launch = (0..4).map(launch).collect();
            let phase = cell.phases.get_mut("ready").unwrap();
            (phase.wall_ns.median, phase.wall_ns.low, phase.wall_ns.high) =
                (least * 3.0, Some(least), Some(least * 9.0));
        }
        summary
    }

    fn figure(column: &str) -> Figure {
        Figure {
            label: "populate : touch".to_owned(),
            headline: true,
            value: 1.0,
            unit: "times".to_owned(),
            ops: 0,
            cell: "fault/populate@c-O3".to_owned(),
            against: Some("fault/touch@c-O3".to_owned()),
            parameters: Default::default(),
            phase: "ready".to_owned(),
            column: column.to_owned(),
            job: "corrected".to_owned(),
        }
    }

    fn ratio(summary: &Summary) -> Value {
        let of = |cell: &str| summary.cells.iter().find(|c| c.cell == cell && !c.hidden).unwrap();
        divided(&figure("wall_ns"), (of("fault/populate@c-O3"), of("fault/touch@c-O3"))).unwrap()
    }

    #[test]
    fn what_slows_both_cells_down_is_no_part_of_their_ratio() {
        let mut summary = with_a_machine_that_slows_down();
        let (estimate, limits) = ratio(&summary);
        let (low, high) = limits.unwrap();
        assert!([estimate, low, high].iter().all(|v| (v - 2.0).abs() < 1e-9), "{estimate} ({low} to {high})");
        let cell = summary.cells.iter_mut().find(|c| c.cell == "fault/populate@c-O3" && !c.hidden).unwrap();
        cell.per_launch.truncate(3);
        assert_eq!(ratio(&summary), (2.0, None), "three launches have no interval");
    }

    #[test]
    fn what_was_counted_is_said_to_be() {
        assert_eq!(limits(&figure("memory_bytes"), None), "counted");
        assert_eq!(limits(&figure("wall_ns"), None), "");
        assert_eq!(limits(&figure("wall_ns"), Some((1.5, 2.5))), "1.50–2.50");
    }
}
