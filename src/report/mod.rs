//! Reports: each a pure function of a stored run.

pub mod doctor;
mod doubts;
pub mod explain;
pub mod noise;
pub mod published;
pub mod resources;
pub mod selftest;
pub mod sides;
pub mod terminal;
