//! A try on one screen: a table of costs and changes, and a sentence for each arm that says no more than its interval.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use record::sizes::{about_size, format_ns};
use record::summary::{Estimate, Verdict};
use record::trial::{
    Against, ArmStatus, ArmSummary, Change, Ending, Measure, Measured, Role, TrialPlan, TrialSummary, TriedRun,
};
use stats::quantile::median;

use crate::export::hyperfine::{Hyperfine, Timed};

/// Arms whose sentences fit on the screen.
const SENTENCES: usize = 12;

/// The screen: at most 30 lines with up to [`SENTENCES`] arms.
pub fn render(summary: &TrialSummary) -> String {
    let plan = &summary.plan;
    let shown = summary.arms.first().map_or("", |_| plan.arms[0].shown.as_str());
    let mut text = format!("{} blocks of interleaved runs of: {}\n", summary.blocks, cut(shown, 100));
    if let Some(baseline) = summary.arms.first().filter(|a| a.status != ArmStatus::Ok) {
        return text + &format!("The command as it is could not be measured: {}.\n", baseline.reason);
    }
    text += &table(summary);
    for arm in tried(summary).take(SENTENCES) {
        text += &format!("{}\n", sentence(arm, plan.predicted.get(&arm.name)));
    }
    text += &again(summary);
    for note in &summary.notes {
        text += &format!("Note: {}.\n", note.text);
    }
    text
}

fn tried(summary: &TrialSummary) -> impl Iterator<Item = &ArmSummary> {
    summary.arms.iter().filter(|a| matches!(a.role, Role::Setting | Role::Command))
}

/// Everything that is said of a try.
pub(crate) fn sentences(summary: &TrialSummary) -> Vec<String> {
    if let Some(baseline) = summary.arms.first().filter(|a| a.status != ArmStatus::Ok) {
        return vec![format!("The command as it is could not be measured: {}.", baseline.reason)];
    }
    let mut all: Vec<String> = tried(summary).map(|arm| sentence(arm, summary.plan.predicted.get(&arm.name))).collect();
    all.extend(Some(again(summary).trim_end().to_owned()).filter(|text| !text.is_empty()));
    all
}

/// What heads a measure's column.
pub(crate) fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu => "total CPU",
        Measure::User => "user",
        Measure::Kernel => "kernel",
        Measure::Wall => "wall",
        Measure::MaxRss => "max RSS",
        Measure::Faults => "page faults",
    }
}

fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() > most {
        true => line.chars().take(most - 1).collect::<String>() + "…",
        false => line,
    }
}

fn table(summary: &TrialSummary) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([""].into_iter().chain(Measure::ALL.map(name)));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for arm in &summary.arms {
        let mut row = vec![cut(&arm.name, 28)];
        match (arm.status, arm.role) {
            (ArmStatus::Ok, Role::Baseline) => {
                row.extend(Measure::ALL.map(|m| arm.measured.get(&m).map_or("–".to_owned(), |v| amount(m, v))));
            }
            (ArmStatus::Ok, _) => {
                row.extend(Measure::ALL.map(|m| arm.against.get(&m).map_or("–".to_owned(), |a| change(m, a))))
            }
            (status, _) => row.push(status_word(status).to_owned()),
        }
        table.add_row(row);
    }
    let lines: Vec<String> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn status_word(status: ArmStatus) -> &'static str {
    match status {
        ArmStatus::Ok => "",
        ArmStatus::Skipped => "skipped",
        ArmStatus::Failed => "failed",
        ArmStatus::NoEffect => "no effect",
    }
}

/// A quantity in its measure's unit.
fn quantity(measure: Measure, value: f64) -> String {
    match measure {
        Measure::MaxRss => about_size(value),
        Measure::Faults if value >= 1e6 => format!("{:.2} M", value / 1e6),
        Measure::Faults if value >= 1e4 => format!("{:.1} k", value / 1e3),
        Measure::Faults => format!("{value:.0}"),
        _ => format_ns(value * 1e9),
    }
}

pub(crate) fn amount(measure: Measure, of: &Measured) -> String {
    let half = of.low.zip(of.high).filter(|_| of.median > 0.0).map(|(low, high)| 50.0 * (high - low) / of.median);
    match half {
        Some(half) => format!("{} ±{} %", quantity(measure, of.median), digits(half)),
        None => quantity(measure, of.median),
    }
}

fn digits(percent: f64) -> String {
    if percent >= 99.5 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

/// A ratio as a change in percent with half its interval; where there is none, the difference with its interval.
pub(crate) fn change(measure: Measure, against: &Against) -> String {
    match (against.ratio, against.change) {
        (Some(r), _) => {
            let half = 50.0 * (r.high - r.low);
            format!("{} ±{} %", signed(100.0 * (r.ratio - 1.0)), digits(half))
        }
        (None, Some(d)) => {
            format!("{} ±{}", signed_quantity(measure, d.value), quantity(measure, (d.high - d.low) / 2.0))
        }
        (None, None) => "?".to_owned(),
    }
}

fn signed(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{}", digits(percent.abs()))
}

fn signed_quantity(measure: Measure, value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", quantity(measure, value.abs()))
}

/// What may be said of an arm.
fn sentence(arm: &ArmSummary, predicted: Option<&Change>) -> String {
    let words = match arm.status {
        ArmStatus::Skipped => format!("skipped: {}", arm.reason),
        ArmStatus::Failed => format!("failed: {}", arm.reason),
        ArmStatus::NoEffect => format!("no effect seen, so no figures: {}", arm.reason),
        ArmStatus::Ok => {
            let mut parts = vec![verdict(arm, Measure::Cpu, "CPU time")];
            parts.extend(split(arm, predicted.is_some()));
            parts.extend(predicted.map(prediction));
            let others = [(Measure::Wall, "wall time"), (Measure::MaxRss, "resident memory")];
            parts.extend(others.iter().filter(|(m, _)| is_settled(arm, *m)).map(|(m, what)| verdict(arm, *m, what)));
            if !arm.proof.seen.is_empty() {
                parts.push(arm.proof.seen.join(", "));
            }
            parts.join("; ")
        }
    };
    format!("{}: {words}.", cut(&arm.name, 40))
}

/// What a profile had said of the kernel's part.
fn prediction(change: &Change) -> String {
    let [at, low, high] = [change.value, change.low, change.high].map(|x| signed_quantity(Measure::Cpu, x));
    format!("the profile had predicted {at} of kernel ({low} to {high})")
}

fn is_settled(arm: &ArmSummary, measure: Measure) -> bool {
    let differs = |a: &Against| matches!(a.verdict, Verdict::Slower { .. } | Verdict::Faster { .. });
    arm.against.get(&measure).is_some_and(|a| a.holds_among_all && differs(a))
}

/// A verdict in words; nothing more than what the interval shows.
fn verdict(arm: &ArmSummary, measure: Measure, what: &str) -> String {
    let Some(against) = arm.against.get(&measure) else { return String::new() };
    let Some(ratio) = against.ratio else { return format!("{what} not settled") };
    let limits = interval(&ratio);
    match against.verdict {
        _ if !against.holds_among_all => format!("{what} not settled {limits}"),
        Verdict::Faster { at_least } => format!("at least {} % less {what} {limits}", digits(floor(at_least))),
        Verdict::Slower { at_least } => format!("at least {} % more {what} {limits}", digits(floor(at_least))),
        Verdict::Within { margin } => format!("{what} the same within {} %", digits(100.0 * margin)),
        Verdict::NotSettled => format!("{what} not settled {limits}"),
    }
}

/// "At least" is never rounded up.
fn floor(share: f64) -> f64 {
    let percent = 100.0 * share;
    if percent >= 99.5 { percent.floor() } else { (10.0 * percent).floor() / 10.0 }
}

/// The limits in percent, rounded away from each other.
fn interval(ratio: &Estimate) -> String {
    let outward = |ratio: f64, round: fn(f64) -> f64| {
        let percent = 100.0 * (ratio - 1.0);
        if percent.abs() >= 99.5 { round(percent) } else { round(10.0 * percent) / 10.0 }
    };
    format!("({} to {} %)", signed(outward(ratio.low, f64::floor)), signed(outward(ratio.high, f64::ceil)))
}

/// Where the CPU time that a setting saves or costs lies, where that is settled or something was predicted of it.
fn split(arm: &ArmSummary, always: bool) -> Option<String> {
    let of = |measure: Measure| arm.against.get(&measure).and_then(|a| a.change);
    let (user, kernel) = (of(Measure::User)?, of(Measure::Kernel)?);
    if !always && !is_settled(arm, Measure::Cpu) {
        return None;
    }
    let words = |change: &Change, what: &str| {
        let limits = [change.low, change.high].map(|x| signed_quantity(Measure::Cpu, x)).join(" to ");
        match change.low <= 0.0 && change.high >= 0.0 {
            true => format!("{what} not settled ({limits})"),
            false => format!("{what} {} ({limits})", signed_quantity(Measure::Cpu, change.value)),
        }
    };
    Some(format!("{}, {}", words(&kernel, "kernel"), words(&user, "user")))
}

fn again(summary: &TrialSummary) -> String {
    match summary.again {
        None => String::new(),
        Some(again) if again.differs => format!(
            "A/A check: the unchanged command differs from itself (p = {:.4}), so none of this is to be believed. Something disturbs the machine: pagewise doctor --noise.\n",
            again.p
        ),
        Some(again) => format!(
            "A/A check: the unchanged command against itself is {} ±{} % in total CPU time, as it should be.\n",
            signed(100.0 * (again.ratio.ratio - 1.0)),
            digits(50.0 * (again.ratio.high - again.ratio.low))
        ),
    }
}

/// The measured runs in hyperfine's shape, times in seconds; the A/A arm is left out.
pub fn hyperfine(plan: &TrialPlan, runs: &[TriedRun]) -> Hyperfine {
    let result = |(index, arm): (usize, &record::trial::Arm)| {
        let own: Vec<&TriedRun> = runs.iter().filter(|r| r.arm == index && r.block >= 0).collect();
        let times: Vec<f64> = own.iter().map(|r| r.cost.wall_ns as f64 * 1e-9).collect();
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        let spread = times.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let sum = |of: fn(&TriedRun) -> u64| own.iter().map(|r| of(r)).sum::<u64>() as f64 * 1e-6 / n;
        let command = if arm.setting.is_some() { format!("{} [{}]", arm.shown, arm.name) } else { arm.shown.clone() };
        Some(Timed {
            command,
            mean,
            stddev: (n > 1.0).then(|| spread.sqrt()),
            median: median(&mut times.clone())?,
            user: sum(|r| r.cost.user_us),
            system: sum(|r| r.cost.system_us),
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            memory_usage_byte: own.iter().map(|r| r.cost.max_rss_kib * 1024).collect(),
            exit_codes: own.iter().map(|r| (r.cost.end == Ending::Exit).then_some(r.cost.code)).collect(),
            parameters: BTreeMap::new(),
            times,
        })
    };
    let arms = plan.arms.iter().enumerate().filter(|(_, arm)| arm.role != Role::Again);
    Hyperfine { results: arms.filter_map(result).collect() }
}
