//! `pagewise doctor`: this machine, what disturbs it, and the bundle of a bug report.

use super::opened::{Opened, open};
use super::output::{print, print_document, print_json};
use super::{output, runs, runs_folder};
use crate::plan::Laboratory;
use crate::worker::carried;
use crate::{machine, machine::preflight, run::session::judged, worker};
use anyhow::{Result, bail};
use clap::Args;
use record::{machine::environment::Environment, summary::CellSummary};
use report::doctor::bundle::{self, Newest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Report what disturbs the machine at the moment, within three seconds.
    #[arg(long)]
    noise: bool,
    /// Everything as JSON.
    #[arg(long)]
    json: bool,
    /// Show what a bug report needs, then write it to FILE: versions, machine, newest run; no names, paths or commands.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["noise", "json"])]
    bundle: Option<PathBuf>,
    /// Replace FILE if it exists.
    #[arg(long, requires = "bundle", conflicts_with_all = ["noise", "json"])]
    force: bool,
}

/// Refuses to begin where nothing can be measured.
pub(super) fn check_place() -> Result<()> {
    let localities = report::doctor::localities(&machine::essentials());
    match localities.iter().find(|locality| !locality.measures) {
        Some(locality) => bail!("{}", locality.sentence()),
        None => Ok(()),
    }
}

pub(super) fn doctor(laboratory: &Laboratory, arguments: &DoctorArgs) -> Result<u8> {
    if arguments.noise {
        let noise = preflight::look(Path::new("/"), preflight::LONG_MS)?;
        return if arguments.json {
            print_json(&noise)
        } else {
            print_document(&report::doctor::noise(&noise))
        };
    }
    arguments
        .bundle
        .as_ref()
        .map_or(Ok(()), |path| output::may_write(path, arguments.force))?;
    let mut environment = machine::capture(Path::new("/"));
    match machine::look_at_caches(&environment) {
        Ok(ladder) => environment.cpu.ladder = Some(ladder),
        Err(error) => remark!("pagewise: how far the caches reach was not measured: {error:#}"),
    }
    if environment.rights.seccomp_mode == Some(2) {
        environment.rights.refused_calls = machine::refused_calls().ok();
    }
    if machine::refuses_pidfd() {
        let refused = environment.rights.refused_calls.get_or_insert_default();
        refused.push("pidfd_open".to_owned());
    }
    if let Some(path) = &arguments.bundle {
        let text = bundled(&environment)?;
        print(&text)?;
        output::write(path, arguments.force, |out| {
            Ok(out.write_all(text.as_bytes())?)
        })?;
        return print(&format!("\nThis text is in {}.\n", path.display()));
    }
    let obstacles = report::doctor::obstacles(
        &environment,
        carried::is_packaged(),
        &worker::programs::refused(),
    );
    let workers: Vec<(String, String)> = laboratory
        .workers
        .iter()
        .map(|w| (w.name.clone(), w.standing()))
        .collect();
    if arguments.json {
        let workers: BTreeMap<&str, &str> = workers
            .iter()
            .map(|(name, words)| (name.as_str(), words.as_str()))
            .collect();
        let value = serde_json::json!({ "environment": environment, "places": report::doctor::localities(&environment), "obstacles": obstacles, "workers": workers });
        return print_json(&value);
    }
    print_document(&report::doctor::document(
        &environment,
        &obstacles,
        &workers,
    ))
}

fn bundled(environment: &Environment) -> Result<String> {
    // Names of experiments and workers that a user adds are the user's.
    let workers = worker::all(&[], &[])?;
    let names: Vec<&str> = workers.iter().map(|worker| worker.name.as_str()).collect();
    let is_carried = |cell: &CellSummary| {
        let mut workers = workers.iter();
        cell.worker.split('+').all(|side| names.contains(&side))
            && workers.any(|worker| worker.method(&cell.experiment, &cell.method).is_some())
    };
    let newest =
        runs::entries(&runs_folder())
            .pop()
            .and_then(|entry| match open(&entry.run).ok()? {
                Opened::Run(folder, kind) => Some(Newest {
                    kind,
                    summary: judged(&folder).ok(),
                }),
                Opened::Program(kept) => Some(Newest {
                    kind: kept.plan.kind,
                    summary: None,
                }),
            });
    let version = env!("CARGO_PKG_VERSION");
    let document = bundle::document(
        version,
        carried::is_packaged(),
        environment,
        &names,
        newest.as_ref(),
        is_carried,
    );
    Ok(report::markdown::render(&document))
}
