//! End of a process of a launch.

use serde::{Deserialize, Serialize};

/// End of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// The laboratory ended it after its time limit, in seconds.
    TimeLimit(u64),
    /// The same, and it had to be killed: it did not end when it was asked to.
    Deaf(u64),
    /// The laboratory ended it because the other side had ended.
    OtherSide,
    /// The laboratory ended it because the run was stopped.
    Stopped,
}

impl End {
    /// Tells whether it is what a worker that did its work does.
    pub fn is_clean(&self) -> bool {
        *self == End::Exit(0)
    }

    pub fn reason(&self, oom_killed: bool) -> String {
        match self {
            End::Exit(status) => format!("the worker ended with exit status {status}"),
            End::Signal(9) if oom_killed => "the worker was killed by the kernel's OOM killer".to_owned(),
            End::Signal(number) => {
                let name = signal_name(*number).map_or_else(|| number.to_string(), str::to_owned);
                format!("the worker was killed by signal {name}")
            }
            End::TimeLimit(seconds) => format!("the worker did not end within its time limit of {seconds} s"),
            End::Deaf(seconds) => format!(
                "the worker did not end within its time limit of {seconds} s, nor when it was asked to: it hangs or was stopped"
            ),
            End::OtherSide => "the other side ended".to_owned(),
            End::Stopped => "the run was stopped".to_owned(),
        }
    }
}

/// Signals by number, where it is the same on every architecture of Linux that Pagewise runs on (signal(7)).
const SIGNALS: [(i32, &str); 15] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
];

/// The name of a signal, if it has the same number everywhere.
pub fn signal_name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}
