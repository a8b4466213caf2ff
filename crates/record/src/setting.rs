//! A setting that can be tried on somebody's program: how it is made, and how it is proved to have taken effect. One file each.

use crate::concern::SLOWS;
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_with::apply;
use std::collections::BTreeMap;

/// One setting, as its file in `settings/` says.
#[apply(_ => #[serde(skip_serializing_if = "crate::is_default")])]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Name by which it is selected.
    #[serde_with(skip_apply)]
    pub name: String,
    /// Title, as lists and headings have it.
    #[serde_with(skip_apply)]
    pub title: String,
    /// Effects besides the intended one, in one sentence.
    pub side_effects: String,
    /// True if it is meant to save memory, and may cost time.
    pub saves_memory: bool,
    /// Environment variables that apply it, by name.
    pub env: BTreeMap<String, String>,
    /// Addition to `GLIBC_TUNABLES`.
    pub tunables: String,
    /// Addition to `JAVA_TOOL_OPTIONS`.
    pub java_options: String,
    /// Libraries of which the first that is found is preloaded: names or absolute paths.
    pub preload: Vec<String>,
    /// True if Pagewise's own library is preloaded, which advises large mappings to be of huge pages.
    pub advise_mappings: bool,
    /// The Debian package that brings the library.
    pub package: String,
    /// Words that are put behind the program's name.
    pub arguments: Vec<String>,
    /// Processors to keep to: a list such as `0,2-3`, or `last`.
    pub cpus: Option<String>,
    /// True if transparent huge pages are forbidden to the program, by prctl.
    pub no_thp: bool,
    /// Advice that the program's memory is given once a second, by process_madvise.
    pub advice: Option<MemoryAdvice>,
    /// True if equal pages of the program are merged, by prctl and the kernel's thread for it.
    pub merge: bool,
    /// Bound on its memory, by a cgroup: bytes, or `high:` and bytes.
    pub bound: String,
    /// Pages of a huge page that may be absent where the kernel's thread makes one, while the program runs.
    pub max_ptes_none: Option<u64>,
    /// Words that are put behind all others.
    pub last_arguments: Vec<String>,
    /// True if it needs the kernel to give transparent huge pages to those who ask.
    pub needs_thp: bool,
    /// True if it takes transparent huge pages away from memory that asks for them.
    pub avoids_thp: bool,
    /// Programs and libraries whose own setting it is, by the beginnings of their files' names.
    pub modules: Vec<String>,
    /// Any one of these proves that it took effect. A preloaded library must be mapped besides.
    pub proof: Vec<Proof>,
}

/// Advice on memory that another process gives (process_madvise(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MemoryAdvice {
    /// The kernel takes these pages first where memory is short.
    Cold,
    /// The kernel takes these pages now.
    Pageout,
}

/// Proof that a setting took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// A process had more memory in huge pages than without the setting.
    Huge,
    /// Page faults changed: the whole interval of their ratio lies on one side of 1.
    Faults,
    /// Page faults became fewer: a library that is preloaded alone brings some more.
    FewerFaults,
    /// The kernel says that transparent huge pages are off for every process.
    ThpDisabled,
    /// The kernel says that the program keeps to these processors.
    Cpus,
    /// The variables stood in the environment of some process. Whether the program reads them is not known.
    Environment,
    /// A process had pages that were merged with equal ones.
    Merged,
    /// The kernel took the advice on some memory.
    Advised,
}

impl Setting {
    /// Reads a setting's file; errors name the path, the line and the column.
    pub fn parse(path: &str, text: &str) -> Result<Setting> {
        let setting: Setting = toml::from_str(text).map_err(|error| anyhow!("{path}: {error}"))?;
        setting
            .check()
            .map_err(|error| anyhow!("{path}: {error}"))?;
        if let Some(name) = setting.env.keys().find(|name| name.starts_with("LD_")) {
            bail!("{path}: {name} decides what a program loads; preload = [...] names libraries");
        }
        Ok(setting)
    }

    fn check(&self) -> Result<()> {
        if self.name.is_empty() || self.name.contains([',', ' ', ':', '/']) {
            bail!("a setting needs a name without commas, colons, slashes and spaces");
        }
        let is_usual = self.env.is_empty()
            && self.tunables.is_empty()
            && self.java_options.is_empty()
            && self.cpus.is_none();
        if is_usual
            && self.preload.is_empty()
            && self.arguments.is_empty()
            && self.last_arguments.is_empty()
            && !self.no_thp
            && !self.advise_mappings
            && self.advice.is_none()
            && !self.merge
        {
            bail!(
                "it changes nothing: it sets none of env, tunables, java_options, preload, advise_mappings, \
                 arguments, last_arguments, cpus, no_thp, advice and merge"
            );
        }
        if !self.bound.is_empty() {
            bail!("a bound is no part of a file; write --with memory-high:SIZE or memory-max:SIZE");
        }
        if self.max_ptes_none.is_some() {
            bail!("max_ptes_none is no part of a file; write --with max-ptes-none:N");
        }
        let has_words = !self.arguments.is_empty() || !self.last_arguments.is_empty();
        if self.proof.is_empty() && self.preload.is_empty() && !has_words {
            bail!(
                "it has no proof; say one of huge, faults, fewer-faults, thp-disabled, cpus, environment, \
                 merged, advised"
            );
        }
        if self.advise_mappings && !self.preload.is_empty() {
            bail!(
                "preload and advise_mappings each preload a library; a setting can prove only one"
            );
        }
        if let Some(library) = self
            .preload
            .iter()
            .find(|l| l.contains('/') && !l.starts_with('/'))
        {
            bail!(
                "preload {library:?} is a relative path, which breaks in programs that change their folder"
            );
        }
        if let Some((name, _)) = self
            .env
            .iter()
            .find(|(name, _)| name.is_empty() || name.contains(['=', '\0']))
        {
            bail!("{name:?} is no name of a variable");
        }
        Ok(())
    }

    /// `env:K=V`: one variable.
    pub fn variable(text: &str) -> Result<Setting> {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            bail!("env:{text} is not env:NAME=VALUE");
        };
        Ok(Setting {
            name: format!("env:{text}"),
            title: format!("the variable {name} is {value:?}"),
            env: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            proof: vec![Proof::Environment],
            ..Setting::default()
        })
    }

    /// `memory-high:SIZE` and `memory-max:SIZE`: a bound on its memory. `name` is the whole word.
    pub fn bounded(name: &str, bytes: u64, slows: bool) -> Setting {
        let (bound, limit) = if slows {
            (format!("{SLOWS}{bytes}"), "memory.high")
        } else {
            (bytes.to_string(), "memory.max")
        };
        Setting {
            name: name.to_owned(),
            title: format!("in a cgroup with {limit} of {bytes} bytes"),
            side_effects: "the kernel takes pages of the program, or ends it".to_owned(),
            bound,
            ..Setting::default()
        }
    }

    /// `max-ptes-none:N`: pages that may be absent where the kernel's thread makes a huge page. `name` is the whole word.
    pub fn collapsing(name: &str, pages: &str) -> Result<Setting> {
        let pages = pages
            .parse()
            .with_context(|| format!("max-ptes-none:{pages} needs a number of pages"))?;
        Ok(Setting {
            name: name.to_owned(),
            title: format!(
                "khugepaged makes huge pages where at most {pages} of their pages are absent (max_ptes_none)"
            ),
            side_effects:
                "holds for all programs meanwhile; in all arms khugepaged looks once a second"
                    .to_owned(),
            max_ptes_none: Some(pages),
            ..Setting::default()
        })
    }

    /// `args:WORDS`: words behind the program's name.
    pub fn arguments(text: &str) -> Result<Setting> {
        let arguments = split_words(text)?;
        if arguments.is_empty() {
            bail!("args: needs words, such as args:--mmap");
        }
        let title = format!("with the arguments {text} before all others");
        Ok(Setting {
            name: format!("args:{text}"),
            title,
            arguments,
            ..Setting::default()
        })
    }
}

/// Splits a line into words as a shell does, as far as quotes and backslashes go.
pub fn split_words(text: &str) -> Result<Vec<String>> {
    shlex::split(text).with_context(|| format!("{text:?} has a quote that is not closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(
            split_words(r#"a  'b c' "d\"e" f\ g ''"#).unwrap(),
            ["a", "b c", "d\"e", "f g", ""]
        );
        assert!(split_words("a 'b").is_err());
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_column() {
        let error = Setting::parse("my.toml", "name = \"x\"\nprelaod = [\"y\"]\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("my.toml") && error.contains("line 2") && error.contains("prelaod"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_proved_or_changes_nothing_is_refused() {
        let error = |text: &str| Setting::parse("f", text).unwrap_err().to_string();
        assert!(error("name = \"x\"").contains("changes nothing"));
        assert!(error("name = \"x\"\ntunables = \"a=1\"").contains("no proof"));
        assert!(error("name = \"x\"\npreload = [\"./a.so\"]").contains("relative"));
        assert!(error("name = \"a,b\"\nno_thp = true").contains("name"));
    }

    #[test]
    fn short_forms_are_settings() {
        assert_eq!(Setting::variable("A=b=c").unwrap().env["A"], "b=c");
        assert!(Setting::variable("A").is_err() && Setting::variable("=b").is_err());
        let collapsing = Setting::collapsing("max-ptes-none:64", "64").unwrap();
        assert_eq!(collapsing.max_ptes_none, Some(64));
        assert!(Setting::collapsing("max-ptes-none:few", "few").is_err());
        assert!(Setting::parse("f", "name = \"x\"\nmerge = true\nmax_ptes_none = 1").is_err());
        assert_eq!(
            Setting::arguments("--mmap -j 2").unwrap().arguments,
            ["--mmap", "-j", "2"]
        );
    }
}
