//! Obstacles on a machine: cause, and the command that removes it.

use serde::{Deserialize, Serialize};

use record::machine::environment::Environment;

mod memory;
mod processor;
mod rights;
mod software;

/// Something that cannot be measured here, or not well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Obstacle {
    /// Affected measurement.
    pub what: String,
    /// Why not, with the fact that shows it.
    pub why: String,
    /// The one command that would change it; `None` if no command can.
    pub remedy: Option<String>,
}

impl Obstacle {
    fn new(what: impl Into<String>, why: impl Into<String>) -> Obstacle {
        Obstacle { what: what.into(), why: why.into(), remedy: None }
    }

    fn remedy(self, command: impl Into<String>) -> Obstacle {
        Obstacle { remedy: Some(command.into()), ..self }
    }
}

/// Looks for one obstacle.
type Test = fn(&Environment) -> Option<Obstacle>;

/// All obstacles that are known, in the order in which they are shown: first what hides whole methods, then what blurs
/// figures. A fact that is absent is no obstacle, unless its absence is what hides a method.
const TESTS: [Test; 34] = [
    processor::counters,
    memory::transparent_huge_pages,
    memory::shared_huge_pages,
    memory::pool,
    memory::swap,
    memory::overcommit,
    memory::dev_shm,
    memory::system_v_size,
    rights::kernel_age,
    rights::io_uring,
    rights::seccomp,
    rights::yama,
    rights::drop_caches,
    rights::bounded_memory,
    rights::pipe_width,
    rights::queue_message,
    rights::count_kernel,
    software::go,
    software::jdk,
    software::python,
    software::memory_segments,
    software::jemalloc,
    software::mimalloc,
    software::tcmalloc,
    software::strace,
    processor::one_cpu,
    processor::affinity,
    processor::quota,
    processor::clock,
    processor::governor,
    memory::damon,
    memory::merging,
    memory::numa_balancing,
    memory::free_page_reporting,
];

/// Obstacles on a machine.
pub fn obstacles(environment: &Environment) -> Vec<Obstacle> {
    let mut obstacles: Vec<Obstacle> = TESTS.iter().filter_map(|test| test(environment)).collect();
    // Root needs no sudo, and small systems where root works have none.
    if environment.rights.is_root() {
        for command in obstacles.iter_mut().filter_map(|obstacle| obstacle.remedy.as_mut()) {
            *command = command.replace("sudo ", "");
        }
    }
    obstacles
}
