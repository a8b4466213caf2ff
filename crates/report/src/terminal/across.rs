//! Two sets of runs held against each other, in lines no wider than the terminal: the environment first, then every cell.

use record::across::Compared;

use super::Screen;
use super::layout::{Side, table, wrap};
use crate::view::{ComparedTable, ComparedView, FactRow, TurnedView};

/// Differences that are shown of those that change no figure.
const HARMLESS: usize = 3;

/// Everything that is said of two sets of runs; `claims` where both are runs of claims.
pub fn compared(compared: &Compared, claims: bool, screen: &Screen) -> String {
    let view = ComparedView::of(compared, claims);
    let mut lines = Vec::new();
    for side in &view.sides {
        lines.extend(wrap(&format!("{}  {}: {}", side.name, side.what, side.runs.join(" ")), 0, screen));
        if !side.unlike.is_empty() {
            lines.extend(wrap(&side.unlike, 3, screen));
        }
    }
    lines.extend(environment(&view, screen));
    lines.extend(view.tables.iter().flat_map(|one| cells(one, screen)));
    lines.push(String::new());
    let sentences = view.missing.iter().chain(&view.sure).chain(&view.gate);
    lines.extend(sentences.flat_map(|said| wrap(said, 0, screen)));
    if let Some(turned) = &view.turned {
        lines.push(String::new());
        lines.extend(verdicts(turned, screen));
    }
    lines.join("\n") + "\n"
}

fn environment(view: &ComparedView, screen: &Screen) -> Vec<String> {
    let told = |fact: &FactRow| {
        let expected = if fact.expected { " (as asked)" } else { "" };
        wrap(&format!("{}: {} → {}{expected}", fact.field, fact.a, fact.b), 2, screen)
    };
    let mut lines = vec![String::new()];
    lines.extend(wrap(&view.environment, 0, screen));
    lines.extend(view.gravely.iter().flat_map(told));
    if !view.harmless.is_empty() {
        let names: Vec<&str> = view.harmless.iter().take(HARMLESS).map(|d| d.field.as_str()).collect();
        let more = view.harmless.len().saturating_sub(HARMLESS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.extend(wrap(&format!("also {}{more}, which should change none", names.join(", ")), 2, screen));
    }
    lines
}

fn cells(own: &ComparedTable, screen: &Screen) -> Vec<String> {
    let gate = own.rows.iter().any(|row| !row.gate.is_empty());
    let title = format!("{}: {}", own.experiment, own.measure);
    let heads = [&title, "A", "B", "what that says of B", "gate"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(own.rows.iter().map(|row| {
        let [(_, a), (_, b)] = &row.cost;
        [&row.label, a, b, &row.said, row.gate].map(str::to_owned).to_vec()
    }));
    let sides = [Side::Left, Side::Right, Side::Right, Side::Left, Side::Left];
    let columns = sides.len() - usize::from(!gate);
    rows.iter_mut().for_each(|row| row.truncate(columns));
    let mut lines = vec![String::new()];
    if !own.constant.is_empty() {
        lines.extend(wrap(&format!("throughout: {}", own.constant.join(" ")), 0, screen));
    }
    lines.extend(table(&rows, &sides[..columns], 0, screen));
    lines
}

/// Claims whose verdict is not the same.
fn verdicts(turned: &[TurnedView], screen: &Screen) -> Vec<String> {
    if turned.is_empty() {
        return wrap("claims: every verdict of A is the same in B", 0, screen);
    }
    let mut lines = wrap("claims: these verdicts are not the same in A and B", 0, screen);
    for one in turned {
        lines.extend(wrap(&format!("{} ({}): {}", one.id, one.job, one.statement), 2, screen));
        let side = |at: usize| format!("{} {}", one.words[at], one.figures[at]).trim_end().to_owned();
        lines.extend(wrap(&format!("{} → {}", side(0), side(1)), 4, screen));
    }
    lines
}
