//! Reading the files of a kept folder: regular files of a limited size, and one error for everything that is damaged.

use anyhow::Result;
use files::Folder;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// Largest file of JSON that is read, in bytes: 20,000 cells take two thirds of it.
const LARGEST: u64 = 96 << 20;

/// Error of a kept folder in which something is not as it was written.
#[derive(Debug)]
pub struct Damaged {
    pub path: PathBuf,
    pub seen: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} is damaged: {}", self.path.display(), self.seen)
    }
}

impl Error for Damaged {}

impl Damaged {
    pub(super) fn altered(path: PathBuf) -> Damaged {
        Damaged { path, seen: "it is not as it was written".to_owned() }
    }
}

/// Bytes of a file of a kept folder.
/// Errors: [`Damaged`] if it is missing, larger than any run needs, or no regular file.
pub(super) fn bytes(folder: &Folder, name: &str) -> Result<Vec<u8>> {
    folder.read(name, LARGEST).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => error.into(),
        _ => {
            let seen = error.source().map_or_else(String::new, |cause| cause.to_string());
            Damaged { path: folder.path().join(name), seen }.into()
        }
    })
}

/// Bytes of a file of a kept folder; none if it is missing.
pub(super) fn bytes_if_there(folder: &Folder, name: &str) -> Result<Vec<u8>> {
    if folder.entry(name).is_err_and(|error| error.is_missing()) { Ok(Vec::new()) } else { bytes(folder, name) }
}

/// A JSON file of a limited size, by the folder's path; `None` if it cannot be read. For lists, which name no damage.
pub fn peek<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&bytes(&Folder::open(folder).ok()?, name).ok()?).ok()
}
