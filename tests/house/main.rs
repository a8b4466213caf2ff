//! The house itself: rooms without circles, crates that start nothing, a map that is true, nothing public that nobody uses.
//! Each rule is a function over texts, so that a test of its own shows that it can fail.

mod circles;
mod dead;
mod documents;
mod figures;
mod keys;
mod language;
mod map;
mod packages;
mod prose;
mod purity;
mod source;
