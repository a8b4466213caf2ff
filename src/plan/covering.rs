//! Fewer combinations of values than all of them, in which every three values meet that meet in any.

use std::{cmp::Reverse, collections::BTreeMap};

type Parameters = BTreeMap<String, String>;

/// A covering array of strength three, chosen greedily: next is the combination in which most is new (Cohen, Dalal, Fredman
/// and Patton, "The AETG system", IEEE Transactions on Software Engineering 23, 1997). Two values meet beside each value of a
/// third parameter, so that a combination which is skipped hides nothing of the others.
pub(super) fn covering(all: Vec<Parameters>) -> Vec<Parameters> {
    let varied = |key: &&String| all.iter().any(|p| p.get(*key) != all[0].get(*key));
    let keys: Vec<&String> = all
        .first()
        .into_iter()
        .flat_map(|first| first.keys())
        .filter(varied)
        .collect();
    let mut numbers = BTreeMap::new();
    let mut triples = |parameters| {
        let mut met = Vec::new();
        for (at, a) in keys.iter().enumerate() {
            for (further, b) in keys[at + 1..].iter().enumerate() {
                for c in &keys[at + further + 2..] {
                    let next = numbers.len();
                    met.push(
                        *numbers
                            .entry([a, b, c].map(|key| (*key, Parameters::get(parameters, *key))))
                            .or_insert(next),
                    );
                }
            }
        }
        met
    };
    let rows: Vec<Vec<usize>> = all.iter().map(&mut triples).collect();
    let (mut new, mut chosen) = (vec![true; numbers.len()], vec![keys.len() < 3; all.len()]);
    while new.contains(&true) {
        let count = |row: &Vec<usize>| row.iter().filter(|&&triple| new[triple]).count();
        let Some(best) = (0..rows.len()).max_by_key(|&row| (count(&rows[row]), Reverse(row)))
        else {
            break;
        };
        rows[best].iter().for_each(|&triple| new[triple] = false);
        chosen[best] = true;
    }
    all.into_iter()
        .zip(chosen)
        .filter_map(|(parameters, is_chosen)| is_chosen.then_some(parameters))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/plan/covering.rs"]
mod tests;
