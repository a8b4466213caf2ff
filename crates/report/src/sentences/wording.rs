//! The sentences: what is said of a comparison, of a group, of a run. Nothing is said that the interval beside it does not
//! hold: amounts are rounded towards what is sure, and intervals outwards.
//!
//! "8.5 % faster" is 8.5 % less time than the baseline takes, "8.5 % slower" 8.5 % more of it. From a quarter more on factors
//! are said, as "48 % faster" would be taken for a speed: "4.7× faster" takes 1/4.7 of the time, "4.7× slower" 4.7 times as long.

use record::summary::{AaCheck, Comparison, Contrast, Doubt, Levels, Ratio, Sureness, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Down,
    Nearest,
    Up,
}

impl Round {
    /// Rounds to so many decimals; what is a hair off by the computer's arithmetic alone is left where it is.
    fn to(self, value: f64, decimals: usize) -> String {
        let scale = 10f64.powi(i32::try_from(decimals).unwrap_or(0));
        let scaled = value * scale;
        let rounded = match self {
            Round::Down => (scaled + 1e-9).floor(),
            Round::Nearest => scaled.round(),
            Round::Up => (scaled - 1e-9).ceil(),
        };
        format!("{:.decimals$}", rounded.max(0.0) / scale)
    }
}

/// Notation of an amount: as a share in percent, or as a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FactorAmount {
    Percent,
    Factor,
}

impl FactorAmount {
    /// From a quarter more on a share of time and one of speed are no longer about the same number. An interval on one side of
    /// one goes by its nearer bound, as long as its farther one is no more than twofold.
    fn for_interval(low: f64, high: f64) -> FactorAmount {
        let (near, far) = if low.ln().abs() < high.ln().abs() {
            (low, high)
        } else {
            (high, low)
        };
        let is_on_one_side = high < 1.0 || low > 1.0;
        let most = if is_on_one_side { 2.0 } else { 1.25 };
        let is_share = (0.8..=1.25).contains(&near) && (1.0 / most..=most).contains(&far);
        if is_share {
            FactorAmount::Percent
        } else {
            FactorAmount::Factor
        }
    }

    /// Distance of a ratio from one, without the unit. A ratio on the other side of one is no distance at all.
    fn digits(self, ratio: f64, faster: bool, round: Round) -> String {
        let factor = if faster { 1.0 / ratio } else { ratio };
        let share = if faster { 1.0 - ratio } else { ratio - 1.0 };
        match self {
            FactorAmount::Percent => percent_digits(share, round),
            FactorAmount::Factor => factor_digits(factor, round),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            FactorAmount::Percent => " %",
            FactorAmount::Factor => "×",
        }
    }
}

/// Percent beyond which a share is only said to be more.
const MOST_PERCENT: f64 = 1000.0;

/// A half-width in percent, rounded up; beyond [`MOST_PERCENT`] only that it is more than tenfold.
pub(crate) fn half_width(half_width: f64) -> String {
    if half_width.is_nan() {
        "of unknown width".to_owned()
    } else if half_width * 100.0 > MOST_PERCENT {
        "wider than 10×".to_owned()
    } else {
        format!("±{} %", percent_digits(half_width, Round::Up))
    }
}

fn percent_digits(share: f64, round: Round) -> String {
    let percent = share.max(0.0) * 100.0;
    round.to(
        percent,
        if percent >= 9.95 {
            0
        } else {
            usize::from(percent != 0.0)
        },
    )
}

/// A factor with about two digits: two decimals where the first would hide it.
fn factor_digits(factor: f64, round: Round) -> String {
    let decimals = match factor {
        f if f >= 99.5 => 0,
        f if f >= 1.1 => 1,
        _ => 2,
    };
    round.to(factor, decimals)
}

/// A share in percent: `2 %`, `8.5 %`.
pub fn percent(share: f64) -> String {
    if share * 100.0 > MOST_PERCENT {
        return format!(">{MOST_PERCENT:.0} %");
    }
    let digits = percent_digits(share, Round::Nearest);
    format!("{} %", digits.strip_suffix(".0").unwrap_or(&digits))
}

/// The factor of a difference as an interval, such as `4.7–6.0`. Both bounds are at least one, rounded outwards.
pub fn factors(low: f64, high: f64) -> String {
    format!(
        "{}–{}",
        factor_digits(low, Round::Down),
        factor_digits(high, Round::Up)
    )
}

/// The factors by which a ratio's interval says that something is faster, smaller one first.
pub fn faster_by(ratio: &Ratio) -> (f64, f64) {
    (1.0 / ratio.high, 1.0 / ratio.low)
}

/// One end of an interval: `9.1 % faster`.
fn end(ratio: f64, round: Round, amount: FactorAmount) -> String {
    let faster = ratio < 1.0;
    let digits = amount.digits(ratio, faster, round);
    if ["0", "0.0", "1.00"].contains(&digits.as_str()) {
        return "as fast".to_owned();
    }
    format!(
        "{digits}{} {}",
        amount.unit(),
        if faster { "faster" } else { "slower" }
    )
}

/// Both ends of an interval, the faster first, rounded outwards, both as shares or both as factors.
fn ends(low: f64, high: f64) -> (String, String) {
    let amount = FactorAmount::for_interval(low, high);
    let of_low = if low < 1.0 { Round::Up } else { Round::Down };
    let of_high = if high < 1.0 { Round::Down } else { Round::Up };
    (end(low, of_low, amount), end(high, of_high, amount))
}

/// Half-width from which an interval says nothing: its ends are a factor of a hundred apart.
const NO_USE: f64 = 9.0;

/// The words for an interval that says nothing.
fn no_use(ratio: &Ratio) -> Option<String> {
    let is_wide = ratio.half_width().is_nan() || ratio.half_width() >= NO_USE;
    is_wide.then(|| format!("no usable interval from {} launches", ratio.launches))
}

/// An interval in words: `between 9.1 % faster and 4.2 % slower`.
pub fn between(ratio: &Ratio) -> String {
    if let Some(words) = no_use(ratio) {
        return words;
    }
    let (low, high) = ends(ratio.low, ratio.high);
    format!("between {low} and {high}")
}

/// An interval in a narrow column: `9.1 % faster–4.2 % slower`, `1.2–4.0 % faster`.
pub(crate) fn between_briefly(ratio: &Ratio) -> String {
    no_use(ratio).unwrap_or_else(|| range(ratio.low, ratio.high))
}

/// The range of ratios in the unit in which each of them is said alone: `1.2–4.0 % faster`.
pub(crate) fn range(lowest: f64, highest: f64) -> String {
    let (low, high) = ends(lowest, highest);
    let (faster, slower) = (highest < 1.0, lowest > 1.0);
    // Where both ends lie on one side the word and the unit are said once.
    let word = if faster { " faster" } else { " slower" };
    let (one, other) = if faster { (&high, &low) } else { (&low, &high) };
    let bare = one.strip_suffix(word).zip(other.strip_suffix(word));
    match bare {
        Some((one, other)) if faster || slower => {
            let number = one.trim_end_matches([' ', '%', '×']);
            format!("{number}–{other}{word}")
        }
        _ => format!("{low}–{high}"),
    }
}

/// An interval from one factor to so many times as much says no more than its nearer bound.
const WIDEST: f64 = 10.0;

/// Side of 1 on which a ratio lies.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    Faster,
    Slower,
}

/// `14 % faster (95 % CI 8.5–19 %)`; `at least 3.2× slower` where the interval is too wide for an estimate.
pub(crate) fn effect(direction: Direction, ratio: &Ratio) -> String {
    let faster = direction == Direction::Faster;
    let word = if faster { "faster" } else { "slower" };
    let amount = FactorAmount::for_interval(ratio.low, ratio.high);
    let unit = amount.unit();
    let estimate = amount.digits(ratio.ratio, faster, Round::Nearest);
    let (near, far) = if faster {
        (ratio.high, ratio.low)
    } else {
        (ratio.low, ratio.high)
    };
    if (far / near).ln().abs() > WIDEST.ln() {
        return format!(
            "at least {}{unit} {word}",
            amount.digits(near, faster, Round::Down)
        );
    }
    let (near, far) = (
        amount.digits(near, faster, Round::Down),
        amount.digits(far, faster, Round::Up),
    );
    format!("{estimate}{unit} {word} (95 % CI {near}–{far}{unit})")
}

/// Verdict of one comparison, in full: for a sentence, where there is room.
pub fn verdict(comparison: &Comparison) -> String {
    let Some(ratio) = &comparison.contrast.ratio else {
        return "too few launches to compare".to_owned();
    };
    match &comparison.doubt {
        // Between two levels there is no ratio, so that an interval would describe nothing.
        Some(known @ Doubt::TwoLevels(_)) => return format!("open: {}", doubt(known)),
        Some(known) => return format!("open: {}; {}", doubt(known), between(ratio)),
        None => {}
    }
    if !comparison.contrast.holds_among_all {
        return format!(
            "open among all the comparisons of this run: by itself {}",
            between(ratio)
        );
    }
    match comparison.contrast.verdict {
        Verdict::Within { margin } => {
            let (low, high) = ends(ratio.low, ratio.high);
            format!("within {} (from {low} to {high})", percent(margin))
        }
        Verdict::NotSettled => format!("open: {}", between(ratio)),
        _ => finding(&comparison.contrast),
    }
}

/// The finding of one comparison, in a column of a table.
pub fn verdict_briefly(comparison: &Comparison) -> String {
    match (&comparison.doubt, &comparison.contrast.ratio) {
        (Some(known), Some(ratio)) if known.is_noise() && ratio.high < 1.0 => open_for_noise(ratio),
        (Some(known), _) => format!("open: {}", doubt(known)),
        (None, _) => finding(&comparison.contrast),
    }
}

/// The range of a ratio of which noise took the verdict.
pub(crate) fn open_for_noise(ratio: &Ratio) -> String {
    format!("open: noisy, {}", between_briefly(ratio))
}

/// The finding of a contrast, in a column of a table.
pub fn finding(contrast: &Contrast) -> String {
    let Some(ratio) = &contrast.ratio else {
        return "too few launches".to_owned();
    };
    if !contrast.holds_among_all {
        return format!("open¹: {}", between_briefly(ratio));
    }
    match contrast.verdict {
        Verdict::Within { margin } => format!("within {}", percent(margin)),
        Verdict::NotSettled => format!("open: {}", between_briefly(ratio)),
        Verdict::Faster { .. } => effect(Direction::Faster, ratio),
        Verdict::Slower { .. } => effect(Direction::Slower, ratio),
    }
}

/// Footnote ¹ of [`verdict_briefly`] stands for.
pub const AMONG_ALL: &str = "¹ clear alone, but not when all comparisons of this run are judged together: a longer run decides";

/// Range of a ratio that drifted.
pub fn moved(low: f64, high: f64) -> String {
    let decimals = (2..5).find(|&d| bare(low, d) != bare(high, d)).unwrap_or(5);
    format!(
        "ratio drifted from {} to {} during this run",
        bare(low, decimals),
        bare(high, decimals)
    )
}

/// A number without its leading zero: `.97`.
fn bare(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.strip_prefix("0.")
        .map_or_else(|| text.clone(), |decimals| format!(".{decimals}"))
}

/// The reason why a verdict is withheld.
pub fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::WeakCheck { half_width } => {
            format!("noisy (A/A {})", self::half_width(*half_width))
        }
        Doubt::Disturbed => "noisy (disturbed)".to_owned(),
        Doubt::TwoLevels(Levels { low, high, share }) => {
            format!(
                "bimodal: {low:.2} or {high:.2} of the time ({} of launches)",
                percent(*share)
            )
        }
    }
}

/// Sentence on the controls (A/A), `untrusted` of which are no check.
pub fn aa(checks: &[AaCheck], untrusted: &[String], name: impl Fn(usize) -> String) -> String {
    if let Some(aa) = checks.iter().find(|aa| aa.differs) {
        return format!(
            "A/A broken: {} differs from itself, {}",
            name(aa.cell),
            between(&aa.ratio)
        );
    }
    let (weak, good): (Vec<&AaCheck>, Vec<&AaCheck>) =
        checks.iter().partition(|aa| AaCheck::is_weak(&aa.ratio));
    let controls = count(checks.len() + untrusted.len(), "control");
    let mut parts = Vec::new();
    if !good.is_empty() {
        parts.push(format!(
            "{} of {controls} within {}",
            good.len(),
            widest(&good)
        ));
    }
    match weak.as_slice() {
        [] => {}
        [check] => parts.push(format!(
            "{} too noisy to trust, {}",
            name(check.cell),
            widest(&weak)
        )),
        weak => parts.push(format!(
            "{} of {controls} too noisy to trust, up to {}",
            weak.len(),
            widest(weak)
        )),
    }
    match untrusted {
        [] => {}
        [name] => parts.push(format!("{name} untrusted")),
        untrusted => parts.push(format!("{} untrusted", untrusted.len())),
    }
    if parts.is_empty() {
        "A/A: no control has launches enough".to_owned()
    } else {
        format!("A/A: {}", parts.join("; "))
    }
}

/// The largest half-width of these controls.
fn widest(checks: &[&AaCheck]) -> String {
    let half_widths = checks.iter().map(|check| check.ratio.half_width());
    half_width(half_widths.fold(0.0, f64::max))
}

/// A sentence on methods that look faster and that noise leaves open, with the range of all their ratios; none without one.
pub(crate) fn too_noisy<'a>(
    names: &[String],
    ratios: impl Iterator<Item = &'a Ratio>,
) -> Option<String> {
    let hull = ratios.copied().reduce(|hull, other| Ratio {
        low: hull.low.min(other.low),
        high: hull.high.max(other.high),
        ..hull
    })?;
    let look = if names.len() == 1 { "looks" } else { "look" };
    let (names, amount) = (all(names), between_briefly(&hull));
    Some(format!(
        "{names} {look} {amount} here, but the machine is too noisy to say"
    ))
}

/// A number of things: `1 run`, `3 runs`.
pub fn count(number: usize, noun: &str) -> String {
    let end = match number {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{number} {noun}{end}")
}

/// The degree to which a part of an answer is sure, in parentheses before it; empty where that is the answer's own.
pub(crate) fn sureness_mark(part: Option<Sureness>, answer: Option<Sureness>) -> String {
    match part {
        _ if part == answer => String::new(),
        None => String::new(),
        Some(Sureness::Settled) => " (sure)".to_owned(),
        degree => format!(" ({})", sureness(degree)),
    }
}

/// The degree to which an answer is sure, in a word; empty where there is no answer.
pub(crate) fn sureness(sureness: Option<Sureness>) -> &'static str {
    match sureness {
        Some(Sureness::Settled) => "yes",
        Some(Sureness::Early) => "early",
        Some(Sureness::Noisy) => "noisy",
        None => "",
    }
}

/// A time that has passed: with tenths of a second below ten.
pub fn elapsed(seconds: f64) -> String {
    if (0.05..9.95).contains(&seconds) {
        format!("{seconds:.1} s")
    } else {
        duration(seconds)
    }
}

/// Seconds as a person says them: `40 s`, `2 min 42 s`, `1 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round().clamp(0.0, 1e15) as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match (hours, minutes, rest) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn either(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// Clauses that are alternatives; words that all of them begin or end with are there once: `read(2) or write(2) cached the file`.
pub(crate) fn alternatives(clauses: &[String]) -> String {
    let split: Vec<Vec<&str>> = clauses.iter().map(|c| c.split(' ').collect()).collect();
    // Of a clause on two conditions it is not clear what the shared words belong to.
    let is_plain = clauses.len() > 1 && split.iter().all(|clause| !clause.contains(&"and"));
    if !is_plain {
        return either(clauses);
    }
    // Each keeps a word of its own.
    let most = split.iter().map(Vec::len).min().unwrap_or(1) - 1;
    let first = &split[0];
    let before = (0..most)
        .take_while(|&at| split.iter().all(|clause| clause[at] == first[at]))
        .count();
    let after = (1..=most - before)
        .take_while(|&at| {
            let word = first[first.len() - at];
            split.iter().all(|clause| clause[clause.len() - at] == word)
        })
        .count();
    // A single word at the end may belong to less than the clause.
    let after = if after > 1 { after } else { 0 };
    let differing: Vec<String> = split
        .iter()
        .map(|clause| clause[before..clause.len() - after].join(" "))
        .collect();
    let (beginning, end) = (&first[..before], &first[first.len() - after..]);
    let parts = [beginning.join(" "), either(&differing), end.join(" ")];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn all(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// Names by fact, so that a shared one is said once.
pub(crate) fn together<F: PartialEq, N>(named: impl Iterator<Item = (N, F)>) -> Vec<(F, Vec<N>)> {
    let mut shared: Vec<(F, Vec<N>)> = Vec::new();
    for (name, fact) in named {
        match shared.iter_mut().find(|(known, _)| *known == fact) {
            Some((_, names)) => names.push(name),
            None => shared.push((fact, vec![name])),
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_have_one_unit() {
        let ratio = |low: f64, high: f64| Ratio {
            low,
            high,
            ..Ratio::of_log((low * high).sqrt().ln(), 0.01, 9.0, 10, 0.95).unwrap()
        };
        for (low, high, brief) in [
            (0.91, 1.04, "9.0 % faster–4.0 % slower"),
            (0.77, 1.15, "1.3× faster–1.2× slower"),
            (0.77, 0.994, "0.6–23 % faster"),
            (0.5, 0.6, "1.6–2.0× faster"),
            (0.9, 0.96, "4.0–10 % faster"),
            (1.002, 1.4, "0.2–40 % slower"),
            (1.05, 4.0, "1.05–4.0× slower"),
        ] {
            assert_eq!(between_briefly(&ratio(low, high)), brief);
        }
    }

    #[test]
    fn a_figure_has_one_unit_in_the_table_and_in_its_sentence() {
        for (low, high) in [
            (0.5, 0.84),
            (0.65, 0.84),
            (0.3, 0.9),
            (0.7, 0.79),
            (1.05, 1.2),
            (1.22, 1.4),
            (1.22, 2.4),
            (1.5, 1.9),
        ] {
            let ratio = Ratio {
                low,
                high,
                ..Ratio::of_log((low * high).sqrt().ln(), 0.01, 9.0, 10, 0.95).unwrap()
            };
            let table = finding(&Contrast::alone(Some(ratio), 0.02));
            let (sentence, interval) = (range(low, high), between_briefly(&ratio));
            let has_factor = [&table, &sentence, &interval].map(|text| text.contains('×'));
            assert!(
                has_factor == [true; 3] || has_factor == [false; 3],
                "{table} {sentence}"
            );
            assert_eq!(sentence, interval);
        }
    }

    #[test]
    fn words_that_alternatives_share_are_there_once() {
        for (clauses, sentence) in [
            (vec!["place=disk"], "place=disk"),
            (
                vec!["place=disk", "place=tmpfs"],
                "place=disk or place=tmpfs",
            ),
            (
                vec!["read(2) cached the file", "write(2) cached the file"],
                "read(2) or write(2) cached the file",
            ),
            (
                vec![
                    "helper threads sleep until a copy",
                    "helper threads spin until a copy",
                    "helper threads are created for each copy",
                ],
                "helper threads sleep until a copy, spin until a copy or are created for each copy",
            ),
            (
                vec!["a mapping cached the file", "nothing of the file is cached"],
                "a mapping cached the file or nothing of the file is cached",
            ),
            // A clause that is the beginning of another one keeps its last word.
            (
                vec!["it is cold", "it is cold now"],
                "it is cold or cold now",
            ),
            (
                vec!["it is cold and small", "it is cold and large"],
                "it is cold and small or it is cold and large",
            ),
        ] {
            let clauses: Vec<String> = clauses.into_iter().map(str::to_owned).collect();
            assert_eq!(alternatives(&clauses), sentence);
        }
    }
}
