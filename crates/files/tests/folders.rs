//! Folders, inputs and outputs against links, pipes, devices and files that are too large.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use files::{Access, EntryKind, Folder, Output, Ownership};

fn place() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    (place, folder)
}

fn pipe(path: &Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_file_is_written_whole_read_and_removed() {
    let (place, folder) = place();
    folder.write("f", b"one").unwrap();
    folder.write("f", b"two").unwrap();
    assert_eq!(folder.read("f", 3).unwrap(), b"two");
    assert_eq!(
        folder.read("f", 2).unwrap_err().kind(),
        ErrorKind::FileTooLarge
    );
    folder.make_folder("d").unwrap().write("g", b"").unwrap();
    folder
        .make_folder("d/e/f")
        .unwrap()
        .write("g", b"")
        .unwrap();
    assert!(folder.file("d/g").is_ok() && folder.file("d").is_err());
    assert_eq!(folder.names().unwrap(), ["d", "f"]);
    folder.remove("d").unwrap();
    folder.rename("f", "h").unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    assert!(folder.read("f", 9).unwrap_err().is_missing());
    assert!(files::if_there(folder.read("f", 9)).unwrap().is_none());
    assert!(folder.create("h").is_err());
}

#[test]
fn no_link_is_followed_and_none_of_its_targets_is_touched() {
    let (place, folder) = place();
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("theirs"), "theirs").unwrap();
    symlink(target.path(), place.path().join("link")).unwrap();
    symlink(target.path().join("theirs"), place.path().join("file")).unwrap();
    assert!(folder.read("link/theirs", 99).is_err() && folder.read("file", 99).is_err());
    assert!(
        folder.edit("file").is_err()
            && folder.folder("link").is_err()
            && folder.make_folder("link").is_err()
    );
    assert!(
        folder.read("../x", 9).is_err()
            && folder.write("../x", b"").is_err()
            && folder.remove("..").is_err()
    );
    assert_eq!(folder.entry("link").unwrap().kind, EntryKind::Other);
    folder.write("file", b"mine").unwrap();
    folder.remove("link").unwrap();
    assert_eq!(
        fs::read_to_string(target.path().join("theirs")).unwrap(),
        "theirs"
    );
    assert_eq!(folder.read("file", 9).unwrap(), b"mine");
}

#[test]
fn only_regular_files_are_read_and_none_is_waited_for() {
    let (place, folder) = place();
    pipe(&place.path().join("pipe"));
    let error = folder.read("pipe", 9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(files::read_input(&place.path().join("pipe"), 9).is_err());
    assert!(files::read_input(Path::new("/dev/zero"), 9).is_err());
    assert!(files::read_input(place.path(), 9).is_err());
    fs::write(place.path().join("f"), "text").unwrap();
    symlink(place.path().join("f"), place.path().join("link")).unwrap();
    assert_eq!(
        files::read_input_text(&place.path().join("link"), 4).unwrap(),
        "text"
    );
}

#[test]
fn a_fresh_folder_is_new_or_empty_and_what_fails_leaves_nothing() {
    let (place, folder) = place();
    let (made, parents) = Folder::fresh(&place.path().join("a/b")).unwrap();
    assert_eq!(parents, [place.path().join("a/b"), place.path().join("a")]);
    assert_eq!(made.ownership().unwrap(), Ownership::Own);
    folder.write("f", b"").unwrap();
    assert_eq!(
        Folder::fresh(place.path()).unwrap_err().kind(),
        ErrorKind::DirectoryNotEmpty
    );
    assert!(Folder::fresh(&place.path().join("f/c")).is_err());
    assert!(
        Folder::can_be_fresh(&place.path().join("f/c")).is_err()
            && Folder::can_be_fresh(place.path()).is_err()
    );
    assert!(
        Folder::can_be_fresh(&place.path().join("c/d")).is_ok()
            && Folder::can_be_fresh(Path::new("c")).is_ok()
    );
    assert_eq!(folder.names().unwrap(), ["a", "f"]);
}

#[test]
fn files_that_others_may_write_are_not_trusted() {
    let (place, folder) = place();
    folder.write_program("p", b"#!/bin/sh\n").unwrap();
    assert!(
        Access::of_descriptor(folder.file("p").unwrap())
            .unwrap()
            .is_trusted()
    );
    fs::set_permissions(place.path().join("p"), fs::Permissions::from_mode(0o702)).unwrap();
    assert!(
        !Access::of_descriptor(folder.file("p").unwrap())
            .unwrap()
            .is_trusted()
    );
}

#[test]
fn a_private_folder_is_private_all_the_way_up() {
    let (place, _) = place();
    let below = place.path().join("open/cache/x");
    assert!(
        Folder::private(&below)
            .unwrap()
            .access()
            .unwrap()
            .is_trusted()
    );
    assert_eq!(
        fs::metadata(&below).unwrap().permissions().mode() & 0o777,
        0o700
    );
    fs::set_permissions(place.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Folder::private(&below).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    fs::set_permissions(
        place.path().join("open"),
        fs::Permissions::from_mode(0o1777),
    )
    .unwrap();
    assert!(Folder::private(&below).is_ok());
}

#[test]
fn a_program_is_trusted_through_links_and_nothing_else_is() {
    let (place, folder) = place();
    let at = |name: &str| place.path().join(name);
    let open = |name: &str, mode: u32| {
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir(at("bin")).unwrap();
    fs::create_dir(at("shared")).unwrap();
    folder.write_program("bin/p", b"").unwrap_err();
    fs::write(at("bin/p"), "#!/bin/sh\n").unwrap();
    open("bin/p", 0o755);
    symlink("../bin/./p", at("shared/link")).unwrap();
    symlink("loop", at("loop")).unwrap();
    let real = fs::canonicalize(at("bin/p")).unwrap();
    assert_eq!(files::trusted_file(&at("shared/link")).unwrap(), real);
    assert!(files::trusted_program(&at("shared/link")).is_ok());
    assert!(files::trusted_program(Path::new("bin/p")).is_err());
    assert!(
        files::trusted_program(&at("loop")).is_err() && files::trusted_program(&at("bin")).is_err()
    );
    // A link of this user in a folder like /tmp leads where it did; a program there can be exchanged by a neighbour's.
    open("shared", 0o1777);
    assert!(files::trusted_program(&at("shared/link")).is_ok());
    assert!(
        files::safe_folder(&at("shared")).is_ok() && files::trusted_folder(&at("shared")).is_err()
    );
    open("shared", 0o777);
    let error = files::trusted_program(&at("shared/link")).unwrap_err();
    assert!(error.changeable().unwrap().ends_with("shared"));
    for (name, mode) in [("bin/p", 0o757), ("bin", 0o757), ("bin", 0o1777)] {
        open("bin", 0o755);
        open("bin/p", 0o755);
        assert!(files::trusted_program(&at("bin/p")).is_ok());
        open(name, mode);
        let error = files::trusted_program(&at("bin/p")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert!(error.changeable().unwrap().ends_with(name));
    }
}

#[test]
fn a_sweep_takes_private_folders_of_this_user_and_follows_no_link() {
    let (place, folder) = place();
    for name in ["built-left", "built-open", "other", "victim"] {
        fs::create_dir_all(place.path().join(name).join("in")).unwrap();
        let mode = if name == "built-open" { 0o755 } else { 0o700 };
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("victim", place.path().join("built-link")).unwrap();
    files::sweep(&folder, "built-");
    let names = folder.names().unwrap();
    assert_eq!(names, ["built-link", "built-open", "other", "victim"]);
    assert!(place.path().join("victim/in").exists());
}

#[test]
fn temporary_folders_are_private_and_go_away() {
    let made = files::temporary(&files::temporary_place().unwrap(), "pagewise-test-").unwrap();
    let path = made.path().to_owned();
    made.folder().write("f", b"x").unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o700
    );
    drop(made);
    assert!(!path.exists());
}

#[test]
fn a_program_in_memory_runs_and_cannot_be_changed() {
    use std::os::fd::AsRawFd;
    let Ok(bytes) = fs::read("/bin/true") else {
        return;
    };
    let file = files::memory_file("true", &bytes).unwrap();
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    assert!(
        std::process::Command::new(&path)
            .status()
            .unwrap()
            .success()
    );
    assert!(fs::write(&path, "x").is_err());
}

fn filled(path: &Path, force: bool, text: &'static [u8]) -> Result<(), files::Error> {
    Output::at(path, force)?.write(|out| {
        out.write_all(text).unwrap();
        Ok(())
    })
}

#[test]
fn an_output_is_replaced_only_where_the_user_says_so() {
    let (place, _) = place();
    let path = place.path().join("file");
    filled(&path, false, b"one").unwrap();
    assert!(filled(&path, false, b"two").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    filled(&path, true, b"two").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert!(
        Output::at(place.path(), true).is_err()
            && Output::at(&place.path().join("none/f"), true).is_err()
    );
    assert!(
        Output::at(Path::new("/dev/null/f"), true).is_err()
            && Output::at(&path.join("f"), true).is_err()
    );
    assert!(
        Output::at(Path::new("/dev/null"), false).is_ok()
            && Output::at(Path::new("f"), false).is_ok()
    );
}

#[test]
fn an_output_that_fails_leaves_the_old_file_and_nothing_else() {
    let (place, folder) = place();
    let path = place.path().join("file");
    filled(&path, false, b"one").unwrap();
    let output = Output::at(&path, true).unwrap();
    let failed = output.write(|out| {
        out.write_all(b"half").unwrap();
        Err(folder.read("none", 1).unwrap_err())
    });
    assert!(failed.is_err());
    assert_eq!(
        (
            fs::read_to_string(&path).unwrap().as_str(),
            folder.names().unwrap().len()
        ),
        ("one", 1)
    );
}

/// Looks into a folder while a file of it is written.
struct Looking<'a> {
    folder: &'a Folder,
    seen: Vec<OsString>,
    left: usize,
}

impl std::io::Read for Looking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.seen.extend(self.folder.names().unwrap());
        let bytes = self.left.min(buffer.len());
        buffer[..bytes].fill(b'x');
        self.left -= bytes;
        Ok(bytes)
    }
}

#[test]
fn a_private_file_has_no_name_until_it_is_whole() {
    let (place, folder) = place();
    for name in ["new", "new", "other"] {
        let mut looking = Looking {
            folder: &folder,
            seen: Vec::new(),
            left: 1 << 20,
        };
        folder.write_stream(name, &mut looking).unwrap();
        looking.seen.retain(|name| name != "new");
        assert_eq!(looking.seen, Vec::<OsString>::new());
        assert_eq!(folder.read(name, 2 << 20).unwrap(), vec![b'x'; 1 << 20]);
        let about = fs::metadata(place.path().join(name)).unwrap();
        assert_eq!(about.permissions().mode() & 0o7777, 0o600);
    }
    assert_eq!(folder.names().unwrap(), ["new", "other"]);
}

/// A file that is not there yet, below a link of the user's own, as a linked home or `/var/run` has it.
#[test]
fn a_new_file_is_written_below_a_link_of_ones_own() {
    let (place, _) = place();
    fs::create_dir(place.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", place.path().join("link")).unwrap();
    for path in ["link/new", "real/../link/other"] {
        filled(&place.path().join(path), false, b"whole").unwrap();
    }
    for name in ["new", "other"] {
        let text = fs::read_to_string(place.path().join("real").join(name)).unwrap();
        assert_eq!(text, "whole");
    }
}
