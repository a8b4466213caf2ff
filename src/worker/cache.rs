//! The folders from which programs are executed. Nobody but this user and root can change them, and the digest of every
//! file in them is checked before one is executed.

use anyhow::{Context, Result, ensure};
use files::{EntryKind, File, Folder, Temporary};
use record::folder::sha256_hex;
use std::path::{Path, PathBuf};
use std::{ffi::OsString, sync::Arc};

/// File with the digests of all others of its folder.
const DIGESTS: &str = "sha256sums";
/// Folder of a finished build.
const BUILT: &str = "built";
/// Start of the name of a folder in which a build is made.
const MAKING: &str = "built-";
/// Start of the name of a temporary folder with a build, where there is no private cache.
const TEMPORARY: &str = "pagewise-worker-";
const WORKERS: &str = "workers";
/// Written by Python, which checks that they fit their sources.
const COMPILED: &str = "__pycache__";
/// Limit of one file of a build, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Caches of this user: `$XDG_CACHE_HOME/pagewise` or `~/.cache/pagewise`.
pub fn cache_folder() -> PathBuf {
    let configured = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    configured
        .unwrap_or_else(|| super::home().join(".cache"))
        .join("pagewise")
}

/// A folder of the cache that no other user can change.
/// Errors: the cache cannot be written, or another user could change it.
pub fn private_cache(below: &str) -> Result<Folder> {
    Ok(Folder::private(&cache_folder().join(below))?)
}

/// A finished build, verified.
#[derive(Clone, Debug)]
pub(super) struct Build {
    pub path: PathBuf,
    /// SHA-256 of the list of its files' digests.
    pub hash: String,
    /// Present where there is no private cache: the build ends with this process.
    pub temporary: Option<Arc<Temporary>>,
}

/// The verified build of this key; `make` fills a new folder where there is none or it is damaged.
pub(super) fn built(key: &str, make: impl FnOnce(&Folder) -> Result<()>) -> Result<Build> {
    let (place, temporary) = match private_cache(&place_of(key)) {
        Ok(place) => (place, None),
        Err(_) => {
            let temporary = files::temporary(&files::temporary_place()?, TEMPORARY)?;
            (Folder::open(temporary.path())?, Some(Arc::new(temporary)))
        }
    };
    let reuse = || {
        Some((
            place.path().join(BUILT),
            verified(&place.folder(BUILT).ok()?)?,
        ))
    };
    let (path, hash) = match reuse() {
        Some(reuse) => reuse,
        None => {
            let new = files::temporary(place.path(), MAKING)?;
            let folder = new.folder();
            make(folder)?;
            folder.write(DIGESTS, digests(folder, "")?.as_bytes())?;
            // Another process may have been faster.
            if reuse().is_none() {
                files::if_there(place.remove(BUILT))?;
                place.rename(new.path().file_name().unwrap_or_default(), BUILT)?;
            }
            reuse().context("a worker that was just built is damaged")?
        }
    };
    Ok(Build {
        path,
        hash,
        temporary,
    })
}

/// Removes what builds left whose process was killed. A cache that another user can change is not used, which is said.
pub fn sweep() {
    let left = |name: &OsString| name.as_encoded_bytes().starts_with(MAKING.as_bytes());
    let cache = cache_folder();
    match Folder::trusted(&cache) {
        Ok(folder) => {
            let Ok(workers) = folder.folder(WORKERS) else {
                return sweep_temporary();
            };
            for place in workers.names().unwrap_or_default() {
                // Mostly nothing is left in any.
                if let Ok(place) = workers.folder(place)
                    && place.names().unwrap_or_default().iter().any(left)
                {
                    files::sweep(&place, MAKING);
                }
            }
        }
        Err(error) if error.changeable().is_some() => {
            remark!(
                "pagewise: the cache is not used: {:#}",
                anyhow::Error::from(error)
            );
        }
        Err(_) => {}
    }
    sweep_temporary();
}

fn sweep_temporary() {
    let place = files::temporary_place().and_then(|place| files::safe_folder(&place));
    if let Ok(place) = place.and_then(|place| Folder::open(&place)) {
        files::sweep(&place, TEMPORARY);
    }
}

impl Build {
    /// The one file of a build, open: the one whose digest the build has.
    pub fn program(&self, name: &str) -> Result<File> {
        let (file, bytes) = Folder::open(&self.path)?.read_open(name, MOST_BYTES)?;
        let list = digest_line(&bytes, name);
        ensure!(
            self.hash == sha256_hex(&[list.as_bytes()]),
            "{} was changed just now",
            self.path.join(name).display()
        );
        Ok(file)
    }
}

pub(super) fn is_built(key: &str) -> bool {
    Folder::trusted(&cache_folder().join(place_of(key)).join(BUILT)).is_ok()
}

fn place_of(key: &str) -> String {
    format!("{WORKERS}/{}", &key[..16])
}

/// Writes a carried file below a folder.
pub(super) fn put(folder: &Folder, path: &str, bytes: &[u8]) -> Result<()> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = if above.is_empty() {
        None
    } else {
        Some(folder.make_folder(above)?)
    };
    Ok(above.as_ref().unwrap_or(folder).write(name, bytes)?)
}

/// Digest of a build whose files are as they were written.
fn verified(folder: &Folder) -> Option<String> {
    let list = folder.read(DIGESTS, MOST_BYTES).ok()?;
    (digests(folder, "").ok()?.as_bytes() == list).then(|| sha256_hex(&[&list]))
}

/// A line `DIGEST  PATH` for every file, as sha256sum(1) prints it.
fn digests(folder: &Folder, above: &str) -> Result<String> {
    let mut lines = String::new();
    for entry in folder.entries()? {
        let name = entry
            .name
            .to_str()
            .context("a build has a file without a name in UTF-8")?;
        let path = Path::new(above).join(name).display().to_string();
        match entry.kind {
            EntryKind::Folder if name == COMPILED => {}
            EntryKind::Folder => lines += &digests(&folder.folder(name)?, &path)?,
            _ if path == DIGESTS => {}
            _ => lines += &digest_line(&folder.read(name, MOST_BYTES)?, &path),
        }
    }
    Ok(lines)
}

fn digest_line(bytes: &[u8], path: &str) -> String {
    format!("{}  {path}\n", sha256_hex(&[bytes]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_added_or_missing_file_is_noticed() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        put(&folder, "a/b", b"text").unwrap();
        folder
            .write(DIGESTS, digests(&folder, "").unwrap().as_bytes())
            .unwrap();
        assert!(verified(&folder).is_some());
        put(&folder, "a/b", b"test").unwrap();
        assert!(verified(&folder).is_none());
        put(&folder, "a/b", b"text").unwrap();
        put(&folder, "c", b"").unwrap();
        assert!(verified(&folder).is_none());
        folder.remove("c").unwrap();
        assert!(verified(&folder).is_some());
        folder.remove("a").unwrap();
        assert!(verified(&folder).is_none());
    }
}
