//! A document in Markdown as GitHub and GitLab show it: for issues, pull requests and their comments.

use crate::render::document::{Block, Body, Document, Place, Shape, Shown, Table};
use crate::render::escape;
use std::fmt::Write as _;

/// The document as text. Charts and the parts that back its figures are left to the page.
pub fn render(document: &Document) -> String {
    let mut out = document.heading().map_or_else(String::new, |heading| {
        format!("# {}\n", escape::markdown(&heading))
    });
    for section in document
        .sections
        .iter()
        .filter(|section| is_shown(section.place))
    {
        if !section.title.is_empty() {
            let _ = writeln!(out, "\n## {}", escape::markdown(&section.title));
        }
        section.blocks.iter().for_each(|each| block(each, &mut out));
    }
    out
}

fn is_shown(place: Place) -> bool {
    matches!(place, Place::Everywhere | Place::Screen)
}

fn block(block: &Block, out: &mut String) {
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
        Block::Part(part) if is_shown(part.place) => {
            return part.blocks.iter().for_each(|each| self::block(each, out));
        }
        Block::Chart(_) | Block::Part(_) => return,
    };
}

/// Lines that Markdown shows as they are: indented by four, which no line of them can end.
fn fenced<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines
        .map(|line| format!("    {}", escape::terminal(line)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn table(table: &Table, out: &mut String) {
    let shown = |c: &usize| {
        table.columns[*c].shape != Shape::Drawn && table.columns[*c].shown != Shown::Page
    };
    let columns: Vec<usize> = (0..table.columns.len()).filter(shown).collect();
    let row = |texts: Vec<String>| format!("| {} |\n", texts.join(" | "));
    let lines = |body: &Body| -> String {
        let fields = |at: usize, entry: &crate::render::document::Entry| match at {
            0 => escape::markdown(&entry.name),
            at => entry
                .cells
                .get(at - 1)
                .map_or_else(String::new, |cell| escape::markdown(&cell.text)),
        };
        let heading = || {
            columns.iter().map(|c| {
                if *c == 0 {
                    format!("*{}*", escape::markdown(&body.heading))
                } else {
                    String::new()
                }
            })
        };
        let heading = if body.heading.is_empty() {
            String::new()
        } else {
            row(heading().collect())
        };
        let rows = body
            .rows
            .iter()
            .map(|entry| row(columns.iter().map(|c| fields(*c, entry)).collect()));
        heading + &rows.collect::<String>()
    };
    let rule = |c: &usize| {
        if table.columns[*c].shape == Shape::Number {
            "---:"
        } else {
            "---"
        }
    };
    *out += "\n";
    *out += &row(columns
        .iter()
        .map(|c| escape::markdown(&table.columns[*c].title))
        .collect());
    let _ = writeln!(
        out,
        "|{}|",
        columns.iter().map(rule).collect::<Vec<_>>().join("|")
    );
    *out += &table
        .bodies
        .iter()
        .filter(|body| !body.rows.is_empty())
        .map(lines)
        .collect::<String>();
}
