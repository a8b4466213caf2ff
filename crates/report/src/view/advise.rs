//! Advice as documents: an answer, and the saved file; and as source for programs.

use crate::render::document::{Block, Document, Place};
use crate::sentences::wording::{self, count, duration, either, together};
use crate::sentences::{numbers::ratio_words, phrases, sure::causes};
use record::advice::{
    Advice, AdviceAnswer, AdviceTime, Case, Question, Repeated, Segment, TradeOff,
};
use record::cell::parameter_words;
use record::outcome::Outcome;
use record::sizes::{format_ns, format_size};
use record::summary::{Ratio, TailQuantile};
use std::slice;

/// An answer: the method to use, its gain and costs, and where that changes.
pub fn answer(answer: &AdviceAnswer) -> Document {
    let case = &answer.case;
    let mut blocks = Vec::new();
    if !case.settings.is_empty() {
        blocks.push(Block::Text(format!(
            "where {}",
            parameter_words(&case.settings, None)
        )));
    }
    let depends = if answer.depends { "It depends. " } else { "" };
    let sentence = if answer.frontier.is_empty() {
        advice(case)
    } else {
        gentle(answer)
    };
    blocks.push(Block::Answer(if case.condition.is_empty() {
        sentence
    } else {
        format!("{depends}If {}: {sentence}", case.condition)
    }));
    blocks.extend(Block::list(
        "Its own time, and the p99 of the others beside it",
        answer.frontier.iter().map(trade_off),
    ));
    let remarks = answer
        .time
        .iter()
        .map(time)
        .chain(cpu_time(case))
        .chain(answer.costs.iter().cloned())
        .chain(around(case));
    blocks.extend(Block::list("", remarks));
    blocks.extend(by_size(answer));
    for uses in &answer.uses {
        blocks.push(Block::Text(format!("Often: {}", repeated(uses))));
    }
    let further = together(answer.also.iter().map(|case| (case, advised(case))));
    for (method, cases) in further {
        let is_same = case.way.is_none() && method == advised(case);
        blocks.push(Block::Text(further_advice(case, &cases, is_same)));
    }
    for snippet in &answer.snippets {
        let usual = if case.way.is_none() {
            "The usual choice, "
        } else {
            ""
        };
        let title = format!("{usual}{} ({}):", snippet.path, snippet.language);
        blocks.push(Block::Heading(title));
        blocks.push(Block::Code(snippet.code.clone()));
    }
    let title = format!("To {} ({})", answer.does, format_size(answer.bytes));
    Document::new("advice", [])
        .section("answers", title, Place::Everywhere, blocks)
        .section("sure", "How sure", Place::Everywhere, rests_on(answer))
}

/// A sentence on the first answer, after so many seconds, while the sizes and conditions at which it changes are looked for.
pub fn so_far(answer: &AdviceAnswer, took_s: f64, further_s: f64) -> String {
    format!(
        "after {}: {} Now other sizes and conditions: {} at most",
        duration(took_s),
        advice(&answer.case),
        duration(further_s)
    )
}

/// The method that is shown to harm others less than the usual choice, and of several the one that harms them least.
fn gentle(answer: &AdviceAnswer) -> String {
    let usual = &answer.case.baseline;
    let gentler = answer
        .frontier
        .iter()
        .find(|way| way.is_gentler && way.dominated_by.is_none());
    match gentler.and_then(|way| Some((way, way.to_usual?))) {
        Some((way, ratio)) => format!(
            "Use {} to spare the others: their p99 is {} of that beside {usual}, the usual choice.",
            way.method,
            ratio_words(&ratio)
        ),
        None => format!(
            "Keep {usual}, the usual choice: no other is shown to spare the others; a longer --budget may show it."
        ),
    }
}

fn trade_off(way: &TradeOff) -> String {
    let [time, harm] = [&way.time_ns, &way.harm_ns].map(quantile);
    let dominated = way.dominated_by.as_ref();
    let dominated = dominated.map_or_else(String::new, |other| format!("; dominated by {other}"));
    format!("{}: {time}, others {harm}{dominated}", way.method)
}

/// A time with its interval, where it has one.
fn quantile(quantile: &TailQuantile) -> String {
    let median = format_ns(quantile.median);
    match quantile.low.zip(quantile.high) {
        Some((low, high)) => format!("{median} ({}–{})", format_ns(low), format_ns(high)),
        None => format!("{median} (too few launches for an interval)"),
    }
}

fn time(time: &AdviceTime) -> String {
    let [value, low, high] =
        [time.time_ns.ratio, time.time_ns.low, time.time_ns.high].map(format_ns);
    let size = format_size(time.bytes);
    let method = &time.method;
    let condition = if time.condition.is_empty() {
        String::new()
    } else {
        format!(" if {}", time.condition)
    };
    if time.bytes == time.measured_bytes {
        return format!("{method} takes {value} for {size} (95 % CI {low} to {high}){condition}");
    }
    let measured = format_size(time.measured_bytes);
    format!(
        "{method} would take {value} for {size} (95 % CI {low} to {high}){condition}, and if time grows with the size: {measured} were measured"
    )
}

fn cpu_time(case: &Case) -> Option<String> {
    let cpu = case.cpu.filter(|_| case.gain.is_some())?;
    Some(format!(
        "processor time of all sides: {} of {}'s",
        ratio_words(&cpu),
        case.baseline
    ))
}

/// The advice under other conditions, which is the same for all of `cases`.
fn further_advice(case: &Case, cases: &[&Case], is_same: bool) -> String {
    let mut when: Vec<String> = cases.iter().map(|other| condition(case, other)).collect();
    when.dedup();
    let when = when.join("; ");
    if is_same {
        return format!("The same {when}.");
    }
    let capital = when[..1].to_uppercase();
    format!("{capital}{}: {}", &when[1..], advice(cases[0]))
}

fn condition(case: &Case, other: &Case) -> String {
    if !other.condition.is_empty() {
        return format!("if {}", other.condition);
    }
    let mut differs = other.settings.clone();
    differs.retain(|key, value| case.settings.get(key) != Some(value));
    format!("with {}", parameter_words(&differs, None))
}

/// Methods without figures by their outcomes.
fn missing(case: &Case) -> impl DoubleEndedIterator<Item = (&str, &Outcome)> {
    case.missing
        .iter()
        .map(|(name, outcome)| (name.as_str(), outcome))
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
        .find(|(_, methods)| methods.contains(&case.baseline.as_str()));
    (
        case.way.as_ref(),
        case.gain.as_ref(),
        unmeasured.filter(|_| case.way.is_none()),
    )
}

fn advice(case: &Case) -> String {
    match advised(case) {
        (Some(method), Some(gain), _) => {
            let methods = either(&[slice::from_ref(method), case.alike.as_slice()].concat());
            let subject = if case.alike.is_empty() {
                "it"
            } else {
                method.as_str()
            };
            format!(
                "Use {methods}: {subject} takes {} of the time of {}, the usual choice.",
                ratio_words(gain),
                case.baseline
            )
        }
        (Some(method), None, _) if !case.noisy.is_empty() => {
            format!("Keep {method}, the usual choice: {}.", too_noisy(case))
        }
        (None, _, None) if !case.noisy.is_empty() => {
            format!("Nothing is advised: {}.", too_noisy(case))
        }
        (Some(method), None, _) if !case.unsettled.is_empty() => {
            format!("Keep {method}, the usual choice: whether another is faster is open.")
        }
        (Some(method), None, _) => {
            format!("Use {method}, the usual choice: no other is shown to be faster.")
        }
        (None, _, Some((outcome, methods))) => {
            format!(
                "Nothing is advised: {} could not be measured here: {}.",
                methods.join(", "),
                phrases::reason(outcome)
            )
        }
        (None, _, None) => {
            "Nothing is advised: it is open; a longer --budget may settle it.".to_owned()
        }
    }
}

/// A sentence on the methods that noise keeps from being advised.
fn too_noisy(case: &Case) -> String {
    let names: Vec<String> = case.noisy.iter().map(|(name, _)| name.clone()).collect();
    let ratios = case.noisy.iter().map(|(_, ratio)| ratio);
    wording::too_noisy(&names, ratios).unwrap_or_default()
}

/// Methods that are as good, not settled, or not there.
fn around(case: &Case) -> Vec<String> {
    let mut items = Vec::new();
    if !case.within.is_empty() {
        items.push(format!("about as fast: {}", case.within.join(", ")));
    }
    let is_noisy = |name: &str| case.noisy.iter().any(|(noisy, _)| noisy == name);
    let open: Vec<&str> = case.unsettled.iter().map(String::as_str).collect();
    let open: Vec<&str> = open.into_iter().filter(|name| !is_noisy(name)).collect();
    if !open.is_empty() {
        items.push(format!(
            "open: {}; a longer --budget may settle it",
            open.join(", ")
        ));
    }
    for (outcome, methods) in together(missing(case)) {
        if !methods.contains(&case.baseline.as_str()) {
            items.push(format!(
                "not measurable here: {}: {}",
                methods.join(", "),
                phrases::reason(outcome)
            ));
        }
    }
    items
}

fn by_size(answer: &AdviceAnswer) -> Vec<Block> {
    let Some((from, to)) = answer.measured else {
        return Vec::new();
    };
    let range = format!("measured from {} to {}", format_size(from), format_size(to));
    if answer.segments.is_empty() {
        return vec![Block::Text(format!(
            "By size: keep the usual choice at every size ({range})."
        ))];
    }
    let segments = answer.segments.iter().map(segment);
    if answer.flips.is_empty() {
        let segments = segments.collect::<Vec<_>>().join("; ");
        return vec![Block::Text(format!(
            "By size: {segments}; no change was found ({range})."
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

/// A sentence on what disturbed the runs behind an answer; none where nothing did.
fn noisy(answer: &AdviceAnswer) -> Option<String> {
    let causes = causes(answer.disturbances.iter());
    (!causes.is_empty()).then(|| {
        format!(
            "The machine was noisy: {}. Asked again on a quieter one the answer may differ (pagewise doctor --noise).",
            causes.join("; ")
        )
    })
}

fn rests_on(answer: &AdviceAnswer) -> Vec<Block> {
    let made = answer.runs.first().map(|first| match answer.runs.len() {
        1 => first.clone(),
        more => format!("{first} and {} more of it: pagewise runs --json", more - 1),
    });
    let mut blocks = Vec::from_iter(noisy(answer).map(Block::Answer));
    blocks.extend(Block::list("Measured for it", made));
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
            parameter_words(&question.settings, None)
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
    let segments = Block::list("", question.segments.iter().map(segment)).unwrap_or_else(|| {
        Block::text("keep your default: no way is shown to be faster at any size")
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_noise_leaves_open_is_named_with_its_interval_and_no_budget_is_promised() {
        let ratio = Ratio {
            low: 0.3,
            high: 0.4,
            ..Ratio::of_log(0.35_f64.ln(), 0.01, 9.0, 10, 0.95).unwrap()
        };
        let case = Case {
            baseline: "touch".to_owned(),
            way: Some("touch".to_owned()),
            unsettled: vec!["thp".to_owned()],
            noisy: vec![("thp".to_owned(), ratio)],
            ..Case::default()
        };
        assert_eq!(
            advice(&case),
            "Keep touch, the usual choice: thp looks 2.5–3.4× faster here, but the machine is too noisy to say."
        );
        assert!(around(&case).is_empty());
    }

    #[test]
    fn a_time_has_the_conditions_under_which_it_was_measured() {
        let advised = |bytes, condition: &str| {
            time(&AdviceTime {
                method: "thp".to_owned(),
                bytes,
                measured_bytes: 1 << 20,
                condition: condition.to_owned(),
                time_ns: Ratio::of_log(1e6_f64.ln(), 0.01, 9.0, 10, 0.95).unwrap(),
            })
        };
        let measured = advised(1 << 20, "the host still backs the page frames");
        assert!(
            measured.ends_with(") if the host still backs the page frames"),
            "{measured}"
        );
        let scaled = advised(1 << 21, "the host still backs the page frames");
        assert!(
            scaled.contains(") if the host still backs the page frames, and if time grows"),
            "{scaled}"
        );
        assert!(advised(1 << 20, "").ends_with(')'));
    }
}
