//! The native programs that are carried, unpacked where a test wants them.

use std::path::{Path, PathBuf};
use std::process::Command;

use pagewise::worker::carried;

/// Writes a program. Another program writes the copy: a file that this process had open for writing could still be open in a
/// child that another test starts just then, and could not be executed.
fn install(bytes: &[u8], path: &Path) {
    let carried = path.with_extension("carried");
    std::fs::write(&carried, bytes).unwrap();
    assert!(
        Command::new("install")
            .args(["-m", "755"])
            .args([&carried, path])
            .status()
            .unwrap()
            .success()
    );
    std::fs::remove_file(carried).unwrap();
}

/// A native worker by its name, with the helper beside it.
pub fn worker(name: &str, place: &Path) -> PathBuf {
    let (_, packed) = carried::NATIVE_WORKERS
        .iter()
        .find(|(n, _)| *n == name)
        .unwrap();
    let path = place.join(format!("worker-{name}"));
    install(&packed.content(), &path);
    if !helper(place).exists() {
        install(&carried::HELPER.content(), &helper(place));
    }
    path
}

/// The helper beside the workers that were unpacked there.
pub fn helper(place: &Path) -> PathBuf {
    place.join("pagewise-helper")
}
