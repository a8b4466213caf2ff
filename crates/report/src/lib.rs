//! Tables and sentences: pure functions of what was recorded and judged. Nothing here measures, starts or looks anything up.
#![forbid(unsafe_code)]

pub mod claims;
pub mod doctor;
mod doubts;
pub mod explain;
pub mod noise;
mod numbers;
pub mod published;
mod resources;
pub mod selftest;
mod show;
mod sides;
pub mod terminal;
