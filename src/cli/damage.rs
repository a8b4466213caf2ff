//! Damage of kept records: named on standard error, with an exit code of its own.

use record::{command::KeptCommand, summary::Summary};

/// Exit code of a verb whose answer rests on a damaged record.
pub(super) const DAMAGED: u8 = 3;

/// Exit code of a verb that used a run: 3 if it is damaged, which is named; otherwise `code`.
pub(super) fn code_of_run(summary: &Summary, code: u8) -> u8 {
    report_damage(&summary.run, summary.damage(), code)
}

/// Exit code of a verb that used a study of a program: 3 if it is damaged, which is named; otherwise `code`.
pub(super) fn code_of_program(kept: &KeptCommand, code: u8) -> u8 {
    let name = kept.path.file_name().unwrap_or_default().to_string_lossy();
    report_damage(&name, kept.damage.iter().map(String::as_str), code)
}

fn report_damage<'a>(run: &str, mut damage: impl Iterator<Item = &'a str>, code: u8) -> u8 {
    let Some(first) = damage.next() else {
        return code;
    };
    let more = damage.count();
    let more = if more > 0 {
        format!(" (and {more} more)")
    } else {
        String::new()
    };
    remark!("pagewise: {run} is damaged, and what it touches is left out: {first}{more}");
    DAMAGED
}
