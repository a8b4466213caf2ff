//! The suite under every setting of transparent huge pages: a method's name must hold whatever the machine's setting is.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::run::guard::Guard;

/// The machine's setting (admin-guide/mm/transhuge.rst).
const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// All that it can be.
const MODES: [&str; 3] = ["always", "madvise", "never"];

/// Runs the suite once in each mode and puts the setting back, also where the laboratory is killed; the worst exit code.
pub(super) fn in_each(mut suite: impl FnMut() -> Result<u8>) -> Result<u8> {
    let setting = Path::new(SETTING);
    let old = fs::read_to_string(setting).with_context(|| format!("{SETTING}: this kernel has no such setting"))?;
    let old = chosen(&old).with_context(|| format!("{SETTING} says {old:?}"))?.to_owned();
    let mut guard = Guard::start()?;
    guard.undo(&format!("write {SETTING} {old}"))?;
    let mut worst = 0;
    for mode in MODES {
        fs::write(setting, mode).with_context(|| format!("only root may change {SETTING}"))?;
        say!("transparent huge pages: {mode}");
        worst = worst.max(suite()?);
    }
    Ok(worst)
}

/// The word in brackets.
fn chosen(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_the_word_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n"), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }
}
