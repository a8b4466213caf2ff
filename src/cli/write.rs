//! Files that the user asks for: written whole or not at all, and none is replaced unless that is asked for.

use anyhow::{Context, Result};
use files::Output;
use std::io::Write;
use std::path::Path;

/// An error if the file cannot be written; asked before time is spent on its content.
pub(super) fn may_write(path: &Path, force: bool) -> Result<()> {
    Output::at(path, force)?;
    Ok(())
}

/// Writes a file by `fill`; its name appears when it is whole.
pub(super) fn write(path: &Path, force: bool, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let filled = |out: &mut dyn Write| fill(out).with_context(|| format!("cannot write {}", path.display()));
    Output::at(path, force)?.write(filled)
}
