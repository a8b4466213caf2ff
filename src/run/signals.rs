//! Ctrl-C and SIGTERM, seen as a descriptor that can be waited for together with processes.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// Has a write beyond the limit on file sizes (`ulimit -f`) fail with an error, where it would end the process.
pub fn survive_file_size_limit() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).context("cannot watch for SIGXFSZ")?;
    Ok(())
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
        let (wake, write) = UnixStream::pair().context("cannot make a socket pair")?;
        let seen = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_usize(signal, Arc::clone(&seen), signal.unsigned_abs() as usize)?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
        }
        Ok(Signals { seen, wake })
    }

    /// The signal that arrived, if one has.
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
