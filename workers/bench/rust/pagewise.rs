//! Your own loops under Pagewise's stopwatch: `pagewise bench FILE.rs`.
//!
//!     pagewise::param!(bytes, "1MiB,64MiB");
//!
//!     #[pagewise::bench]
//!     fn fill() -> u8 {
//!         let bytes = pagewise::value("bytes");
//!         let all = pagewise::phase!("fill", vec![1u8; bytes]);
//!         all[bytes - 1]
//!     }
//!
//! What a function returns is its result; every function must come to the same. A function without a phase is timed as a whole.
//! The harness behind it is that of C (workers/c/bench/pagewise.h), which says what each word means.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

pub use pagewise_attributes::{baseline, bench};

/// Something that the file says of itself, with its line: `struct pagewise_mark` of pagewise.h.
#[doc(hidden)]
#[repr(C)]
pub struct Mark {
    pub kind: c_char,
    pub line: c_int,
    pub text: *const c_char,
    pub values: *const c_char,
    pub file: *const c_char,
    pub body: Option<extern "C" fn()>,
}

// It is never changed.
unsafe impl Sync for Mark {}

unsafe extern "C" {
    fn pagewise_value(name: *const c_char) -> usize;
    fn pagewise_text(name: *const c_char) -> *const c_char;
    fn pagewise_is(name: *const c_char, word: *const c_char) -> c_int;
    fn pagewise_cold(path: *const c_char);
    fn pagewise_other_side(work: extern "C" fn(*mut c_void), argument: *mut c_void);
    fn pagewise_on_threads(work: extern "C" fn(*mut c_void, c_uint), argument: *mut c_void);
    fn pagewise_phase_begin(name: *const c_char) -> c_int;
    fn pagewise_phase_end() -> c_int;
    fn pagewise_result(value: u64);
    fn pagewise_digest(start: *const c_void, bytes: usize) -> u64;
    fn pagewise_fact(name: *const c_char, value: u64);
    fn pagewise_operations(count: u64);
    fn pagewise_bytes(count: u64);
    fn pagewise_fail(call: *const c_char) -> !;
    fn pagewise_skip(reason: *const c_char) -> !;
}

#[doc(hidden)]
#[macro_export]
macro_rules! mark {
    ($kind:literal, $text:expr, $values:expr, $body:expr) => {
        static MARK: $crate::Mark = $crate::Mark {
            kind: $kind as u8 as _,
            line: line!() as _,
            text: concat!($text, "\0").as_ptr().cast(),
            values: concat!($values, "\0").as_ptr().cast(),
            file: concat!(file!(), "\0").as_ptr().cast(),
            body: $body,
        };
        #[used]
        #[link_section = "pagewise_marks"]
        static ENTRY: &$crate::Mark = &MARK;
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! function {
    ($kind:literal, $name:ident, false) => {
        const _: () = {
            extern "C" fn body() {
                $crate::turn($name);
            }
            $crate::mark!($kind, stringify!($name), "", Some(body));
        };
    };
    ($kind:literal, $name:ident, true) => {
        const _: () = {
            extern "C" fn body() {
                $crate::turn(|| $crate::result($name()));
            }
            $crate::mark!($kind, stringify!($name), "", Some(body));
            const _: () = {
                $crate::mark!('r', "", "", None);
            };
        };
    };
}

/// A parameter and its values: `param!(bytes, "1MiB,64MiB");`.
#[macro_export]
macro_rules! param {
    ($name:ident, $values:literal) => {
        const _: () = {
            $crate::mark!('k', stringify!($name), $values, None);
        };
    };
}

/// A parameter whose values are sizes of a file with content of this seed: `input!(data, "1MiB", 7);`.
#[macro_export]
macro_rules! input {
    ($name:ident, $sizes:literal, $seed:literal) => {
        const _: () = {
            $crate::mark!('i', stringify!($name), concat!($sizes, "\0", $seed), None);
        };
    };
}

/// The parameter `threads`, which [`on_threads`] follows.
#[macro_export]
macro_rules! threads {
    ($values:literal) => {
        const _: () = {
            $crate::mark!('t', "threads", $values, None);
        };
    };
}

/// Runs each turn in a process of its own.
#[macro_export]
macro_rules! fresh {
    () => {
        const _: () = {
            $crate::mark!('f', "", "", None);
        };
    };
}

/// Times an expression and nothing else, and gives its value.
#[macro_export]
macro_rules! phase {
    ($name:literal, $body:expr) => {{
        {
            $crate::mark!('p', $name, "", None);
        }
        let open = $crate::Phase::open(concat!($name, "\0"));
        let value = ::std::hint::black_box($body);
        drop(open);
        value
    }};
}

/// Relation that every turn must keep, in a function: `law!("fill.minor_faults == 0");`.
#[macro_export]
macro_rules! law {
    ($relation:literal) => {{
        $crate::mark!('l', $relation, "", None);
    }};
}

/// Bytes of each phase that follows, for figures in GB/s; every function of the file has them then.
#[macro_export]
macro_rules! bytes {
    ($count:expr) => {{
        $crate::mark!('y', "", "", None);
        $crate::set_bytes($count as u64);
    }};
}

/// An open phase.
#[doc(hidden)]
pub struct Phase;

impl Phase {
    #[inline]
    pub fn open(name: &'static str) -> Phase {
        unsafe { pagewise_phase_begin(name.as_ptr().cast()) };
        Phase
    }
}

impl Drop for Phase {
    #[inline]
    fn drop(&mut self) {
        unsafe { pagewise_phase_end() };
    }
}

/// End of a turn before the function's own: the kind of its line in the transcript, and the reason.
enum Ended {
    Failed(String),
    Skipped(String),
}

/// One turn of a function. Where it panics, it has failed.
#[doc(hidden)]
pub fn turn(body: impl FnOnce()) {
    std::panic::set_hook(Box::new(|_| {}));
    let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else {
        return;
    };
    let ended = panic.downcast::<Ended>().map(|ended| *ended).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Ended::Failed(format!("panic: {}", text.unwrap_or_default()))
    });
    // These two leave by longjmp(3): nothing may be left to drop here.
    match ended {
        Ended::Failed(call) => unsafe { pagewise_fail(kept(&call)) },
        Ended::Skipped(reason) => unsafe { pagewise_skip(kept(&reason)) },
    }
}

/// A text of C that stays.
fn kept(text: &str) -> *const c_char {
    name_of(&text.replace(['\t', '\n'], " ")).into_raw()
}

fn name_of(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// The number of a parameter in this turn; times are in nanoseconds.
pub fn value(name: &str) -> usize {
    unsafe { pagewise_value(name_of(name).as_ptr()) }
}

/// The word or the path of a parameter in this turn.
pub fn text(name: &str) -> &'static str {
    let text = unsafe { CStr::from_ptr(pagewise_text(name_of(name).as_ptr())) };
    text.to_str().unwrap_or_default()
}

/// True if a parameter has this word in this turn.
pub fn is(name: &str, word: &str) -> bool {
    unsafe { pagewise_is(name_of(name).as_ptr(), name_of(word).as_ptr()) != 0 }
}

/// Takes a file out of the page cache, before a phase that reads it. A file that stays in memory skips the function.
pub fn cold(path: &str) {
    unsafe { pagewise_cold(name_of(path).as_ptr()) }
}

/// Runs work in a process of its own, the other side of this turn: it must end with the turn.
pub fn other_side<F: FnOnce()>(work: F) {
    extern "C" fn call<F: FnOnce()>(work: *mut c_void) {
        // The copy of the fork: nothing else takes it there.
        let work = unsafe { work.cast::<F>().read() };
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            std::process::exit(1);
        }
    }
    let mut work = std::mem::ManuallyDrop::new(work);
    unsafe { pagewise_other_side(call::<F>, (&raw mut work).cast()) }
    // Here it never runs: what it holds is given up, such as the ends of a pipe that are its own.
    unsafe { std::mem::ManuallyDrop::drop(&mut work) }
}

/// Calls `work(thread)` on each of the parameter's threads, which wait at the phase's start.
pub fn on_threads<F: Fn(usize) + Sync>(work: F) {
    extern "C" fn call<F: Fn(usize)>(work: *mut c_void, thread: c_uint) {
        unsafe { (*work.cast::<F>())(thread as usize) }
    }
    unsafe { pagewise_on_threads(call::<F>, (&raw const work).cast_mut().cast()) }
}

/// The number of a value: a whole number is its own, so that it can be compared with the sum of a built-in method.
#[derive(Default)]
struct Number {
    parts: u32,
    first: [u8; 8],
    hasher: DefaultHasher,
}

impl Hasher for Number {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = self.first.get_mut(..bytes.len()).filter(|_| self.parts == 0) {
            first.copy_from_slice(bytes);
        } else {
            self.parts += 1;
        }
        self.parts += 1;
        self.hasher.write(bytes);
    }

    fn finish(&self) -> u64 {
        if self.parts == 1 { u64::from_le_bytes(self.first) } else { self.hasher.finish() }
    }
}

/// Number that the work came to, made of any value that has a hash.
#[doc(hidden)]
pub fn result(value: impl Hash) {
    let mut number = Number::default();
    value.hash(&mut number);
    unsafe { pagewise_result(number.finish()) }
}

/// The content of memory as a result, for functions that a built-in method proves.
pub fn digest(content: &[u8]) -> u64 {
    unsafe { pagewise_digest(content.as_ptr().cast(), content.len()) }
}

/// Records a number of this turn that a law can name.
pub fn fact(name: &'static str, value: u64) {
    unsafe { pagewise_fact(kept(name), value) }
}

/// Operations in each phase that follows: figures are those of one.
pub fn operations(count: u64) {
    unsafe { pagewise_operations(count) }
}

#[doc(hidden)]
pub fn set_bytes(count: u64) {
    unsafe { pagewise_bytes(count) }
}

/// Ends this turn: a call failed.
pub fn fail(call: &str) -> ! {
    panic_any(Ended::Failed(call.to_owned()))
}

/// Ends this turn: the machine cannot do this.
pub fn skip(reason: &str) -> ! {
    panic_any(Ended::Skipped(reason.to_owned()))
}
