//! The texts of the repository, and what of them is code.

use std::path::Path;

/// A file: its path below the repository, and its text.
pub type Source = (String, String);

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below these folders whose names end so.
pub fn below(folders: &[&str], ends: &[&str]) -> Vec<Source> {
    fn walk(folder: &Path, ends: &[&str], found: &mut Vec<Source>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                walk(&path, ends, found);
            } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    folders
        .iter()
        .for_each(|folder| walk(&root().join(folder), ends, &mut found));
    found.sort();
    assert!(!found.is_empty(), "{folders:?} were found");
    found
}

/// A Rust file without its tests, comments and quoted text: what may decide something.
pub fn code(text: &str) -> String {
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let mut code = String::new();
    for line in text.lines() {
        let mut quoted = false;
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            match c {
                '\\' if quoted => {
                    characters.next();
                }
                '"' => quoted = !quoted,
                '/' if !quoted && characters.peek() == Some(&'/') => break,
                _ if !quoted => code.push(c),
                _ => {}
            }
        }
        code.push('\n');
    }
    code
}

/// Fails with all that is wrong.
pub fn none(what: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

#[test]
fn comments_quotations_and_tests_are_no_code() {
    let text =
        "use a; // use b\nlet c = \"use d \\\" e\"; f\n#[cfg(test)]\nmod tests {\nuse g;\n}\n";
    assert_eq!(code(text), "use a; \nlet c = ; f\n");
}
