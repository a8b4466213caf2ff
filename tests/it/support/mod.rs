//! What the modules share.

pub mod browser;
pub mod cache;
pub mod ended;
pub mod errors;
pub mod native;
pub mod nodes;
pub mod pages;
pub mod place;
pub mod readers;
pub mod reading;
pub mod refusals;
pub mod runtimes;
pub mod sides;
pub mod skips;
pub mod suite;
pub mod traced;
pub mod turns;
pub mod victims;
pub mod waiting;
pub mod wishes;
