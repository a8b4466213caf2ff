//! Identity of a new run: its start, its seed where none was given, its name.

use crate::machine;
use std::path::Path;

/// The moment at which a run starts.
pub struct Start(jiff::Timestamp);

impl Start {
    pub fn now() -> Start {
        Start(jiff::Timestamp::now())
    }

    pub fn created(&self) -> String {
        self.0.to_string()
    }

    /// A seed from the clock and this process, for who gave none.
    pub fn seed(&self) -> u64 {
        (self.0.as_nanosecond() as u64) ^ (u64::from(std::process::id()) << 32)
    }

    fn second(&self) -> String {
        self.0.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// A name that no other run has, whatever its seed: many nodes may start in the same second and share one home.
    pub fn run_id(&self) -> String {
        let identity = machine::identity(Path::new("/"));
        let identity_text = format!(
            "{identity:?} {} {}",
            std::process::id(),
            self.0.as_nanosecond()
        );
        let digits = record::folder::sha256_hex(&[identity_text.as_bytes()]);
        format!("{}-{}", self.second(), &digits[..8])
    }

    /// The name of a try or a profile of somebody's program.
    pub fn name_of(&self, kind: &str, seed: u64) -> String {
        format!(
            "{}-{kind}-{:04x}",
            self.second(),
            (seed ^ u64::from(std::process::id())) & 0xFFFF
        )
    }
}
