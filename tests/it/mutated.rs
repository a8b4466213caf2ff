//! Files of a user that were damaged or made to do harm: claims, settings, advice and its topics, published tables, methods'
//! own lines. A few hundred seeded changes of each, in this process: what reads them accepts them or says why; it never dies.

use std::panic::{AssertUnwindSafe, catch_unwind};

use judge::fleet::{Gathered, check};
use pagewise::worker::carried;
use record::advice::{Advice, Question, Topic};
use record::claim::Claim;
use record::fleet::Criteria;
use record::setting::Setting;
use stats::rng::Seeded;

use crate::advise::{advice_here, here};
use crate::support::{nodes, skips::thorough};

/// Pieces that are put into files.
const PIECES: [&str; 16] = [
    "\0",
    "\u{1b}[2J",
    "\n[[",
    "]]",
    "\"\"\"",
    "= 9223372036854775808",
    "= -1",
    "= 1e999",
    "= nan",
    "= {}",
    "= [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "../../../../etc/passwd",
    "bytes=all",
    "\u{feff}",
    "\u{202e}",
    "99999999999999999999 TiB",
];

/// One to four changes: a bit, a cut, a doubled stretch, a piece put in, two stretches exchanged.
fn changed(text: &str, rng: &mut Seeded) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=rng.below(4) {
        let (a, b) = (rng.below(bytes.len().max(1)), rng.below(bytes.len().max(1)));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 200));
        match rng.below(5) {
            0 if !bytes.is_empty() => bytes[a] ^= 1 << rng.below(8),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let again = bytes[from..to].to_vec();
                bytes.splice(from..from, again);
            }
            3 => drop(bytes.splice(a..a, PIECES[rng.below(PIECES.len())].bytes())),
            _ => bytes[from..to].reverse(),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads `times` changed versions of these texts; how many were accepted.
fn survives(
    what: &str,
    texts: &[(&str, &str)],
    times: u64,
    read: impl Fn(&str, &str) -> anyhow::Result<()>,
) {
    assert!(!texts.is_empty());
    let mut refused = 0;
    for seed in 0..times {
        let mut rng = Seeded::new(seed);
        let (path, text) = texts[rng.below(texts.len())];
        read(path, text).unwrap_or_else(|e| panic!("{path} unchanged: {e:#}"));
        let text = changed(text, &mut rng);
        match catch_unwind(AssertUnwindSafe(|| read(path, &text))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                refused += 1;
                assert!(
                    !format!("{error:#}").trim().is_empty(),
                    "{what} seed {seed}: refused without a word"
                );
            }
            Err(_) => panic!("{what} seed {seed}: {path} kills its reader:\n{text}"),
        }
    }
    // Otherwise nothing was changed, or nothing is read.
    assert!(
        refused > times / 10 && refused < times,
        "{what}: {refused} of {times} refused"
    );
}

#[test]
fn changed_claims_are_read_or_refused() {
    survives("claims", carried::CLAIMS, 600, |path, text| {
        let claim = Claim::parse(path, text)?;
        let _ = (claim.jobs().count(), claim.is_about("fault"));
        Ok(())
    });
}

#[test]
fn changed_settings_are_read_or_refused() {
    survives("settings", carried::SETTINGS, 600, |path, text| {
        Setting::parse(path, text).map(drop)
    });
}

#[test]
fn changed_topics_of_advice_are_read_or_refused() {
    survives("topics", carried::TOPICS, 600, |path, text| {
        let topic = Topic::parse(path, text)?;
        let _ = topic.range();
        Ok(())
    });
}

#[test]
fn no_changed_file_of_advice_is_used_and_none_that_is_sealed_has_impossible_figures() {
    let text = advice_here(here()).canonical().unwrap();
    let times = if thorough() { 10_000 } else { 1000 };
    let (mut different, mut sealed) = (0, 0);
    for seed in 0..times {
        let changed = changed(&text, &mut Seeded::new(seed));
        let read = catch_unwind(|| (Advice::parse(&changed), Advice::parse_changed(&changed)));
        let (used, read) = read.unwrap_or_else(|_| panic!("seed {seed} kills its reader"));
        assert_eq!(used.is_ok(), changed == text, "seed {seed}: {changed}");
        different += u64::from(changed != text);
        // A user may seal what can be read: it says the same then, and only figures that can be.
        let Ok(advice) = read else { continue };
        sealed += 1;
        let again = Advice::parse(&advice.canonical().unwrap()).unwrap();
        assert_eq!(again, advice, "seed {seed}");
        let ratios = again.questions.values().flat_map(Question::agreed);
        for segment in ratios {
            let ascends = 0.0 < segment.at_least
                && segment.at_least <= segment.ratio
                && segment.ratio <= segment.at_most
                && segment.at_most <= 1.0;
            assert!(ascends, "seed {seed}: {segment:?}");
        }
    }
    println!(
        "{times} changes of advice: {different} differ and are refused, {sealed} could be sealed"
    );
    assert!(different > times * 9 / 10 && sealed > 0);
}

/// What six nodes would have been learnt to cost, two cells of one kind.
const CRITERIA: &str = r#"{"schema": 1, "what": ["fault/touch@c-O3", "fault/thp@c-O3"], "set": ["bytes=16777216"], "kinds": [
  {"facts": {"kernel": "6.1", "cpu": "x"}, "memory_bytes": 68719476736, "nodes": 6, "cells": [
    {"cell": "fault/m0@c-O3", "parameters": {"bytes": "16777216"}, "status": "ok",
     "per_unit_ns": 180.5, "low_ns": 120.0, "high_ns": 260.25},
    {"cell": "fault/m1@c-O3", "parameters": {}, "status": "skipped"}]}]}"#;

#[test]
fn no_changed_file_of_criteria_is_used_as_others_than_were_written() {
    let criteria = Criteria::parse(CRITERIA).unwrap().sealed().unwrap();
    let text = report::escape::pretty_json(&criteria).unwrap();
    let times = if thorough() { 10_000 } else { 1000 };
    let (mut refused, mut same) = (0, 0);
    for seed in 0..times {
        let changed = flipped(&text, &mut Seeded::new(seed));
        match Criteria::parse(&changed) {
            Ok(read) => {
                same += 1;
                let unsealed = |criteria: &Criteria| Criteria {
                    seal: None,
                    ..criteria.clone()
                };
                assert_eq!(
                    unsealed(&read),
                    unsealed(&criteria),
                    "seed {seed}: {changed}"
                );
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    println!("{times} changes of criteria: {refused} refused, {same} without effect");
    assert!(refused > times * 9 / 10 - 100 && refused < times);
}

/// One change: a bit, a cut, or a digit put in.
fn flipped(text: &str, rng: &mut Seeded) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = rng.below(bytes.len());
    match rng.below(3) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes.truncate(at),
        _ => bytes.insert(at, b'0' + rng.below(10) as u8),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn changed_criteria_of_a_fleet_are_read_or_refused() {
    let mut gathered = Gathered::default();
    (0..3).for_each(|number| {
        gathered.questions.index(nodes::question(number));
    });
    let run = nodes::node("n1", "6.1", 1.0);
    survives(
        "criteria",
        &[("criteria.json", CRITERIA)],
        600,
        |_, text| {
            let checked = check(&Criteria::parse(text)?, &gathered, &run);
            let words = report::fleet::checked("n1", &checked);
            assert!(!words.contains("NaN") && !words.contains("inf"), "{words}");
            Ok(())
        },
    );
}
