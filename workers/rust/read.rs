//! `read`: a file by std's File, naively by a BufReader and as a whole, and by a mapping as the crate memmap2 makes one.

use crate::system::{error_number, mmap, munmap, MAP_SHARED, PROT_READ};
use crate::uring::{Ring, Turn};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::mem::ManuallyDrop;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, FromRawFd, IntoRawFd};
use std::path::Path;

/// One pass: sizes, the order of blocks or null, and the consumer of the bytes.
#[repr(C)]
pub struct Pass {
    bytes: usize,
    step_bytes: usize,
    steps: usize,
    blocks: *const u32,
    sink: *mut c_void,
    take: unsafe extern "C" fn(*mut c_void, *const u8, usize),
}

impl Pass {
    /// Place and length of a step.
    #[inline]
    unsafe fn step(&self, number: usize) -> (usize, usize) {
        let block = if self.blocks.is_null() {
            number
        } else {
            *self.blocks.add(number) as usize
        };
        let offset = block * self.step_bytes;
        (offset, self.step_bytes.min(self.bytes - offset))
    }

    #[inline]
    unsafe fn use_bytes(&self, bytes: &[u8]) {
        (self.take)(self.sink, bytes.as_ptr(), bytes.len());
    }
}

pub unsafe fn path<'a>(path: *const c_char) -> &'a Path {
    Path::new(std::ffi::OsStr::from_bytes(CStr::from_ptr(path).to_bytes()))
}

/// The file stays the caller's.
pub unsafe fn file(descriptor: c_int) -> ManuallyDrop<File> {
    ManuallyDrop::new(File::from_raw_fd(descriptor))
}

/// Descriptor of the opened file, or -1.
#[no_mangle]
pub unsafe extern "C" fn rust_open(name: *const c_char) -> c_int {
    File::open(path(name)).map_or(-1, |file| file.into_raw_fd())
}

/// 0 where the file was closed.
#[no_mangle]
pub unsafe extern "C" fn rust_close(descriptor: c_int) {
    drop(File::from_raw_fd(descriptor));
}

/// File::read_exact into one buffer.
#[no_mangle]
pub unsafe extern "C" fn rust_read(descriptor: c_int, buffer: *mut u8, pass: *const Pass) -> c_int {
    let (mut file, pass) = (file(descriptor), &*pass);
    let buffer = std::slice::from_raw_parts_mut(buffer, pass.step_bytes);
    let mut work = || {
        for number in 0..pass.steps {
            let (offset, want) = pass.step(number);
            if !pass.blocks.is_null() {
                file.seek(SeekFrom::Start(offset as u64))?;
            }
            file.read_exact(&mut buffer[..want])?;
            pass.use_bytes(&buffer[..want]);
        }
        Ok(())
    };
    error_number(work())
}

/// 4 KiB at a time out of a BufReader with its usual 8 KiB.
#[no_mangle]
pub unsafe extern "C" fn rust_read_buffered(
    descriptor: c_int,
    buffer: *mut u8,
    pass: *const Pass,
) -> c_int {
    let (file, pass) = (file(descriptor), &*pass);
    let mut reader = BufReader::new(&*file);
    let buffer = std::slice::from_raw_parts_mut(buffer, pass.step_bytes);
    let mut work = || {
        for number in 0..pass.steps {
            let (offset, want) = pass.step(number);
            if !pass.blocks.is_null() {
                reader.seek(SeekFrom::Start(offset as u64))?;
            }
            reader.read_exact(&mut buffer[..want])?;
            pass.use_bytes(&buffer[..want]);
        }
        Ok(())
    };
    error_number(work())
}

/// The whole file in one Vec, as fs::read has it.
#[no_mangle]
pub unsafe extern "C" fn rust_read_whole(descriptor: c_int, pass: *const Pass) -> c_int {
    let (mut file, pass) = (file(descriptor), &*pass);
    let mut whole = Vec::new();
    let mut work = || {
        let length = file.metadata()?.len() as usize;
        whole.reserve_exact(length);
        file.read_to_end(&mut whole)?;
        if whole.len() < pass.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for number in 0..pass.steps {
            let (offset, want) = pass.step(number);
            pass.use_bytes(&whole[offset..offset + want]);
        }
        Ok(())
    };
    error_number(work())
}

/// Reads by a ring into as many buffers as it is deep, each used in its turn.
#[no_mangle]
pub unsafe extern "C" fn rust_ring_read(
    ring: *mut Ring,
    descriptor: c_int,
    buffers: *mut u8,
    depth: usize,
    pass: *const Pass,
) -> c_int {
    let pass = &*pass;
    let buffer = |number: usize| buffers.add(number % depth * pass.step_bytes);
    let turn = |number| {
        let (offset, bytes) = pass.step(number);
        Turn {
            offset,
            memory: buffer(number),
            bytes,
        }
    };
    let take = |number| {
        let (_, bytes) = pass.step(number);
        pass.use_bytes(std::slice::from_raw_parts(buffer(number), bytes));
    };
    error_number((*ring).read_all(descriptor, pass.steps, turn, take))
}

/// A shared mapping for reading, as `memmap2::Mmap::map` makes it, at an address that is free.
#[no_mangle]
pub unsafe extern "C" fn rust_map(at: *mut c_void, bytes: usize, descriptor: c_int) -> *mut c_void {
    mmap(
        at,
        bytes,
        PROT_READ,
        MAP_SHARED,
        file(descriptor).as_raw_fd(),
        0,
    )
}

#[no_mangle]
pub unsafe extern "C" fn rust_unmap(at: *mut c_void, bytes: usize) -> c_int {
    munmap(at, bytes)
}

/// Goes through the mapping as a slice.
#[no_mangle]
pub unsafe extern "C" fn rust_use_map(at: *const u8, pass: *const Pass) {
    let pass = &*pass;
    let memory = std::slice::from_raw_parts(at, pass.bytes);
    for number in 0..pass.steps {
        let (offset, want) = pass.step(number);
        pass.use_bytes(&memory[offset..offset + want]);
    }
}
