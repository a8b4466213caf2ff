//! Verdict of a gate on a whole comparison.

use record::across::{Compared, GateWord, Gated, MissingCell};
use record::outcome::Status;

/// Verdict of a gate on all cells and counts together.
pub(crate) fn gated(compared: &Compared) -> Gated {
    let verdicts: Vec<GateWord> = compared
        .cells
        .iter()
        .filter_map(|cell| cell.gate)
        .chain(compared.counts.iter().map(|count| count.gate))
        .collect();
    let is_damaged = [&compared.a, &compared.b]
        .iter()
        .any(|side| side.runs.iter().any(|run| !run.damage.is_empty()));
    let differs = compared
        .differences
        .iter()
        .any(|fact| fact.matters && !fact.expected);
    let is_lost = compared
        .missing
        .iter()
        .any(|cell| is_lost(cell) && !is_doubtful(cell));
    let is_empty = compared.cells.is_empty() && compared.counts.is_empty();
    if is_damaged {
        Gated::Damaged
    } else if differs {
        Gated::NotComparable
    } else if verdicts.contains(&GateWord::Regression) {
        Gated::Regression
    } else if is_lost || is_empty {
        Gated::NotComparable
    } else if verdicts.contains(&GateWord::Undecided) || compared.missing.iter().any(is_doubtful) {
        Gated::Undecided
    } else {
        Gated::Passes
    }
}

fn is_doubtful(cell: &MissingCell) -> bool {
    [cell.a, cell.b]
        .iter()
        .flatten()
        .any(|status| matches!(status, Status::Untrusted | Status::Damaged))
}

fn is_lost(cell: &MissingCell) -> bool {
    cell.a == Some(Status::Ok) && cell.b != Some(Status::Ok)
}
