//! A method to begin from: that of an experiment's baseline, under another name. It compiles and conforms as it stands.

use crate::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the file of a new method, and says what to do with it.
pub fn write_new(root: &Path, experiment: &str, name: &str) -> Result<(), Failure> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if !is_word(name) {
        return Err(format!(
            "{name:?} is no name of a method: lower-case letters, digits and -, a letter first"
        ));
    }
    let (baseline, template) = baseline(root, experiment)?;
    let path = folder(root, experiment).join(format!("{}.c", underscored(name)));
    if path.exists() {
        return Err(format!("{} is there already", path.display()));
    }
    let text = renamed(&template, experiment, &baseline, name)?;
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!(
        "{} does what {experiment}/{baseline} does. Change its run(), summary, laws and calls, then:",
        path.strip_prefix(root).unwrap_or(&path).display()
    );
    println!("cargo run --release -- check {experiment}/{name}");
    Ok(())
}

fn underscored(name: &str) -> String {
    name.replace('-', "_")
}

fn folder(root: &Path, experiment: &str) -> PathBuf {
    root.join("workers/c/methods").join(underscored(experiment))
}

/// Name of an experiment's baseline, and the text of its file.
fn baseline(root: &Path, experiment: &str) -> Result<(String, String), Failure> {
    let path = root.join(format!("experiments/{experiment}.toml"));
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let baseline = text
        .lines()
        .find_map(|line| line.strip_prefix("baseline = \"")?.strip_suffix('"'))
        .ok_or_else(|| format!("{} names no baseline", path.display()))?;
    let folder = folder(root, experiment);
    let entries =
        fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wanted = format!(".name = \"{baseline}\"");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "c"))
        .filter_map(|file| fs::read_to_string(file).ok())
        .find(|text| text.contains(&wanted))
        .map(|text| (baseline.to_owned(), text))
        .ok_or_else(|| format!("{experiment}/{baseline} is not in C"))
}

/// The file of a baseline as that of another method: its other methods go, and it says that it is only a beginning.
fn renamed(text: &str, experiment: &str, baseline: &str, name: &str) -> Result<String, Failure> {
    let mut renamed = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("METHOD(") {
        let (method, after) = from
            .split_once(");\n")
            .ok_or("a METHOD() that does not end")?;
        renamed += before;
        if method.contains(&format!(".name = \"{baseline}\"")) {
            renamed += &format!(
                "METHOD({});\n",
                declared(method, experiment, baseline, name)?
            );
        }
        rest = after;
    }
    renamed += rest;
    Ok(renamed)
}

/// The words of METHOD() under the new name.
fn declared(method: &str, experiment: &str, baseline: &str, name: &str) -> Result<String, Failure> {
    let (_, fields) = method.split_once(',').ok_or("a METHOD() without fields")?;
    let (before, summary) = fields
        .split_once(".summary = \"")
        .ok_or("a METHOD() without a summary")?;
    let (_, after) = summary
        .split_once("\",")
        .ok_or("a summary that does not end")?;
    let variable = underscored(&format!("{experiment}_{name}"));
    let fields = format!("{before}.summary = \"What it does, in one sentence.\",{after}");
    let fields = fields.replace(
        &format!(".name = \"{baseline}\""),
        &format!(".name = \"{name}\""),
    );
    Ok(format!("{variable},{fields}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_method_to_begin_from() {
        let root = crate::root();
        let experiments = fs::read_dir(root.join("experiments")).unwrap();
        let mut seen = 0;
        for path in experiments.flatten().map(|entry| entry.path()) {
            if path.extension().is_none_or(|e| e != "toml") {
                continue;
            }
            let experiment = path.file_stem().unwrap().to_str().unwrap();
            let (baseline, text) = baseline(root, experiment).unwrap();
            let new = renamed(&text, experiment, &baseline, "new-one").unwrap();
            assert_eq!(new.matches("METHOD(").count(), 1, "{experiment}: {new}");
            assert_eq!(
                new.matches(".name = \"new-one\"").count(),
                1,
                "{experiment}"
            );
            let variable = format!("METHOD({}_new_one,", underscored(experiment));
            assert!(new.contains(&variable), "{experiment}: {new}");
            assert!(
                !new.contains(&format!(".name = \"{baseline}\"")),
                "{experiment}"
            );
            seen += 1;
        }
        assert!(seen > 15, "{seen}");
    }

    #[test]
    fn a_name_that_is_no_word_and_an_unknown_experiment_are_refused() {
        let refused = |experiment, name| write_new(crate::root(), experiment, name).unwrap_err();
        assert!(refused("fault", "Touch it").contains("is no name of a method"));
        assert!(refused("fault", "touch").contains("is there already"));
        assert!(refused("no-such", "x").contains("no-such.toml"));
    }
}
