//! SHA-256.

use sha2::{Digest, Sha256};

/// SHA-256 of the parts, in hex.
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
