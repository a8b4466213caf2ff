// The file gets its size and is filled through a mapping; the crate memmap2 has the same calls.
use std::ffi::{c_int, c_long, c_void};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;

extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
}

// ---
fn written(path: &str, content: &[u8]) -> Result<()> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    if content.is_empty() {
        return Ok(()); // an empty file cannot be mapped
    }
    file.set_len(content.len() as u64)?; // a full disk is a SIGBUS later; fallocate would say so here
    // PROT_READ | PROT_WRITE, MAP_SHARED
    let at = unsafe { mmap(std::ptr::null_mut(), content.len(), 3, 1, file.as_raw_fd(), 0) };
    if at as isize == -1 {
        return Err(Error::last_os_error());
    }
    unsafe { std::slice::from_raw_parts_mut(at as *mut u8, content.len()) }.copy_from_slice(content);
    match unsafe { munmap(at, content.len()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    written("written-rust", &content)?;
    let back = std::fs::read("written-rust")?;
    std::fs::remove_file("written-rust")?;
    assert!(back == content);
    println!("{}", back.len());
    Ok(())
}
