//! The programs and libraries that some methods and checks need, found without starting anything.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The oldest release of Java whose memory segments are final (JEP 454).
pub const SEGMENTS_SINCE_JAVA: u64 = 22;

/// What is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tools {
    /// Programs by name with the file that PATH leads to: PATH in /proc/self/environ.
    pub programs: BTreeMap<String, String>,
    /// The release of Go: the file VERSION two levels above the `go` that PATH leads to, behind all links.
    pub go_version: Option<String>,
    /// Every Java there is: JAVA_HOME and PATH in /proc/self/environ, /usr/lib/jvm.
    pub javas: Vec<Java>,
    /// Allocators by name with their library: the usual folders of libraries.
    pub allocators: BTreeMap<String, String>,
}

/// One installed Java.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Java {
    /// Its folder, behind all links.
    pub home: String,
    /// Its version: `JAVA_VERSION` in the file `release`.
    pub version: Option<String>,
    /// Who built it: `IMPLEMENTOR` in the file `release`.
    pub vendor: Option<String>,
    /// Whether it has a compiler, which makes it a JDK: bin/javac.
    pub has_compiler: bool,
}

impl Java {
    /// The feature release: 17 of `17.0.15`, and 8 of `1.8.0_392`, as it was written then.
    pub fn feature(&self) -> Option<u64> {
        let mut numbers = self.version.as_deref()?.split(['.', '_', '-', '+']);
        match numbers.next()?.parse().ok()? {
            1 => numbers.next()?.parse().ok(),
            feature => Some(feature),
        }
    }
}

impl Tools {
    /// Whether a program can be started.
    pub fn has(&self, program: &str) -> bool {
        self.programs.contains_key(program)
    }

    /// The Java with a compiler whose feature release is the highest.
    pub fn newest_jdk(&self) -> Option<&Java> {
        self.javas.iter().filter(|java| java.has_compiler).max_by_key(|java| java.feature())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_java_versions_are_read() {
        let feature = |version: &str| Java { version: Some(version.to_owned()), ..Java::default() }.feature();
        assert_eq!(feature("1.8.0_392"), Some(8));
        assert_eq!(feature("17.0.15"), Some(17));
        assert_eq!(feature("25"), Some(25));
        assert_eq!(feature("23-ea"), Some(23));
        assert_eq!(feature("unknown"), None);
    }
}
