//! `message`: round trips by std's UnixStream.

use std::io::{ErrorKind, Read, Result, Write};
use std::mem::ManuallyDrop;
use std::os::raw::{c_char, c_int};
use std::os::unix::io::FromRawFd;
use std::os::unix::net::UnixStream;

/// One end, as the native worker has it.
#[repr(C)]
pub struct Link {
    bytes: usize,
    spin: bool,
    message: *mut u8,
    input: c_int,
    output: c_int,
    wake_in: c_int,
    wake_out: c_int,
    ring_in: *mut c_char,
    ring_out: *mut c_char,
    turn_in: u64,
    turn_out: u64,
}

extern "C" {
    fn now_ns() -> u64;
    fn peer_gone() -> bool;
    fn sched_yield() -> c_int;
}

/// A stream and the message that goes over it.
struct End<'a> {
    stream: ManuallyDrop<UnixStream>,
    message: &'a mut [u8],
    spin: bool,
}

impl End<'_> {
    unsafe fn of(link: *mut Link) -> Self {
        let link = &*link;
        End {
            stream: ManuallyDrop::new(UnixStream::from_raw_fd(link.input)),
            message: std::slice::from_raw_parts_mut(link.message, link.bytes),
            spin: link.spin,
        }
    }

    fn stamp(&mut self, turn: u64) {
        match self.message.get_mut(..8) {
            Some(start) => start.copy_from_slice(&turn.to_le_bytes()),
            None => self.message[0] = turn as u8,
        }
    }

    fn turn(&self) -> u64 {
        match self
            .message
            .get(..8)
            .and_then(|start| start.try_into().ok())
        {
            Some(start) => u64::from_le_bytes(start),
            None => u64::from(self.message[0]),
        }
    }

    fn send(&mut self) -> Result<()> {
        if !self.spin {
            return self.stream.write_all(self.message);
        }
        let (mut stream, message) = (&*self.stream, &*self.message);
        again(message.len(), |done| stream.write(&message[done..]))
    }

    fn receive(&mut self) -> Result<()> {
        if !self.spin {
            return self.stream.read_exact(self.message);
        }
        let (mut stream, message) = (&*self.stream, &mut *self.message);
        again(message.len(), |done| stream.read(&mut message[done..]))
    }
}

/// Tries a call again and again until all bytes are done; gives its turn of the CPU away at times, and ends with the
/// other side.
fn again(bytes: usize, mut call: impl FnMut(usize) -> Result<usize>) -> Result<()> {
    let (mut done, mut tries) = (0, 0u32);
    while done < bytes {
        match call(done) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(more) => done += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                tries += 1;
                // Safety: neither takes anything.
                if tries % 200 == 0 && unsafe { sched_yield() != 0 || peer_gone() } {
                    return Err(ErrorKind::BrokenPipe.into());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[no_mangle]
pub unsafe extern "C" fn rust_send(link: *mut Link) -> bool {
    End::of(link).send().is_ok()
}

#[no_mangle]
pub unsafe extern "C" fn rust_receive(link: *mut Link) -> bool {
    End::of(link).receive().is_ok()
}

#[no_mangle]
pub unsafe extern "C" fn rust_ask(link: *mut Link, ops: u64, sum: *mut u64) -> bool {
    let mut end = End::of(link);
    let mut work = || {
        for turn in 0..ops {
            end.stamp(turn);
            end.send()?;
            end.receive()?;
            *sum += end.turn();
        }
        Result::Ok(())
    };
    work().is_ok()
}

#[no_mangle]
pub unsafe extern "C" fn rust_ask_timed(
    link: *mut Link,
    ops: u64,
    sum: *mut u64,
    latencies: *mut u64,
) -> bool {
    let mut end = End::of(link);
    let latencies = std::slice::from_raw_parts_mut(latencies, ops as usize);
    let mut last = now_ns();
    let mut work = || {
        for (turn, latency) in latencies.iter_mut().enumerate() {
            end.stamp(turn as u64);
            end.send()?;
            end.receive()?;
            *sum += end.turn();
            let now = now_ns();
            *latency = now - last;
            last = now;
        }
        Result::Ok(())
    };
    work().is_ok()
}

#[no_mangle]
pub unsafe extern "C" fn rust_answer(link: *mut Link, ops: u64, sum: *mut u64) -> bool {
    let mut end = End::of(link);
    let mut work = || {
        for _ in 0..ops {
            end.receive()?;
            *sum += end.turn();
            end.send()?;
        }
        Result::Ok(())
    };
    work().is_ok()
}
