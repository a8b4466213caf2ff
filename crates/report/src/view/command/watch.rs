//! A watched try: what each arm saves of CPU time and costs of memory, in one line each, and the course of both as pictures.

use super::{digits, interval, sign};
use crate::render::document::{Block, Chart, Place};
use crate::render::plot::{CurvePoint, Curves, Line, Scale};
use record::command::{
    ArmRole, ArmSummary, CoursePoint, Measure, TrialSummary, WatchSummary, WatchedArm,
};
use record::sizes::three_digits;
use record::summary::Verdict;

/// Bytes of the unit of sizes in pictures.
const MIB: f64 = 1024.0 * 1024.0;
/// Lines of a picture at most.
const MOST_LINES: usize = 7;
/// Moments of a line whose values can be pointed at.
const POINTED: usize = 20;

/// Sentences on memory for time, the most CPU time saved first; empty where it was not watched.
pub(super) fn frontier(summary: &TrialSummary) -> Vec<Block> {
    let Some(watch) = &summary.watch else {
        return Vec::new();
    };
    let mut arms: Vec<&WatchedArm> = watch.arms.iter().filter(|arm| is_tried(arm)).collect();
    let cpu = |arm: &WatchedArm| arm.relative.get(&Measure::Cpu).copied().unwrap_or(1.0);
    arms.sort_by(|a, b| cpu(a).total_cmp(&cpu(b)));
    let mut blocks: Vec<Block> = arms
        .iter()
        .filter_map(|arm| {
            let summary = summary.arms.iter().find(|a| a.name == arm.name)?;
            Some(Block::Answer(sentence(arm, summary)))
        })
        .collect();
    blocks.extend(unbeaten(watch).map(Block::Answer));
    blocks
}

fn is_tried(arm: &WatchedArm) -> bool {
    matches!(arm.role, ArmRole::Setting | ArmRole::Command)
}

/// "thp: −12 % CPU for +81 % RSS (95 %: −14 to −10 %, +79 to +83 %)", or "thp: CPU open, +81 % RSS (…)".
fn sentence(arm: &WatchedArm, summary: &ArmSummary) -> String {
    let [cpu, rss] = [(Measure::Cpu, "CPU"), (Measure::Rss, "RSS")]
        .map(|(measure, what)| MeasuredChange::new(arm, summary, measure, what));
    let joint = match cpu.direction * rss.direction {
        _ if cpu.is_open || rss.is_open => ", ",
        -1 => " for ",
        _ => " and ",
    };
    let intervals = cpu.interval.zip(rss.interval);
    let intervals = intervals.map_or_else(
        || " (too few blocks for intervals)".to_owned(),
        |(cpu, rss)| format!(" (95 %: {cpu}, {rss})"),
    );
    let beaten = arm.beaten_by.as_ref();
    let beaten = beaten.map_or_else(String::new, |other| format!("; {other} is better"));
    let name = &arm.name;
    format!(
        "{name}: {}{joint}{}{intervals}{beaten}.",
        cpu.text, rss.text
    )
}

/// MeasuredChange of one measure in words.
struct MeasuredChange {
    text: String,
    /// −1 where less is shown, 1 where more is, 0 where neither is.
    direction: i32,
    is_open: bool,
    interval: Option<String>,
}

impl MeasuredChange {
    fn new(arm: &WatchedArm, summary: &ArmSummary, measure: Measure, what: &str) -> MeasuredChange {
        let against = summary.against.get(&measure);
        let ratio = against.and_then(|against| against.contrast.ratio);
        let relative = ratio
            .map(|ratio| ratio.ratio)
            .or_else(|| arm.relative.get(&measure).copied());
        let Some(relative) = relative else {
            return MeasuredChange {
                text: format!("{what} unknown"),
                direction: 0,
                is_open: false,
                interval: None,
            };
        };
        let percent = 100.0 * (relative - 1.0);
        let change = format!("{}{} % {what}", sign(percent), whole(percent.abs()));
        let verdict = against.map(|against| against.contrast.overall());
        let verdict = verdict.filter(|_| ratio.is_some());
        let is_shown = verdict.is_none_or(|verdict| verdict.differs());
        MeasuredChange {
            text: match verdict {
                Some(Verdict::Within { .. }) => format!("the same {what}"),
                Some(Verdict::NotSettled) => format!("{what} open"),
                _ => change,
            },
            direction: if is_shown {
                percent.total_cmp(&0.0) as i32
            } else {
                0
            },
            is_open: verdict == Some(Verdict::NotSettled),
            interval: ratio.map(|ratio| interval(ratio.low, ratio.high)),
        }
    }
}

/// A number of percent, whole from ten on.
fn whole(percent: f64) -> String {
    if percent >= 9.95 {
        format!("{percent:.0}")
    } else {
        digits(percent)
    }
}

/// The arms that none beats, where any is beaten.
fn unbeaten(watch: &WatchSummary) -> Option<String> {
    let mut arms = watch.arms.iter().filter(|arm| arm.role != ArmRole::Again);
    arms.clone().find(|arm| arm.beaten_by.is_some())?;
    let first = arms.find(|arm| arm.beaten_by.is_none())?;
    let rest = arms.filter(|arm| arm.beaten_by.is_none());
    let names: Vec<&str> = std::iter::once(first)
        .chain(rest)
        .map(|arm| arm.name.as_str())
        .collect();
    Some(match names.as_slice() {
        [best] => format!("{best} is the best of these: no other is shown to take less of either."),
        _ => format!(
            "Choose between {}: every other arm is beaten by one of these.",
            names.join(" and ")
        ),
    })
}

/// A quantity of a picture.
struct Quantity {
    caption: &'static str,
    unit: &'static str,
    value: fn(&CoursePoint) -> f64,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        caption: "Resident memory over the time of a run, the median of all runs of an arm",
        unit: " MiB",
        value: |point| point.rss_bytes / MIB,
    },
    Quantity {
        caption: "Resident memory with shared pages in proportion (PSS)",
        unit: " MiB",
        value: |point| point.pss_bytes / MIB,
    },
    Quantity {
        caption: "Memory in transparent huge pages",
        unit: " MiB",
        value: |point| point.huge_bytes / MIB,
    },
    Quantity {
        caption: "CPU time for each second",
        unit: " s",
        value: |point| point.cpu,
    },
    Quantity {
        caption: "Refaults of the whole machine since the start of a run",
        unit: " pages",
        value: |point| point.refaults,
    },
];

/// Pictures of the course of each arm, for the page.
pub(super) fn pictures(summary: &TrialSummary) -> Vec<Block> {
    let mut known = Vec::new();
    let watch = summary.watch.iter();
    let arms: Vec<&WatchedArm> = watch
        .flat_map(|watch| &watch.arms)
        .take(MOST_LINES)
        .collect();
    let pictures = QUANTITIES.iter().filter_map(|quantity| {
        let curves = curves(&arms, quantity)?;
        Some(Chart::of_curves(
            quantity.caption.to_owned(),
            curves,
            &mut known,
        ))
    });
    let pictures: Vec<Block> = pictures.collect();
    Block::part("", Place::Page, pictures).into_iter().collect()
}

/// `None` where the quantity is zero throughout.
fn curves(arms: &[&WatchedArm], quantity: &Quantity) -> Option<Curves> {
    let lines: Vec<Line> = arms.iter().map(|arm| line(arm, quantity)).collect();
    let mut upward = Scale::lengths(lines.iter().flat_map(Line::costs))?;
    for (value, text) in &mut upward.ticks {
        *text = format!("{}{}", three_digits(*value), quantity.unit);
    }
    let moments = arms.iter().flat_map(|arm| &arm.course);
    let across = Scale::lengths(moments.map(|point| point.at_s * 1e9))?;
    let across = Scale {
        high: across.high * 1e-6,
        ticks: across
            .ticks
            .into_iter()
            .map(|(ns, text)| (ns * 1e-6, text))
            .collect(),
        ..across
    };
    Some(Curves {
        across,
        upward,
        lines,
        crossovers: Vec::new(),
    })
}

fn line(arm: &WatchedArm, quantity: &Quantity) -> Line {
    let step = arm.course.len().div_ceil(POINTED).max(1);
    let points = arm.course.iter().skip(step - 1).step_by(step).map(|point| {
        let value = (quantity.value)(point);
        CurvePoint {
            cell: 0,
            value: (point.at_s * 1e3) as u64,
            value_words: format!("{} s", three_digits(point.at_s)),
            cost: (value, None),
            cost_words: format!("{}{}", three_digits(value), quantity.unit),
        }
    });
    Line {
        label: arm.name.clone(),
        color: 0,
        points: points.collect(),
    }
}
