//! A run as a document: the overview, the tables of experiments, and what backs them.

mod evidence;
mod group;
mod overview;
mod trend;

pub use overview::{ADVISED, briefly};
pub use trend::{RunTrend, trend};

use crate::render::document::{Block, Document, List, Place, Section};
use crate::sentences::labels::{LabelledExperiment, LabelledRun};
use crate::sentences::{missing, sure, wording};
use crate::tables::{curves, maps, passes, states};
use record::machine::environment::known;
use record::summary::Summary;
use std::collections::BTreeMap;

/// Most lines on disturbances.
const WARNING_LINES: usize = 5;

/// The part of a run that a terminal shows.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Tables of these experiments only; all where empty.
    pub experiments: Vec<String>,
    /// With phases, resources, latency, lower bound and floor.
    pub full: bool,
    /// Doubts alone: checks, disturbances, remedies.
    pub doubt: bool,
    /// The name of the run on the command line, where its id alone would not find it.
    pub run: Option<String>,
    pub page: Option<String>,
}

/// The report of a run on a terminal: its warnings, its overview, or its tables.
pub fn screen(summary: &Summary, wanted: &Wanted) -> Document {
    let name = wanted.run.as_deref();
    let document = Document::new("", head(summary));
    if wanted.doubt {
        let page = format!("pagewise report {} --html", name.unwrap_or(&summary.run));
        let blocks = doubt(&LabelledRun::new(summary), &page);
        document
            .section("doubt", "", Place::Screen, blocks)
            .explained()
    } else if summary.settings.is_overview && !wanted.full && wanted.experiments.is_empty() {
        let run = LabelledRun::new(summary);
        let overview = overview::Overview::new(&run, name.unwrap_or(&summary.run));
        let mut blocks = overview.blocks(wanted.page.as_deref());
        blocks.extend(run.experiments().flat_map(states::blocks));
        document
            .section("answers", "", Place::Screen, blocks)
            .explained()
    } else {
        tables(summary, &wanted.experiments, name).explained()
    }
}

/// A run under way, with what is known so far: the tables of one experiment, or the answers of several.
pub fn live(summary: &Summary) -> Document {
    let run = LabelledRun::new(summary);
    let mut experiments = run.experiments();
    let blocks = match (experiments.next(), experiments.next()) {
        (Some(only), None) => group::blocks(only).groups,
        _ => overview::Overview::new(&run, &summary.run).answers(),
    };
    Document::new("", Vec::new()).section("live", "", Place::Screen, blocks)
}

/// Its circumstances, and how sure it is: what a screen has around the tables of articles.
pub(super) fn closed(summary: &Summary, run: Option<&str>) -> Document {
    let name = run.unwrap_or(&summary.run);
    let blocks = vec![closing(&LabelledRun::new(summary), name, &[])];
    Document::new("", head(summary)).section("sure", "How sure", Place::Screen, blocks)
}

/// The whole run as a page: its question, host and date come first.
pub fn page(summary: &Summary, run: Option<&str>) -> Document {
    let mut document = tables(summary, &[], run);
    let made = trend::minute(&summary.created);
    let host = known(&summary.host, "name").map(|name| format!("on {name}"));
    let cpu = known(&summary.environment, "cpu").map(str::to_owned);
    document.head.extend(
        [host, cpu, Some(format!("{made} UTC"))]
            .into_iter()
            .flatten(),
    );
    document.question = match summary.experiments.as_slice() {
        [only] => only.definition.question.split_whitespace().collect::<Vec<_>>().join(" "),
        _ => "Which method is faster here than the usual choice, by how much, and under which condition?".to_owned(),
    };
    document
}

/// The whole run; `experiments` limits its tables unless it is empty. `run` is its name on the command line.
pub fn tables(summary: &Summary, experiments: &[String], run: Option<&str>) -> Document {
    let name = run.unwrap_or(&summary.run);
    let run = LabelledRun::new(summary);
    let mut head = head(summary).into_iter();
    let subject = head.next().unwrap_or_default();
    let overview = overview::Overview::new(&run, name).blocks(None);
    let mut document =
        Document::new(subject, head).section("answers", "Answers", Place::Page, overview);
    document.sections.extend(
        run.experiments()
            .filter(|e| is_wanted(experiments, e.name()))
            .filter_map(section),
    );
    let mut doubts = warnings(summary);
    if doubts.is_empty() {
        doubts.push(Block::text("None."));
    }
    let notes = summary.notes.iter().map(sure::note);
    doubts.extend(Block::list("How the run went", notes));
    document
        .section(
            "sure",
            "How sure",
            Place::Screen,
            vec![closing(&run, name, experiments)],
        )
        .section("warnings", "Warnings", Place::Page, doubts)
        .section(
            "environment",
            "Environment",
            Place::Page,
            vec![evidence::circumstances(summary)],
        )
        .section(
            "repeat",
            "How to repeat it",
            Place::Page,
            evidence::repeat(summary, name),
        )
}

fn is_wanted(experiments: &[String], name: &str) -> bool {
    experiments.is_empty() || experiments.iter().any(|wanted| wanted == name)
}

/// The run and its machine in a few words: `overview`, `2-core VM, Linux 6.18, THP madvise`, `2 min 42 s`.
fn head(summary: &Summary) -> Vec<String> {
    let subject = if summary.settings.is_overview {
        "overview".to_owned()
    } else {
        let names = summary
            .experiments
            .iter()
            .map(|e| e.definition.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let machine = machine(&summary.environment);
    let spent = (summary.elapsed_s > 0.0).then(|| wording::elapsed(summary.elapsed_s));
    let mut head = vec![subject];
    head.extend(Some(machine).filter(|machine| !machine.is_empty()));
    head.extend(spent);
    head
}

fn machine(environment: &BTreeMap<String, String>) -> String {
    let is_virtual = known(environment, "hypervisor").is_some_and(|kind| kind != "none");
    let kind = if is_virtual { "VM" } else { "machine" };
    let cpus = known(environment, "cpus").map(|cpus| format!("{cpus}-core {kind}"));
    let kernel = known(environment, "kernel").map(|release| {
        let version: Vec<&str> = release.split('.').take(2).collect();
        format!("Linux {}", version.join("."))
    });
    let thp = known(environment, "thp").map(|mode| format!("THP {mode}"));
    let facts: Vec<String> = [cpus, kernel, thp].into_iter().flatten().collect();
    facts.join(", ")
}

fn section(experiment: LabelledExperiment) -> Option<Section> {
    experiment.cells().next()?;
    let definition = experiment.definition();
    let name = experiment.name();
    let mut blocks = for_page("", vec![Block::text(&definition.question)]);
    blocks.push(Block::Text(format!("measured: {}", metric(experiment))));
    let constant = experiment.constant();
    if !constant.is_empty() {
        let constant = constant.join(" ");
        blocks.push(Block::Text(format!("fixed parameters: {constant}")));
    }
    let keys = maps::keys(experiment);
    let heat_maps = keys.map_or_else(Vec::new, |keys| maps::heat_maps(experiment, keys));
    // A map shows what curves over its second parameter would show, with a chart for each size.
    let mapped = keys.filter(|_| !heat_maps.is_empty()).map(|keys| keys.down);
    let groups = group::blocks(experiment);
    // Where a picture has all groups, cost over size is told again: it is folded, and a line through two values adds nothing.
    let least = if groups.picture.is_some() { 3 } else { 2 };
    let charts = for_page("", curves::charts(experiment, mapped, least));
    let title = groups
        .picture
        .as_ref()
        .map_or("", |_| "Cost over size or count");
    blocks.extend(groups.picture);
    blocks.extend(for_page(title, charts));
    blocks.extend(for_page("", heat_maps));
    blocks.extend(groups.groups);
    if groups.has_footnote {
        blocks.push(Block::text(wording::AMONG_ALL));
    }
    blocks.extend(states::blocks(experiment));
    let absent = missing::absent(experiment);
    blocks.extend(Block::list(
        "Not measured",
        absent.iter().map(missing::Absent::sentence),
    ));
    if !definition.reading.is_empty() {
        let reading = vec![Block::text(&definition.reading)];
        blocks.extend(for_page("How to read these figures", reading));
    }
    blocks.extend(passes::blocks(experiment));
    blocks.extend(evidence::blocks(experiment));
    Some(Section {
        id: format!("experiment-{name}"),
        title: format!("{name}: {}", definition.title),
        short: name.to_owned(),
        place: Place::Everywhere,
        blocks,
    })
}

fn for_page(title: &str, blocks: Vec<Block>) -> Vec<Block> {
    Vec::from_iter(Block::part(title, Place::Page, blocks))
}

/// The phase or total that is compared, with its meaning.
fn metric(experiment: LabelledExperiment) -> String {
    let headline = experiment.headline();
    let totals = &experiment.definition().totals;
    match totals.iter().find(|total| total.name == headline) {
        Some(t) if t.phases.len() > 1 => format!("{} ({} = {})", t.meaning, t.name, t.formula()),
        Some(t) => format!("{} ({})", t.meaning, t.name),
        None => headline.to_owned(),
    }
}

/// The end of a screen: how sure the run is, and how it went. `name` is that of the run on the command line.
fn closing(run: &LabelledRun, name: &str, experiments: &[String]) -> Block {
    let rows = if experiments.is_empty() {
        overview::rows(run)
    } else {
        overview::questions(run, |experiment| is_wanted(experiments, experiment))
    };
    let mut items = sure::lines(run, &rows);
    // Notes on experiments that are not shown are left to a report of all.
    let notes = run
        .summary
        .notes
        .iter()
        .filter(|n| !sure::is_of_environment(n) && !sure::is_grave(n));
    let notes = notes.filter(|n| n.experiment.is_empty() || is_wanted(experiments, &n.experiment));
    items.extend(notes.map(sure::note));
    items.push(format!("why: pagewise report {name} --doubt"));
    Block::List(List {
        title: String::new(),
        items,
        most: None,
    })
}

/// Doubts about a run: checks, limits, disturbances with their remedies.
fn doubt(run: &LabelledRun, page: &str) -> Vec<Block> {
    let mut warnings = sure::warning_lines(run.summary);
    let left_out = warnings.len().saturating_sub(WARNING_LINES);
    if left_out > 0 {
        warnings.truncate(WARNING_LINES - 1);
        warnings.push(format!("and {} more kinds: {page}", left_out + 1));
    }
    let rows = overview::rows(run);
    let mut blocks = Vec::from_iter(Block::list("How sure", sure::lines(run, &rows)));
    blocks.extend(Block::list("Checks", sure::doubts(run)));
    blocks.extend(Block::list(
        "What disturbed it, and what would help",
        warnings,
    ));
    let notes = run.summary.notes.iter().map(sure::note);
    blocks.extend(Block::list("How the run went", notes));
    blocks
}

/// All warnings by code.
fn warnings(summary: &Summary) -> Vec<Block> {
    sure::warnings(summary)
        .into_iter()
        .filter_map(|(code, sentences)| Block::list(code, sentences))
        .collect()
}
