//! Every combination of the values of a method's parameters.

use super::{states, wish::Wish};
use anyhow::{Context, Result, bail};
use record::experiment::{Experiment, ParameterList};
use record::machine_state::STATE;
use record::method::{KeyKind, Method};
use std::collections::{BTreeMap, BTreeSet};

/// Every combination of the values of a method's keys.
pub(super) fn grid(experiment: &Experiment, method: &Method, wish: &Wish) -> Result<Vec<BTreeMap<String, String>>> {
    let mut combinations = vec![BTreeMap::new()];
    for (key, kind) in &method.keys {
        let parameter = experiment.parameters.get(key).with_context(|| {
            format!("method {}/{} has the key {key}, which the experiment does not describe", experiment.name, method.name)
        })?;
        let set = wish.settings.iter().rev().find(|(k, _)| k == key).map(|(_, values)| values.as_slice());
        let usual = match wish.sizes {
            ParameterList::Look if !parameter.look.is_empty() => &parameter.look,
            ParameterList::Check if !parameter.check.is_empty() => &parameter.check,
            ParameterList::Short if experiment.budget_s.is_some() && !parameter.look.is_empty() => &parameter.look,
            _ => &parameter.default,
        };
        let chosen = match set {
            Some([all]) if all == "all" => &parameter.values[..],
            Some(values) => values,
            None => usual,
        };
        let mut values = BTreeSet::new();
        let mut ordered = Vec::new();
        for word in chosen {
            let chosen_here = set.is_none() && matches!(kind, KeyKind::Choice(known) if !known.contains(word));
            if chosen_here {
                continue; // The experiment's default is not one of this method's choices; its others are.
            }
            let value = normalise(key, word, kind, parameter.multiple_of.as_deref(), wish)?;
            if values.insert(value.clone()) {
                ordered.push(value);
            }
        }
        combinations = with_values(&combinations, key, &ordered);
    }
    if let Some(names) = states::wished(experiment, wish)? {
        combinations = with_values(&combinations, STATE, names);
    }
    // Conditions vary one at a time: a question has its usual condition and its neighbors.
    let is_set = |key: &str| key != STATE && wish.settings.iter().any(|(k, _)| k == key);
    let most = usize::from(wish.conditions);
    combinations.retain(|combination| experiment.unusual(combination).filter(|key| !is_set(key)).count() <= most);
    Ok(combinations)
}

/// Each combination with each of these values of one key.
fn with_values(all: &[BTreeMap<String, String>], key: &str, values: &[String]) -> Vec<BTreeMap<String, String>> {
    let with = |value: &String| {
        let value = value.clone();
        all.iter().map(move |combination| combination.clone().into_iter().chain([(key.to_owned(), value.clone())]).collect())
    };
    values.iter().flat_map(with).collect()
}

fn normalise(key: &str, word: &str, kind: &KeyKind, multiple_of: Option<&str>, wish: &Wish) -> Result<String> {
    let value = kind.normalise(key, word, wish.cpus)?;
    if multiple_of == Some("page")
        && let Ok(bytes) = value.parse::<u64>()
        && !bytes.is_multiple_of(wish.page_bytes)
    {
        bail!("{key}={word} is not a multiple of the page size ({} bytes)", wish.page_bytes);
    }
    Ok(value)
}
