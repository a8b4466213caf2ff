//! rustc -O --crate-type cdylib -o libmine.so mine.rs && pagewise bench ./libmine.so:grow,reserve
//! A target of cargo bench is simpler: consumers/pagewise-bench.

use std::ffi::c_void;

const ELEMENTS: u64 = 100_000;

fn fill(mut v: Vec<u64>) {
    (0..ELEMENTS).for_each(|i| v.push(i));
    std::hint::black_box(v);
}

#[unsafe(no_mangle)]
pub extern "C" fn grow(_context: *mut c_void) {
    fill(Vec::new());
}

#[unsafe(no_mangle)]
pub extern "C" fn reserve(_context: *mut c_void) {
    fill(Vec::with_capacity(ELEMENTS as usize));
}
