//! A document in Markdown as GitHub and GitLab show it: for issues, pull requests and their comments.

use crate::render::document::{Block, Body, Column, Document, Place, Shape, Shown, Table};
use crate::render::escape;
use std::fmt::Write as _;

/// The document as text. Charts and the parts that back its figures are left to the page.
pub fn render(document: &Document) -> String {
    rendered(document, false)
}

/// The document as text, with the parts that back its figures and no charts.
pub fn render_full(document: &Document) -> String {
    rendered(document, true)
}

fn rendered(document: &Document, full: bool) -> String {
    let mut out = document.heading().map_or_else(String::new, |heading| {
        format!("# {}\n", escape::markdown(&heading))
    });
    for section in document
        .sections
        .iter()
        .filter(|section| is_shown(section.place, full))
    {
        if !section.title.is_empty() {
            let _ = writeln!(out, "\n## {}", escape::markdown(&section.title));
        }
        let blocks = section.blocks.iter();
        blocks.for_each(|each| block(each, full, &mut out));
    }
    out
}

fn is_shown(place: Place, full: bool) -> bool {
    matches!(place, Place::Everywhere | Place::Screen) || full && place == Place::Full
}

fn block(block: &Block, full: bool, out: &mut String) {
    let _ = match block {
        Block::Heading(text) => writeln!(out, "\n### {}", escape::markdown(text)),
        Block::Text(text) => writeln!(out, "\n{}", escape::markdown(text)),
        Block::Answer(text) => writeln!(out, "\n**{}**", escape::markdown(text)),
        Block::Code(text) => writeln!(out, "\n{}", fenced(text.lines())),
        Block::Commands(lines) => writeln!(out, "\n{}", fenced(lines.iter().map(String::as_str))),
        Block::List(list) => {
            let title = if list.title.is_empty() {
                String::new()
            } else {
                format!("\n{}:\n", escape::markdown(&list.title))
            };
            let items: Vec<String> = list
                .items
                .iter()
                .map(|item| format!("- {}", escape::markdown(item)))
                .collect();
            writeln!(out, "{title}\n{}", items.join("\n"))
        }
        Block::Table(all) => return table(all, out),
        Block::Part(part) if is_shown(part.place, full) => {
            let blocks = part.blocks.iter();
            return blocks.for_each(|each| self::block(each, full, out));
        }
        Block::Chart(_) | Block::Part(_) => return,
    };
}

/// Lines that Markdown shows as they are: between fences longer than any that is in them, so that none of them ends it. Lines
/// that are indented instead would belong to a list before them.
fn fenced<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<String> = lines.map(escape::terminal).collect();
    let ticks = lines.iter().flat_map(|line| line.split(|c| c != '`'));
    let longest = ticks.map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", lines.join("\n"))
}

fn table(table: &Table, out: &mut String) {
    let columns: Vec<usize> = (0..table.columns.len())
        .filter(|&at| is_column_shown(&table.columns[at]))
        .collect();
    let titles = columns.iter().map(|&at| table.columns[at].title.as_str());
    let rules: Vec<&str> = columns.iter().map(|&at| rule(&table.columns[at])).collect();
    *out += "\n";
    *out += &row(titles);
    let _ = writeln!(out, "|{}|", rules.join("|"));
    for body in table.bodies.iter().filter(|body| !body.rows.is_empty()) {
        if !body.heading.is_empty() {
            *out += &heading(body, &columns);
        }
        for entry in &body.rows {
            *out += &row(columns.iter().map(|&at| entry.text(at)));
        }
    }
}

fn is_column_shown(column: &Column) -> bool {
    column.shape != Shape::Drawn && column.shown != Shown::Page
}

fn rule(column: &Column) -> &'static str {
    if column.shape == Shape::Number {
        "---:"
    } else {
        "---"
    }
}

fn row<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.map(escape::markdown).collect();
    format!("| {} |\n", texts.join(" | "))
}

/// A row with a body's heading in the column of names.
fn heading(body: &Body, columns: &[usize]) -> String {
    let texts: Vec<String> = columns
        .iter()
        .map(|&at| match at {
            0 => format!("*{}*", escape::markdown(&body.heading)),
            _ => String::new(),
        })
        .collect();
    format!("| {} |\n", texts.join(" | "))
}
