// Sums a file's bytes by a mapping; the crate memmap2 has the same calls.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::ffi::{c_int, c_long, c_void};
use std::io::{Error, Result};

extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
}

// ---
fn sum_of(path: &str) -> Result<u64> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len() as usize;
    if bytes == 0 {
        return Ok(0); // an empty file cannot be mapped
    }
    // PROT_READ, MAP_SHARED; nobody may shorten the file meanwhile.
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, 1, 1, file.as_raw_fd(), 0) };
    if at as isize == -1 {
        return Err(Error::last_os_error());
    }
    let sum = unsafe { std::slice::from_raw_parts(at as *const u8, bytes) }.iter().map(|&byte| u64::from(byte)).sum();
    unsafe { munmap(at, bytes) };
    Ok(sum)
}
// ---

fn main() -> Result<()> {
    println!("{}", sum_of(&std::env::args().nth(1).expect("a path"))?);
    Ok(())
}
