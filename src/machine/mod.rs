//! What this machine is, what it has left, and what else it does.

pub mod environment;
pub mod memory;
pub mod noise;
pub mod obstacles;
