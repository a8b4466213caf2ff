//! Cells: one method of one worker with its parameters; and the words by which people select them.

use crate::method::{KeyKind, Method};
use crate::parameters::{self, Parameters};
use crate::sizes;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Languages whose runtimes compile and collect in threads of their own.
const RUNTIMES: [&str; 2] = ["go", "java"];

/// One method × worker × parameters. Sizes are plain byte counts here; they get their units back when printed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the method.
    pub method: String,
    /// The worker; `a+b` where two sides take part.
    pub worker: String,
    /// Values by key; sizes in bytes.
    pub parameters: Parameters,
}

impl Cell {
    /// `fault/touch@c-O3`.
    pub fn name(&self) -> String {
        format!("{}/{}@{}", self.experiment, self.method, self.worker)
    }

    /// Tells whether several processes or threads of the cell itself run at once. They switch each other out as a part
    /// of the work: a message wakes its reader in place of its writer, a runtime's compiler takes the CPU of its program.
    pub fn is_concurrent(&self) -> bool {
        let several = ["threads", "processes"]
            .iter()
            .any(|key| self.parameters.number(key).is_some_and(|n| n > 1));
        let loaded = self.parameters.word("load").is_some_and(|load| load != "0");
        let accompanied = self
            .parameters
            .word("neighbor")
            .is_some_and(|n| n != "none");
        let has_runtime = self.sides().any(|side| {
            let language = side.split('-').next();
            language.is_some_and(|language| RUNTIMES.contains(&language))
        });
        self.sides().count() > 1 || several || loaded || accompanied || has_runtime
    }

    /// The workers of its sides, in order.
    pub fn sides(&self) -> impl Iterator<Item = &str> {
        self.worker.split('+')
    }
}

/// Parameters as people read them: `bytes=64MiB release=dontneed`.
pub fn parameter_words(parameters: &BTreeMap<String, String>, method: Option<&Method>) -> String {
    let labels = parameters.iter().map(|(key, value)| {
        let is_size = method
            .and_then(|m| m.key(key))
            .map_or_else(|| is_size_key(key), |kind| *kind == KeyKind::Size);
        format!("{key}={}", display_value(value, is_size))
    });
    labels.collect::<Vec<_>>().join(" ")
}

/// Tells whether a parameter of this name is a size, where its method is not at hand.
pub fn is_size_key(key: &str) -> bool {
    key.ends_with("bytes") || key.ends_with("chunk")
}

/// A size with its unit, anything else as it is.
pub fn display_value(value: &str, is_size: bool) -> String {
    match parameters::number(value) {
        Some(bytes) if is_size => sizes::format_size(bytes),
        _ => value.to_owned(),
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}",
            self.name(),
            parameter_words(&self.parameters, None)
        )
    }
}

/// `EXPERIMENT[/METHOD[@WORKER]]` as the command line takes it; `*` stands for all methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Experiment, or `*`.
    pub experiment: String,
    /// Method; absent where all are selected.
    pub method: Option<String>,
    /// One worker, or the experiment's usual ones.
    pub worker: Option<String>,
}

impl Selector {
    /// Parses the words; whether they name anything is checked against the catalogue later.
    pub fn parse(text: &str) -> Result<Selector> {
        let (path, worker) = text
            .split_once('@')
            .map_or((text, None), |(p, w)| (p, Some(w)));
        let (experiment, method) = path
            .split_once('/')
            .map_or((path, None), |(e, m)| (e, Some(m)));
        if experiment.is_empty() || method == Some("") || worker == Some("") {
            bail!("{text:?} is not EXPERIMENT[/METHOD[@WORKER]]");
        }
        Ok(Selector {
            experiment: experiment.to_owned(),
            method: method.filter(|m| *m != "*").map(str::to_owned),
            worker: worker.map(str::to_owned),
        })
    }
}

/// Parses `key=value[,value]…`. A path may contain commas, so the values of keys that say one are not split.
pub fn parse_setting(text: &str, is_path: impl Fn(&str) -> bool) -> Result<(String, Vec<String>)> {
    match text.split_once('=') {
        Some((key, values)) if !key.is_empty() && !values.is_empty() => {
            let split = if is_path(key) {
                vec![values.to_owned()]
            } else {
                values.split(',').map(str::to_owned).collect()
            };
            if split.iter().any(String::is_empty) {
                bail!("--set {text}: a value is empty");
            }
            Ok((key.to_owned(), split))
        }
        _ => bail!("--set {text:?} is not key=value[,value]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_in_all_their_lengths() {
        let one = Selector::parse("fault/touch@c-O3").unwrap();
        assert_eq!(
            (one.method.as_deref(), one.worker.as_deref()),
            (Some("touch"), Some("c-O3"))
        );
        assert_eq!(Selector::parse("fault/*@go").unwrap().method, None);
        assert_eq!(
            Selector::parse("message/udp@c-O3+java-25")
                .unwrap()
                .worker
                .unwrap(),
            "c-O3+java-25"
        );
        for wrong in ["", "/touch", "fault/", "fault/touch@", "@c-O3"] {
            assert!(Selector::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_sides_threads_processes_and_a_load_keep_each_other_company() {
        let cell = |worker: &str, key: &str, value: &str| Cell {
            experiment: "fault".into(),
            method: "touch".into(),
            worker: worker.into(),
            parameters: [(key, value)].into(),
        };
        assert!(cell("c-O3+c-O3", "bytes", "64").is_concurrent());
        for (key, value) in [
            ("threads", "2"),
            ("processes", "2"),
            ("load", "25%"),
            ("neighbor", "other-process"),
        ] {
            assert!(cell("c-O3", key, value).is_concurrent(), "{key}");
        }
        for (key, value) in [
            ("threads", "1"),
            ("load", "0"),
            ("bytes", "4096"),
            ("neighbor", "none"),
        ] {
            assert!(!cell("c-O3", key, value).is_concurrent(), "{key}");
        }
        assert!(cell("java-17", "bytes", "64").is_concurrent());
        assert!(!cell("python-3.12", "bytes", "64").is_concurrent());
    }

    #[test]
    fn settings_are_split_at_commas_but_paths_are_not() {
        let parsed = |text: &str| parse_setting(text, |key| key == "file");
        assert_eq!(parsed("bytes=1MiB,2MiB").unwrap().1.len(), 2);
        assert_eq!(parsed("file=/tmp/a,b").unwrap().1, ["/tmp/a,b"]);
        assert!(parsed("bytes").is_err() && parsed("bytes=1,,2").is_err());
    }
}
