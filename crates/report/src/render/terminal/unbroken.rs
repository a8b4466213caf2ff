//! Words that no line divides: a figure with its unit, a range, a command.

/// Units that a figure has after a space; `µs` is `us` where there is nothing but ASCII.
const UNITS: [&str; 17] = [
    "ns", "µs", "us", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "TiB", "GB", "MB",
    "kB", "CPUs",
];

/// The words of a text, those that belong together as one.
pub(super) fn unbroken(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = "";
    let mut command = Command::default();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_joined =
            command.goes_on(last, word) || is_unit_of(last, word) || ends_range(&parts, word);
        match parts.last_mut() {
            Some(known) if is_joined => *known = format!("{known} {word}"),
            _ => parts.push(word.to_owned()),
        }
        if command.begins() && is_joined {
            join_label(&mut parts);
        }
        last = word;
    }
    parts
}

/// Joins a command's label of two words that begin a sentence: `All words: pagewise`.
fn join_label(parts: &mut Vec<String>) {
    let begins_sentence = match parts.as_slice() {
        [.., before, _, _] => before.ends_with(['.', ';']),
        [_, _] => true,
        _ => false,
    };
    if let Some(rest) = parts.pop_if(|_| begins_sentence) {
        match parts.last_mut() {
            Some(first) => *first = format!("{first} {rest}"),
            None => parts.push(rest),
        }
    }
}

/// A command within a sentence.
#[derive(Default)]
struct Command {
    /// Words of it so far.
    length: usize,
    /// It is the end of its clause: after `:`, up to `)` or the end of the text.
    is_last: bool,
}

impl Command {
    /// Tells whether the last word was its first one.
    fn begins(&self) -> bool {
        self.length == 1
    }

    /// Tells whether a word goes on with the command that the last one belongs to; `pagewise` begins one, and stays with `why:`.
    fn goes_on(&mut self, last: &str, word: &str) -> bool {
        if word.trim_start_matches('(') == "pagewise" {
            (self.length, self.is_last) = (1, last.ends_with(':'));
            return self.is_last;
        }
        let is_ended =
            self.length == 0 || last.ends_with([')', ',', ';', '.']) || word == "·" || word == "|";
        let is_part = self.length == 1 || self.is_last || word.starts_with('-');
        if is_ended || !is_part {
            self.length = 0;
            return false;
        }
        self.length += 1;
        true
    }
}

/// Tells whether a word is the unit of the figure before it, what such a unit is of (`trip` after `µs/round`), or its interval.
fn is_unit_of(last: &str, word: &str) -> bool {
    let figure = last.trim_start_matches(['(', '±', '>', '~', '<']);
    let is_figure = figure.ends_with(|c: char| c.is_ascii_digit())
        && figure.contains(|c: char| c.is_ascii_digit());
    let unit = word.trim_end_matches([')', ',', ';', '.', ':']);
    let unit = unit.split(['/', '–']).next().unwrap_or_default();
    let is_of_round = last.ends_with("/round");
    let is_rest = ["min", "h"].contains(&last) && word.bytes().all(|sign| sign.is_ascii_digit());
    let is_interval = word.starts_with('±') || word == "CI" || last == "CI";
    is_of_round
        || is_rest
        || is_interval
        || is_figure && (word.starts_with('%') || UNITS.contains(&unit))
}

/// Tells whether a word goes on with a range: `faster–3.7` after `1.9 %`, and the direction after `3.7 %` or `1.9×`.
fn ends_range(parts: &[String], word: &str) -> bool {
    let Some(known) = parts.last() else {
        return false;
    };
    let is_figure = known.ends_with(['%', '×', 'x'])
        && known.starts_with(|c: char| c.is_ascii_digit() || c == '(');
    let direction = word.trim_end_matches([')', ',', ';', '.', ':']);
    is_figure
        && ["faster", "slower"]
            .iter()
            .any(|known| direction.starts_with(known))
}

/// The parts of words that belong together: themselves, or each alone where all of them are wider than a line.
pub(super) fn divided(joined: &str, room: usize) -> Vec<&str> {
    if joined.chars().count() <= room {
        return vec![joined];
    }
    joined.split(' ').collect()
}
