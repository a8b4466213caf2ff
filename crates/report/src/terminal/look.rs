//! The answer on one screen: at most 40 lines, no wider than the terminal.

use super::bars;
use super::layout::{self, Side, cut, pad, width};
use super::screen::Screen;
use crate::view::{Figure, KeepRow, View, WorthRow};

/// Columns of the bars; they are left out where they do not fit.
const BARS: usize = 17;
/// Lines that each of the lists at the bottom may take.
const LIST_LINES: usize = 3;
/// Lines for how sure it is: the A/A check, what the limits are of, what is untrusted, the warnings.
const SURE_LINES: usize = 4;
/// Lines that are left for what a verb prints below: where the run is kept.
const KEPT_LINES: usize = 2;
/// The widest that a method's name with its time is made.
const WIDEST_FIGURE: usize = 34;

/// A way's name is not cut so far that this does not hold it with its time.
const NARROWEST_FIGURE: usize = 16;

/// The widths of the columns that both lists share.
struct Columns {
    question: usize,
    obvious: usize,
    best: usize,
    faster: usize,
    bars: bool,
}

const TITLES: [&str; 4] =
    ["obvious way", "measured best", "× faster", "no other way to do the same is shown to be faster"];

fn figure(figure: &Figure) -> usize {
    width(&figure.name) + 1 + width(&figure.time)
}

impl Columns {
    fn of(view: &View, screen: &Screen) -> Columns {
        let look = &view.look;
        let names = || {
            let worth = look.worth.iter().map(|r| (&r.experiment, &r.setting));
            worth.chain(look.keep.iter().map(|r| (&r.experiment, &r.setting)))
        };
        let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
        let name = longest(&mut names().map(|(e, _)| width(e)));
        let setting = longest(&mut names().map(|(_, s)| width(s)));
        let obvious = look.worth.iter().map(|r| figure(&r.obvious)).chain(look.keep.iter().map(|r| figure(&r.obvious)));
        let mut columns = Columns {
            question: (name + 1 + setting).max(width("WORTH CHANGING")),
            obvious: longest(&mut obvious.chain([width(TITLES[0])])).min(WIDEST_FIGURE),
            best: longest(&mut look.worth.iter().map(|r| figure(&r.best)).chain([width(TITLES[1])])).min(WIDEST_FIGURE),
            faster: longest(&mut look.worth.iter().map(|r| width(&r.faster)).chain([width(TITLES[2])])),
            bars: !look.worth.is_empty(),
        };
        let whole = |c: &Columns| c.question + c.obvious + c.best + c.faster + 3 * layout::GAP;
        columns.bars &= whole(&columns) + layout::GAP + BARS <= screen.width();
        // What is too wide is taken from the wider of the ways, one character after another: their names can be told from
        // what is left of them, but not hot from cold.
        while whole(&columns) > screen.width() {
            match columns.best.max(columns.obvious) {
                w if w <= NARROWEST_FIGURE => columns.question -= 1,
                w if w == columns.best => columns.best -= 1,
                _ => columns.obvious -= 1,
            }
        }
        columns
    }

    fn question(&self, view: &View, experiment: &str, setting: &str, screen: &Screen) -> String {
        let look = &view.look;
        let names = look.worth.iter().map(|r| &r.experiment).chain(look.keep.iter().map(|r| &r.experiment));
        let field = names.map(|n| width(n)).max().unwrap_or(0);
        let text = format!("{} {setting}", pad(experiment, field, Side::Left));
        pad(&cut(&screen.text(&text), self.question, screen), self.question, Side::Left)
    }
}

/// A method with its time in a field; of what is too long the name is cut, never the time.
fn in_field(figure: &Figure, field: usize, screen: &Screen) -> String {
    let (name, time) = (screen.text(&figure.name), screen.text(&figure.time));
    let name = cut(&name, field.saturating_sub(width(&time) + 1), screen);
    pad(&format!("{name} {time}"), field, Side::Left)
}

/// The whole screen.
pub(super) fn render(view: &View, screen: &Screen) -> String {
    let columns = Columns::of(view, screen);
    let gap = " ".repeat(layout::GAP);
    let head = format!("pagewise · {}", view.head.join(" · "));
    let mut lines = vec![cut(&screen.text(&head), screen.width(), screen)];
    if !view.look.worth.is_empty() {
        let [obvious, best, faster, _] = TITLES.map(|t| screen.text(t));
        let mut title = [
            pad("WORTH CHANGING", columns.question, Side::Left),
            pad(&obvious, columns.obvious, Side::Left),
            pad(&best, columns.best, Side::Left),
            pad(&faster, columns.faster, Side::Left),
        ]
        .join(&gap);
        if columns.bars {
            title += &format!("{gap}{}", bars::marks(&view.look.axis, BARS));
        }
        lines.push(title.trim_end().to_owned());
        lines.extend(view.look.worth.iter().map(|row| worth(view, row, &columns, screen)));
    }
    if !view.look.keep.is_empty() {
        lines.push(format!("{}{gap}{}", pad("KEEP", columns.question, Side::Left), TITLES[3]));
        lines.extend(view.look.keep.iter().map(|row| keep(view, row, &columns, screen)));
    }
    if view.look.worth.is_empty() && view.look.keep.is_empty() {
        lines.push("Nothing was measured long enough to say anything.".to_owned());
    }
    if view.look.left_out > 0 {
        lines.push(format!("and {} more questions: pagewise report {} --full", view.look.left_out, view.run));
    }
    lines.extend(bottom(view, screen));
    if columns.bars {
        let (full, light) = (screen.sign('█', '#'), screen.sign('░', '.'));
        lines.push(format!("{full} proven  {light} possible (95 %)"));
    }
    debug_assert!(lines.len() + KEPT_LINES <= 40, "the answer is one screen");
    lines.join("\n") + "\n"
}

fn worth(view: &View, row: &WorthRow, columns: &Columns, screen: &Screen) -> String {
    let gap = " ".repeat(layout::GAP);
    let mut line = [
        columns.question(view, &row.experiment, &row.setting, screen),
        in_field(&row.obvious, columns.obvious, screen),
        in_field(&row.best, columns.best, screen),
        pad(&screen.text(&row.faster), columns.faster, Side::Left),
    ]
    .join(&gap);
    if columns.bars {
        line += &format!("{gap}{}", bars::bar(row.factors, &view.look.axis, BARS, screen));
    }
    line.trim_end().to_owned()
}

fn keep(view: &View, row: &KeepRow, columns: &Columns, screen: &Screen) -> String {
    let gap = " ".repeat(layout::GAP);
    let start = [
        columns.question(view, &row.experiment, &row.setting, screen),
        in_field(&row.obvious, columns.obvious, screen),
    ]
    .join(&gap);
    let room = screen.width().saturating_sub(width(&start) + layout::GAP);
    format!("{start}{gap}{}", others(row, room, screen)).trim_end().to_owned()
}

/// What is said of the other methods, as much as there is room for.
fn others(row: &KeepRow, room: usize, screen: &Screen) -> String {
    let slower: Vec<String> = row.slower.iter().map(|(name, factors)| format!("{name} {factors}×")).collect();
    let parts = [
        (String::new(), slower, " slower"),
        (format!("within {}: ", row.margin), row.within.clone(), ""),
        ("not settled: ".to_owned(), row.unsettled.clone(), ""),
    ];
    let mut text = String::new();
    for (before, names, after) in parts.iter().filter(|(_, names, _)| !names.is_empty()) {
        let joint = if text.is_empty() { "" } else { "; " };
        let say = |count: usize| {
            let left = names.len() - count;
            let more = if left > 0 { format!(", {left} more") } else { String::new() };
            screen.text(&format!("{text}{joint}{before}{}{more}{after}", names[..count].join(", ")))
        };
        match (1..=names.len()).rev().map(say).find(|t| width(t) <= room) {
            Some(longer) => text = longer,
            None if text.is_empty() => return cut(&say(1), room, screen),
            None => break,
        }
    }
    text
}

/// How sure it is, what is missing, what to do next.
fn bottom(view: &View, screen: &Screen) -> Vec<String> {
    let mut sure = view.sure.clone();
    match view.warned_cells {
        0 if view.warnings.is_empty() => {}
        0 => sure.push(format!("warnings: pagewise report {} --warnings", view.run)),
        1 => sure.push(format!("warnings, 1 cell: pagewise report {} --warnings", view.run)),
        n => sure.push(format!("warnings, {n} cells: pagewise report {} --warnings", view.run)),
    }
    let full = format!("pagewise report {} --full", view.run);
    let mut lines = list("NO ANSWER", &view.look.unanswered, LIST_LINES, &full, screen);
    lines.extend(list("HOW SURE", &sure, SURE_LINES, &full, screen));
    lines.extend(list("MISSING", &view.look.missing, LIST_LINES, &full, screen));
    lines.extend(list("NEXT", &view.look.next, LIST_LINES, &full, screen));
    lines
}

/// Pieces behind a word, as many as its lines hold. What is left out is said with where to find it.
fn list(word: &str, pieces: &[String], most: usize, all: &str, screen: &Screen) -> Vec<String> {
    const FIELD: usize = 11;
    let room = screen.width() - FIELD;
    let joint = format!(" {} ", screen.sign('·', '|'));
    let length =
        |line: &[String], next: &str| line.iter().map(|p| width(p) + width(&joint)).sum::<usize>() + width(next);
    // A command is not cut: it goes to a line of its own.
    let whole = |piece: &String| match piece.rsplit_once(": ") {
        Some((words, command)) if width(piece) > room && command.starts_with("pagewise ") => {
            vec![format!("{words}:"), command.to_owned()]
        }
        _ => vec![piece.clone()],
    };
    let pieces: Vec<String> = pieces.iter().flat_map(whole).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let piece = cut(&screen.text(piece), room, screen);
        let count = lines.len();
        match lines.last_mut() {
            Some(line) if length(line, &piece) <= room => line.push(piece),
            Some(line) if count == most => {
                let mut left_out = pieces.len() - at;
                let more = |left_out: usize| screen.text(&format!("and {left_out} more: {all}"));
                while !line.is_empty() && length(line, &more(left_out)) > room {
                    line.pop();
                    left_out += 1;
                }
                line.push(cut(&more(left_out), room, screen));
                break;
            }
            _ => lines.push(vec![piece]),
        }
    }
    let heads = std::iter::once(word).chain(std::iter::repeat(""));
    lines
        .iter()
        .zip(heads)
        .map(|(line, head)| format!("{}{}", pad(head, FIELD, Side::Left), line.join(&joint)))
        .collect()
}
