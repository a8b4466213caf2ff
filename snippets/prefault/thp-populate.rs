// Fresh memory in huge pages that several threads populate, each its part.
use std::ffi::{c_int, c_long, c_void};
use std::io::{Error, Result};
use std::thread;

extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
}

// ---
fn populate(part: &mut [u8]) -> Result<()> {
    // MADV_POPULATE_WRITE, Linux 5.14
    match unsafe { madvise(part.as_mut_ptr().cast(), part.len(), 23) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

fn ready(bytes: usize, threads: usize) -> Result<&'static mut [u8]> {
    // PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS; given back by munmap(2)
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, 3, 0x22, -1, 0) };
    if at as isize == -1 {
        return Err(Error::last_os_error());
    }
    unsafe { madvise(at, bytes, 14) }; // MADV_HUGEPAGE; leave it out for base pages
    let memory = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, bytes) };
    let share = bytes.div_ceil(threads).next_multiple_of(2 << 20);
    thread::scope(|scope| {
        let parts: Vec<_> = memory.chunks_mut(share).map(|part| scope.spawn(move || populate(part))).collect();
        parts.into_iter().try_for_each(|part| part.join().expect("no panic"))
    })?;
    Ok(memory)
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    ready(bytes, 2)?.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    println!("{bytes}");
    Ok(())
}
