//! Progress on standard error, between launches only: one line on a terminal, elsewhere a line every ten seconds.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);
/// True if the user wants no progress.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on.
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

/// The one progress line.
pub struct Progress {
    bar: ProgressBar,
    /// The last line where there is no terminal.
    last: Instant,
    reached: String,
    number: String,
    /// Results of finished experiments, a few words each, the latest last.
    pub learnt: Vec<String>,
    visited: usize,
}

impl Progress {
    /// Drawn where standard error is a terminal, lines elsewhere; nothing after [`silence`].
    pub fn new() -> Progress {
        let is_drawn = std::io::stderr().is_terminal() && !SILENT.load(Ordering::Relaxed);
        let target = if is_drawn {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(
            ProgressStyle::with_template("{wide_msg}")
                .expect("a template that is known to be right"),
        );
        let (reached, number) = (String::new(), String::new());
        Progress {
            bar,
            last: Instant::now(),
            reached,
            number,
            learnt: Vec::new(),
            visited: 0,
        }
    }

    /// Tells whether a visible line lacks the answers of experiments that have ended, by how many there are now.
    pub fn has_news(&mut self, visited: usize) -> bool {
        std::mem::replace(&mut self.visited, visited) < visited && !self.bar.is_hidden()
    }

    /// Begins an experiment of so many; nothing is known of it yet.
    pub fn begin(&mut self, number: usize, all: usize) {
        self.reached.clear();
        self.number = if all > 1 {
            format!("{number} of {all} · ")
        } else {
            String::new()
        };
    }

    /// Shows the next launch, and the seconds that the whole command has left.
    pub fn step(&mut self, what: &str, left_s: f64) {
        if !self.bar.is_hidden() {
            self.bar
                .set_message(report::escape::terminal(&self.line(what, left_s)));
            self.bar.tick();
        } else if self.last.elapsed() >= EVERY && !SILENT.load(Ordering::Relaxed) {
            self.last = Instant::now();
            remark!("{}", self.line(what, left_s));
        }
    }

    fn line(&self, what: &str, left_s: f64) -> String {
        let left = report::wording::duration(left_s.max(0.0));
        let mut line = format!("{left} left · {}{what}", self.number);
        let columns = console::Term::stderr()
            .size_checked()
            .map_or(super::lines::UNKNOWN, |(_, columns)| usize::from(columns));
        let room = columns.saturating_sub(1);
        // Whole parts only: a line that is cut says things by halves.
        let mut add = |part: String| {
            let fits = line.chars().count() + part.chars().count() <= room;
            line += if fits { &part } else { "" };
            fits
        };
        add(self.reached.clone());
        for (at, answer) in self.learnt.iter().rev().enumerate() {
            if !add(format!(
                "{}{answer}",
                if at == 0 { " · so far: " } else { ", " }
            )) {
                break;
            }
        }
        line
    }

    /// Shows the widest interval and its target, once it says something: two launches of two levels have one of ±3,000 %.
    pub fn reached(
        &mut self,
        experiment: &str,
        launches: usize,
        widest: f64,
        target: f64,
        left_s: f64,
    ) {
        let goal = if target > 0.0 {
            format!(" of ±{:.1} %", target * 100.0)
        } else {
            String::new()
        };
        let known = widest > 0.0 && widest < 1.0;
        self.reached = if known {
            format!(", ratios to ±{:.1} %{goal}", widest * 100.0)
        } else {
            String::new()
        };
        let launches = if launches == 1 {
            "1 launch".to_owned()
        } else {
            format!("{launches} launches")
        };
        self.step(&format!("{experiment}: {launches}"), left_s);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_begins_with_the_time_left_and_ends_with_what_is_known() {
        let mut progress = Progress::new();
        progress.begin(3, 14);
        progress.reached("copy", 4, 0.062, 0.01, 102.0);
        progress.learnt = vec![
            "allocate aligned-thp 2.3–3.3×".into(),
            "fault thp 3.0–3.8×".into(),
        ];
        let line = progress.line("copy: launch 5", 102.0);
        let known = "so far: fault thp 3.0–3.8×, allocate aligned-thp 2.3–3.3×";
        let whole = format!(
            "1 min 42 s left · 3 of 14 · copy: launch 5, ratios to ±6.2 % of ±1.0 % · {known}"
        );
        // A narrow terminal has fewer answers, and none is cut.
        assert!(whole.starts_with(&line), "{line}");
        let ends = ["launch 5", "±1.0 %", "3.0–3.8×", "2.3–3.3×"];
        assert!(ends.iter().any(|end| line.ends_with(end)), "{line}");
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_shown() {
        let mut progress = Progress::new();
        progress.reached("copy", 2, 28.0, 0.025, 102.0);
        assert_eq!(progress.reached, "");
        progress.reached("copy", 3, 0.4, 0.025, 102.0);
        assert_eq!(progress.reached, ", ratios to ±40.0 % of ±2.5 %");
    }
}
