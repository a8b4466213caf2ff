//! Progress on standard error, between launches only: on a terminal a line on the time left with the table of what is known,
//! elsewhere a line every ten seconds.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(10);
/// Time between two drawings of the table on a terminal.
const DRAWN_EVERY: Duration = Duration::from_secs(1);
/// The same until the first figure is there.
const FIRST_DRAWN_EVERY: Duration = Duration::from_millis(100);
/// Judging what is known takes at most this part of the time: a large run is drawn less often.
const JUDGED_SHARE: u32 = 50;
/// Lines of a terminal that the table leaves to others.
const OTHER_LINES: usize = 3;
/// True if the user wants no progress.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on.
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Shows a sentence on what comes next, unless the user wants no progress.
pub fn announce(sentence: &str) {
    if !SILENT.load(Ordering::Relaxed) {
        remark!("pagewise: {sentence}");
    }
}

/// Results so far, for somebody who waits.
pub struct ResultsSoFar {
    /// Results of finished experiments, a few words each, the latest last.
    pub briefly: Vec<String>,
    /// Lines of the table, with their colors.
    pub table: Vec<String>,
}

/// The progress of one run.
pub struct Progress {
    bar: ProgressBar,
    /// The last line where there is no terminal.
    last: Instant,
    known: ResultsSoFar,
    /// Earliest moment at which what is known is judged again.
    due: Instant,
    /// Last moment at which the terminal was drawn.
    drawn: Option<Instant>,
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
            ProgressStyle::with_template("{msg}").expect("a template that is known to be right"),
        );
        Progress {
            bar,
            last: Instant::now(),
            known: ResultsSoFar {
                briefly: Vec::new(),
                table: Vec::new(),
            },
            due: Instant::now(),
            drawn: None,
        }
    }

    /// Tells whether what is known is to be shown anew.
    pub fn is_due(&self) -> bool {
        let is_shown = !self.bar.is_hidden() || self.last.elapsed() >= EVERY;
        is_shown && !SILENT.load(Ordering::Relaxed) && Instant::now() >= self.due
    }

    /// Takes what is known now, which took `judged` to find out.
    pub fn learn(&mut self, known: ResultsSoFar, judged: Duration) {
        let every = if known.table.is_empty() {
            FIRST_DRAWN_EVERY
        } else {
            DRAWN_EVERY
        };
        self.known = known;
        self.due = Instant::now() + every.max(judged * JUDGED_SHARE);
        self.drawn = None;
    }

    /// Shows the experiment of the next launch, and the seconds that the whole command has left.
    pub fn step(&mut self, what: &str, left_s: f64) {
        if !self.bar.is_hidden() {
            if self
                .drawn
                .is_none_or(|drawn| drawn.elapsed() >= DRAWN_EVERY)
            {
                self.drawn = Some(Instant::now());
                let (rows, columns) = console::Term::stderr().size();
                let line = report::escape::terminal(&self.line(what, left_s));
                let room = usize::from(rows).saturating_sub(OTHER_LINES);
                let table = self.known.table.iter().take(room);
                let lines: Vec<_> = std::iter::once(&line)
                    .chain(table)
                    .map(|line| console::truncate_str(line, usize::from(columns), ""))
                    .collect();
                self.bar.set_message(lines.join("\n"));
                self.bar.tick();
            }
        } else if self.last.elapsed() >= EVERY && !SILENT.load(Ordering::Relaxed) {
            self.last = Instant::now();
            remark!("{}", self.line(what, left_s));
        }
    }

    fn line(&self, what: &str, left_s: f64) -> String {
        let left = report::wording::duration(left_s.max(0.0));
        let mut line = format!("{left} left · {what}");
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
        let answers = if self.known.table.is_empty() {
            self.known.briefly.as_slice()
        } else {
            &[]
        };
        for (at, answer) in answers.iter().rev().enumerate() {
            if !add(format!(
                "{}{answer}",
                if at == 0 { " · so far: " } else { ", " }
            )) {
                break;
            }
        }
        line
    }

    /// Shows a sentence above what is drawn.
    pub fn announce(&self, sentence: &str) {
        self.bar.suspend(|| announce(sentence));
    }

    /// Shows a note above what is drawn, to a person at a terminal.
    pub fn note(&self, sentence: &str) {
        if std::io::stderr().is_terminal() {
            self.bar.suspend(|| remark!("{sentence}"));
        }
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
        progress.known.briefly = vec![
            "allocate aligned-thp 2.3–3.3×".into(),
            "fault thp 3.0–3.8×".into(),
        ];
        let line = progress.line("copy", 102.0);
        let known = "so far: fault thp 3.0–3.8×, allocate aligned-thp 2.3–3.3×";
        let whole = format!("1 min 42 s left · copy · {known}");
        // A narrow terminal has fewer answers, and none is cut.
        assert!(whole.starts_with(&line), "{line}");
        let ends = ["copy", "3.0–3.8×", "2.3–3.3×"];
        assert!(ends.iter().any(|end| line.ends_with(end)), "{line}");
    }
}
