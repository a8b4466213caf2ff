//! Tables as data ([`columns`]), and the tables and charts of a run.

pub(crate) mod columns;
pub(crate) mod comparison;
pub(crate) mod curves;
pub(crate) mod frontier;
pub(crate) mod further;
pub(crate) mod maps;
pub(crate) mod neighbors;
pub(crate) mod passes;
pub(crate) mod percentiles;
pub(crate) mod stack;
pub(crate) mod states;
