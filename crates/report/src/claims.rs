//! Answers to claims as text: a line a claim, grouped by verdict, or everything about a few.

use std::fmt::Write as _;

use record::claim::{Answer, Answers, Change, Claim, JobAnswer, Kind, Word};
use record::sizes::format_size;

use crate::numbers;
use crate::view::TurnedView;

/// Width of the screen that everything fits on.
const WIDTH: usize = 80;
/// With so many answers or fewer everything is said of each.
const FEW: usize = 3;

/// The screen: a line a claim, the most surprising first; with `full`, or where there are few, everything about each.
pub fn render(answers: &Answers, full: bool) -> String {
    let mut text = String::new();
    if full || answers.answers.len() <= FEW {
        for answer in &answers.answers {
            text += &whole(answer);
        }
    } else {
        for word in WORDS {
            let mine: Vec<&Answer> = answers.answers.iter().filter(|a| a.word == word).collect();
            if !mine.is_empty() {
                let _ = writeln!(text, "{} ({})", word.words(), mine.len());
            }
            for answer in mine {
                text += &line(answer);
            }
        }
    }
    let kept = answers.reused.len();
    if kept > 0 {
        let runs = if kept == 1 { "a kept run" } else { "kept runs" };
        let _ = writeln!(text, "\nAnswered in part by {runs} of this machine (--fresh measures anew):");
        for run in &answers.reused {
            let _ = writeln!(text, "  {run}");
        }
    }
    let _ = writeln!(text, "\n{}", summing_up(answers));
    if !full && answers.answers.len() > FEW {
        text += "Ratios are the first way's cost divided by the other's, with 95 % limits;\n\
                 below 1 it costs less. pagewise claims ID says everything about one.\n";
    }
    text
}

/// All words, the most surprising first.
pub(crate) const WORDS: [Word; 7] = [
    Word::Reversed,
    Word::NoDifferenceHere,
    Word::Weaker,
    Word::Stronger,
    Word::Holds,
    Word::Undecided,
    Word::NotMeasurableHere,
];

/// How many are decided, and what would decide more.
pub(crate) fn summing_up(answers: &Answers) -> String {
    let decided = answers.answers.iter().filter(|a| a.word.is_decided()).count();
    let mut text = format!("{decided} of {} claims are decided here", answers.answers.len());
    let time = |a: &&Answer| a.jobs.iter().any(|j| j.why.starts_with("the budget did not reach it"));
    let waiting = answers.answers.iter().filter(|a| a.word == Word::Undecided).filter(time).count();
    if waiting > 0 {
        let _ = write!(text, "; {waiting} were not reached: they need a longer --budget");
    }
    text + "."
}

/// One line within the width: id, figure, statement.
fn line(answer: &Answer) -> String {
    let mut figure = answer.jobs.iter().find(|j| j.word == answer.word).map_or_else(String::new, figure);
    let other = answer.jobs.iter().find(|j| j.job == record::claim::AS_PUBLISHED && j.word != answer.word);
    if let Some(other) = other.filter(|j| j.word.is_decided()) {
        let _ = write!(figure, " [{}]", published(other.word));
    }
    let start = format!("  {:<22} {figure:<20} ", cut(&answer.id, 22));
    let left = WIDTH.saturating_sub(start.chars().count());
    format!("{}{}\n", start, cut(&answer.statement, left.max(12))).trim_end().to_owned() + "\n"
}

/// A short word for another verdict as published.
fn published(word: Word) -> String {
    format!("publ. {}", word.words())
}

/// A text of at most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let short: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

/// The figure of a comparison in a few characters.
pub(crate) fn figure(job: &JobAnswer) -> String {
    match (&job.band, &job.ratio) {
        (Some(band), _) => match (band.above, band.up_to) {
            (Some(above), Some(up_to)) => format!("{}–{}", format_size(above), format_size(up_to)),
            (Some(above), None) => format!("above {}", format_size(above)),
            (None, Some(up_to)) => format!("below {}", format_size(up_to)),
            (None, None) => String::new(),
        },
        (None, Some(ratio)) => numbers::with_limits(ratio),
        (None, None) => String::new(),
    }
}

/// Everything about one claim.
fn whole(answer: &Answer) -> String {
    let mut text = format!("{}: {}\n", answer.id, answer.word.words().to_uppercase());
    text += &wrapped("statement", &answer.statement);
    if !answer.why.is_empty() {
        text += &wrapped("why", &answer.why);
    }
    for job in &answer.jobs {
        text += &whole_job(answer.kind, job);
    }
    if let Some(confuses) = &answer.confuses {
        text += &wrapped("beware", confuses);
    }
    let source = &answer.source;
    let year = source.year.map_or_else(String::new, |year| format!(", {year}"));
    text += &wrapped("said by", &format!("{}: {}{year}", source.author, source.title));
    text += &wrapped("figure", &source.figure);
    let machine: Vec<&str> = [&source.machine, &source.kernel].into_iter().flatten().map(String::as_str).collect();
    if !machine.is_empty() {
        text += &wrapped("there on", &machine.join(", kernel "));
    }
    match (&source.address, &source.unlocated) {
        (Some(address), _) => text += &format!("   {:<10} {address} (read {})\n", "at", source.read),
        (None, Some(why)) => text += &wrapped("at", why),
        (None, None) => {}
    }
    text + "\n"
}

fn whole_job(kind: Kind, job: &JobAnswer) -> String {
    let mut text = wrapped(&job.job, job.word.words());
    let against = job.other.as_ref().map_or_else(String::new, |other| format!(" / {other}"));
    text += &wrapped("", &format!("{}: {}{against}", job.figure, job.way));
    let (low, high) = job.holds;
    let edge = |value: f64| if kind == Kind::Crossover { format_size(value as u64) } else { numbers::digits(value) };
    let range = match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", edge(low), edge(high)),
        (Some(low), None) => format!("at least {}", edge(low)),
        (None, Some(high)) => format!("at most {}", edge(high)),
        (None, None) => String::new(),
    };
    let unit = if job.unit.is_empty() { String::new() } else { format!(" {}", job.unit) };
    let mine = figure(job);
    if !mine.is_empty() {
        let unpaired = if job.paired { "" } else { "; the sides were not launched in turns" };
        text += &wrapped("", &format!("here {mine}{unit}; it holds for {range}{unpaired}"));
    }
    for point in &job.points {
        let ratio = point.ratio.as_ref().map_or_else(|| "no figure".to_owned(), numbers::with_limits);
        text += &format!("   {:<10} {:>9}  {ratio}\n", "", format_size(point.value));
    }
    for words in [&job.cause, &job.why].into_iter().filter(|w| !w.is_empty()) {
        text += &wrapped("", &format!("{words}."));
    }
    text
}

/// A labelled text, broken at blanks within the width.
fn wrapped(label: &str, words: &str) -> String {
    let mut text = String::new();
    let mut row = format!("   {:<13}", label);
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && row.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", row.trim_end());
            row = " ".repeat(16);
            empty = true;
        }
        if !empty {
            row.push(' ');
        }
        row += word;
        empty = false;
    }
    let _ = writeln!(text, "{}", row.trim_end());
    text
}

/// `claims list`: what there is, without measuring.
pub fn list(claims: &[&Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        let kind = match (&claim.missing, claim.kind) {
            (Some(_), _) => "-",
            (None, Kind::Ratio) => "ratio",
            (None, Kind::Crossover) => "crossover",
            (None, Kind::Absolute) => "absolute",
        };
        let start = format!("{:<22} {kind:<9} ", cut(&claim.id, 22));
        let _ = writeln!(text, "{start}{}", cut(&claim.statement, WIDTH - start.chars().count()));
    }
    let crossovers = claims.iter().filter(|c| c.kind == Kind::Crossover).count();
    let absent = claims.iter().filter(|c| c.missing.is_some()).count();
    let _ = writeln!(
        text,
        "\n{} claims; {crossovers} of a crossover; {absent} that need what Pagewise has not (-)",
        claims.len()
    );
    text
}

/// Two runs of claims side by side.
pub fn changes(changes: &[Change], first: &str, second: &str) -> String {
    if changes.is_empty() {
        return format!("Every verdict of {first} is the same in {second}.\n");
    }
    let mut text = format!("verdicts that are not the same\n  first   {first}\n  second  {second}\n\n");
    for change in changes.iter().map(TurnedView::of) {
        let _ = writeln!(text, "{} ({}): {}", change.id, change.job, change.statement);
        let side = |at: usize| format!("{} {}", change.words[at], change.figures[at]).trim_end().to_owned();
        let _ = writeln!(text, "   {} -> {}", side(0), side(1));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use record::claim::{ANSWERS_SCHEMA, Source};
    use record::summary::Estimate;

    use super::*;

    fn answer(id: &str, word: Word, ratio: f64) -> Answer {
        let estimate = Estimate { ratio, low: ratio * 0.9, high: ratio * 1.1, level: 0.95, launches: 8, moved: None };
        let source = Source {
            title: "A page".into(),
            author: "Somebody".into(),
            year: Some(2021),
            address: Some("https://example.org/page".into()),
            unlocated: None,
            machine: None,
            kernel: None,
            figure: "half".into(),
            ratio: None,
            read: "2026-11-21".into(),
        };
        let job = JobAnswer {
            job: "corrected".into(),
            word,
            way: "copy/streaming@c-O3 bytes=1MiB".into(),
            other: Some("copy/memcpy@c-O3 bytes=1MiB".into()),
            figure: "wall time".into(),
            holds: (Some(0.4), Some(0.6)),
            ratio: Some(estimate),
            unit: String::new(),
            paired: true,
            band: None,
            points: Vec::new(),
            run: "a-run".into(),
            cause: "the cause was not found".into(),
            why: String::new(),
        };
        Answer {
            id: id.into(),
            statement: "A statement that is a good deal longer than what is left of a line of eighty.".into(),
            kind: Kind::Ratio,
            table: None,
            source,
            confuses: Some("Nothing.".into()),
            word,
            jobs: vec![job],
            why: String::new(),
        }
    }

    fn answers(all: Vec<Answer>) -> Answers {
        let (schema, environment) = (ANSWERS_SCHEMA, BTreeMap::new());
        Answers { schema, run: None, environment, margin: 0.05, reused: Vec::new(), answers: all }
    }

    #[test]
    fn the_screen_is_eighty_columns_wide_and_grouped_the_most_surprising_first() {
        let words = [Word::Holds, Word::Reversed, Word::Undecided, Word::Stronger];
        let all = words.iter().enumerate().map(|(i, w)| answer(&format!("claim-{i}"), *w, 0.001 + i as f64)).collect();
        let text = render(&answers(all), false);
        assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
        let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word} in {text}"));
        assert!(place("reversed (1)") < place("stronger (1)") && place("stronger (1)") < place("holds (1)"));
        assert!(place("holds (1)") < place("undecided (1)") && text.contains("3 of 4 claims are decided here"));
    }

    #[test]
    fn everything_is_said_of_a_few_within_the_width() {
        let text = render(&answers(vec![answer("one", Word::Weaker, 0.8)]), false);
        assert!(text.lines().all(|l| l.chars().count() <= WIDTH), "{text}");
        for part in [
            "WEAKER",
            "0.800 (0.720–0.880)",
            "it holds for 0.400 to 0.600",
            "https://example.org/page",
            "the cause was not found.",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
