//! Settings that are worth a try after a profile.

use super::arms;
use anyhow::Result;
use record::command::ProfileSummary;
use record::setting::Setting;
use std::collections::BTreeSet;

/// Allocators of which one is tried after a profile.
const ALLOCATORS: [&str; 3] = ["mimalloc", "jemalloc", "tcmalloc"];

/// Huge pages, what the profile predicts to save most besides, settings of libraries that it met, and of its own allocator;
/// where that is the C library's, the first other one here.
pub fn worth_a_try(command: &[String], summary: &ProfileSummary) -> Result<Vec<String>> {
    let mut names = vec!["thp".to_owned()];
    let mut predicted = summary.worth_a_try().map(|c| &c.setting);
    names.extend(predicted.find(|name| *name != "thp").cloned());
    let frames = summary.stacks.iter().flat_map(|stacks| &stacks.frames);
    let mut modules: BTreeSet<&str> = frames.map(|frame| frame.module.as_str()).collect();
    modules.insert(&summary.allocator);
    for setting in arms::all()? {
        if concerns(&setting, &modules) && !names.contains(&setting.name) {
            names.push(setting.name);
        }
    }
    if summary.allocator.is_empty() {
        names.extend(first_allocator(command)?);
    }
    Ok(names)
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
