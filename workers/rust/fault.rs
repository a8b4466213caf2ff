//! `fault`: a byte stored into each page of memory that was just mapped.

/// One thread's part of the memory.
#[repr(C)]
pub struct Part {
    start: *mut u8,
    bytes: usize,
    page_bytes: usize,
    mark: u8,
}

/// The memory of a part, which no other thread has.
pub unsafe fn memory_of<'a>(part: &Part) -> &'a mut [u8] {
    std::slice::from_raw_parts_mut(part.start, part.bytes)
}

/// Stores the mark into the first byte of each page.
#[no_mangle]
pub unsafe extern "C" fn rust_touch_pages(part: *const Part) {
    let part = &*part;
    for page in memory_of(part).chunks_mut(part.page_bytes) {
        page[0] = part.mark;
    }
}
