//! The laboratory: experiments, and the workers that measure them.

use super::{input, wish::Wish};
use crate::worker::Worker;
use anyhow::{Result, bail};
use record::experiment::{Experiment, ParameterList};
use record::{cell, cell::Selector, concern::Concern, method::Offer};

/// Experiments and workers of one command.
#[derive(Debug)]
pub struct Laboratory {
    pub experiments: Vec<Experiment>,
    pub workers: Vec<Worker>,
}

impl Laboratory {
    pub fn offers(&self) -> Vec<Offer<'_>> {
        self.workers
            .iter()
            .map(|worker| Offer {
                worker: &worker.name,
                methods: worker.methods(),
            })
            .collect()
    }

    /// Parses one `--set`.
    pub fn setting(&self, text: &str) -> Result<(String, Vec<String>)> {
        cell::parse_setting(text, |key| {
            let mut having = self
                .experiments
                .iter()
                .filter(|e| e.parameters.contains_key(key))
                .peekable();
            having.peek().is_some() && having.all(|e| e.concern_of(key) == Some(Concern::File))
        })
    }

    /// Parses every `--set`; a key that is given twice is refused.
    pub fn settings(&self, texts: &[String]) -> Result<Vec<(String, Vec<String>)>> {
        let mut settings: Vec<(String, Vec<String>)> = Vec::new();
        for text in texts {
            let (key, values) = self.setting(text)?;
            if settings.iter().any(|(given, _)| *given == key) {
                bail!(
                    "--set {key} is given twice; several values are written --set {key}=VALUE,VALUE"
                );
            }
            settings.push((key, values));
        }
        Ok(settings)
    }

    /// The wish for cells by their selectors (`fault/touch@c-O3`) and `--set` texts; without selectors, for the overview.
    pub fn wish(&self, what: &[String], set: &[String], list: ParameterList) -> Result<Wish> {
        let selectors = what
            .iter()
            .map(|text| Selector::parse(text))
            .collect::<Result<_>>()?;
        let settings = self.settings(set)?;
        let mut wish = Wish {
            given: settings.len(),
            settings,
            ..Wish::new(selectors, list)
        };
        input::complete(&mut wish, &self.experiments)?;
        Ok(wish)
    }
}
