//! The doubts under the tables: the twin, the warnings, the remarks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::numbers::ratio_words;
use record::summary::{Summary, Warning};
use stats::verdict::Twin;

/// Different sentences of one kind of doubt that are printed.
const SHOWN: usize = 4;

/// What is to be doubted in the run as a whole, and what is to be told of it.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    text.push('\n');
    match &summary.twin {
        Some(twin) => {
            let word = match twin.verdict {
                Twin::Agrees => "agrees with itself",
                Twin::Coarse => "cannot be told from itself, but only coarsely",
                Twin::Differs => "DIFFERS FROM ITSELF: this run is untrusted",
            };
            let _ = writeln!(text, "Twin: {} {word}: {}", twin.cell, ratio_words(&twin.ratio));
        }
        None => text.push_str("Twin: too few launches to hold the baseline against itself\n"),
    }
    render_warnings(&mut text, &summary.warnings);
    for remark in &summary.remarks {
        let _ = writeln!(text, "Note: {remark}");
    }
    text
}

/// One line for each kind of doubt; its cells follow where each has words of its own.
fn render_warnings(text: &mut String, warnings: &[Warning]) {
    let mut by_name: BTreeMap<&str, Vec<&Warning>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for warning in warnings.iter().filter(|w| w.name != "counter-absent") {
        let known = by_name.entry(&warning.name).or_default();
        if known.is_empty() {
            names.push(&warning.name);
        }
        known.push(warning);
    }
    for name in names {
        match by_name[name].as_slice() {
            [one] => {
                let _ = writeln!(text, "Doubt: {name}: {}: {}", one.cell, one.advice);
            }
            many => {
                let _ = writeln!(text, "Doubt: {name}: {} cells", many.len());
                // The same sentence is not repeated for each cell, and a long list is cut: the whole is in the summary.
                let mut by_advice: Vec<(&str, Vec<&str>)> = Vec::new();
                for warning in many {
                    match by_advice.iter_mut().find(|(advice, _)| *advice == warning.advice) {
                        Some((_, cells)) => cells.push(&warning.cell),
                        None => by_advice.push((&warning.advice, vec![&warning.cell])),
                    }
                }
                for (advice, mut cells) in by_advice.iter().take(SHOWN).cloned() {
                    cells.dedup();
                    let _ = writeln!(text, "  {advice}: {}", cells.join(", "));
                }
                if by_advice.len() > SHOWN {
                    let _ = writeln!(text, "  and {} more: report --json has them all", by_advice.len() - SHOWN);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt(name: &str, cell: &str, advice: &str) -> Warning {
        Warning { name: name.into(), cell: cell.into(), advice: advice.into() }
    }

    fn rendered(warnings: &[Warning]) -> String {
        let mut text = String::new();
        render_warnings(&mut text, warnings);
        text
    }

    #[test]
    fn one_doubt_is_one_line_and_the_same_words_are_said_once() {
        assert_eq!(rendered(&[doubt("steal", "a", "stop")]), "Doubt: steal: a: stop\n");
        let same = [doubt("steal", "a", "stop"), doubt("steal", "b", "stop")];
        assert_eq!(rendered(&same), "Doubt: steal: 2 cells\n  stop: a, b\n");
    }

    #[test]
    fn a_long_list_of_doubts_is_cut_and_says_so() {
        let many: Vec<Warning> = (0..SHOWN + 3).map(|i| doubt("level", "a", &format!("words {i}"))).collect();
        let text = rendered(&many);
        assert!(text.ends_with("  and 3 more: report --json has them all\n"), "{text}");
        assert_eq!(text.lines().count(), SHOWN + 2);
    }

    #[test]
    fn an_absent_counter_is_no_doubt_of_a_run() {
        assert_eq!(rendered(&[doubt("counter-absent", "a", "none")]), "");
    }
}
