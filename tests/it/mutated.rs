//! Files of a user that were damaged or made to do harm: claims, settings, advice and its topics, published tables, methods'
//! own lines. A few hundred seeded changes of each, in this process: what reads them accepts them or says why; it never dies.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pagewise::worker::carried;
use record::advice::{Advice, Topic};
use record::claim::Claim;
use record::setting::Setting;
use stats::rng::Seeded;

use crate::advise::{advice_here, here};
use crate::support::skips::thorough;

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
        let ratios = again
            .questions
            .values()
            .flat_map(|question| &question.segments);
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
