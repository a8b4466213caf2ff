//! Two sets of runs as a document: the environment first, then every cell, then claims whose verdict differs.

use crate::render::document::{
    Block, Document, Entry, Key, Place, Section, Shown, Table, TableCell, Tone,
};
use crate::render::plot::{Axis, Plot};
use crate::sentences::compared::{doubts, finding, machine, missing, too_few};
use crate::sentences::numbers::{self, Work};
use crate::sentences::{phrases, wording};
use crate::tables::columns::Columns;
use minijinja::context;
use record::across::{Compared, ComparedCell, ComparedSide, FactDifference, GateWord, SideCost};
use record::parameters::Parameters;
use record::summary::Ratio;
use record::{cell::parameter_words, claim::AnswerChange};
use std::collections::{BTreeMap, BTreeSet};

/// Harmless differences that a screen names.
const HARMLESS: usize = 3;

/// Names of two sides, and their unit of inference: `run`, `node`.
#[derive(Clone, Copy)]
pub(crate) struct SideNames<'a> {
    a: &'a str,
    b: &'a str,
    unit: &'a str,
}

/// The parts that all cells of an experiment have in common, which are shown once.
struct Constant<'a> {
    worker: Option<&'a str>,
    parameters: Parameters,
}

/// The comparison of two sets of runs; `claims` where both are runs of claims. `again` is the command that repeats it.
pub fn compared(compared: &Compared, claims: bool, again: &str) -> Document {
    let sides = [("A", &compared.a), ("B", &compared.b)];
    let head = sides.map(|(name, side)| format!("{name}: {}", machine(side)));
    let run_names = sides.map(|(name, side)| Block::list(name, [run_names(side)]));
    let few = too_few(compared).map(Block::Answer);
    let mut document = Document::new("comparison", head)
        .explained()
        .section(
            "answers",
            "",
            Place::Screen,
            few.into_iter()
                .chain(run_names.into_iter().flatten())
                .collect(),
        )
        .section(
            "environment",
            "Environment",
            Place::Everywhere,
            environment(compared),
        );
    for (experiment, cells) in by_experiment(&compared.cells) {
        document.sections.push(Section {
            id: format!("experiment-{experiment}"),
            title: format!("{experiment}: {}", measure(&cells)),
            short: experiment.to_owned(),
            place: Place::Everywhere,
            blocks: side_by_side(&cells, SideNames::new("A", "B", "run")),
        });
    }
    let missing = Block::list("not compared", compared.missing.iter().map(missing));
    document = document.section(
        "missing",
        "Not compared",
        Place::Everywhere,
        missing.into_iter().collect(),
    );
    if claims {
        document = document.section(
            "claims",
            "Claims with another verdict",
            Place::Everywhere,
            changed_verdicts(&compared.claims),
        );
    }
    let mut repeat = vec![Block::Commands(vec![again.to_owned()])];
    repeat.extend(sides.iter().filter_map(|(name, side)| reports(name, side)));
    document
        .section("sure", "Answers", Place::Everywhere, answers(compared))
        .section("repeat", "How to repeat it", Place::Page, repeat)
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
            changed_verdicts(changes),
        )
        .section(
            "repeat",
            "How to repeat it",
            Place::Page,
            vec![Block::Commands(vec![again.to_owned()])],
        )
}

fn run_names(side: &ComparedSide) -> String {
    let names: Vec<&str> = side.runs.iter().map(|run| run.run.as_str()).collect();
    names.join(" ")
}

/// The commands that show each run of a side.
fn reports(name: &str, side: &ComparedSide) -> Option<Block> {
    let commands = side.runs.iter();
    let commands = commands.map(|run| format!("pagewise report {}", run.run));
    Block::list(format!("The runs of {name}"), commands)
}

fn environment(compared: &Compared) -> Vec<Block> {
    let (grave, harmless): (Vec<_>, Vec<_>) = compared.differences.iter().partition(|d| d.matters);
    let mut blocks = vec![Block::text(if grave.is_empty() {
        "environment: nothing differs that could change a figure"
    } else {
        "environment: these differ and can change every figure below"
    })];
    if !grave.is_empty() {
        let caption = "Differences that can change every figure";
        blocks.push(differences(caption, &grave));
    }
    if !harmless.is_empty() {
        let names: Vec<&str> = harmless
            .iter()
            .take(HARMLESS)
            .map(|d| d.field.as_str())
            .collect();
        let more = match harmless.len().saturating_sub(HARMLESS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        blocks.push(Block::text(format!(
            "also {}{more}, which should change none",
            names.join(", ")
        )));
        blocks.extend(Block::part(
            "Differences that should change none",
            Place::Page,
            vec![differences("", &harmless)],
        ));
    }
    for (name, side) in [("A", &compared.a), ("B", &compared.b)] {
        if !side.unlike.is_empty() {
            let facts = side.unlike.join(", ");
            blocks.push(Block::text(format!(
                "the runs of {name} differ among themselves in {facts}"
            )));
        }
    }
    blocks
}

fn differences(caption: &str, facts: &[&FactDifference]) -> Block {
    let columns = Columns::new("fact", |fact: &FactDifference| fact.field.clone())
        .sentences("A", |fact| fact.a.clone())
        .sentences("B", |fact| fact.b.clone())
        .text("", |fact| if fact.expected { "as asked" } else { "" });
    Block::Table(columns.table(caption, facts.iter().copied()))
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

impl<'a> SideNames<'a> {
    pub fn new(a: &'a str, b: &'a str, unit: &'a str) -> SideNames<'a> {
        SideNames { a, b, unit }
    }
}

/// The cells of one experiment on two sides.
pub(crate) fn side_by_side(cells: &[&ComparedCell], names: SideNames) -> Vec<Block> {
    let SideNames { a, b, unit } = names;
    let constant = Constant::new(cells);
    let axis = Axis::over(cells.iter().filter_map(|c| c.contrast.ratio.as_ref()));
    let has_dots = axis.is_some() && cells.iter().any(|cell| !cell.a.per_run_ns.is_empty());
    let mut columns = Columns::new("cell", |cell: &ComparedCell| constant.label(cell))
        .number(cost_heading(cells, a), |cell| cost(cell, &cell.a))
        .number(cost_heading(cells, b), |cell| cost(cell, &cell.b))
        .ratios(axis.as_ref(), Shown::Room(0), plot)
        .sentences(format!("finding on {b}"), |cell| finding(cell, a, unit));
    if cells.iter().any(|cell| cell.gate.is_some()) {
        columns = columns.text("gate", |cell| gate(cell.gate));
    }
    let columns = columns
        .number(format!("ratio {b} / {a}"), |cell| {
            TableCell::ratio(cell.contrast.ratio.as_ref())
        })
        .shown(Shown::Room(1))
        .number(format!("{a} from {unit} to {unit}"), |cell| {
            scatter(&cell.a)
        })
        .shown(Shown::Page)
        .number(format!("{b} from {unit} to {unit}"), |cell| {
            scatter(&cell.b)
        })
        .shown(Shown::Page)
        .marked(|cell, entry| Entry {
            tone: tone(cell),
            ..entry
        });
    let mut caption = format!(
        "{}: {b}'s cost over {a}'s, with 95 % limits over {unit}s; left of 1 {b} costs less",
        measure(cells)
    );
    let mut legend = Vec::new();
    if has_dots {
        caption += &format!(". Each dot is a {unit} over the middle of {a}'s {unit}s");
        legend = vec![
            Key::new("launch-a", format!("{a}'s {unit}s, above")),
            Key::new("launch-b", format!("{b}'s {unit}s, below")),
        ];
    }
    let mut blocks = Vec::new();
    let fixed = constant.texts().join(" ");
    if !fixed.is_empty() {
        blocks.push(Block::text(format!("fixed parameters: {fixed}")));
    }
    blocks.push(Block::Table(Table {
        legend,
        ..columns.table(caption, cells.iter().copied())
    }));
    blocks
}

/// The heading of a side's costs; without cells there is no unit.
fn cost_heading(cells: &[&ComparedCell], side: &str) -> String {
    match cells.first() {
        Some(cell) => format!("{side} {}", Work::of_unit(&cell.headline.unit).heading()),
        None => side.to_owned(),
    }
}

fn cost(cell: &ComparedCell, side: &SideCost) -> TableCell {
    TableCell::work(Work::of_unit(&cell.headline.unit), side.per_unit_ns)
}

fn plot(cell: &ComparedCell, axis: &Axis) -> Option<Plot> {
    let ratio = cell.contrast.ratio?;
    Some(Plot::Sides {
        axis: axis.clone(),
        ratio,
        runs: [relative(cell, &cell.a), relative(cell, &cell.b)],
        label: numbers::ratio_words(&ratio),
    })
}

/// Costs of the runs of a side over the cost on side A.
fn relative(cell: &ComparedCell, side: &SideCost) -> Vec<f64> {
    let ratios = side.per_run_ns.iter().map(|ns| ns / cell.a.per_unit_ns);
    ratios
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .collect()
}

fn scatter(side: &SideCost) -> TableCell {
    let share = side.between_runs;
    let text = share.map(|share| format!("±{}", wording::percent(share)));
    TableCell::number(text.unwrap_or_default(), share)
}

fn gate(word: Option<GateWord>) -> &'static str {
    match word {
        None => "",
        Some(GateWord::Passes) => "passes",
        Some(GateWord::Regression) => "REGRESSION",
        Some(GateWord::Undecided) => "undecided",
    }
}

impl<'a> Constant<'a> {
    fn new(cells: &[&'a ComparedCell]) -> Constant<'a> {
        let mut values: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
        for (key, value) in cells.iter().flat_map(|cell| &cell.headline.parameters) {
            values.entry(key).or_default().insert(value);
        }
        let workers: BTreeSet<Option<&str>> = cells.iter().map(|cell| worker(cell)).collect();
        let worker = workers.first().copied().flatten();
        Constant {
            worker: worker.filter(|_| workers.len() == 1),
            parameters: values
                .into_iter()
                .filter(|(_, values)| values.len() == 1)
                .flat_map(|(key, values)| values.into_iter().map(|v| (key.clone(), v.clone())))
                .collect(),
        }
    }

    /// `@c-O3`, `release=dontneed` …
    fn texts(&self) -> Vec<String> {
        let parameters = parameter_words(&self.parameters, None);
        let parameters = parameters.split(' ').filter(|word| !word.is_empty());
        let worker = self.worker.iter().map(|name| format!("@{name}"));
        worker.chain(parameters.map(str::to_owned)).collect()
    }

    /// A cell by its method and what varies.
    fn label(&self, cell: &ComparedCell) -> String {
        let cell_name = cell.headline.cell.as_str();
        let name = cell_name
            .split_once('/')
            .map_or(cell_name, |(_, name)| name);
        let method = self.worker.and_then(|worker| {
            let name = name.strip_suffix(worker)?;
            name.strip_suffix('@')
        });
        let mut varying = cell.headline.parameters.clone();
        varying.retain(|key, _| !self.parameters.contains_key(key));
        let name = method.unwrap_or(name);
        format!("{name} {}", parameter_words(&varying, None))
            .trim_end()
            .to_owned()
    }
}

fn worker(cell: &ComparedCell) -> Option<&str> {
    cell.headline.cell.split_once('@').map(|(_, worker)| worker)
}

fn tone(cell: &ComparedCell) -> Tone {
    if cell.contrast.ratio.is_none() {
        Tone::Plain
    } else {
        Tone::contrast(&cell.contrast)
    }
}

/// The number of cells with each verdict.
fn count(cells: &[ComparedCell]) -> String {
    if cells.is_empty() {
        return "No cell was measured on both sides.".to_owned();
    }
    let mut parts = Vec::new();
    for (wanted, finding) in [
        (Tone::Faster, "faster on B"),
        (Tone::Slower, "slower on B"),
        (Tone::Plain, "within the margin"),
        (Tone::Open, "open"),
    ] {
        let judged = cells.iter().filter(|cell| cell.contrast.ratio.is_some());
        match judged.filter(|cell| tone(cell) == wanted).count() {
            0 => {}
            count => parts.push(format!("{count} {finding}")),
        }
    }
    match cells.iter().filter(|c| c.contrast.ratio.is_none()).count() {
        0 => {}
        count => parts.push(format!("{count} with too few runs for a verdict")),
    }
    format!(
        "Of {}: {}.",
        wording::count(cells.len(), "cell"),
        parts.join(", ")
    )
}

/// Cells of which noise took the verdict, counted by this word; empty without any.
pub(super) fn noisy(cells: &[ComparedCell], word: &str) -> String {
    match cells.iter().filter(|cell| cell.doubt.is_some()).count() {
        0 => String::new(),
        count => format!("the launches of {}", wording::count(count, word)),
    }
}

/// The gate, the count of verdicts, and how sure they are.
fn answers(compared: &Compared) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some((gated, gate)) = compared.gated.zip(compared.gate) {
        let noisy = noisy(&compared.cells, "cell");
        let gate = context! { gate => wording::percent(gate), noisy };
        blocks.push(Block::Answer(phrases::phrase("compare", &gated, gate)));
    }
    blocks.push(Block::Answer(count(&compared.cells)));
    // A screen begins with it.
    let few = too_few(compared).map(Block::Answer);
    blocks.extend(Block::part("", Place::Page, Vec::from_iter(few)));
    blocks.extend(Block::list("How sure", doubts(compared)));
    blocks
}

/// Claims with another verdict: what was claimed, and both verdicts with their figures.
fn changed_verdicts(changes: &[AnswerChange]) -> Vec<Block> {
    if changes.is_empty() {
        return vec![Block::Answer(
            "No verdict of A contradicts one of B.".into(),
        )];
    }
    let (contradict, once): (Vec<&AnswerChange>, Vec<&AnswerChange>) =
        changes.iter().partition(|change| {
            let verdicts = change.first.zip(change.second);
            verdicts.is_some_and(|(a, b)| a.contradicts(b))
        });
    let answer = format!(
        "{} with contradicting verdicts; {} decided in one run only.",
        wording::count(contradict.len(), "claim"),
        once.len()
    );
    vec![
        Block::Answer(answer),
        Block::Table(change_table(changes, &contradict, &once)),
    ]
}

fn change_table(
    changes: &[AnswerChange],
    contradict: &[&AnswerChange],
    once: &[&AnswerChange],
) -> Table {
    let drawn = changes.iter().filter(|change| change.unit.is_empty());
    let ratios = drawn.flat_map(|change| [change.ratios.0, change.ratios.1]);
    let ratios: Vec<Ratio> = ratios.flatten().collect();
    let axis = Axis::over(ratios.iter());
    let columns = Columns::new("claim", |change: &AnswerChange| {
        format!("{} ({})", change.id, change.job)
    })
    .text("verdict in A", |change| verdict(change.first))
    .ratios(axis.as_ref(), Shown::Page, |change, axis| {
        change_plot(change, change.ratios.0, axis)
    })
    .figure("figure in A", |change| figure(change, change.ratios.0))
    .text("verdict in B", |change| verdict(change.second))
    .ratios(axis.as_ref(), Shown::Page, |change, axis| {
        change_plot(change, change.ratios.1, axis)
    })
    .figure("figure in B", |change| figure(change, change.ratios.1))
    .sentences("claimed", |change| change.statement.clone());
    let mut bodies = Vec::new();
    for (heading, changes) in [
        ("Contradict each other", contradict),
        ("Decided in one run only", once),
    ] {
        if !changes.is_empty() {
            bodies.push(columns.body(heading, changes.iter().copied()));
        }
    }
    let caption =
        "The first way's cost over the other's, with 95 % limits; left of 1 it costs less";
    columns.table_of(caption, bodies)
}

fn verdict(word: Option<record::claim::Word>) -> String {
    word.map_or_else(|| "not asked".to_owned(), super::claims::verdict)
}

fn figure(change: &AnswerChange, ratio: Option<Ratio>) -> String {
    let figure = ratio.map_or_else(String::new, |ratio| {
        format!("{} {}", numbers::with_limits(&ratio), change.unit)
    });
    figure.trim_end().to_owned()
}

/// A claim on a cost by itself has a unit, and is not drawn.
fn change_plot(change: &AnswerChange, ratio: Option<Ratio>, axis: &Axis) -> Option<Plot> {
    let ratio = ratio.filter(|_| change.unit.is_empty())?;
    let label = format!("{} {}", numbers::with_limits(&ratio), change.unit);
    Some(Plot::interval(axis, ratio, &label))
}
