//! Values of parameters, as a plan settled them.

use crate::sizes::BYTES;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, btree_map};
use std::ops::{Deref, DerefMut};

/// Values of a cell's or a group's parameters by key, as a plan settled them: sizes in plain bytes, counts as numbers, choices and
/// paths as they are. What people write (`64KiB`) is text until [`KeyKind::normalise`](crate::method::KeyKind::normalise) made
/// it one of these, and no other place turns their text into numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// The value of a size in bytes or of a count; none where the parameter is absent or a word.
    pub fn number(&self, key: &str) -> Option<u64> {
        number(self.0.get(key)?)
    }

    /// Size of the job in bytes; none where it has none.
    pub fn bytes(&self) -> Option<u64> {
        self.number(BYTES)
    }

    /// Text of the value.
    pub fn word(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Tells whether a parameter has this value.
    pub fn is(&self, key: &str, word: &str) -> bool {
        self.word(key) == Some(word)
    }
}

/// The number that a settled value is.
pub(crate) fn number(value: &str) -> Option<u64> {
    value.parse().ok()
}

/// In a schema they are the map that they are written as.
impl JsonSchema for Parameters {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        BTreeMap::<String, String>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, String>::json_schema(generator)
    }
}

impl Deref for Parameters {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl DerefMut for Parameters {
    fn deref_mut(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.0
    }
}

impl FromIterator<(String, String)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(values: I) -> Parameters {
        Parameters(values.into_iter().collect())
    }
}

impl<K: Into<String>, V: Into<String>, const N: usize> From<[(K, V); N]> for Parameters {
    fn from(values: [(K, V); N]) -> Parameters {
        values
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect()
    }
}

impl IntoIterator for Parameters {
    type Item = (String, String);
    type IntoIter = btree_map::IntoIter<String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Parameters {
    type Item = (&'a String, &'a String);
    type IntoIter = btree_map::Iter<'a, String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sizes_and_counts_and_nothing_else_is_one() {
        let parameters = Parameters::from([
            ("bytes", "65536"),
            ("file", "/tmp/12"),
            ("load", "25%"),
            ("threads", "4"),
        ]);
        assert_eq!(parameters.bytes(), Some(65536));
        assert_eq!(parameters.number("threads"), Some(4));
        for key in ["file", "load", "absent"] {
            assert_eq!(parameters.number(key), None, "{key}");
        }
        assert!(parameters.is("load", "25%") && !parameters.is("absent", ""));
    }

    #[test]
    fn they_are_written_as_a_plain_map() {
        let text = r#"{"bytes":"4096","release":"dontneed"}"#;
        let parameters: Parameters = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&parameters).unwrap(), text);
    }
}
