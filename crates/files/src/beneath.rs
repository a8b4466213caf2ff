//! Opening below a descriptor without following links.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

/// Opens a relative path below `folder`. No component may be a symbolic link or lead out of the folder.
pub(super) fn open(
    folder: BorrowedFd<'_>,
    name: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    // The kernel takes few flags beside O_PATH.
    let flags = if flags.contains(OFlags::PATH) {
        flags | OFlags::CLOEXEC
    } else {
        flags | OFlags::CLOEXEC | OFlags::NOCTTY
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(folder, name, flags, mode, resolve) {
        // Kernels before 5.6, sandboxes that do not know the call, and renames during the walk.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => by_component(folder, name, flags, mode),
        opened => Ok(opened?),
    }
}

/// The same with one openat(2) per component.
pub(super) fn by_component(
    folder: BorrowedFd<'_>,
    name: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let mut opened: Option<OwnedFd> = None;
    let mut components = name.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(part) = component else {
            return Err(Errno::XDEV.into());
        };
        let flags = if components.peek().is_some() {
            OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW
        } else {
            flags | OFlags::NOFOLLOW
        };
        let below = opened.as_ref().map_or(folder, AsFd::as_fd);
        opened = Some(openat(below, part, flags, mode)?);
    }
    opened.ok_or_else(|| Errno::INVAL.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_open_files_below_and_refuse_links_and_ways_out() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("a")).unwrap();
        std::fs::write(place.path().join("a/f"), "x").unwrap();
        std::os::unix::fs::symlink("a", place.path().join("link")).unwrap();
        std::os::unix::fs::symlink("a/f", place.path().join("file")).unwrap();
        let folder = std::fs::File::open(place.path()).unwrap();
        for way in [open, by_component] {
            let tried = |name: &str| {
                way(
                    folder.as_fd(),
                    Path::new(name),
                    OFlags::RDONLY,
                    Mode::empty(),
                )
            };
            assert!(tried("a/f").is_ok() && tried("a").is_ok());
            for name in [
                "link/f",
                "file",
                "../x",
                "a/../../x",
                "/etc/passwd",
                "none",
                "",
            ] {
                assert!(tried(name).is_err(), "{name}");
            }
        }
    }
}
