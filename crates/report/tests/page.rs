//! The page of recorded summaries: its figures are theirs, and nothing that a record holds steers a browser. Each fixture is
//! the summary of a real run.

use std::path::Path;

use pagewise_report::html;
use pagewise_report::view;
use record::outcome::Cause;
use record::summary::{NoteKind, Summary, WarningKind};

fn fixture(name: &str) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const ALL: [&str; 9] = [
    "fault",
    "fork",
    "interrupted",
    "look",
    "one-launch",
    "read",
    "share-no-java",
    "transfer",
    "whole",
];

fn page(summary: &Summary) -> String {
    html::page(&view::tables(summary, &[], None), html::of_run(summary))
}

/// The page without its style, its script, their hashes and its data.
fn visible(page: &str) -> String {
    let mut rest = page.to_owned();
    for (start, end) in [
        ("<meta http-equiv", ">"),
        ("<style>", "</style>"),
        ("<script", "</script>"),
        ("<script", "</script>"),
    ] {
        let from = rest.find(start).unwrap_or_else(|| panic!("no {start}"));
        let to = from + rest[from..].find(end).unwrap() + end.len();
        rest.replace_range(from..to, "");
    }
    rest
}

/// The value of an attribute within an element's text.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element
        .split_once(&format!("{name}=\""))?
        .1
        .split('"')
        .next()
}

#[test]
fn a_page_is_whole_and_small() {
    for name in ALL {
        let page = page(&fixture(name));
        assert!(page.len() < 1_000_000, "{name}: {} bytes", page.len());
        let visible = visible(&page);
        for reference in [
            "src=",
            "url(",
            "@import",
            "<link",
            "<iframe",
            "http-equiv=\"refresh",
            " style=",
            " onclick=",
        ] {
            assert!(!visible.contains(reference), "{name}: {reference}");
        }
        let outside = visible
            .split("href=\"")
            .skip(1)
            .find(|rest| !rest.starts_with('#'));
        assert_eq!(outside.map(|rest| &rest[..20]), None, "{name}");
        let ids: Vec<&str> = visible
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), ids.len(), "{name}: {ids:?}");
        let script = page.rsplit("<script>").next().unwrap().len();
        assert!(script < 15 * 1024, "{script} bytes of script");
    }
}

#[test]
fn figures_are_those_of_the_summary() {
    for name in ALL {
        let summary = fixture(name);
        let page = page(&summary);
        let mut rows = 0;
        for row in page
            .split("<tr")
            .filter(|row| row.contains(" data-cell=\""))
        {
            let cell = &summary.cells[attribute(row, "data-cell")
                .unwrap()
                .parse::<usize>()
                .unwrap()];
            let headline = &summary.experiment(&cell.experiment).unwrap().headline;
            let phase = &cell.phases[headline];
            let values: Vec<f64> = row.split("<td").skip(1).filter_map(value).collect();
            // The cost of an operation; CPU time of one and faults stand before p99 and launches. Bytes have a rate.
            let unit = &summary
                .experiment(&cell.experiment)
                .unwrap()
                .definition
                .unit;
            let (per_unit, is_rate) = (phase.per_unit_ns.median, unit == "byte");
            let expected = [if is_rate { 1.0 / per_unit } else { per_unit }];
            let cpu = phase.cpu_ns.median * per_unit / phase.wall_ns.median;
            let last = [
                if is_rate { cpu * 1048576.0 } else { cpu },
                phase.minor_faults,
            ];
            let is_shown = |expected: f64| {
                values
                    .iter()
                    .any(|value| (value - expected).abs() <= expected.abs() * 1e-5)
            };
            for expected in expected.into_iter().chain(last) {
                let cell = &cell.cell;
                assert!(
                    is_shown(expected),
                    "{name}, {cell}: {expected} in {values:?}"
                );
            }
            let ratio = summary
                .groups
                .iter()
                .find_map(|g| g.comparison(cell_index(row), headline)?.contrast.ratio);
            if let Some(ratio) =
                ratio.filter(|_| cell.outcome.status == record::outcome::Status::Ok)
            {
                assert!(
                    row.contains(&format!(
                        "{:.3} ({:.3}–{:.3})",
                        ratio.ratio, ratio.low, ratio.high
                    )),
                    "{name}: {row}"
                );
            }
            rows += 1;
        }
        let shown = summary
            .cells
            .iter()
            .filter(|c| {
                !c.hidden && c.role == record::summary::Role::Method && !c.phases.is_empty()
            })
            .count();
        assert!(
            rows > 0 && rows * 2 >= shown,
            "{name}: {rows} rows of {shown} cells"
        );
    }
}

/// The number of a field: what its text stands for, or its text.
fn value(field: &str) -> Option<f64> {
    let text = field.split_once('>')?.1.split('<').next()?;
    let number = field.split('>').next()?.split_once("data-value=");
    number.map_or(text.trim(), |(_, value)| value).parse().ok()
}

fn cell_index(row: &str) -> usize {
    attribute(row, "data-cell").unwrap().parse().unwrap()
}

#[test]
fn the_page_carries_its_main_figures_for_programs() {
    let summary = fixture("look");
    let page = page(&summary);
    let data = page
        .split("id=\"data\">")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let carried: serde_json::Value = serde_json::from_str(data).unwrap();
    let rows = carried["rows"].as_array().unwrap();
    let columns = carried["columns"].as_array().unwrap();
    assert!(
        rows.iter()
            .all(|row| row.as_array().unwrap().len() == columns.len())
    );
    let shown = summary.cells.iter().filter(|cell| !cell.hidden);
    assert!(
        rows.len() >= shown.clone().count(),
        "a row for each cell of each group"
    );
    let place = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let mut figures = 0;
    for cell in shown {
        let headline = &carried["experiments"][&cell.experiment]["phase"];
        let Some(phase) = cell.phases.get(headline.as_str().unwrap()) else {
            continue;
        };
        let own = phase.per_unit_ns.median;
        let is_carried = |row: &&serde_json::Value| {
            let carried = row[place("wall_ns_per_unit")].as_f64();
            row[place("cell")].as_str().unwrap().starts_with(&cell.cell)
                && carried.is_some_and(|carried| (carried - own).abs() <= own * 1e-5)
        };
        assert!(rows.iter().any(|row| is_carried(&row)), "{}", cell.cell);
        figures += 1;
    }
    assert!(figures > 3);
}

/// The overview that is kept with the docs.
fn kept_overview() -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/evidence/runs/overview/summary.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_page_of_an_overview_has_at_most_400_kb() {
    let page = page(&kept_overview());
    assert!(page.len() <= 400_000, "{} bytes", page.len());
}

#[test]
fn conditions_are_folded_below_one_picture_on_one_scale_and_links_lead_to_them() {
    let summary = kept_overview();
    let page = page(&summary);
    let mut pictures = 0;
    for section in page.split("<section id=\"experiment-").skip(1) {
        let name = section.split('"').next().unwrap();
        let section = section.split("</section>").next().unwrap();
        let folded: Vec<&str> = section
            .split("<details id=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        let groups = summary.groups_of(name).count();
        let Some((_, picture)) = section.split_once("<caption>All conditions on one scale") else {
            let measured = summary
                .groups_of(name)
                .filter(|group| !group.comparisons.is_empty());
            assert!(measured.count() <= 1, "{name}: {groups}");
            continue;
        };
        pictures += 1;
        let picture = picture.split("</table>").next().unwrap();
        assert!(!picture.contains("<details"), "{name}: it is not folded");
        let axes: Vec<&str> = picture
            .split("<svg class=\"axis\"")
            .skip(1)
            .map(|axis| axis.split("</svg>").next().unwrap())
            .collect();
        // A group that could not be measured has no panel.
        assert!(
            (2..=groups).contains(&axes.len()),
            "{name}: {} of {groups}",
            axes.len()
        );
        assert_eq!(axes.len(), folded.len(), "{name}");
        assert!(
            axes.iter().all(|axis| *axis == axes[0]),
            "{name}: one scale"
        );
        for id in &folded {
            assert!(section.contains(&format!("href=\"#{id}\"")), "{id}");
        }
        // What the picture shows is not drawn again below it.
        let plots = "<svg class=\"plot\"";
        assert_eq!(
            section.matches(plots).count(),
            picture.matches(plots).count(),
            "{name}"
        );
        assert!(!section.contains("</summary></details>"));
    }
    assert!(pictures > 5, "{pictures}");
}

#[test]
fn a_hostile_summary_is_inert() {
    const EVIL: &str = "\u{1b}[2J\u{7}\u{202e}\u{2028}</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><!--../../etc{{7*7}}";
    for name in ALL {
        let mut summary = fixture(name);
        for cell in &mut summary.cells {
            cell.method += EVIL;
            cell.outcome.cause = cell.outcome.cause.take().map(|_| Cause::Lacks {
                text: EVIL.to_owned(),
            });
            cell.parameters
                .values_mut()
                .for_each(|value| *value += EVIL);
            cell.laws = cell
                .laws
                .iter()
                .map(|(law, found)| (format!("{law}{EVIL}"), found.clone()))
                .collect();
            cell.proofs = cell
                .proofs
                .iter()
                .map(|(fact, proof)| (format!("{fact}{EVIL}"), proof.clone()))
                .collect();
        }
        for experiment in &mut summary.experiments {
            experiment.definition.title += EVIL;
            experiment.definition.question += EVIL;
            experiment.definition.unit += EVIL;
        }
        for note in &mut summary.notes {
            note.kind = NoteKind::Damaged {
                seen: EVIL.to_owned(),
            };
        }
        for warning in &mut summary.warnings {
            warning.kind = WarningKind::Damaged {
                seen: EVIL.to_owned(),
            };
        }
        summary.environment = summary
            .environment
            .iter()
            .map(|(k, v)| (format!("{k}{EVIL}"), format!("{v}{EVIL}")))
            .collect();
        summary.run += EVIL;
        let page = page(&summary);
        assert_eq!(page.matches("<script").count(), 2, "{name}");
        assert_eq!(page.matches("</script").count(), 2, "{name}");
        assert!(!page.contains("<img") && !page.contains("<!--"), "{name}");
        let steering = page
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || ('\u{2028}'..='\u{202e}').contains(c));
        assert_eq!(steering, None, "{name}");
        assert!(
            visible(&page).contains("{{7*7}}"),
            "{name}: words are shown, not worked out"
        );
    }
}

#[test]
fn figures_that_are_none_make_no_broken_page() {
    for (name, wild) in ALL
        .iter()
        .flat_map(|n| [f64::NAN, f64::INFINITY, 1e308, -1.0, 0.0, 5e-324].map(|w| (n, w)))
    {
        let mut summary = fixture(name);
        for cell in &mut summary.cells {
            for phase in cell.phases.values_mut() {
                (
                    phase.wall_ns.median,
                    phase.per_unit_ns.median,
                    phase.minor_faults,
                ) = (wild, wild, wild);
                (phase.wall_ns.low, phase.wall_ns.high) = (Some(wild), Some(wild));
            }
            cell.per_launch
                .iter_mut()
                .flat_map(|l| l.wall_ns.values_mut())
                .for_each(|wall| *wall = wild);
        }
        for comparison in summary.groups.iter_mut().flat_map(|g| &mut g.comparisons) {
            comparison
                .contrast
                .ratio
                .iter_mut()
                .for_each(|r| (r.ratio, r.low, r.high) = (wild, wild, wild));
        }
        let page = page(&summary);
        let drawn: Vec<&str> = page.split("<svg").skip(1).collect();
        for place in ["x", "x1", "x2", "y", "cx", "cy", "width", "height"] {
            let values = drawn
                .iter()
                .filter_map(|svg| attribute(svg, &format!(" {place}")));
            let broken = values.into_iter().find(|v| {
                v.trim_end_matches('%')
                    .parse::<f64>()
                    .is_ok_and(|v| !v.is_finite())
            });
            assert_eq!(broken, None, "{name} with {wild}");
        }
    }
}

#[test]
fn a_small_page_is_what_it_was() {
    insta::assert_snapshot!("page-one-launch", visible(&page(&fixture("one-launch"))));
}

#[test]
fn a_method_has_one_color_in_all_charts_of_an_experiment() {
    let mut repeated = 0;
    for name in ALL {
        let page = page(&fixture(name));
        for section in page.split("<section id=\"experiment-").skip(1) {
            let mut colors: std::collections::BTreeMap<&str, &str> =
                std::collections::BTreeMap::new();
            for entry in section
                .split("<figure>")
                .skip(1)
                .flat_map(|figure| figure.split("<path class=\"").skip(1))
            {
                let Some((color, rest)) = entry
                    .split_once('"')
                    .filter(|(class, _)| class.starts_with('c'))
                else {
                    continue;
                };
                let Some((_, label)) = rest.split_once("</svg></svg>") else {
                    continue;
                };
                let label = label.split("</li>").next().unwrap();
                repeated += usize::from(
                    colors
                        .insert(label, color)
                        .is_some_and(|known| known == color),
                );
                assert_eq!(colors[label], color, "{name}: {label}");
            }
        }
    }
    assert!(repeated > 1, "{repeated} labels stand in several charts");
}
