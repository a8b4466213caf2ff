//! A machine as data: its facts, what disturbed it, what it did besides. The laboratory gives the files.

pub mod cgroup;
pub mod cpu;
pub mod environment;
pub mod files;
pub mod paging;
pub mod preflight;
pub mod system;
pub mod tools;
