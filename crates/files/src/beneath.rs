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
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
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
#[path = "../tests/unit/beneath.rs"]
mod tests;
