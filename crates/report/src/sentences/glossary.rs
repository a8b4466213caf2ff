//! The words of screens and JSON with their meanings, from `glossary.toml`.

use serde::Deserialize;
use std::sync::LazyLock;

/// One word.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GlossaryWord {
    /// As screens have it.
    pub word: String,
    pub meaning: String,
    /// A screen on which it appears explains it.
    #[serde(default)]
    pub note: bool,
    /// The meaning below a screen, where it is shorter there.
    pub brief: Option<String>,
}

impl GlossaryWord {
    fn explained(&self) -> String {
        let meaning = self.brief.as_ref().unwrap_or(&self.meaning);
        format!("{}: {}", self.word, meaning.replace('`', ""))
    }
}

#[derive(Deserialize)]
struct Glossary {
    #[serde(rename = "words")]
    entries: Vec<GlossaryWord>,
}

static WORDS: LazyLock<Vec<GlossaryWord>> = LazyLock::new(|| {
    let glossary: Glossary =
        toml::from_str(include_str!("glossary.toml")).expect("the file is well formed");
    glossary.entries
});

/// All words, those of a screen first.
pub(crate) fn entries() -> &'static [GlossaryWord] {
    &WORDS
}

/// A sentence on those of the words that a text has and that a screen explains; none where it has none.
pub(crate) fn note(text: &str) -> Option<String> {
    let meanings: Vec<String> = WORDS
        .iter()
        .filter(|known| known.note && appears(&known.word, text))
        .map(GlossaryWord::explained)
        .collect();
    (!meanings.is_empty()).then(|| format!("Words: {}.", meanings.join("; ")))
}

/// Tells whether a text has a word, and not only as a part of another one.
fn appears(word: &str, text: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '-' || sign == '_' || sign == '/';
    text.match_indices(word).any(|(at, _)| {
        let after = text[at + word.len()..].chars().next();
        !text[..at].ends_with(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::wording::sureness;
    use record::outcome::Status;
    use record::summary::Sureness;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Words of ours, or of few people's, that a screen may have.
    const PRIVATE: [&str; 26] = [
        "A/A",
        "95 % CI",
        "arm",
        "baseline",
        "bimodal",
        "cell",
        "control",
        "digest",
        "drifted",
        "floor",
        "headline",
        "Holm",
        "launch",
        "law",
        "lower bound",
        "margin",
        "midmean",
        "open",
        "outlier",
        "pin",
        "proof",
        "round",
        "sure",
        "unit cost",
        "worker",
        "working set",
    ];

    fn text(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::fs::read_to_string(root.join(path)).unwrap()
    }

    /// The screens that snapshots keep.
    fn kept_screens() -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut screens = String::new();
        for folder in ["crates/report/tests/snapshots", "tests/it/snapshots"] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let is_screen = name.starts_with("screens__") || name.contains("kept_kinds__");
                if is_screen && !name.contains("exports") {
                    screens += &std::fs::read_to_string(path).unwrap();
                }
            }
        }
        screens
    }

    #[test]
    fn each_private_word_of_a_kept_screen_is_in_the_glossary() {
        let outcomes = [
            Status::Skipped,
            Status::Refused,
            Status::Failed,
            Status::Untrusted,
            Status::Damaged,
        ];
        let degrees = [Sureness::Noisy, Sureness::Early].map(|degree| sureness(Some(degree)));
        let outcomes = outcomes.map(Status::word);
        let screens = kept_screens();
        let private = PRIVATE.iter().chain(&degrees).chain(&outcomes);
        let shown: Vec<&&str> = private.filter(|word| appears(word, &screens)).collect();
        assert!(shown.len() > 15, "{shown:?}");
        let known: BTreeSet<&str> = entries().iter().map(|known| known.word.as_str()).collect();
        let missing: Vec<_> = shown
            .iter()
            .filter(|word| !known.contains(**word))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_page_has_the_same_words_in_the_same_order() {
        let rows: Vec<String> = entries()
            .iter()
            .map(|known| format!("| {} | {} |", known.word, known.meaning))
            .collect();
        let page = text("docs/glossary.md");
        let (_, shown) = page.split_once("|---|---|\n").unwrap();
        assert_eq!(shown.lines().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn a_word_is_explained_where_it_appears_and_not_where_it_is_a_part() {
        assert!(appears("early", "sure early 1.9"));
        assert!(appears("A/A", "(A/A ±9 %)"));
        assert!(!appears("early", "clearly early-fork"));
        let known = note("memcpy baseline").unwrap();
        assert_eq!(known.matches(": ").count(), 2, "{known}");
        assert!(
            known.starts_with("Words: baseline: the usual choice"),
            "{known}"
        );
        assert_eq!(note("nothing of ours"), None);
    }

    #[test]
    fn each_word_is_there_once_and_has_one_line() {
        let names: BTreeSet<&str> = entries().iter().map(|known| known.word.as_str()).collect();
        assert_eq!(names.len(), entries().len());
        for known in entries().iter().filter(|known| known.note) {
            assert!(known.meaning.len() <= 200, "{}", known.word);
        }
    }
}
