//! The scheduler on simulated machines: nothing is started, and nothing depends on how busy this machine is.

mod crossover;
mod machine;
mod properties;
mod scenarios;
mod turns;
