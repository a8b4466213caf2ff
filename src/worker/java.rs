//! The Java worker. Every JDK that is found is a worker of its own, named by its version: the virtual machine is part of what
//! is measured. Its sources are carried and compiled by that JDK at first use; folders `srcN` only by a JDK of version N or
//! newer. A Java without a compiler runs the classes that packaging carried.

use super::cache::{built, is_built, put};
use super::{Installation, Maker, Started, Worker, carried, installations, programs};
use anyhow::{Context, Result, bail};
use files::Folder;
use record::{folder::sha256_hex, outcome::Cause};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const RELEASE_BYTES: u64 = 1 << 16;
/// The oldest JDK that has what the methods use.
const LEAST: u32 = 17;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Jdk {
    /// The folder that holds `bin/java`.
    home: PathBuf,
    /// `17`, `25`.
    feature: u32,
    /// `25.0.3`.
    version: String,
}

/// A class file's needs are checked by the JDK that wrote it, so classes are never shared between versions.
fn sources(feature: u32) -> impl Iterator<Item = (&'static str, &'static str)> {
    carried::SOURCES.iter().filter_map(move |(path, text)| {
        let below = path.strip_prefix("workers/java/")?;
        let least = below.strip_prefix("src")?.split('/').next()?;
        let fits = least.is_empty() || least.parse::<u32>().is_ok_and(|n| n <= feature);
        (fits && below.ends_with(".java")).then_some((below, *text))
    })
}

/// Classes that packaging compiled for releases up to this one.
fn classes(feature: u32) -> impl Iterator<Item = (&'static str, &'static carried::PackedFile)> {
    carried::prebuilt("java/").filter_map(move |(path, packed)| {
        let (least, name) = path.split_once('/')?;
        (least.parse::<u32>().ok()? <= feature).then_some((name, packed))
    })
}

impl Installation for Jdk {
    const OPTION: &'static str = "--java";

    fn version(&self) -> Vec<u32> {
        vec![self.feature]
    }

    fn place(&self) -> &Path {
        &self.home
    }
}

impl Jdk {
    /// The cause where a method needs a newer one: `java-22`.
    pub(super) fn lacks(&self, needs: &str) -> Option<Cause> {
        let needed = needs.strip_prefix("java-")?.parse().ok()?;
        let have = self.feature;
        (have < needed).then_some(Cause::OldJdk { needed, have })
    }

    /// A program of it.
    pub(super) fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    pub(super) fn program(&self) -> PathBuf {
        self.tool("java")
    }

    /// Compiles the sources of a folder, further carried ones and the harness into a folder of classes. `run` runs the compiler.
    pub(super) fn compile_with<'a>(
        &self,
        source: &Folder,
        classes: &Folder,
        further: impl Iterator<Item = (&'a str, &'a str)>,
        flags: &[String],
        run: impl FnOnce(&mut std::process::Command) -> Result<()>,
    ) -> Result<()> {
        let mut command = self.javac(source, classes)?;
        command.args(flags);
        for name in source.names()? {
            command.arg(source.path().join(name));
        }
        // Classes in folders of their own are methods.
        let harness = sources(0).filter_map(|(path, text)| {
            let below = path.strip_prefix("src/")?;
            (below.matches('/').count() == 1).then_some((below, text))
        });
        for (path, text) in harness.chain(further) {
            put(source, path, text.as_bytes())?;
            command.arg(source.path().join(path));
        }
        run(&mut command)
    }

    /// The compiler, from a folder of sources into one of classes. It takes nothing from anywhere else.
    pub(super) fn javac(&self, source: &Folder, classes: &Folder) -> Result<std::process::Command> {
        let compiler = self.compiler().with_context(|| {
            let (home, feature) = (self.home.display(), self.feature);
            format!("{home} has no javac; install the JDK of version {feature} (the package openjdk-{feature}-jdk)")
        })?;
        let mut javac = super::with_this_process(&compiler, &[])?;
        programs::settle(&mut javac);
        // Without a class path javac takes classes and annotation processors of the folder that it runs in. A killed virtual
        // machine leaves its file of performance data in /tmp.
        javac
            .args(["-J-XX:-UsePerfData", "-nowarn", "-proc:none"])
            .args(["-encoding", "UTF-8", "-cp"])
            .arg(source.path())
            .arg("-d")
            .arg(classes.path());
        Ok(javac)
    }

    fn compiler(&self) -> Option<PathBuf> {
        Some(self.home.join("bin/javac")).filter(|compiler| compiler.is_file())
    }

    /// True if it runs classes that this binary carries.
    fn takes_carried(&self) -> bool {
        self.compiler().is_none() && classes(self.feature).next().is_some()
    }
}

/// One worker for each JDK: those that were named, then `JAVA_HOME`'s, then the one in `PATH`. Where there is none, one
/// worker that says so.
pub(super) fn workers(named: &[PathBuf]) -> Result<Vec<Worker>> {
    let Some(list) = carried::source("workers/java/methods.tsv") else {
        return Ok(Vec::new());
    };
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let home = home.filter(|home| files::trusted_program(&home.join("bin/java")).is_ok());
    let usual = home.into_iter().chain(programs::candidates("java").take(1));
    let jdks = installations(named, usual, jdk)?;
    if jdks.is_empty() {
        return Ok(vec![Worker::carried("java", list, Maker::Java(None))]);
    }
    let workers = jdks.into_iter().map(|jdk| {
        let name = format!("java-{}", jdk.feature);
        Worker::carried(&name, list, Maker::Java(Some(jdk)))
    });
    Ok(workers.collect())
}

/// A JDK by its folder, or by its `bin/java`.
fn jdk(path: &Path) -> Result<Jdk> {
    let real = path
        .canonicalize()
        .with_context(|| format!("there is no Java at {}", path.display()))?;
    let home = if real.is_dir() {
        real
    } else {
        real.parent()
            .and_then(Path::parent)
            .unwrap_or(&real)
            .to_owned()
    };
    let program = home.join("bin/java");
    if !program.is_file() {
        bail!("{} holds no bin/java", home.display());
    }
    let release = files::read_input_text(&home.join("release"), RELEASE_BYTES).unwrap_or_default();
    let version = release
        .lines()
        .find_map(|l| l.strip_prefix("JAVA_VERSION="))
        .map(|v| v.trim_matches('"').to_owned());
    let version = version.map_or_else(|| java_version(&program), Ok)?;
    // Before Java 9 the version of Java 8 was 1.8.
    let mut parts = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|p| p.parse::<u32>().ok());
    let feature = match (parts.next(), parts.next()) {
        (Some(1), Some(second)) => second,
        (Some(first), _) => first,
        _ => bail!("{} says it is version {version:?}", program.display()),
    };
    Ok(Jdk {
        home,
        feature,
        version,
    })
}

/// The version by Java's own word, for an installation without a `release` file.
fn java_version(program: &Path) -> Result<String> {
    let output = programs::ask(program, &["-version"])?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    let version = messages.split('"').nth(1).map(str::to_owned);
    version.with_context(|| format!("{} -version gives no version", program.display()))
}

fn key(jdk: &Jdk, list: &str) -> String {
    let text: Vec<u8> = if jdk.takes_carried() {
        classes(jdk.feature)
            .flat_map(|(path, packed)| [path, packed.sha256].concat().into_bytes())
            .collect()
    } else {
        sources(jdk.feature)
            .flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()].concat())
            .collect()
    };
    let home = jdk.home.to_string_lossy();
    sha256_hex(&[
        &text,
        list.as_bytes(),
        jdk.version.as_bytes(),
        home.as_bytes(),
    ])
}

/// Sentence on its state: carried, built, not built, or that there is no Java.
pub(super) fn standing(jdk: Option<&Jdk>) -> String {
    let Some(jdk) = jdk else {
        return "no Java in JAVA_HOME or PATH".to_owned();
    };
    let list = carried::source("workers/java/methods.tsv").unwrap_or_default();
    let state = match (jdk.takes_carried(), is_built(&key(jdk, list))) {
        (true, _) => super::CARRIED,
        (false, true) => "built",
        (false, false) => super::NOT_BUILT,
    };
    format!(
        "{state}, with Java {} in {}",
        jdk.version,
        jdk.home.display()
    )
}

/// A sentence that it is being built, where it is not yet.
pub(super) fn building(jdk: &Jdk) -> Option<String> {
    let list = carried::source("workers/java/methods.tsv").unwrap_or_default();
    let is_ready = jdk.feature < LEAST || jdk.takes_carried() || is_built(&key(jdk, list));
    (!is_ready).then(|| super::building("Java", &format!("JDK {}", jdk.version)))
}

pub(super) fn build(jdk: Option<&Jdk>) -> Result<Started> {
    let Some(jdk) = jdk else {
        bail!(
            "no Java in JAVA_HOME or PATH; install a JDK (the package default-jdk, or https://adoptium.net) or name one by --java"
        );
    };
    if jdk.feature < LEAST {
        bail!(
            "the Java worker needs JDK {LEAST} or newer, and this is {}",
            jdk.version
        );
    }
    let list = carried::source("workers/java/methods.tsv").unwrap_or_default();
    let build = built(&key(jdk, list), |folder| {
        if jdk.takes_carried() {
            classes(jdk.feature)
                .try_for_each(|(path, packed)| put(folder, path, &packed.content()))?;
        } else {
            compile(jdk, folder)?;
        }
        Ok(folder.write("methods.tsv", list.as_bytes())?)
    })?;
    let mut command: Vec<OsString> = vec![jdk.home.join("bin/java").into()];
    if jdk.feature >= 24 {
        // The one call that unmaps a MappedByteBuffer is deprecated there and would be warned of on standard error.
        command.push("--sun-misc-unsafe-memory-access=allow".into());
    }
    command.extend([
        "-cp".into(),
        build.path.clone().into(),
        "pagewise.Worker".into(),
    ]);
    // The same classes in another virtual machine are another worker.
    let hash = sha256_hex(&[
        build.hash.as_bytes(),
        jdk.version.as_bytes(),
        jdk.home.to_string_lossy().as_bytes(),
    ]);
    Ok(Started {
        hash,
        heap_options: true,
        ..Started::built(command, build)
    })
}

fn compile(jdk: &Jdk, folder: &Folder) -> Result<()> {
    const SOURCE: &str = "source";
    let source = folder.make_folder(SOURCE)?;
    let mut javac = jdk.javac(&source, folder)?;
    for (path, text) in sources(jdk.feature) {
        put(&source, path, text.as_bytes())?;
        javac.arg(source.path().join(path));
    }
    let output = programs::compiled(&mut javac, folder)?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!(
            "javac failed: {}",
            messages.lines().take(3).collect::<Vec<_>>().join("; ")
        );
    }
    Ok(folder.remove(SOURCE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installation(version: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        std::fs::write(home.path().join("bin/java"), "").unwrap();
        std::fs::write(
            home.path().join("release"),
            format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n"),
        )
        .unwrap();
        home
    }

    #[test]
    fn a_jdk_is_known_by_its_release_file() {
        for (version, feature) in [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("26-ea", 26)] {
            let home = installation(version);
            assert_eq!(jdk(home.path()).unwrap().feature, feature);
            assert_eq!(
                jdk(&home.path().join("bin/java")).unwrap().home,
                home.path().canonicalize().unwrap()
            );
        }
        assert!(jdk(Path::new("/nonexistent")).is_err());
        assert!(jdk(installation("soon").path()).is_err());
    }

    #[test]
    fn newer_sources_are_for_newer_jdks_only() {
        let newer = |feature| {
            sources(feature)
                .filter(|(path, _)| !path.starts_with("src/"))
                .count()
        };
        assert_eq!(newer(17), 0);
        assert!(newer(25) > 0 && sources(17).count() > 5);
    }

    #[test]
    fn what_a_jdk_lacks_is_told() {
        let jdk_of = |version| jdk(installation(version).path()).unwrap();
        assert_eq!(
            jdk_of("17.0.15").lacks("java-22"),
            Some(Cause::OldJdk {
                needed: 22,
                have: 17
            })
        );
        assert_eq!(jdk_of("25").lacks("java-22"), None);
        assert_eq!(jdk_of("17.0.15").lacks("huge-pages"), None);
    }
}
