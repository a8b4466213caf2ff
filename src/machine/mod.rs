//! What this machine is, what it has left, and what else it does.

pub mod busy;
pub mod cgroup;
pub mod compare;
pub mod cpu;
pub mod environment;
mod files;
#[cfg(test)]
pub mod fixture;
pub mod gaps;
pub mod meaning;
pub mod memory;
pub mod noise;
pub mod obstacles;
pub mod paging;
pub mod preflight;
pub mod system;
pub mod tools;
pub(crate) mod words;

pub use environment::Environment;
pub use obstacles::{Obstacle, obstacles};
