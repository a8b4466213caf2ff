//! What a user asks for who names nothing, on a machine of one shape.

use pagewise::plan::Wish;
use record::experiment::ParameterList;

/// Nothing chosen and nothing set, for two CPUs and base pages of 4 KiB.
pub fn wish() -> Wish {
    Wish {
        selectors: Vec::new(),
        settings: Vec::new(),
        given: 0,
        baseline: None,
        sizes: ParameterList::Default,
        languages: Vec::new(),
        conditions: true,
        cpus: 2,
        page_bytes: 4096,
    }
}
