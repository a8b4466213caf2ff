//! Copies of a user's program or C file: what is measured and kept is what was read.

use super::{COPY, HEADER, LIBRARY, WORKER, text_of};
use crate::worker::MOST_BYTES;
use anyhow::{Result, ensure};
use files::{Access, EntryKind, Folder};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folder of the copy of a user's C file.
pub(super) const COPIES: &str = "copied";
/// Ends of the names of files that a C or C++ file includes.
const HEADERS: [&str; 10] = [
    "h", "inc", "def", "c", "hpp", "hh", "hxx", "ipp", "cpp", "cc",
];

/// The copy of a program that is run in its place, so that what is kept is what was measured.
pub(super) fn program(bytes: &[u8], what: &str, folder: &Folder) -> Result<PathBuf> {
    let is_program = bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"#!");
    ensure!(
        is_program && !what.contains(LIBRARY),
        "{what} is no C or C++ file, script of Python's or program; a library is given with its functions: libmine.so:FUNCTION,…"
    );
    folder.write_program(WORKER, bytes)?;
    Ok(folder.path().join(WORKER))
}

/// Copy of a C file in a folder with the carried header, so that `#include "pagewise.h"` always means that one. The file's own
/// headers are found by the file's folder. Where another user can put files into that, copies of those headers take its
/// place that nobody else could write.
pub(super) fn source(bytes: &[u8], path: &Path, folder: &Folder) -> Result<PathBuf> {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let copies = folder.make_folder(COPIES)?;
    let above = path.parent().unwrap_or(path);
    if files::trusted_folder(above).is_err() {
        copy_headers(path, &Folder::open(above)?, &copies)?;
    }
    copies.write(HEADER, text_of(HEADER).as_bytes())?;
    // The compiler's messages and the method's source name the file itself.
    let name = report::escape::c_literal(&path.to_string_lossy());
    let line = format!("#line 1 {name}\n").into_bytes();
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let end = path.extension().unwrap_or_default();
    let copy = Path::new(COPY).with_extension(end);
    copies.write(&copy, &[&line, text].concat())?;
    Ok(copies.path().join(copy))
}

/// Copies the headers of a shared folder that only this user, root or the owner of the user's file could write.
fn copy_headers(path: &Path, shared: &Folder, copies: &Folder) -> Result<()> {
    let owner = files::open_input(path)?.metadata()?.uid();
    for entry in shared.entries()? {
        let is_header = Path::new(&entry.name)
            .extension()
            .is_some_and(|extension| HEADERS.iter().any(|header| extension == *header));
        if entry.kind != EntryKind::File || !is_header {
            continue;
        }
        let (file, text) = shared.read_open(&entry.name, MOST_BYTES)?;
        let about = file.metadata()?;
        let is_owners = about.uid() == owner && about.mode() & 0o022 == 0;
        if is_owners || Access::of_descriptor(&file)?.is_trusted() {
            copies.write(&entry.name, &text)?;
        }
    }
    Ok(())
}
