//! What a person sees on standard error while a run goes on. Drawn between launches only, and only on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The one progress line.
pub struct Progress {
    bar: ProgressBar,
    reached: String,
    number: String,
}

impl Progress {
    /// Visible where standard error is a terminal, silent elsewhere.
    pub fn new() -> Progress {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(
            ProgressStyle::with_template("{elapsed:>4}  {msg}").expect("a template that is known to be right"),
        );
        Progress { bar, reached: String::new(), number: String::new() }
    }

    /// Which experiment of how many is begun; nothing is known of it yet.
    pub fn begin(&mut self, number: usize, of: usize) {
        self.reached.clear();
        self.number = if of > 1 { format!("{number} of {of} · ") } else { String::new() };
    }

    /// What is about to be launched, and the seconds that the whole command has left.
    pub fn step(&mut self, what: &str, left_s: f64) {
        let left = report::words::duration(left_s.max(0.0));
        self.bar.set_message(format!("{}{what}{} · {left} left", self.number, self.reached));
        self.bar.tick();
    }

    /// How wide the widest ratio's interval is against the target.
    pub fn reached(&mut self, experiment: &str, launches: usize, widest: f64, target: f64, left_s: f64) {
        self.reached = match widest {
            w if w > 0.0 => format!(" · widest ratio ±{:.1} % (target ±{:.1} %)", w * 100.0, target * 100.0),
            _ => String::new(),
        };
        self.step(&format!("{experiment}: {launches} launches"), left_s);
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Progress::new()
    }
}
