//! What the modules share.

pub mod cache;
<<<<<<< HEAD
pub mod errors;
=======
pub mod compiled;
>>>>>>> main
pub mod native;
pub mod place;
pub mod readers;
pub mod reading;
pub mod runtimes;
pub mod sides;
pub mod skips;
pub mod traced;
pub mod turns;
pub mod waiting;
