//! SHA-256.

use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// SHA-256 of the parts, in hex.
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hex(hash)
}

/// SHA-256 of all that a reader gives, in hex; no more than a piece of it is in memory.
pub(crate) fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let bytes = reader.read(&mut piece)?;
        if bytes == 0 {
            return Ok(hex(hash));
        }
        hash.update(&piece[..bytes]);
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
