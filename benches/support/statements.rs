//! The statements of a run compared with a longer run of the same cells: does it contradict them?
//!
//! A statement is a sentence that the screen shows and an interval stands behind: "at least 8.5 % faster", "within 2 %", and
//! the set of those that may be the fastest. "Open" states nothing. What a sentence says is a range of ratios; it is
//! contradicted where the longer run's whole interval lies outside of it. An amount can be contradicted where the word is
//! not: 8.1 to 8.4 % faster is faster all the same.

use judge::selftest::real::logs;
use judge::sets::key;
use record::summary::{
    BestClaim, CellSummary, Comparison, GroupSummary, Ratio, Role, Summary, Verdict,
};
use stats::estimate::{LEAST_POINTS, Point, estimate};
use stats::interval::CONFIDENCE;
use stats::moderated::Prior;

/// Subject of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A method against the baseline, by the headline: at least so much faster.
    Faster,
    /// At least so much slower.
    Slower,
    Within,
    /// A leader, those within the margin of it, and that nobody is missing who may be as good.
    BestSet,
}

impl StatementKind {
    pub const ALL: [StatementKind; 4] = [
        StatementKind::Faster,
        StatementKind::Slower,
        StatementKind::Within,
        StatementKind::BestSet,
    ];

    /// As a row is named.
    pub fn label(self) -> &'static str {
        match self {
            StatementKind::Faster => "at least … faster",
            StatementKind::Slower => "at least … slower",
            StatementKind::Within => "within the margin",
            StatementKind::BestSet => "best set",
        }
    }
}

/// Result of a statement in the longer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementOutcome {
    /// It has no such interval.
    NotAsked,
    /// Its whole interval lies within what the sentence says.
    Confirmed,
    /// Its interval lies within and without.
    Open,
    /// Its whole interval lies outside, yet the word holds or may hold: only the amount was too much said.
    AmountContradicted,
    /// Its whole interval lies where the word itself is wrong.
    Contradicted,
}

/// One statement and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub kind: StatementKind,
    /// Of which cell, with its parameters; of a set its leader.
    pub cell: String,
    /// The ratios that the sentence says are possible.
    pub claimed: (f64, f64),
    /// The longer run's interval; of a set that of the pair that says most against it.
    pub interval: Option<(f64, f64)>,
    pub outcome: StatementOutcome,
}

/// The statements of `look`, each compared with `long`.
pub fn held_against(look: &Summary, long: &Summary) -> Vec<Statement> {
    let mut all = Vec::new();
    for group in &look.groups {
        let Some(headline) = look
            .experiment(&group.experiment)
            .map(|e| e.headline.as_str())
        else {
            continue;
        };
        let is_method = |c: &&Comparison| {
            c.phase == headline && matches!(look.cells[c.cell].role, Role::Method | Role::Published)
        };
        let compared = group.comparisons.iter().filter(is_method);
        all.extend(compared.filter_map(|comparison| of_comparison(look, long, group, comparison)));
        all.extend(
            group
                .best
                .iter()
                .filter_map(|best| of_set(look, long, group, best, headline)),
        );
    }
    all
}

fn outcome(
    interval: Option<(f64, f64)>,
    claimed: (f64, f64),
    word: (f64, f64),
) -> StatementOutcome {
    let Some((low, high)) = interval else {
        return StatementOutcome::NotAsked;
    };
    let outside = |(from, to): (f64, f64)| high < from || low > to;
    match () {
        () if outside(word) => StatementOutcome::Contradicted,
        () if outside(claimed) => StatementOutcome::AmountContradicted,
        () if low >= claimed.0 && high <= claimed.1 => StatementOutcome::Confirmed,
        () => StatementOutcome::Open,
    }
}

fn within(margin: f64) -> (f64, f64) {
    (1.0 / (1.0 + margin), 1.0 + margin)
}

fn of_comparison(
    look: &Summary,
    long: &Summary,
    group: &GroupSummary,
    comparison: &Comparison,
) -> Option<Statement> {
    let (same, ratio) = (within(look.settings.margin), comparison.contrast.ratio?);
    let (kind, claimed, word) = match comparison
        .contrast
        .holds_among_all
        .then_some(comparison.contrast.verdict)?
    {
        // "At least" is the interval's end that is nearer to one.
        Verdict::Faster { .. } => (StatementKind::Faster, (0.0, ratio.high), (0.0, same.0)),
        Verdict::Slower { .. } => (
            StatementKind::Slower,
            (ratio.low, f64::INFINITY),
            (same.1, f64::INFINITY),
        ),
        Verdict::Within { margin } => (StatementKind::Within, within(margin), within(margin)),
        Verdict::NotSettled => return None,
    };
    let cell = &look.cells[comparison.cell];
    let interval = compared_there(
        long,
        [cell, &look.cells[group.baseline?]],
        &comparison.phase,
    );
    let interval = interval.map(|ratio| (ratio.low, ratio.high));
    Some(Statement {
        kind,
        cell: name(cell),
        claimed,
        interval,
        outcome: outcome(interval, claimed, word),
    })
}

/// The longer run's own interval of a cell against the same baseline.
fn compared_there(long: &Summary, [cell, base]: [&CellSummary; 2], phase: &str) -> Option<Ratio> {
    let is = |index: usize, wanted: &CellSummary| key(&long.cells[index]) == key(wanted);
    let group = long
        .groups
        .iter()
        .find(|g| g.baseline.is_some_and(|b| is(b, base)))?;
    group
        .comparisons
        .iter()
        .find(|c| c.phase == phase && is(c.cell, cell))?
        .contrast
        .ratio
}

/// The ratio of two cells of a run from what each launch brought, at the ordinary confidence.
fn ratio_of(run: &Summary, [base, cell]: [&CellSummary; 2], phase: &str) -> Option<(f64, f64)> {
    let logs = logs(base, cell, phase)?;
    let points: Vec<Point> = logs
        .iter()
        .map(|log| Point {
            log: *log,
            rounds: 1,
            round_variance: 0.0,
        })
        .collect();
    let interval = estimate(&points, &Prior::NONE, CONFIDENCE)
        .ok()?
        .widened(run.calibration.widened);
    Some((interval.low, interval.high))
}

/// The methods of a kind that were ranked: those with launches enough.
fn ranked<'a>(
    run: &'a Summary,
    group: &'a GroupSummary,
    kind: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let of_kind =
        move |cell: &CellSummary| cell.role == Role::Method && cell.group == kind && !cell.hidden;
    let enough =
        |cell: &CellSummary| cell.per_launch.len() >= LEAST_POINTS && !cell.phases.is_empty();
    group
        .cells
        .iter()
        .copied()
        .filter(move |&c| of_kind(&run.cells[c]) && enough(&run.cells[c]))
}

/// A set is contradicted where somebody called within the margin of the leader is not, or where somebody was left out who is
/// within the margin of everybody.
fn of_set(
    look: &Summary,
    long: &Summary,
    group: &GroupSummary,
    best: &BestClaim,
    phase: &str,
) -> Option<Statement> {
    let named = |c: usize| {
        c == best.leader || best.within.contains(&c) || best.unsettled.iter().any(|u| u.cell == c)
    };
    let left_out: Vec<usize> = ranked(look, group, &best.group)
        .filter(|&c| !named(c))
        .collect();
    if left_out.is_empty() && best.within.is_empty() {
        return None;
    }
    let there = |c: usize| {
        long.cells
            .iter()
            .find(|l| !l.hidden && key(l) == key(&look.cells[c]))
    };
    let same = within(look.settings.margin);
    let mut pairs: Vec<((f64, f64), StatementOutcome)> = Vec::new();
    for &cell in &best.within {
        let ratio = there(best.leader)
            .zip(there(cell))
            .and_then(|(a, b)| ratio_of(long, [a, b], phase));
        pairs.extend(ratio.map(|ratio| (ratio, outcome(Some(ratio), same, same))));
    }
    let kind: Vec<usize> = ranked(look, group, &best.group).collect();
    for &cell in &left_out {
        let against = |other: usize| ratio_of(long, [there(other)?, there(cell)?], phase);
        // The one whom it is farthest behind says most for leaving it out.
        let others = kind
            .iter()
            .filter(|&&other| other != cell)
            .filter_map(|&other| against(other));
        let worst = others.max_by(|a, b| a.1.total_cmp(&b.1));
        let beaten = (same.1, f64::INFINITY);
        pairs.extend(worst.map(|ratio| (ratio, outcome(Some(ratio), beaten, beaten))));
    }
    let rank = |outcome: StatementOutcome| match outcome {
        StatementOutcome::Contradicted | StatementOutcome::AmountContradicted => 2,
        StatementOutcome::Open => 1,
        StatementOutcome::Confirmed | StatementOutcome::NotAsked => 0,
    };
    let worst = pairs.into_iter().max_by_key(|(_, outcome)| rank(*outcome));
    Some(Statement {
        kind: StatementKind::BestSet,
        cell: name(&look.cells[best.leader]),
        claimed: same,
        interval: worst.map(|(ratio, _)| ratio),
        outcome: worst.map_or(StatementOutcome::NotAsked, |(_, outcome)| outcome),
    })
}

fn name(cell: &CellSummary) -> String {
    let (name, parameters) = key(cell);
    parameters
        .into_iter()
        .fold(name, |text, (key, value)| format!("{text} {key}={value}"))
}
