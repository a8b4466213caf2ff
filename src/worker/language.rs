//! Languages of workers.

/// Language of a worker's methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Go,
    Java,
    Python,
    Rust,
}

impl Language {
    pub const ALL: [Language; 5] = [
        Language::C,
        Language::Go,
        Language::Java,
        Language::Python,
        Language::Rust,
    ];

    /// The word of the command line, which begins the names of its workers: `java`, `java-25`.
    pub fn word(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Go => "go",
            Language::Java => "java",
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }

    /// The language of a word of the command line.
    pub fn named(word: &str) -> Option<Language> {
        Language::ALL
            .into_iter()
            .find(|language| language.word() == word)
    }

    /// The language of a worker by the name that it gives itself.
    pub fn of_worker(name: &str) -> Option<Language> {
        name.split('-').next().and_then(Language::named)
    }

    /// The language of a source file by the end of its name.
    pub fn of_extension(extension: &str) -> Option<Language> {
        match extension {
            "c" => Some(Language::C),
            "go" => Some(Language::Go),
            "java" => Some(Language::Java),
            "py" => Some(Language::Python),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }

    /// The workers that are measured where the language alone is named, as a selector has them.
    pub fn usual_workers(self) -> String {
        match self {
            Language::C => super::NATIVE.to_owned(),
            language => format!("{}*", language.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_names_its_language_first() {
        for (name, language) in [
            ("c-O3", Some(Language::C)),
            ("go", Some(Language::Go)),
            ("java-25", Some(Language::Java)),
            ("javascript", None),
            ("own", None),
        ] {
            assert_eq!(Language::of_worker(name), language, "{name}");
        }
    }
}
