//! `prefault`: fresh memory made resident, each thread its part.

use crate::fault::{memory_of, Part};
use std::io;
use std::os::raw::{c_int, c_void};

const MADV_POPULATE_WRITE: c_int = 23;

extern "C" {
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
}

/// Faults a part in by one call. The result is an errno, 0 without an error.
#[no_mangle]
pub unsafe extern "C" fn rust_populate_write(part: *const Part) -> c_int {
    let memory = memory_of(&*part);
    match madvise(
        memory.as_mut_ptr().cast(),
        memory.len(),
        MADV_POPULATE_WRITE,
    ) {
        0 => 0,
        _ => io::Error::last_os_error().raw_os_error().unwrap_or(5),
    }
}
