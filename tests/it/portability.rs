//! The native worker's sources against other compilers, C libraries and older kernel headers than this machine's own.

use crate::support::skips::thorough;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `build.rs` compiles with; the warnings that a phase's loop causes are those that it leaves out, too.
const FLAGS: [&str; 9] = [
    "-std=gnu11",
    "-pthread",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-D_GNU_SOURCE",
    "-DPAGEWISE_WORKER_NAME=\"c-O2\"",
    "-DPAGEWISE_COMPILER=\"a test\"",
];
/// The highest system call number of Linux 5.4 (clone3).
const LAST_CALL_OF_5_4: u32 = 435;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn c_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            c_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "c") {
            into.push(path);
        }
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
}

/// Compiles every C file without keeping anything; the words of the compiler where it refuses one.
fn compile(compiler: &str, options: &[&str]) -> Result<(), String> {
    let mut files = Vec::new();
    c_files(&root().join("workers/c"), &mut files);
    assert!(files.len() > 100, "{} files", files.len());
    let output = Command::new(compiler)
        .args(options)
        .args(FLAGS)
        .args(["-DPAGEWISE_FLAGS=\"-O2\"", "-fsyntax-only"])
        .args(
            ["harness", "", "bench"]
                .map(|folder| format!("-I{}", root().join("workers/c").join(folder).display())),
        )
        .args(files)
        .output()
        .unwrap();
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A header that brings in the system's own and takes back every name that came after Linux 5.4.
fn stripped(folder: &Path) -> PathBuf {
    let mut text = String::new();
    for header in [
        "fcntl.h",
        "linux/magic.h",
        "linux/perf_event.h",
        "sched.h",
        "sys/mman.h",
        "sys/prctl.h",
        "sys/stat.h",
    ] {
        writeln!(text, "#include <{header}>").unwrap();
    }
    text += "#include <sys/socket.h>\n#include <sys/syscall.h>\n#include <sys/uio.h>\n";
    let later =
        std::fs::read_to_string(root().join("tests/fixtures/headers-5.4/later.txt")).unwrap();
    later
        .lines()
        .for_each(|name| writeln!(text, "#undef {name}").unwrap());
    let source = folder.join("calls.c");
    std::fs::write(&source, "#include <sys/syscall.h>\n").unwrap();
    let macros = Command::new("cc")
        .args(["-dM", "-E"])
        .arg(&source)
        .output()
        .unwrap();
    let macros = String::from_utf8(macros.stdout).unwrap();
    let mut taken_back = 0;
    for words in macros
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>())
    {
        let ["#define", name, number] = words[..] else {
            continue;
        };
        if let Some(call) = name.strip_prefix("__NR_")
            && number.parse::<u32>().is_ok_and(|n| n > LAST_CALL_OF_5_4)
        {
            writeln!(text, "#undef __NR_{call}\n#undef SYS_{call}").unwrap();
            taken_back += 1;
        }
    }
    assert!(
        taken_back > 3,
        "these headers are about as old as Linux 5.4 themselves"
    );
    let header = folder.join("stripped.h");
    std::fs::write(&header, text).unwrap();
    header
}

#[test]
fn the_worker_builds_with_kernel_headers_of_linux_5_4() {
    if !thorough() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (header, own) = (
        stripped(folder.path()),
        root().join("tests/fixtures/headers-5.4"),
    );
    let (header, own) = (header.to_str().unwrap(), own.to_str().unwrap());
    compile("cc", &["-isystem", own, "-include", header]).unwrap();
    // The stripping bites: a name that came later is not there any more.
    let source = folder.path().join("later.c");
    std::fs::write(&source, "int a = MADV_COLLAPSE;\n").unwrap();
    let output = Command::new("cc")
        .args(["-fsyntax-only", "-include", header])
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("MADV_COLLAPSE"),
        "{output:?}"
    );
}

#[test]
fn the_worker_builds_with_clang_where_it_is_installed() {
    if is_there("clang") {
        compile("clang", &[]).unwrap();
    } else {
        eprintln!("clang is not installed; nothing to test");
    }
}

#[test]
fn the_worker_builds_with_musl_where_it_is_installed() {
    let there = Command::new("musl-gcc")
        .arg("-v")
        .output()
        .is_ok_and(|o| o.status.success());
    if !there {
        eprintln!("musl-gcc is not installed; nothing to test");
        return;
    }
    // musl brings no headers of the kernel's; the system's lie where the compiler looks for its C library's.
    let folder = tempfile::tempdir().unwrap();
    for (name, places) in [
        ("linux", vec!["/usr/include/linux".to_owned()]),
        ("asm-generic", vec!["/usr/include/asm-generic".to_owned()]),
        (
            "asm",
            vec![
                format!("/usr/include/{}-linux-gnu/asm", std::env::consts::ARCH),
                "/usr/include/asm".to_owned(),
            ],
        ),
    ] {
        let place = places.iter().find(|p| Path::new(p).exists()).unwrap();
        std::os::unix::fs::symlink(place, folder.path().join(name)).unwrap();
    }
    compile(
        "musl-gcc",
        &[
            "-Wno-maybe-uninitialized",
            "-idirafter",
            folder.path().to_str().unwrap(),
        ],
    )
    .unwrap();
}
