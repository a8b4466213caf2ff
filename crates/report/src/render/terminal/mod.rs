//! A document as lines that are no wider than the terminal.

mod drawing;
mod layout;
mod screen;
mod table;
mod unbroken;

use crate::render::document::{Block, Document, List, Place};
use crate::render::styled::{Style, StyledText};
use crate::sentences::glossary;
pub use screen::{Screen, folded};
use screen::{broken, pad, width, wrap};

const INDENT: usize = 2;
/// The field of a list's short title.
const LABEL: usize = 11;

/// The document as text. With `full` it holds everything that stands behind the figures.
pub fn render(document: &Document, screen: &Screen, full: bool) -> StyledText {
    let heading = document.heading().unwrap_or_default();
    let mut lines = plain(wrap(&heading, 0, screen));
    for section in document
        .sections
        .iter()
        .filter(|section| is_shown(section.place, full))
    {
        let indent = if section.title.is_empty() { 0 } else { INDENT };
        if indent > 0 {
            lines.push(StyledText::default());
        }
        lines.extend(bold(wrap(&section.title, 0, screen)));
        lines.extend(lines_of(&section.blocks, indent, screen, full));
    }
    if document.is_explained {
        let text: Vec<String> = lines.iter().map(StyledText::plain).collect();
        if let Some(note) = glossary::note(&text.join("\n")) {
            let note = format!("{note} All words: pagewise show words");
            lines.extend(plain(wrap(&note, 0, screen)));
        }
    }
    let shown = lines.into_iter().skip_while(StyledText::is_empty);
    StyledText::joined(shown.chain([StyledText::default()]))
}

fn plain(lines: Vec<String>) -> Vec<StyledText> {
    lines.into_iter().map(StyledText::from).collect()
}

fn bold(lines: Vec<String>) -> Vec<StyledText> {
    lines
        .into_iter()
        .map(|line| StyledText::new(line, Style::Bold))
        .collect()
}

fn is_shown(place: Place, full: bool) -> bool {
    match place {
        Place::Everywhere | Place::Screen => true,
        Place::Full => full,
        Place::Page => false,
    }
}

fn lines_of(blocks: &[Block], indent: usize, screen: &Screen, full: bool) -> Vec<StyledText> {
    let mut lines: Vec<StyledText> = Vec::new();
    let mut headed = indent == 0;
    for block in blocks {
        let of_block = match block {
            Block::Heading(text) | Block::Answer(text) => bold(wrap(text, indent, screen)),
            Block::Text(text) => plain(wrap(text, indent, screen)),
            // Source and commands are copied whole, so no line of them is wrapped.
            Block::Code(text) => text
                .lines()
                .map(|line| whole(line, indent + INDENT, screen).into())
                .collect(),
            Block::Commands(commands) => commands
                .iter()
                .map(|line| whole(line, indent + INDENT, screen).into())
                .collect(),
            Block::List(list) => plain(items(list, indent, screen)),
            Block::Table(table) => table::lines(table, indent, screen, full),
            Block::Part(part) if is_shown(part.place, full) => {
                lines_of(&part.blocks, indent, screen, full)
            }
            Block::Chart(_) | Block::Part(_) => Vec::new(),
        };
        if of_block.is_empty() {
            continue;
        }
        // A table has room above it, unless its heading is there.
        let apart = begins_with_heading(block) || (matches!(block, Block::Table(_)) && !headed);
        if apart && indent > 0 && !lines.is_empty() {
            lines.push(StyledText::default());
        }
        headed = matches!(block, Block::Heading(_)) || indent == 0;
        lines.extend(of_block);
    }
    lines
}

fn begins_with_heading(block: &Block) -> bool {
    match block {
        Block::Heading(_) => true,
        Block::Part(part) => part.blocks.first().is_some_and(begins_with_heading),
        _ => false,
    }
}

fn whole(line: &str, indent: usize, screen: &Screen) -> String {
    format!("{}{}", " ".repeat(indent), screen.text(line))
        .trim_end()
        .to_owned()
}

/// A list: an item a line; where its lines are limited, behind its title as many items on a line as fit.
fn items(list: &List, indent: usize, screen: &Screen) -> Vec<String> {
    let title = screen.text(&list.title);
    let Some((most, command)) = &list.most else {
        let mut lines = Vec::new();
        let mut below = indent;
        if !title.is_empty() {
            lines = wrap(&format!("{title}:"), indent, screen);
            below += INDENT;
        }
        let items = list.items.iter();
        lines.extend(items.flat_map(|item| wrap(item, below, screen)));
        return lines;
    };
    let lines = packed(&list.items, *most, command, screen);
    let heads = std::iter::once(title.to_uppercase()).chain(std::iter::repeat(String::new()));
    lines
        .iter()
        .zip(heads)
        .map(|(line, head)| format!("{}{line}", pad(&head, LABEL, false)))
        .collect()
}

/// At most so many lines, each of as many items as fit; an item that is wider than a line has several. The last one counts the
/// items that are left out.
fn packed(items: &[String], most: usize, command: &str, screen: &Screen) -> Vec<String> {
    let room = screen.width() - LABEL;
    let joint = format!(" {} ", screen.sign('·', '|'));
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let item = screen.text(item);
        let count = lines.len();
        match lines.last_mut() {
            Some(line) if length(line, &item, &joint) <= room => line.push(item),
            Some(line) if count == most => {
                let mut left_out = items.len() - at;
                let mut more = and_more(left_out, command, screen);
                while !line.is_empty() && length(line, &more, &joint) > room {
                    line.pop();
                    left_out += 1;
                    more = and_more(left_out, command, screen);
                }
                line.push(more);
                break;
            }
            _ => lines.push(vec![item]),
        }
    }
    lines
        .iter()
        .flat_map(|line| broken(&line.join(&joint), room, screen))
        .collect()
}

/// The width of a line's items and one more.
fn length(line: &[String], next: &str, joint: &str) -> usize {
    let items = line.iter().map(|item| width(item) + width(joint));
    items.sum::<usize>() + width(next)
}

fn and_more(left_out: usize, command: &str, screen: &Screen) -> String {
    screen.text(&format!("and {left_out} more: {command}"))
}
