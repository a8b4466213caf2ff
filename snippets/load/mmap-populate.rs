// The file is mapped, and all of it read, before the first use; memmap2 calls it populate().
use std::ffi::{c_int, c_long, c_void};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;

extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
}

// ---
fn loaded(path: &str) -> Result<&'static [u8]> {
    let file = File::open(path)?; // the mapping stays when it is closed
    let bytes = file.metadata()?.len() as usize;
    if bytes == 0 {
        return Ok(&[]); // an empty file cannot be mapped
    }
    // PROT_READ, MAP_SHARED | MAP_POPULATE; nobody may shorten the file meanwhile.
    let at = unsafe { mmap(std::ptr::null_mut(), bytes, 1, 0x8001, file.as_raw_fd(), 0) };
    if at as isize == -1 {
        return Err(Error::last_os_error());
    }
    Ok(unsafe { std::slice::from_raw_parts(at as *const u8, bytes) })
}
// ---

fn main() -> Result<()> {
    let bytes = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let content: Vec<u8> = (0..bytes).map(|i: usize| (i * 7 + i / 4096) as u8).collect();
    std::fs::write("populated-rust", &content)?;
    let back = loaded("populated-rust");
    std::fs::remove_file("populated-rust")?;
    assert!(back? == content);
    println!("{}", content.len());
    Ok(())
}
