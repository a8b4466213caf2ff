//! The words: figures, labels, verdicts, answers and doubts, and templates for warnings and causes. No code reads them, and
//! nothing here knows of tables or documents.

pub(crate) mod answer;
pub(crate) mod compared;
pub(crate) mod conditions;
pub(crate) mod gallery;
pub(crate) mod glossary;
pub(crate) mod group;
pub(crate) mod labels;
pub(crate) mod missing;
mod neighbors;
pub(crate) mod numbers;
pub mod outliers;
pub(crate) mod outlook;
pub(crate) mod overview;
pub mod phrases;
pub(crate) mod seconds;
pub(crate) mod sure;
pub(crate) mod verdict;
pub mod wording;
