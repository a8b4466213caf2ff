//! Two sets of runs as a document: the environment first, then every cell, then claims whose verdict differs.

use crate::render::document::{
    Block, Body, Column, Document, Entry, Key, Place, Section, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::{numbers, numbers::Work, phrases, wording};
use minijinja::context;
use record::across::{Compared, ComparedCell, ComparedSide, FactDifference, GateWord, MissingCell};
use record::summary::{Ratio, Verdict};
use record::{cell::parameter_words, claim::AnswerChange};
use stats::across::LEAST_RUNS;
use std::collections::{BTreeMap, BTreeSet};

/// Harmless differences that a screen names.
const HARMLESS: usize = 3;

/// The comparison of two sets of runs; `claims` where both are runs of claims. `again` is the command that repeats it.
pub fn compared(compared: &Compared, claims: bool, again: &str) -> Document {
    let sides = [("A", &compared.a), ("B", &compared.b)];
    let mut document = Document::new(
        "comparison",
        sides.map(|(name, side)| format!("{name}: {}", machine(side))),
    );
    let missing = Block::list("not compared", compared.missing.iter().map(missing))
        .into_iter()
        .collect();
    let runs = sides.into_iter().filter_map(|(name, side)| {
        let runs = side
            .runs
            .iter()
            .map(|run| format!("pagewise report {}", run.run));
        Block::list(format!("The runs of {name}"), runs)
    });
    let repeat = std::iter::once(Block::Commands(vec![again.to_owned()]))
        .chain(runs)
        .collect();
    let names = |side: &ComparedSide| {
        side.runs
            .iter()
            .map(|run| run.run.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let run_names = |(name, side): (&str, &ComparedSide)| Block::list(name, [names(side)]);
    document = document.section(
        "answers",
        "",
        Place::Screen,
        sides.into_iter().filter_map(run_names).collect(),
    );
    document = document.section(
        "environment",
        "Environment",
        Place::Everywhere,
        environment(compared),
    );
    for (experiment, cells) in by_experiment(&compared.cells) {
        let title = format!("{experiment}: {}", measure(&cells));
        let (id, short) = (format!("experiment-{experiment}"), experiment.to_owned());
        let blocks = side_by_side(&cells, ["A", "B"], "run");
        document.sections.push(Section {
            id,
            title,
            short,
            place: Place::Everywhere,
            blocks,
        });
    }
    document = document.section("missing", "Not compared", Place::Everywhere, missing);
    if claims {
        document = document.section(
            "claims",
            "Claims with another verdict",
            Place::Everywhere,
            verdicts(&compared.claims),
        );
    }
    document = document.section("sure", "Answers", Place::Everywhere, answers(compared));
    document.section("repeat", "How to repeat it", Place::Page, repeat)
}

/// Claims alone whose verdicts differ between two runs of these names.
pub fn changes(changes: &[AnswerChange], names: [&str; 2], again: &str) -> Document {
    let head = names
        .iter()
        .zip(["A", "B"])
        .map(|(run, name)| format!("{name}: {run}"));
    Document::new("claims compared", head)
        .section(
            "claims",
            "Claims with another verdict",
            Place::Everywhere,
            verdicts(changes),
        )
        .section(
            "repeat",
            "How to repeat it",
            Place::Page,
            vec![Block::Commands(vec![again.to_owned()])],
        )
}

/// `3 runs on Intel Xeon, Linux 6.18`.
fn machine(side: &ComparedSide) -> String {
    let count = wording::count(side.runs.len(), "run");
    let fact = |key: &str| {
        side.environment
            .get(key)
            .filter(|v| *v != "unknown")
            .cloned()
    };
    let machine = [fact("cpu"), fact("kernel").map(|k| format!("Linux {k}"))];
    let machine = machine.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if machine.is_empty() {
        count
    } else {
        format!("{count} on {machine}")
    }
}

fn environment(compared: &Compared) -> Vec<Block> {
    let (grave, harmless): (Vec<_>, Vec<_>) = compared.differences.iter().partition(|d| d.matters);
    let mut blocks = vec![Block::text(match grave.len() {
        0 => "environment: nothing differs that could change a figure",
        _ => "environment: these differ and can change every figure below",
    })];
    let row = |fact: &&FactDifference| {
        let expected = if fact.expected { "as asked" } else { "" };
        Entry::new(
            &fact.field,
            vec![
                TableCell::text(&fact.a),
                TableCell::text(&fact.b),
                TableCell::text(expected),
            ],
        )
    };
    let columns = || {
        vec![
            Column::text("fact"),
            Column::sentences("A"),
            Column::sentences("B"),
            Column::text(""),
        ]
    };
    let table = |caption: &str, facts: &[&FactDifference]| {
        Block::Table(Table::new(caption, columns(), facts.iter().map(row)))
    };
    if !grave.is_empty() {
        blocks.push(table("Differences that can change every figure", &grave));
    }
    if !harmless.is_empty() {
        let names: Vec<&str> = harmless
            .iter()
            .take(HARMLESS)
            .map(|d| d.field.as_str())
            .collect();
        let more = harmless.len().saturating_sub(HARMLESS);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        blocks.push(Block::text(format!(
            "also {}{more}, which should change none",
            names.join(", ")
        )));
        blocks.extend(Block::part(
            "Differences that should change none",
            Place::Page,
            vec![table("", &harmless)],
        ));
    }
    for (name, side) in [("A", &compared.a), ("B", &compared.b)]
        .into_iter()
        .filter(|(_, side)| !side.unlike.is_empty())
    {
        let facts = side.unlike.join(", ");
        blocks.push(Block::text(format!(
            "the runs of {name} differ among themselves in {facts}"
        )));
    }
    blocks
}

pub(crate) fn by_experiment(cells: &[ComparedCell]) -> Vec<(&str, Vec<&ComparedCell>)> {
    cells
        .chunk_by(|a, b| a.headline.experiment == b.headline.experiment)
        .map(|c| (c[0].headline.experiment.as_str(), c.iter().collect()))
        .collect()
}

fn measure(cells: &[&ComparedCell]) -> String {
    cells.first().map_or_else(String::new, |c| {
        format!("{} per {}", c.headline.phase, c.headline.unit)
    })
}

/// The cells of one experiment on two sides of these names, with the unit of inference: `run`, `node`.
pub(crate) fn side_by_side(cells: &[&ComparedCell], [a, b]: [&str; 2], unit: &str) -> Vec<Block> {
    let constant = Constant::new(cells);
    let axis = Axis::over(cells.iter().filter_map(|c| c.estimate.as_ref()));
    let gate = cells.iter().any(|cell| cell.gate.is_some());
    let work = cells.first().map(|cell| Work::of_unit(&cell.headline.unit));
    let heading = |side: &str| {
        work.map_or_else(
            || side.to_owned(),
            |work| format!("{side} {}", work.heading()),
        )
    };
    let mut columns = vec![
        Column::text("cell"),
        Column::number(heading(a)),
        Column::number(heading(b)),
    ];
    columns.extend(
        axis.as_ref()
            .map(|axis| Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Room(0))),
    );
    columns.push(Column::sentences(format!("finding on {b}")));
    columns.extend(gate.then(|| Column::text("gate")));
    columns.push(Column::number(format!("ratio {b} / {a}")).shown(Shown::Room(1)));
    columns
        .extend([a, b].map(|side| {
            Column::number(format!("{side} from {unit} to {unit}")).shown(Shown::Page)
        }));
    let rows = cells
        .iter()
        .map(|cell| row(cell, constant.label(cell), axis.as_ref(), gate, (a, unit)));
    let measure = measure(cells);
    let mut caption = format!(
        "{measure}: {b}'s cost over {a}'s, with 95 % limits over {unit}s; left of 1 {b} costs less"
    );
    let with_dots = axis.is_some() && cells.iter().any(|cell| !cell.a.per_run_ns.is_empty());
    if with_dots {
        caption += &format!(". Each dot is a {unit} over the middle of {a}'s {unit}s");
    }
    let legend =
        [("launch-a", a, "above"), ("launch-b", b, "below")].map(|(class, side, place)| Key {
            class: class.into(),
            text: format!("{side}'s {unit}s, {place}"),
        });
    let legend = legend.into_iter().filter(|_| with_dots).collect();
    let fixed = constant.texts().join(" ");
    let fixed = (!fixed.is_empty()).then(|| Block::text(format!("fixed parameters: {fixed}")));
    fixed
        .into_iter()
        .chain([Block::Table(Table {
            legend,
            ..Table::new(caption, columns, rows)
        })])
        .collect()
}

fn row(
    cell: &ComparedCell,
    label: String,
    axis: Option<&Axis>,
    gate: bool,
    (a, unit): (&str, &str),
) -> Entry {
    let relative = |runs: &[f64]| -> Vec<f64> {
        let ratios = runs.iter().map(|ns| ns / cell.a.per_unit_ns);
        ratios
            .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
            .collect()
    };
    let ratio = TableCell::ratio(cell.estimate.as_ref());
    let work = Work::of_unit(&cell.headline.unit);
    let mut cells = vec![
        TableCell::work(work, cell.a.per_unit_ns),
        TableCell::work(work, cell.b.per_unit_ns),
    ];
    if let Some(axis) = axis {
        let runs = [relative(&cell.a.per_run_ns), relative(&cell.b.per_run_ns)];
        let plot = |ratio| Plot::Sides {
            axis: axis.clone(),
            ratio,
            runs,
            label: numbers::ratio_words(&ratio),
        };
        cells.push(TableCell::plot(cell.estimate.map(plot)));
    }
    cells.push(TableCell::text(finding(cell, a, unit)));
    cells.extend(gate.then(|| {
        TableCell::text(match cell.gate {
            None => "",
            Some(GateWord::Passes) => "passes",
            Some(GateWord::Regression) => "REGRESSION",
            Some(GateWord::Undecided) => "undecided",
        })
    }));
    cells.push(ratio);
    let scatter = |share: Option<f64>| {
        share.map_or_else(String::new, |s| format!("±{}", wording::percent(s)))
    };
    cells.extend(
        [&cell.a, &cell.b]
            .map(|side| TableCell::number(scatter(side.between_runs), side.between_runs)),
    );
    Entry {
        tone: tone(cell),
        ..Entry::new(label, cells)
    }
}

/// The parts that all cells of an experiment have in common, which are shown once.
struct Constant<'a> {
    worker: Option<&'a str>,
    parameters: BTreeMap<String, String>,
}

impl<'a> Constant<'a> {
    fn new(cells: &[&'a ComparedCell]) -> Constant<'a> {
        let mut values: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        cells
            .iter()
            .flat_map(|cell| &cell.headline.parameters)
            .for_each(|(key, value)| {
                values.entry(key).or_default().insert(value);
            });
        let only = values.into_iter().filter(|(_, all)| all.len() == 1);
        let workers: BTreeSet<Option<&str>> = cells.iter().map(|cell| worker(cell)).collect();
        Constant {
            worker: workers
                .first()
                .copied()
                .flatten()
                .filter(|_| workers.len() == 1),
            parameters: only
                .flat_map(|(key, all)| all.into_iter().map(|v| (key.clone(), v.clone())))
                .collect(),
        }
    }

    /// `@c-O3`, `release=dontneed` …
    fn texts(&self) -> Vec<String> {
        let text = parameter_words(&self.parameters, None);
        let parameters = text
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned);
        self.worker
            .iter()
            .map(|name| format!("@{name}"))
            .chain(parameters)
            .collect()
    }

    /// A cell by its method and what varies.
    fn label(&self, cell: &ComparedCell) -> String {
        let name = cell
            .headline
            .cell
            .split_once('/')
            .map_or(cell.headline.cell.as_str(), |(_, name)| name);
        let name = match self.worker {
            Some(worker) => name
                .strip_suffix(worker)
                .and_then(|name| name.strip_suffix('@'))
                .unwrap_or(name),
            None => name,
        };
        let varies = |(key, _): &(&String, &String)| !self.parameters.contains_key(*key);
        let varying: BTreeMap<String, String> = cell
            .headline
            .parameters
            .iter()
            .filter(varies)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        format!("{name} {}", parameter_words(&varying, None))
            .trim_end()
            .to_owned()
    }
}

fn worker(cell: &ComparedCell) -> Option<&str> {
    cell.headline.cell.split_once('@').map(|(_, worker)| worker)
}

/// The finding on one cell; with too few units of inference its figure, and that it is no verdict.
fn finding(cell: &ComparedCell, a: &str, unit: &str) -> String {
    match &cell.estimate {
        None => format!("{:.2} × {a}; too few {unit}s for a verdict", cell.ratio),
        Some(ratio) => wording::finding(Some(ratio), cell.verdict, cell.holds_among_all),
    }
}

fn tone(cell: &ComparedCell) -> Tone {
    if cell.estimate.is_none() {
        Tone::Plain
    } else {
        Tone::of_verdict(cell.verdict, cell.holds_among_all)
    }
}

/// The number of cells with each verdict.
fn count(cells: &[ComparedCell]) -> String {
    if cells.is_empty() {
        return "No cell was measured on both sides.".to_owned();
    }
    let with = |wanted: Tone| {
        cells
            .iter()
            .filter(|c| c.estimate.is_some() && tone(c) == wanted)
            .count()
    };
    let too_few = cells.iter().filter(|c| c.estimate.is_none()).count();
    let counts = [
        (with(Tone::Faster), "faster on B"),
        (with(Tone::Slower), "slower on B"),
        (with(Tone::Plain), "within the margin"),
        (with(Tone::Open), "not settled"),
        (too_few, "with too few runs for a verdict"),
    ];
    let parts = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, finding)| format!("{n} {finding}"));
    format!(
        "Of {}: {}.",
        wording::count(cells.len(), "cell"),
        parts.collect::<Vec<_>>().join(", ")
    )
}

fn missing(missing: &MissingCell) -> String {
    let side =
        |status: Option<record::outcome::Status>| status.map_or("absent".to_owned(), |s| s.word());
    let reason = phrases::sentence("missing", &missing.reason);
    format!(
        "{} (A {}, B {}): {reason}",
        missing.cell,
        side(missing.a),
        side(missing.b)
    )
}

/// The gate, the count of verdicts, and how sure they are.
fn answers(compared: &Compared) -> Vec<Block> {
    let sentence = |(gated, gate)| {
        phrases::phrase(
            "compare",
            &gated,
            context! { gate => wording::percent(gate) },
        )
    };
    let mut blocks = Vec::from_iter(
        compared
            .gated
            .zip(compared.gate)
            .map(sentence)
            .map(Block::Answer),
    );
    blocks.push(Block::Answer(count(&compared.cells)));
    let (a, b) = (compared.a.runs.len(), compared.b.runs.len());
    let mut items = Vec::new();
    for run in compared.a.runs.iter().chain(&compared.b.runs) {
        let more = run.damage.len().saturating_sub(1);
        let more = if more > 0 {
            format!(" (and {more} more)")
        } else {
            String::new()
        };
        let sentence = |seen: &String| {
            format!(
                "{} is damaged, and what it touches is left out: {seen}{more}",
                run.run
            )
        };
        items.extend(run.damage.first().map(sentence));
        items.extend(
            run.interrupted
                .then(|| format!("{} was interrupted", run.run)),
        );
    }
    items.extend(
        [("A", &compared.a), ("B", &compared.b)]
            .into_iter()
            .filter_map(|(name, side)| disturbed(name, side)),
    );
    items.extend(needed(compared));
    items.push(if a.min(b) < LEAST_RUNS {
        format!(
            "a verdict needs {LEAST_RUNS} runs a side, best made in turns (A B A B …): between two runs everything else may differ too"
        )
    } else {
        let margin = wording::percent(compared.margin);
        format!("unpaired: {a} and {b} runs, intervals over runs (95 %), margin {margin}")
    });
    let scatter = compared
        .cells
        .iter()
        .flat_map(|c| [c.a.between_runs, c.b.between_runs])
        .flatten();
    if let Some(noise) = scatter.reduce(f64::max) {
        items.push(format!(
            "from run to run one side's costs scatter by up to {}",
            wording::percent(noise)
        ));
    }
    if compared
        .cells
        .iter()
        .any(|c| c.estimate.is_some() && !c.holds_among_all)
    {
        items.push(wording::AMONG_ALL.to_owned());
    }
    blocks.extend(Block::list("How sure", items));
    blocks
}

/// A sentence on what disturbed the runs of a side, and on its untrusted cells.
fn disturbed(name: &str, side: &ComparedSide) -> Option<String> {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for (code, cells) in side.runs.iter().flat_map(|run| &run.disturbed) {
        *codes.entry(code).or_default() += cells;
    }
    let seen = |(code, cells): (&str, usize)| {
        let name = code.replace('-', " ");
        if cells == 0 {
            name
        } else {
            format!("{name} ({})", wording::count(cells, "cell"))
        }
    };
    let mut parts: Vec<String> = codes.into_iter().map(seen).collect();
    let untrusted: usize = side.runs.iter().map(|run| run.untrusted).sum();
    if untrusted > 0 {
        parts.push(format!("{} untrusted", wording::count(untrusted, "cell")));
    }
    (!parts.is_empty()).then(|| format!("{name} was disturbed: {}", parts.join(", ")))
}

/// A sentence on the runs that would decide what is open.
fn needed(compared: &Compared) -> Option<String> {
    let open: Vec<_> = compared
        .cells
        .iter()
        .filter(|cell| cell.verdict == Verdict::NotSettled)
        .collect();
    let mut runs: Vec<usize> = open.iter().filter_map(|cell| cell.runs_needed).collect();
    runs.sort_unstable();
    let most = runs.last()?;
    let cells = wording::count(open.len(), "open cell");
    Some(match open.len() - runs.len() {
        0 => format!("about {most} runs a side should decide {cells}"),
        more => format!(
            "about {most} runs a side should decide {} of {cells}; {more} may stay open",
            runs.len()
        ),
    })
}

/// Claims with another verdict: what was claimed, and both verdicts with their figures.
fn verdicts(changes: &[AnswerChange]) -> Vec<Block> {
    if changes.is_empty() {
        return vec![Block::Answer(
            "No verdict of A contradicts one of B.".into(),
        )];
    }
    let is_ratio = |change: &&AnswerChange| change.unit.is_empty();
    let ratios = changes
        .iter()
        .filter(is_ratio)
        .flat_map(|c| [c.ratios.0, c.ratios.1])
        .flatten();
    let ratios: Vec<Ratio> = ratios.collect();
    let axis = Axis::over(ratios.iter());
    let mut columns = vec![Column::text("claim")];
    for side in ["A", "B"] {
        columns.push(Column::text(format!("verdict in {side}")));
        columns.extend(
            axis.as_ref()
                .map(|axis| Column::plot(Plot::Ratios(axis.clone())).shown(Shown::Page)),
        );
        columns.push(Column::number(format!("figure in {side}")));
    }
    columns.push(Column::sentences("claimed"));
    let row = |change: &AnswerChange| {
        let mut cells = Vec::new();
        for (word, ratio) in [
            (change.first, change.ratios.0),
            (change.second, change.ratios.1),
        ] {
            cells.push(TableCell::text(
                word.map_or_else(|| "not asked".to_owned(), super::claims::verdict),
            ));
            let figure = ratio.map_or_else(String::new, |e| {
                format!("{} {}", numbers::with_limits(&e), change.unit)
            });
            if let Some(axis) = &axis {
                let ratio = ratio.filter(|_| change.unit.is_empty());
                cells.push(TableCell::plot(
                    ratio.map(|ratio| Plot::interval(axis, ratio, &figure)),
                ));
            }
            cells.push(TableCell::text(figure.trim_end()));
        }
        cells.push(TableCell::text(&change.statement));
        Entry::new(format!("{} ({})", change.id, change.job), cells)
    };
    let is_contradiction = |change: &&AnswerChange| {
        change
            .first
            .zip(change.second)
            .is_some_and(|(a, b)| a.contradicts(b))
    };
    let (contradict, once): (Vec<_>, Vec<_>) = changes.iter().partition(is_contradiction);
    let (count, decided) = (wording::count(contradict.len(), "claim"), once.len());
    let caption =
        "The first way's cost over the other's, with 95 % limits; left of 1 it costs less"
            .to_owned();
    let bodies = [
        ("Contradict each other", contradict),
        ("Decided in one run only", once),
    ];
    let body = |(heading, changes): (&str, Vec<&AnswerChange>)| Body {
        heading: heading.to_owned(),
        aside: false,
        rows: changes.into_iter().map(row).collect(),
    };
    let bodies = bodies
        .into_iter()
        .map(body)
        .filter(|body| !body.rows.is_empty())
        .collect();
    vec![
        Block::Answer(format!(
            "{count} with contradicting verdicts; {decided} decided in one run only."
        )),
        Block::Table(Table {
            caption,
            columns,
            bodies,
            ..Table::default()
        }),
    ]
}
