//! Request, before anything is looked up.

use crate::worker::Language;
use record::{cell::Selector, experiment::ParameterList};

/// Request of the command line.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Nothing selected means the overview.
    pub selectors: Vec<Selector>,
    /// `--set`.
    pub settings: Vec<(String, Vec<String>)>,
    /// Number of these, the first, that the user gave: a file of the user's settles others.
    pub given: usize,
    /// `--baseline`.
    pub baseline: Option<String>,
    /// List of an experiment's parameters where `--set` says nothing.
    pub sizes: ParameterList,
    /// Languages of the rows of an article; all where empty.
    pub languages: Vec<Language>,
    /// False if only the usual condition of each question is wanted.
    pub conditions: bool,
    /// CPUs online, which `N` stands for.
    pub cpus: usize,
    pub page_bytes: u64,
}

impl Wish {
    /// The selected cells under all conditions, on the CPUs and pages of this machine.
    pub fn new(selectors: Vec<Selector>, sizes: ParameterList) -> Wish {
        Wish {
            selectors,
            settings: Vec::new(),
            given: 0,
            baseline: None,
            sizes,
            languages: Vec::new(),
            conditions: true,
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    /// True if `--set` gives this parameter.
    pub fn sets(&self, key: &str) -> bool {
        self.settings.iter().any(|(set, _)| set == key)
    }

    /// The wish for other cells with these settings, at default values, on the same machine.
    pub fn for_cells(
        &self,
        selectors: Vec<Selector>,
        settings: Vec<(String, Vec<String>)>,
    ) -> Wish {
        Wish {
            selectors,
            settings,
            given: 0,
            baseline: None,
            sizes: ParameterList::Default,
            languages: Vec::new(),
            conditions: true,
            ..*self
        }
    }
}
