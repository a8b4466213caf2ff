//! `share`: the measured loops, over the memory as a slice. They take the place of the native worker's.

use crate::system::rand;
use std::os::raw::c_char;

/// The next index of the protocol's sequence, below `size`.
#[inline(always)]
fn next(x: &mut u64, size: usize) -> usize {
    *x ^= *x >> 12;
    *x ^= *x << 25;
    *x ^= *x >> 27;
    (((x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) * size as u64) >> 32) as usize
}

/// An index by the C library's generator, which std does not have; only the checks of other workers' cells ask for it.
unsafe fn by_rand(size: usize) -> usize {
    rand() as u32 as usize % size
}

unsafe fn slice<'a>(p: *const u8, size: usize) -> &'a [u8] {
    std::slice::from_raw_parts(p, size)
}

unsafe fn slice_mut<'a>(p: *mut u8, size: usize) -> &'a mut [u8] {
    std::slice::from_raw_parts_mut(p, size)
}

#[no_mangle]
pub unsafe extern "C" fn write_by_rand(p: *mut u8, size: usize, ops: u64) {
    let memory = slice_mut(p, size);
    (0..ops).for_each(|_| memory[by_rand(size)] = 0x55);
}

#[no_mangle]
pub unsafe extern "C" fn write_by_xorshift(p: *mut u8, size: usize, ops: u64, seed: u64) {
    let (memory, mut x) = (slice_mut(p, size), seed | 1);
    for _ in 0..ops {
        memory[next(&mut x, size)] = 0x55;
    }
}

/// Indices below a size, made before the clock.
struct Table {
    of: (usize, u64, u64),
    indices: Vec<u32>,
}

static mut TABLE: Option<Table> = None;

#[no_mangle]
pub unsafe extern "C" fn index_table(
    _slot: *mut c_char,
    size: usize,
    ops: u64,
    seed: u64,
) -> *const u32 {
    let kept = &mut *std::ptr::addr_of_mut!(TABLE);
    if kept
        .as_ref()
        .map_or(true, |table| table.of != (size, ops, seed))
    {
        let mut x = seed | 1;
        let indices = (0..ops).map(|_| next(&mut x, size) as u32).collect();
        *kept = Some(Table {
            of: (size, ops, seed),
            indices,
        });
    }
    kept.as_ref()
        .map_or(std::ptr::null(), |table| table.indices.as_ptr())
}

/// Size of the memory that the table's indices lie in: a slice of it checks each of them.
unsafe fn size_of_table() -> usize {
    (*std::ptr::addr_of!(TABLE))
        .as_ref()
        .map_or(64, |table| table.of.0)
}

unsafe fn indices<'a>(table: *const u32, ops: u64) -> &'a [u32] {
    std::slice::from_raw_parts(table, ops as usize)
}

#[no_mangle]
pub unsafe extern "C" fn write_by_table(p: *mut u8, table: *const u32, ops: u64) {
    let memory = slice_mut(p, size_of_table());
    for &index in indices(table, ops) {
        memory[index as usize] = 0x55;
    }
}

#[no_mangle]
pub unsafe extern "C" fn only_table(table: *const u32, ops: u64) -> u64 {
    indices(table, ops)
        .iter()
        .map(|&index| u64::from(index))
        .sum()
}

#[no_mangle]
pub unsafe extern "C" fn read_by_table(p: *const u8, table: *const u32, ops: u64) -> u64 {
    let memory = slice(p, size_of_table());
    indices(table, ops)
        .iter()
        .map(|&index| u64::from(memory[index as usize]))
        .sum()
}

#[no_mangle]
pub unsafe extern "C" fn only_rand(size: usize, ops: u64) -> u64 {
    (0..ops).map(|_| by_rand(size) as u64).sum()
}

#[no_mangle]
pub unsafe extern "C" fn only_xorshift(size: usize, ops: u64, seed: u64) -> u64 {
    let mut x = seed | 1;
    (0..ops).map(|_| next(&mut x, size) as u64).sum()
}

#[no_mangle]
pub unsafe extern "C" fn read_by_rand(p: *const u8, size: usize, ops: u64) -> u64 {
    let memory = slice(p, size);
    (0..ops).map(|_| u64::from(memory[by_rand(size)])).sum()
}

#[no_mangle]
pub unsafe extern "C" fn read_by_xorshift(p: *const u8, size: usize, ops: u64, seed: u64) -> u64 {
    let (memory, mut x) = (slice(p, size), seed | 1);
    (0..ops)
        .map(|_| u64::from(memory[next(&mut x, size)]))
        .sum()
}

#[no_mangle]
pub unsafe extern "C" fn clear_again_and_again(p: *mut u8, size: usize, clears: u64) {
    for _ in 0..clears {
        std::hint::black_box(slice_mut(p, size)).fill(0);
    }
}

/// Runs each once, so that no page of code is faulted in by a measured one.
#[no_mangle]
pub unsafe extern "C" fn warm_loops() {
    let (mut few, table) = ([0u8; 64], [1u32]);
    let p = few.as_mut_ptr();
    write_by_rand(p, 64, 1);
    write_by_xorshift(p, 64, 1, 1);
    write_by_table(p, table.as_ptr(), 1);
    clear_again_and_again(p, 64, 1);
    let sum =
        only_table(table.as_ptr(), 1) + read_by_table(p, table.as_ptr(), 1) + only_rand(64, 1);
    std::hint::black_box(
        sum + only_xorshift(64, 1, 1) + read_by_rand(p, 64, 1) + read_by_xorshift(p, 64, 1, 1),
    );
}
