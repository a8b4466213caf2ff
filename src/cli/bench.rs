//! The verb `bench`: the user's own functions, compared with each other as built-in methods are.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;
use files::Folder;

use super::run::{self, RunArgs};
use super::write::write;
use super::{Cli, Laboratory, claims, print};
use crate::run::guard::Scratch;
use crate::worker::{carried, own};

/// The words after `bench`.
#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// A C file with BENCH functions, or a shared library with its functions: libmine.so:f,g.
    #[arg(value_name = "FILE.c|LIBRARY.so:FUNCTION,…", required_unless_present = "header")]
    file: Option<String>,
    /// Write a commented file to start from, and measure nothing.
    #[arg(long)]
    new: bool,
    /// Print pagewise.h, which says all that a file can use.
    #[arg(long, conflicts_with_all = ["file", "new"])]
    header: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the verb; the result is the exit code.
pub(super) fn bench(cli: &Cli, arguments: &BenchArgs) -> Result<u8> {
    let Some(file) = &arguments.file else {
        return print(carried::source("workers/c/bench/pagewise.h").unwrap_or_default());
    };
    if arguments.new {
        return start(file, arguments.run.shown.page.force);
    }
    let scratch = Scratch::new("bench")?;
    let (worker, experiment) = own::build(file, &Folder::open(scratch.path())?)?;
    let mut arguments = arguments.run.clone();
    arguments.within(&experiment.name);
    let mut laboratory = Laboratory::open(cli)?;
    laboratory.workers.push(worker);
    laboratory.experiments.push(experiment);
    run::run(&laboratory, &arguments, &claims::Completed { laboratory: &laboratory, arguments: &arguments })
}

/// Writes the file to start from; one that is there stays.
fn start(file: &str, force: bool) -> Result<u8> {
    let path = Path::new(file);
    if path.extension().is_none_or(|extension| extension != "c") {
        bail!("--new writes a C file: {file} does not end in .c");
    }
    let text = carried::source(own::START).unwrap_or_default();
    write(path, force, |out| Ok(out.write_all(text.as_bytes())?))?;
    print(&format!("{file} is written; measure it with: pagewise bench {file}\n"))
}
