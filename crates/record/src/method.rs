//! A method as its worker describes it in one `method` line of `--list`.

use crate::expression::{Expression, Law};
use crate::sizes;
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Deref, sync::OnceLock};

/// The part a method plays in its experiment.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// One way to answer the question.
    Method,
    /// The least that this machine can take.
    Limit,
    /// Empty phases: the floor below which nothing is resolved.
    Null,
    /// The job as it was published, with its flaws.
    Published,
}

/// Number of cells and samples that may share one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Many cells take turns in one process.
    Shared,
    /// A process for each method.
    Own,
    /// A process for each sample.
    Fresh,
}

/// Values of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Number of bytes.
    Size,
    /// A whole number above zero.
    Count,
    /// A whole number of a user's own, which may be zero.
    Number,
    /// Free text, such as a path.
    Text,
    /// One of these words, of which `<size>` and `<time>` at an end stand for any: `random-<size>`.
    Choice(Vec<String>),
}

/// Methods of one worker, as it declares them.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// Name of the worker.
    pub worker: &'a str,
    /// Methods that it declares.
    pub methods: &'a [Method],
}

/// Line of a method in a list, borrowed from its line: to list two hundred takes none of their laws, keys and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// Name of the experiment.
    pub experiment: &'a str,
    /// Name of the method.
    pub name: &'a str,
    /// Part of the method in its group.
    pub role: Role,
    /// Methods are ranked only within one group; the ordinary one has no name.
    pub group: &'a str,
    /// Mechanism in one sentence.
    pub summary: &'a str,
}

impl<'a> Heading<'a> {
    /// Reads it from a `method` line.
    pub fn parse(line: &'a str) -> Result<Heading<'a>> {
        let (experiment, name, attributes) = attributes(line)?;
        let mut heading = Heading {
            experiment,
            name,
            role: Role::Method,
            group: "",
            summary: "",
        };
        for (key, value) in attributes {
            match key {
                "role" => {
                    heading.role =
                        parse_role(value).with_context(|| format!("method {experiment}/{name}"))?
                }
                "group" => heading.group = value,
                "summary" => heading.summary = value,
                _ => {}
            }
        }
        Ok(heading)
    }
}

/// The experiment, the name and the attributes of a `method` line.
fn attributes(line: &str) -> Result<(&str, &str, impl Iterator<Item = (&str, &str)>)> {
    let mut fields = line.split('\t');
    match (fields.next(), fields.next(), fields.next()) {
        (Some("method"), Some(experiment), Some(name)) => {
            Ok((experiment, name, fields.filter_map(|f| f.split_once('='))))
        }
        _ => bail!("not a method line: {line:?}"),
    }
}

fn parse_role(word: &str) -> Result<Role> {
    let role = if word.is_empty() {
        Ok(Role::Method)
    } else {
        serde_json::from_value(word.into())
    };
    role.map_err(|_| anyhow!("unknown role {word:?}"))
}

/// The laws of a method. A sound list's are parsed when first asked for: two hundred methods have two thousand.
#[derive(Clone, Debug, Default)]
pub struct Laws {
    text: String,
    read: OnceLock<Vec<Law>>,
}

impl From<Vec<Law>> for Laws {
    fn from(laws: Vec<Law>) -> Laws {
        Laws {
            text: String::new(),
            read: laws.into(),
        }
    }
}

impl Deref for Laws {
    type Target = [Law];

    fn deref(&self) -> &[Law] {
        self.read.get_or_init(|| {
            Law::parse_all(&self.text).expect("the carried lists are read whole by a test")
        })
    }
}

/// One method of one worker. It is stored as its line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Method {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the method.
    pub name: String,
    /// Part of the method in its group.
    pub role: Role,
    /// Methods are ranked only within one group; the ordinary one has no name.
    pub group: String,
    /// Mechanism in one sentence.
    pub summary: String,
    /// Path of its source below `workers/`.
    pub source: String,
    /// Names of its timed phases, in order.
    pub phases: Vec<String>,
    /// Parameters that it takes, with their types.
    pub keys: Vec<(String, KeyKind)>,
    /// Laws that each sample must satisfy.
    pub laws: Laws,
    /// System calls inside each phase; one that ends in `+` is made by a thread of the method's own.
    pub calls: BTreeMap<String, Vec<String>>,
    /// Bytes it needs at its peak, over its parameters and `rounds`.
    pub memory: Expression,
    /// Number of cells and samples that may share its process.
    pub isolation: Isolation,
    /// True if a second process takes part.
    pub two_sided: bool,
    /// A library for `LD_PRELOAD`, and the package that has it.
    pub preload: Option<(String, String)>,
    /// Value of `GLIBC_TUNABLES` for its process.
    pub tunables: Option<String>,
    /// Worker that it needs, e.g. `java-22`.
    pub needs: Option<String>,
    /// Bytes of heap that its worker is given, where its language has one.
    pub heap: Option<Expression>,
    /// The line itself, from which all this is read again.
    pub line: String,
}

fn parse_keys(text: &str) -> Result<Vec<(String, KeyKind)>> {
    let pairs = text.split_whitespace().map(|word| {
        let (name, kind) = word
            .split_once(':')
            .with_context(|| format!("key {word:?} has no kind"))?;
        let kind = match kind {
            "size" => KeyKind::Size,
            "count" => KeyKind::Count,
            "number" => KeyKind::Number,
            "text" => KeyKind::Text,
            words => KeyKind::Choice(words.split('|').map(str::to_owned).collect()),
        };
        Ok((name.to_owned(), kind))
    });
    pairs.collect()
}

fn parse_calls(text: &str) -> Result<BTreeMap<String, Vec<String>>> {
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for word in text.split_whitespace() {
        let (phase, call) = word
            .split_once(':')
            .with_context(|| format!("call {word:?} has no phase"))?;
        calls
            .entry(phase.to_owned())
            .or_default()
            .extend(call.split(',').map(str::to_owned));
    }
    Ok(calls)
}

impl Method {
    /// Reads one `method` line.
    pub fn parse(line: &str) -> Result<Method> {
        Method::parse_with(line, |text| Ok(Law::parse_all(text)?.into()))
    }

    /// Reads one `method` line of a list that was read whole before; its laws are read when they are asked for.
    pub fn parse_known(line: &str) -> Result<Method> {
        Method::parse_with(line, |text| {
            Ok(Laws {
                text: text.to_owned(),
                read: OnceLock::new(),
            })
        })
    }

    fn parse_with(line: &str, laws: impl Fn(&str) -> Result<Laws>) -> Result<Method> {
        let (experiment, name, attributes) = attributes(line)?;
        let attributes: BTreeMap<&str, &str> = attributes.collect();
        let given = |key: &str| attributes.get(key).copied().filter(|text| !text.is_empty());
        let get = |key: &str| given(key).unwrap_or_default();
        let owned = |key: &str| get(key).to_owned();
        let read = || -> Result<Method> {
            Ok(Method {
                experiment: experiment.to_owned(),
                name: name.to_owned(),
                role: parse_role(get("role"))?,
                group: owned("group"),
                summary: owned("summary"),
                source: owned("source"),
                phases: get("phases")
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect(),
                keys: parse_keys(get("keys"))?,
                laws: laws(get("laws"))?,
                calls: parse_calls(get("calls"))?,
                memory: Expression::parse(given("memory").unwrap_or("0"))?,
                isolation: match get("isolation") {
                    "" | "shared" => Isolation::Shared,
                    "own" => Isolation::Own,
                    "fresh" => Isolation::Fresh,
                    other => bail!("unknown isolation {other:?}"),
                },
                two_sided: get("sides") == "2",
                preload: given("preload").map(|library| (library.to_owned(), owned("package"))),
                tunables: given("tunables").map(str::to_owned),
                needs: given("needs").map(str::to_owned),
                heap: given("heap").map(Expression::parse).transpose()?,
                line: line.to_owned(),
            })
        };
        read().with_context(|| format!("method {experiment}/{name}"))
    }

    /// Tells whether threads of its own or the kernel's workers of its io_uring work for it, which take turns with it on a CPU.
    pub fn has_helpers(&self) -> bool {
        self.calls
            .values()
            .flatten()
            .any(|call| call == "io_uring_enter" || call.ends_with('+'))
    }

    /// Line of the method in a list.
    pub fn heading(&self) -> Heading<'_> {
        let Method {
            experiment,
            name,
            role,
            group,
            summary,
            ..
        } = self;
        Heading {
            experiment,
            name,
            role: *role,
            group,
            summary,
        }
    }

    /// Type of a parameter; `None` where the method does not take it.
    pub fn key(&self, name: &str) -> Option<&KeyKind> {
        self.keys
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, kind)| kind)
    }
}

impl TryFrom<String> for Method {
    type Error = String;

    fn try_from(line: String) -> Result<Method, String> {
        Method::parse(&line).map_err(|error| format!("{error:#}"))
    }
}

impl From<Method> for String {
    fn from(method: Method) -> String {
        method.line
    }
}

impl KeyKind {
    /// The values that it takes, where this is none of them: the method has no part in it.
    pub fn lacks(&self, value: &str) -> Option<&[String]> {
        match self {
            KeyKind::Choice(words) if !words.iter().any(|word| chosen(word, value).is_some()) => {
                Some(words)
            }
            _ => None,
        }
    }

    /// A value as the worker wants it: sizes as plain byte counts, `N` as the number of CPUs, choices as they are.
    pub fn normalise(&self, key: &str, text: &str, cpus: usize) -> Result<String> {
        match self {
            KeyKind::Size => sizes::parse_size(text)
                .map(|bytes| bytes.to_string())
                .with_context(|| format!("{key}={text}")),
            KeyKind::Count if text == "N" => Ok(cpus.to_string()),
            KeyKind::Count | KeyKind::Number => match text.parse::<u64>() {
                Ok(0) if *self == KeyKind::Count => bail!("{key}=0 leaves nothing to measure"),
                Ok(count) => Ok(count.to_string()),
                Err(_) => bail!("{key}={text} is not a whole number"),
            },
            KeyKind::Text if text.contains(['\n', '\t']) || text.is_empty() => {
                bail!("{key} is empty or has a line break")
            }
            KeyKind::Text => Ok(text.to_owned()),
            KeyKind::Choice(words) => {
                if let Some(value) = words.iter().find_map(|word| chosen(word, text)) {
                    return Ok(value);
                }
                let hint = sizes::did_you_mean(text, words.iter().map(String::as_str));
                bail!("{key}={text} is not one of {}{hint}", words.join(", "))
            }
        }
    }
}

/// Units of a pause, down to which a timer of the kernel goes.
const PAUSES: [&str; 3] = ["us", "ms", "s"];

/// A value as one word of a choice has it; none where it is another.
fn chosen(word: &str, text: &str) -> Option<String> {
    if let Some(lead) = word.strip_suffix("<size>") {
        let bytes = sizes::parse_size(text.strip_prefix(lead)?).ok()?;
        return Some(format!("{lead}{}", sizes::format_size(bytes)));
    }
    if let Some(lead) = word.strip_suffix("<time>") {
        let time = text.strip_prefix(lead)?;
        let (number, unit) = time.split_at(time.find(|c: char| !c.is_ascii_digit())?);
        let is_sound = PAUSES.contains(&unit) && number.parse::<u32>().is_ok_and(|n| n > 0);
        return is_sound.then(|| text.to_owned());
    }
    (word == text).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "method\tfault\ttouch\trole=method\tsummary=One.\tphases=map unmap\tkeys=bytes:size release:free|cold\
    \tlaws=map.minor_faults == 0\tcalls=map:mmap,madvise\tmemory=2 * bytes\tisolation=own\tpreload=libx.so\tpackage=x";

    #[test]
    fn a_method_line_is_read_whole() {
        let method = Method::parse(LINE).unwrap();
        assert_eq!(
            (method.role, method.isolation),
            (Role::Method, Isolation::Own)
        );
        assert_eq!(method.calls["map"], ["mmap", "madvise"]);
        assert_eq!(method.heading(), Heading::parse(LINE).unwrap());
        assert!(Heading::parse(&LINE.replace("role=method", "role=king")).is_err());
        assert_eq!(*method.laws, *Method::parse_known(LINE).unwrap().laws);
        assert!(
            Method::parse(&LINE.replace("faults ==", "faults")).is_err(),
            "a law that is none"
        );
        assert_eq!(method.preload, Some(("libx.so".into(), "x".into())));
        assert_eq!(
            method
                .key("release")
                .unwrap()
                .normalise("release", "free", 2)
                .unwrap(),
            "free"
        );
    }

    #[test]
    fn who_has_helpers_is_told_by_its_calls() {
        let calls = |calls: &str| {
            Method::parse(&LINE.replace("map:mmap,madvise", calls))
                .unwrap()
                .has_helpers()
        };
        assert!(calls("map:io_uring_enter") && calls("map:mmap,pread64+"));
        assert!(!calls("map:mmap,madvise"));
    }

    #[test]
    fn values_are_checked_by_kind() {
        let method = Method::parse(LINE).unwrap();
        let error = method
            .key("release")
            .unwrap()
            .normalise("release", "fre", 2)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "release=fre is not one of free, cold; did you mean \"free\"?"
        );
        assert_eq!(
            KeyKind::Size.normalise("bytes", "64KiB", 2).unwrap(),
            "65536"
        );
        assert_eq!(KeyKind::Count.normalise("threads", "N", 7).unwrap(), "7");
        assert!(KeyKind::Count.normalise("threads", "0", 7).is_err());
    }

    #[test]
    fn a_choice_may_have_a_word_for_any_size_or_time() {
        let words = ["no", "<time>", "random-<size>"].map(str::to_owned);
        let choice = KeyKind::Choice(words.to_vec());
        for (text, value) in [
            ("no", "no"),
            ("1500us", "1500us"),
            ("2s", "2s"),
            ("random-16384", "random-16KiB"),
            ("random-3MiB", "random-3MiB"),
        ] {
            assert_eq!(choice.normalise("key", text, 2).unwrap(), value);
            assert!(choice.lacks(text).is_none());
        }
        for text in [
            "<time>", "0ms", "5", "5min", "1.5ms", "ms", "random-", "random-x", "random",
        ] {
            let error = choice.normalise("key", text, 2).unwrap_err().to_string();
            assert!(
                choice.lacks(text).is_some()
                    && error.contains("is not one of no, <time>, random-<size>"),
                "{text}: {error}"
            );
        }
    }
}
