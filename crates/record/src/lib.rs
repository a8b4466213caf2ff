//! Record of a run, as data: what was planned, what was decided, what was asked and answered, and what came out.
//!
//! A run is a folder: a [`plan::Plan`], appended [`decision::Decision`]s and [`launches::LaunchRecord`]s, transcripts in
//! compressed frames, and a [`summary::Summary`]. `try` and `profile` have a plan and summary of their own ([`command`]).
//! [`machine`] has the facts of a machine, read through a trait; [`experiment`], [`claim`], [`setting`] and the like are
//! the formats of the data in the repository.
//!
//! Invariants: nothing is started, and no clock, environment or `/proc` is looked at. A plan and a launch are never
//! edited. Every line has a seal, so that damage is found and named. Each JSON shape has a schema in `schema/` and a
//! version, which `docs/compatibility.md` lists.
//!
//! Begin with [`folder::RunFolder`], the store, and [`state::State`], a run as its plan and decisions make it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod across;
pub mod advice;
pub mod cell;
pub mod claim;
pub mod command;
pub mod concern;
pub mod decision;
pub mod experiment;
pub mod expression;
pub mod folder;
pub mod gallery;
mod hash;
pub mod json;
pub mod kind;
pub mod launches;
pub mod machine;
pub mod machine_state;
pub mod method;
pub mod outcome;
pub mod outliers;
pub mod parameters;
pub mod plan;
pub mod published;
pub mod setting;
pub mod shared;
pub mod sizes;
pub mod state;
pub mod summary;
pub mod table;
pub mod transcript;

/// Tells whether a value is its type's default. A field that may be absent is left out then: an `Option` by
/// `skip_serializing_none`, anything else by this.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
