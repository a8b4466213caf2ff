//! Other users of the CPUs: processes and the kernel's own threads for memory, by their CPU time between two looks.

use serde::{Deserialize, Serialize};

/// One process that was busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    pub name: String,
    pub pid: u32,
    /// CPUs it used on average: 1 is one whole CPU.
    pub cpus: f64,
}
