//! The `pagewise` command.
#![forbid(unsafe_code)]

fn main() {}
