//! Calls of the C library that std has no word for, as the crates `libc` and `memmap2` make them, and its error numbers.

use std::io;
use std::os::raw::{c_int, c_long, c_void};

pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_POPULATE: c_int = 0x8000;

extern "C" {
    pub fn mmap(
        at: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    pub fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn rand() -> c_int;
}

/// The errno of a result, 0 without an error; a file that has become shorter is ENODATA.
pub fn error_number(result: io::Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(61),
    }
}
