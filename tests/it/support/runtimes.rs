//! The Go and Java workers, built from the sources that are carried by the toolchains found here.

use crate::support::skips::skip;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pagewise::worker::carried;

/// A worker that can be started.
pub struct Runtime {
    pub name: String,
    pub program: PathBuf,
}

/// Every runtime that this machine has a toolchain for, built once for all tests; what it lacks is said, and not tested.
pub fn all() -> &'static [Runtime] {
    static ALL: OnceLock<Vec<Runtime>> = OnceLock::new();
    ALL.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtimes");
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).unwrap();
        let mut found: Vec<Runtime> = go(&place).into_iter().collect();
        found.extend(
            compilers()
                .into_iter()
                .map(|(feature, home)| java(&place, feature, &home)),
        );
        if !found.iter().any(|r| r.name == "go") {
            skip("there is no Go toolchain here: its readers are left out");
        }
        if !found.iter().any(|r| r.name.starts_with("java")) {
            skip("there is no JDK of version 17 or later here: its readers are left out");
        }
        found
    })
}

fn go(place: &Path) -> Option<Runtime> {
    Command::new("go").arg("version").output().ok()?;
    let program = place.join("worker-go");
    let mut go = Command::new("go");
    go.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("workers/go"))
        .args(["build", "-trimpath", "-o"]);
    go.arg(&program)
        .arg(".")
        .env("GOTOOLCHAIN", "local")
        .env("GOPROXY", "off")
        .env("GOFLAGS", "-mod=mod");
    assert!(go.status().unwrap().success());
    Some(Runtime {
        name: "go".to_owned(),
        program,
    })
}

/// The JDKs that can be found without being named, one of each version that the worker takes.
fn compilers() -> BTreeMap<u32, PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let feature = |home: &PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).ok()?;
        let version = release
            .lines()
            .find_map(|l| l.strip_prefix("JAVA_VERSION="))?
            .trim_matches('"')
            .to_owned();
        version
            .split(['.', '-', '+'])
            .next()?
            .parse::<u32>()
            .ok()
            .filter(|feature| *feature >= 17)
    };
    let usable = installed
        .chain(named)
        .filter(|home| home.join("bin/javac").is_file());
    usable
        .filter_map(|home| Some((feature(&home)?, home)))
        .collect()
}

fn java(place: &Path, feature: u32, home: &Path) -> Runtime {
    let name = format!("java-{feature}");
    let (folder, classes) = (place.join(&name), place.join(&name).join("classes"));
    let mut javac = Command::new(home.join("bin/javac"));
    javac
        .args(["-nowarn", "-encoding", "UTF-8", "-d"])
        .arg(&classes);
    for (path, text) in carried::SOURCES {
        let Some(below) = path
            .strip_prefix("workers/java/src")
            .filter(|p| p.ends_with(".java"))
        else {
            continue;
        };
        let least = below
            .split('/')
            .next()
            .and_then(|n| n.parse::<u32>().ok())
            .unwrap_or(0);
        if least <= feature {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            javac.arg(path);
        }
    }
    let output = javac.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::write(
        classes.join("methods.tsv"),
        carried::source("workers/java/methods.tsv").unwrap(),
    )
    .unwrap();
    let program = folder.join("worker");
    let allow = if feature >= 24 {
        "--sun-misc-unsafe-memory-access=allow"
    } else {
        ""
    };
    let start = format!(
        "#!/bin/sh\nexec {}/bin/java {allow} -Xmx256m -cp {} pagewise.Worker \"$@\"\n",
        home.display(),
        classes.display()
    );
    std::fs::write(folder.join("start"), start).unwrap();
    // Another program writes what is started, so that no test that starts a process just then holds it open for writing.
    let install = ["-m", "755"];
    assert!(
        Command::new("install")
            .args(install)
            .arg(folder.join("start"))
            .arg(&program)
            .status()
            .unwrap()
            .success()
    );
    Runtime { name, program }
}
