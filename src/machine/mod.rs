//! What this machine is, what it has left, and what else it does.

pub mod cgroup;
pub mod cpu;
mod files;
pub mod paging;
pub mod system;
