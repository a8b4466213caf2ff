//! Facts that must be the same for advice to hold on a machine.

use record::{advice::Fingerprint, machine::environment::Environment};

/// The fingerprint of a machine whose C library is of this version.
pub fn fingerprint(environment: &Environment, glibc: Option<String>) -> Fingerprint {
    let known = |word: Option<String>| word.unwrap_or_else(|| "unknown".to_owned());
    Fingerprint {
        cpu: known(environment.cpu.model.clone()),
        microcode: known(environment.cpu.microcode.clone()),
        kernel: known(environment.kernel.release.clone()),
        thp: known(environment.huge_pages.thp_enabled.clone()),
        glibc: known(glibc),
        page_bytes: environment.memory.page_bytes.unwrap_or(4096),
    }
}
