//! Compiles the work of all tools as C, with the same flags.

use std::process::Command;

fn main() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let run = |command: &mut Command| assert!(command.status().expect("a C compiler").success());
    run(Command::new("cc").args(["-O2", "-c", "work.c", "-o"]).arg(format!("{out}/work.o")));
    run(Command::new("ar").arg("crs").arg(format!("{out}/libwork.a")).arg(format!("{out}/work.o")));
    println!("cargo::rustc-link-search={out}\ncargo::rustc-link-lib=static=work");
    println!("cargo::rerun-if-changed=work.c\ncargo::rerun-if-changed=work.h");
}
