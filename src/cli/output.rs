//! Everything that the program prints. Arguments, file names and records may steer a terminal, so all text is escaped here.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};
use report::escape;
use serde::Serialize;

use crate::run::signals::hung_up;

/// Prints lines for a person; the exit code 0.
pub(super) fn print(text: &str) -> Result<u8> {
    put(&escape::lines(text))
}

/// Prints a value as JSON; the exit code 0.
pub(super) fn print_json(value: &impl Serialize) -> Result<u8> {
    put(&escape::pretty_json(value)?)
}

fn put(text: &str) -> Result<u8> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough, such as head, is no error.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(0),
        // The terminal is gone.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => hung_up(),
        other => other.map(|()| 0).context("cannot write to standard output"),
    }
}
