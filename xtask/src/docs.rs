//! Every page stands in the index of the documentation, and every decision in the index of decisions.

use crate::Failure;
use std::fs;
use std::path::Path;

/// Fails with the pages that no index names, and with the links of an index that lead nowhere.
pub fn check(root: &Path) -> Result<(), Failure> {
    let mut faults = faults(&root.join("docs"))?;
    faults.extend(self::faults(&root.join("docs/decisions"))?);
    if faults.is_empty() {
        println!("every page and decision stands in its index");
        return Ok(());
    }
    Err(faults.join("\n"))
}

/// Faults of the index of one folder.
fn faults(folder: &Path) -> Result<Vec<String>, Failure> {
    let index = folder.join("README.md");
    let shown = |path: &Path| path.display().to_string();
    let text = fs::read_to_string(&index).map_err(|error| format!("{}: {error}", shown(&index)))?;
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", shown(folder)))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && name != "README.md")
        .collect();
    names.sort();
    let unnamed = names
        .iter()
        .filter(|name| !text.contains(&format!("]({name})")))
        .map(|name| format!("{} does not name {name}", shown(&index)));
    let dead = links(&text)
        .filter(|link| !folder.join(link).exists())
        .map(|link| format!("{}: {link} is not there", shown(&index)));
    Ok(unnamed.chain(dead).collect())
}

/// Paths that a text links to, without those of the network and without headings.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|link| link.split('#').next().unwrap_or(link))
        .filter(|link| !link.is_empty() && !link.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_lacks_a_page_or_names_one_too_many() {
        let folder = std::env::temp_dir().join(format!("xtask-docs-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write(
            "README.md",
            "[a](a.md), [b](b.md#part), [net](https://x.example)",
        );
        write("a.md", "");
        write("c.md", "");
        let seen = faults(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert!(seen[0].ends_with("does not name c.md"), "{seen:?}");
        assert!(seen[1].ends_with("b.md is not there"), "{seen:?}");
    }
}
