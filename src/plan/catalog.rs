//! The experiments that there are: those that the binary carries, and those of the user's own.

use std::path::Path;

use anyhow::{Context, Result};
use record::experiment::Experiment;
use record::sizes;

use crate::machine::memory::transparent_huge_page_bytes;
use crate::worker::carried;

/// All experiments: those the binary carries, then those of the user's own folder, which may replace one by name.
pub fn experiments(folder: Option<&Path>) -> Result<Vec<Experiment>> {
    let mut all = Vec::new();
    for (path, text) in carried::EXPERIMENTS {
        all.push(Experiment::parse(path, text)?);
    }
    if let Some(folder) = folder {
        let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let own = Experiment::parse(&path.display().to_string(), &text)?;
                all.retain(|e: &Experiment| e.name != own.name);
                all.push(own);
            }
        }
    }
    let huge_page_bytes = transparent_huge_page_bytes();
    for experiment in &mut all {
        experiment.settle_sizes(huge_page_bytes)?;
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The experiment of that name, or an error that names the nearest one.
pub fn find<'a>(all: &'a [Experiment], name: &str) -> Result<&'a Experiment> {
    all.iter().find(|e| e.name == name).with_context(|| {
        let hint = sizes::did_you_mean(name, all.iter().map(|e| e.name.as_str()));
        format!("there is no experiment \"{name}\"{hint} (pagewise list shows them)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_carried_experiment_is_sound() {
        for experiment in experiments(None).unwrap() {
            assert!(!experiment.question.trim().is_empty() && !experiment.phases.is_empty(), "{}", experiment.name);
            assert!(experiment.measures().any(|m| m == experiment.headline()), "{}", experiment.name);
            assert!(experiment.totals.iter().filter(|t| t.headline).count() <= 1, "{}", experiment.name);
        }
    }

    #[test]
    fn an_unknown_experiment_is_answered_with_the_nearest() {
        let all = experiments(None).unwrap();
        let error = find(&all, "falt").unwrap_err().to_string();
        assert!(error.contains("did you mean \"fault\"?"), "{error}");
    }
}
