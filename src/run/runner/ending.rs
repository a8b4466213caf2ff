//! What is said of how an experiment ended. Every end has a note: how wide what is ranked has become, which pair is widest,
//! and what that pair alone would need.

use judge::Width;
use record::summary::Note;
use stats::estimate::LEAST_POINTS;
use stats::interval::LEAST_LAUNCHES;

use super::{Runner, launch_s};
use crate::run::strategy::Ending;

impl Runner<'_> {
    /// The note of an experiment that has ended.
    pub(super) fn note(&self, name: &str, launches: usize, widths: &[Width], ending: Ending) -> Note {
        let ranked = widths.iter().filter(|w| w.ranked);
        let widest = ranked.max_by(|a, b| a.half_width.total_cmp(&b.half_width));
        let (code, why) = match ending {
            Ending::Precise => ("precision-reached", "every ranked ratio is as narrow as asked"),
            Ending::BudgetSpent => ("budget-ended", "the budget ended"),
            Ending::NothingOpen => ("launches-ended", "no more launches were allowed"),
        };
        let text = match widest {
            None if ending == Ending::Precise => "nothing that is ranked could be measured".to_owned(),
            _ if launches < LEAST_POINTS => {
                format!(
                    "{why} after {launches} launches; intervals need {LEAST_POINTS}, so some or all ratios are not settled"
                )
            }
            None => format!("{why} after {launches} launches"),
            Some(widest) => format!("{why} after {launches} launches; {}", self.words_of(widest)),
        };
        Note { code: code.to_owned(), experiment: name.to_owned(), text }
    }

    fn words_of(&self, widest: &Width) -> String {
        let (cell, base) = (&self.state.cells[widest.cell].cell, &self.state.cells[widest.base].cell);
        let pair = format!("{} : {}", cell.method, base.method);
        let is = format!("the widest is {pair} at ±{:.1} %", widest.half_width * 100.0);
        let target = self.state.plan.precision;
        if target <= 0.0 || widest.half_width <= target {
            return is;
        }
        let needed = duration(self.pair_s(widest, target));
        format!("{is} (target ±{:.1} %), for which that pair alone would need {needed}", target * 100.0)
    }

    /// What a run of one pair would take until it is as narrow as this, in seconds: widths shrink with the square root of the
    /// launches, and a launch of two cells takes its part of one that holds more.
    fn pair_s(&self, pair: &Width, target: f64) -> f64 {
        let group_of = |cell: usize| self.state.launch_groups.iter().position(|g| g.cells.contains(&cell));
        let part_s = |cell: usize| {
            let Some(group) = group_of(cell).map(|g| &self.state.launch_groups[g]) else { return 0.0 };
            let rounds_s = group.round_s * f64::from(group.rounds + group.warmup_rounds);
            let own_s = rounds_s / group.cells.len().max(1) as f64;
            let shared = group_of(pair.base) == group_of(pair.cell);
            own_s + (launch_s(group, 0) / if shared { 2.0 } else { 1.0 })
        };
        let launches = self.evidence.cells.get(&pair.cell).map_or(LEAST_LAUNCHES, |c| c.launches.len());
        launches as f64 * (pair.half_width / target).powi(2) * (part_s(pair.base) + part_s(pair.cell))
    }
}

/// So many seconds in words that a person plans with.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("about {:.0} s", s.ceil()),
        s if s < 7200.0 => format!("about {:.0} min", s / 60.0),
        s if s < 86_400.0 => format!("about {:.0} h", s / 3600.0),
        _ => "more than a day".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_units_that_fit() {
        let all: Vec<String> = [0.2, 119.0, 600.0, 9000.0, 1e6].into_iter().map(duration).collect();
        assert_eq!(all, ["about 1 s", "about 119 s", "about 10 min", "about 2 h", "more than a day"]);
    }
}
