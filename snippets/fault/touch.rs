// Fresh memory outside the heap, whose pages come one by one when they are touched.
use std::ffi::{c_int, c_long, c_void};
use std::io::{Error, Result};

extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
}

// ---
fn fresh(bytes: usize) -> Result<&'static mut [u8]> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS; given back by munmap(2)
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, 3, 0x22, -1, 0) };
    if at as isize == -1 {
        return Err(Error::last_os_error());
    }
    Ok(unsafe { std::slice::from_raw_parts_mut(at as *mut u8, bytes) })
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    fresh(bytes)?.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    println!("{bytes}");
    Ok(())
}
