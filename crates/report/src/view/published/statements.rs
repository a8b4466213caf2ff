//! The sentences of an article: which of them hold here, by which figure, and what backs or breaks them.

use super::{ArticleRow, interval_of, obstacle};
use crate::render::document::{Block, TableCell};
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use crate::view::claims::verdict;
use judge::questions::published::{RepeatedFigure, verdict as word_of};
use record::claim::{Claim, Word};
use record::outcome::{Cause, Outcome};
use record::published::Published;
use record::sizes::{about_size, three_digits};
use record::summary::{CellSummary, FactProof, PhaseSummary, Summary};

/// A sentence with the row that decides it.
struct Statement<'a> {
    claim: &'a Claim,
    row: ArticleRow<'a>,
    margin: f64,
}

impl Statement<'_> {
    /// The verdict by one repetition, with its figure.
    fn verdict(&self, repeated: Option<RepeatedFigure>) -> String {
        let Some(repeated) = repeated else {
            return String::new();
        };
        let Some(here) = repeated.here else {
            return without_figure(obstacle(&repeated));
        };
        let word = word_of(self.claim, &here, self.margin);
        let interval = interval_of(&here);
        let figure = three_digits(here.value);
        if word == Word::Undecided && interval.is_empty() {
            return format!("{figure}, from one launch");
        }
        format!("{}: {figure} ({interval})", verdict(word))
    }

    /// The reason behind the figure: what a reader may overlook, and what was counted.
    fn reason(&self) -> Option<String> {
        let counted = self
            .row
            .repetitions()
            .find_map(|repeated| counted(&repeated));
        let parts = [self.claim.confuses.clone(), counted];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("{}: {}", self.claim.id, parts.join(" ")))
    }
}

fn without_figure(outcome: Option<&Outcome>) -> String {
    match outcome {
        Some(Outcome {
            cause: Some(Cause::Budget),
            ..
        }) => "no time left".to_owned(),
        Some(outcome) => format!("{}: {}", outcome.status.word(), phrases::reason(outcome)),
        None => "not in this run".to_owned(),
    }
}

/// The article's sentences as a table, their reasons, and the claims that other commands answer.
pub(super) fn blocks(
    article: &Published,
    claims: &[Claim],
    rows: &[ArticleRow],
    summary: &Summary,
) -> Vec<Block> {
    let statements: Vec<Statement> = rows
        .iter()
        .filter_map(|&row| {
            let id = row.figure.claim.as_ref()?;
            let claim = claims.iter().find(|claim| claim.id == *id)?;
            Some(Statement {
                claim,
                row,
                margin: summary.settings.margin,
            })
        })
        .collect();
    if statements.is_empty() {
        return Vec::new();
    }
    let table = Columns::new("claim", |statement: &Statement| statement.claim.id.clone())
        .sentences("the article says", |statement| {
            statement.claim.statement.clone()
        })
        .number("published", |statement| {
            let value = statement.row.figure.value;
            TableCell::number(value.map_or_else(String::new, three_digits), value)
        })
        .sentences("here", |statement| {
            statement.verdict(statement.row.as_published)
        })
        .sentences("corrected", |statement| {
            statement.verdict(statement.row.corrected)
        })
        .table(
            "Each sentence of the article: the ratio that decides it, with 95 % limits",
            &statements,
        );
    let mut blocks = vec![
        Block::Heading("What holds here".to_owned()),
        Block::Table(table),
    ];
    blocks.extend(Block::list(
        "Why",
        statements.iter().filter_map(Statement::reason),
    ));
    blocks.extend(elsewhere(article, claims, &statements));
    blocks
}

/// The claims of the article that none of its rows decides, with the command that does.
fn elsewhere(article: &Published, claims: &[Claim], statements: &[Statement]) -> Option<Block> {
    let of_article = claims
        .iter()
        .filter(|claim| claim.table.as_deref() == Some(article.id.as_str()));
    let mut others: Vec<&str> = of_article
        .filter(|claim| statements.iter().all(|s| s.claim.id != claim.id))
        .map(|claim| claim.id.as_str())
        .collect();
    others.sort_unstable();
    (!others.is_empty()).then(|| {
        let ids = others.join(" ");
        Block::text(format!(
            "No row decides {}: pagewise claims {ids}",
            others.join(", ")
        ))
    })
}

/// What the kernel counted on both sides of a ratio, as far as it differs.
pub(super) fn counted(repeated: &RepeatedFigure) -> Option<String> {
    let phase = &repeated.figure.phase;
    let (method, base) = (repeated.cell?, repeated.divisor?);
    let parts: Vec<String> = COUNTERS
        .iter()
        .filter_map(|counter| {
            let [own, other] = [method, base].map(|cell| counter.value(cell, phase));
            let (own, other) = (own?, other?);
            let differs = own.max(other) > 1.1 * own.min(other) + 10.0;
            let [own, other] = [own, other].map(|value| counter.text(value));
            differs.then(|| format!("{} {own} against {other}", counter.name))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("Counted in {phase}: {}.", parts.join("; ")))
}

/// Something that the kernel counts or tells.
struct RatioCounter {
    name: &'static str,
    place: CounterPlace,
    is_size: bool,
}

/// The place of a counter in a cell.
enum CounterPlace {
    Phase(fn(&PhaseSummary) -> f64),
    Fact(&'static str),
}

const COUNTERS: [RatioCounter; 6] = [
    RatioCounter::of_phase("page faults", |phase| phase.minor_faults),
    RatioCounter::of_phase("page faults that read a device", |phase| phase.major_faults),
    RatioCounter::of_phase("waits", |phase| phase.voluntary_switches),
    RatioCounter::of_fact("in huge pages", "huge_bytes", true),
    RatioCounter::of_fact("from the device", "device_bytes", true),
    RatioCounter::of_fact("freed pages taken back", "reclaimed_pages", false),
];

impl RatioCounter {
    const fn of_phase(name: &'static str, value: fn(&PhaseSummary) -> f64) -> RatioCounter {
        RatioCounter {
            name,
            place: CounterPlace::Phase(value),
            is_size: false,
        }
    }

    const fn of_fact(name: &'static str, fact: &'static str, is_size: bool) -> RatioCounter {
        RatioCounter {
            name,
            place: CounterPlace::Fact(fact),
            is_size,
        }
    }

    fn value(&self, cell: &CellSummary, phase: &str) -> Option<f64> {
        match self.place {
            CounterPlace::Phase(value) => Some(value(cell.phases.get(phase)?)),
            CounterPlace::Fact(fact) => match cell.proofs.get(fact)? {
                FactProof::Number { max, .. } => Some(*max as f64),
                FactProof::Words(_) => None,
            },
        }
    }

    fn text(&self, value: f64) -> String {
        if self.is_size {
            about_size(value)
        } else {
            three_digits(value)
        }
    }
}
