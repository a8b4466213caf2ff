//! Call stacks of page faults.

use super::MemoryEvent;
use serde::{Deserialize, Serialize};

/// A function on a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallFrame {
    /// Its name; empty where no symbol covers the address.
    pub function: String,
    /// The file name of its source; empty where it is not known.
    pub file: String,
    /// The line in it, from 1; 0 where it is not known.
    pub line: u32,
    /// The file name of the program or library.
    pub module: String,
}

/// Events of one kind with the same callers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallStack {
    /// Indices of frames, the outermost first; none where the callers are not known.
    pub frames: Vec<usize>,
    /// Kind of event that the stacks led to.
    pub event: MemoryEvent,
    /// Page faults of a launch, or seconds of CPU time in a summary.
    pub weight: f64,
}

/// CallStacks with their frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallStacks {
    /// Frames that `stacks` refers to by index.
    pub frames: Vec<CallFrame>,
    /// Distinct stacks with their weights.
    pub stacks: Vec<CallStack>,
}

impl CallStacks {
    /// True if every stack refers to frames that there are.
    pub(crate) fn is_whole(&self) -> bool {
        self.stacks
            .iter()
            .all(|stack| stack.frames.iter().all(|&at| at < self.frames.len()))
    }
}
