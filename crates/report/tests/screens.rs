//! What a terminal shows of recorded summaries, at three widths. Each fixture is the summary of a real run.

use std::path::{Path, PathBuf};

use pagewise_report::document::Block;
use pagewise_report::terminal::{self, Screen};
use pagewise_report::view::{self, Wanted};
use record::outcome::Cause;
use record::summary::{NoteKind, Summary, WarningKind};

fn fixtures() -> Vec<(String, Summary)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (
            name,
            serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        )
    };
    let found: Vec<(String, Summary)> = paths.into_iter().map(read).collect();
    assert!(found.len() >= 6, "{} fixtures", found.len());
    found
}

fn render(summary: &Summary, screen: &Screen, wanted: &Wanted) -> String {
    terminal::render(&view::screen(summary, wanted), screen, wanted.full).plain()
}

fn full() -> Wanted {
    Wanted {
        full: true,
        ..Wanted::default()
    }
}

fn listed() -> Wanted {
    Wanted {
        doubt: true,
        ..Wanted::default()
    }
}

#[test]
fn what_a_terminal_shows_is_what_it_showed() {
    for (name, summary) in fixtures() {
        for width in [80, 100, 140] {
            insta::assert_snapshot!(
                format!("{name}-{width}"),
                render(&summary, &Screen::new(width, false), &Wanted::default())
            );
        }
    }
}

#[test]
fn full_tables_and_warnings_are_what_they_were() {
    for (name, summary) in fixtures()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("look"))
    {
        insta::assert_snapshot!(
            format!("{name}-full-100"),
            render(&summary, &Screen::new(100, false), &full())
        );
        insta::assert_snapshot!(
            format!("{name}-warnings"),
            render(&summary, &Screen::new(80, false), &listed())
        );
    }
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for (name, summary) in fixtures() {
        for wanted in [Wanted::default(), full(), listed()] {
            for (width, ascii) in [
                (80, false),
                (80, true),
                (93, false),
                (100, true),
                (140, false),
                (300, false),
            ] {
                for line in render(&summary, &Screen::new(width, ascii), &wanted).lines() {
                    assert!(line.chars().count() <= width, "{name} at {width}: {line}");
                    assert!(!ascii || line.is_ascii(), "{name}: {line}");
                    assert_eq!(line.trim_end(), line, "{name}");
                }
            }
        }
    }
}

#[test]
fn a_first_look_is_one_screen_however_many_experiments_there_are() {
    let looks: Vec<_> = fixtures()
        .into_iter()
        .filter(|(_, s)| s.settings.is_overview)
        .collect();
    assert!(!looks.is_empty());
    for (name, mut summary) in looks {
        // Many more experiments than there are: each again under other names.
        for copy in 0..4 {
            let doubled: Vec<_> = summary
                .experiments
                .iter()
                .filter(|e| !e.definition.name.contains('~'))
                .cloned()
                .collect();
            for mut experiment in doubled {
                let was = experiment.definition.name.clone();
                experiment.definition.name = format!("{was}~{copy}");
                let groups: Vec<_> = summary
                    .groups
                    .iter()
                    .filter(|g| g.experiment == was)
                    .cloned()
                    .collect();
                summary.groups.extend(groups.into_iter().map(|mut g| {
                    g.experiment.clone_from(&experiment.definition.name);
                    g
                }));
                summary.experiments.push(experiment);
            }
            for width in [80, 100, 140] {
                let lines = render(&summary, &Screen::new(width, false), &Wanted::default())
                    .lines()
                    .count();
                // Answers are wrapped and never cut: a narrow screen has a few lines more.
                assert!(
                    lines < if width < 100 { 48 } else { 42 },
                    "{name} with {} experiments: {lines} lines",
                    summary.experiments.len()
                );
            }
        }
    }
}

#[test]
fn a_hostile_summary_does_not_steer_the_terminal() {
    for (name, mut summary) in fixtures() {
        let evil = "\u{1b}[2J\u{7}\r\n\u{202e}";
        for cell in &mut summary.cells {
            cell.method += evil;
            cell.outcome.cause = cell.outcome.cause.take().map(|_| Cause::Lacks {
                text: evil.to_owned(),
            });
            for value in cell.parameters.values_mut() {
                *value += evil;
            }
        }
        for note in &mut summary.notes {
            note.kind = NoteKind::Damaged {
                seen: evil.to_owned(),
            };
        }
        for warning in &mut summary.warnings {
            warning.kind = WarningKind::Damaged {
                seen: evil.to_owned(),
            };
        }
        summary.environment.values_mut().for_each(|v| *v += evil);
        summary.run += evil;
        for wanted in [Wanted::default(), full(), listed()] {
            let text = render(&summary, &Screen::new(80, false), &wanted);
            let steering = text
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(steering, None, "{name}");
        }
    }
}

#[test]
fn nothing_is_recommended_that_is_not_shown_to_help() {
    for (name, summary) in fixtures() {
        let margin = summary.settings.margin;
        let blocks = view::tables(&summary, &[], None)
            .sections
            .into_iter()
            .flat_map(|section| section.blocks);
        for line in blocks.filter_map(|block| {
            if let Block::Answer(text) = block {
                Some(text)
            } else {
                None
            }
        }) {
            if let Some(rest) = line.strip_prefix("→ use ") {
                assert!(rest.contains(" faster (95 % CI "), "{name}: {line}");
            }
        }
        for group in &summary.groups {
            if let record::summary::Recommendation::Use { cell, ratio, .. } = group.recommendation {
                assert!(
                    ratio.high < 1.0 / (1.0 + margin),
                    "{name}: {}",
                    summary.cells[cell].cell
                );
            }
        }
    }
}
