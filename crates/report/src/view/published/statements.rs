//! The sentences of an article: which of them hold here, by which figure, and what backs or breaks them.

use super::{ArticleRow, interval_of, obstacle};
use crate::render::document::{Block, TableCell};
use crate::sentences::phrases;
use crate::tables::columns::Columns;
use crate::view::claims::verdict;
use judge::questions::claims::MARGIN;
use judge::questions::published::{RepeatedFigure, verdict as word_of};
use record::claim::{Claim, Word};
use record::outcome::{Cause, Outcome};
use record::published::Published;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{CellSummary, FactProof, PhaseSummary};

/// A sentence with the row that decides it.
struct Statement<'a> {
    claim: &'a Claim,
    row: ArticleRow<'a>,
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
        let interval = interval_of(&here);
        let figure = three_digits(here.value);
        // What broke a law decides nothing.
        if let Some(outcome) = obstacle(&repeated) {
            return format!("{}: {figure} ({interval})", outcome.status.word());
        }
        let word = word_of(self.claim, &repeated, MARGIN);
        if word == Word::Undecided && interval.is_empty() {
            return format!("{figure}, from one launch");
        }
        let noisy = if repeated.is_noisy { "noisy, " } else { "" };
        format!("{}: {noisy}{figure} ({interval})", verdict(word))
    }

    /// The reason behind the figure: what a reader may overlook, and what was counted.
    fn reason(&self) -> Option<String> {
        let counted = self
            .row
            .repetitions()
            .find_map(|repeated| counted(&repeated));
        let part = self.row.repetitions().find_map(|repeated| part(&repeated));
        let parts = [self.claim.confuses.clone(), counted, part];
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
pub(super) fn blocks(article: &Published, claims: &[Claim], rows: &[ArticleRow]) -> Vec<Block> {
    let statements: Vec<Statement> = rows
        .iter()
        .filter_map(|&row| {
            let id = row.figure.claim.as_ref()?;
            let claim = claims.iter().find(|claim| claim.id == *id)?;
            Some(Statement { claim, row })
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

/// What the kernel counted on both sides of a ratio, as far as it differs; where nothing does, what both have.
pub(super) fn counted(repeated: &RepeatedFigure) -> Option<String> {
    let phase = &repeated.figure.phase;
    let (method, base) = (repeated.cell?, repeated.divisor?);
    let (mut different, mut alike) = (Vec::new(), Vec::new());
    for counter in &COUNTERS {
        let value = counter.value(method, phase);
        let other = counter.value(base, repeated.figure.divisor_phase());
        let Some((value, other)) = value.zip(other) else {
            continue;
        };
        let differs = value.max(other) > 1.1 * value.min(other) + counter.form.least();
        let [text, other_text] = [value, other].map(|value| counter.form.text(value));
        if differs {
            different.push(format!("{} {text} against {other_text}", counter.name));
        } else if value.min(other) > counter.form.least() {
            alike.push(format!("{} {text} in both", counter.name));
        }
    }
    let parts = if different.is_empty() {
        alike
    } else {
        different
    };
    (!parts.is_empty()).then(|| format!("Counted in {phase}: {}.", parts.join("; ")))
}

/// The time of a part of the work alone on both sides of a ratio, beside that of all of it.
fn part(repeated: &RepeatedFigure) -> Option<String> {
    let (phase, part) = (&repeated.figure.phase, repeated.figure.part.as_ref()?);
    let side = |cell: &CellSummary| {
        let [whole, alone] = [phase, part].map(|name| cell.phases.get(name));
        let (whole, alone) = whole.zip(alone)?;
        let [alone, whole] = [alone, whole].map(|phase| format_ns(phase.per_unit_ns.median));
        Some(format!("{alone} of {whole}"))
    };
    let (method, base) = (side(repeated.cell?)?, side(repeated.divisor?)?);
    Some(format!(
        "Of {phase}, {part} takes {method} by itself, against {base}."
    ))
}

/// Something that the kernel counts or tells.
struct RatioCounter {
    name: &'static str,
    place: CounterPlace,
    form: CounterForm,
}

/// The place of a counter in a cell.
enum CounterPlace {
    Phase(fn(&PhaseSummary) -> f64),
    Fact(&'static str),
}

/// The unit of a counter.
#[derive(Clone, Copy)]
enum CounterForm {
    Count,
    Size,
    /// Nanoseconds.
    Time,
}

const COUNTERS: [RatioCounter; 7] = [
    RatioCounter::of_phase("page faults", |phase| phase.minor_faults),
    RatioCounter::of_phase("page faults that read a device", |phase| phase.major_faults),
    RatioCounter {
        name: "time in the kernel",
        place: CounterPlace::Phase(|phase| phase.system_ns),
        form: CounterForm::Time,
    },
    RatioCounter::of_phase("waits", |phase| phase.voluntary_switches),
    RatioCounter::of_fact("in huge pages", "huge_bytes", CounterForm::Size),
    RatioCounter::of_fact("from the device", "device_bytes", CounterForm::Size),
    RatioCounter::of_fact(
        "freed pages taken back",
        "reclaimed_pages",
        CounterForm::Count,
    ),
];

impl RatioCounter {
    const fn of_phase(name: &'static str, value: fn(&PhaseSummary) -> f64) -> RatioCounter {
        RatioCounter {
            name,
            place: CounterPlace::Phase(value),
            form: CounterForm::Count,
        }
    }

    const fn of_fact(name: &'static str, fact: &'static str, form: CounterForm) -> RatioCounter {
        RatioCounter {
            name,
            place: CounterPlace::Fact(fact),
            form,
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
}

impl CounterForm {
    /// The least amount that says anything.
    fn least(self) -> f64 {
        match self {
            CounterForm::Count | CounterForm::Size => 10.0,
            // A tick of the kernel's clock.
            CounterForm::Time => 4e6,
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            CounterForm::Count => three_digits(value),
            CounterForm::Size => about_size(value),
            CounterForm::Time => format_ns(value),
        }
    }
}
