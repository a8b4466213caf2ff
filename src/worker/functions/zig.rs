//! A user's Zig file: a shared library of it, whose exported functions are measured.

use super::compiler::{compiled, variable};
use super::{LIBRARY, programs, users};
use crate::worker::with_this_process;
use anyhow::{Context, Result, ensure};
use files::Folder;
use std::path::{Path, PathBuf};

/// Ends of the names of functions that belong to a measured one.
const COMPANIONS: [&str; 3] = ["_setup", "_result", "_teardown"];
/// Folder of what the compiler keeps, which goes with the build.
const CACHE: &str = "zig-cache";

/// Compiles a Zig file to a library: its path, and the functions to measure, `FUNCTION,FUNCTION`.
/// Errors: there is no Zig, the file exports no function or does not compile, or another user can put files beside it.
pub(super) fn library(text: &str, path: &Path, folder: &Folder) -> Result<(PathBuf, String)> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let functions = functions(text);
    ensure!(!functions.is_empty(), "{}", users::to_write(&file, text));
    let path = std::path::absolute(path)?;
    files::trusted_folder(path.parent().unwrap_or(&path))?;
    let zig = programs::find("zig").context("bench needs Zig: https://ziglang.org/download")?;
    let library = folder.path().join(format!("{file}{LIBRARY}"));
    let mut command = with_this_process(&zig, &[])?;
    programs::settle(&mut command);
    command.current_dir(folder.path());
    for cache in ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"] {
        command.env(cache, folder.path().join(CACHE));
    }
    // Its name would be one without the file's end, by which the loader finds nothing.
    command.args(["build-lib", "-dynamic", "-lc", "-fno-soname"]);
    command.args(variable("ZIGFLAGS", "-O ReleaseFast"));
    command.arg(format!("-femit-bin={}", library.display()));
    command.arg(&path);
    compiled(&mut command, &path, folder, "zig build-lib")?;
    Ok((library, functions.join(",")))
}

/// Exported functions in the order of their lines, but for the companions of others.
fn functions(text: &str) -> Vec<&str> {
    let names: Vec<&str> = text.lines().filter_map(exported).collect();
    let is_companion = |name: &str| {
        COMPANIONS
            .iter()
            .filter_map(|end| name.strip_suffix(end))
            .any(|function| names.contains(&function))
    };
    names
        .iter()
        .copied()
        .filter(|name| !is_companion(name))
        .collect()
}

/// Name of the function that a line exports.
fn exported(line: &str) -> Option<&str> {
    let mut parts = line.split_whitespace();
    let is_exported = parts.next() == Some("export") && parts.next() == Some("fn");
    parts.next().filter(|_| is_exported)?.split('(').next()
}

#[cfg(test)]
mod tests {
    #[test]
    fn exported_functions_are_measured_and_their_companions_are_not() {
        let text = "fn helper() void {}\nexport fn grow(_: ?*anyopaque) void {}\nexport fn grow_result(_: ?*anyopaque) u64 {}\n\
                    // export fn old(x) void\nexport fn last_result(_: ?*anyopaque) void {}\n";
        assert_eq!(super::functions(text), ["grow", "last_result"]);
    }
}
