//! Runs in the formats that other programs read. One file a format; all take their rows from the one view, and none computes a
//! figure. What a run folder holds may have been written by anybody: `escape` makes each text harmless for its format.

mod benchfmt;
mod cells;
mod csv;
pub mod flat;
mod github;
pub mod hyperfine;
mod junit;
mod ndjson;
mod openmetrics;
pub mod rows;

pub use cells::{CellView, ExportedCells, LaunchView, PhaseView};

use anyhow::Result;

/// One format.
pub struct ExportFormat {
    pub name: &'static str,
    pub about: &'static str,
    /// True if it says of cells without figures why they have none; where it does not, they are left out.
    pub says_outcomes: bool,
    pub write: Write,
}

/// Seconds in a nanosecond.
const S_PER_NS: f64 = 1e-9;

type Write = fn(&ExportedCells<'_>, &mut dyn std::io::Write) -> Result<()>;

const fn format(
    name: &'static str,
    about: &'static str,
    says_outcomes: bool,
    write: Write,
) -> ExportFormat {
    ExportFormat {
        name,
        about,
        says_outcomes,
        write,
    }
}

pub const FORMATS: &[ExportFormat] = &[
    format(
        "benchfmt",
        "Go's benchmark format, a line a launch, for benchstat",
        false,
        benchfmt::write,
    ),
    format(
        "hyperfine",
        "hyperfine's JSON, a time a launch, in seconds, for its plot scripts",
        false,
        hyperfine::write,
    ),
    format(
        "github",
        "github-action-benchmark's customSmallerIsBetter, in nanoseconds",
        false,
        github::write,
    ),
    format(
        "openmetrics",
        "a text file for node_exporter's textfile collector, in seconds",
        true,
        openmetrics::write,
    ),
    format("csv", "a row a cell, phase and launch", true, csv::write),
    format(
        "ndjson",
        "the same rows, a JSON object each",
        true,
        ndjson::write,
    ),
    format(
        "markdown",
        "the tables of the report, for an issue or a pull request",
        true,
        markdown,
    ),
    format("junit", "JUnit XML, a test case a cell", true, junit::write),
];

fn markdown(taken: &ExportedCells<'_>, out: &mut dyn std::io::Write) -> Result<()> {
    let mut document = crate::view::tables(taken.run_summary, &taken.wanted, None);
    // Of an article's run its tables are the report, with how sure they are.
    let text = if taken.articles.is_empty() {
        crate::render::markdown::render(&document)
    } else {
        document.subject.clear();
        document.sections.retain(|section| section.id == "sure");
        document.sections.splice(0..0, taken.articles.clone());
        crate::render::markdown::render_full(&document)
    };
    write!(out, "{text}")?;
    let [run, created, version] = [&taken.run, &taken.created, &taken.version]
        .map(|text| crate::render::escape::markdown(text));
    Ok(writeln!(
        out,
        "\nRun {run} of {created}, pagewise {version}."
    )?)
}
