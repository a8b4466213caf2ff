//! The suite under every setting of transparent huge pages: a method's name must hold whatever the machine's setting is.

use crate::run::guard::{Guard, Undo, Undoing};
use anyhow::{Context, Result};
use files::kernel;
use std::path::Path;

/// The machine's setting (admin-guide/mm/transhuge.rst).
const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// That of one smaller size; kernels before 6.8 have none.
const SMALLER: &str = "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled";
/// All that the machine's can be, and what a smaller size may be besides.
const MODES: [(&str, Option<&str>); 5] =
    [("always", None), ("madvise", None), ("never", None), ("madvise", Some("always")), ("always", Some("madvise"))];

/// Beyond it lie the exit codes of a suite that a signal ended.
const SIGNALLED: u8 = 128;

/// Value of a setting, which the guard puts back.
fn kept(setting: &str, guard: &mut Guard) -> Result<()> {
    let old = kernel::read(setting).with_context(|| format!("{setting}: this kernel has no such setting"))?;
    let old = chosen(&old).with_context(|| format!("{setting} says {old:?}"))?;
    guard.undo(Undo::Restore { setting: Path::new(setting), text: old })
}

fn set(setting: &str, word: &str) -> Result<()> {
    kernel::write(setting, word).with_context(|| format!("only root may change {setting}"))
}

/// Runs the suite once in each mode and puts the settings back, also where the laboratory is killed; the worst exit code.
pub(super) fn in_each(mut suite: impl FnMut() -> Result<u8>) -> Result<u8> {
    let has_smaller = Path::new(SMALLER).exists();
    let mut guard = Guard::start()?;
    kept(SETTING, &mut guard)?;
    if has_smaller {
        kept(SMALLER, &mut guard)?;
    }
    let mut worst = 0;
    for (mode, smaller) in MODES {
        if smaller.is_some() && !has_smaller {
            say!("transparent huge pages of 64 KiB: skipped: this kernel has no such pages");
            continue;
        }
        set(SETTING, mode)?;
        if has_smaller {
            set(SMALLER, smaller.unwrap_or("never"))?;
        }
        let besides = smaller.map_or_else(String::new, |word| format!(", those of 64 KiB {word}"));
        say!("transparent huge pages: {mode}{besides}");
        worst = worst.max(suite()?);
        if worst > SIGNALLED {
            break;
        }
    }
    Ok(worst)
}

fn chosen(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

#[cfg(test)]
#[path = "../../tests/unit/check/modes.rs"]
mod tests;
