//! Calls of the C library that std has no word for, as the crates `libc` and `memmap2` make them.

use std::os::raw::{c_int, c_long, c_void};

pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_POPULATE: c_int = 0x8000;

extern "C" {
    pub fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    pub fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn rand() -> c_int;
}
