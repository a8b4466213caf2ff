//! Processes that a killed helper or a user's function leaves: they become children of the laboratory, which ends them.

use files::kernel;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, waitpid};
use std::collections::BTreeSet;

/// Adopts the orphans of one launch for as long as it lives.
pub struct Adopting {
    before: BTreeSet<i32>,
}

impl Adopting {
    /// Begins; children that are there already are none of the helper's.
    pub fn begin() -> Adopting {
        let _ = set_child_subreaper(Some(Pid::INIT));
        Adopting { before: children() }
    }
}

impl Drop for Adopting {
    /// Ends every orphan. The children of an orphan that ends are orphans themselves.
    fn drop(&mut self) {
        loop {
            let orphans: Vec<Pid> = children().difference(&self.before).filter_map(|&pid| Pid::from_raw(pid)).collect();
            if orphans.is_empty() {
                break;
            }
            for pid in orphans {
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::empty());
            }
        }
        let _ = set_child_subreaper(None);
    }
}

/// The children of all threads of this process (proc_tid_children(5)).
fn children() -> BTreeSet<i32> {
    let threads = kernel::names("/proc/self/task").into_iter();
    let lists = threads.filter_map(|thread| kernel::read(format!("/proc/self/task/{thread}/children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>()).collect()
}
