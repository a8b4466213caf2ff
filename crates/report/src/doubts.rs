//! The doubts under the tables: the twin, the warnings, the remarks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::numbers::ratio_words;
use record::summary::{Summary, Warning};

/// Different sentences of one kind of doubt that are printed.
const SHOWN: usize = 4;

/// What is to be doubted in the run as a whole, and what is to be told of it.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    text.push('\n');
    text.push_str(&format!("A/A check: {}\n", aa_words(summary)));
    render_warnings(&mut text, &summary.warnings);
    for note in &summary.notes {
        let experiment = if note.experiment.is_empty() { String::new() } else { format!("{}: ", note.experiment) };
        let _ = writeln!(text, "Note: {experiment}{}", note.text);
    }
    text
}

/// What the baselines' hidden duplicates say of the run.
fn aa_words(summary: &Summary) -> String {
    let checks: Vec<_> = summary.groups.iter().filter_map(|g| g.aa).collect();
    let differing: Vec<_> = checks.iter().filter(|aa| aa.differs).collect();
    let widest = checks.iter().map(|aa| aa.ratio.half_width()).fold(0.0, f64::max);
    match (checks.len(), differing.as_slice()) {
        (0, _) => "too few launches to hold a baseline against itself".to_owned(),
        (n, []) => {
            format!("{n} baselines agree with their own duplicates (within ±{:.1} % at the widest)", widest * 100.0)
        }
        (_, [one, ..]) => {
            let name = &summary.cells[one.cell].cell;
            format!("{name} DIFFERS FROM ITSELF: {}; this run is untrusted", ratio_words(&one.ratio))
        }
    }
}

/// What was seen and what to do.
fn said(warning: &Warning) -> String {
    if warning.hint.is_empty() { warning.seen.clone() } else { format!("{}; {}", warning.seen, warning.hint) }
}

/// One line for each kind of doubt; its cells follow where each has words of its own.
fn render_warnings(text: &mut String, warnings: &[Warning]) {
    let mut by_name: BTreeMap<&str, Vec<&Warning>> = BTreeMap::new();
    let mut names: Vec<&str> = Vec::new();
    for warning in warnings.iter().filter(|w| w.code != "counter-absent") {
        let known = by_name.entry(&warning.code).or_default();
        if known.is_empty() {
            names.push(&warning.code);
        }
        known.push(warning);
    }
    for name in names {
        match by_name[name].as_slice() {
            [one] => {
                let _ = writeln!(text, "Doubt: {name}: {}: {}", one.at, said(one));
            }
            many => {
                let _ = writeln!(text, "Doubt: {name}: {} cells", many.len());
                // The same sentence is not repeated for each cell, and a long list is cut: the whole is in the summary.
                let mut by_advice: Vec<(String, Vec<&str>)> = Vec::new();
                for warning in many {
                    let words = said(warning);
                    match by_advice.iter_mut().find(|(advice, _)| *advice == words) {
                        Some((_, cells)) => cells.push(&warning.at),
                        None => by_advice.push((words, vec![&warning.at])),
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
        Warning { code: name.into(), at: cell.into(), cells: Vec::new(), seen: advice.into(), hint: String::new() }
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
