//! Values of the parameters of a user's file.

use anyhow::{Context, Result, bail, ensure};
use record::{experiment::ParameterKind, sizes};
use std::path::Path;

/// Factor between the values of a range that names none.
const USUAL_FACTOR: u64 = 8;
/// Most values of a range.
const MOST_VALUES: usize = 32;

/// Units of a number that is no size (workers/c/bench/bench.c).
const UNITS: [&str; 11] = ["", "k", "K", "M", "G", "ns", "us", "µs", "ms", "s", "min"];

/// Kind of the values of a parameter, by the word that a worker's list has for it (workers/c/bench/bench.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Number,
    Size,
    /// A number of which `N` stands for all CPUs.
    Count,
    /// A number with a unit that is none of a size, such as `100us`.
    Unit,
    Path,
    Word,
    Text,
}

impl ValueKind {
    const ALL: [ValueKind; 7] = [
        ValueKind::Number,
        ValueKind::Size,
        ValueKind::Count,
        ValueKind::Unit,
        ValueKind::Path,
        ValueKind::Word,
        ValueKind::Text,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            ValueKind::Number => "number",
            ValueKind::Size => "size",
            ValueKind::Count => "count",
            ValueKind::Unit => "unit",
            ValueKind::Path => "path",
            ValueKind::Word => "word",
            ValueKind::Text => "text",
        }
    }

    /// Errors: no worker lists a kind by this word.
    pub(super) fn parse(word: &str) -> Result<ValueKind> {
        let mut kinds = ValueKind::ALL.into_iter();
        kinds
            .find(|kind| kind.word() == word)
            .with_context(|| format!("a parameter is of no known kind: {word:?}"))
    }

    /// Kind of the experiment's parameter, which has fewer.
    pub(super) fn of_parameter(self) -> ParameterKind {
        match self {
            ValueKind::Number | ValueKind::Count => ParameterKind::Count,
            ValueKind::Size => ParameterKind::Size,
            ValueKind::Word => ParameterKind::Choice,
            ValueKind::Unit | ValueKind::Path | ValueKind::Text => ParameterKind::Text,
        }
    }
}

/// Kind of a parameter in the protocol, and that of its values, as workers/c/bench/bench.c has them.
pub(super) fn kinds(list: &str) -> (String, ValueKind) {
    let values: Vec<&str> = list.split(',').map(str::trim).collect();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_number = |text: &&str| {
        text.split("..")
            .flat_map(|part| part.split('*'))
            .all(is_digits)
    };
    let is_size = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text
                .split('*')
                .next()
                .is_some_and(|size| size.ends_with('B'))
    };
    let has_unit = |text: &&str| {
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        unit.len() < text.len() && UNITS.contains(&unit)
    };
    let is_word_part = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    let is_word = |text: &&str| !text.is_empty() && text.chars().all(is_word_part);
    let kind = if values.iter().all(is_number) {
        ValueKind::Number
    } else if values.iter().all(|v| is_number(v) || is_size(v)) {
        ValueKind::Size
    } else if values.iter().all(has_unit) {
        ValueKind::Unit
    } else if values.iter().any(|v| v.contains(['/', '.'])) {
        ValueKind::Path
    } else if values.iter().all(is_word) {
        ValueKind::Word
    } else {
        ValueKind::Text
    };
    let in_protocol = match kind {
        ValueKind::Word => values.join("|"),
        ValueKind::Unit | ValueKind::Path => ValueKind::Text.word().to_owned(),
        kind => kind.word().to_owned(),
    };
    (in_protocol, kind)
}

/// The values of a list, with every range written out; `place` is where the list stands.
/// Errors: a value is none of its kind, or a path names nothing.
pub(super) fn values(place: &str, kind: ValueKind, list: &str) -> Result<Vec<String>> {
    let mut values: Vec<String> = Vec::new();
    for value in list.split(',').map(str::trim) {
        let parts = match kind {
            ValueKind::Number | ValueKind::Size | ValueKind::Count => {
                numbers(value, kind).with_context(|| format!("{place}: {value:?}"))?
            }
            ValueKind::Path => {
                check_path(place, value)?;
                vec![value.to_owned()]
            }
            ValueKind::Text => bail!(
                "{place}: {value:?} is no number, no size like 64KiB, no word of letters, digits, - and _, \
                 and no path"
            ),
            ValueKind::Unit | ValueKind::Word => vec![value.to_owned()],
        };
        for part in parts {
            if !values.contains(&part) {
                values.push(part);
            }
        }
    }
    Ok(values)
}

/// A number or a size, or all of a range: `1KiB..1GiB`, `1..64*2`.
fn numbers(value: &str, kind: ValueKind) -> Result<Vec<String>> {
    let is_sound = |text: &str| {
        text.parse::<u64>().is_ok()
            || kind == ValueKind::Size && sizes::parse_size(text).is_ok()
            || kind == ValueKind::Count && text == "N"
    };
    let Some((least, rest)) = value.split_once("..") else {
        ensure!(is_sound(value), "it is no number and no size like 64KiB");
        return Ok(vec![value.to_owned()]);
    };
    let (most, factor) = match rest.split_once('*') {
        Some((most, factor)) => (most, factor.parse().ok().filter(|factor| *factor > 1)),
        None => (rest, Some(USUAL_FACTOR)),
    };
    let number = |text: &str| {
        let number = text.parse().ok();
        number.or_else(|| {
            sizes::parse_size(text)
                .ok()
                .filter(|_| kind == ValueKind::Size)
        })
    };
    let (Some(least), Some(most), Some(factor)) = (number(least), number(most), factor) else {
        bail!("it is no range like 1KiB..1GiB or 1..64*2");
    };
    ensure!(0 < least && least < most, "its end is not above its start");
    let mut values = Vec::new();
    let mut next = Some(least);
    while let Some(value) = next.filter(|value| *value < most) {
        values.push(value);
        next = value.checked_mul(factor);
    }
    values.push(most);
    ensure!(
        values.len() <= MOST_VALUES,
        "it has more than {MOST_VALUES} values"
    );
    Ok(values
        .into_iter()
        .map(|value| match kind {
            ValueKind::Size => sizes::format_size(value),
            _ => value.to_string(),
        })
        .collect())
}

/// An error if a path of a parameter names nothing. It is relative to the folder in which functions run: that of this process.
fn check_path(place: &str, path: &str) -> Result<()> {
    let exists = Path::new(path).try_exists();
    ensure!(
        exists.is_ok_and(|is_there| is_there),
        "{place}: there is no file {path:?} here"
    );
    Ok(())
}

/// Place of a parameter's values in the user's file.
pub(super) fn place(file: &str, name: &str) -> String {
    format!("{file}: PARAM({name}, …)")
}

/// True if the user set a parameter: the values of the file are not used.
pub(super) fn is_set(settings: &[String], name: &str) -> bool {
    let mut names = settings
        .iter()
        .filter_map(|setting| setting.split('=').next());
    names.any(|set| set == name)
}

/// Checks the paths of a C or C++ file before it is compiled, as far as they can be read there.
pub(super) fn check_paths(file: &Path, text: &str, settings: &[String]) -> Result<()> {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    for line in text.lines() {
        let Some((name, list)) = line
            .trim_start()
            .strip_prefix("PARAM(")
            .and_then(|rest| rest.split_once(','))
        else {
            continue;
        };
        let list = list.trim_start().strip_prefix('"');
        let list = list
            .and_then(|list| list.split('"').next())
            .unwrap_or_default();
        let paths = list
            .split(',')
            .map(str::trim)
            .filter(|value| value.contains('/'));
        for path in paths.filter(|_| !is_set(settings, name.trim())) {
            check_path(&place(&file, name.trim()), path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends_and_what_is_none_is_one_sentence() {
        let written_out = |kind, list| values("mine.c", kind, list).unwrap();
        assert_eq!(
            written_out(ValueKind::Size, "1KiB..1MiB, 3MiB"),
            ["1KiB", "8KiB", "64KiB", "512KiB", "1MiB", "3MiB"]
        );
        assert_eq!(
            written_out(ValueKind::Number, "1..10*3,7"),
            ["1", "3", "9", "10", "7"]
        );
        assert_eq!(written_out(ValueKind::Count, "1,N"), ["1", "N"]);
        assert_eq!(
            written_out(ValueKind::Word, "small,large"),
            ["small", "large"]
        );
        assert_eq!(written_out(ValueKind::Unit, "100us,1ms"), ["100us", "1ms"]);
        for (kind, list, words) in [
            (ValueKind::Size, "1XB", "no number and no size"),
            (ValueKind::Size, "1GiB..1KiB", "not above its start"),
            (ValueKind::Number, "1..9*1", "no range"),
            (
                ValueKind::Number,
                "1..9223372036854775807*2",
                "more than 32",
            ),
            (ValueKind::Number, "0..8", "not above its start"),
            (ValueKind::Text, "a b", "no word of letters"),
            (ValueKind::Path, "no/such/file", "there is no file"),
        ] {
            let error = format!("{:#}", values("mine.c", kind, list).unwrap_err());
            assert!(error.contains(words), "{list}: {error}");
        }
    }

    #[test]
    fn a_path_that_names_nothing_is_seen_in_the_source() {
        let checked = |text| {
            check_paths(Path::new("a/mine.c"), text, &["set=7".to_owned()])
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            checked(
                "PARAM(file, \"/dev/null,/\");\nPARAM(n, \"1,2\");\nPARAM(set, \"/no/such\");\nPARAM(broken"
            ),
            Ok(())
        );
        assert_eq!(
            checked("#include <pagewise.h>\n  PARAM(file, \"/dev/null,/no/such\");"),
            Err("mine.c: PARAM(file, …): there is no file \"/no/such\" here".to_owned())
        );
    }
}
