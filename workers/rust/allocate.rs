//! `allocate`: a Vec of zeros, and one that is filled by resize. Rust's usual allocator is the C library's.

use std::mem::ManuallyDrop;

/// `vec![0; bytes]`: the allocator is asked for zeros.
#[no_mangle]
pub extern "C" fn rust_zeros(bytes: usize) -> *mut u8 {
    ManuallyDrop::new(vec![0u8; bytes]).as_mut_ptr()
}

/// `Vec::with_capacity`.
#[no_mangle]
pub extern "C" fn rust_room(bytes: usize) -> *mut u8 {
    ManuallyDrop::new(Vec::<u8>::with_capacity(bytes)).as_mut_ptr()
}

/// `resize` to the capacity, with zeros.
#[no_mangle]
pub unsafe extern "C" fn rust_resize(start: *mut u8, bytes: usize) {
    ManuallyDrop::new(Vec::from_raw_parts(start, 0, bytes)).resize(bytes, std::hint::black_box(0));
}

/// Sets all of a full Vec.
#[no_mangle]
pub unsafe extern "C" fn rust_fill(start: *mut u8, bytes: usize, value: u8) {
    ManuallyDrop::new(Vec::from_raw_parts(start, bytes, bytes)).fill(value);
}

/// Sets the first byte of each page of a full Vec, which need not begin with a page.
#[no_mangle]
pub unsafe extern "C" fn rust_mark(start: *mut u8, bytes: usize, page: usize, value: u8) {
    let mut all = ManuallyDrop::new(Vec::from_raw_parts(start, bytes, bytes));
    let (first, rest) = all.split_at_mut(page - start as usize % page);
    first[0] = value;
    rest.chunks_mut(page).for_each(|page| page[0] = value);
}

#[no_mangle]
pub unsafe extern "C" fn rust_free(start: *mut u8, bytes: usize) {
    drop(Vec::from_raw_parts(start, 0, bytes));
}
