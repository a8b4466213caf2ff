//! Files that the user asks for: written whole or not at all, and none is replaced unless that is asked for.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// A sentence where a file would be replaced that may not be.
pub(super) fn may_write(path: &Path, force: bool) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => bail!("{} is a folder", path.display()),
        Ok(found) if found.is_file() && !force => bail!("{} exists; --force replaces it", path.display()),
        _ => Ok(()),
    }
}

/// Writes a file by `fill`. Its name appears when it is whole, so that whoever reads it meanwhile finds the old or the new.
pub(super) fn write(path: &Path, force: bool, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    may_write(path, force)?;
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let cannot = || format!("cannot write {}", path.display());
    if fs::metadata(&real).is_ok_and(|found| !found.is_file()) {
        // A pipe or a device takes what it is given, and cannot be renamed to.
        let mut out = BufWriter::new(File::options().write(true).open(&real).with_context(cannot)?);
        return fill(&mut out).and_then(|()| Ok(out.flush()?)).with_context(cannot);
    }
    let part = beside(&real);
    let made = File::options().write(true).create_new(true).open(&part).with_context(cannot).and_then(|file| {
        let mut out = BufWriter::new(file);
        fill(&mut out).and_then(|()| Ok(out.flush()?)).with_context(cannot)
    });
    let named = made.and_then(|()| name(&part, &real, force).with_context(cannot));
    if named.is_err() {
        let _ = fs::remove_file(&part);
    }
    named
}

/// A hidden name in the same folder that nobody else takes.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn name(part: &Path, path: &Path, force: bool) -> Result<()> {
    if force {
        return Ok(fs::rename(part, path)?);
    }
    // Somebody else may have made the file meanwhile.
    match renameat_with(CWD, part, CWD, path, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => Ok(fs::rename(part, path)?),
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &'static str) -> impl FnOnce(&mut dyn Write) -> Result<()> {
        move |out| Ok(out.write_all(text.as_bytes())?)
    }

    #[test]
    fn a_file_is_replaced_only_where_that_is_asked_for() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        write(&path, false, fill("one")).unwrap();
        let error = write(&path, false, fill("two")).unwrap_err().to_string();
        assert!(error.ends_with("file exists; --force replaces it"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, true, fill("two")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert!(write(place.path(), true, fill("")).unwrap_err().to_string().ends_with("is a folder"));
    }

    #[test]
    fn what_fails_leaves_nothing_and_the_old_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        write(&path, false, fill("one")).unwrap();
        let fails = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            bail!("no more")
        };
        assert!(write(&path, true, fails).is_err() && write(&place.path().join("new"), false, fails).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
