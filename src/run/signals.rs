//! Ctrl-C, SIGTERM and SIGHUP, seen as a descriptor that can be waited for together with processes.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{io::Read, os::unix::net::UnixStream, sync::Arc, time::Duration};

/// The longest time between a signal and the end of the process.
const LAST_WORDS: Duration = Duration::from_millis(1800);
/// Bytes of stack for a thread that only waits.
const LITTLE_STACK: usize = 64 << 10;

/// Makes signals do the same whoever started this process. A write beyond the limit on file sizes (`ulimit -f`) fails with an
/// error, where it would end the process. Children that end wait to be waited for, where SIGCHLD was ignored too: a handler
/// here is the default action in them.
pub fn settle() -> Result<()> {
    for signal in [SIGXFSZ, SIGCHLD] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .context("cannot watch for signals")?;
    }
    Ok(())
}

/// Ends the process as SIGHUP ends a shell's: 128 + 1.
pub fn hung_up() -> ! {
    std::process::exit(128 + SIGHUP)
}

/// Exit code of a verb that a signal ended: 128 + n.
pub fn exit_code(signal: i32) -> u8 {
    128 + u8::try_from(signal).unwrap_or(1)
}

/// Ends the process a while after a signal has come, whatever it does then. Its guard puts everything back.
fn end_in_time(mut woken: UnixStream, signal: Arc<AtomicUsize>) -> Result<()> {
    let thread = std::thread::Builder::new().stack_size(LITTLE_STACK);
    let waiting = thread.spawn(move || {
        if woken.read(&mut [0]).is_ok_and(|bytes| bytes > 0) {
            std::thread::sleep(LAST_WORDS);
            std::process::exit(exit_code(signal.load(Ordering::SeqCst) as i32).into());
        }
    });
    waiting.map(drop).context("cannot start a thread")
}

/// Watches for the signals that end a run early.
#[derive(Debug)]
pub struct Signals {
    seen: Arc<AtomicUsize>,
    wake: UnixStream,
}

impl Signals {
    /// Starts watching; from here on these signals no longer kill the laboratory by themselves.
    pub fn watch() -> Result<Signals> {
        let pair = || UnixStream::pair().context("cannot make a socket pair");
        let ((wake, write), (last, write_last)) = (pair()?, pair()?);
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_usize(
                signal,
                Arc::clone(&seen),
                signal.unsigned_abs() as usize,
            )?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
            signal_hook::low_level::pipe::register(signal, write_last.try_clone()?)?;
        }
        end_in_time(last, Arc::clone(&seen))?;
        Ok(Signals { seen, wake })
    }

    pub fn arrived(&self) -> Option<i32> {
        match self.seen.load(Ordering::SeqCst) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }

    /// Readable once a signal has arrived.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
