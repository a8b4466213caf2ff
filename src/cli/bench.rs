//! The verb `bench`: the user's own functions, compared with each other as built-in methods are.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use files::Folder;
use record::cell::Selector;

use super::run::{self, RunArgs};
use super::write::write;
use super::{Cli, Laboratory, claims, print};
use crate::plan::catalog;
use crate::run::guard::Scratch;
use crate::worker::{self, carried, own};

/// Worker of a built-in method that is named without one.
const PEER_WORKER: &str = "c-O3";

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
    /// Compare the functions with a built-in method that does the same; they take its parameters and must come to the same.
    #[arg(long, value_name = "EXPERIMENT/METHOD")]
    with: Option<String>,
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
    let mut laboratory = Laboratory::open(cli)?;
    let scratch = Scratch::new("bench")?;
    let with = arguments.with.as_deref().map(Selector::parse).transpose()?;
    let peer = with.as_ref().map(|with| laboratory.peer(with)).transpose()?;
    let (worker, experiment) = own::build(file, peer, &Folder::open(scratch.path())?)?;
    let functions: Vec<String> = worker.methods().iter().map(|method| method.name.clone()).collect();
    let mut arguments = arguments.run.clone();
    arguments
        .within(experiment.as_ref().map_or_else(|| peer.map_or("", |p| &p.experiment.name), |e| &e.name), &functions);
    if let Some(peer) = peer {
        let worker = with.as_ref().and_then(|with| with.worker.as_deref()).unwrap_or(PEER_WORKER);
        arguments.against(&peer.experiment.name, &peer.method.name, worker);
    }
    laboratory.workers.push(worker);
    laboratory.experiments.extend(experiment);
    run::run(&laboratory, &arguments, &claims::Completed { laboratory: &laboratory, arguments: &arguments })
}

impl Laboratory {
    /// The built-in method of this name.
    fn peer(&self, with: &Selector) -> Result<own::Peer<'_>> {
        let experiment = catalog::find(&self.experiments, &with.experiment)?;
        let worker = worker::find(&self.workers, with.worker.as_deref().unwrap_or(PEER_WORKER))?;
        let name = with.method.as_ref().unwrap_or(&experiment.baseline);
        let method = worker.method(&experiment.name, name);
        let method =
            method.with_context(|| format!("{} has no method \"{name}\" in {}", worker.name, experiment.name))?;
        if method.two_sided {
            bail!("{}/{name} has two sides, and a function of yours has one", experiment.name);
        }
        Ok(own::Peer { experiment, method })
    }
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
