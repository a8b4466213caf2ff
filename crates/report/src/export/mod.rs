//! Runs in the formats that other programs read. One file a format; all take their rows from the one view, and none computes a
//! figure. What a run folder holds may have been written by anybody: `escape` makes each text harmless for its format.

mod benchfmt;
mod bmf;
mod csv;
mod flat;
pub mod fleet;
mod github;
pub mod hyperfine;
mod junit;
mod ndjson;
mod openmetrics;
pub mod rows;

use std::io::Write;

use anyhow::Result;

use crate::view::ExportedCells;

/// One format.
pub struct ExportFormat {
    pub name: &'static str,
    pub about: &'static str,
    /// True if it says of cells without figures why they have none; where it does not, they are left out.
    pub says_outcomes: bool,
    pub write: fn(&ExportedCells<'_>, &mut dyn Write) -> Result<()>,
}

pub const FORMATS: [ExportFormat; 9] = [
    ExportFormat {
        name: "benchfmt",
        about: "Go's benchmark format, a line a launch, for benchstat",
        says_outcomes: false,
        write: benchfmt::write,
    },
    ExportFormat {
        name: "hyperfine",
        about: "hyperfine's JSON, a time a launch, in seconds, for its plot scripts",
        says_outcomes: false,
        write: hyperfine::write,
    },
    ExportFormat {
        name: "bmf",
        about: "Bencher Metric Format, medians with 95 % limits, in nanoseconds",
        says_outcomes: false,
        write: bmf::write,
    },
    ExportFormat {
        name: "github",
        about: "github-action-benchmark's customSmallerIsBetter, in nanoseconds",
        says_outcomes: false,
        write: github::write,
    },
    ExportFormat {
        name: "openmetrics",
        about: "a text file for node_exporter's textfile collector, in seconds",
        says_outcomes: true,
        write: openmetrics::write,
    },
    ExportFormat { name: "csv", about: "a row a cell, phase and launch", says_outcomes: true, write: csv::write },
    ExportFormat {
        name: "ndjson",
        about: "the same rows, a JSON object each",
        says_outcomes: true,
        write: ndjson::write,
    },
    ExportFormat {
        name: "markdown",
        about: "the tables of the report, for an issue or a pull request",
        says_outcomes: true,
        write: markdown,
    },
    ExportFormat { name: "junit", about: "JUnit XML, a test case a cell", says_outcomes: true, write: junit::write },
];

fn markdown(taken: &ExportedCells<'_>, out: &mut dyn Write) -> Result<()> {
    let document = crate::view::tables(taken.run_summary, &taken.wanted, None);
    write!(out, "{}", crate::markdown::render(&document))?;
    let [run, created, version] =
        [&taken.run, &taken.created, &taken.version].map(|text| crate::escape::markdown(text));
    Ok(writeln!(out, "\nRun {run} of {created}, pagewise {version}.")?)
}
