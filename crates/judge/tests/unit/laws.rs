use record::transcript::Counts;

use super::*;
use crate::slots::{Slot, TimedPhase};

const LAWS: &str = "touch.minor_faults == bytes / page_bytes; touch.minor_faults <= 2; ghosts == 1; refault.ops > 0; \
    release=dontneed: touch.ops >= 1; release=free: ghosts == 1; kind=huge: huge_bytes == bytes; \
    kind=small: huge_bytes == 0; bytes>=8192 & release=dontneed: touch.wall_ns < 10; \
    bytes / (page_bytes - 4096) == 1; ghosts > 1 & bytes > 1: bytes == 1; \
    touch.bytes * touch.bytes > 1; touch.bytes + 1 > touch.ops; touch.size == 7; release == 1; huge_bytes - bytes < 0; \
    touch.bytes % page_bytes == bytes; libc > 1; 170141183460469231731687303715884105727 > bytes";

/// A law's operands, looked up anew by each name.
struct SlotValues<'a> {
    slot: &'a Slot<'a>,
    parameters: &'a BTreeMap<String, String>,
    about: Option<&'a BTreeMap<String, String>>,
}

impl Values for SlotValues<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        if let Some((phase, column)) = name.rsplit_once('.')
            && let Some(counts) = counts_of(&self.slot.phases, phase)
            && let Some(value) = counts.column(column)
        {
            return Some(i128::from(value));
        }
        let fact = self
            .slot
            .facts
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value);
        let text = fact
            .or_else(|| self.parameters.get(name))
            .or_else(|| self.about.and_then(|a| a.get(name)));
        text.and_then(|t| t.parse().ok())
    }

    fn word(&self, name: &str) -> Option<&str> {
        let fact = self
            .slot
            .facts
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str());
        self.parameters.get(name).map(String::as_str).or(fact)
    }
}

#[test]
fn every_law_says_of_every_slot_what_it_says_by_itself() {
    let words = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
        all.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let parameters = words(&[("bytes", "8192"), ("release", "dontneed")]);
    let about = words(&[
        ("page_bytes", "4096"),
        ("libc", "glibc 2.36"),
        ("bytes", "1"),
    ]);
    let facts = [
        vec![],
        vec![
            ("kind", "huge"),
            ("huge_bytes", "8192"),
            ("touch.size", "7"),
        ],
        vec![
            ("kind", "small"),
            ("huge_bytes", "many"),
            ("ghosts", "1"),
            ("page_bytes", "0"),
            ("release", "free"),
        ],
        vec![
            ("ghosts", "99999999999999999999"),
            ("bytes", "18446744073709551615"),
            ("refault.ops", "3"),
        ],
    ];
    let laws = Law::parse_all(LAWS).unwrap();
    for (facts, ops) in facts.iter().zip([0, 1, 2, u64::MAX]) {
        let facts: Vec<(String, String)> = facts
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect();
        let counts = Counts {
            ops,
            bytes: ops,
            minor_faults: 2,
            wall_ns: 9 + ops / 2,
            ..Counts::default()
        };
        let phases = vec![TimedPhase::by_laboratory("touch", counts)];
        let slot = Slot {
            phases,
            facts: facts.iter().collect(),
            ..Slot::default()
        };
        for (about, proves) in [
            (Some(&about), true),
            (Some(&about), false),
            (None, true),
            (None, false),
        ] {
            let values = SlotValues {
                slot: &slot,
                parameters: &parameters,
                about,
            };
            let mut asked = PlacedLaws::placed(laws.iter(), &parameters, about);
            asked.ask(&slot, 7, proves);
            let found: BTreeMap<String, LawSeen> = asked.seen().collect();
            let mut alone = BTreeMap::new();
            for law in &laws {
                let holding = if proves {
                    law.check(&values)
                } else {
                    law.check_recorded(&values)
                };
                if holding != Holding::NotAsked {
                    let mut seen = LawSeen {
                        level: law.is_level(),
                        ..LawSeen::default()
                    };
                    seen.take(holding, 7);
                    alone.insert(law.text.clone(), seen);
                }
            }
            assert_eq!(found, alone);
            assert!(!alone.is_empty() && alone.len() < laws.len());
        }
    }
}
