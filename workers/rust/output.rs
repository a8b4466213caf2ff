//! `output`: one large file by write_all, naively by a BufWriter of small pieces, by several threads, and by a mapping.

use crate::load::{in_parts, part_bytes};
use crate::read::file;
use crate::system::{error_number, mmap, MAP_SHARED, PROT_READ, PROT_WRITE};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::raw::{c_int, c_void};
use std::os::unix::fs::FileExt;

/// Bytes of one piece that a program hands to its BufWriter.
const PIECE: usize = 4096;

/// The whole slice at once, as std::fs::write does.
#[no_mangle]
pub unsafe extern "C" fn rust_write_all(
    descriptor: c_int,
    source: *const u8,
    bytes: usize,
) -> c_int {
    error_number(file(descriptor).write_all(std::slice::from_raw_parts(source, bytes)))
}

/// Each thread writes its part at its place.
#[no_mangle]
pub unsafe extern "C" fn rust_write_at_threads(
    descriptor: c_int,
    source: *const u8,
    bytes: usize,
) -> c_int {
    let (target, part) = (file(descriptor), part_bytes(bytes));
    let target: &File = &target;
    let chunks = std::slice::from_raw_parts(source, bytes).chunks(part);
    error_number(in_parts(chunks, part, |chunk, offset| {
        target.write_all_at(chunk, offset)
    }))
}

/// Pieces through a BufWriter of the usual 8 KiB.
#[no_mangle]
pub unsafe extern "C" fn rust_write_buffered(
    descriptor: c_int,
    source: *const u8,
    bytes: usize,
) -> c_int {
    let file = file(descriptor);
    let mut writer = BufWriter::new(&*file);
    let mut work = || {
        for piece in std::slice::from_raw_parts(source, bytes).chunks(PIECE) {
            writer.write_all(piece)?;
        }
        writer.flush()
    };
    error_number(work())
}

/// File::set_len and a shared mapping for writing, as `memmap2::MmapMut::map_mut` makes it.
#[no_mangle]
pub unsafe extern "C" fn rust_map_new(descriptor: c_int, bytes: usize) -> *mut c_void {
    match file(descriptor).set_len(bytes as u64) {
        Ok(()) => mmap(
            std::ptr::null_mut(),
            bytes,
            PROT_READ | PROT_WRITE,
            MAP_SHARED,
            descriptor,
            0,
        ),
        Err(_) => usize::MAX as *mut c_void,
    }
}

#[no_mangle]
pub unsafe extern "C" fn rust_copy(to: *mut u8, from: *const u8, bytes: usize) {
    std::slice::from_raw_parts_mut(to, bytes)
        .copy_from_slice(std::slice::from_raw_parts(from, bytes));
}
