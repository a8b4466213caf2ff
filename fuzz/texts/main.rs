//! What reads claims, settings, topics of advice, files of advice and laws: it accepts a
//! text or refuses it in words, and never dies. PAGEWISE_FUZZ names which of them reads.
#![no_main]

use std::sync::LazyLock;

use anyhow::Result;
use libfuzzer_sys::fuzz_target;
use record::advice::{Advice, Topic};
use record::claim::Claim;
use record::expression::{Expression, Law};
use record::setting::Setting;

static WHAT: LazyLock<String> = LazyLock::new(|| std::env::var("PAGEWISE_FUZZ").unwrap_or_default());

fn read(text: &str) -> Result<()> {
    match WHAT.as_str() {
        "claims" => {
            let claim = Claim::parse("claims/x.toml", text)?;
            let _ = (claim.jobs().count(), claim.is_about("fault"));
        }
        "settings" => drop(Setting::parse("settings/x.toml", text)?),
        "topics" => drop(Topic::parse("advice/x.toml", text)?.range()),
        "advice" => {
            let advice = Advice::parse_changed(text)?;
            let _ = advice.questions.values().map(|question| question.agreed().count()).sum::<usize>();
            // What is accepted can be written, and is the same when it is read again.
            let written = advice.canonical()?;
            assert_eq!(Advice::parse(&written)?.canonical()?, written);
        }
        "laws" => {
            let _ = Expression::parse(text);
            drop(Law::parse_all(text)?);
        }
        other => panic!("PAGEWISE_FUZZ={other} names nothing that reads"),
    }
    Ok(())
}

fuzz_target!(|text: &str| {
    if let Err(error) = read(text) {
        assert!(!format!("{error:#}").trim().is_empty(), "refused without a word");
    }
});
