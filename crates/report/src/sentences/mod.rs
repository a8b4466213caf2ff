//! The words: every sentence, name and figure of a report is made here, and no code reads it. Nothing here knows of tables or
//! documents.

pub(crate) mod answer;
pub(crate) mod group;
pub(crate) mod labels;
pub(crate) mod missing;
pub(crate) mod numbers;
pub(crate) mod overview;
pub mod phrases;
pub(crate) mod seconds;
pub(crate) mod sure;
pub mod wording;
