//! Reads by io_uring's own system calls, as the crate io-uring makes them: std and the C library only.

use crate::system::{
    close, error_number, mmap, munmap, syscall, MAP_POPULATE, MAP_SHARED, PROT_READ, PROT_WRITE,
};
use std::io;
use std::os::raw::{c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

const SETUP: c_long = 425;
const ENTER: c_long = 426;
const OFFSET_OF_ENTRIES: c_long = 0x1000_0000;
const GET_EVENTS: u32 = 1;
const READ: u8 = 22;
const EINTR: i32 = 4;
const ENODATA: i32 = 61;

/// `struct io_uring_params`: four words, flags of the kernel, and the offsets within both rings.
#[repr(C)]
#[derive(Default)]
struct Params {
    entries: [u32; 2],
    setup: [u32; 3],
    rest: [u32; 5],
    submissions: Offsets,
    completions: Offsets,
}

/// `struct io_sqring_offsets` and `struct io_cqring_offsets`: head, tail, mask and entries are at the same places.
#[repr(C)]
#[derive(Default)]
struct Offsets {
    head: u32,
    tail: u32,
    mask: u32,
    entries: u32,
    further: [u32; 6],
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Default)]
struct Request {
    operation: u8,
    flags: u8,
    priority: u16,
    file: c_int,
    offset: u64,
    memory: u64,
    length: u32,
    rest: [u32; 1],
    user_data: u64,
    tail: [u64; 3],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// A part of the file that is being read.
pub struct Turn {
    pub offset: usize,
    pub memory: *mut u8,
    pub bytes: usize,
}

/// A ring whose memory is shared with the kernel.
pub struct Ring {
    descriptor: c_int,
    depth: usize,
    rings: *mut u8,
    rings_bytes: usize,
    requests: *mut Request,
    requests_bytes: usize,
    params: Params,
    waiting: u32,
    in_flight: usize,
    enters: u64,
    completed_bytes: u64,
}

unsafe fn mapped(bytes: usize, descriptor: c_int, offset: c_long) -> io::Result<*mut c_void> {
    let flags = MAP_SHARED | MAP_POPULATE;
    let memory = mmap(
        ptr::null_mut(),
        bytes,
        PROT_READ | PROT_WRITE,
        flags,
        descriptor,
        offset,
    );
    if memory as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(memory)
}

impl Ring {
    unsafe fn open(depth: u32) -> io::Result<Ring> {
        let mut params = Params::default();
        let descriptor = syscall(SETUP, depth, &mut params as *mut Params) as c_int;
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        let submissions = params.submissions.further[2] + params.entries[0] * 4;
        let completions =
            params.completions.further[1] + params.entries[1] * size_of::<Completion>() as u32;
        let rings_bytes = submissions.max(completions) as usize;
        let requests_bytes = params.entries[0] as usize * size_of::<Request>();
        let rings = mapped(rings_bytes, descriptor, 0)?.cast();
        let requests = mapped(requests_bytes, descriptor, OFFSET_OF_ENTRIES)?.cast();
        let depth = depth as usize;
        let (waiting, in_flight, enters, completed_bytes) = (0, 0, 0, 0);
        Ok(Ring {
            descriptor,
            depth,
            rings,
            rings_bytes,
            requests,
            requests_bytes,
            params,
            waiting,
            in_flight,
            enters,
            completed_bytes,
        })
    }

    unsafe fn shared(&self, offset: u32) -> &AtomicU32 {
        &*self.rings.add(offset as usize).cast()
    }

    unsafe fn queue(&mut self, file: c_int, turn: &Turn, number: usize) {
        let offsets = &self.params.submissions;
        let (tail, mask) = (
            self.shared(offsets.tail),
            self.shared(offsets.mask).load(Ordering::Relaxed),
        );
        let end = tail.load(Ordering::Relaxed);
        let index = end & mask;
        *self.requests.add(index as usize) = Request {
            operation: READ,
            file,
            offset: turn.offset as u64,
            memory: turn.memory as u64,
            length: turn.bytes as u32,
            user_data: number as u64,
            ..Request::default()
        };
        let order: *mut u32 = self.rings.add(offsets.further[2] as usize).cast();
        *order.add(index as usize) = index;
        tail.store(end + 1, Ordering::Release);
        self.waiting += 1;
        self.in_flight += 1;
    }

    /// Submits all that is queued and waits for so many completions.
    unsafe fn enter(&mut self, least: u32) -> io::Result<()> {
        loop {
            let flags = if least > 0 { GET_EVENTS } else { 0 };
            let nothing: *const c_void = ptr::null();
            let taken = syscall(
                ENTER,
                self.descriptor,
                self.waiting,
                least,
                flags,
                nothing,
                0usize,
            );
            self.enters += 1;
            if taken >= 0 {
                self.waiting -= taken as u32;
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(EINTR) {
                return Err(error);
            }
        }
    }

    /// Takes the completions that are there, each with the number of its turn and its result.
    unsafe fn completed(&mut self) -> Vec<(usize, i32)> {
        let offsets = &self.params.completions;
        let (head, tail) = (self.shared(offsets.head), self.shared(offsets.tail));
        let mask = self.shared(offsets.mask).load(Ordering::Relaxed);
        let entries: *const Completion = self.rings.add(offsets.further[1] as usize).cast();
        let (begin, end) = (head.load(Ordering::Relaxed), tail.load(Ordering::Acquire));
        let entry = |at: u32| *entries.add((at & mask) as usize);
        let all: Vec<_> = (0..end.wrapping_sub(begin))
            .map(|number| entry(begin.wrapping_add(number)))
            .map(|entry| (entry.user_data as usize, entry.result))
            .collect();
        head.store(end, Ordering::Release);
        self.in_flight -= all.len();
        all
    }

    /// Takes completions, and queues what a short read left.
    unsafe fn reap(&mut self, file: c_int, turns: &mut [Turn]) -> io::Result<()> {
        let mut result = Ok(());
        for (number, read) in self.completed() {
            if read <= 0 {
                result = Err(io::Error::from_raw_os_error(if read < 0 {
                    -read
                } else {
                    ENODATA
                }));
                continue;
            }
            let (turn, read) = (&mut turns[number], read as usize);
            self.completed_bytes += read as u64;
            (turn.offset, turn.memory, turn.bytes) =
                (turn.offset + read, turn.memory.add(read), turn.bytes - read);
            if turn.bytes > 0 {
                self.queue(file, &turns[number], number);
            }
        }
        result
    }

    /// Keeps reads in flight as deep as the ring, and hands the steps over in their order.
    unsafe fn pass(
        &mut self,
        file: c_int,
        steps: usize,
        turns: &mut Vec<Turn>,
        turn: impl Fn(usize) -> Turn,
        mut take: impl FnMut(usize),
    ) -> io::Result<()> {
        let mut queued = 0;
        for step in 0..steps {
            while queued < steps && queued < step + self.depth {
                let number = queued % self.depth;
                if number == turns.len() {
                    turns.push(turn(queued));
                } else {
                    turns[number] = turn(queued);
                }
                self.queue(file, &turns[number], number);
                queued += 1;
            }
            // Half a ring at a time keeps the device busy with few calls.
            if 2 * self.waiting as usize >= self.depth && turns[step % self.depth].bytes == 0 {
                self.enter(0)?;
            }
            while turns[step % self.depth].bytes > 0 {
                self.enter(1)?;
                self.reap(file, turns)?;
            }
            take(step);
        }
        Ok(())
    }

    /// All steps of a file; the kernel writes to no buffer any more when it returns.
    pub unsafe fn read_all(
        &mut self,
        file: c_int,
        steps: usize,
        turn: impl Fn(usize) -> Turn,
        take: impl FnMut(usize),
    ) -> io::Result<()> {
        let mut turns = Vec::with_capacity(self.depth);
        let result = self.pass(file, steps, &mut turns, turn, take);
        while self.in_flight > 0 && self.enter(1).is_ok() {
            // The first error is the one that is reported.
            let _ = self.reap(file, &mut turns);
        }
        result
    }

    unsafe fn close(&self) -> io::Result<()> {
        let rings = munmap(self.rings.cast(), self.rings_bytes);
        let requests = munmap(self.requests.cast(), self.requests_bytes);
        if rings | requests | close(self.descriptor) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// A ring for so many reads; null with errno set where it cannot be.
#[no_mangle]
pub unsafe extern "C" fn rust_ring_open(depth: u32) -> *mut Ring {
    Ring::open(depth).map_or(ptr::null_mut(), |ring| Box::into_raw(Box::new(ring)))
}

#[no_mangle]
pub unsafe extern "C" fn rust_ring_close(ring: *mut Ring) -> c_int {
    error_number(Box::from_raw(ring).close())
}

/// Calls of io_uring_enter(2) and bytes that completions reported.
#[no_mangle]
pub unsafe extern "C" fn rust_ring_counts(ring: *const Ring, enters: *mut u64, bytes: *mut u64) {
    (*enters, *bytes) = ((*ring).enters, (*ring).completed_bytes);
}
