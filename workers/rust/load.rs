//! `load`: a whole file in a Vec, by one reader or by several threads.

use crate::read::file;
use crate::system::{error_number, mmap, MAP_POPULATE, MAP_SHARED, PROT_READ};
use crate::uring::{Ring, Turn};
use std::fs::File;
use std::io::{self, Read};
use std::os::raw::{c_int, c_void};
use std::os::unix::fs::FileExt;
use std::thread;

/// A Vec in parts.
#[repr(C)]
pub struct Parts {
    start: *mut u8,
    bytes: usize,
    capacity: usize,
}

/// All that the file has, as std::fs::read brings it.
#[no_mangle]
pub unsafe extern "C" fn rust_read_to_end(descriptor: c_int, parts: *mut Parts) -> bool {
    let mut whole = Vec::new();
    let is_done = file(descriptor).read_to_end(&mut whole).is_ok();
    let mut whole = std::mem::ManuallyDrop::new(whole);
    *parts = Parts {
        start: whole.as_mut_ptr(),
        bytes: whole.len(),
        capacity: whole.capacity(),
    };
    is_done
}

/// A thread for each processor calls `work` with its part of the bytes and the part's offset.
pub fn in_parts<T: Send>(
    parts: impl Iterator<Item = T>,
    part_bytes: usize,
    work: impl Fn(T, u64) -> io::Result<()> + Sync,
) -> io::Result<()> {
    thread::scope(|scope| {
        let work = &work;
        let start = |(number, part)| {
            let offset = (number * part_bytes) as u64;
            thread::Builder::new().spawn_scoped(scope, move || work(part, offset))
        };
        let started: Vec<_> = parts.enumerate().map(start).collect();
        started
            .into_iter()
            .try_for_each(|thread| thread?.join().expect("no panic unwinds here"))
    })
}

/// Bytes of each thread's part.
pub fn part_bytes(bytes: usize) -> usize {
    bytes
        .div_ceil(thread::available_parallelism().map_or(1, usize::from))
        .max(1)
}

/// A Vec of zeros that several threads fill.
#[no_mangle]
pub unsafe extern "C" fn rust_read_at_threads(
    descriptor: c_int,
    bytes: usize,
    parts: *mut Parts,
) -> c_int {
    let mut whole = vec![0; bytes];
    let (source, part) = (file(descriptor), part_bytes(bytes));
    let source: &File = &source;
    let result = in_parts(whole.chunks_mut(part), part, |chunk, offset| {
        source.read_exact_at(chunk, offset)
    });
    let mut whole = std::mem::ManuallyDrop::new(whole);
    *parts = Parts {
        start: whole.as_mut_ptr(),
        bytes: whole.len(),
        capacity: whole.capacity(),
    };
    error_number(result)
}

/// Bytes of one read by a ring.
const STEP: usize = 1 << 20;

/// A Vec of zeros that a ring fills.
#[no_mangle]
pub unsafe extern "C" fn rust_ring_load(
    ring: *mut Ring,
    descriptor: c_int,
    bytes: usize,
    parts: *mut Parts,
) -> c_int {
    let mut whole = std::mem::ManuallyDrop::new(vec![0u8; bytes]);
    *parts = Parts {
        start: whole.as_mut_ptr(),
        bytes: whole.len(),
        capacity: whole.capacity(),
    };
    let start = whole.as_mut_ptr();
    let turn = |number: usize| {
        let offset = number * STEP;
        Turn {
            offset,
            memory: start.add(offset),
            bytes: STEP.min(bytes - offset),
        }
    };
    error_number((*ring).read_all(descriptor, bytes.div_ceil(STEP), turn, |_| ()))
}

/// A shared mapping for reading with all its pages, as `memmap2::MmapOptions::populate` makes it.
#[no_mangle]
pub unsafe extern "C" fn rust_map_populate(
    at: *mut c_void,
    bytes: usize,
    descriptor: c_int,
) -> *mut c_void {
    mmap(
        at,
        bytes,
        PROT_READ,
        MAP_SHARED | MAP_POPULATE,
        descriptor,
        0,
    )
}

#[no_mangle]
pub unsafe extern "C" fn rust_drop(parts: *const Parts) {
    let parts = &*parts;
    drop(Vec::from_raw_parts(
        parts.start,
        parts.bytes,
        parts.capacity,
    ));
}
