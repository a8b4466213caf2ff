//! The clock and the counters of the process, as all workers read them.

use std::fmt;

/// getrusage(2), clock_gettime(2) and sysconf(3) of the C library, which std links.
mod c {
    unsafe extern "C" {
        pub fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
        pub fn getrusage(who: i32, usage: *mut [i64; 18]) -> i32;
        pub fn sysconf(name: i32) -> i64;
    }
}

const MONOTONIC: i32 = 1;
const PROCESS_CPU: i32 = 2;
const SELF: i32 = 0;
const PAGE_SIZE: i32 = 30;

fn read_ns(clock: i32) -> u64 {
    let mut time = [0i64; 2];
    // SAFETY: the structure is two 64-bit numbers on every 64-bit Linux.
    unsafe { c::clock_gettime(clock, &mut time) };
    time[0] as u64 * 1_000_000_000 + time[1] as u64
}

pub(crate) fn now_ns() -> u64 {
    read_ns(MONOTONIC)
}

pub(crate) fn page_bytes() -> u64 {
    // SAFETY: a call without memory.
    unsafe { c::sysconf(PAGE_SIZE) as u64 }
}

/// CPU time, the kernel's split of it, faults and switches.
pub(crate) struct Counters([u64; 7]);

impl Counters {
    pub(crate) fn read() -> Counters {
        let mut usage = [0i64; 18];
        // SAFETY: struct rusage is two times of two numbers and fourteen numbers on every 64-bit Linux.
        unsafe { c::getrusage(SELF, &mut usage) };
        let ns = |at: usize| usage[at] as u64 * 1_000_000_000 + usage[at + 1] as u64 * 1000;
        let [minor, major, voluntary, involuntary] = [8, 9, 16, 17].map(|at| usage[at] as u64);
        Counters([read_ns(PROCESS_CPU), ns(0), ns(2), minor, major, voluntary, involuntary])
    }

    pub(crate) fn since(&self, before: &Counters) -> Counters {
        Counters(std::array::from_fn(|at| self.0[at].saturating_sub(before.0[at])))
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|count| write!(f, "\t{count}"))
    }
}
