mod bars;

use super::*;

#[test]
fn a_table_that_is_too_wide_is_divided_and_its_names_are_repeated() {
    let column = |n: usize| Column::number(format!("{n}{}", "-".repeat(28)));
    let columns = std::iter::once(Column::text("name"))
        .chain((0..4).map(column))
        .collect();
    let row = Entry::new(
        "a".repeat(60),
        vec![
            TableCell::text("1"),
            TableCell::text("2"),
            TableCell::text("3"),
            TableCell::text("4"),
        ],
    );
    let lines = lines(
        &Table::new("", columns, [row]),
        2,
        &Screen::new(80, false),
        false,
    );
    assert!(lines.iter().all(|line| width(line) <= 80), "{lines:#?}");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.trim_start().starts_with("name"))
            .count(),
        2,
        "{lines:#?}"
    );
    assert_eq!(
        lines.concat().matches('a').count(),
        2 * (60 + 1),
        "no letter of a name is cut"
    );
}

#[test]
fn sentences_are_wrapped_within_their_column() {
    let columns = vec![
        Column::text("cell"),
        Column::sentences("finding"),
        Column::number("n"),
    ];
    let row = Entry::new(
        "a",
        vec![TableCell::text("word ".repeat(30)), TableCell::count(7)],
    );
    let lines = lines(
        &Table::new("", columns, [row]),
        0,
        &Screen::new(80, false),
        false,
    );
    assert!(
        lines.len() == 4 && lines.iter().all(|line| width(line) <= 80),
        "{lines:#?}"
    );
    assert!(
        matches!(&crate::plot::Plot::Ratios(crate::plot::Axis::factors(2.0)), plot if !is_drawn(plot))
    );
}
