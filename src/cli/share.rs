//! `pagewise share`: one file of a run for other people, with nothing in it that names anybody.

use super::opened::{JudgedFolder, Judging, open};
use super::output::{may_write, print_document, write};
use crate::plan::catalog;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use judge::sets::{gallery::file_name, shared};
use record::machine::environment::Environment;
use record::shared::{BuiltIn, MOST_PACKED, SHARED_END, SharedRun};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct ShareArgs {
    /// A run by id, path, `last` or tag:NAME.
    run: String,
    /// The file to write [default: pagewise-CPU-KERNEL-DATE.json.gz in this folder].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
}

pub(super) fn share(arguments: &ShareArgs) -> Result<u8> {
    if let Some(out) = &arguments.out {
        ensure!(
            is_shared(&out.to_string_lossy()),
            "--out: the name of a shared file ends with {SHARED_END}"
        );
        may_write(out, arguments.force)?;
    }
    let built_in = catalog::built_in()?;
    let shared = of_run(&arguments.run, &built_in)?;
    let path = arguments.out.clone();
    let path = path.unwrap_or_else(|| PathBuf::from(file_name(&shared.run)));
    may_write(&path, arguments.force)?;
    let packed = shared.run.packed()?;
    // A file that no gallery takes is of no use to others.
    check(&packed, &built_in).with_context(|| {
        format!(
            "{} is not shared, since no gallery would take it",
            arguments.run
        )
    })?;
    print_document(&report::gallery::content(&shared.run, shared.left_out))?;
    write(&path, arguments.force, |out| Ok(out.write_all(&packed)?))?;
    super::output::print(&report::gallery::written(
        &path.display().to_string(),
        packed.len(),
    ))
}

/// A kept run as it is shared.
/// Errors: it is a study of a program, was interrupted, is damaged or has nothing that may be shared.
pub(super) fn of_run(name: &str, built_in: &BuiltIn) -> Result<shared::SharedPart> {
    let opened = open(name)?;
    if let Some(program) = opened.program() {
        bail!("{name} is {program}, and only runs of built-in methods are shared");
    }
    let JudgedFolder::Run(folder, summary) = opened.judge(Judging::Kept)? else {
        bail!("{name} is no run");
    };
    let environment: Environment = folder.read_sealed("environment.json")?;
    shared::share(&summary, &environment, built_in)
}

/// True for the name of a shared file.
pub(super) fn is_shared(name: &str) -> bool {
    name.ends_with(SHARED_END)
}

/// The run in a file that anybody may have written.
/// Errors: it is no shared run of this version, or cannot be right; the sentence names the file.
pub(super) fn read(path: &Path, built_in: &BuiltIn) -> Result<SharedRun> {
    let packed = files::read_input(path, MOST_PACKED)?;
    check(&packed, built_in).with_context(|| format!("{} is refused", path.display()))
}

/// The run in the bytes of a shared file.
pub(super) fn check(packed: &[u8], built_in: &BuiltIn) -> Result<SharedRun> {
    let run = SharedRun::open(packed)?;
    let today: String = jiff::Timestamp::now()
        .to_string()
        .chars()
        .take(10)
        .collect();
    shared::check(&run, built_in, &today)?;
    Ok(run)
}
