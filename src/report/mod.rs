//! Reports: each a pure function of a stored run, or of what was read from a machine.

pub mod doctor;
