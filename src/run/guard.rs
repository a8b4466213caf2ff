//! Puts things back even if the laboratory is killed: a small process that acts when its standard input ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::worker;

/// The guard of one run. Dropping it has everything undone.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    input: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    noted: Vec<String>,
}

impl Guard {
    /// Starts the guard and waits until it is out of reach of Ctrl-C.
    pub fn start() -> Result<Guard> {
        let mut child = Command::new(worker::helper()?)
            .arg("guard")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the guard")?;
        let input = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("the guard has no output")?);
        let mut guard = Guard { child, input, answers, noted: Vec::new() };
        guard.expect("ready")?;
        Ok(guard)
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        self.answers.read_line(&mut line).context("the guard does not answer")?;
        if line.trim_end() != word {
            bail!("the guard answered {line:?} instead of {word:?}");
        }
        Ok(())
    }

    /// Notes something to undo; returns once the guard knows it, so the change may be made after that.
    pub fn undo(&mut self, action: &str) -> Result<()> {
        let input = self.input.as_mut().context("the guard has been dismissed")?;
        writeln!(input, "undo {action}").and_then(|()| input.flush()).context("the guard has ended")?;
        self.expect("noted")?;
        self.noted.push(action.to_owned());
        Ok(())
    }

    /// Ends the guard, which then undoes what it noted; whether it did.
    fn dismiss(&mut self) -> bool {
        drop(self.input.take());
        self.child.wait().is_ok_and(|status| status.success())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.dismiss() {
            return;
        }
        // Somebody killed it (the kernel for want of memory, say). Undoing twice does no harm: another does it instead.
        let Ok(mut other) = Guard::start() else { return };
        for action in std::mem::take(&mut self.noted) {
            let _ = other.undo(&action);
        }
        other.dismiss();
    }
}
