//! Files of a machine as facts are read from them: the laboratory gives them, or a tree that stands for another machine.

use std::str::FromStr;

/// Files of one machine by absolute path. An unreadable file is absent: kernels differ, and that is no error.
pub trait Files {
    /// The first `most` bytes of a file, for which every call names the same number.
    fn start(&self, path: &str, most: u64) -> Option<String>;
    /// Names in a folder, sorted; none if there is no such folder.
    fn names(&self, folder: &str) -> Vec<String>;
    /// The path behind all links; `None` where they lead nowhere, or out of a tree.
    fn behind_links(&self, path: &str) -> Option<String>;
    /// True if the path is a regular file.
    fn is_file(&self, path: &str) -> bool;
    /// True for a program that nobody but this user and root can change; in a tree, for any file.
    fn is_program(&self, path: &str) -> bool {
        self.is_file(path)
    }
    /// True if this process may write, by faccessat2(2).
    fn is_writable(&self, path: &str) -> bool;
    /// Value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The longest file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

impl dyn Files + '_ {
    /// A whole file without the space around it; an empty file counts as absent.
    pub fn text(&self, path: &str) -> Option<String> {
        Some(self.start(path, MOST_BYTES)?.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Content of a file that is one number; `None` where it cannot be read.
    pub fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// The word in brackets of `always [madvise] never`, or the first word of a file without brackets.
    pub fn chosen(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let bracketed = text
            .split_whitespace()
            .find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
        bracketed
            .or_else(|| text.split_whitespace().next())
            .map(str::to_owned)
    }

    /// A switch in any of the kernel's three spellings.
    pub fn switch(&self, path: &str) -> Option<bool> {
        match self.text(path)?.as_str() {
            "1" | "Y" | "on" => Some(true),
            "0" | "N" | "off" => Some(false),
            _ => None,
        }
    }

    /// Numbers that follow `prefix` in the names of a folder (`cpu7`, `node0`, `hugepages-2048kB`), in rising order.
    pub fn numbered(&self, folder: &str, prefix: &str, suffix: &str) -> Vec<u64> {
        let number = |name: &String| {
            name.strip_prefix(prefix)?
                .strip_suffix(suffix)?
                .parse()
                .ok()
        };
        let mut numbers: Vec<u64> = self.names(folder).iter().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The value of the first line `name   : value` of a file.
    pub fn field(&self, path: &str, name: &str) -> Option<String> {
        field(&self.text(path)?, name).map(str::to_owned)
    }

    /// The same of /proc/cpuinfo, of which 8 KiB hold one processor; the whole file is slow to compose.
    pub fn cpuinfo(&self, name: &str) -> Option<String> {
        field(&self.start("/proc/cpuinfo", 8192)?, name).map(str::to_owned)
    }

    /// A field that the file gives in kB, in bytes.
    pub fn bytes(&self, path: &str, name: &str) -> Option<u64> {
        field_bytes(&self.text(path)?, name)
    }

    /// Length of a file's list of ranges such as `0-3,8`.
    pub fn count(&self, path: &str) -> Option<u64> {
        list_length(&self.text(path)?)
    }
}

/// The value of the first line `name   : value` of a text.
pub fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end() == name).then(|| value.trim())
    })
}

/// A field that proc_meminfo(5) and its like give in kB, in bytes.
pub fn field_bytes(text: &str, name: &str) -> Option<u64> {
    let (number, unit) = field(text, name)?.split_once(' ')?;
    (unit == "kB").then_some(number.parse::<u64>().ok()? * 1024)
}

/// Counts the numbers of a list like `0-3,8` names.
pub fn list_length(list: &str) -> Option<u64> {
    list.trim().split(',').try_fold(0, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        Some(sum + last.checked_sub(first)? + 1)
    })
}

/// A table of facts: a row has meaning, name, type and source. It makes the struct and what reads it, so that a new fact is one
/// row; a fact that an older run lacks is absent when the run is read. A table of one among several has a key.
macro_rules! facts {
    ($m:ident: $($(#[$about:meta])* $name:ident $(($key:ident: $of:ty))? {
        $($(#[$meaning:meta])* $fact:ident: $type:ty = $source:expr;)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        #[allow(missing_docs, reason = "a row without a meaning has one in its name and source")]
        pub struct $name { $($(#[$meaning])* pub $fact: $type,)* }

        impl $name {
            /// Reads every fact from the files of a machine.
            pub fn read($m: &dyn super::files::Files $(, $key: $of)?) -> $name {
                $name { $($fact: $source,)* }
            }
        }
    )*};
}
pub(crate) use facts;
