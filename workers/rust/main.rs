//! The Rust worker. The measured half of each method is Rust (`NAME.rs`), as programs without any crate write it; what
//! is before and after the clock is the native worker's (`NAME.c`), with the same laws. It is compiled by the toolchain
//! in PATH and needs no network.
#![no_main]

use std::os::raw::c_char;

mod allocate;
mod fault;
mod load;
mod message;
mod output;
mod prefault;
mod read;
mod share;
mod system;
mod uring;

/// Name of the worker in its transcript.
#[no_mangle]
pub extern "C" fn worker_name() -> *const c_char {
    b"rust\0".as_ptr().cast()
}

/// Version of the compiler.
#[no_mangle]
pub extern "C" fn worker_compiler() -> *const c_char {
    concat!(env!("PAGEWISE_COMPILER"), "\0").as_ptr().cast()
}

/// Flags of this build.
#[no_mangle]
pub extern "C" fn worker_flags() -> *const c_char {
    b"-C opt-level=3 -C panic=abort\0".as_ptr().cast()
}
