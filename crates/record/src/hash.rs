//! SHA-256.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// SHA-256 of the parts, in hex.
pub fn sha256_hex(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hex(&hash.finalize())
}

/// SHA-256 of all that a reader gives, in hex; no more than a piece of it is in memory.
pub(crate) fn sha256_of(mut reader: impl Read) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let bytes = reader.read(&mut piece)?;
        if bytes == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&piece[..bytes]);
    }
}

/// HMAC-SHA-256 of a text, in hex: only who has the key can make it.
pub(crate) fn keyed_sha256_hex(key: &[u8], text: &[u8]) -> String {
    let mut hash = Hmac::<Sha256>::new_from_slice(key).expect("a key may have any length");
    hash.update(text);
    hex(&hash.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1 and 2.
    #[test]
    fn a_keyed_digest_is_that_of_the_standard() {
        assert_eq!(
            keyed_sha256_hex(&[0x0b; 20], b"Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            keyed_sha256_hex(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
