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

/// A Rust file whose test modules are blank lines, so that the numbers of the others stay.
pub fn without_tests(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_test = false;
    let mut attributed = false;
    for line in text.lines() {
        let opens = attributed && line.contains("mod ") && line.ends_with('{');
        is_test |= opens;
        lines.push(if is_test { "" } else { line });
        is_test &= line != "}";
        attributed = line == "#[cfg(test)]";
    }
    lines.join("\n") + "\n"
}

/// A Rust file without its tests, comments and quoted text: what may decide something.
pub fn code(text: &str) -> String {
    let text = without_tests(text);
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
    let lines = code(text);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(
        lines,
        ["use a; ", "let c = ; f", "#[cfg(test)]", "", "", ""]
    );
    let between = "#[cfg(test)]\npub mod fixture {\n    use g;\n}\nuse h;\n";
    assert_eq!(without_tests(between), "#[cfg(test)]\n\n\n\nuse h;\n");
}
