//! `load`: a whole file in a Vec.

use crate::read::file;
use std::io::Read;
use std::os::raw::c_int;

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
    *parts = Parts { start: whole.as_mut_ptr(), bytes: whole.len(), capacity: whole.capacity() };
    is_done
}

#[no_mangle]
pub unsafe extern "C" fn rust_drop(parts: *const Parts) {
    let parts = &*parts;
    drop(Vec::from_raw_parts(parts.start, parts.bytes, parts.capacity));
}
