//! First-screen answers: figures of one operation, and answers that depend on a condition.

use pagewise_report::export::{ExportedCells, FORMATS};
use pagewise_report::terminal::{self, Screen};
use pagewise_report::view::{self, Wanted};
use record::experiment::Total;
use record::parameters::Parameters;
use record::sizes::{format_ns, three_digits};
use record::summary::{
    AaCheck, AnswerCondition, Contrast, Doubt, Levels, Ratio, Recommendation, Summary, Sureness,
    Verdict, Warning, WarningKind,
};

fn recorded(name: &str) -> Summary {
    let path = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn shown(summary: &Summary, width: usize, full: bool) -> String {
    let wanted = Wanted {
        full,
        ..Wanted::default()
    };
    terminal::render(
        &view::screen(summary, &wanted),
        &Screen::new(width, false),
        full,
    )
    .plain()
}

/// Operations of a sample as its parameters declare them.
fn declared(parameters: &Parameters) -> Option<f64> {
    parameters.number("ops").map(|ops| ops as f64)
}

#[test]
fn figures_are_of_one_operation_and_never_of_a_sample() {
    let mut seen = 0;
    for name in ["look", "share-no-java", "fork"] {
        let summary = recorded(name);
        let text = shown(&summary, 140, true);
        for cell in summary
            .cells
            .iter()
            .filter(|c| !c.hidden && declared(&c.parameters).is_some())
        {
            let experiment = summary.experiment(&cell.experiment).unwrap();
            let Some(phase) = cell.phases.get(&experiment.headline) else {
                continue;
            };
            let (sample_ns, ops) = (phase.wall_ns.median, declared(&cell.parameters).unwrap());
            assert!(
                (phase.per_unit_ns.median * ops / sample_ns - 1.0).abs() < 1e-4,
                "{}",
                cell.cell
            );
            assert!(
                text.contains(&format_ns(sample_ns / ops)),
                "{}: {}",
                cell.cell,
                format_ns(sample_ns / ops)
            );
            let sample = format_ns(sample_ns);
            let mut lines = text
                .lines()
                .filter(|line| line.trim_start().starts_with(&cell.method));
            assert!(
                !lines.any(|line| line.contains(&format!(" {sample} "))),
                "{}: {sample}",
                cell.cell
            );
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
    // Bytes have a rate: a copy of 16 MiB in 1 ms is 16.8 GB/s.
    let summary = recorded("look");
    let text = shown(&summary, 140, true);
    for cell in summary
        .cells
        .iter()
        .filter(|c| c.experiment == "copy" && c.method == "memcpy" && !c.hidden)
    {
        let rate = 1.0 / cell.phases["copy"].per_unit_ns.median;
        assert!(
            text.contains(&format!("{} GB/s", three_digits(rate))),
            "{rate}"
        );
    }
}

#[test]
fn a_low_rate_of_few_bytes_is_shown_as_the_time_of_all_of_them() {
    let mut summary = recorded("look");
    let cells = summary.cells.iter_mut();
    for cell in cells.filter(|cell| cell.experiment == "copy") {
        let phase = cell.phases.get_mut("copy").unwrap();
        phase.wall_ns = phase.wall_ns.map(|_| 1500.0);
        phase.per_unit_ns = phase.wall_ns.map(|ns| ns / 3.0);
        phase.levels = None;
    }
    let text = shown(&summary, 140, true);
    assert!(
        text.contains("copy (per 3 B)") && text.contains("1.50 µs") && !text.contains("0.0020"),
        "{text}"
    );
}

#[test]
fn a_method_on_two_levels_shows_both_and_no_interval() {
    let mut summary = recorded("share-no-java");
    let group = summary.groups.iter().find(|g| g.baseline.is_some());
    let comparison = &group.unwrap().comparisons[0];
    let (index, phase) = (comparison.cell, comparison.phase.clone());
    let phase = summary.cells[index].phases.get_mut(&phase).unwrap();
    let unit = phase.per_unit_ns.median / phase.wall_ns.median;
    phase.levels = Some(Levels {
        low: 250.0 / unit,
        high: 43e6 / unit,
        share: 0.4,
    });
    let text = shown(&summary, 140, true);
    assert!(text.contains("250 ns or 43.0 ms  "), "{text}");
}

#[test]
fn csv_has_the_unit_and_the_cost_of_one_in_each_row() {
    let summary = recorded("share-no-java");
    let mut csv = Vec::new();
    let format = FORMATS.iter().find(|format| format.name == "csv").unwrap();
    (format.write)(&ExportedCells::new(&summary, &[]), &mut csv).unwrap();
    let mut lines = csv::read(&String::from_utf8(csv).unwrap()).into_iter();
    let names = lines.next().unwrap();
    let field =
        |row: &[String], name: &str| row[names.iter().position(|n| n == name).unwrap()].clone();
    let mut seen = 0;
    for row in
        lines.filter(|row| field(row, "headline") == "true" && !field(row, "launch").is_empty())
    {
        let number = |name: &str| field(&row, name).parse::<f64>().unwrap();
        let is_cell = |c: &&record::summary::CellSummary| {
            !c.hidden && field(&row, "cell").starts_with(&format!("{} ", c.cell))
        };
        let cell = summary.cells.iter().find(is_cell).unwrap();
        let launch = cell
            .per_launch
            .iter()
            .find(|l| l.launch as f64 == number("launch"))
            .unwrap();
        let ops = declared(&cell.parameters).unwrap();
        let wall_ns = launch.wall_ns[&field(&row, "phase")];
        assert_eq!(field(&row, "unit"), summary.experiments[0].definition.unit);
        assert!((number("units_per_sample") / ops - 1.0).abs() < 1e-4);
        assert!((number("wall_ns_per_unit") * ops / wall_ns - 1.0).abs() < 1e-4);
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

mod csv {
    /// The fields of each line; none of the fixtures' fields has a line break.
    pub fn read(text: &str) -> Vec<Vec<String>> {
        let fields = |line: &str| {
            let mut fields = vec![String::new()];
            let mut quoted = false;
            for sign in line.chars() {
                match sign {
                    '"' => quoted = !quoted,
                    ',' if !quoted => fields.push(String::new()),
                    sign => fields.last_mut().unwrap().push(sign),
                }
            }
            fields
        };
        text.lines().map(fields).collect()
    }
}

fn ratio(low: f64, high: f64) -> Ratio {
    Ratio {
        ratio: (low * high).sqrt(),
        low,
        high,
        level: 0.95,
        launches: 10,
        error: (high / low).ln() / 4.524,
        freedom: 9.0,
        drift: None,
    }
}

/// The copy of 64 KiB under two conditions, with these intervals of its first other method.
fn conditional(first: (f64, f64), second: (f64, f64)) -> Summary {
    let mut summary = recorded("look");
    let definition = &mut summary
        .experiments
        .iter_mut()
        .find(|e| e.definition.name == "copy")
        .unwrap()
        .definition;
    let mut parameter = definition.parameters["destination"].clone();
    (parameter.condition, parameter.default, parameter.look) =
        (true, vec!["warm".into(), "cold".into()], Vec::new());
    let when = [
        ("warm", "the destination is in cache"),
        ("cold", "it is in memory"),
    ];
    parameter.when = when
        .map(|(value, clause)| (value.to_owned(), clause.to_owned()))
        .into();
    definition
        .parameters
        .insert("destination".to_owned(), parameter);
    let usual = summary
        .groups
        .iter()
        .position(|g| g.experiment == "copy" && g.baseline.is_some())
        .unwrap();
    let mut other = summary.groups[usual].clone();
    other
        .parameters
        .insert("destination".to_owned(), "cold".to_owned());
    summary.groups[usual]
        .parameters
        .insert("destination".to_owned(), "warm".to_owned());
    summary.groups.push(other);
    let last = summary.groups.len() - 1;
    let cell = summary.groups[usual].comparisons[0].cell;
    for (group, (low, high), (sibling, value), (their_low, their_high)) in [
        (usual, first, (last, "cold"), second),
        (last, second, (usual, "warm"), first),
    ] {
        let ratio_here = Some(ratio(low, high));
        let group = &mut summary.groups[group];
        let comparison = group
            .comparisons
            .iter_mut()
            .find(|c| c.cell == cell && c.phase == "copy")
            .unwrap();
        (comparison.contrast.ratio, comparison.contrast.verdict) =
            (ratio_here, Verdict::from_interval(low, high, 0.02));
        comparison.contrast.holds_among_all = true;
        group.recommendation = Recommendation::Depends {
            cell,
            ratio: ratio_here,
        };
        group.conditions = vec![AnswerCondition {
            when: [("destination".to_owned(), value.to_owned())].into(),
            group: sibling,
            cell,
            contrast: Contrast::alone(Some(ratio(their_low, their_high)), 0.02),
        }];
    }
    summary
}

/// The method of the first answer that depends.
fn depending(summary: &Summary) -> &str {
    let cell = summary.groups.iter().find_map(|g| match g.recommendation {
        Recommendation::Depends { cell, .. } => Some(cell),
        _ => None,
    });
    &summary.cells[cell.unwrap()].method
}

#[test]
fn an_answer_that_flips_says_under_which_condition_and_is_one_row() {
    let summary = conditional((0.8, 0.84), (1.1, 1.18));
    let text = shown(&summary, 140, false);
    let (before, depends) = text
        .split_once("Depends:")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(!before.contains("copy "), "{text}");
    let plain = depends.split_whitespace().collect::<Vec<_>>().join(" ");
    let method = depending(&summary);
    let said = "16–20 % faster if the destination is in cache 10–18 % slower if it is in memory";
    assert!(plain.contains(said) && plain.contains(method), "{plain}");
    assert_eq!(
        depends
            .split("Keep:")
            .next()
            .unwrap()
            .matches("it is in memory")
            .count(),
        1,
        "its neighbor is part of the row: {text}"
    );
    // The tables say the same of each group.
    let tables = shown(&summary, 140, true)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(tables.matches("→ it depends:").count(), 2, "{tables}");
}

#[test]
fn what_was_measured_and_is_open_is_told_from_what_was_not_measured() {
    let mut summary = conditional((0.8, 0.84), (0.9, 1.1));
    for group in summary
        .groups
        .iter_mut()
        .filter(|g| !g.conditions.is_empty())
    {
        let mut again = group.conditions[0].clone();
        (again.contrast.ratio, again.contrast.verdict) =
            (Some(ratio(0.9, 1.1)), Verdict::NotSettled);
        group.conditions.push(again);
        group.unmeasured = vec![[("destination".to_owned(), "frozen".to_owned())].into()];
    }
    let plain = shown(&summary, 140, false)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let said = "16–20 % faster if the destination is in cache open if it is in memory; \
         not measured if destination=frozen (at most 40 s: pagewise run copy)";
    assert!(plain.contains(said), "{plain}");
}

/// The screen with single spaces.
fn plain(summary: &Summary) -> String {
    let text = shown(summary, 140, false);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The group that a screen shows of [`conditional`], and the one under the other condition.
fn both(summary: &Summary) -> [usize; 2] {
    let groups = summary.groups.iter().enumerate();
    let mut conditioned = groups.filter(|(_, group)| !group.conditions.is_empty());
    [(); 2].map(|()| conditioned.next().unwrap().0)
}

#[test]
fn a_question_that_only_another_condition_settles_is_answered_with_that_condition() {
    let mut summary = conditional((0.8, 1.2), (0.4, 0.5));
    let method = depending(&summary).to_owned();
    let [here, there] = both(&summary);
    summary.groups[there].sureness = Some(Sureness::Early);
    let group = &mut summary.groups[here];
    group.recommendation = Recommendation::Inconclusive {
        cell: group.baseline.unwrap(),
    };
    group.elsewhere = std::mem::take(&mut group.conditions);
    let text = plain(&summary);
    let depends = text.split("Depends:").nth(1).expect(&text);
    let row = format!("{method} early ");
    let line =
        format!("{method} 2.0–2.5× faster if it is in memory open if the destination is in cache");
    assert!(depends.contains(&row) && depends.contains(&line), "{text}");
    assert!(!text.contains("Open:"), "{text}");
}

#[test]
fn another_method_that_a_condition_recommends_is_named_beside_the_answers_own() {
    for (own, note) in [
        ((0.4, 1.3), "may be faster still"),
        ((0.9, 1.3), "is open"),
        ((0.8, 0.9), "10–20 % faster"),
        ((1.2, 1.3), "20–30 % slower"),
    ] {
        let mut summary = conditional((0.8, 0.84), own);
        let method = depending(&summary).to_owned();
        let [here, there] = both(&summary);
        let baseline = summary.groups[there].baseline;
        let is_other = |cell: &&usize| {
            let cell = &summary.cells[**cell];
            cell.is_ranked() && cell.method != method
        };
        let mut cells = summary.groups[there].cells.iter();
        let other = *cells
            .find(|cell| Some(**cell) != baseline && is_other(cell))
            .unwrap();
        let name = summary.cells[other].method.clone();
        summary.groups[here].elsewhere = vec![AnswerCondition {
            cell: other,
            contrast: Contrast::alone(Some(ratio(0.5, 0.6)), 0.02),
            ..summary.groups[here].conditions[0].clone()
        }];
        let text = plain(&summary);
        let line = format!("{name} 1.6–2.0× faster if it is in memory ({method} {note})");
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn amounts_of_a_change_are_told_apart_where_their_intervals_do_not_overlap() {
    let changed = |second: (f64, f64)| {
        let mut summary = conditional((0.2, 0.25), second);
        let [here, there] = both(&summary);
        summary.groups[here].sureness = Some(Sureness::Settled);
        summary.groups[there].sureness = Some(Sureness::Early);
        let group = &mut summary.groups[here];
        let Recommendation::Depends { cell, ratio } = group.recommendation else {
            panic!()
        };
        group.recommendation = Recommendation::Use {
            cell,
            ratio: ratio.unwrap(),
            everywhere: true,
        };
        let text = plain(&summary);
        text.split("Change:").nth(1).expect(&text).to_owned()
    };
    // The row is as sure as the least of its conditions; a mark stands before the condition that it is on.
    let apart =
        "4.0–5.0× faster (sure) if the destination is in cache; 1.6–2.0× faster if it is in memory";
    let row = changed((0.5, 0.6));
    assert!(row.contains(apart) && row.contains(" early "), "{row}");
    let row = changed((0.22, 0.3));
    let same =
        "4.0–5.0× faster (sure) if the destination is in cache; 3.3–4.6× faster if it is in memory";
    assert!(row.contains(same) && row.contains(" early "), "{row}");
}

#[test]
fn a_row_marked_yes_and_a_noisy_run_do_not_contradict_each_other() {
    let mut summary = conditional((0.8, 0.84), (1.1, 1.18));
    summary.warnings = vec![Warning {
        kind: WarningKind::Steal { share: 0.07 },
        at: "another cell".to_owned(),
        cells: Vec::new(),
    }];
    let [here, _] = both(&summary);
    summary.groups[here].sureness = Some(Sureness::Settled);
    for group in &mut summary.groups {
        group.aa = None;
    }
    let wide = ratio(0.8, 1.25);
    summary.groups[here].aa = Some(AaCheck {
        cell: summary.groups[here].baseline.unwrap(),
        ratio: wide,
        z: 0.0,
        p: 1.0,
        differs: false,
        weak: AaCheck::is_weak(&wide),
    });
    let text = plain(&summary);
    for line in [
        "noisy: other guests of the host took up to 7 % of the CPU time",
        "1 of 1 control too noisy, none behind rows marked yes",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn headings_name_the_margin_and_a_counted_method_has_a_command() {
    let summary = recorded("look");
    let text = plain(&summary);
    assert!(
        text.contains("Keep: no other method measured is more than 2 % faster; the nearest:"),
        "{text}"
    );
    let command = format!("All methods of a row: pagewise report {} copy", summary.run);
    assert!(
        text.contains("; 4 more ") && text.contains(&command),
        "{text}"
    );
}

/// Copies whose usual choice is kept, with these ratios of the other methods in turn, the first with a doubt.
fn keeping(intervals: &[(f64, f64)]) -> (Summary, Vec<String>) {
    let mut summary = recorded("look");
    let cells = summary.cells.clone();
    let mut names = Vec::new();
    let groups = summary.groups.iter_mut();
    for group in groups.filter(|g| g.experiment == "copy" && g.baseline.is_some()) {
        group.recommendation = Recommendation::Keep {
            cell: group.baseline.unwrap(),
        };
        let comparisons = group.comparisons.iter_mut();
        let ranked = comparisons.filter(|c| c.phase == "copy" && cells[c.cell].is_ranked());
        names.clear();
        for (at, comparison) in ranked.enumerate() {
            let (low, high) = intervals[at.min(intervals.len() - 1)];
            comparison.contrast = Contrast::alone(Some(ratio(low, high)), 0.02);
            comparison.doubt = None;
            if at == 0 {
                comparison.contrast.verdict = Verdict::NotSettled;
                comparison.doubt = Some(Doubt::WeakCheck { half_width: 0.29 });
            }
            names.push(cells[comparison.cell].method.clone());
        }
    }
    (summary, names)
}

#[test]
fn a_kept_row_has_its_nearest_rival_and_names_those_of_which_nothing_is_settled() {
    let (mut summary, names) = keeping(&[(1.5, 1.7), (3.0, 4.0), (1.1, 1.2), (5.0, 6.0)]);
    assert!(names.len() > 3, "{names:?}");
    let text = plain(&summary);
    let kept = text.split("Keep:").nth(1).expect(&text);
    let further = names.len() - 1;
    let row = format!("{} 10–20 % slower; {further} more", names[2]);
    let open = format!("open: {} (noisy (A/A ±29 %))", names[0]);
    assert!(kept.contains(&row) && kept.contains(&open), "{text}");
    assert!(!kept.contains(" methods measured"), "{text}");
    summary.offered = [("copy".to_owned(), 24), ("files".to_owned(), 9)].into();
    let text = plain(&summary);
    let some = format!("{} of 24 methods measured; open: ", names.len() + 1);
    assert!(text.contains(&some), "{text}");
    let left_out = "experiments; not files: pagewise run NAME";
    assert!(
        text.contains("Measured: ") && text.contains(left_out),
        "{text}"
    );
    // An open rival that is the nearest is said once.
    let (summary, names) = keeping(&[(1.01, 1.1), (3.0, 4.0)]);
    let text = plain(&summary);
    let name = format!("{} (noisy (A/A ±29 %))", names[0]);
    assert_eq!(text.matches(&name).count(), 1, "{text}");
}

#[test]
fn a_condition_under_which_nothing_is_settled_is_open_in_the_row_although_its_method_is_slower_there()
 {
    let mut summary = conditional((0.8, 0.84), (1.1, 1.18));
    let method = depending(&summary).to_owned();
    let [_, there] = both(&summary);
    let cells = summary.cells.clone();
    let group = &mut summary.groups[there];
    group.recommendation = Recommendation::Inconclusive {
        cell: group.baseline.unwrap(),
    };
    let mut others = group.comparisons.iter_mut().filter(|c| {
        let cell = &cells[c.cell];
        c.phase == "copy" && cell.is_ranked() && cell.method != method
    });
    let rival = others.next().unwrap();
    let name = cells[rival.cell].method.clone();
    rival.contrast = Contrast::alone(Some(ratio(0.64, 1.03)), 0.02);
    rival.doubt = None;
    for other in others {
        other.contrast = Contrast::alone(Some(ratio(2.0, 3.0)), 0.02);
    }
    let text = plain(&summary);
    let line = format!("10–18 % slower if it is in memory (open: {name} may be faster)");
    assert!(text.contains(&line), "{line}: {text}");
}

#[test]
fn a_ratio_over_several_phases_says_so_and_has_its_shorter_part_beside_it() {
    let (mut summary, _) = with_two_best();
    let line = "until the block is there; the answer compares allocate + fill";
    assert!(!plain(&summary).contains(line));
    let is_allocate = |e: &&mut record::summary::ExperimentSummary| e.definition.name == "allocate";
    let experiment = summary.experiments.iter_mut().find(is_allocate).unwrap();
    experiment.definition.totals.push(Total {
        name: "part".to_owned(),
        phases: vec!["allocate".to_owned()],
        meaning: "until the block is there".to_owned(),
        headline: false,
        overlap: false,
    });
    let headline = experiment.headline.clone();
    for group in summary
        .groups
        .iter_mut()
        .filter(|g| g.experiment == "allocate")
    {
        let parts: Vec<_> = group
            .comparisons
            .iter()
            .filter(|c| c.phase == headline)
            .map(|c| record::summary::Comparison {
                phase: "part".to_owned(),
                contrast: Contrast::alone(Some(ratio(0.4, 0.5)), 0.02),
                ..c.clone()
            })
            .collect();
        group.comparisons.extend(parts);
    }
    let text = plain(&summary);
    assert!(text.contains(&format!("2.0–2.5× faster {line}")), "{text}");
    // The report of the experiment says so, too.
    let report = shown(&summary, 140, true);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains(line), "{report}");
}

#[test]
fn a_disturbance_of_few_cells_is_said_with_their_number() {
    let mut summary = recorded("look");
    let launched = |c: &&record::summary::CellSummary| !c.hidden && c.launches > 0;
    let all = summary.cells.iter().filter(launched).count();
    summary.warnings = vec![Warning {
        kind: WarningKind::Steal { share: 0.27 },
        at: "two cells".to_owned(),
        cells: vec![0, 1],
    }];
    let text = plain(&summary);
    let line =
        format!("other guests of the host took up to 27 % of the CPU time in 2 of {all} cells");
    assert!(text.contains(&line), "{line}: {text}");
}

#[test]
fn an_open_row_that_noise_keeps_open_has_no_time() {
    let (mut summary, _) = keeping(&[(0.8, 0.9)]);
    let copy = summary.groups.iter_mut().filter(|g| g.experiment == "copy");
    for group in copy {
        group.recommendation = Recommendation::Inconclusive {
            cell: group.baseline.unwrap(),
        };
        group.sureness = Some(Sureness::Noisy);
        group.further_s = None;
    }
    let text = plain(&summary);
    assert!(
        text.contains("Open:") && !text.contains("settled in about"),
        "{text}"
    );
    assert!(
        text.contains("no time is known to settle these at this noise"),
        "{text}"
    );
}

#[test]
fn an_open_method_is_named_with_its_doubt_and_the_others_are_counted() {
    let mut summary = recorded("look");
    let group = summary
        .groups
        .iter_mut()
        .find(|g| g.experiment == "copy" && g.baseline.is_some())
        .unwrap();
    let baseline = group.baseline.unwrap();
    group.recommendation = Recommendation::Inconclusive { cell: baseline };
    let mut open = Vec::new();
    for comparison in group.comparisons.iter_mut().filter(|c| c.phase == "copy") {
        (comparison.contrast.ratio, comparison.contrast.verdict) =
            (Some(ratio(0.8, 1.2)), Verdict::NotSettled);
        comparison.doubt = Some(Doubt::TwoLevels(Levels {
            low: 0.23,
            high: 0.97,
            share: 0.4,
        }));
        open.push(comparison.cell);
    }
    let text = shown(&summary, 160, false);
    let open: Vec<_> = open
        .into_iter()
        .map(|c| &summary.cells[c])
        .filter(|c| c.is_ranked())
        .collect();
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(open.len() > 3 && plain.contains("Open:"), "{text}");
    let named: Vec<_> = open
        .into_iter()
        .filter(|c| c.outcome.status == record::outcome::Status::Ok)
        .map(|c| c.method.clone())
        .collect();
    let doubts = plain
        .matches("(bimodal: 0.23 or 0.97 of the time (40 % of launches)")
        .count();
    let further = named.len() - 1;
    assert!(
        doubts == 1 && plain.contains(&format!("; {further} more")),
        "the first with its doubt, as long as that is: {text}"
    );
    let tables = shown(&summary, 140, true);
    assert!(
        named.iter().all(|method| tables.contains(method)),
        "{tables}"
    );
}

#[test]
fn what_is_shown_to_be_faster_is_said_although_the_fastest_is_open() {
    let mut summary = recorded("look");
    let is_ranked: Vec<bool> = summary.cells.iter().map(|c| c.is_ranked()).collect();
    let group = summary
        .groups
        .iter_mut()
        .find(|g| g.experiment == "copy" && g.baseline.is_some())
        .unwrap();
    group.recommendation = Recommendation::Inconclusive {
        cell: group.baseline.unwrap(),
    };
    let of_copy = group
        .comparisons
        .iter_mut()
        .filter(|c| c.phase == "copy" && is_ranked[c.cell]);
    let mut shown_faster = None;
    for comparison in of_copy {
        (comparison.contrast.ratio, comparison.contrast.verdict) =
            (Some(ratio(0.3, 1.2)), Verdict::NotSettled);
        if shown_faster.is_none() {
            (comparison.contrast.ratio, comparison.contrast.verdict) =
                (Some(ratio(0.5, 0.6)), Verdict::Faster { at_least: 0.4 });
            (comparison.contrast.holds_among_all, comparison.doubt) = (true, None);
            shown_faster = Some(comparison.cell);
        }
    }
    group.faster = shown_faster.into_iter().collect();
    let method = summary.cells[shown_faster.unwrap()].method.clone();
    let tables = shown(&summary, 160, true);
    assert!(
        tables.contains(&format!(
            "→ faster than memcpy: {method}; which is the fastest is open"
        )),
        "{tables}"
    );
    let row = plain(&summary);
    let at = row.split("Change:").nth(1).expect(&row);
    assert!(
        at.contains(&format!("{method} ")) && row.contains("1.6–2.0"),
        "{row}"
    );
    // Where nothing tells whether it is faster under another condition, its own condition is part of the row.
    let group = summary
        .groups
        .iter_mut()
        .find(|group| !group.faster.is_empty())
        .unwrap();
    group.unmeasured = vec![[("destination".to_owned(), "cold".to_owned())].into()];
    let row = plain(&summary);
    let depends = row.split("Depends:").nth(1).expect(&row);
    assert!(depends.contains("1.6–2.0× faster if "), "{row}");
    assert!(depends.contains("not measured if "), "{row}");
}

#[test]
fn a_wide_check_is_called_weak_and_a_mean_far_from_its_median_is_shown() {
    let check = |half: f64| {
        let ratio = ratio(1.0 / (1.0 + half), 1.0 + half);
        AaCheck {
            cell: 0,
            ratio,
            z: 0.0,
            p: 1.0,
            differs: false,
            weak: AaCheck::is_weak(&ratio),
        }
    };
    let name = || "copy/memcpy".to_owned();
    let said = |checks: &[AaCheck]| pagewise_report::wording::aa(checks, &[], |_| name());
    assert_eq!(said(&[check(0.02)]), "A/A: 1 of 1 control within ±2.0 %");
    assert_eq!(
        said(&[check(0.54)]),
        "A/A: copy/memcpy too noisy to trust, ±54 %"
    );
    assert_eq!(
        said(&[check(0.54), check(0.02), check(0.3)]),
        "A/A: 1 of 3 controls within ±2.0 %; 2 of 3 controls too noisy to trust, up to ±54 %"
    );
    let untrusted = pagewise_report::wording::aa(&[check(0.06)], &[name()], |_| name());
    assert_eq!(
        untrusted,
        "A/A: 1 of 2 controls within ±6.0 %; copy/memcpy untrusted"
    );
    let mut summary = recorded("look");
    for cell in summary
        .cells
        .iter_mut()
        .filter(|c| c.experiment == "message")
    {
        for phase in cell.phases.values_mut() {
            (phase.per_unit_ns.median, phase.per_unit_ns.mean) = (33_400.0, Some(51_200.0));
        }
    }
    assert!(shown(&summary, 140, true).contains("(mean 51.2 µs)"));
}

#[test]
fn doubts_name_the_worst_of_each_kind_in_five_lines() {
    use record::summary::LaunchCount;
    let count = LaunchCount {
        launches: 3,
        all: 9,
    };
    let kinds = [
        WarningKind::Steal { share: 0.07 },
        WarningKind::Steal { share: 0.27 },
        WarningKind::Interrupted { share: 0.3 },
        WarningKind::Throttled { share: 0.2 },
        WarningKind::Reclaim(count),
        WarningKind::ForeignIo(count),
        WarningKind::MemoryPressure(count),
        WarningKind::CounterAbsent {
            reason: "no hardware counters".to_owned(),
        },
    ];
    let mut summary = recorded("look");
    summary.warnings = kinds
        .into_iter()
        .enumerate()
        .map(|(cell, kind)| Warning {
            kind,
            at: format!("cell {cell}"),
            cells: vec![cell],
        })
        .collect();
    let wanted = Wanted {
        doubt: true,
        ..Wanted::default()
    };
    let screen = Screen::new(400, false);
    let text = terminal::render(&view::screen(&summary, &wanted), &screen, false).plain();
    assert!(
        text.contains("27 %") && !text.contains("gave 7 %"),
        "{text}"
    );
    assert!(text.contains("and 2 more kinds"), "{text}");
    assert!(!text.contains("no hardware counters"), "{text}");
}

/// The recorded overview whose first recommended method has another one beside it that is as good.
fn with_two_best() -> (Summary, [String; 2]) {
    let mut summary = recorded("look");
    let is_recommended = |group: &record::summary::GroupSummary| {
        matches!(group.recommendation, Recommendation::Use { .. })
    };
    let at = summary.groups.iter().position(is_recommended).unwrap();
    let Recommendation::Use { cell, .. } = summary.groups[at].recommendation else {
        panic!()
    };
    let headline = summary.experiment("allocate").unwrap().headline.clone();
    let group = &mut summary.groups[at];
    let usual = group.baseline;
    let mut cells = group.cells.iter().copied();
    let other = cells.find(|&c| c != cell && Some(c) != usual && summary.cells[c].is_ranked());
    let other = other.unwrap();
    let of_both = group.comparisons.iter_mut().filter(|c| c.phase == headline);
    for comparison in of_both.filter(|c| [cell, other].contains(&c.cell)) {
        let (low, high) = if comparison.cell == cell {
            (0.21, 0.25)
        } else {
            (0.20, 0.24)
        };
        comparison.contrast = Contrast::alone(Some(ratio(low, high)), 0.02);
        comparison.doubt = None;
    }
    group.alike = vec![other];
    let names = [other, cell].map(|cell| summary.cells[cell].method.clone());
    (summary, names)
}

#[test]
fn methods_that_are_as_good_are_recommended_together_the_fastest_first() {
    let (summary, [first, second]) = with_two_best();
    let tables = shown(&summary, 160, true);
    let answer = format!("→ use {first} or {second}: 4.0–5.0× faster (95 % CI of all)");
    assert!(tables.contains(&answer), "{tables}");
    let row = shown(&summary, 140, false);
    let change = row.split("Change:").nth(1).expect(&row);
    assert!(change.contains(&format!(" or {second}  ")), "{row}");
    assert!(change.contains("4.0–5.0"), "{row}");
}

#[test]
fn open_rows_of_an_overview_have_the_time_that_should_settle_them() {
    let (mut summary, _) = with_two_best();
    let copy = summary
        .groups
        .iter_mut()
        .filter(|group| group.experiment == "copy");
    for group in copy {
        group.recommendation = Recommendation::Inconclusive {
            cell: group.baseline.unwrap(),
        };
        group.faster.clear();
        group.further_s = Some(10.0);
    }
    let launch_s = summary.experiment("copy").unwrap().launch_s;
    summary.elapsed_s = summary.experiments.iter().map(|e| e.launch_s).sum();
    let text = shown(&summary, 140, false);
    let line = text
        .lines()
        .find(|line| line.contains("settled in about"))
        .expect(&text);
    assert!(line.contains("pagewise run copy --budget "), "{line}");
    let budget = line.rsplit(' ').next().unwrap();
    let budget_s = record::sizes::parse_seconds(budget).unwrap();
    assert!(
        (launch_s + 10.0..launch_s + 30.0).contains(&budget_s),
        "{budget_s} s for {launch_s} s and 10 s more of each open question"
    );
    // What is no overview has its own command line, which is not known here.
    summary.settings.is_overview = false;
    assert!(!shown(&summary, 140, false).contains("settled in about"));
}

/// The overview whose first copies have one method that looks faster and is noisy, the others slower.
fn with_noisy_lead() -> (Summary, String) {
    let (mut summary, names) = keeping(&[(0.27, 0.38), (3.0, 4.0)]);
    let cells = summary.cells.clone();
    for group in summary.groups.iter_mut().filter(|g| g.experiment == "copy") {
        let Some(cell) = group.baseline else { continue };
        group.recommendation = Recommendation::Inconclusive { cell };
        group.sureness = Some(Sureness::Noisy);
        let compared = group.comparisons.iter_mut();
        let mut lead = compared.filter(|c| c.phase == "copy" && cells[c.cell].is_ranked());
        lead.next().unwrap().doubt = Some(Doubt::Disturbed);
    }
    (summary, names[0].clone())
}

#[test]
fn what_looks_faster_and_is_noisy_is_open_with_its_interval() {
    let (summary, name) = with_noisy_lead();
    let text = plain(&summary);
    let sentence =
        format!("{name} looks 2.6–3.8× faster here, but the machine is too noisy to say");
    let open = text.split("Open:").nth(1).expect(&text);
    assert!(open.contains(&sentence), "{text}");
    let change = text.split("Open:").next().unwrap();
    assert!(!change.contains(&sentence), "{text}");
    assert!(
        !text.contains(&format!("pagewise show copy/{name}")),
        "{text}"
    );
    let tables = shown(&summary, 140, true);
    let tables = tables.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(tables.contains(&format!("→ open: {sentence}")), "{tables}");
    assert!(tables.contains("open: noisy, 2.6–3.8× faster"), "{tables}");
}

#[test]
fn a_row_says_which_hidden_questions_of_its_experiment_reverse_it() {
    let mut summary = recorded("look");
    let usual = summary
        .groups
        .iter()
        .position(|g| g.experiment == "copy" && g.baseline.is_some())
        .unwrap();
    let cell = summary.groups[usual].baseline.unwrap();
    let ranked: Vec<bool> = summary.cells.iter().map(|c| c.is_ranked()).collect();
    let mut at_sizes: Vec<usize> = vec![usual];
    for bytes in ["131072", "262144", "524288"] {
        let mut group = summary.groups[usual].clone();
        group.conditions.clear();
        group
            .parameters
            .insert("bytes".to_owned(), bytes.to_owned());
        summary.groups.push(group);
        at_sizes.push(summary.groups.len() - 1);
    }
    // The first is kept; under each of the further ones a method is faster, and one of them has a row, too.
    for at in at_sizes {
        let group = &mut summary.groups[at];
        group.recommendation = Recommendation::Keep { cell };
        let compared = group.comparisons.iter_mut();
        let compared = compared.filter(|c| c.phase == "copy" && ranked[c.cell]);
        for (place, comparison) in compared.enumerate() {
            let (low, high) = match place {
                0 if at != usual => (0.5, 0.6),
                _ => (30.0, 40.0),
            };
            comparison.contrast = Contrast::alone(Some(ratio(low, high)), 0.02);
            comparison.doubt = None;
            if low < 1.0 {
                group.recommendation = Recommendation::Use {
                    cell: comparison.cell,
                    ratio: ratio(low, high),
                    everywhere: true,
                };
            }
        }
    }
    let text = plain(&summary);
    let keep = text.split("Keep:").nth(1).expect(&text);
    assert!(
        keep.contains("reversed: copy ") && keep.contains("1.6–2.0× faster"),
        "{text}"
    );
}

#[test]
fn the_cost_of_the_usual_choice_is_that_of_the_condition_whose_factor_is_shown() {
    let mut summary = conditional((0.8, 1.2), (0.4, 0.5));
    let [here, there] = both(&summary);
    let usual = summary.groups[here].baseline.unwrap();
    let mut other = summary.cells[usual].clone();
    let phase = other.phases.get_mut("copy").unwrap();
    phase.per_unit_ns.median *= 1000.0;
    (phase.per_unit_ns.low, phase.per_unit_ns.high) = (None, None);
    summary.cells.push(other);
    summary.groups[there].baseline = Some(summary.cells.len() - 1);
    let group = &mut summary.groups[here];
    group.recommendation = Recommendation::Inconclusive { cell: usual };
    group.elsewhere = std::mem::take(&mut group.conditions);
    let text = plain(&summary);
    let row = text.split("Depends:").nth(1).expect(&text);
    let name = summary.cells[usual].method.clone();
    let own = summary.cells[usual].phases["copy"].per_unit_ns.median;
    let rate = |ns: f64| format!("{name} {} GB/s", record::sizes::three_digits(1.0 / ns));
    assert!(
        row.contains(&rate(1000.0 * own)),
        "{} in {text}",
        rate(1000.0 * own)
    );
}
