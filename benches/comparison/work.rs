//! The work of a pair, which WORK_PAIR names.

unsafe extern "C" {
    #[link_name = "work"]
    safe fn work_in_c(pair: i32, side: i32) -> u64;
}

/// A number in the environment.
pub fn number(name: &str) -> i32 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} is a number"))
}

/// Does one side of a pair once.
pub fn work(pair: i32, side: i32) -> u64 {
    work_in_c(pair, side)
}
