//! The time after which the open questions of an overview are expected to be settled.

use super::labels::LabelledRun;
use super::overview::{AnswerKind, AnswerRow};
use super::wording;
use indexmap::IndexMap;

/// Seconds up to which a time is said to ten seconds, and beyond which to ten minutes.
const TENS_UP_TO_S: f64 = 120.0;
const MINUTES_UP_TO_S: f64 = 3600.0;

/// Open questions of a run together.
struct OpenQuestions<'a> {
    /// Their experiments, in the order of their rows.
    names: Vec<&'a str>,
    /// Seconds of a run of these experiments that is expected to settle them.
    settled_s: f64,
    /// Seconds from which on such a run measures more than the usual choice.
    usual_up_to_s: f64,
    /// Questions that no time is expected to settle, for noise or two levels.
    unsettled: Vec<&'a str>,
}

/// A line on the open rows of an overview: the time that is expected to settle them, with the command; none where nothing is open.
pub(crate) fn settling(run: &LabelledRun, rows: &[AnswerRow]) -> Option<String> {
    if !run.summary.settings.is_overview {
        return None;
    }
    let open = OpenQuestions::new(run, rows)?;
    Some(open.sentence())
}

impl<'a> OpenQuestions<'a> {
    fn new(run: &'a LabelledRun, rows: &'a [AnswerRow]) -> Option<OpenQuestions<'a>> {
        let mut further: IndexMap<&str, f64> = IndexMap::new();
        let mut unsettled = Vec::new();
        // A row on other conditions has this time, too, where its own condition is open.
        for row in rows {
            match row.further_s {
                Some(seconds) => *further.entry(&row.experiment).or_default() += seconds,
                None if row.kind == AnswerKind::Open => unsettled.push(row.question.as_str()),
                None => {}
            }
        }
        if further.is_empty() && unsettled.is_empty() {
            return None;
        }
        let summary = run.summary;
        let launches_s: f64 = summary.experiments.iter().map(|e| e.launch_s).sum();
        // What a run does beside its launches grows with their number.
        let beside = (summary.elapsed_s / launches_s).clamp(1.0, 2.0);
        let known = |name: &str| summary.experiment(name);
        let settled_s = further
            .iter()
            .filter_map(|(name, further_s)| Some(known(name)?.launch_s + further_s))
            .sum::<f64>();
        let usual_up_to_s = further
            .keys()
            .filter_map(|name| Some(known(name)?.definition.needed_s()))
            .sum();
        Some(OpenQuestions {
            names: further.into_keys().collect(),
            settled_s: settled_s * beside,
            usual_up_to_s,
            unsettled,
        })
    }

    fn sentence(&self) -> String {
        let names = self.names.join(" ");
        let seconds = rounded_up(self.settled_s);
        let noisy = self.unsettled.join(", ");
        if self.names.is_empty() {
            return "no time is known to settle these at this noise; a quieter machine may: --wait-for-quiet 10min"
                .to_owned();
        }
        if seconds >= self.usual_up_to_s {
            let time = wording::duration(self.usual_up_to_s);
            return format!(
                "still open after {time} at this noise, settled sooner on a quiet machine: pagewise run {names} --wait-for-quiet 10min"
            );
        }
        let (time, budget) = (wording::duration(seconds), budget(seconds));
        let settled = format!("settled in about {time}: pagewise run {names} --budget {budget}");
        if noisy.is_empty() {
            settled
        } else {
            format!("{settled}; still open: {noisy} (too noisy)")
        }
    }
}

/// Seconds as they are said of a time that is only expected.
fn rounded_up(seconds: f64) -> f64 {
    let step_s = match seconds {
        s if s <= TENS_UP_TO_S => 10.0,
        s if s <= MINUTES_UP_TO_S => 60.0,
        _ => 600.0,
    };
    (seconds / step_s).ceil() * step_s
}

/// A time as `--budget` takes it: `40s`, `4min`.
fn budget(seconds: f64) -> String {
    if seconds % 60.0 == 0.0 {
        format!("{:.0}min", seconds / 60.0)
    } else {
        format!("{seconds:.0}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expected_time_is_rounded_up() {
        for (seconds, spoken, given) in [
            (31.0, "40 s", "40s"),
            (110.1, "2 min", "2min"),
            (121.0, "3 min", "3min"),
            (3601.0, "1 h 10 min", "70min"),
        ] {
            let rounded = rounded_up(seconds);
            assert_eq!(
                (
                    wording::duration(rounded).as_str(),
                    budget(rounded).as_str()
                ),
                (spoken, given)
            );
        }
    }

    #[test]
    fn the_time_of_an_open_run_has_its_command_and_none_is_named_beyond_the_usual_choice() {
        let open = |settled_s: f64| OpenQuestions {
            names: vec!["copy", "unmap"],
            settled_s,
            usual_up_to_s: 150.0,
            unsettled: Vec::new(),
        };
        let [short, long] = [70.0, 1000.0].map(|settled_s| open(settled_s).sentence());
        let with_noise = OpenQuestions {
            unsettled: vec!["read 32 MiB"],
            ..open(70.0)
        };
        assert_eq!(
            with_noise.sentence(),
            "settled in about 1 min 10 s: pagewise run copy unmap --budget 70s; still open: read 32 MiB (too noisy)"
        );
        let noisy = OpenQuestions {
            names: Vec::new(),
            ..with_noise
        };
        assert!(!noisy.sentence().contains("settled in"));
        assert_eq!(
            short,
            "settled in about 1 min 10 s: pagewise run copy unmap --budget 70s"
        );
        assert!(
            long.starts_with("still open after 2 min 30 s at this noise"),
            "{long}"
        );
    }
}
