//! The tables and charts of a run.

pub(crate) mod curves;
pub(crate) mod further;
pub(crate) mod group;
pub(crate) mod passes;
pub(crate) mod states;
