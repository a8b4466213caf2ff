//! A try as a document: a table of costs and changes, and a sentence for each arm that says no more than its interval.

use super::{count, digits, interval, machine, notes, reason, seconds, sign, signed, watch};
use crate::render::document::{Block, Column, Document, Place, Shown, Table, TableCell};
use crate::render::escape;
use crate::render::plot::{Axis, Plot};
use crate::sentences::{phrases, wording};
use crate::tables::columns::Columns;
use minijinja::Value;
use record::command::{
    Against, Amount, Arm, ArmRole, ArmStatus, ArmSummary, CommandPlan, Measure, Measured,
    TrialSummary,
};
use record::sizes::about_size;
use record::summary::{Ratio, Verdict};

/// Half of an interval beyond which its figure says nothing.
const MOST_HALF: f64 = 10.0;

/// An arm's change of one measure.
struct ChangeRow<'a> {
    arm: &'a ArmSummary,
    against: &'a Against,
}

pub(super) fn document(summary: &TrialSummary) -> Document {
    let plan = &summary.plan;
    let command = plan.arms.first().map_or("", |arm| &arm.shown);
    let head = [
        command.to_owned(),
        wording::count(summary.blocks, "block"),
        plan.run.clone(),
    ];
    let mut blocks: Vec<Block> = Vec::new();
    let mut changes = Vec::new();
    if let Some(baseline) = summary.arms.first().filter(|a| a.status != ArmStatus::Ok) {
        let why = reason(baseline.failure.as_ref());
        blocks.push(Block::Answer(format!(
            "The unchanged command could not be measured: {why}."
        )));
    } else {
        blocks.extend(watch::frontier(summary));
        let answer = answer(summary).filter(|_| summary.watch.is_none());
        blocks.extend(answer.map(Block::Answer));
        blocks.push(Block::Text(condition(plan)));
        blocks.push(Block::Table(table(summary)));
        blocks.extend(
            tried(summary).map(|arm| Block::Answer(sentence(arm, plan.predicted.get(&arm.name)))),
        );
        blocks.extend(variables(summary));
        blocks.extend(skewed(summary));
        blocks.extend(again(summary).map(Block::Answer));
        blocks.extend(deployment(summary));
        changes.extend(
            Measure::judged(plan)
                .filter_map(|measure| self::changes(summary, measure))
                .map(Block::Table),
        );
        changes.extend(watch::pictures(summary));
    }
    blocks.extend(notes(&summary.notes));
    let repeat = vec![Block::Commands(vec![format!(
        "pagewise report {}",
        plan.run
    )])];
    Document::new("try", head)
        .explained()
        .section("answers", "Answers", Place::Everywhere, blocks)
        .section("changes", "Changes", Place::Page, changes)
        .section("machine", "Machine", Place::Page, machine(plan))
        .section("repeat", "How to see it again", Place::Page, repeat)
}

/// The condition under which every launch ran: its input, the page cache, and what was done before it.
fn condition(plan: &CommandPlan) -> String {
    let names = |paths: &[std::path::PathBuf]| {
        let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
        names.join(", ")
    };
    let input = plan.input.as_ref().map_or_else(
        || "without input".to_owned(),
        |path| format!("with {} as input", path.display()),
    );
    let cache = if plan.evict.is_empty() {
        "its files in the page cache".to_owned()
    } else {
        format!("{} not in the page cache", names(&plan.evict))
    };
    let prepared = plan.prepare.as_ref();
    let prepared = prepared.map_or_else(String::new, |line| format!(", after {line}"));
    let runs = wording::count(plan.warmups, "first run");
    format!("Condition: {input}, {cache}{prepared}; {runs} of each not counted.")
}

/// The answer in one sentence.
fn answer(summary: &TrialSummary) -> Option<String> {
    let arms: Vec<&ArmSummary> = tried(summary).collect();
    let baseline = summary.arms.first().filter(|_| !arms.is_empty())?;
    if let Some(best) = judge::program::trial::best(summary) {
        let arm = &summary.arms[best];
        return Some(format!("Use {}: {}", arm.name, finding(arm)));
    }
    if arms.iter().any(|arm| arm.role == ArmRole::Setting) {
        return Some("Nothing tried is shown to save CPU time.".to_owned());
    }
    let all = |holds: fn(&Verdict) -> bool| {
        let mut verdicts = arms.iter().map(|arm| cpu_verdict(arm));
        summary.trusted && verdicts.all(|verdict| verdict.as_ref().is_some_and(holds))
    };
    let others = if arms.len() == 1 {
        "the other command"
    } else {
        "every other command"
    };
    Some(
        if all(|verdict| matches!(verdict, Verdict::Slower { .. })) {
            format!("Keep {}: {others} takes more CPU time.", baseline.name)
        } else if all(|verdict| matches!(verdict, Verdict::Within { .. })) {
            let margin = digits(100.0 * summary.plan.margin);
            format!("They take the same CPU time within {margin} %.")
        } else {
            "No command is shown to take less CPU time than the first.".to_owned()
        },
    )
}

/// The verdict on an arm's CPU time, of the usual run and the mean alike.
fn cpu_verdict(arm: &ArmSummary) -> Option<Verdict> {
    let cpu = arm.against.get(&Measure::Cpu)?;
    (!cpu.usual_only).then(|| cpu.contrast.overall())
}

/// Saving of a setting, as a sentence.
pub(super) fn finding(arm: &ArmSummary) -> String {
    let times = [(Measure::Cpu, "CPU time"), (Measure::Wall, "wall time")];
    let parts = times
        .iter()
        .filter(|(measure, _)| is_settled(arm, *measure))
        .map(|(m, what)| verdict(arm, *m, what));
    parts.collect::<Vec<String>>().join(", ") + "."
}

pub(super) fn exports(arm: &Arm) -> Vec<String> {
    arm.variables
        .iter()
        .map(|(name, value)| {
            if escape::is_variable(name) {
                format!("export {name}={}", escape::shell(value))
            } else {
                format!(
                    "# {} is no name that a shell can export",
                    escape::number_sign(name)
                )
            }
        })
        .collect()
}

/// Lines that deploy the best setting, with its side effects.
fn deployment(summary: &TrialSummary) -> Vec<Block> {
    let Some(arm) = judge::program::trial::best(summary).map(|best| &summary.plan.arms[best])
    else {
        return Vec::new();
    };
    let lines = exports(arm);
    if lines.is_empty() {
        return Vec::new();
    }
    let effects = arm
        .setting
        .as_ref()
        .map(|setting| setting.side_effects.as_str())
        .filter(|text| !text.is_empty());
    let effects = effects.map_or_else(String::new, |text| format!(" (side effect: {text})"));
    let text = format!(
        "To deploy {}{effects}; --emit DIR writes a systemd drop-in and Dockerfile lines too:",
        arm.name
    );
    vec![Block::Text(text), Block::Commands(lines)]
}

/// Changes of variables that the user has set already.
fn variables(summary: &TrialSummary) -> Option<Block> {
    let lines = summary.plan.arms.iter().flat_map(|arm| {
        let value = |name: &String| arm.variables.get(name).map_or("", String::as_str);
        let joined = arm.joined.iter().map(move |(name, before)| {
            let whole = value(name);
            let lost = overridden(before, whole);
            let lost = if lost.is_empty() {
                String::new()
            } else {
                format!(" (your {} holds no more)", lost.join(" and "))
            };
            format!(
                "{}: added to your {name}, which is now {}{lost}",
                arm.name,
                escape::shell(whole)
            )
        });
        let replaced = arm.replaced.iter().map(move |(name, before)| {
            format!(
                "{}: {name} is {} instead of your {}",
                arm.name,
                escape::shell(value(name)),
                escape::shell(before)
            )
        });
        joined.chain(replaced)
    });
    Block::list("", lines)
}

/// Words of a list with `key:value` or `key=value` whose key what was added behind them has once more: the last one holds.
fn overridden<'a>(before: &'a str, whole: &'a str) -> Vec<&'a str> {
    let mut added = whole.strip_prefix(before).unwrap_or("").chars();
    let Some(between) = added.next() else {
        return Vec::new();
    };
    let is_value = |c: char| c != between && (c == ':' || c == '=');
    let key = |word: &'a str| word.split_once(is_value).map(|(key, _)| key);
    let keys: Vec<&str> = whole[before.len()..]
        .split(between)
        .filter_map(key)
        .collect();
    before
        .split(between)
        .filter(|word| key(word).is_some_and(|key| keys.contains(&key)))
        .collect()
}

fn tried(summary: &TrialSummary) -> impl Iterator<Item = &ArmSummary> {
    summary
        .arms
        .iter()
        .filter(|a| matches!(a.role, ArmRole::Setting | ArmRole::Command))
}

fn name(measure: Measure) -> String {
    phrases::phrase("measure", &measure, Value::UNDEFINED)
}

/// Each arm's change of CPU time in a few words.
pub(super) fn briefly(summary: &TrialSummary) -> Vec<String> {
    let changes = tried(summary).filter_map(|arm| {
        let against = arm.against.get(&Measure::Cpu)?;
        Some(format!("{} {}", arm.name, change(Measure::Cpu, against)))
    });
    changes.collect()
}

/// The costs of the command as it is, and the change with each other arm.
pub(super) fn table(summary: &TrialSummary) -> Table {
    let mut columns = Columns::new("arm", |arm: &ArmSummary| arm.name.clone());
    let baseline = summary.arms.first();
    let measures = if summary.plan.watch.is_some() {
        Measure::WATCHED
    } else {
        Measure::ALL
    };
    for (at, measure) in measures.into_iter().enumerate() {
        columns = columns.column(Column::number(name(measure)), move |arm| {
            match (arm.status, arm.role) {
                (ArmStatus::Ok, ArmRole::Baseline) => Some(cost(arm, measure)),
                (ArmStatus::Ok, _) => Some(change_cell(arm, baseline, measure)),
                // A word in place of all figures.
                (status, _) => (at == 0)
                    .then(|| TableCell::text(phrases::phrase("status", &status, Value::UNDEFINED))),
            }
        });
    }
    columns.table(
        "The median of an unchanged run with half the width of its interval, and the change with each other arm",
        &summary.arms,
    )
}

fn cost(arm: &ArmSummary, measure: Measure) -> TableCell {
    match arm.measured.get(&measure) {
        Some(measured) => TableCell::number(amount(measure, measured), Some(measured.median)),
        None => TableCell::text("–"),
    }
}

fn change_cell(arm: &ArmSummary, baseline: Option<&ArmSummary>, measure: Measure) -> TableCell {
    let Some(against) = arm.against.get(&measure) else {
        return TableCell::text("–");
    };
    let has_interval = against.contrast.ratio.is_some() || against.change.is_some();
    let rough = baseline.filter(|_| !has_interval);
    let rough = rough.and_then(|baseline| rough_change(baseline, arm, measure));
    TableCell::text(rough.unwrap_or_else(|| change(measure, against)))
}

/// The change of the median, where too few blocks have no interval.
fn rough_change(baseline: &ArmSummary, arm: &ArmSummary, measure: Measure) -> Option<String> {
    let median = |arm: &ArmSummary| Some(arm.measured.get(&measure)?.median);
    let before = median(baseline).filter(|before| *before > 0.0)?;
    let percent = (100.0 * (median(arm)? / before - 1.0)).round();
    Some(format!("about {}{:.0} %", sign(percent), percent.abs()))
}

fn skewed(summary: &TrialSummary) -> Option<Block> {
    Block::list("", summary.arms.iter().filter_map(slow_runs))
}

/// A sentence on the runs of an arm that took far longer than its median.
fn slow_runs(arm: &ArmSummary) -> Option<String> {
    let cpu = arm.measured.get(&Measure::Cpu);
    let cpu = cpu.filter(|measured| measured.slow_runs > 0)?;
    let [median, mean] = [cpu.median, cpu.mean].map(seconds);
    let share = wording::percent(cpu.slow_runs as f64 / arm.runs as f64);
    Some(format!(
        "{}: median {median}, mean {mean} of CPU; {share} of runs took more than 1.5 times the median",
        arm.name
    ))
}

/// A row an arm: one measure relative to the command as it is.
fn changes(summary: &TrialSummary, measure: Measure) -> Option<Table> {
    let rows: Vec<ChangeRow> = summary
        .arms
        .iter()
        .filter_map(|arm| {
            let against = arm.against.get(&measure)?;
            Some(ChangeRow { arm, against })
        })
        .collect();
    let axis = Axis::over(
        rows.iter()
            .filter_map(|row| row.against.contrast.ratio.as_ref()),
    )?;
    let caption = format!(
        "{} relative to the unchanged command; left of 1 it is less",
        name(measure)
    );
    let table = Columns::new("arm", |row: &ChangeRow| row.arm.name.clone())
        .ratios(Some(&axis), Shown::Always, |row, axis| {
            let label = change(measure, row.against);
            Some(Plot::interval(axis, row.against.contrast.ratio?, &label))
        })
        .number("change", |row| {
            let ratio = row.against.contrast.ratio.map(|ratio| ratio.ratio);
            TableCell::number(change(measure, row.against), ratio)
        })
        .table(caption, &rows);
    Some(table)
}

fn quantity(measure: Measure, value: f64) -> String {
    match measure {
        Measure::MaxRss | Measure::Rss | Measure::Pss | Measure::Huge => about_size(value),
        Measure::Faults | Measure::Refaults => count(value),
        _ => seconds(value),
    }
}

fn amount(measure: Measure, measured: &Measured) -> String {
    let bounds = measured
        .low
        .zip(measured.high)
        .filter(|_| measured.median > 0.0);
    // A count of a few says no more by an interval of many times it.
    let half = bounds
        .map(|(low, high)| 50.0 * (high - low) / measured.median)
        .filter(|half| *half < 1000.0);
    match half {
        Some(half) => format!("{} ±{} %", quantity(measure, measured.median), digits(half)),
        None => quantity(measure, measured.median),
    }
}

/// Half of a ratio's interval in percent: `±2.1 %`; beyond tenfold only that it is wider.
fn half_of(ratio: &Ratio) -> String {
    let half = (ratio.high - ratio.low) / 2.0;
    if half.is_nan() || half > MOST_HALF {
        return wording::half_width(half);
    }
    format!("±{} %", digits(100.0 * half))
}

/// A ratio as a change in percent with half its interval; where there is none, the difference with its interval.
fn change(measure: Measure, against: &Against) -> String {
    match (against.contrast.ratio, against.change) {
        (Some(r), _) => format!("{} {}", signed(r.ratio), half_of(&r)),
        (None, Some(d)) => format!(
            "{} ±{}",
            signed_quantity(measure, d.value),
            quantity(measure, (d.high - d.low) / 2.0)
        ),
        (None, None) => "?".to_owned(),
    }
}

fn signed_quantity(measure: Measure, value: f64) -> String {
    format!("{}{}", sign(value), quantity(measure, value.abs()))
}

fn sentence(arm: &ArmSummary, predicted: Option<&Amount>) -> String {
    let finding = match arm.status {
        ArmStatus::Skipped => format!("skipped: {}", reason(arm.failure.as_ref())),
        ArmStatus::Failed => format!("failed: {}", reason(arm.failure.as_ref())),
        ArmStatus::NoEffect => {
            let effects = format!("no effect seen, so no figures: {}", effects(arm).join("; "));
            std::iter::once(effects)
                .chain(predicted.map(prediction))
                .collect::<Vec<_>>()
                .join("; ")
        }
        ArmStatus::Ok => {
            let mut parts = vec![verdict(arm, Measure::Cpu, "CPU time")];
            parts.extend(split(arm, predicted.is_some()));
            parts.extend(predicted.map(prediction));
            let further = [
                (Measure::Wall, "wall time"),
                (Measure::MaxRss, "resident memory"),
            ];
            parts.extend(
                further
                    .iter()
                    .filter(|(m, _)| is_settled(arm, *m))
                    .map(|(m, what)| verdict(arm, *m, what)),
            );
            parts.extend((!arm.proof.seen.is_empty()).then(|| effects(arm).join(", ")));
            parts.join("; ")
        }
    };
    format!("{}: {finding}.", arm.name)
}

fn effects(arm: &ArmSummary) -> Vec<String> {
    arm.proof
        .seen
        .iter()
        .map(|effect| phrases::sentence("effect", effect))
        .collect()
}

fn prediction(change: &Amount) -> String {
    // The least saving is the nearest to none: changes are negative where they save.
    let [at, least] = [change.value, change.high].map(|x| signed_quantity(Measure::Cpu, x));
    format!("the profile had predicted {at} of CPU time, and {least} at least")
}

fn is_settled(arm: &ArmSummary, measure: Measure) -> bool {
    arm.against
        .get(&measure)
        .is_some_and(|a| a.contrast.overall().differs())
}

/// A verdict in words; nothing more than what the interval shows.
fn verdict(arm: &ArmSummary, measure: Measure, what: &str) -> String {
    let Some(against) = arm.against.get(&measure) else {
        return String::new();
    };
    let Some(ratio) = against.contrast.ratio else {
        return format!("{what} open");
    };
    let limits = bounds_of(ratio.low, ratio.high);
    match against.contrast.verdict {
        _ if !against.contrast.holds_among_all => format!("{what} open {limits}"),
        Verdict::Faster { at_least } | Verdict::Slower { at_least } => {
            let change = if matches!(against.contrast.verdict, Verdict::Faster { .. }) {
                "less"
            } else {
                "more"
            };
            let finding = format!("at least {} % {change} {what}", percent(at_least));
            if against.usual_only {
                usually(arm, measure, &finding)
            } else {
                format!("{finding} {limits}")
            }
        }
        Verdict::Within { margin } => {
            format!("{what} the same within {} %", digits(100.0 * margin))
        }
        Verdict::NotSettled => format!("{what} open {limits}"),
    }
}

/// A verdict that the mean does not confirm.
fn usually(arm: &ArmSummary, measure: Measure, finding: &str) -> String {
    let runs = arm
        .measured
        .get(&measure)
        .map_or(0, |measured| measured.slow_runs);
    let mean = arm.against.get(&measure).and_then(|against| against.mean);
    let mean = mean.map_or_else(String::new, |m| format!(" {}", bounds_of(m.low, m.high)));
    format!(
        "usually {finding}, but {runs} of {} runs took more than 1.5 times the median and the mean is open{mean}",
        arm.runs
    )
}

/// "At least" is never rounded up.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    digits(if percent >= 99.5 {
        percent.floor()
    } else {
        (10.0 * percent).floor() / 10.0
    })
}

fn bounds_of(low: f64, high: f64) -> String {
    format!("({})", interval(low, high))
}

/// Split of the CPU time that a setting saves or costs, where that is settled or something was predicted of it.
fn split(arm: &ArmSummary, always: bool) -> Option<String> {
    let [user, kernel] = [Measure::User, Measure::Kernel]
        .map(|measure| arm.against.get(&measure).and_then(|a| a.change));
    let (user, kernel) = user.zip(kernel)?;
    (always || is_settled(arm, Measure::Cpu)).then(|| {
        let [kernel, user] =
            [(kernel, "kernel"), (user, "user")].map(|(change, what)| part_of_cpu(&change, what));
        format!("{kernel}, {user}")
    })
}

fn part_of_cpu(change: &Amount, what: &str) -> String {
    let [value, low, high] =
        [change.value, change.low, change.high].map(|x| signed_quantity(Measure::Cpu, x));
    if change.low == 0.0 && change.high == 0.0 {
        format!("{what} unchanged")
    } else if change.low <= 0.0 && change.high >= 0.0 {
        format!("{what} open ({low} to {high})")
    } else {
        format!("{what} {value} ({low} to {high})")
    }
}

fn again(summary: &TrialSummary) -> Option<String> {
    let again = summary.again?;
    if again.differs {
        return Some(format!(
            "A/A check: the unchanged command differs from itself (p = {:.4}), so none of this is to be believed. Something disturbs the machine: pagewise doctor --noise.",
            again.p
        ));
    }
    Some(format!(
        "A/A check: the unchanged command against itself is {} {} in total CPU time, within chance.",
        signed(again.ratio.ratio),
        half_of(&again.ratio)
    ))
}

pub(super) fn line(summary: &TrialSummary) -> String {
    let names: Vec<&str> = tried(summary).map(|arm| arm.name.as_str()).collect();
    format!(
        "try {} on {} ({} blocks)",
        names.join(" "),
        summary.plan.arms[0].shown,
        summary.blocks
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kept try with its first setting as another command of this verdict.
    fn compared(verdict: Verdict) -> TrialSummary {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/kept/try/summary.json"
        );
        let text = std::fs::read_to_string(path).unwrap();
        let mut summary: TrialSummary = serde_json::from_str(&text).unwrap();
        summary.arms.remove(2);
        let other = &mut summary.arms[1];
        (other.role, other.name) = (ArmRole::Command, "other".to_owned());
        for (measure, against) in &mut other.against {
            against.contrast.verdict = match measure {
                Measure::Cpu => verdict,
                _ => Verdict::NotSettled,
            };
        }
        summary
    }

    #[test]
    fn commands_that_are_compared_have_an_answer() {
        let answer = |verdict| answer(&compared(verdict)).unwrap();
        let at_least = 0.25;
        let better = answer(Verdict::Faster { at_least });
        assert!(
            better.starts_with("Use other: at least 25.0 % less CPU time"),
            "{better}"
        );
        let worse = answer(Verdict::Slower { at_least });
        assert_eq!(
            worse,
            "Keep as it is: the other command takes more CPU time."
        );
        let same = answer(Verdict::Within { margin: 0.01 });
        assert!(
            same.starts_with("They take the same CPU time within"),
            "{same}"
        );
        let open = answer(Verdict::NotSettled);
        assert_eq!(
            open,
            "No command is shown to take less CPU time than the first."
        );
        let mut untrusted = compared(Verdict::Slower { at_least });
        untrusted.trusted = false;
        assert_eq!(super::answer(&untrusted), Some(open));
    }

    #[test]
    fn too_few_blocks_have_a_rough_change() {
        let mut summary = compared(Verdict::NotSettled);
        let cell = |summary: &TrialSummary| {
            let [baseline, other] = [0, 1].map(|arm| &summary.arms[arm]);
            change_cell(other, Some(baseline), Measure::Cpu).text
        };
        assert!(cell(&summary).contains('±'));
        for (arm, median) in [(0, 2.0), (1, 1.5)] {
            let cpu = summary.arms[arm].measured.get_mut(&Measure::Cpu);
            cpu.unwrap().median = median;
        }
        let against = summary.arms[1].against.get_mut(&Measure::Cpu).unwrap();
        (against.contrast.ratio, against.change) = (None, None);
        assert_eq!(cell(&summary), "about −25 %");
    }

    #[test]
    fn of_two_words_with_a_key_the_first_holds_no_more() {
        let of = |before: &str, added: &str| {
            let whole = format!("{before}{added}");
            overridden(before, &whole).join(" ")
        };
        let decay = "dirty_decay_ms:0,muzzy_decay_ms:0";
        assert_eq!(of(decay, ",thp:always"), "");
        assert_eq!(of(decay, ",dirty_decay_ms:-1"), "dirty_decay_ms:0");
        let tunables = "glibc.malloc.hugetlb=0:glibc.malloc.tcache_count=0";
        assert_eq!(
            of(tunables, ":glibc.malloc.hugetlb=1"),
            "glibc.malloc.hugetlb=0"
        );
        assert_eq!(of("/lib/a.so", ":/lib/b.so"), "");
    }
}
