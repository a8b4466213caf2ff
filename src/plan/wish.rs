//! What is asked for, before anything is looked up.

use record::cell::Selector;
use record::experiment::ParameterList;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Nothing selected means the first look.
    pub selectors: Vec<Selector>,
    /// `--set`.
    pub settings: Vec<(String, Vec<String>)>,
    /// `--baseline`.
    pub baseline: Option<String>,
    /// Which list of an experiment's parameters is taken where `--set` says nothing.
    pub sizes: ParameterList,
    /// CPUs online, which `N` stands for.
    pub cpus: usize,
    /// Base page in bytes.
    pub page_bytes: u64,
}
