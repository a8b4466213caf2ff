//! Tables and sentences: pure functions of what was recorded and judged. Nothing here measures, starts or looks anything up.
#![forbid(unsafe_code)]

pub mod advise;
mod answer;
pub mod claims;
pub mod doctor;
pub mod explain;
pub mod export;
mod fleet;
pub mod html;
pub mod inert;
pub mod noise;
mod numbers;
pub mod profile;
pub mod published;
mod seconds;
pub mod selftest;
mod show;
pub mod terminal;
pub mod trial;
pub mod verdict;
pub mod view;
pub mod words;
