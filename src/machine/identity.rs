//! Which machine this is.

use record::folder::sha256_hex;
use record::machine::identity::Identity;

use super::files::Files;

/// Hex digits of the machine's hash.
const DIGITS: usize = 16;

pub(super) fn identity(files: Files) -> Identity {
    let hashed = |id: String| sha256_hex(&[b"pagewise machine-id ", id.as_bytes()])[..DIGITS].to_owned();
    Identity {
        machine: files.text("/etc/machine-id").map(hashed),
        boot: files.text("/proc/sys/kernel/random/boot_id"),
        vendor: files.text("/sys/class/dmi/id/sys_vendor"),
        product: files.text("/sys/class/dmi/id/product_name"),
        name: files.text("/proc/sys/kernel/hostname"),
        node: std::env::var("PAGEWISE_NODE").ok().filter(|name| !name.is_empty()),
    }
}
