//! Fewer combinations of values than all of them, in which every three values meet that meet in any.

use record::parameters::Parameters;
use std::{cmp::Reverse, collections::BTreeMap};

/// A covering array of strength three, chosen greedily: next is the combination in which most is new (Cohen, Dalal, Fredman
/// and Patton, "The AETG system", IEEE Transactions on Software Engineering 23, 1997). Two values meet beside each value of a
/// third parameter, so that a combination which is skipped hides nothing of the others.
pub(super) fn covering(combinations: Vec<Parameters>) -> Vec<Parameters> {
    let keys: Vec<&String> = combinations
        .first()
        .into_iter()
        .flat_map(|first| first.keys())
        .filter(|key| {
            let mut values = combinations.iter().map(|p| p.get(*key));
            let first = values.next();
            values.any(|value| Some(value) != first)
        })
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
                            .entry([a, b, c].map(|key| (*key, Parameters::word(parameters, key))))
                            .or_insert(next),
                    );
                }
            }
        }
        met
    };
    let rows: Vec<Vec<usize>> = combinations.iter().map(&mut triples).collect();
    let (mut new, mut chosen) = (
        vec![true; numbers.len()],
        vec![keys.len() < 3; combinations.len()],
    );
    while new.contains(&true) {
        let count = |row: &Vec<usize>| row.iter().filter(|&&triple| new[triple]).count();
        let Some(best) = (0..rows.len()).max_by_key(|&row| (count(&rows[row]), Reverse(row)))
        else {
            break;
        };
        rows[best].iter().for_each(|&triple| new[triple] = false);
        chosen[best] = true;
    }
    combinations
        .into_iter()
        .zip(chosen)
        .filter_map(|(parameters, is_chosen)| is_chosen.then_some(parameters))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Parameters, covering};
    use std::collections::BTreeSet;

    /// All combinations of the first `counts` values of parameters a, b, c …
    fn product(counts: &[usize]) -> Vec<Parameters> {
        let mut all = vec![Parameters::default()];
        for (key, count) in (b'a'..).zip(counts) {
            let with = |p: &Parameters, value: usize| {
                p.clone()
                    .into_iter()
                    .chain([((key as char).to_string(), value.to_string())])
            };
            all = all
                .iter()
                .flat_map(|p| (0..*count).map(move |value| with(p, value).collect()))
                .collect();
        }
        all
    }

    /// Every set of three values of different parameters that meets in one of these.
    fn triples(all: &[Parameters]) -> BTreeSet<[(String, String); 3]> {
        let mut met = BTreeSet::new();
        for values in all
            .iter()
            .map(|p| p.clone().into_iter().collect::<Vec<_>>())
        {
            for a in 0..values.len() {
                for b in a + 1..values.len() {
                    for c in b + 1..values.len() {
                        met.insert([a, b, c].map(|at| values[at].clone()));
                    }
                }
            }
        }
        met
    }

    #[test]
    fn every_three_values_meet_in_few_of_all_combinations() {
        // The least that is possible is the product of the three largest counts.
        for (counts, least, most) in [
            (&[2; 6][..], 8, 16),
            (&[3, 2, 2, 2, 2], 12, 18),
            (&[4, 3, 3, 2, 2], 36, 50),
        ] {
            let all = product(counts);
            let few = covering(all.clone());
            assert_eq!(triples(&few), triples(&all), "{counts:?}");
            assert!(
                (least..=most).contains(&few.len()),
                "{counts:?}: {} of {}",
                few.len(),
                all.len()
            );
        }
    }

    #[test]
    fn what_never_meets_is_not_made_up() {
        let without = |p: &Parameters| p["a"] == "0" || p["b"] == "0";
        let all: Vec<_> = product(&[2, 2, 2, 2, 2])
            .into_iter()
            .filter(without)
            .collect();
        let few = covering(all.clone());
        assert!(few.len() < all.len() && few.iter().all(|p| all.contains(p)));
        assert_eq!(triples(&few), triples(&all));
    }

    #[test]
    fn of_two_parameters_all_combinations_stay() {
        for counts in [&[][..], &[3], &[3, 4], &[3, 1, 4, 1]] {
            assert_eq!(covering(product(counts)), product(counts));
        }
        assert!(covering(Vec::new()).is_empty());
    }
}
