//! Advice as documents: an answer, and the saved file; and as source for programs.

use crate::render::document::{Block, Document, Place};
use crate::sentences::wording::{count, together};
use crate::sentences::{numbers::ratio_words, phrases};
use record::advice::{Advice, AdviceAnswer, Case, Question, Repeated, Segment};
use record::{outcome::Outcome, sizes::format_size, summary::Ratio};
use std::collections::BTreeMap;

/// An answer: the method to use, its gain and costs, and where that changes.
pub fn answer(answer: &AdviceAnswer) -> Document {
    let case = &answer.case;
    let mut blocks = Vec::new();
    if !case.settings.is_empty() {
        blocks.push(Block::Text(format!("where {}", settings(&case.settings))));
    }
    let first = if answer.depends {
        format!("It depends. If {}: {}", case.condition, advice(case))
    } else {
        advice(case)
    };
    blocks.push(Block::Answer(first));
    let cpu = case.cpu.filter(|_| case.gain.is_some());
    let cpu = cpu.map(|cpu| {
        format!(
            "processor time of all sides: {} of {}'s",
            ratio_words(&cpu),
            case.obvious
        )
    });
    blocks.extend(Block::list(
        "",
        cpu.into_iter()
            .chain(answer.costs.iter().cloned())
            .chain(around(case)),
    ));
    blocks.extend(by_size(answer));
    blocks.extend(
        answer
            .uses
            .iter()
            .map(|uses| Block::Text(format!("Often: {}", repeated(uses)))),
    );
    let others = together(answer.also.iter().map(|other| (other, advised(other))));
    blocks.extend(others.into_iter().map(|(method, others)| {
        let when = others
            .iter()
            .map(|other| condition(case, other))
            .collect::<Vec<_>>()
            .join("; ");
        Block::Text(if case.way.is_none() && method == advised(case) {
            format!("The same {when}.")
        } else {
            format!(
                "{}{}: {}",
                when[..1].to_uppercase(),
                &when[1..],
                advice(others[0])
            )
        })
    }));
    for snippet in &answer.snippets {
        let usual = if case.way.is_none() {
            "The usual choice, "
        } else {
            ""
        };
        blocks.push(Block::Heading(format!(
            "{usual}{} ({}):",
            snippet.path, snippet.language
        )));
        blocks.push(Block::Code(snippet.code.clone()));
    }
    let title = format!("To {} ({})", answer.does, format_size(answer.bytes));
    let document = Document::new("advice", []).section("answers", title, Place::Everywhere, blocks);
    document.section("sure", "How sure", Place::Everywhere, rests_on(answer))
}

fn condition(case: &Case, other: &Case) -> String {
    if !other.condition.is_empty() {
        return format!("if {}", other.condition);
    }
    let differs = other
        .settings
        .iter()
        .filter(|(k, v)| case.settings.get(*k) != Some(v));
    format!(
        "with {}",
        differs
            .map(|(k, v)| format!("{k}={v}"))
            .collect::<Vec<_>>()
            .join(" ")
    )
}

/// Methods without figures by their outcomes.
fn missing(case: &Case) -> impl DoubleEndedIterator<Item = (&str, &Outcome)> {
    case.missing
        .iter()
        .map(|(name, outcome)| (name.as_str(), outcome))
}

fn settings(settings: &BTreeMap<String, String>) -> String {
    settings
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The method with its relative cost; or the outcome of the usual choice without figures, and the methods that share it.
type AdvisedMethod<'a> = (
    Option<&'a String>,
    Option<&'a Ratio>,
    Option<(&'a Outcome, Vec<&'a str>)>,
);

fn advised(case: &Case) -> AdvisedMethod<'_> {
    let unmeasured = together(missing(case).rev())
        .into_iter()
        .find(|(_, ways)| ways.contains(&case.obvious.as_str()));
    (
        case.way.as_ref(),
        case.gain.as_ref(),
        unmeasured.filter(|_| case.way.is_none()),
    )
}

fn advice(case: &Case) -> String {
    match advised(case) {
        (Some(way), Some(gain), _) => {
            format!(
                "Use {way}: it takes {} of the time of {}, the usual choice.",
                ratio_words(gain),
                case.obvious
            )
        }
        (Some(way), None, _) => {
            format!("Use {way}, the usual choice: no other is shown to be faster.")
        }
        (None, _, Some((outcome, ways))) => {
            format!(
                "Nothing is advised: {} could not be measured here: {}",
                ways.join(", "),
                phrases::reason(outcome)
            )
        }
        (None, _, None) => {
            "Nothing is advised: it is not settled; a longer --budget may settle it.".to_owned()
        }
    }
}

/// Methods that are as good, not settled, or not there.
fn around(case: &Case) -> Vec<String> {
    let mut items = Vec::new();
    if !case.within.is_empty() {
        items.push(format!("about as fast: {}", case.within.join(", ")));
    }
    if !case.unsettled.is_empty() {
        items.push(format!(
            "not settled: {}; a longer --budget may settle it",
            case.unsettled.join(", ")
        ));
    }
    let others = together(missing(case))
        .into_iter()
        .filter(|(_, ways)| !ways.contains(&case.obvious.as_str()));
    let others = others.map(|(outcome, ways)| {
        format!(
            "not measurable here: {}: {}",
            ways.join(", "),
            phrases::reason(outcome)
        )
    });
    items.extend(others);
    items
}

fn by_size(answer: &AdviceAnswer) -> Vec<Block> {
    let Some((from, to)) = answer.measured else {
        return Vec::new();
    };
    let range = format!("measured from {} to {}", format_size(from), format_size(to));
    if answer.segments.is_empty() {
        return vec![Block::Text(format!(
            "By size: nothing is shown to be faster at any size ({range})."
        ))];
    }
    let segments = answer.segments.iter().map(segment);
    if answer.flips.is_empty() {
        let all = segments.collect::<Vec<_>>().join("; ");
        return vec![Block::Text(format!(
            "By size: {all}; no change was found ({range})."
        ))];
    }
    let flips = answer.flips.iter().map(|flip| {
        let (above, up_to) = (format_size(flip.above), format_size(flip.up_to));
        format!(
            "it changes between {above} and {up_to}: below {} takes less, beyond {}",
            flip.below, flip.beyond
        )
    });
    let rest = "at other sizes less than the margin is shown: keep what you have".to_owned();
    Block::list(
        format!("By size ({range})"),
        flips.chain(segments).chain([rest]),
    )
    .into_iter()
    .collect()
}

fn segment(segment: &Segment) -> String {
    let place = if segment.from == segment.to {
        format!("at {}", format_size(segment.from))
    } else {
        format!("{}–{}", format_size(segment.from), format_size(segment.to))
    };
    let gain = format!(
        "{:.2} ({:.2}–{:.2})",
        segment.ratio, segment.at_least, segment.at_most
    );
    format!(
        "{place}: {} takes {gain} of {}'s time",
        segment.way, segment.over
    )
}

fn repeated(uses: &Repeated) -> String {
    let Repeated {
        way,
        than,
        noun,
        count: Ratio { low, high, .. },
    } = uses;
    let (low, high) = (low.floor().max(1.0), high.ceil());
    format!("from {low:.0}–{high:.0} {noun} on, {way} takes less in all than {than}.")
}

fn rests_on(answer: &AdviceAnswer) -> Vec<Block> {
    let made = answer.runs.first().map(|first| match answer.runs.len() {
        1 => first.clone(),
        more => format!("{first} and {} more of it: pagewise runs --json", more - 1),
    });
    let mut blocks: Vec<Block> = Block::list("Measured for it", made).into_iter().collect();
    let kept = "Answered in part by kept runs of this machine (--fresh measures anew)";
    blocks.extend(Block::list(kept, answer.reused.iter().cloned()));
    blocks.push(Block::text(
        "Times are ratios with 95 % limits; below 1 takes less. pagewise report RUN shows how they came about.",
    ));
    blocks
}

/// The saved file. `differences` are those of this machine from the one it is for.
pub fn saved(advice: &Advice, path: &str, differences: &[String]) -> Document {
    let mut document = Document::new(
        "advice",
        [path.to_owned(), format!("made {}", advice.created)],
    );
    if !differences.is_empty() {
        let text = format!("It is of another machine: {}.", differences.join(", "));
        let blocks = vec![
            Block::Answer(text),
            Block::text("Programs keep their defaults here."),
        ];
        document = document.section("machine", "", Place::Everywhere, blocks);
    }
    for (name, question) in &advice.questions {
        let title = format!(
            "{name}: to {} ({})",
            question.does,
            settings(&question.settings)
        );
        document = document.section(name, title, Place::Everywhere, of_question(question));
    }
    let reading = vec![
        Block::text("Between two sizes, below the first and beyond the last: keep your default."),
        Block::text(
            "Ratios are of time, over the sizes of a line, with the widest limits of any of them.",
        ),
    ];
    document.section("reading", "How to read it", Place::Everywhere, reading)
}

fn of_question(question: &Question) -> Vec<Block> {
    let none = || Block::text("keep your default: no way is shown to be faster at any size");
    let segments = Block::list("", question.segments.iter().map(segment)).unwrap_or_else(none);
    let under = question
        .conditions
        .iter()
        .map(|(condition, segments)| match segments.as_slice() {
            [] => format!("{condition}: keep your default"),
            segments => format!(
                "{condition}: {}",
                segments.iter().map(segment).collect::<Vec<_>>().join("; ")
            ),
        });
    let under = Block::list("under each condition", under);
    let rests = format!(
        "{} ratios of {}",
        question.points.len(),
        count(question.runs.len(), "run")
    );
    [Some(segments), under, Some(Block::Text(rests))]
        .into_iter()
        .flatten()
        .collect()
}
