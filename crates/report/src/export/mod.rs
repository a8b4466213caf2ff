//! Runs in the formats that other programs read. One file a format; all take their rows from the one view, and none computes a
//! figure. What a run folder holds may have been written by anybody: every text is made inert before it comes here.

mod benchfmt;
mod bmf;
mod csv;
mod flat;
pub mod fleet;
#[cfg(feature = "parquet")]
mod fleet_columns;
mod github;
pub mod hyperfine;
mod junit;
mod markdown;
mod ndjson;
mod openmetrics;
pub mod own;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::Write;

use anyhow::Result;

use crate::view::Taken;

/// One format.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is and who reads it.
    pub about: &'static str,
    /// Whether it says of cells without figures why they have none; where it does not, they are left out.
    pub says_outcomes: bool,
    /// Writes a run in it.
    pub write: fn(&Taken<'_>, &mut dyn Write) -> Result<()>,
}

/// Every format there is.
pub const FORMATS: [Format; 10] = [
    Format {
        name: "benchfmt",
        about: "Go's benchmark format, a line a launch, for benchstat",
        says_outcomes: false,
        write: benchfmt::write,
    },
    Format {
        name: "hyperfine",
        about: "hyperfine's JSON, a time a launch, in seconds, for its plot scripts",
        says_outcomes: false,
        write: hyperfine::write,
    },
    Format {
        name: "bmf",
        about: "Bencher Metric Format, medians with 95 % limits, in nanoseconds",
        says_outcomes: false,
        write: bmf::write,
    },
    Format {
        name: "github",
        about: "github-action-benchmark's customSmallerIsBetter, in nanoseconds",
        says_outcomes: false,
        write: github::write,
    },
    Format {
        name: "openmetrics",
        about: "a text file for node_exporter's textfile collector, in seconds",
        says_outcomes: true,
        write: openmetrics::write,
    },
    Format { name: "csv", about: "a row a cell, phase and launch", says_outcomes: true, write: csv::write },
    Format { name: "ndjson", about: "the same rows, a JSON object each", says_outcomes: true, write: ndjson::write },
    Format {
        name: "parquet",
        about: "the same rows in columns (in builds with the feature parquet)",
        says_outcomes: true,
        write: PARQUET,
    },
    Format {
        name: "markdown",
        about: "the tables of the report, for an issue or a pull request",
        says_outcomes: true,
        write: markdown::write,
    },
    Format { name: "junit", about: "JUnit XML, a test case a cell", says_outcomes: true, write: junit::write },
];

#[cfg(feature = "parquet")]
const PARQUET: fn(&Taken<'_>, &mut dyn Write) -> Result<()> = parquet::write;
#[cfg(not(feature = "parquet"))]
const PARQUET: fn(&Taken<'_>, &mut dyn Write) -> Result<()> =
    |_, _| anyhow::bail!("{NO_PARQUET}, and csv says the same");

/// What a build without Parquet says.
#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str = "this pagewise was built without Parquet; cargo build --release --features parquet has it";
