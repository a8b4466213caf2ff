//! Obstacles in what is installed.

use record::machine::environment::Environment;

use super::Obstacle;
use record::machine::tools::SEGMENTS_SINCE_JAVA;

/// The command that installs a package, whose name differs between the two families of distributions.
fn install(e: &Environment, debian: &str, fedora: &str) -> String {
    if e.tools.has("dnf") && !e.tools.has("apt-get") {
        format!("sudo dnf install {fedora}")
    } else {
        format!("sudo apt-get install {debian}")
    }
}

pub(super) fn go(e: &Environment) -> Option<Obstacle> {
    (!e.tools.has("go")).then(|| {
        let obstacle = Obstacle::new("the worker go: fault/touch@go, fault/thp@go, share@go", "there is no go in PATH");
        obstacle.remedy(install(e, "golang-go", "golang"))
    })
}

pub(super) fn jdk(e: &Environment) -> Option<Obstacle> {
    if e.tools.newest_jdk().is_some() {
        return None;
    }
    let why = match e.tools.javas.first() {
        Some(java) => format!("{} has no compiler (bin/javac), and there is no other Java", java.home),
        None => "there is no JDK in JAVA_HOME, PATH or /usr/lib/jvm".to_owned(),
    };
    let obstacle = Obstacle::new("the worker java: share@java, message with a side in Java", why);
    Some(obstacle.remedy(install(e, "default-jdk-headless", "java-latest-openjdk-devel")))
}

pub(super) fn python(e: &Environment) -> Option<Obstacle> {
    (!e.tools.has("python3")).then(|| {
        let what = "the worker python: share, message, transfer, read and fault as Python programs do them";
        Obstacle::new(what, "there is no python3 in PATH").remedy(install(e, "python3", "python3"))
    })
}

pub(super) fn memory_segments(e: &Environment) -> Option<Obstacle> {
    let newest = e.tools.newest_jdk()?;
    let feature = newest.feature().unwrap_or(0);
    (feature < SEGMENTS_SINCE_JAVA).then(|| {
        let version = newest.version.as_deref().unwrap_or("of an unknown version");
        let why = format!("the newest JDK is {version}; memory segments are final since {SEGMENTS_SINCE_JAVA}");
        let remedy = install(e, "openjdk-25-jdk-headless", "java-latest-openjdk-devel");
        Obstacle::new("Java's memory segments: share/memory-segment@java", why).remedy(remedy)
    })
}

pub(super) fn jemalloc(e: &Environment) -> Option<Obstacle> {
    allocator(e, "jemalloc", "libjemalloc2", "jemalloc")
}

pub(super) fn mimalloc(e: &Environment) -> Option<Obstacle> {
    allocator(e, "mimalloc", "libmimalloc2.0", "mimalloc")
}

pub(super) fn tcmalloc(e: &Environment) -> Option<Obstacle> {
    allocator(e, "tcmalloc", "libtcmalloc-minimal4", "gperftools-libs")
}

fn allocator(e: &Environment, name: &str, debian: &str, fedora: &str) -> Option<Obstacle> {
    (!e.tools.allocators.contains_key(name)).then(|| {
        let why = "its library is in none of the usual folders";
        Obstacle::new(format!("the allocator {name}: allocate/{name}"), why).remedy(install(e, debian, fedora))
    })
}

pub(super) fn strace(e: &Environment) -> Option<Obstacle> {
    (!e.tools.has("strace")).then(|| {
        let what = "the system calls of each method against those it declares: pagewise check";
        Obstacle::new(what, "there is no strace in PATH").remedy(install(e, "strace", "strace"))
    })
}
