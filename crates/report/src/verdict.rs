//! How one verdict came about, in words: launches, location, interval, what was adjusted, A/A check, margin.

use std::fmt::Write as _;

use judge::explained::Explained;
use record::summary::{Comparison, Estimate, Verdict};

use crate::words;

/// Everything that made a verdict, one step a paragraph.
pub fn render(all: &[Explained]) -> String {
    all.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(explained: &Explained) -> String {
    let Explained { cell, base, parameters, phase, launches, margin, comparison, .. } = explained;
    let mut text = format!("{cell} : {base}, {phase} ({parameters})\n\n");
    if launches.is_empty() {
        text += "No launch holds both, so there is no ratio.\n";
        return text;
    }
    text +=
        "launches: the midmean of ln(method / baseline) over rounds, as a ratio; ± is the scatter of single rounds\n";
    for launch in launches {
        let spread = if launch.round_spread > 0.0 {
            format!("  ±{:.1} %", 100.0 * launch.round_spread.exp_m1())
        } else {
            String::new()
        };
        let _ = writeln!(text, "  {:>5}  {:>9.4}  {:>4} rounds{spread}", launch.launch, launch.ratio, launch.rounds);
    }
    text += "\n";
    line(&mut text, "Student's interval of these", explained.student.as_ref());
    line(&mut text, "weighted by rounds, order counted", explained.alone.as_ref());
    let widened = explained.calibration.widened;
    let label = match widened > 1.0 {
        true => format!("variances pooled over the group, widened {widened:.2} times"),
        false => "variances pooled over the group".to_owned(),
    };
    line(&mut text, &label, comparison.ratio.as_ref());
    if comparison.ratio.is_none() {
        let why = if explained.reason.is_empty() { "too few launches" } else { &explained.reason };
        let _ = writeln!(text, "  No ratio is shown: {why}.");
    }
    text += &order(explained);
    text += &aa(explained);
    let _ = writeln!(
        text,
        "  margin: {:.4} to {:.4} is called the same (±{:.1} %)",
        1.0 / (1.0 + margin),
        1.0 + margin,
        100.0 * margin
    );
    let _ = writeln!(text, "\nverdict: {}", verdict(explained));
    text
}

fn line(text: &mut String, label: &str, estimate: Option<&Estimate>) {
    if let Some(Estimate { ratio, low, high, level, launches, .. }) = estimate {
        let percent = 100.0 * level;
        let _ = writeln!(text, "  {label}: {ratio:.4} ({low:.4} to {high:.4}) at {percent:.1} %, {launches} launches");
    }
}

fn order(explained: &Explained) -> String {
    let Some(p) = explained.alike else {
        return "  order: with fewer than eight launches nobody can see whether the ratio moved\n".to_owned();
    };
    let moved = explained.comparison.ratio.and_then(|ratio| ratio.moved).map_or_else(String::new, |(low, high)| {
        format!("; the ratio itself moved between {low:.3} and {high:.3} during this run")
    });
    format!("  order: neighbouring launches are this much alike by chance with probability {p:.3}{moved}\n")
}

fn aa(explained: &Explained) -> String {
    let own = match explained.aa {
        None => "  A/A check: there is none".to_owned(),
        Some((Estimate { ratio, low, high, .. }, differs)) => {
            let word = if differs { "differs, so that the run is not trusted" } else { "does not differ" };
            format!("  A/A check: the baseline against its hidden duplicate {ratio:.4} ({low:.4} to {high:.4}), {word}")
        }
    };
    let all = &explained.calibration;
    let pool = all.spread.zip(all.p).map_or_else(String::new, |(spread, p)| {
        format!("; all {} checks scatter {spread:.2} times as far as promised (probability {p:.3})", all.checks)
    });
    format!("{own}{pool}\n")
}

fn verdict(explained: &Explained) -> String {
    let comparison = &explained.comparison;
    let alone = match comparison.verdict {
        Verdict::Faster { .. } | Verdict::Slower { .. } => {
            words::verdict(&Comparison { holds_among_all: true, ..comparison.clone() })
        }
        Verdict::Within { margin } => format!("within {:.1} %", 100.0 * margin),
        Verdict::NotSettled if comparison.ratio.is_none() => "not settled: there is no interval".to_owned(),
        Verdict::NotSettled => "not settled: the interval reaches across an edge of the margin".to_owned(),
    };
    match comparison.holds_among_all {
        true => alone,
        false => format!("not settled among so many comparisons; alone its interval would say \"{alone}\" (Holm)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::explained::LaunchRatio;
    use record::summary::Calibration;

    fn explained(low: f64, high: f64, holds_among_all: bool) -> Explained {
        let ratio = Estimate { ratio: (low * high).sqrt(), low, high, level: 0.95, launches: 6, moved: None };
        let verdict = Verdict::of(low, high, 0.02);
        Explained {
            cell: "fault/thp@c-O3".to_owned(),
            base: "fault/touch@c-O3".to_owned(),
            parameters: "bytes=4MiB".to_owned(),
            phase: "ready".to_owned(),
            launches: vec![LaunchRatio { launch: 3, rounds: 7, ratio: 0.8, round_spread: 0.1 }],
            student: Some(ratio),
            alone: Some(ratio),
            alike: None,
            aa: Some((ratio, false)),
            calibration: Calibration { checks: 8, spread: Some(1.4), p: Some(0.0004), widened: 1.4 },
            margin: 0.02,
            comparison: Comparison {
                cell: 1,
                phase: "ready".to_owned(),
                ratio: Some(ratio),
                cpu_ratio: None,
                faults_ratio: None,
                verdict,
                holds_among_all,
            },
            reason: String::new(),
        }
    }

    #[test]
    fn every_step_is_there_and_the_word_is_the_interval_s() {
        let text = render(&[explained(0.7, 0.9, true)]);
        for part in [
            "0.8000     7 rounds  ±10.5 %",
            "widened 1.40 times",
            "0.7000 to 0.9000",
            "fewer than eight",
            "at least 10 % faster (21 %, 10–30)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_word_that_only_company_withholds_is_said_to_be() {
        let text = render(&[explained(0.7, 0.9, false)]);
        assert!(text.contains("verdict: not settled among so many comparisons"), "{text}");
        assert!(render(&[explained(0.7, 1.1, true)]).contains("reaches across an edge"));
    }
}
