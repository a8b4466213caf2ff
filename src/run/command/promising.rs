//! Settings that are worth a try after a profile.

use super::arms;
use anyhow::Result;
use record::command::{ProfileSummary, SuggestionKind};
use record::setting::Setting;
use std::collections::BTreeSet;

/// Allocators of which one is tried after a profile.
const ALLOCATORS: [&str; 3] = ["mimalloc", "jemalloc", "tcmalloc"];

/// Settings that the profile finds worth a try, those of libraries that it met, and of its own allocator; where that is the C
/// library's and allocations cost something, the first other one here.
pub fn worth_a_try(command: &[String], summary: &ProfileSummary) -> Result<Vec<String>> {
    let proposed = summary.worth_a_try().map(|c| c.setting.clone());
    let mut names: Vec<String> = proposed.collect();
    let is_promising = !names.is_empty();
    let frames = summary
        .costliest_stacks()
        .into_iter()
        .flat_map(|stacks| &stacks.frames);
    let mut modules: BTreeSet<&str> = frames.map(|frame| frame.module.as_str()).collect();
    modules.insert(&summary.allocator);
    modules.extend(summary.modules.iter().map(String::as_str));
    // Huge pages are not tried both ways: fewer of them only where they are the cost.
    let are_costly = summary.worth_a_try().any(|c| c.huge_pages < 0.0);
    let settings = arms::all()?;
    // Where memory is short, what needs less of it may save the time of taking it back.
    let mut advice = summary.advice.iter();
    let is_short = advice.any(|advice| advice.kind == SuggestionKind::MoreMemory);
    for setting in settings.into_iter().filter(|s| s.saves_memory == is_short) {
        let contradicts = if are_costly {
            setting.needs_thp
        } else {
            setting.avoids_thp
        };
        if concerns(&setting, &modules) && !contradicts && !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    if summary.allocator.is_empty() && is_promising && has_libc(&modules) {
        names.extend(first_allocator(command)?);
    }
    Ok(names)
}

/// True unless the program is known to call no C library, whose malloc a preloaded one stands in for.
fn has_libc(modules: &BTreeSet<&str>) -> bool {
    let names = ["libc.so", "libc-", "libc.musl", "ld-musl"];
    let mut known = modules
        .iter()
        .filter(|module| !module.is_empty())
        .peekable();
    known.peek().is_none() || known.any(|module| names.iter().any(|name| module.starts_with(name)))
}

/// True if a setting is one of a library that was met.
fn concerns(setting: &Setting, modules: &BTreeSet<&str>) -> bool {
    let mut starts = setting.modules.iter();
    starts.any(|start| modules.iter().any(|module| module.starts_with(start)))
}

/// The first other allocator that can be preloaded here.
fn first_allocator(command: &[String]) -> Result<Option<String>> {
    for name in ALLOCATORS.map(str::to_owned) {
        let settings = arms::of_words(std::slice::from_ref(&name))?;
        let arms = arms::arms(command, &settings)?;
        if arms.iter().all(|arm| arm.skipped.is_none()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn what_advice_names_can_be_tried() {
        let named: BTreeSet<&str> = SuggestionKind::VARIANTS
            .iter()
            .flat_map(|kind| kind.settings())
            .copied()
            .collect();
        assert!(named.len() > 3, "{named:?}");
        for name in named {
            let settings = arms::of_words(&[name.to_owned()]).unwrap();
            assert!(!settings[0].modules.is_empty(), "{name}");
        }
    }
}
